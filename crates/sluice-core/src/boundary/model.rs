//! Models as VS Code shows them and as Copilot's prompts select them.

use serde::{Deserialize, Serialize};

use super::Note;
use crate::send::Parameter;

/// The models to offer, the server's other models, and notes about problems in the list.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModelList {
    /// Favourites come first, then the server's order.
    pub models: Vec<ChatModel>,
    /// Models that can't chat, and those that a rule hides.
    pub others: Vec<OtherModel>,
    pub notes: Vec<Note>,
}

/// A model, with the fields of VS Code's `LanguageModelChatInformation` under their own names, and more.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ChatModel {
    pub id: String,
    pub name: String,
    /// The model family without creator, date or stage: `claude-sonnet-4.5`, `gpt-5.2`, `gemini-3-pro`.
    pub family: String,
    /// The release date in the id (`20250929`), or else the number in the family (`4.5`), or else `latest`.
    pub version: String,
    pub max_input_tokens: u32,
    pub max_output_tokens: u32,
    /// The sum of the two limits above.
    pub context_window: u32,
    pub limits_from: LimitsFrom,
    pub capabilities: ModelCapabilities,
    /// A short text to show next to the name.
    pub detail: String,
    /// A longer description in Markdown.
    pub tooltip: String,
    /// For example `$3 / $15 per M tokens, cached $0.30`. Absent if the server publishes no prices.
    pub pricing: Option<String>,
    pub prices: Option<Prices>,
    pub effort: Option<EffortChoices>,
    pub is_user_selectable: bool,
    pub is_favourite: bool,
    pub is_default: bool,
    pub creator: String,
    pub description: Option<String>,
    /// The release time in seconds since 1970.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub released: Option<u64>,
    #[cfg_attr(test, ts(type = "number | null"))]
    pub deprecated_at: Option<u64>,
    /// The date up to which the training data reaches.
    pub knowledge: Option<String>,
    pub tags: Vec<String>,
    pub regions: Vec<String>,
    pub parameters: Vec<String>,
    /// Whether a provider promises to retain nothing; absent if unknown.
    pub zero_data_retention: Option<bool>,
    /// The providers that serve the model. Empty until the model's endpoints have been fetched.
    pub providers: Vec<ModelProvider>,
    /// Parameters that the server refused in requests to this model. They are left out of the next ones.
    pub refused: Vec<Parameter>,
}

/// The source of a model's limits, from the least to the most trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum LimitsFrom {
    /// Unknown; a common window is assumed.
    Assumed,
    /// From the list of models.
    List,
    /// From the providers that serve the model.
    Providers,
    /// From an error about a conversation that was too long.
    Learned,
    /// Set by the user.
    Setting,
}

/// What a model can do. A capability is claimed only if the server lists it, except `tool_calling`: without it, VS Code
/// hides the model from agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own, as in VS Code's type")]
pub struct ModelCapabilities {
    pub tool_calling: bool,
    /// Whether `tool_calling` is assumed, because the server said nothing about tools.
    pub tool_calling_assumed: bool,
    pub image_input: bool,
    pub file_input: bool,
    pub image_output: bool,
    pub thinking: bool,
    pub web_search: bool,
    pub structured_output: bool,
    pub prompt_caching: bool,
}

/// The levels of reasoning effort that a model offers, from the lowest to the highest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EffortChoices {
    pub values: Vec<String>,
    /// One of `values`.
    pub default: String,
}

/// Prices in US dollars per million tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Prices {
    pub input: Option<f64>,
    pub output: Option<f64>,
    /// The price of input that was in the provider's prompt cache.
    pub cached_input: Option<f64>,
    pub cache_write: Option<f64>,
    /// Different prices for long requests, in order of length.
    pub tiers: Vec<PriceTier>,
}

/// The prices of a whole request that has at least `from_input_tokens` input tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PriceTier {
    #[cfg_attr(test, ts(type = "number"))]
    pub from_input_tokens: u64,
    pub input: Option<f64>,
    pub output: Option<f64>,
    pub cached_input: Option<f64>,
    pub cache_write: Option<f64>,
}

/// One of the providers that serve a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModelProvider {
    pub name: String,
    /// Whether it is serving requests, as far as the gateway knows.
    pub is_active: bool,
    pub context_window: Option<u32>,
    pub max_output_tokens: Option<u32>,
    pub max_input_tokens: Option<u32>,
    pub pricing: Option<String>,
    pub prices: Option<Prices>,
    pub quantization: Option<String>,
    /// In per cent.
    pub uptime: Option<f64>,
    /// The median time to the first token.
    pub latency_ms: Option<f64>,
    pub tokens_per_second: Option<f64>,
}

/// A model that is not offered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OtherModel {
    pub id: String,
    pub name: String,
    /// `embedding`, `image` and so on, or `hidden`.
    pub kind: String,
    pub pricing: Option<String>,
    pub prices: Option<Prices>,
}

/// The user's settings for models. A pattern is an id in which `*` matches anything and `?` one character, ignoring
/// case; a pattern without a slash also matches the part after the creator. A leading `!` negates; the last match wins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ModelSettings {
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub hide: Vec<String>,
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub favourites: Vec<String>,
    /// The default is the first model that matches the first pattern that has a match.
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub default: Vec<String>,
    /// The last match wins here too, field by field.
    #[cfg_attr(test, ts(as = "Option<Vec<LimitSetting>>"))]
    pub limits: Vec<LimitSetting>,
}

/// Limits that the user sets for some models.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct LimitSetting {
    /// The pattern of the models that these limits apply to.
    pub model: String,
    pub context_window: Option<u32>,
    pub max_input_tokens: Option<u32>,
    pub max_output_tokens: Option<u32>,
}
