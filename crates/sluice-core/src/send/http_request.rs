//! Step 3: builds the HTTP request. It doesn't contain the key, which shells add themselves.

use serde_json::{Value, json};

use super::conversation::{conversation_id, is_summary_request, marker};
use super::extras::{extra_fields, extra_headers, is_header_value};
use super::prompt::Prompt;
use super::tools::{ToolNames, tool_choice};
use super::{Endpoint, Parameter};
use crate::boundary::{ChatRequest, HttpRequest, Note, NoteKind};
use crate::wire::{CreateResponse, ProviderOptions, ReasoningOptions};

/// Limits of the protocol.
const MAX_CACHE_KEY: usize = 64;
const MIN_OUTPUT_TOKENS: u64 = 16;

/// A request that is ready to be sent, and everything that is needed to read its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuiltRequest {
    /// What to send.
    pub request: HttpRequest,
    /// The tool names that were sent, with VS Code's names for them.
    pub tool_names: ToolNames,
    /// The id of the conversation, if the caller, VS Code or a marker named it.
    pub conversation_id: Option<String>,
    /// The text of a `stateful_marker` part to add to the answer. The next request recognizes the conversation by it.
    pub marker: Option<String>,
    /// The parameters that can be left out if the server refuses them by name.
    pub optional: Vec<Parameter>,
    /// Notes about everything that was left out or repaired.
    pub notes: Vec<Note>,
}

impl BuiltRequest {
    /// Returns the same request without some parameters.
    #[must_use]
    pub fn without(mut self, parameters: &[Parameter]) -> Self {
        if !parameters.is_empty() {
            self.request = self.request.without(parameters);
            self.optional.retain(|parameter| !parameters.contains(parameter));
        }
        self
    }
}

/// Builds the request for a chat. The same chat always gives the same bytes, because prompt caches depend on them.
pub fn build_request(chat: &ChatRequest, endpoint: &Endpoint) -> BuiltRequest {
    let (prompt, mut tool_names, mut notes) = Prompt::with_names(chat);
    let Prompt { model, instructions, tools, items } = prompt;

    let options = &chat.options;
    let conversation_id = conversation_id(chat);
    // The caller's model options may contain the same settings under the protocol's names or older ones.
    let number = |name: &str| options.extra_body.get(name).and_then(Value::as_f64);
    let count = |name: &str| options.extra_body.get(name).and_then(Value::as_u64);
    let max_output_tokens =
        options.max_output_tokens.or_else(|| count("max_output_tokens")).or_else(|| count("max_tokens"));
    // VS Code sets this to false when it continues from an answer whose reasoning it no longer has.
    let may_think = options.extra_body.get("_enableThinking") != Some(&Value::Bool(false));
    let reasoning = ReasoningOptions {
        effort: options.reasoning_effort.clone().filter(|_| may_think),
        summary: options.reasoning_summary.clone().filter(|_| may_think),
    };
    let mut problems = Vec::new();
    let extra = extra_fields(&options.extra_body, &mut problems);
    let is_claude = chat.model.to_ascii_lowercase().contains("claude");
    let body = CreateResponse {
        model,
        instructions,
        input: items,
        tool_choice: tool_choice(chat, is_summary_request(chat), &mut tool_names),
        tools,
        stream: true,
        store: false,
        include: &["reasoning.encrypted_content"],
        max_output_tokens: max_output_tokens.map(|tokens| tokens.max(MIN_OUTPUT_TOKENS)),
        temperature: options.temperature.or_else(|| number("temperature")),
        top_p: options.top_p.or_else(|| number("top_p")),
        reasoning: (reasoning.effort.is_some() || reasoning.summary.is_some()).then_some(reasoning),
        prompt_cache_key: conversation_id.as_ref().map(|id| id.chars().take(MAX_CACHE_KEY).collect()),
        caching: options.automatic_caching.then_some("auto"),
        provider_options: ProviderOptions {
            gateway: options.routing.clone().filter(|routing| *routing != crate::boundary::Routing::default()),
            anthropic: (is_claude && options.claude_context_management).then(|| {
                json!({"contextManagement": {"edits": [
                    {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}},
                    {"type": "clear_tool_uses_20250919"},
                ]}})
            }),
        },
        extra,
    };

    let mut headers = vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("accept".to_owned(), "text/event-stream".to_owned()),
    ];
    if let Some(id) = conversation_id.as_deref().filter(|id| is_header_value(id)) {
        headers.push(("x-session-affinity".to_owned(), id.to_owned()));
    }
    headers.extend(extra_headers(&options.extra_headers, &mut problems));
    notes.extend(problems.into_iter().map(|problem| Note::for_people(NoteKind::Setting, vec![problem.message])));
    let url = format!("{}/responses", endpoint.base_url);
    let optional = Parameter::in_body(&body);
    let body = serde_json::to_string(&body).unwrap_or_default();
    let request = HttpRequest { method: "POST".to_owned(), url, headers, body };
    let marker = conversation_id.as_deref().and_then(|id| marker(&chat.model, id));
    BuiltRequest { request, tool_names, conversation_id, marker, optional, notes }
}
