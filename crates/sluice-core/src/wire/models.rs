//! The list of models and a model's endpoints, in the format of the gateway and of similar servers. Everything is read
//! from a [`Value`], because the same fact has several names, and a field of the wrong type must not affect others.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::receive::plain_line;

/// The maximum number of models. Real lists have hundreds.
const MOST_MODELS: usize = 5_000;
/// The maximum size of an entry. Real ones take a few kilobytes.
const LONGEST_ENTRY: usize = 128 << 10;
/// The maximum size of a stored list.
const LONGEST_LIST: usize = 4 << 20;
/// The maximum size of a response about one model. Real ones take some tens of kilobytes.
const LONGEST_ENDPOINTS: usize = 1 << 20;
/// The maximum number of providers. Popular models have a dozen.
const MOST_ENDPOINTS: usize = 64;
/// The maximum number of tags, parameters, regions and other words of a model.
pub(crate) const MOST_WORDS: usize = 100;
const MOST_TIERS: usize = 16;
/// The maximum length of a description, which is a paragraph.
const LONGEST_TEXT: usize = 2000;
const LONGEST_NAME: usize = 200;
/// A longer id is ignored, because it would name another model if it were cut.
const LONGEST_ID: usize = 200;
const LONGEST_WORD: usize = 100;

/// The part of a list of models that is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Models {
    pub models: Vec<Model>,
    /// The number of further entries in the list.
    pub left_out: u64,
}

/// One entry of `GET /models`, or the model in `GET /models/{creator}/{model}/endpoints`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Model {
    pub id: Option<String>,
    pub name: Option<String>,
    pub description: Option<String>,
    pub creator: Option<String>,
    /// `language`, `embedding`, `image`, …
    pub kind: Option<String>,
    pub context_window: Option<u64>,
    pub max_output: Option<u64>,
    /// Seconds since 1970.
    pub released: Option<u64>,
    pub deprecated_at: Option<u64>,
    pub knowledge: Option<String>,
    pub tags: Vec<String>,
    pub regions: Vec<String>,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    pub parameters: Vec<String>,
    /// Whether the model sees images and calls tools, if the list says so.
    pub vision: Option<bool>,
    pub tools: Option<bool>,
    pub reasoning: Vec<ReasoningOption>,
    /// Whether the model always thinks.
    pub reasoning_mandatory: Option<bool>,
    pub zero_data_retention: Option<bool>,
    pub pricing: Pricing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReasoningOption {
    Effort(Vec<String>),
    Budget,
    Toggle,
}

/// Prices in US dollars per token, if they are numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pricing {
    pub input: Option<f64>,
    pub output: Option<f64>,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
    pub input_tiers: Vec<Tier>,
    pub output_tiers: Vec<Tier>,
    pub cache_read_tiers: Vec<Tier>,
    pub cache_write_tiers: Vec<Tier>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tier {
    /// The number of tokens from which a request is in this tier.
    pub min: u64,
    pub cost: f64,
}

/// One provider that serves a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ProviderEndpoint {
    pub provider: Option<String>,
    pub context_window: Option<u64>,
    pub max_output: Option<u64>,
    pub max_input: Option<u64>,
    pub parameters: Vec<String>,
    pub tags: Vec<String>,
    pub pricing: Pricing,
    /// 0 is healthy, anything below is not.
    pub status: Option<i64>,
    pub implicit_caching: Option<bool>,
    pub quantization: Option<String>,
    pub uptime: Option<f64>,
    pub latency_ms: Option<f64>,
    pub tokens_per_second: Option<f64>,
}

/// Reads a list of models, or returns `None` if this isn't one. An entry that can't be read, isn't an object or is
/// absurdly large becomes an empty model and doesn't affect the others.
pub(crate) fn read_models(json: &str) -> Option<Models> {
    let entries = read_entries(json)?;
    Some(Models { models: entries.first.into_iter().map(read_entry).collect(), left_out: entries.left_out })
}

/// Returns whether [`read_models`] can read this, without reading the entries.
pub(crate) fn is_model_list(json: &str) -> bool {
    read_entries(json).is_some()
}

