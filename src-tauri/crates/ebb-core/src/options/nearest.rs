//! What was probably meant by a key that is not known.

use super::{CatalogueEntry, Scope, catalogue, catalogue::ANY_PREFIX};

/// How alike two keys must be, of 1, for one to be taken for the other misspelt: about one letter in four may differ.
const NEAR_ENOUGH: f64 = 0.75;

/// A key of another scope must be this much nearer than one of the scope that was named.
const OTHER_SCOPE: f64 = 0.93;

/// The known key that is nearest to what was typed, where one is near enough to be meant: of the scope first, else of any
/// other. `session.` may be left out, as most people do.
pub fn nearest(scope: &Scope, key: &str) -> Option<&'static CatalogueEntry> {
    let typed = key.trim().to_lowercase();
    let mut best: Option<(f64, &CatalogueEntry)> = None;
    for entry in catalogue() {
        let weight = if entry.scope == *scope { 1.0 } else { OTHER_SCOPE };
        let likeness = likeness(&typed, &entry.key) * weight;
        if likeness >= NEAR_ENOUGH && best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, entry));
        }
    }
    best.map(|(_, entry)| entry)
}

/// How alike a typed key in lower case and a known one are, with or without the area before the last dot but one.
fn likeness(typed: &str, known: &str) -> f64 {
    let mut known = known.to_lowercase();
    if known.contains(ANY_PREFIX)
        && let Some(prefix) = typed.strip_prefix("ep.").and_then(|rest| rest.split('.').next())
    {
        known = known.replace(ANY_PREFIX, prefix);
    }
    let whole = strsim::normalized_damerau_levenshtein(typed, &known);
    let short = strsim::normalized_damerau_levenshtein(without_area(typed), without_area(&known));
    whole.max(short)
}

fn without_area(key: &str) -> &str {
    key.split_once('.').map_or(key, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C10: misspelt, in the wrong place, without its area, in the wrong case.
    #[test]
    fn what_was_meant_is_found() {
        for (scope, typed, want) in [
            ("session", "enable_cpu_mem_aren", Some("session.enable_cpu_mem_arena")),
            ("session", "session.enable_cpu_mem_aren", Some("session.enable_cpu_mem_arena")),
            ("arena", "enable_cpu_mem_aren", Some("session.enable_cpu_mem_arena")),
            ("run", "memory.enable_memory_arena_shrinkge", Some("memory.enable_memory_arena_shrinkage")),
            ("session", "memory.enable_memory_arena_shrinkge", Some("memory.enable_memory_arena_shrinkage")),
            ("run", "enable_memory_arena_shrinkage", Some("memory.enable_memory_arena_shrinkage")),
            ("arena", "max_memm", Some("max_mem")),
            ("arena", "arena_extend_stategy", Some("arena_extend_strategy")),
            ("provider.cuda", "gpu_mem_limt", Some("gpu_mem_limit")),
            ("provider.webgpu", "storagebuffercachemode", Some("storageBufferCacheMode")),
            ("session", "ep.cuda.arena.max_men", Some("ep.<prefix>.arena.max_mem")),
            ("session", "colour", None),
            ("run", "x", None),
            ("run", "", None),
        ] {
            let found = nearest(&scope.parse().unwrap(), typed).map(|entry| entry.key.as_str());
            assert_eq!(found, want, "{scope} {typed}");
        }
    }
}
