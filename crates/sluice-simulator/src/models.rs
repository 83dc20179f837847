//! The models that the gateway offers, and their entries in its lists.

use serde_json::{Value, json};

use crate::resource::Usage;

/// The release time of all models: the date of the specification.
const RELEASED: u64 = 1_776_988_800;

/// A model. Prices are in billionths of a dollar per token.
#[derive(Debug)]
pub struct Model {
    pub id: &'static str,
    pub name: &'static str,
    pub about: &'static str,
    pub kind: Kind,
    context_window: u64,
    max_tokens: u64,
    input_price: u64,
    cached_price: u64,
    output_price: u64,
    long: Option<Long>,
    tags: &'static [&'static str],
    efforts: &'static [&'static str],
}

/// The prices of a request with at least `from` input tokens.
#[derive(Clone, Copy, Debug)]
struct Long {
    from: u64,
    input_price: u64,
    output_price: u64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    Language,
    Embedding,
    Image,
}

const ALL_TAGS: &[&str] = &["reasoning", "tool-use", "vision", "file-input", "implicit-caching", "structured-output"];
const TOOL_TAGS: &[&str] = &["tool-use"];
const REASONING_TAGS: &[&str] = &["reasoning", "implicit-caching"];
const EFFORTS: &[&str] = &["none", "low", "medium", "high", "xhigh"];

/// Returns a cheap and small model for tests that does one thing.
const fn scenario(
    id: &'static str,
    name: &'static str,
    about: &'static str,
    tags: &'static [&'static str],
    efforts: &'static [&'static str],
) -> Model {
    Model {
        id,
        name,
        about,
        kind: Kind::Language,
        context_window: 128_000,
        max_tokens: 16_384,
        input_price: 100,
        cached_price: 10,
        output_price: 400,
        long: None,
        tags,
        efforts,
    }
}

/// Returns a model that follows the rules of a real provider.
const fn provider(id: &'static str, name: &'static str, about: &'static str) -> Model {
    scenario(id, name, about, &["reasoning", "tool-use", "implicit-caching"], EFFORTS)
}

pub const MODELS: &[Model] = &[
    Model {
        id: "sluice/demo",
        name: "Sluice Demo",
        about: "A small assistant made of rules. It answers, thinks aloud, calls tools, cites and refuses.",
        kind: Kind::Language,
        context_window: 200_000,
        max_tokens: 32_000,
        input_price: 500,
        cached_price: 50,
        output_price: 2_000,
        long: Some(Long { from: 100_001, input_price: 1_000, output_price: 3_000 }),
        tags: ALL_TAGS,
        efforts: EFFORTS,
    },
    Model {
        context_window: 36_000,
        max_tokens: 4_000,
        ..scenario(
            "sluice/small",
            "Sluice Small",
            "The demo with a small context window, so that editors have to summarize.",
            ALL_TAGS,
            EFFORTS,
        )
    },
    scenario("sluice/echo", "Echo", "Repeats the user's last message.", &[], &[]),
    scenario("sluice/long", "Long", "Writes as many words as the first number in the prompt.", &[], &[]),
    scenario("sluice/tools", "Tools", "Calls the tools that the prompt names, or the first one.", TOOL_TAGS, &[]),
    scenario("sluice/parallel-tools", "Parallel tools", "Calls at least two tools at once.", TOOL_TAGS, &[]),
    scenario("sluice/reasoning", "Reasoning", "Shows its chain of thought before it answers.", REASONING_TAGS, EFFORTS),
    scenario(
        "sluice/encrypted-reasoning",
        "Encrypted reasoning",
        "Hides its reasoning; returns it encrypted on request, and expects it back unchanged.",
        REASONING_TAGS,
        EFFORTS,
    ),
    provider("sluice/openai-like", "OpenAI-like", "Thinks, calls and answers by the rules of OpenAI's models."),
    provider("sluice/openai-unverified", "OpenAI-like, unverified", "The same for an organization without summaries."),
    provider("sluice/anthropic-like", "Anthropic-like", "Thinks by the rules of Anthropic's models behind a gateway."),
    provider("sluice/deepseek-like", "DeepSeek-like", "Needs its plain reasoning back with every request."),
    provider("sluice/kimi-like", "Kimi-like", "Needs its plain reasoning back with its calls."),
    provider("sluice/vllm-like", "vLLM-like", "Shows its plain reasoning, and knows no field that isn't OpenAI's."),
    scenario("sluice/refusal", "Refusal", "Refuses whatever it is asked.", &[], &[]),
    scenario("sluice/citations", "Citations", "Cites two sources.", &["web-search"], &[]),
    scenario("sluice/image", "Picture", "Answers with a picture, in OpenAI's format.", &["image-generation"], &[]),
    scenario("sluice/empty", "Empty", "Completes without any output.", &[], &[]),
    scenario("sluice/thinking-only", "Thinking only", "Produces reasoning but no answer.", REASONING_TAGS, EFFORTS),
    scenario("sluice/incomplete", "Incomplete", "Runs out of tokens in the middle of its answer.", &[], &[]),
    scenario(
        "sluice/content-filter",
        "Content filter",
        "Is stopped by a filter in the middle of its answer.",
        &[],
        &[],
    ),
    scenario("sluice/failed", "Failed", "Fails in the middle of its answer.", &[], &[]),
    scenario("sluice/error", "Error", "Sends an error in the middle of its answer, then fails.", &[], &[]),
    scenario("sluice/burst", "Burst", "Counts up to the first number in the prompt, as fast as it can.", &[], &[]),
    Model {
        id: "sluice/embedding",
        name: "Embedding",
        about: "Listed to test filtering; it can't chat.",
        kind: Kind::Embedding,
        context_window: 8_192,
        max_tokens: 0,
        input_price: 20,
        cached_price: 0,
        output_price: 0,
        long: None,
        tags: &[],
        efforts: &[],
    },
    Model {
        id: "sluice/painter",
        name: "Painter",
        about: "Listed to test filtering; it can't chat.",
        kind: Kind::Image,
        context_window: 4_096,
        max_tokens: 4_096,
        input_price: 1_000,
        cached_price: 0,
        output_price: 0,
        long: None,
        tags: &["image-generation"],
        efforts: &[],
    },
];