fn read_entries(json: &str) -> Option<Entries<'_>> {
    let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(json) else {
        return serde_json::from_str(json).ok();
    };
    let left_out = fields.get("left_out").and_then(|count| count.get().parse().ok()).unwrap_or(0_u64);
    let list = ["data", "models"].iter().find_map(|name| serde_json::from_str(fields.get(*name)?.get()).ok());
    let entries: Entries<'_> = list?;
    Some(Entries { left_out: entries.left_out.saturating_add(left_out), ..entries })
}

fn read_entry(entry: &RawValue) -> Model {
    let text = entry.get();
    let value = (text.len() <= LONGEST_ENTRY).then(|| serde_json::from_str::<Value>(text).ok()).flatten();
    value.as_ref().and_then(Value::as_object).map(Model::read).unwrap_or_default()
}

/// Returns the first entries of a list, unparsed.
struct Entries<'a> {
    first: Vec<&'a RawValue>,
    left_out: u64,
}

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Entries<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Entries<'de>, A::Error> {
                let mut entries = Entries { first: Vec::new(), left_out: 0 };
                while entries.first.len() < MOST_MODELS {
                    let Some(entry) = elements.next_element()? else { return Ok(entries) };
                    entries.first.push(entry);
                }
                while elements.next_element::<IgnoredAny>()?.is_some() {
                    entries.left_out += 1;
                }
                Ok(entries)
            }
        }
        deserializer.deserialize_seq(List)
    }
}

/// Writes models, and nothing else of a list, so that [`read_models`] reads the same ones. Lists are stored in this form, so
/// that a list of absurd size has to be read only once.
pub(crate) fn write_models(list: &Models) -> String {
    let mut text = String::from("{\"data\":[");
    let mut left_out = list.left_out;
    for (index, model) in list.models.iter().enumerate() {
        if text.len() > LONGEST_LIST {
            left_out = left_out.saturating_add((list.models.len() - index) as u64);
            break;
        }
        if index > 0 {
            text.push(',');
        }
        text.push_str(&Value::Object(model.write()).to_string());
    }
    text.push_str(&format!("],\"left_out\":{left_out}}}"));
    text
}

/// Reads a model and its providers, or returns `None` if this isn't such a response.
pub(crate) fn read_endpoints(json: &str) -> Option<(Model, Vec<ProviderEndpoint>)> {
    if json.len() > LONGEST_ENDPOINTS {
        return None;
    }
    let value: Value = serde_json::from_str(json).ok()?;
    let model = value.get("data").and_then(Value::as_object).or_else(|| value.as_object())?;
    let endpoints = model.get("endpoints")?.as_array()?.iter().filter_map(Value::as_object);
    Some((Model::read(model), endpoints.take(MOST_ENDPOINTS).map(ProviderEndpoint::read).collect()))
}

/// Writes a model so that [`read_endpoints`] reads the same.
pub(crate) fn write_endpoints(model: &Model, endpoints: &[ProviderEndpoint]) -> String {
    let mut fields = model.write();
    fields.insert("endpoints".to_owned(), endpoints.iter().map(ProviderEndpoint::write).collect());
    json!({ "data": fields }).to_string()
}

/// Makes an object of the fields that aren't empty.
fn compact<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    let says_something = |value: &Value| match value {
        Value::Null => false,
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    let fields = fields.into_iter().filter(|(_, value)| says_something(value));
    fields.map(|(name, value)| (name.to_owned(), value)).collect()
}

