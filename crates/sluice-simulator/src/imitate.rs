//! Other servers that the gateway can imitate: what they refuse, how they spell and end their answers, and how they list
//! their models. Everything here was observed, or is in the servers' documentation.

use serde_json::{Map, Value, json};

use crate::faults::Faults;
use crate::http::Reply;
use crate::models::{self, Kind, MODELS};
use crate::perform::Event;
use crate::problem::Problem;

/// A server to imitate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Imitated {
    /// A gateway in front of Claude, with lists in Anthropic's spelling.
    Anthropic,
    DeepSeek,
    /// `responses.js`
    HuggingFace,
    LiteLlm,
    LlamaCpp,
    Ollama,
    OpenAi,
    /// The proxy that passes on token counts as chat completions spell them.
    ResponsesProxy,
    /// `transformers serve`
    Transformers,
    Vllm,
}

use Imitated::{
    Anthropic, DeepSeek, HuggingFace, LiteLlm, LlamaCpp, Ollama, OpenAi, ResponsesProxy, Transformers, Vllm,
};

impl Imitated {
    pub const ALL: [Self; 10] =
        [Anthropic, DeepSeek, HuggingFace, LiteLlm, LlamaCpp, Ollama, OpenAi, ResponsesProxy, Transformers, Vllm];