pub fn find(id: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.id == id)
}

/// `GET /v1/models`
pub fn list() -> Value {
    json!({ "object": "list", "data": MODELS.iter().map(Model::json).collect::<Vec<_>>() })
}

impl Model {
    fn has(&self, tag: &str) -> bool {
        self.tags.contains(&tag)
    }

    /// Returns the cost of a request in billionths of a dollar.
    pub fn cost(&self, usage: Usage) -> u64 {
        let tokens = |count: usize, price: u64| count as u64 * price;
        let (input, output) = match self.long {
            Some(long) if usage.input as u64 >= long.from => (long.input_price, long.output_price),
            _ => (self.input_price, self.output_price),
        };
        tokens(usage.input - usage.cached, input)
            + tokens(usage.cached, self.cached_price)
            + tokens(usage.output, output)
    }

    pub fn context_window(&self) -> u64 {
        self.context_window
    }

    /// `GET /v1/models/{creator}/{model}`
    pub fn json(&self) -> Value {
        let (kind, specifications, outputs) = match self.kind {
            Kind::Language => ("language", json!(["v3", "v4"]), json!(["text"])),
            Kind::Embedding => ("embedding", json!(["v3", "v4"]), json!(["embedding"])),
            Kind::Image => ("image", json!(["v3", "v4"]), json!(["image"])),
        };
        let mut model = json!({
            "id": self.id,
            "object": "model",
            "created": RELEASED,
            "released": RELEASED,
            "owned_by": "sluice",
            "name": self.name,
            "description": self.about,
            "context_window": self.context_window,
            "max_tokens": self.max_tokens,
            "type": kind,
            "pricing": self.pricing(),
            "supported_specifications": specifications,
            "modalities": { "input": self.inputs(), "output": outputs },
            "supported_parameters": self.parameters(),
            "temperature": self.kind == Kind::Language,
            "knowledge": "2026-04",
            "regions": ["us", "eu"],
            "interleaved": false,
        });
        if !self.tags.is_empty() {
            model["tags"] = self.tags.into();
        }
        if !self.efforts.is_empty() {
            model["reasoning_options"] = json!([{ "type": "effort", "values": self.efforts }]);
        }
        model
    }