impl Model {
    fn read(fields: &Map<String, Value>) -> Self {
        let inside = |name: &str, field: &str| fields.get(name).and_then(|value| value.get(field));
        // GitHub's list.
        let limit = |field: &str| inside("capabilities", "limits").and_then(|limits| limits.get(field));
        let architecture = |field: &str| strings(inside("architecture", field));
        let first_of = |names: &[&str]| names.iter().find_map(|name| count(fields.get(*name)));
        // Reads "text+image->text", the short form of both lists.
        let modality = inside("architecture", "modality").and_then(Value::as_str).unwrap_or_default();
        let (from, to) = modality.split_once("->").or_else(|| modality.split_once('→')).unwrap_or_default();
        let parts = |side: &str| words(side.split('+'));
        let options = match fields.get("reasoning_options") {
            Some(Value::Array(options)) => options.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        Self {
            id: text(fields.get("id"), LONGEST_ID + 1)
                .or_else(|| text(fields.get("model"), LONGEST_ID + 1))
                .filter(|id| id.chars().count() <= LONGEST_ID),
            name: text(fields.get("name"), LONGEST_NAME).or_else(|| text(fields.get("display_name"), LONGEST_NAME)),
            description: text(fields.get("description"), LONGEST_TEXT),
            creator: text(fields.get("owned_by"), LONGEST_WORD),
            kind: ["type", "mode"]
                .iter()
                .find_map(|name| text(fields.get(*name), LONGEST_WORD))
                .map(|kind| word(&kind).replace('_', "-")),
            // llama.cpp reports the size that it was started with in `meta`; LiteLLM and Anthropic report the input limit.
            // LM Studio reports both the size that a model was loaded with and the largest possible one.
            context_window: first_of(&["loaded_context_length"])
                .or_else(|| first_of(&["context_window", "context_length", "max_context_length", "max_model_len"]))
                .or_else(|| count(inside("meta", "n_ctx")))
                .or_else(|| count(limit("max_context_window_tokens")))
                .or_else(|| first_of(&["max_input_tokens"]))
                .or_else(|| count(inside("top_provider", "context_length")))
                .or_else(|| count(inside("limit", "context"))),
            max_output: first_of(&["max_output_tokens", "max_tokens", "max_completion_tokens"])
                .or_else(|| count(limit("max_output_tokens")))
                .or_else(|| count(inside("top_provider", "max_completion_tokens")))
                .or_else(|| count(inside("limit", "output"))),
            released: first_of(&["released", "created"]).map(seconds),
            deprecated_at: count(fields.get("deprecated_at")).map(seconds),
            knowledge: text(fields.get("knowledge"), LONGEST_WORD),
            tags: [strings(fields.get("tags")), strings(fields.get("capabilities").filter(|list| list.is_array()))]
                .concat()
                .into_iter()
                .map(|tag| tag.replace('_', "-"))
                .take(MOST_WORDS)
                .collect(),
            vision: ability(fields, &["supports_vision", "supports_image_input", "vision", "image_input"]),
            tools: ability(
                fields,
                &["supports_function_calling", "supports_tools", "function_calling", "tool_calls", "tool_calling"],
            ),
            regions: strings(fields.get("regions")),
            inputs: some_of([strings(inside("modalities", "input")), architecture("input_modalities"), parts(from)]),
            outputs: some_of([strings(inside("modalities", "output")), architecture("output_modalities"), parts(to)]),
            parameters: strings(fields.get("supported_parameters")),
            reasoning: options.iter().filter_map(ReasoningOption::read).take(MOST_WORDS).collect(),
            reasoning_mandatory: inside("reasoning", "mandatory").and_then(Value::as_bool),
            zero_data_retention: ["zero_data_retention", "zdr"].iter().find_map(|name| fields.get(*name)?.as_bool()),
            pricing: Pricing::read(fields.get("pricing")),
        }
    }

    /// In the gateway's format.
    fn write(&self) -> Map<String, Value> {
        compact([
            ("id", json!(self.id)),
            ("name", json!(self.name)),
            ("description", json!(self.description)),
            ("owned_by", json!(self.creator)),
            ("type", json!(self.kind)),
            ("context_window", json!(self.context_window)),
            ("max_tokens", json!(self.max_output)),
            ("released", json!(self.released)),
            ("deprecated_at", json!(self.deprecated_at)),
            ("knowledge", json!(self.knowledge)),
            ("tags", json!(self.tags)),
            ("regions", json!(self.regions)),
            ("modalities", compact([("input", json!(self.inputs)), ("output", json!(self.outputs))]).into()),
            ("supported_parameters", json!(self.parameters)),
            ("supports_vision", json!(self.vision)),
            ("supports_function_calling", json!(self.tools)),
            ("reasoning_options", self.reasoning.iter().map(ReasoningOption::write).collect()),
            ("reasoning", compact([("mandatory", json!(self.reasoning_mandatory))]).into()),
            ("zero_data_retention", json!(self.zero_data_retention)),
            ("pricing", self.pricing.write().into()),
        ])
    }
}

/// Returns whether a model can do something, which lists say in the model, among its capabilities, or in an object there.
fn ability(fields: &Map<String, Value>, names: &[&str]) -> Option<bool> {
    let capabilities = fields.get("capabilities").and_then(Value::as_object);
    let supports = capabilities.and_then(|capabilities| capabilities.get("supports")).and_then(Value::as_object);
    let places = [Some(fields), capabilities, supports];
    let stated = |value: &Value| value.as_bool().or_else(|| value.get("supported")?.as_bool());
    places.into_iter().flatten().find_map(|place| names.iter().find_map(|name| stated(place.get(*name)?)))
}

impl ReasoningOption {
    fn read(option: &Value) -> Option<Self> {
        match option.get("type")?.as_str()? {
            "effort" => Some(Self::Effort(strings(option.get("values")))),
            "budget_tokens" => Some(Self::Budget),
            "toggle" => Some(Self::Toggle),
            _ => None,
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::Effort(values) => json!({ "type": "effort", "values": values }),
            Self::Budget => json!({ "type": "budget_tokens" }),
            Self::Toggle => json!({ "type": "toggle" }),
        }
    }
}

impl Pricing {
    fn read(pricing: Option<&Value>) -> Self {
        let of = |names: &[&str]| names.iter().find_map(|name| dollars(pricing?.get(name)));
        let tiers = |name: &str| {
            let list = pricing.and_then(|pricing| pricing.get(name)).and_then(Value::as_array);
            let tier = |tier: &Value| {
                Some(Tier { min: count(tier.get("min")).unwrap_or(0), cost: dollars(tier.get("cost"))? })
            };
            list.into_iter().flatten().filter_map(tier).take(MOST_TIERS).collect()
        };
        Self {
            input: of(&["input", "prompt"]),
            output: of(&["output", "completion"]),
            cache_read: of(&["input_cache_read", "cached_input", "cache_read"]),
            cache_write: of(&["input_cache_write", "cache_write"]),
            input_tiers: tiers("input_tiers"),
            output_tiers: tiers("output_tiers"),
            cache_read_tiers: tiers("input_cache_read_tiers"),
            cache_write_tiers: tiers("input_cache_write_tiers"),
        }
    }

