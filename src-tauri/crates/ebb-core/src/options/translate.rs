//! One option on its way from as typed to as meant.

use super::{
    OptionLine, Plan, Provider, ProviderPlan, Requested, SHRINK_KEY, Scope, arena, check, nearest,
    resolve::{ARENA_SWITCH, Meaning, Resolved, resolve},
    run,
    typed::{self, Typed},
};
use crate::{Code, Failure, Target};

/// How `effective` reads where a known option does nothing.
const NO_EFFECT: &str = "no effect";

/// How `effective` reads where nothing is known of an option.
const NO_KNOWN_EFFECT: &str = "no known effect";

/// How the note of an option begins that is not known anywhere.
const UNKNOWN: &str = "unknown to Ebb's catalogue";

/// One option, its key understood and its value checked.
pub(super) struct Understood<'a> {
    /// As typed.
    pub requested: &'a Requested,
    /// Where it goes.
    pub resolved: Resolved,
    /// As ONNX Runtime wants it written.
    pub value: String,
}

impl<'a> Understood<'a> {
    /// Understands an option by itself.
    pub(super) fn read(requested: &'a Requested) -> Result<Self, Failure> {
        let Requested { scope, key, value: typed } = requested;
        check::text(key, typed)?;
        let resolved = resolve(scope, key);
        // An empty run option takes an earlier one back, whatever its type.
        let taken_back = *scope == Scope::Run && typed.trim().is_empty();
        let value = match resolved.meaning {
            Meaning::Known(entry) if !taken_back => check::value(entry, key, typed)?,
            _ => typed.clone(),
        };
        let option = Self { requested, resolved, value };
        if run::is_shrink(&option) {
            Target::parse_list(typed).map_err(|failure| failure.param(SHRINK_KEY))?;
        }
        Ok(option)
    }

    /// Where it is kept: two options in one place are the same option.
    pub(super) fn place(&self) -> (&Scope, &str) {
        (&self.resolved.scope, &self.resolved.key)
    }

    /// Why it cannot hold together with `first`: it is the same option, in whatever spelling, with another value.
    pub(super) fn contradicts(&self, first: &Self) -> Option<Failure> {
        let contradicts = first.place() == self.place() && first.value != self.value;
        contradicts.then(|| {
            let message = format!("{} and {} contradict each other", first.as_typed(), self.as_typed());
            Failure::new(Code::Conflict, message)
                .hint("they mean the same option: give it once")
                .param(self.requested.key.clone())
        })
    }

    /// Whether the key is known in its place.
    pub(super) fn is_known(&self) -> bool {
        self.resolved.entry().is_some()
    }

    /// `key=value` as typed.
    pub(super) fn as_typed(&self) -> String {
        format!("{}={}", self.requested.key, self.requested.value)
    }

    /// Enters it into the plan and tells what became of it.
    pub(super) fn carry_out(&self, plan: &mut Plan, provider: &str) -> OptionLine {
        match &self.resolved.scope {
            Scope::Session => self.session(plan),
            // The arena itself was planned from all options together.
            Scope::Arena => arena::line(self, plan.arena.as_ref()),
            Scope::Provider(name) => self.provider(plan, name, provider),
            Scope::Run if run::is_shrink(self) => {
                let arena_is_on = plan.arena.is_some();
                let (targets, line) = run::shrink(self, |target| may_have_arena(target, arena_is_on, provider));
                plan.shrink_after_each = targets;
                line
            }
            Scope::Run => {
                let (pair, line) = run::line(self);
                plan.run.extend(pair);
                line
            }
            Scope::Environment => self.without_effect(
                "belongs to the whole process: Ebb sets it up before a model is loaded, so no model can change it",
            ),
        }
    }

    fn session(&self, plan: &mut Plan) -> OptionLine {
        let key = self.resolved.key.as_str();
        let Meaning::Known(entry) = self.resolved.meaning else {
            plan.session.entries.push((key.to_owned(), self.value.clone()));
            return self.not_known(Some(self.as_typed()), None);
        };
        let pair = format!("{key}={}", self.value);
        match key {
            ARENA_SWITCH if plan.arena.is_none() => return self.line(Some(pair)),
            ARENA_SWITCH => {
                return self
                    .line(Some("CreateAndRegisterAllocator".to_owned()))
                    .noted("the model's own arena");
            }
            "session.use_env_allocators" => return self.env_allocators(plan.arena.is_some()),
            _ => {}
        }
        let line = match typed::set(&mut plan.session, key, &self.value) {
            Some(Typed::Call(call)) => self.line(Some(call)),
            Some(Typed::Default) => self.line(None).noted("the default"),
            None => {
                plan.session.entries.push((key.to_owned(), self.value.clone()));
                if entry.no_op {
                    let note = entry.note.as_deref().unwrap_or_default();
                    return OptionLine { forwarded: Some(pair), ..self.without_effect(note) };
                }
                self.line(Some(pair))
            }
        };
        if self.requested.scope == Scope::Session {
            line
        } else {
            line.noted("an option of the session; set there")
        }
    }

