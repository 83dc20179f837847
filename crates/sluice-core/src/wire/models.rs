//! The list of models and a model's endpoints, in the gateway's spelling and in those of servers like it. Everything is
//! read from a [`Value`]: the same fact has several names, and a field of the wrong type must cost no other.

use serde_json::{Map, Value};

use crate::receive::plain_line;

/// A description is a paragraph.
const LONGEST_TEXT: usize = 2000;

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
    pub reasoning: Vec<ReasoningOption>,
    /// The model always thinks.
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

/// US dollars per token, as far as they are numbers at all.
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
    /// The first token of the request that puts it into this tier.
    pub min: u64,
    pub cost: f64,
}

/// One provider that serves a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Endpoint {
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

/// The entries of a list, or `None` if this is no list at all. One that is no object is a model without anything.
pub(crate) fn read_models(json: &str) -> Option<Vec<Model>> {
    let value: Value = serde_json::from_str(json).ok()?;
    let list = ["data", "models"].iter().find_map(|name| value.get(name)?.as_array()).or_else(|| value.as_array())?;
    Some(list.iter().map(|model| model.as_object().map(Model::read).unwrap_or_default()).collect())
}

/// A model and who serves it, or `None` if this is no such answer.
pub(crate) fn read_endpoints(json: &str) -> Option<(Model, Vec<Endpoint>)> {
    let value: Value = serde_json::from_str(json).ok()?;
    let model = value.get("data").and_then(Value::as_object).or_else(|| value.as_object())?;
    let endpoints = model.get("endpoints")?.as_array()?;
    Some((Model::read(model), endpoints.iter().filter_map(Value::as_object).map(Endpoint::read).collect()))
}

impl Model {
    fn read(fields: &Map<String, Value>) -> Self {
        let inside = |name: &str, field: &str| fields.get(name).and_then(|value| value.get(field));
        let architecture = |field: &str| strings(inside("architecture", field));
        let first_of = |names: &[&str]| names.iter().find_map(|name| count(fields.get(*name)));
        // "text+image->text", the short form of both lists.
        let modality = inside("architecture", "modality").and_then(Value::as_str).unwrap_or_default();
        let (from, to) = modality.split_once("->").or_else(|| modality.split_once('→')).unwrap_or_default();
        let parts = |side: &str| side.split('+').map(word).filter(|part| !part.is_empty()).collect::<Vec<_>>();
        let options = match fields.get("reasoning_options") {
            Some(Value::Array(options)) => options.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        Self {
            id: text(fields.get("id")).or_else(|| text(fields.get("model"))),
            name: text(fields.get("name")).or_else(|| text(fields.get("display_name"))),
            description: text(fields.get("description")),
            creator: text(fields.get("owned_by")),
            kind: text(fields.get("type")).map(|kind| word(&kind)),
            context_window: first_of(&["context_window", "context_length", "max_context_length", "max_model_len"])
                .or_else(|| count(inside("top_provider", "context_length")))
                .or_else(|| count(inside("limit", "context"))),
            max_output: first_of(&["max_tokens", "max_output_tokens", "max_completion_tokens"])
                .or_else(|| count(inside("top_provider", "max_completion_tokens")))
                .or_else(|| count(inside("limit", "output"))),
            released: first_of(&["released", "created"]).map(seconds),
            deprecated_at: count(fields.get("deprecated_at")).map(seconds),
            knowledge: text(fields.get("knowledge")),
            tags: strings(fields.get("tags")),
            regions: strings(fields.get("regions")),
            inputs: some_of([strings(inside("modalities", "input")), architecture("input_modalities"), parts(from)]),
            outputs: some_of([strings(inside("modalities", "output")), architecture("output_modalities"), parts(to)]),
            parameters: strings(fields.get("supported_parameters")),
            reasoning: options.iter().filter_map(ReasoningOption::read).collect(),
            reasoning_mandatory: inside("reasoning", "mandatory").and_then(Value::as_bool),
            zero_data_retention: ["zero_data_retention", "zdr"].iter().find_map(|name| fields.get(*name)?.as_bool()),
            pricing: Pricing::read(fields.get("pricing")),
        }
    }
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
}

impl Pricing {
    fn read(pricing: Option<&Value>) -> Self {
        let of = |names: &[&str]| names.iter().find_map(|name| dollars(pricing?.get(name)));
        let tiers = |name: &str| {
            let list = pricing.and_then(|pricing| pricing.get(name)).and_then(Value::as_array);
            let tier = |tier: &Value| {
                Some(Tier { min: count(tier.get("min")).unwrap_or(0), cost: dollars(tier.get("cost"))? })
            };
            list.into_iter().flatten().filter_map(tier).collect()
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
}

impl Endpoint {
    fn read(fields: &Map<String, Value>) -> Self {
        let median = |name: &str| match fields.get(name) {
            Some(Value::Object(percentiles)) => number(percentiles.get("p50")),
            other => number(other),
        };
        Self {
            provider: text(fields.get("provider_name")).or_else(|| text(fields.get("name"))),
            context_window: count(fields.get("context_length")).or_else(|| count(fields.get("context_window"))),
            max_output: count(fields.get("max_completion_tokens")).or_else(|| count(fields.get("max_tokens"))),
            max_input: count(fields.get("max_prompt_tokens")),
            parameters: strings(fields.get("supported_parameters")),
            tags: strings(fields.get("tags")),
            pricing: Pricing::read(fields.get("pricing")),
            status: fields.get("status").and_then(Value::as_i64),
            implicit_caching: fields.get("supports_implicit_caching").and_then(Value::as_bool),
            quantization: text(fields.get("quantization")),
            uptime: ["uptime_last_1h", "uptime_last_1d", "uptime_last_30m"].iter().find_map(|n| number(fields.get(*n))),
            latency_ms: median("latency_last_1h"),
            tokens_per_second: median("throughput_last_1h"),
        }
    }
}

/// One line without control characters; blank is absent.
fn text(value: Option<&Value>) -> Option<String> {
    Some(plain_line(value?.as_str()?, LONGEST_TEXT)).filter(|text| !text.is_empty())
}

/// Words of the protocol, whose case means nothing.
fn word(text: &str) -> String {
    text.trim().to_ascii_lowercase()
}

/// A list of words; a single one is a list of one.
fn strings(value: Option<&Value>) -> Vec<String> {
    let list = match value {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    list.iter().filter_map(Value::as_str).map(word).filter(|word| !word.is_empty()).collect()
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

/// A count of tokens or a time: `128000`, `128000.0`, `"128,000"`, `"128k"`. Zero and less say nothing.
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

/// Per token. Some lists say -1 for "depends"; and nothing costs a cent per token: that is a price per million.
fn dollars(value: Option<&Value>) -> Option<f64> {
    number(value).filter(|price| (0.0..0.01).contains(price))
}

/// A time in milliseconds is told by its size.
fn seconds(time: u64) -> u64 {
    const YEAR_5000: u64 = 95_617_584_000;
    if time > YEAR_5000 { time / 1000 } else { time }
}
