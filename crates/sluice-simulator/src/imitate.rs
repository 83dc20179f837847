//! Other servers that the gateway can imitate: what they refuse, how they spell and end their answers, and how they list
//! their models. Everything here was observed, or is in the servers' documentation.

use serde_json::{Map, Value, json};

use crate::faults::Faults;
use crate::http::Reply;
use crate::models::{self, Kind, MODELS, Model};
use crate::perform::Event;
use crate::problem::Problem;
use crate::providers::Provider;
use crate::script::{Content, Item, Script};

mod engines;
mod proxies;
mod stream;

/// A server to imitate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Imitated {
    /// A server in JavaScript, which counts no tokens and splits text between UTF-16 units.
    Aimock,
    /// A gateway in front of Claude, with lists in Anthropic's spelling.
    Anthropic,
    /// A proxy whose API is at the root, although its list is at `/v1`.
    CodexProxy,
    DeepSeek,
    /// `responses.js`
    HuggingFace,
    LiteLlm,
    LlamaCpp,
    Ollama,
    OpenAi,
    /// The proxy that passes on token counts as chat completions spell them.
    ResponsesProxy,
    /// The Shepherd Model Gateway, in front of vLLM.
    Smg,
    /// `transformers serve`
    Transformers,
    Vllm,
}

use Imitated::{
    Aimock, Anthropic, CodexProxy, DeepSeek, HuggingFace, LiteLlm, LlamaCpp, Ollama, OpenAi, ResponsesProxy, Smg,
    Transformers, Vllm,
};

