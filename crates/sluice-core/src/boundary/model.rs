//! A model as VS Code shows it and as Copilot's prompts choose by it.

use serde::{Deserialize, Serialize};

use super::Note;

/// What a shell gets: the models to offer, what else the server has, and what was odd.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModelList {
    /// Favourites first, otherwise in the server's order.
    pub models: Vec<ChatModel>,
    /// Models that do not chat, and those a rule hides.
    pub others: Vec<OtherModel>,
    pub notes: Vec<Note>,
}

/// The fields of VS Code's `LanguageModelChatInformation` under their own names, and more.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ChatModel {
    pub id: String,
    pub name: String,
    /// The upstream family without creator, date or stage: `claude-sonnet-4.5`, `gpt-5.2`, `gemini-3-pro`.
    pub family: String,
    /// The release the id names (`20250929`), else the number in the family (`4.5`), else `latest`.
    pub version: String,
    pub max_input_tokens: u32,
    pub max_output_tokens: u32,
    /// The two above together.
    pub context_window: u32,
    pub limits_from: LimitsFrom,
    pub capabilities: ModelCapabilities,
    /// Short, for beside the name.
    pub detail: String,
    /// Markdown.
    pub tooltip: String,
    /// `$3 / $15 per M tokens, cached $0.30`; absent if the server tells no prices.
    pub pricing: Option<String>,
    pub prices: Option<Prices>,
    pub effort: Option<EffortChoices>,
    pub is_user_selectable: bool,
    pub is_favourite: bool,
    pub is_default: bool,
    pub creator: String,
    pub description: Option<String>,
    /// Seconds since 1970, like the next one.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub released: Option<u64>,
    #[cfg_attr(test, ts(type = "number | null"))]
    pub deprecated_at: Option<u64>,
    /// Until when its training data reaches.
    pub knowledge: Option<String>,
    pub tags: Vec<String>,
    pub regions: Vec<String>,
    pub parameters: Vec<String>,
    /// Whether a provider promises to keep nothing; absent if nobody said.
    pub zero_data_retention: Option<bool>,
    /// Who serves it, once the model's endpoints were asked for.
    pub providers: Vec<ModelProvider>,
}

/// Where a model's limits come from, the most trusted last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum LimitsFrom {
    /// Nobody said; a common window.
    Assumed,
    /// The list of models.
    List,
    /// The providers that serve it.
    Providers,
    /// An error about a conversation that was too long.
    Learned,
    /// The user.
    Setting,
}

/// Nothing here is claimed unless the server said so, except `tool_calling`: without it VS Code hides a model from agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own, as in VS Code's type")]
pub struct ModelCapabilities {
    pub tool_calling: bool,
    /// The server said nothing about tools, either way.
    pub tool_calling_assumed: bool,
    pub image_input: bool,
    pub file_input: bool,
    pub image_output: bool,
    pub thinking: bool,
    pub web_search: bool,
    pub structured_output: bool,
    pub prompt_caching: bool,
}

/// How hard a model may think, from least to most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EffortChoices {
    pub values: Vec<String>,
    /// One of them.
    pub default: String,
}

/// US dollars per million tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Prices {
    pub input: Option<f64>,
    pub output: Option<f64>,
    /// Input that the provider had in its prompt cache.
    pub cached_input: Option<f64>,
    pub cache_write: Option<f64>,
    /// Other prices for long requests, shortest first.
    pub tiers: Vec<PriceTier>,
}

/// What a whole request costs from that many input tokens on.
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

/// One provider behind a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModelProvider {
    pub name: String,
    /// Serving, as far as the gateway knows.
    pub is_active: bool,
    pub context_window: Option<u32>,
    pub max_output_tokens: Option<u32>,
    pub max_input_tokens: Option<u32>,
    pub pricing: Option<String>,
    pub prices: Option<Prices>,
    pub quantization: Option<String>,
    /// Per cent.
    pub uptime: Option<f64>,
    /// Median time to the first token.
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
    /// `embedding`, `image`, …, or `hidden`.
    pub kind: String,
    pub pricing: Option<String>,
    pub prices: Option<Prices>,
}

/// What the user wishes about models. A pattern is an id with `*` for anything and `?` for one character, whatever the
/// case; without a slash it may also mean the part after the creator. `!` in front takes back; the last match wins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ModelSettings {
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub hide: Vec<String>,
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub favourites: Vec<String>,
    /// The first model that the first matching pattern finds.
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub default: Vec<String>,
    /// The last match wins here too, field by field.
    #[cfg_attr(test, ts(as = "Option<Vec<LimitSetting>>"))]
    pub limits: Vec<LimitSetting>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct LimitSetting {
    /// A pattern.
    pub model: String,
    pub context_window: Option<u32>,
    pub max_input_tokens: Option<u32>,
    pub max_output_tokens: Option<u32>,
}
