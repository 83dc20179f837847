//! Settings of the user that don't work as written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ModelSettings;
use crate::message::Message;

/// The settings that [`check_settings`](crate::check_settings) looks at.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Settings {
    /// The address of the endpoint, if the user has set one.
    pub base_url: Option<String>,
    /// Which models are shown, and with which limits.
    #[cfg_attr(test, ts(as = "Option<ModelSettings>"))]
    pub models: ModelSettings,
    /// The user's own headers, as the user writes them: under the address they are for, or without one for the base URL.
    /// `${env:NAME}` in a value stands for an environment variable.
    #[cfg_attr(test, ts(type = "{ [name: string]: unknown }", optional))]
    pub extra_headers: Map<String, Value>,
    /// The environment variables that headers may name.
    #[cfg_attr(test, ts(type = "{ [name: string]: string | undefined }", optional))]
    pub environment: BTreeMap<String, String>,
    /// The user's own fields of the request body.
    #[cfg_attr(test, ts(type = "{ [name: string]: unknown }", optional))]
    pub extra_body: Map<String, Value>,
}

/// A setting that doesn't work as written, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct SettingProblem {
    /// The setting to change.
    pub setting: SettingKind,
    /// What is wrong and what to do about it. Values of headers are never part of it.
    pub message: Message,
}

/// The setting that a problem is in, by its name in VS Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum SettingKind {
    /// [`Settings::base_url`].
    BaseUrl,
    /// [`ModelSettings::hide`].
    #[serde(rename = "models.hidden")]
    Hide,
    /// [`ModelSettings::favourites`].
    #[serde(rename = "models.favourites")]
    Favourites,
    /// [`ModelSettings::default`](field@ModelSettings::default).
    #[serde(rename = "models.default")]
    Default,
    /// [`ModelSettings::limits`].
    Limits,
    /// [`Settings::extra_headers`].
    ExtraHeaders,
    /// [`Settings::extra_body`].
    ExtraBody,
}
