//! Models as VS Code shows them and as Copilot's prompts select them.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{Note, Routing};
use crate::message::Message;
use crate::send::Parameter;

/// The models to offer, the server's other models, and notes about problems in the list.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct ModelList {
    /// Favourites come first, then the server's order.
    pub models: Vec<ChatModel>,
    /// Models that can't chat, and those that a rule hides.
    pub others: Vec<OtherModel>,
    /// Entries that can't be used, and settings that aren't valid.
    pub notes: Vec<Note>,
    /// The base URL that has the list, if there is none at the user's.
    pub elsewhere: Option<String>,
}

/// A model, with the fields of VS Code's `LanguageModelChatInformation` under their own names, and more.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of its own, as in VS Code's type")]
#[non_exhaustive]
pub struct ChatModel {
    /// The id that requests name, such as `anthropic/claude-sonnet-4.5`.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// The model family without creator, date or stage: `claude-sonnet-4.5`, `gpt-5.2`, `gemini-3-pro`.
    pub family: String,
    /// The release date in the id (`20250929`), or else the number in the family (`4.5`), or else `latest`.
    pub version: String,
    /// How many tokens a request may have. VS Code summarizes a longer conversation.
    pub max_input_tokens: u32,
    /// How many tokens an answer may have.
    pub max_output_tokens: u32,
    /// The limit for the answer to send with a request; `None` if none was stated.
    pub sent_output_tokens: Option<u32>,
    /// The sum of `max_input_tokens` and `max_output_tokens`.
    pub context_window: u32,
    /// Where the limits come from.
    pub limits_from: LimitsFrom,
    /// What the model can do.
    pub capabilities: ModelCapabilities,
    /// A short text to show next to the name.
    pub detail: String,
    /// A longer description: paragraphs in Markdown, whose details are to be joined with commas.
    pub tooltip: Vec<Vec<Message>>,
    /// For example `$3 / $15 per M tokens` and `cached $0.30`, to be joined with commas. Empty if the server publishes no
    /// prices.
    pub pricing: Vec<Message>,
    /// The first of them alone, such as `$3 / $15`, for a narrow column.
    pub price: Option<Message>,
    /// The same prices as numbers.
    pub prices: Option<Prices>,
    /// How expensive the model is compared with others.
    pub price_category: Option<PriceCategory>,
    /// What the model is made for, as its name suggests.
    pub category: ModelCategory,
    /// What VS Code shows when the mouse points at the model: one line each, whose details are to be joined with commas.
    pub info: Vec<Vec<Message>>,
    /// A warning to show above that: the model will be switched off.
    pub warning: Option<Message>,
    /// Smaller context windows to choose from, and the whole one as the last. Empty if there is no choice.
    pub context_sizes: Vec<u32>,
    /// The levels of reasoning effort to choose from, if there are any.
    pub effort: Option<EffortChoices>,
    /// Whether VS Code lists the model in its picker.
    pub is_user_selectable: bool,
    /// Whether a favourites pattern matches. Favourites come first.
    pub is_favourite: bool,
    /// Whether the model is worth seeing before the others: the default, the favourites, or the newest of each line if
    /// there are no favourites.
    pub is_featured: bool,
    /// Whether the model is selected if the user hasn't chosen one.
    pub is_default: bool,
    /// Whether the model suits small jobs best, such as titles and commit messages.
    pub is_small_default: bool,
    /// The company that trained the model, which is the first part of most ids.
    pub creator: String,
    /// The server's description, on one line.
    pub description: Option<String>,
    /// The release time in seconds since 1970.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub released: Option<u64>,
    /// When the model will be or was switched off, in seconds since 1970.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub deprecated_at: Option<u64>,
    /// The date up to which the training data reaches.
    pub knowledge: Option<String>,
    /// The server's own keywords, such as `reasoning` or `vision`.
    pub tags: Vec<String>,
    /// Where the model runs, as the server names the regions.
    pub regions: Vec<String>,
    /// The request parameters that the server says the model supports.
    pub parameters: Vec<String>,
    /// Whether a provider promises to retain nothing; absent if unknown.
    pub zero_data_retention: Option<bool>,
    /// The providers that serve the model. Empty until the model's endpoints have been fetched.
    pub providers: Vec<ModelProvider>,
    /// Parameters that the server refused in requests to this model. They are left out of the next ones.
    pub refused: Vec<Parameter>,
    /// What the user set for requests to this model.
    pub overrides: ModelOverride,
}