    fn pricing(&self) -> Value {
        let mut pricing = json!({ "input": dollars(self.input_price), "output": dollars(self.output_price) });
        if self.cached_price > 0 {
            pricing["input_cache_read"] = dollars(self.cached_price).into();
        }
        if let Some(long) = self.long {
            let tiers = |short: u64, price: u64| {
                json!([
                    { "cost": dollars(short), "min": 0, "max": long.from },
                    { "cost": dollars(price), "min": long.from },
                ])
            };
            pricing["input_tiers"] = tiers(self.input_price, long.input_price);
            pricing["output_tiers"] = tiers(self.output_price, long.output_price);
        }
        if self.kind == Kind::Image {
            pricing = json!({ "image": "0.02" });
        }
        pricing
    }

    fn inputs(&self) -> Vec<&str> {
        let more = [("vision", "image"), ("file-input", "file")];
        ["text"].into_iter().chain(more.into_iter().filter(|(tag, _)| self.has(tag)).map(|(_, input)| input)).collect()
    }

    fn parameters(&self) -> Vec<&str> {
        if self.kind != Kind::Language {
            return Vec::new();
        }
        let always = ["max_tokens", "temperature", "top_p"];
        let tools = ["tools", "tool_choice"].into_iter().filter(|_| self.has("tool-use"));
        let reasoning = ["reasoning", "include_reasoning"].into_iter().filter(|_| self.has("reasoning"));
        let structured =
            ["structured_outputs", "response_format"].into_iter().filter(|_| self.has("structured-output"));
        always.into_iter().chain(tools).chain(reasoning).chain(structured).collect()
    }

    /// `GET /v1/models/{creator}/{model}/endpoints`
    pub fn endpoints(&self) -> Value {
        let outputs = self.json()["modalities"]["output"].clone();
        let mut endpoint = json!({
            "name": format!("sluice | {}", self.id),
            "model_name": self.name,
            "provider_name": "sluice",
            "context_length": self.context_window,
            "max_completion_tokens": self.max_tokens,
            "max_prompt_tokens": self.context_window - self.max_tokens,
            "quantization": null,
            "supported_parameters": self.parameters(),
            "tags": self.tags,
            "pricing": {
                "prompt": dollars(self.input_price),
                "completion": dollars(self.output_price),
                "request": "0",
                "image": "0",
                "discount": 0,
            },
            "status": 0,
            "supports_implicit_caching": self.has("implicit-caching"),
            "uptime_last_15m": 100.0,
            "uptime_last_1h": 100.0,
            "uptime_last_1d": 99.9,
            "latency_last_1h": { "p50": 250, "p95": 400 },
            "throughput_last_1h": { "p50": 55, "p95": 40 },
        });
        if self.cached_price > 0 {
            endpoint["pricing"]["input_cache_read"] = dollars(self.cached_price).into();
        }
        // Most models have a second provider: it has a smaller window, fewer features, and is slower.
        let mut second = endpoint.clone();
        second["name"] = format!("trickle | {}", self.id).into();
        second["provider_name"] = "trickle".into();
        second["context_length"] = (self.context_window / 2).into();
        second["max_completion_tokens"] = (self.max_tokens / 2).into();
        second["max_prompt_tokens"] = (self.context_window / 2 - self.max_tokens / 2).into();
        second["supports_implicit_caching"] = false.into();
        second["quantization"] = "fp8".into();
        second["latency_last_1h"] = json!({ "p50": 900, "p95": 2_000 });
        second["throughput_last_1h"] = json!({ "p50": 20, "p95": 9 });
        let mut data = json!({
            "id": self.id,
            "name": self.name,
            "created": RELEASED,
            "released": RELEASED,
            "description": self.about,
            "architecture": {
                "tokenizer": "Other",
                "instruct_type": null,
                "modality": format!("{}→text", self.inputs().join("+")),
                "input_modalities": self.inputs(),
                "output_modalities": outputs,
            },
            "endpoints": [endpoint, second],
        });
        if self.has("reasoning") {
            data["reasoning"] = json!({ "mandatory": false, "supports_max_tokens": false });
        }
        json!({ "data": data })
    }
}

/// Formats billionths of a dollar as a decimal number of dollars, without trailing zeros.
pub fn dollars(billionths: u64) -> String {
    let text = format!("{}.{:09}", billionths / 1_000_000_000, billionths % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
