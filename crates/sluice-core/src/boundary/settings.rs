//! The user's settings, and what doesn't work in them as written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ChatOptions, ModelSettings, SpendLimits};
use crate::message::Message;

/// The user's settings, read by [`read_settings`](crate::read_settings).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Settings {
    /// Which models are shown.
    pub models: ModelSettings,
    /// What applies to every request, apart from the extra headers.
    pub chat: ChatOptions,
    /// The extra headers by origin and name.
    pub headers: BTreeMap<String, BTreeMap<String, String>>,
    /// The longest silence in the middle of a body, in milliseconds.
    pub idle_timeout_ms: u32,
    /// What to do with thinking where it can't be shown separately.
    pub thinking_fallback: ThinkingFallback,
    /// What may be spent, or `None` if there is no limit.
    pub spend: Option<SpendLimits>,
    /// What doesn't work as written.
    pub problems: Vec<SettingProblem>,
}

/// What to do with thinking where it can't be shown separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ThinkingFallback {
    /// It isn't shown.
    #[default]
    Hide,
    /// It becomes part of the text.
    Text,
}

/// A setting that doesn't work as written, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct SettingProblem {
    /// The setting to change, by its name in VS Code without `sluice.`.
    pub setting: &'static str,
    /// What is wrong and what to do about it. Values of headers are never part of it.
    pub message: Message,
}