/// A model, and what an editor shows of it and sends to it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ListedModel {
    /// The model.
    #[serde(flatten)]
    pub model: ChatModel,
    /// What VS Code shows.
    pub shown: ShownModel,
    /// The options of requests to this model that differ from the user's settings.
    #[cfg_attr(test, ts(type = "Partial<ChatOptions>"))]
    pub request: Map<String, Value>,
}

/// The fields of VS Code's `LanguageModelChatInformation`, ready to be shown. Some of them aren't in VS Code's types yet; versions
/// that don't know them ignore them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[allow(missing_docs, reason = "VS Code has documented them, and `ChatModel` says the rest")]
pub struct ShownModel {
    /// VS Code's name for the model, which also appears in hovers. Requests use the id of the [`ChatModel`].
    pub id: String,
    pub name: String,
    pub family: String,
    pub version: String,
    pub max_input_tokens: u32,
    pub max_output_tokens: u32,
    pub max_context_window_tokens: u32,
    #[cfg_attr(test, ts(type = "{ imageInput: boolean, toolCalling: boolean }"))]
    pub capabilities: Value,
    pub detail: String,
    pub tooltip: String,
    pub is_user_selectable: bool,
    pub category: ModelCategory,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pricing: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_category: Option<PriceCategory>,
    pub info_text: BTreeMap<String, String>,
    /// VS Code gives models with the key `model_pending_deprecation` a badge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning_text: Option<BTreeMap<&'static str, String>>,
    /// The theme icon of its status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<&'static str>,
    /// VS Code puts models with such a field at the top of its picker, and shows nothing else of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "object", optional))]
    pub promo: Option<Value>,
    /// The pickers for the thinking effort and the context size, in the format of Copilot's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "object", optional))]
    pub configuration_schema: Option<Value>,
}

/// How expensive a model is. The names are VS Code's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum PriceCategory {
    /// Up to $3 for a million tokens of output, such as small models.
    Low,
    /// Up to $20, such as most models for everyday work.
    Medium,
    /// Up to $60, such as the largest models.
    High,
    /// More than that.
    VeryHigh,
}

/// What a model is made for. The names are VS Code's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum ModelCategory {
    /// Small and fast.
    Lightweight,
    /// For everyday work.
    Versatile,
    /// For difficult work.
    Powerful,
}

/// The source of a model's limits, from the least to the most trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct ModelCapabilities {
    /// Whether the model can call tools.
    pub tool_calling: bool,
    /// Whether `tool_calling` is assumed, because the server said nothing about tools.
    pub tool_calling_assumed: bool,
    /// Whether messages may contain images.
    pub image_input: bool,
    /// Whether messages may contain other files, such as PDFs.
    pub file_input: bool,
    /// Whether answers may contain images.
    pub image_output: bool,
    /// Whether the model can reason before it answers.
    pub thinking: bool,
    /// Whether the provider can search the web for the model.
    pub web_search: bool,
    /// Whether answers can be made to follow a JSON schema.
    pub structured_output: bool,
    /// Whether a prompt that was sent before costs less.
    pub prompt_caching: bool,
}

/// The levels of reasoning effort that a model offers, from the lowest to the highest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EffortChoices {
    /// The levels, such as `low`, `medium` and `high`.
    pub values: Vec<String>,
    /// The user's setting, if it is one of `values`. Otherwise the model decides, because VS Code would send a default of
    /// ours with every request as if the user had chosen it.
    pub default: Option<String>,
}

/// Prices in US dollars per million tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Prices {
    /// The price of input that isn't cached.
    pub input: Option<f64>,
    /// The price of output, including reasoning.
    pub output: Option<f64>,
    /// The price of input that was in the provider's prompt cache.
    pub cached_input: Option<f64>,
    /// The price of input that is written to the provider's prompt cache.
    pub cache_write: Option<f64>,
    /// Different prices for long requests, in order of length.
    pub tiers: Vec<PriceTier>,
}

