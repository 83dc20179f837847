//! A report to attach to a bug: versions, settings, and how the last requests ended. It never contains prompts or answers,
//! anything else that a server said, keys, header values, or the user's name.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::secrets::{HIDDEN, Secrets};

/// What a report says, before anything private is removed from it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReportFacts {
    /// Our version.
    pub sluice: String,
    /// The editor. Its field `remote` is the name of the remote connection.
    #[cfg_attr(test, ts(type = "object"))]
    pub vscode: Map<String, Value>,
    /// The machine.
    #[cfg_attr(test, ts(type = "object"))]
    pub machine: Map<String, Value>,
    /// Whether the editor can show thinking separately.
    pub thinking_parts: bool,
    /// The settings that the user changed.
    #[cfg_attr(test, ts(type = "object"))]
    pub settings: Map<String, Value>,
    /// The connections, or what is wrong with them.
    #[cfg_attr(test, ts(type = "object[]"))]
    pub connections: Vec<Map<String, Value>>,
    /// The latest lines of the log.
    pub log: Vec<String>,
    /// The names of connections, which may be those of teams.
    #[serde(skip_serializing)]
    pub labels: Vec<String>,
    /// The secrets that are known.
    #[serde(skip_serializing)]
    pub secrets: Vec<String>,
}

impl ReportFacts {
    /// Returns the report as JSON.
    pub fn into_report(mut self) -> String {
        if let Some(Value::String(remote)) = self.vscode.get_mut("remote") {
            // Some servers put their address there, so only plain names are kept.
            if !remote.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') {
                "other".clone_into(remote);
            }
        }
        if let Some(headers) = self.settings.get_mut("sluice.extraHeaders") {
            hide_values(headers);
        }
        let json = serde_json::to_string_pretty(&self).unwrap_or_default();
        let mut json = Secrets::new(&self.secrets).redact(&json);
        for label in self.labels.iter().filter(|label| !label.is_empty()) {
            // As it appears in JSON.
            let quoted = Value::from(label.as_str()).to_string();
            let label = quoted.strip_prefix('"').and_then(|label| label.strip_suffix('"')).unwrap_or(&quoted);
            json = json.replace(label, "[connection]");
        }
        json
    }
}

/// Leaves only the names in a setting, at every depth.
fn hide_values(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(hide_values),
        Value::Array(values) => values.iter_mut().for_each(hide_values),
        value => *value = Value::from(HIDDEN),
    }
}
