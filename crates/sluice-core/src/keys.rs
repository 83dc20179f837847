//! The servers and keys that the user has entered, as a shell stores them: a list in JSON. Newer versions of Sluice may
//! store an object with a `version`, which is left alone.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{Message, MessageCode};
use crate::send::Endpoint;

/// A server and the key for it, or a new key for a group in VS Code's Manage Models.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct KeptKey {
    /// The name that the user sees.
    pub name: String,
    /// The server's address.
    pub base_url: String,
    /// Absent if the server needs none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The fingerprint of the key in Manage Models that this one replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

/// Leaves out the key.
impl fmt::Debug for KeptKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, base_url, .. } = self;
        formatter.debug_struct("KeptKey").field("name", name).field("base_url", base_url).finish_non_exhaustive()
    }
}

impl KeptKey {
    fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.replaces == other.replaces
    }
}

/// Returns the keys in the stored text, in the order in which they were added. Damaged entries are left out.
pub fn read_keys(stored: &str) -> Vec<KeptKey> {
    let entries: Vec<Value> = serde_json::from_str(stored).unwrap_or_default();
    entries.into_iter().filter_map(|entry| serde_json::from_value(entry).ok()).collect()
}

/// Returns a name for a new key: the host of its server, with a number if that is taken.
pub(crate) fn free_name(keys: &[KeptKey], endpoint: &Endpoint) -> String {
    let is_free = |name: &String| !keys.iter().any(|key| key.name == *name);
    let host = endpoint.host();
    let numbered = (2..).map(|number: u32| format!("{host} {number}"));
    std::iter::once(host.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
}

/// Returns whether a key can be sent. Other characters are mistakes: a line break, a space, a typographic quote.
pub(crate) fn is_sendable_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns the text to store when a key takes the place of another, or is added if that isn't there.
pub fn put_key(stored: &str, key: KeptKey, before: Option<&KeptKey>) -> Result<String, Message> {
    let mut keys = read_keys(stored);
    match keys.iter_mut().find(|kept| kept.is_same(before.unwrap_or(&key))) {
        Some(kept) => *kept = key,
        None => keys.push(key),
    }
    written(stored, &keys)
}

/// Returns the text to store when a key is removed. It is empty if there is no other.
pub fn remove_key(stored: &str, key: &KeptKey) -> Result<String, Message> {
    let mut keys = read_keys(stored);
    keys.retain(|kept| !kept.is_same(key));
    written(stored, &keys)
}

fn written(before: &str, keys: &[KeptKey]) -> Result<String, Message> {
    let before: Value = serde_json::from_str(before).unwrap_or_default();
    if before.get("version").is_some_and(Value::is_number) {
        return Err(MessageCode::KeysNewer.into());
    }
    Ok(if keys.is_empty() { String::new() } else { serde_json::to_string(keys).unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::{KeptKey, Message, put_key, read_keys, remove_key};

    fn key(name: &str, key: &str) -> KeptKey {
        let base_url = "https://a.example/v1".to_owned();
        KeptKey { name: name.to_owned(), base_url, key: Some(key.to_owned()), replaces: None }
    }

    #[test]
    fn keys_are_added_changed_and_removed() -> Result<(), Message> {
        let stored = put_key("", key("a", "1"), None)?;
        let stored = put_key(&stored, key("b", "2"), None)?;
        assert_eq!(read_keys(&stored), [key("a", "1"), key("b", "2")]);
        let stored = put_key(&stored, key("renamed", "3"), Some(&key("a", "1")))?;
        assert_eq!(read_keys(&stored), [key("renamed", "3"), key("b", "2")]);
        let replacement = KeptKey { replaces: Some("fingerprint".to_owned()), ..key("b", "4") };
        let stored = put_key(&stored, replacement.clone(), None)?;
        assert_eq!(read_keys(&stored), [key("renamed", "3"), key("b", "2"), replacement.clone()]);
        let stored = remove_key(&stored, &key("b", "2"))?;
        assert_eq!(read_keys(&stored), [key("renamed", "3"), replacement.clone()]);
        let stored = remove_key(&remove_key(&stored, &replacement)?, &key("renamed", "3"))?;
        assert_eq!(stored, "");
        Ok(())
    }

    #[test]
    fn damaged_entries_are_left_out() {
        let stored = r#"[{"name":"a","baseUrl":5},7,{"name":"b","baseUrl":"https://b.example/v1"}]"#;
        let names: Vec<String> = read_keys(stored).into_iter().map(|key| key.name).collect();
        assert_eq!(names, ["b"]);
        assert_eq!(read_keys("{"), []);
    }

    #[test]
    fn what_a_newer_version_stored_is_left_alone() {
        let newer = r#"{"version":2,"keys":[]}"#;
        assert_eq!(read_keys(newer), []);
        assert!(put_key(newer, key("a", "1"), None).is_err());
        assert!(remove_key(newer, &key("a", "1")).is_err());
    }
}