    pub fn name(self) -> &'static str {
        match self {
            Anthropic => "anthropic",
            DeepSeek => "deepseek",
            HuggingFace => "huggingface",
            LiteLlm => "litellm",
            LlamaCpp => "llama.cpp",
            Ollama => "ollama",
            OpenAi => "openai",
            ResponsesProxy => "responses-proxy",
            Transformers => "transformers",
            Vllm => "vllm",
        }
    }

    /// Returns the server that the faults name.
    pub fn chosen(faults: &Faults) -> Option<Self> {
        let name = faults.value("as")?;
        Self::ALL.into_iter().find(|server| server.name() == name)
    }

    /// Refuses a request that this server refuses, although the protocol allows it.
    pub fn check(self, body: &Map<String, Value>) -> Result<(), Problem> {
        for field in ["caching", "cache_ttl", "cache_anchor_items", "providerOptions"] {
            if body.contains_key(field) {
                self.check_unknown(field)?;
            }
        }
        let effort = body.get("reasoning").and_then(|reasoning| reasoning["effort"].as_str()).unwrap_or("low");
        match self {
            HuggingFace if !["low", "medium", "high"].contains(&effort) => {
                let message = format!("Invalid enum value. Expected 'low' | 'medium' | 'high', received '{effort}'");
                return Err(Problem::invalid("reasoning.effort", message).code("invalid_enum_value"));
            }
            OpenAi if ["minimal", "max"].contains(&effort) => {
                let message = format!(
                    "Unsupported value: '{effort}' is not supported with this model. Supported values are: 'none', \
                    'low', 'medium', 'high', and 'xhigh'."
                );
                return Err(Problem::invalid("reasoning.effort", message).code("unsupported_value"));
            }
            _ => {}
        }
        let wanted = body.get("max_output_tokens").and_then(Value::as_u64).unwrap_or(0);
        self.check_length(wanted)?;
        let items = body.get("input").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        items.iter().try_for_each(|item| self.check_item(item))
    }

    fn check_unknown(self, field: &str) -> Result<(), Problem> {
        let problem = Problem::invalid(field, format!("Unknown parameter: '{field}'.")).code("unknown_parameter");
        match self {
            OpenAi | DeepSeek | Anthropic => Err(problem),
            Transformers => {
                let message = format!("Unexpected fields in the request: {{'{field}'}}");
                Err(Problem { status: 422, message, ..problem })
            }
            _ => Ok(()),
        }
    }

    fn check_length(self, wanted: u64) -> Result<(), Problem> {
        let window = models::find("sluice/echo").map_or(0, models::Model::context_window);
        let most = window - window / 8;
        let message = match self {
            Vllm if wanted > window => format!(
                "max_output_tokens={wanted} cannot be greater than max_model_len={window}. Please request fewer output \
                tokens. (parameter=max_output_tokens, value={wanted})"
            ),
            OpenAi | DeepSeek if wanted > most => format!(
                "max_tokens is too large: {wanted}. This model supports at most {most} completion tokens, whereas you \
                provided {wanted}."
            ),
            Anthropic if wanted > most => {
                format!("max_tokens: {wanted} > {most}, which is the maximum allowed number of output tokens")
            }
            _ => return Ok(()),
        };
        Err(Problem::invalid("max_output_tokens", message))
    }

    fn check_item(self, item: &Value) -> Result<(), Problem> {
        let encrypted = item["type"] == "reasoning" && item["encrypted_content"].is_string();
        let parts = item["output"].as_array();
        let has_image =
            item["content"].as_array().is_some_and(|parts| parts.iter().any(|part| part["type"] == "input_image"));
        if self == LlamaCpp && has_image {
            let hint = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj";
            return Err(Problem { status: 500, ..Problem::invalid("input", hint) });
        }
        let lacks_detail = |part: &Value| part["type"] == "input_image" && part.get("detail").is_none();
        let message = match self {
            Vllm if encrypted => "Encrypted content is not supported. (parameter=input)",
            Vllm if parts.is_some_and(|parts| parts.iter().any(lacks_detail)) => {
                "1 validation error for ResponseInputImageParam\ndetail\n  Field required [type=missing]"
            }
            LlamaCpp if encrypted && !item["content"].is_array() => "item['content'] is not an array",
            HuggingFace if encrypted || parts.is_some() => "Invalid input",
            _ => return Ok(()),
        };
        Err(Problem::invalid("input", message))
    }

    /// Returns a refusal in the format of this server.
    pub fn refuse(self, problem: &Problem) -> Reply {
        let Problem { status, kind, code, message, param } = problem;
        let body = match self {
            Transformers => json!({ "detail": message }),
            HuggingFace => {
                let path: Vec<&str> = param.as_str().unwrap_or_default().split('.').collect();
                json!({ "success": false, "error": [{ "code": code, "path": path, "message": message }] })
            }
            Vllm => {
                let kind = if *status == 404 { "NotFoundError" } else { "BadRequestError" };
                json!({ "error": { "message": message, "type": kind, "param": param, "code": status } })
            }
            LlamaCpp => json!({ "error": { "code": status, "message": message, "type": kind } }),
            LiteLlm | Anthropic => json!({ "error": {
                "message": format!("litellm.BadRequestError: {message}"),
                "type": kind, "param": param, "code": status.to_string() } }),
            _ => return problem.reply(),
        };
        Reply::json(*status, &body)
    }

    /// Returns what this server says about an address that it doesn't have.
    pub fn no_such_route(self, method: &str, route: &str) -> Reply {
        let body = match self {
            Vllm | LiteLlm | Anthropic | Transformers => json!({ "detail": "Not Found" }),
            LlamaCpp => json!({ "error": { "code": 404, "message": "File Not Found", "type": "not_found_error" } }),
            OpenAi | DeepSeek => {
                let message = format!("Invalid URL ({method} {route})");
                json!({ "error": { "message": message, "type": "invalid_request_error", "param": null, "code": null } })
            }
            _ => return Reply::whole(404, "text/plain", b"404 page not found".to_vec()),
        };
        Reply::json(404, &body)
    }

    /// Returns the list of models, or `None` if this server has none.
    pub fn list(self) -> Option<Value> {
        let entry = |model: &models::Model| {
            let (id, window, most) = (model.id, model.context_window(), model.context_window() / 4);
            Some(match (self, model.kind) {
                (Vllm, Kind::Language) => {
                    json!({ "id": id, "object": "model", "created": 1_700_000_000, "owned_by": "vllm",
                    "root": id, "parent": null, "max_model_len": window, "permission": [] })
                }
                (LlamaCpp, Kind::Language) => json!({ "id": id, "object": "model", "created": 1_700_000_000,
                    "owned_by": "llamacpp", "meta": { "vocab_type": 2, "n_ctx": window, "n_ctx_train": 2 * window } }),
                (LiteLlm, kind) => {
                    let mode = match kind {
                        Kind::Language => "chat",
                        Kind::Embedding => "embedding",
                        Kind::Image => "image_generation",
                    };
                    json!({ "id": id, "object": "model", "created": 1_677_610_602, "owned_by": "openai", "mode": mode,
                        "max_input_tokens": window, "max_output_tokens": most })
                }
                (Anthropic, Kind::Language) => json!({ "type": "model", "id": id, "display_name": model.name,
                    "created_at": "2025-09-29T00:00:00Z", "max_input_tokens": window, "max_tokens": most }),
                (Vllm | LlamaCpp | Anthropic, _) => return None,
                (Transformers, kind) if kind != Kind::Language => return None,
                _ => json!({ "id": id, "object": "model", "created": 1_700_000_000, "owned_by": "library" }),
            })
        };
        let models: Vec<Value> = MODELS.iter().filter_map(entry).collect();
        (self != HuggingFace).then(|| json!({ "object": "list", "data": models }))
    }

    /// Returns the faults that this server always has: how it frames and names its events.
    pub fn faults(self) -> Faults {
        let faults = match self {
            Vllm | Ollama | OpenAi => "openai-names, no-done",
            LlamaCpp => "openai-names, no-done, drop-sequence-number, drop-output-index",
            LiteLlm | Anthropic => "openai-names, no-event-lines, drop-sequence-number",
            Transformers | HuggingFace | ResponsesProxy | DeepSeek => "openai-names, no-event-lines, no-done",
        };
        Faults::parse(faults).unwrap_or_default()
    }

    /// Changes what this server says otherwise than the gateway does.
    pub fn reshape(self, events: &mut Vec<Event>) {
        for response in events.iter_mut().filter_map(|event| event.get_mut("response")) {
            let metadata = response.as_object_mut().and_then(|response| response.remove("provider_metadata"));
            let cost = metadata.and_then(|metadata| metadata["gateway"]["cost"].as_str()?.parse::<f64>().ok());
            if let (LiteLlm, Some(cost), true) = (self, cost, response["usage"].is_object()) {
                response["usage"]["cost"] = cost.into();
            }
        }
        if matches!(self, Vllm | LlamaCpp | Transformers | HuggingFace | ResponsesProxy) {
            for event in events.iter_mut() {
                self.reshape_ending(event);
            }
        }
        match self {
            HuggingFace => {
                forget_calls(events);
                let zeros = json!({ "input_tokens": 0, "output_tokens": 0, "total_tokens": 0 });
                if let Some(response) = events.first_mut().and_then(|event| event.get_mut("response")) {
                    response["usage"] = zeros;
                }
            }
            ResponsesProxy => {
                for response in events.iter_mut().filter_map(|event| event.get_mut("response")) {
                    let usage = response["usage"].take();
                    if usage.is_object() {
                        response["usage"] = json!({ "prompt_tokens": usage["input_tokens"],
                            "completion_tokens": usage["output_tokens"], "total_tokens": usage["total_tokens"],
                            "prompt_tokens_details": usage["input_tokens_details"] });
                    }
                }
            }
            _ => {}
        }
    }

    /// Ends an answer that was cut off as if it were complete. vLLM still says in the response that it isn't.
    fn reshape_ending(self, event: &mut Event) {
        let complete = |item: &mut Value| {
            if item["status"] == "incomplete" {
                item["status"] = "completed".into();
            }
        };
        if let Some(item) = event.get_mut("item") {
            complete(item);
        }
        if event.kind == "response.incomplete" {
            "response.completed".clone_into(&mut event.kind);
        }
        let Some(response) = event.get_mut("response") else { return };
        response["output"].as_array_mut().into_iter().flatten().for_each(complete);
        if self != Vllm {
            complete(response);
            response["incomplete_details"] = Value::Null;
        }
    }
}

/// Keeps the `done` events of the last call only.
fn forget_calls(events: &mut Vec<Event>) {
    let is_done = |event: &Event| {
        let is_call = event.get("item").is_some_and(|item| item["type"] == "function_call");
        event.kind == "response.output_item.done" && is_call
    };
    let last = events.iter().rposition(is_done);
    let mut at = 0;
    events.retain(|event| {
        at += 1;
        let is_arguments = event.kind == "response.function_call_arguments.done";
        !(is_arguments || is_done(event)) || last.is_none_or(|last| at > last)
    });
}
