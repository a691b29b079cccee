//! Names that users give: of models and of profiles. They stand in addresses, file names and logs, so they are plain.

use ebb_core::{Code, Failure};

const LONGEST: usize = 64;

/// Refuses what is not a plain name. `what` says what it names, `param` which field it came in.
///
/// # Errors
/// [`Code::InvalidRequest`], with the rule.
pub(crate) fn check(what: &str, param: &str, name: &str) -> Result<(), Failure> {
    if name.len() <= LONGEST
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(plain)
    {
        return Ok(());
    }
    Err(Failure::new(Code::InvalidRequest, format!("'{}' cannot name a {what}", name.escape_debug()))
        .hint("use letters, digits, '-', '_' and '.', at most 64, a letter or digit first")
        .param(param))
}

/// What stands in addresses where the alias of a model does.
const TAKEN_BY_ROUTES: [&str; 3] = ["import", "pull", "shrink-all"];

/// Refuses what cannot be the alias of a model.
///
/// # Errors
/// [`Code::InvalidRequest`], with the rule.
pub(crate) fn check_alias(alias: &str) -> Result<(), Failure> {
    check("model", "alias", alias)?;
    if !TAKEN_BY_ROUTES.contains(&alias) {
        return Ok(());
    }
    Err(Failure::new(
        Code::InvalidRequest,
        format!("'{alias}' cannot name a model: an operation is called so"),
    )
    .hint("choose another alias")
    .param("alias"))
}

/// The alias in lower case that is nearest to a model's name elsewhere.
pub fn alias_of(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let alias = plain_name(&lower).unwrap_or_default();
    let alias = alias.trim_end_matches(['-', '.', '_']);
    if alias.is_empty() || TAKEN_BY_ROUTES.contains(&alias) { "model".to_owned() } else { alias.to_owned() }
}

/// The plain name nearest to `text`; `None` where nothing plain is in it.
pub(crate) fn plain_name(text: &str) -> Option<String> {
    let mut name = String::new();
    for c in text.chars().map(|c| if plain(c) { c } else { '-' }) {
        // One dash for a stretch of what cannot stay.
        if c != '-' || !name.ends_with('-') {
            name.push(c);
        }
    }
    let name: String =
        name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).chars().take(LONGEST).collect();
    let name = name.trim_end_matches('-');
    (!name.is_empty()).then(|| name.to_owned())
}

fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_leave_their_folder_are_refused() {
        for name in
            ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "a b", "a\0", "ä", "-x", &"x".repeat(65)]
        {
            let failure = check("profile", "name", name).unwrap_err();
            assert_eq!(
                (failure.code, failure.param.as_deref()),
                (Code::InvalidRequest, Some("name")),
                "{name:?}"
            );
        }
        for name in ["minilm", "all-MiniLM-L6-v2", "a.b_c", "7"] {
            check("model", "alias", name).unwrap();
        }
    }

    #[test]
    fn an_alias_is_plain_and_no_operation() {
        for (name, want) in [
            ("All-MiniLM-L6-v2", "all-minilm-l6-v2"),
            ("Qwen2.5_0.5B", "qwen2.5_0.5b"),
            ("--x--y", "x-y"),
            ("模型", "model"),
            ("a b/c:d", "a-b-c-d"),
            ("Pull", "model"),
            (&"x".repeat(80), &"x".repeat(64)),
        ] {
            assert_eq!(alias_of(name), want, "{name}");
            check_alias(want).unwrap();
        }
        for alias in TAKEN_BY_ROUTES {
            assert_eq!(check_alias(alias).unwrap_err().param.as_deref(), Some("alias"));
        }
    }

    #[test]
    fn a_folder_gives_a_plain_name() {
        for (text, want) in [
            ("all-MiniLM-L6-v2", Some("all-MiniLM-L6-v2")),
            ("Modèle à moi (2)", Some("Mod-le-moi-2")),
            ("..weights", Some("weights")),
            ("模型", None),
            ("", None),
        ] {
            assert_eq!(plain_name(text).as_deref(), want, "{text:?}");
            if let Some(name) = want {
                check("model", "alias", name).unwrap();
            }
        }
    }
}