impl Imitated {
    pub const ALL: [Self; 13] = [
        Aimock,
        Anthropic,
        CodexProxy,
        DeepSeek,
        HuggingFace,
        LiteLlm,
        LlamaCpp,
        Ollama,
        OpenAi,
        ResponsesProxy,
        Smg,
        Transformers,
        Vllm,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Aimock => "aimock",
            Anthropic => "anthropic",
            CodexProxy => "codex-proxy",
            DeepSeek => "deepseek",
            HuggingFace => "huggingface",
            LiteLlm => "litellm",
            LlamaCpp => "llama.cpp",
            Ollama => "ollama",
            OpenAi => "openai",
            ResponsesProxy => "responses-proxy",
            Smg => "smg",
            Transformers => "transformers",
            Vllm => "vllm",
        }
    }

    /// Returns the server that the faults name.
    pub fn chosen(faults: &Faults) -> Option<Self> {
        let name = faults.value("as")?;
        Self::ALL.into_iter().find(|server| server.name() == name)
    }

    /// Returns what a path names, without the prefix of the API, if this server has an API there.
    pub fn resource(self, route: &str) -> Option<&str> {
        let at_root = route.strip_prefix('/');
        let below_v1 = route.strip_prefix("/v1/");
        match self {
            // These have both.
            LiteLlm | Anthropic | LlamaCpp => below_v1.or(at_root),
            Aimock => below_v1.or(at_root.filter(|resource| *resource == "responses")),
            CodexProxy => below_v1.filter(|resource| *resource == "models").or(at_root),
            _ => below_v1,
        }
    }

    /// Returns the model that answers a request for this id.
    pub fn model(self, id: &str) -> Option<&'static Model> {
        let found = models::find(id).filter(|model| self.serves(model));
        // It has one model and doesn't read the name.
        found.or_else(|| models::find("sluice/echo").filter(|_| self == LlamaCpp))
    }

    /// Returns whether sealed reasoning passes through this server. Engines have none, and neither has anything that is
    /// in front of chat completions.
    fn passes_seals(self) -> bool {
        matches!(self, Aimock | Anthropic | LiteLlm | OpenAi)
    }

    fn serves(self, model: &Model) -> bool {
        let needs_seals =
            matches!(Provider::of(model.id), Some(Provider::OpenAi | Provider::OpenAiUnverified | Provider::Anthropic));
        self.passes_seals() || !needs_seals
    }

    /// Returns whether this server checks what it sealed. Ollama seals nothing, although there is something in that field.
    pub fn checks_seals(self) -> bool {
        self != Ollama
    }

    /// Changes what a model says to what reaches a client of this server. Most servers show all of the thinking and have
    /// nothing but text and calls besides.
    pub fn rewrite(self, script: &mut Script) {
        for item in &mut script.items {
            let Item::Reasoning { raw, summary, sealed } = item else { continue };
            let mut thoughts = || raw.take().into_iter().chain(summary.drain(..)).collect::<Vec<_>>().join("\n\n");
            match self {
                Aimock | OpenAi => {}
                Anthropic | LiteLlm | Ollama => {
                    let thoughts = Some(thoughts()).filter(|thoughts| !thoughts.is_empty());
                    *summary = thoughts.into_iter().collect();
                    *sealed &= self != Ollama;
                }
                _ => {
                    *raw = Some(thoughts()).filter(|thoughts| !thoughts.is_empty());
                    *sealed = false;
                }
            }
        }
        if !self.passes_seals() {
            script.items.retain(|item| !matches!(item, Item::Image(_)));
            for item in &mut script.items {
                if let Item::Message(contents) | Item::Phased(_, contents) = item {
                    *item = Item::Message(contents.drain(..).map(Content::plain).collect());
                }
            }
        }
        if matches!(self, Smg | Vllm) {
            // These servers take the line breaks that Qwen's template puts between a thought and a call for a message.
            let is_blank =
                |at: usize| matches!(script.items.get(at..at + 2), Some([Item::Reasoning { .. }, Item::Call { .. }]));
            if let Some(at) = (0..script.items.len()).find(|at| is_blank(*at)) {
                script.items.insert(at + 1, Item::text("\n\n"));
            }
        }
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
            Ollama if ["minimal", "xhigh"].contains(&effort) => {
                let accepted = r#"must be "high", "medium", "low", "max", or "none""#;
                return Err(Problem::invalid("", format!("invalid reasoning value: \"{effort}\" ({accepted})")));
            }
            _ => {}
        }
        let wanted = body.get("max_output_tokens").and_then(Value::as_u64).unwrap_or(0);
        self.check_length(wanted)?;
        let items = body.get("input").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if self == HuggingFace {
            // It lists what is wrong with every item.
            let refused = |(_, item): &(usize, &Value)| self.check_item(item).is_err();
            let refused: Vec<usize> = items.iter().enumerate().filter(refused).map(|(at, _)| at).collect();
            let problem = Problem::invalid("input", "Invalid input").code("invalid_union");
            return if refused.is_empty() {
                Ok(())
            } else {
                Err(Problem { param: json!({ "input": refused }), ..problem })
            };
        }
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
            Smg => {
                let message = format!("{field}: unknown field `{field}`, expected one of `model`, `input`, `stream`");
                Err(Problem { message, code: None, ..problem })
            }
            _ => Ok(()),
        }
    }

    fn check_length(self, wanted: u64) -> Result<(), Problem> {
        let window = models::find("sluice/echo").map_or(0, Model::context_window);
        let most = window - window / 8;
        let message = match self {
            Vllm | Smg if wanted > window => format!(
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
        let has_image = |parts: &Value| {
            parts.as_array().is_some_and(|parts| parts.iter().any(|part| part["type"] == "input_image"))
        };
        if self == LlamaCpp && (has_image(&item["content"]) || has_image(&item["output"])) {
            let hint = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj";
            return Err(Problem { status: 500, ..Problem::invalid("input", hint) });
        }
        let lacks_detail = |part: &Value| part["type"] == "input_image" && part.get("detail").is_none();
        let message = match self {
            Vllm | Smg if encrypted => "Encrypted content is not supported. (parameter=input)",
            Vllm | Smg if parts.is_some_and(|parts| parts.iter().any(lacks_detail)) => {
                "1 validation error for ResponseInputImageParam\ndetail\n  Field required [type=missing]"
            }
            LlamaCpp if encrypted && !item["content"].is_array() => "item['content'] is not an array",
            HuggingFace if encrypted || parts.is_some() => "Invalid input",
            _ => return Ok(()),
        };
        Err(Problem::invalid("input", message))
    }

    /// Refuses a request that has the wrong key, or none.
    pub fn refuse_key(self, has_key: bool, problem: &Problem) -> Reply {
        match self {
            // Without a database, it knows one key. It looks for all others in the database.
            LiteLlm | Anthropic if has_key => Reply::json(
                400,
                &json!({ "error": {
                    "message": "No connected db.", "type": "no_db_connection", "param": null, "code": "400" } }),
            ),
            LiteLlm | Anthropic => Reply::whole(500, "text/plain", b"Internal Server Error".to_vec()),
            _ => self.refuse(problem),
        }
    }

    /// Returns a refusal in the format of this server.
    pub fn refuse(self, problem: &Problem) -> Reply {
        let Problem { status, kind, code, message, param } = problem;
        let body = match self {
            // It doesn't expect that a model can't be loaded.
            Transformers if *code == Some("model_not_found") => {
                return Reply::whole(500, "text/plain", b"Internal Server Error".to_vec());
            }
            Transformers => json!({ "detail": message }),
            HuggingFace => {
                let path = if param["input"].is_array() { "input" } else { param.as_str().unwrap_or_default() };
                let path: Vec<&str> = path.split('.').collect();
                let mut issue = json!({ "code": code, "path": path, "message": message });
                if let Some(items) = param["input"].as_array() {
                    issue["unionErrors"] = proxies::union_errors(items);
                }
                json!({ "success": false, "error": [issue.clone()], "details": [issue] })
            }
            Vllm | Smg => {
                let kind = if *status == 404 { "NotFoundError" } else { "BadRequestError" };
                json!({ "error": { "message": message, "type": kind, "param": param, "code": status } })
            }
            LlamaCpp => json!({ "error": { "code": status, "message": message, "type": kind } }),
            Ollama => {
                let kind = match status {
                    400 => "invalid_request_error",
                    404 => "not_found_error",
                    _ => "api_error",
                };
                json!({ "error": { "message": message, "type": kind, "param": null, "code": null } })
            }
            LiteLlm | Anthropic if *code == Some("model_not_found") => {
                let id = param["modelId"].as_str().unwrap_or_default();
                let message = format!(
                    "/responses: Invalid model name passed in model={id}. Call `/v1/models` to view available models for \
                    your key."
                );
                let kind = "invalid_request_error";
                return Reply::json(
                    400,
                    &json!({ "error": { "message": message, "type": kind, "param": null, "code": "400" } }),
                );
            }
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
            Vllm | LiteLlm | Anthropic | Transformers | CodexProxy => json!({ "detail": "Not Found" }),
            LlamaCpp => json!({ "error": { "code": 404, "message": "File Not Found", "type": "not_found_error" } }),
            Aimock => json!({ "error": { "message": "Not found", "type": "not_found" } }),
            OpenAi | DeepSeek | Smg => {
                let message = format!("Invalid URL ({method} {route})");
                json!({ "error": { "message": message, "type": "invalid_request_error", "param": null, "code": null } })
            }
            _ => return Reply::whole(404, "text/plain", b"404 page not found".to_vec()),
        };
        Reply::json(404, &body)
    }

    /// Returns the list of models, or `None` if this server has none.
    pub fn list(self) -> Option<Value> {
        let entry = |model: &Model| {
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
                (Transformers | Smg, kind) if kind != Kind::Language => return None,
                _ => json!({ "id": id, "object": "model", "created": 1_700_000_000, "owned_by": "library" }),
            })
        };
        let models: Vec<Value> = MODELS.iter().filter(|model| self.serves(model)).filter_map(entry).collect();
        (self != HuggingFace).then(|| json!({ "object": "list", "data": models }))
    }

    /// Returns the faults that this server always has: how it frames and names its events.
    pub fn faults(self) -> Faults {
        let faults = match self {
            Vllm | Smg | Ollama | OpenAi | CodexProxy => "openai-names, no-done",
            Aimock => "openai-names, no-done, drop-sequence-number, split-surrogates",
            LlamaCpp => "openai-names, no-done, drop-sequence-number, drop-output-index",
            LiteLlm | Anthropic => "openai-names, no-event-lines",
            Transformers | HuggingFace | ResponsesProxy | DeepSeek => "openai-names, no-event-lines, no-done",
        };
        Faults::parse(faults).unwrap_or_default()
    }

    /// Changes everything that this server says in another way than the gateway.
    pub fn reshape(self, events: &mut Vec<Event>) {
        for response in events.iter_mut().filter_map(|event| event.get_mut("response")) {
            let metadata = response.as_object_mut().and_then(|response| response.remove("provider_metadata"));
            let cost = metadata.and_then(|metadata| metadata["gateway"]["cost"].as_str()?.parse::<f64>().ok());
            if let (LiteLlm, Some(cost), true) = (self, cost, response["usage"].is_object()) {
                response["usage"]["cost"] = cost.into();
            }
        }
        if !matches!(self, Anthropic | DeepSeek | LiteLlm | OpenAi) {
            for event in events.iter_mut() {
                self.reshape_ending(event);
            }
        }
        *events = stream::reshape(self, std::mem::take(events));
    }

    /// Ends an answer that was cut off as if it were complete. Some servers still say in the response that it isn't.
    fn reshape_ending(self, event: &mut Event) {
        let complete = |item: &mut Value| {
            if item["status"] == "incomplete" {
                item["status"] = "completed".into();
            }
        };
        if let Some(item) = event.get_mut("item") {
            complete(item);
        }
        if event.kind == "response.incomplete" || (self == Aimock && event.kind == "response.failed") {
            "response.completed".clone_into(&mut event.kind);
        }
        let Some(response) = event.get_mut("response") else { return };
        response["output"].as_array_mut().into_iter().flatten().for_each(complete);
        if !matches!(self, Aimock | Smg | Vllm) {
            complete(response);
            response["incomplete_details"] = Value::Null;
        }
    }
}