    fn write(&self) -> Map<String, Value> {
        let tiers = |tiers: &[Tier]| -> Value {
            tiers.iter().map(|tier| json!({ "min": tier.min, "cost": tier.cost })).collect()
        };
        compact([
            ("input", json!(self.input)),
            ("output", json!(self.output)),
            ("input_cache_read", json!(self.cache_read)),
            ("input_cache_write", json!(self.cache_write)),
            ("input_tiers", tiers(&self.input_tiers)),
            ("output_tiers", tiers(&self.output_tiers)),
            ("input_cache_read_tiers", tiers(&self.cache_read_tiers)),
            ("input_cache_write_tiers", tiers(&self.cache_write_tiers)),
        ])
    }
}

impl ProviderEndpoint {
    fn read(fields: &Map<String, Value>) -> Self {
        let median = |name: &str| match fields.get(name) {
            Some(Value::Object(percentiles)) => number(percentiles.get("p50")),
            other => number(other),
        };
        Self {
            provider: text(fields.get("provider_name"), LONGEST_WORD)
                .or_else(|| text(fields.get("name"), LONGEST_WORD)),
            context_window: count(fields.get("context_length")).or_else(|| count(fields.get("context_window"))),
            max_output: count(fields.get("max_completion_tokens")).or_else(|| count(fields.get("max_tokens"))),
            max_input: count(fields.get("max_prompt_tokens")),
            parameters: strings(fields.get("supported_parameters")),
            tags: strings(fields.get("tags")),
            pricing: Pricing::read(fields.get("pricing")),
            status: fields.get("status").and_then(Value::as_i64),
            implicit_caching: fields.get("supports_implicit_caching").and_then(Value::as_bool),
            quantization: text(fields.get("quantization"), LONGEST_WORD),
            uptime: ["uptime_last_1h", "uptime_last_1d", "uptime_last_30m"].iter().find_map(|n| number(fields.get(*n))),
            latency_ms: median("latency_last_1h"),
            tokens_per_second: median("throughput_last_1h"),
        }
    }

