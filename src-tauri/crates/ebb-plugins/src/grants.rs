//! What a plugin was granted, and what it really used.

use std::{
    path::PathBuf,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use ebb_core::{Capability, operations::Grant};

/// Stands for every model, also those added later.
const EVERY_MODEL: &str = "*";

/// Most characters of a model's name that a refusal repeats.
const LONGEST_SHOWN: usize = 64;

/// The grants of one plugin. They hold from the next call of the host on, also for calls that go on.
#[derive(Debug)]
pub(crate) struct Grants {
    plugin: String,
    granted: RwLock<Vec<Grant>>,
    counts: [Count; Capability::ALL.len()],
}

/// Calls that needed a capability, since the host started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Which.
    pub capability: Capability,
    /// All of them.
    pub calls: u64,
    /// Those that were refused.
    pub refused: u64,
    /// The last of them, in milliseconds since 1970.
    pub last_used_at_ms: Option<u64>,
}

#[derive(Debug, Default)]
struct Count {
    calls: AtomicU64,
    refused: AtomicU64,
    last_used_at_ms: AtomicU64,
}

impl Grants {
    pub(crate) fn new(plugin: &str, granted: Vec<Grant>) -> Self {
        let counts = std::array::from_fn(|_| Count::default());
        Self { plugin: plugin.to_owned(), granted: RwLock::new(granted), counts }
    }

    /// These hold from now on, instead of those before.
    pub(crate) fn set(&self, granted: Vec<Grant>) {
        *self.granted.write().unwrap_or_else(PoisonError::into_inner) = granted;
    }

    /// Whether it was granted, on this model where it is of models. Nothing is counted.
    pub(crate) fn may(&self, capability: Capability, model: Option<&str>) -> bool {
        let granted = self.granted.read().unwrap_or_else(PoisonError::into_inner);
        let Some(grant) = granted.iter().find(|grant| grant.capability == capability) else { return false };
        match model {
            Some(model) if capability.is_of_models() => {
                grant.models.iter().any(|granted| granted == model || granted == EVERY_MODEL)
            }
            _ => true,
        }
    }

    /// Counts a call that needs a capability.
    ///
    /// # Errors
    /// Where it was not granted: what to grant, in words.
    pub(crate) fn check(&self, capability: Capability, model: Option<&str>) -> Result<(), String> {
        let allowed = self.may(capability, model);
        let count = &self.counts[place(capability)];
        count.calls.fetch_add(1, Ordering::Relaxed);
        count.last_used_at_ms.store(now_ms(), Ordering::Relaxed);
        if allowed {
            return Ok(());
        }
        count.refused.fetch_add(1, Ordering::Relaxed);
        Err(self.refusal(capability, model))
    }

    /// What to grant, in words.
    pub(crate) fn refusal(&self, capability: Capability, model: Option<&str>) -> String {
        let plugin = &self.plugin;
        let model = model.filter(|_| capability.is_of_models());
        let on = model.map(|model| {
            let shown: String = model.chars().take(LONGEST_SHOWN).collect();
            format!(" on '{}'", shown.escape_debug())
        });
        let of = match capability {
            Capability::Store => String::new(),
            Capability::Documents => " --path PATH".to_owned(),
            // The guest chose the name, and a person is to copy this into a shell.
            _ => format!(" --model {}", model.filter(|model| is_plain(model)).unwrap_or("MODEL")),
        };
        format!(
            "{capability} was not granted{}: `ebb plugin grant {plugin} {capability}{of}`",
            on.unwrap_or_default()
        )
    }

    /// The files and folders that it may read.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let granted = self.granted.read().unwrap_or_else(PoisonError::into_inner);
        let documents = granted.iter().filter(|grant| grant.capability == Capability::Documents);
        documents.flat_map(|grant| grant.paths.clone()).collect()
    }

    /// What it used so far.
    pub(crate) fn usage(&self) -> Vec<Usage> {
        let of = |capability: Capability| {
            let count = &self.counts[place(capability)];
            let last = count.last_used_at_ms.load(Ordering::Relaxed);
            Usage {
                capability,
                calls: count.calls.load(Ordering::Relaxed),
                refused: count.refused.load(Ordering::Relaxed),
                last_used_at_ms: (last > 0).then_some(last),
            }
        };
        Capability::ALL.into_iter().map(of).collect()
    }
}

/// Whether a shell takes it as it is.
fn is_plain(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/@-".contains(&byte);
    (1..=LONGEST_SHOWN).contains(&name.len()) && !name.starts_with('-') && name.bytes().all(fits)
}

/// A capability's place among all.
fn place(capability: Capability) -> usize {
    Capability::ALL.iter().position(|one| *one == capability).unwrap_or_default()
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(capability: Capability, models: &[&str]) -> Grant {
        Grant { capability, models: models.iter().map(ToString::to_string).collect(), paths: Vec::new() }
    }

    #[test]
    fn what_was_not_granted_is_refused_by_name() {
        let grants = Grants::new("p", vec![grant(Capability::MemoryRead, &["a"])]);
        assert_eq!(grants.check(Capability::MemoryRead, Some("a")), Ok(()));
        let refusal = grants.check(Capability::MemoryRead, Some("b")).unwrap_err();
        assert_eq!(refusal, "memory.read was not granted on 'b': `ebb plugin grant p memory.read --model b`");
        let refusal = grants.check(Capability::Store, None).unwrap_err();
        assert_eq!(refusal, "store was not granted: `ebb plugin grant p store`");
        let refusal = grants.check(Capability::Documents, None).unwrap_err();
        assert_eq!(refusal, "documents was not granted: `ebb plugin grant p documents --path PATH`");
        let usage = grants.usage();
        let read = usage.iter().find(|used| used.capability == Capability::MemoryRead).unwrap();
        assert_eq!((read.calls, read.refused, read.last_used_at_ms.is_some()), (2, 1, true));
        let control = usage.iter().find(|used| used.capability == Capability::MemoryControl).unwrap();
        assert_eq!((control.calls, control.last_used_at_ms), (0, None));
    }

    #[test]
    fn what_a_guest_calls_a_model_reaches_no_shell() {
        let grants = Grants::new("p", Vec::new());
        for hostile in ["a; rm -rf ~", "a`b`", "$(c)", "-x", "a\nb", "", &"m".repeat(1 << 20)] {
            let refusal = grants.check(Capability::InferenceEmbed, Some(hostile)).unwrap_err();
            assert!(refusal.ends_with("`ebb plugin grant p inference.embed --model MODEL`"), "{refusal}");
            assert!(refusal.len() < 300 && !refusal.contains('\n'), "{refusal}");
        }
    }

    #[test]
    fn a_grant_on_every_model_holds_for_all_and_a_change_at_once() {
        let grants = Grants::new("p", vec![grant(Capability::InferenceEmbed, &["*"])]);
        assert!(grants.may(Capability::InferenceEmbed, Some("anything")));
        assert!(!grants.may(Capability::InferenceGenerate, Some("anything")));
        grants.set(vec![grant(Capability::InferenceEmbed, &["b"])]);
        assert!(!grants.may(Capability::InferenceEmbed, Some("anything")));
        assert!(grants.may(Capability::InferenceEmbed, Some("b")));
        assert!(grants.may(Capability::InferenceEmbed, None), "on some model");
        assert_eq!(
            grants.usage().iter().map(|used| used.calls).sum::<u64>(),
            0,
            "only looking is not counted"
        );
    }
}
