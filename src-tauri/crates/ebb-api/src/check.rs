//! What load options would come to: the same look at them as a load takes, without loading.

mod fields;
mod problems;
mod written;

use ebb_core::{
    Failure, LoadOptions,
    operations::{OptionProblem, OptionsCheck, Severity},
    options::{self, Requested},
};

use crate::{Host, estimate::estimate};

use self::problems::Look;

impl Host {
    /// What load options would come to: every option's line, everything that a person should know of them, what the model would
    /// need, and how to type the same. Nothing is loaded.
    ///
    /// # Errors
    /// [`ebb_core::Code::NotFound`] for the model. Whatever is wrong with the options stands in the answer.
    pub async fn check_options(&self, alias: &str, options: LoadOptions) -> Result<OptionsCheck, Failure> {
        let added = self.added(alias)?;
        let mut problems = Vec::new();
        let resolved = match self.inner.profiles.resolve(options.clone()) {
            Ok(resolved) => resolved,
            Err(failure) => {
                problems.push(refused(Some("profile".to_owned()), failure));
                options.clone()
            }
        };
        let found = self.found_before();
        let look = Look { added: &added, given: &options, options: &resolved, found: found.as_deref() };
        let lines = self.look(&look, &mut problems);
        let estimate = estimate(alias, &added, &resolved, None).ok();
        problems.extend(estimate.as_ref().and_then(problems::too_large));
        problems.sort_by_key(|problem| problem.severity);
        let changed = self.changed(alias, &resolved);
        Ok(OptionsCheck {
            model: alias.to_owned(),
            lines,
            problems,
            estimate,
            needs_reload: !changed.is_empty(),
            changed,
            cli: written::cli(alias, &options),
            python: written::python(alias, &options),
        })
    }

    fn look(&self, look: &Look<'_>, problems: &mut Vec<OptionProblem>) -> Vec<options::OptionLine> {
        let requested = Requested::all(look.options);
        let fields = fields::of_options(look.options);
        // What is not known yet is looked up for the next time.
        if look.found.is_none() {
            let host = self.clone();
            tokio::spawn(async move { host.found().await });
        }
        let provider = look.provider();
        let options::Review { plan, refused: not_held } = options::review(&requested, &provider);
        let mut is_refused = vec![false; requested.len()];
        for (index, failure) in not_held {
            if let Some(refused) = is_refused.get_mut(index) {
                *refused = true;
            }
            problems.push(refused(fields.get(index).cloned(), failure));
        }
        let kept = is_refused.iter().zip(&requested).zip(&fields).filter(|((refused, _), _)| !**refused);
        for (((_, requested), field), line) in kept.zip(&plan.lines) {
            problems.extend(problems::of_line(requested, field, line));
        }
        problems.extend(look.cap_below_weights(&plan, &fields, &requested));
        problems.extend(look.of_fields());
        plan.lines
    }

    /// What differs from the options that the model is in memory with.
    fn changed(&self, alias: &str, resolved: &LoadOptions) -> Vec<String> {
        if self.serving(alias).is_none() {
            return Vec::new();
        }
        let current = self.inner.profiles.resolve(self.inner.state.of(alias).options);
        current.map_or_else(|_| Vec::new(), |current| fields::differing(&current, resolved))
    }
}

/// Something with which the model does not load.
fn refused(field: Option<String>, failure: Failure) -> OptionProblem {
    OptionProblem {
        severity: Severity::Error,
        field,
        message: failure.message,
        hint: failure.hint,
        nearest: None,
    }
}

#[cfg(test)]
mod tests;
