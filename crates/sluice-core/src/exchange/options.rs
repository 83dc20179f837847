//! How a request is made and how long it may take.

use serde::Deserialize;

use crate::pace::Pace;
use crate::receive::StreamOptions;
use crate::send::Parameter;

/// How a request is made and how long it may take. A module that is built with `--cfg answers_only` reads no options about
/// requests that are sent again.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ExchangeOptions {
    /// The endpoint's origin, for messages about the connection.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub origin: String,
    /// The endpoint's base URL. If there is no API, the one with or without `/v1` is tried once.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub base_url: String,
    /// The model that is asked. What it thinks goes back to this model only.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub model: String,
    /// How the answer is read.
    #[cfg_attr(test, ts(as = "Option<StreamOptions>"))]
    pub stream: StreamOptions,
    /// When text is returned.
    #[cfg_attr(test, ts(as = "Option<Pace>"))]
    pub pace: Pace,
    /// The longest wait for the head of a response, in milliseconds.
    #[cfg_attr(test, ts(as = "Option<u32>"))]
    pub head_timeout_ms: u64,
    /// The longest silence in the middle of a body, in milliseconds. While the model writes a tool call, there is no such
    /// limit, because some providers send nothing until they have all of it.
    #[cfg_attr(test, ts(as = "Option<u32>"))]
    pub idle_timeout_ms: u64,
    /// The longest wait for the next part of a stream, in milliseconds, so that a server can't keep a request alive with
    /// comments, or events that lead to no part. A whole response must arrive within the same time.
    #[cfg_attr(test, ts(as = "Option<u32>"))]
    pub output_timeout_ms: u64,
    /// The longest time that the body of a refusal may take, in milliseconds.
    #[cfg_attr(test, ts(as = "Option<u32>"))]
    pub refusal_timeout_ms: u64,
    /// The maximum number of attempts, including the first.
    #[cfg_attr(test, ts(as = "Option<u32>"))]
    pub max_attempts: u32,
    /// The parameters of the request that may be left out if the server refuses them by name.
    #[cfg_attr(test, ts(as = "Option<Vec<Parameter>>"))]
    #[cfg_attr(answers_only, serde(skip))]
    pub optional: Vec<Parameter>,
    /// A random number between 0 and 1, which spreads the retries of many clients.
    #[cfg_attr(test, ts(as = "Option<f64>"))]
    #[cfg_attr(answers_only, serde(skip))]
    pub random: f64,
}

impl Default for ExchangeOptions {
    fn default() -> Self {
        Self {
            origin: String::new(),
            base_url: String::new(),
            model: String::new(),
            stream: StreamOptions::default(),
            pace: Pace::Immediate,
            head_timeout_ms: 120_000,
            idle_timeout_ms: 600_000,
            output_timeout_ms: 3_600_000,
            refusal_timeout_ms: 30_000,
            max_attempts: 3,
            optional: Vec::new(),
            random: 0.0,
        }
    }
}