    /// Ebb decides this one: with it a model gets the arena that was made for it.
    fn env_allocators(&self, arena_is_on: bool) -> OptionLine {
        let (forwarded, why) = if arena_is_on {
            (Some("session.use_env_allocators=1".to_owned()), "1, so that the model gets its own arena")
        } else {
            (None, "off here, because the arena is off and no allocator is registered")
        };
        let set = format!("Ebb sets this by itself: {why}");
        let agrees = (self.value == "1") == arena_is_on;
        if agrees {
            self.line(forwarded).noted(&set)
        } else {
            OptionLine { forwarded, ..self.without_effect(&set) }
        }
    }

    fn provider(&self, plan: &mut Plan, name: &str, used: &str) -> OptionLine {
        if name == "cpu" {
            return self.not_known(None, Some("not forwarded: ONNX Runtime's CPU provider takes no options"));
        }
        let pair = (self.resolved.key.clone(), self.value.clone());
        let forwarded = Some(format!("{}={}", pair.0, pair.1));
        match plan.providers.iter_mut().find(|provider| provider.name == name) {
            Some(provider) => provider.options.push(pair),
            None => plan.providers.push(ProviderPlan { name: name.to_owned(), options: vec![pair] }),
        }
        if used != "auto" && used != name {
            return self.without_effect(&format!("this model runs on {used}, not on {name}"));
        }
        match self.resolved.meaning {
            Meaning::Known(entry) if entry.no_op => {
                let note = entry.note.as_deref().unwrap_or_default();
                OptionLine { forwarded, ..self.without_effect(note) }
            }
            Meaning::Known(entry) if !check::is_listed(entry, &self.value) => {
                let known = format!("not a value that Ebb knows ({}); forwarded", entry.allowed.join(", "));
                self.line(forwarded).warned(&known)
            }
            Meaning::Known(_) => self.line(forwarded),
            _ => self.not_known(forwarded, None),
        }
    }

    /// The line of an option that works.
    pub(super) fn line(&self, forwarded: Option<String>) -> OptionLine {
        OptionLine {
            scope: self.resolved.scope.clone(),
            key: self.requested.key.clone(),
            requested: self.requested.value.clone(),
            forwarded,
            effective: None,
            note: None,
            warning: false,
        }
    }

    /// The line of an option that is known to do nothing here.
    pub(super) fn without_effect(&self, why: &str) -> OptionLine {
        OptionLine { effective: Some(NO_EFFECT.to_owned()), ..self.line(None).warned(why) }
    }

    /// The line of an option that is not known in its place.
    pub(super) fn not_known(&self, forwarded: Option<String>, note: Option<&str>) -> OptionLine {
        if let Meaning::Misplaced(entry) = self.resolved.meaning {
            return OptionLine { forwarded, ..self.without_effect(&belongs(&entry.scope, &entry.key)) };
        }
        let what_was_done = note.unwrap_or("forwarded as typed");
        let mut told = format!("{UNKNOWN}; {what_was_done}; {NO_KNOWN_EFFECT}");
        if let Some(entry) = nearest(&self.requested.scope, &self.requested.key) {
            told.push_str(&format!("; nearest known key: {}", entry.key));
            if entry.scope != self.requested.scope {
                told.push_str(&format!(" ({})", entry.scope));
            }
        }
        OptionLine { effective: Some(NO_KNOWN_EFFECT.to_owned()), ..self.line(forwarded).warned(&told) }
    }
}

impl OptionLine {
    /// Whether nothing is known of its key.
    pub fn is_unknown(&self) -> bool {
        self.note.as_deref().is_some_and(|note| note.starts_with(UNKNOWN))
    }

    /// Adds what a person should know.
    pub(super) fn noted(mut self, note: &str) -> Self {
        self.note = Some(note.to_owned());
        self
    }

    /// Adds what a person should know who expects the option to work.
    pub(super) fn warned(mut self, note: &str) -> Self {
        self.warning = true;
        self.noted(note)
    }

    /// Logs an option that does nothing, so far as is known.
    pub(super) fn log(&self) {
        if matches!(self.effective.as_deref(), Some(NO_EFFECT | NO_KNOWN_EFFECT)) {
            let note = self.note.as_deref().unwrap_or_default();
            tracing::warn!(scope = %self.scope, key = self.key, note, "an option has no effect");
        }
    }
}

/// Where an option belongs that was given elsewhere.
fn belongs(scope: &Scope, key: &str) -> String {
    match scope {
        Scope::Run => "a run option: without effect here; set it as a runtime option".to_owned(),
        Scope::Provider(name) => {
            format!(
                "an option of the provider {name}: without effect here; give it as provider option {name}.{key}"
            )
        }
        scope => {
            format!("an option of the {scope}, {key}: without effect here; give it when the model is loaded")
        }
    }
}

/// Whether a target may turn out to have an arena; which device a GPU provider took shows only once it is loaded.
fn may_have_arena(target: Target, arena_is_on: bool, provider: &str) -> bool {
    match target {
        Target::Cpu(index) => arena_is_on && index == 0,
        Target::Gpu(_) => provider != "cpu" && Provider::named(provider).is_none_or(|known| known.has_arena),
    }
}
