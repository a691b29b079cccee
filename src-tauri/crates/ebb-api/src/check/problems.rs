//! What a person should know of load options, besides what the plan says of each.

use std::borrow::Cow;

use ebb_core::{
    LoadOptions, ModelKind, format_bytes,
    operations::{Estimate, OptionProblem, Severity},
    options::{OptionLine, Plan, Provider, Requested, nearest, provider_name},
};

use crate::{models::Added, probed::Found};

/// What is looked at.
pub(super) struct Look<'a> {
    pub(super) added: &'a Added,
    /// As they were sent.
    pub(super) given: &'a LoadOptions,
    /// With their profile laid under.
    pub(super) options: &'a LoadOptions,
    /// What ONNX Runtime offers here, where that is known.
    pub(super) found: Option<&'a Found>,
}

/// Fields that matter for one kind of model alone.
const OF_ONE_KIND: [(&str, ModelKind); 4] = [
    ("batch_tokens", ModelKind::Embeddings),
    ("context_tokens", ModelKind::Chat),
    ("prefill_tokens", ModelKind::Chat),
    ("prefix_cache_bytes", ModelKind::Chat),
];

impl Look<'_> {
    /// The provider that is asked for, by Ebb's name: `auto` where none is.
    pub(super) fn provider(&self) -> Cow<'static, str> {
        match self.options.provider.as_deref().map(provider_name) {
            Some(name) if !name.is_empty() => name.into(),
            _ => "auto".into(),
        }
    }

    /// A cap that not even the weights fit under, if they lie in the arena: those that ONNX Runtime maps from a file do not,
    /// which only loading shows.
    pub(super) fn cap_below_weights(
        &self,
        plan: &Plan,
        fields: &[String],
        requested: &[Requested],
    ) -> Option<OptionProblem> {
        let cap = plan.arena.as_ref()?.max_mem_bytes?;
        let weights = self.added.weights_bytes;
        if cap >= weights || self.provider() != "cpu" && self.provider() != "auto" {
            return None;
        }
        let at = requested.iter().position(|option| option.key.ends_with("max_mem"));
        let message = format!(
            "the cap of {} is below the weights, {} on disk: where they do not fit, loading is refused",
            format_bytes(cap),
            format_bytes(weights)
        );
        Some(OptionProblem {
            severity: Severity::Warning,
            field: at.and_then(|at| fields.get(at).cloned()),
            message,
            hint: Some("give the cap as working_mem, on top of the weights, or raise it".to_owned()),
            nearest: None,
        })
    }

    /// What is to be said of the fields that are no options of ONNX Runtime.
    pub(super) fn of_fields(&self) -> Vec<OptionProblem> {
        let mut problems: Vec<OptionProblem> =
            [self.of_provider(), self.of_device()].into_iter().flatten().collect();
        problems.extend(self.of_zeros());
        problems.extend(self.of_other_kinds());
        problems
    }

    fn of_provider(&self) -> Option<OptionProblem> {
        let name = self.provider();
        let probe = self.found?.probe.as_ref().ok()?;
        if name == "auto" || probe.providers.iter().any(|there| *there == name) {
            return None;
        }
        let (message, hint) = match probe.refused.get(&*name) {
            Some(reason) => (format!("the provider {name} does not load here: {reason}"), None),
            None if Provider::named(&name).is_some() => {
                (format!("there is no provider {name} here"), Some("see `ebb doctor` for how to get it"))
            }
            None => (format!("no provider is called '{}', as far as Ebb knows", name.escape_debug()), None),
        };
        let there = format!("here are: auto, {}", probe.providers.join(", "));
        let hint = Some(hint.map_or_else(|| there.clone(), |hint| format!("{there}; {hint}")));
        Some(error("provider", message, hint))
    }

    fn of_device(&self) -> Option<OptionProblem> {
        let (device, name) = (self.options.device?, self.provider());
        if name == "cpu" && device > 0 {
            let message = "the CPU is one device: another number has no effect".to_owned();
            return Some(OptionProblem { severity: Severity::Warning, ..error("device", message, None) });
        }
        let probe = self.found?.probe.as_ref().ok()?;
        let count = probe.devices.iter().filter(|one| one.provider == name && one.kind != "cpu").count();
        if count == 0 || (device as usize) < count {
            return None;
        }
        let message = format!("there is no device {device} of {name}: it has {count}, counted from 0");
        Some(error("device", message, None))
    }

    /// Numbers that cannot be 0.
    fn of_zeros(&self) -> Vec<OptionProblem> {
        let LoadOptions { batch_tokens, context_tokens, prefill_tokens, .. } = self.options;
        let fields = [
            ("batch_tokens", *batch_tokens, "a batch of 0 tokens holds no text"),
            ("context_tokens", *context_tokens, "a context of 0 tokens holds no prompt"),
            ("prefill_tokens", *prefill_tokens, "a prompt is read in steps of at least one token"),
        ];
        let zero = fields.into_iter().filter(|(field, value, _)| *value == Some(0) && self.matters(field));
        zero.map(|(field, _, why)| error(field, why.to_owned(), None)).collect()
    }

    /// A profile is for every kind: of what it sets nothing is said.
    fn of_other_kinds(&self) -> Vec<OptionProblem> {
        let LoadOptions { batch_tokens, context_tokens, prefill_tokens, prefix_cache_bytes, .. } = self.given;
        let given = [
            batch_tokens.is_some(),
            context_tokens.is_some(),
            prefill_tokens.is_some(),
            prefix_cache_bytes.is_some(),
        ];
        let idle = OF_ONE_KIND.iter().zip(given).filter(|((field, _), given)| *given && !self.matters(field));
        idle.map(|((field, kind), _)| {
            let of = if *kind == ModelKind::Chat { "chat" } else { "embedding" };
            let message = format!("for {of} models only: it has no effect on this one");
            OptionProblem { severity: Severity::Note, ..error(field, message, None) }
        })
        .collect()
    }

    fn matters(&self, field: &str) -> bool {
        OF_ONE_KIND.iter().all(|(name, kind)| *name != field || *kind == self.added.kind)
    }
}

/// What the plan says of an option, where a person should know it.
pub(super) fn of_line(requested: &Requested, field: &str, line: &OptionLine) -> Option<OptionProblem> {
    let message = line.note.clone()?;
    let meant = nearest(&requested.scope, &requested.key).filter(|_| line.is_unknown());
    let hint = meant.map(|meant| match &meant.scope {
        scope if *scope == requested.scope => format!("did you mean {}?", meant.key),
        scope => format!("did you mean {} of the scope {scope}?", meant.key),
    });
    let severity = if line.warning { Severity::Warning } else { Severity::Note };
    let nearest = meant.map(|meant| meant.key.clone());
    Some(OptionProblem { severity, field: Some(field.to_owned()), message, hint, nearest })
}

/// More than is free now.
pub(super) fn too_large(estimate: &Estimate) -> Option<OptionProblem> {
    let message = crate::estimate::warning(estimate)?;
    let hint = "unload or shrink other models, or cap this one with working_mem".to_owned();
    Some(OptionProblem { severity: Severity::Warning, field: None, message, hint: Some(hint), nearest: None })
}

fn error(field: &str, message: String, hint: Option<String>) -> OptionProblem {
    let field = Some(field.to_owned());
    OptionProblem { severity: Severity::Error, field, message, hint, nearest: None }
}