/// The prices of a whole request that has at least `from_input_tokens` input tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PriceTier {
    /// The smallest number of input tokens that this tier applies to.
    #[cfg_attr(test, ts(type = "number"))]
    pub from_input_tokens: u64,
    /// The price of input that isn't cached.
    pub input: Option<f64>,
    /// The price of output, including reasoning.
    pub output: Option<f64>,
    /// The price of input that was in the provider's prompt cache.
    pub cached_input: Option<f64>,
    /// The price of input that is written to the provider's prompt cache.
    pub cache_write: Option<f64>,
}

/// One of the providers that serve a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct ModelProvider {
    /// The provider's name, which [`Routing`](crate::Routing) uses too.
    pub name: String,
    /// Whether it is serving requests, as far as the gateway knows.
    pub is_active: bool,
    /// How many tokens input and output may have together.
    pub context_window: Option<u32>,
    /// How many tokens an answer may have.
    pub max_output_tokens: Option<u32>,
    /// How many tokens a request may have.
    pub max_input_tokens: Option<u32>,
    /// The provider's prices, if they are known.
    pub prices: Option<Prices>,
    /// The precision of the weights, such as `fp8`.
    pub quantization: Option<String>,
    /// In per cent.
    pub uptime: Option<f64>,
    /// The median time to the first token.
    pub latency_ms: Option<f64>,
    /// The median speed of answers.
    pub tokens_per_second: Option<f64>,
}

/// A model that is not offered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct OtherModel {
    /// The id that requests name.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// `embedding`, `image` and so on, or `hidden`.
    pub kind: String,
    /// The prices, if the server publishes them.
    pub prices: Option<Prices>,
}

/// The user's settings for models. A pattern is an id in which `*` matches anything and `?` one character, ignoring
/// case; a pattern without a slash also matches the part after the creator. A leading `!` negates; the last match wins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ModelSettings {
    /// Patterns of models that are not offered.
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub hide: Vec<String>,
    /// Patterns of models that come first.
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub favourites: Vec<String>,
    /// The default is the first model that matches the first pattern that has a match.
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub default: Vec<String>,
    /// The thinking effort, unless the model decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// What the user sets for single models, by pattern: the fields of [`ModelOverride`], as the user writes them. If
    /// several patterns match, the one with more letters wins, field by field.
    #[cfg_attr(test, ts(type = "{ [pattern: string]: unknown }", optional))]
    pub overrides: Map<String, Value>,
    /// The ids of models that the user names, by the address of their server. They are offered even if the server has no
    /// list.
    #[serde(deserialize_with = "readable_ids")]
    #[cfg_attr(test, ts(as = "Option<BTreeMap<String, Vec<String>>>"))]
    pub added: BTreeMap<String, Vec<String>>,
}

/// Users write this setting by hand. An entry of the wrong type must not affect the others; VS Code marks it.
fn readable_ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Vec<String>>, D::Error> {
    let fields = match Value::deserialize(deserializer)? {
        Value::Object(fields) => fields,
        _ => serde_json::Map::new(),
    };
    let ids = |list: Value| serde_json::from_value(list).ok();
    Ok(fields.into_iter().filter_map(|(address, list)| Some((address, ids(list)?))).collect())
}

/// What the user sets for a model. Routing has the fields `order`, `only`, `fallbacks` and `sort`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct ModelOverride {
    /// How many tokens input and output may have together.
    pub context_window: Option<u32>,
    /// How many tokens a request may have.
    pub max_input_tokens: Option<u32>,
    /// How many tokens an answer may have.
    pub max_output_tokens: Option<u32>,
    /// The thinking effort, unless the model picker says otherwise.
    pub effort: Option<String>,
    /// Whether messages may contain images.
    pub image_input: Option<bool>,
    /// Whether the model calls tools.
    pub tool_calling: Option<bool>,
    /// Whether the model is not offered.
    pub hidden: Option<bool>,
    /// Fields to add to the request body, such as `temperature`.
    #[cfg_attr(test, ts(type = "{ [name: string]: unknown }"))]
    pub body: Map<String, Value>,
    /// Which providers the gateway may use for the model.
    pub routing: Option<Routing>,
}