    fn write(&self) -> Value {
        Value::Object(compact([
            ("provider_name", json!(self.provider)),
            ("context_length", json!(self.context_window)),
            ("max_completion_tokens", json!(self.max_output)),
            ("max_prompt_tokens", json!(self.max_input)),
            ("supported_parameters", json!(self.parameters)),
            ("tags", json!(self.tags)),
            ("pricing", self.pricing.write().into()),
            ("status", json!(self.status)),
            ("supports_implicit_caching", json!(self.implicit_caching)),
            ("quantization", json!(self.quantization)),
            ("uptime_last_1h", json!(self.uptime)),
            ("latency_last_1h", json!(self.latency_ms)),
            ("throughput_last_1h", json!(self.tokens_per_second)),
        ]))
    }
}

/// Reads one line of limited length without control characters. Blank text counts as absent.
fn text(value: Option<&Value>, longest: usize) -> Option<String> {
    Some(plain_line(value?.as_str()?, longest)).filter(|text| !text.is_empty())
}

/// Reads terms of the protocol, which are case-insensitive.
fn word(text: &str) -> String {
    text.trim().to_ascii_lowercase()
}

/// Reads the first words, without control characters. Words that are longer than any known one are left out.
fn words<'a>(all: impl Iterator<Item = &'a str>) -> Vec<String> {
    let short = all.filter(|text| text.len() <= LONGEST_WORD).map(|text| word(&plain_line(text, LONGEST_WORD)));
    short.filter(|word| !word.is_empty()).take(MOST_WORDS).collect()
}

/// Reads a list of words. A single word is a list of one.
fn strings(value: Option<&Value>) -> Vec<String> {
    let list = match value {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    words(list.iter().filter_map(Value::as_str))
}

fn some_of<const N: usize>(lists: [Vec<String>; N]) -> Vec<String> {
    lists.into_iter().find(|list| !list.is_empty()).unwrap_or_default()
}

fn number(value: Option<&Value>) -> Option<f64> {
    let number = match value? {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// Reads a count of tokens or a time: `128000`, `128000.0`, `"128,000"`, `"128k"`. Zero and negative numbers count as
/// absent.
fn count(value: Option<&Value>) -> Option<u64> {
    let count = match value? {
        Value::String(text) => {
            let text = text.trim().replace([',', '_', ' '], "").to_ascii_lowercase();
            let (digits, scale) = match text.strip_suffix(['k', 'm']) {
                Some(digits) => (digits, if text.ends_with('k') { 1e3 } else { 1e6 }),
                None => (text.as_str(), 1.0),
            };
            digits.parse::<f64>().ok()? * scale
        }
        other => number(Some(other))?,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked: positive and in range")]
    (1.0..9_007_199_254_740_992.0).contains(&count).then_some(count as u64)
}

/// Reads a price per token. Some lists use -1 for "depends". A price of a cent or more must be per million tokens, and is
/// ignored.
fn dollars(value: Option<&Value>) -> Option<f64> {
    number(value).filter(|price| (0.0..0.01).contains(price))
}

/// A time in milliseconds is recognized by its size.
fn seconds(time: u64) -> u64 {
    const YEAR_5000: u64 = 95_617_584_000;
    if time > YEAR_5000 { time / 1000 } else { time }
}
