//! What a key means in the place where it was given.

use super::{CatalogueEntry, Provider, Scope, catalogue, find};

/// The switch of the CPU arena.
pub(super) const ARENA_SWITCH: &str = "session.enable_cpu_mem_arena";

/// A key with its place, after translation.
#[derive(Debug, Clone)]
pub(super) struct Resolved {
    /// Where it goes.
    pub scope: Scope,
    /// Under which key: the full one where it is known, else as typed.
    pub key: String,
    /// What is known of it.
    pub meaning: Meaning,
}

/// What is known of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A key of this place.
    Known(&'static CatalogueEntry),
    /// A key of another place, without effect in this one.
    Misplaced(&'static CatalogueEntry),
    /// Nothing.
    Unknown,
}

/// Reads a key in its scope: in full, without `session.`, with a provider before the dot, or meant for another scope.
pub(super) fn resolve(scope: &Scope, key: &str) -> Resolved {
    let known = match scope {
        Scope::Session => session_key(key).or_else(|| arena_key(key)),
        Scope::Arena => arena_key(key).or_else(|| session_key(key)),
        Scope::Provider(name) if name == "cpu" => cpu_key(key),
        _ => find(scope, key).map(|entry| known(entry, key)),
    };
    if let Some(resolved) = known {
        return resolved;
    }
    let as_typed = |meaning| Resolved { scope: scope.clone(), key: key.to_owned(), meaning };
    if let Some(entry) = elsewhere(scope, key) {
        return as_typed(Meaning::Misplaced(entry));
    }
    if matches!(scope, Scope::Session | Scope::Arena)
        && let Some(resolved) = provider_key(key)
    {
        return resolved;
    }
    as_typed(Meaning::Unknown)
}

/// The one place where an option is kept, however it was written; used to see that two are the same. The two caps share
/// one, for only one of them can hold.
pub(crate) fn canonical(scope: &Scope, key: &str) -> (Scope, String) {
    let resolved = resolve(scope, key);
    if resolved.scope == Scope::Arena && resolved.key == "working_mem" {
        return (Scope::Arena, "max_mem".to_owned());
    }
    (resolved.scope, resolved.key)
}

impl Resolved {
    /// The entry of a known key.
    pub(super) fn entry(&self) -> Option<&'static CatalogueEntry> {
        match self.meaning {
            Meaning::Known(entry) => Some(entry),
            Meaning::Misplaced(_) | Meaning::Unknown => None,
        }
    }
}

fn known(entry: &'static CatalogueEntry, key: &str) -> Resolved {
    Resolved { scope: entry.scope.clone(), key: key.to_owned(), meaning: Meaning::Known(entry) }
}

fn session_key(key: &str) -> Option<Resolved> {
    [key.to_owned(), format!("session.{key}")]
        .iter()
        .find_map(|key| find(&Scope::Session, key).map(|entry| known(entry, key)))
}

fn arena_key(key: &str) -> Option<Resolved> {
    let short = key.strip_prefix("session.").unwrap_or(key);
    find(&Scope::Arena, short).map(|entry| known(entry, short))
}

/// A key that is known, but not where it was given.
fn elsewhere(scope: &Scope, key: &str) -> Option<&'static CatalogueEntry> {
    let load = || session_key(key).or_else(|| arena_key(key)).and_then(|resolved| resolved.entry());
    let provider =
        || catalogue().iter().find(|entry| matches!(entry.scope, Scope::Provider(_)) && entry.key == key);
    match scope {
        Scope::Session | Scope::Arena => find(&Scope::Run, key).or_else(provider),
        Scope::Run => load().or_else(provider),
        Scope::Provider(_) | Scope::Environment => load().or_else(|| find(&Scope::Run, key)),
    }
}

/// The CPU provider takes no options; what people give it governs its arena.
fn cpu_key(key: &str) -> Option<Resolved> {
    match key {
        "use_arena" | "enable_cpu_mem_arena" => session_key(ARENA_SWITCH),
        _ => arena_key(key),
    }
}

/// `cuda.gpu_mem_limit` where a session key is expected.
fn provider_key(key: &str) -> Option<Resolved> {
    let (name, key) = key.split_once('.')?;
    let provider = Provider::named(name)?;
    if key.is_empty() {
        return None;
    }
    Some(resolve(&Scope::Provider(provider.name.to_owned()), key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(scope: &str, key: &str, want: &str) {
        let resolved = resolve(&scope.parse().unwrap(), key);
        let kind = match resolved.meaning {
            Meaning::Known(_) => "known",
            Meaning::Misplaced(_) => "misplaced",
            Meaning::Unknown => "unknown",
        };
        assert_eq!(format!("{} {} {kind}", resolved.scope, resolved.key), want, "{scope} {key}");
    }

    #[test]
    fn keys_go_where_they_are_meant() {
        check("session", "session.enable_mem_pattern", "session session.enable_mem_pattern known");
        check("session", "enable_mem_pattern", "session session.enable_mem_pattern known");
        check("session", "intra_op.allow_spinning", "session session.intra_op.allow_spinning known");
        check("arena", "enable_cpu_mem_arena", "session session.enable_cpu_mem_arena known");
        check("arena", "session.enable_cpu_mem_arena", "session session.enable_cpu_mem_arena known");
        check("provider.cpu", "use_arena", "session session.enable_cpu_mem_arena known");
        check("provider.cpu", "arena_extend_strategy", "arena arena_extend_strategy known");
        check("session", "arena_extend_strategy", "arena arena_extend_strategy known");
        check("session", "session.arena_extend_strategy", "arena arena_extend_strategy known");
        check("provider.cuda", "arena_extend_strategy", "provider.cuda arena_extend_strategy known");
        check("session", "cuda.gpu_mem_limit", "provider.cuda gpu_mem_limit known");
        check("session", "CUDAExecutionProvider.gpu_mem_limit", "provider.cuda gpu_mem_limit known");
        check("arena", "cuda.gpu_mem_limit", "provider.cuda gpu_mem_limit known");
        check("session", "cuda.no_such", "provider.cuda no_such unknown");
        check("session", "cuda.", "session cuda. unknown");
        check("session", "cpu.max_mem", "arena max_mem known");
        check("session", "qnn.htp_perf_mode", "session qnn.htp_perf_mode misplaced");
        check("session", super::super::SHRINK_KEY, "session memory.enable_memory_arena_shrinkage misplaced");
        check("run", super::super::SHRINK_KEY, "run memory.enable_memory_arena_shrinkage known");
        check("run", "session.enable_mem_pattern", "run session.enable_mem_pattern misplaced");
        check("run", "enable_cpu_mem_arena", "run enable_cpu_mem_arena misplaced");
        check("run", "max_mem", "run max_mem misplaced");
        check("session", "gpu_mem_limit", "session gpu_mem_limit misplaced");
        check("arena", "gpu_mem_limit", "arena gpu_mem_limit misplaced");
        check("run", "gpu_mem_limit", "run gpu_mem_limit misplaced");
        check("provider.cuda", "max_mem", "provider.cuda max_mem misplaced");
        check("environment", "allow_virtual_devices", "environment allow_virtual_devices known");
        check("session", "enable_cpu_mem_aren", "session enable_cpu_mem_aren unknown");
        check("session", "ep.myown.arena.max_mem", "session ep.myown.arena.max_mem known");
    }
}
