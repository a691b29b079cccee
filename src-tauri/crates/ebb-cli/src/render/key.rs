//! Keys of apps.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ebb_core::operations::{AddedKey, KeyList, KeyScope};

use super::{Look, Table, model::word, stats::duration};

/// A key that was made, with its secret.
pub(crate) fn added_key(key: &AddedKey, look: Look) -> String {
    format!(
        "{}  may {}\n\n{}\n\nkeep it: it is not shown again. Apps send it as 'Authorization: Bearer KEY'\n",
        look.bold(&key.name),
        scopes(&key.scopes),
        key.key
    )
}

/// Every key.
pub(crate) fn key_list(list: &KeyList, now: SystemTime, look: Look) -> String {
    let mut table = Table::new(look, &["key", "may", "made"]);
    for key in &list.keys {
        let made = UNIX_EPOCH + Duration::from_millis(key.created_at_ms);
        let ago = now.duration_since(made).unwrap_or_default();
        let ago = format!("{} ago", duration(u64::try_from(ago.as_millis()).unwrap_or(u64::MAX)));
        table.row([key.name.clone(), scopes(&key.scopes), ago]);
    }
    if table.is_empty() {
        return "no keys yet: 'ebb key add NAME' makes one\n".into();
    }
    table.text(look)
}

fn scopes(scopes: &[KeyScope]) -> String {
    scopes.iter().map(word).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use ebb_core::operations::KeyEntry;

    use super::*;

    #[test]
    fn a_key_is_shown_once_and_then_by_its_name() {
        let scopes = vec![KeyScope::Infer, KeyScope::Control];
        let made = AddedKey { name: "editor".into(), key: "ebb-secret".into(), scopes: scopes.clone() };
        insta::assert_snapshot!(added_key(&made, Look::plain()), @r"
        editor  may infer, control

        ebb-secret

        keep it: it is not shown again. Apps send it as 'Authorization: Bearer KEY'
        ");
        let list = KeyList { keys: vec![KeyEntry { name: "editor".into(), scopes, created_at_ms: 1_000 }] };
        let now = UNIX_EPOCH + Duration::from_secs(62);
        insta::assert_snapshot!(key_list(&list, now, Look::plain()), @r"
        key     may             made
        editor  infer, control  1 min 1 s ago
        ");
        assert!(key_list(&KeyList { keys: vec![] }, now, Look::plain()).contains("ebb key add"));
    }
}
