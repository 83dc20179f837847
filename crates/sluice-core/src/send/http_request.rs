//! Step 3: everything together, as method, address, headers and body. The key is not here: shells add it themselves.

use serde_json::{Value, json};

use super::Endpoint;
use super::conversation::{conversation_id, is_summary_request, marker};
use super::extras::{extra_fields, extra_headers, is_header_value};
use super::prompt::Prompt;
use super::tools::{ToolNames, tool_choice};
use crate::boundary::{ChatRequest, HttpRequest, Note, NoteKind};
use crate::wire::{CreateResponse, ProviderOptions, ReasoningOptions};

/// The protocol's limits.
const MAX_CACHE_KEY: usize = 64;
const MIN_OUTPUT_TOKENS: u64 = 16;

/// A request ready to be sent, and what its answer must be read with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltRequest {
    pub request: HttpRequest,
    pub tool_names: ToolNames,
    /// The conversation it belongs to, as far as anybody named it.
    pub conversation_id: Option<String>,
    /// The text of a `stateful_marker` part to leave in the answer, by which the conversation is known next time.
    pub marker: Option<String>,
    /// What was left out or repaired.
    pub notes: Vec<Note>,
}

/// The same conversation always gives the same bytes.
pub fn build_request(chat: &ChatRequest, endpoint: &Endpoint) -> BuiltRequest {
    let (prompt, mut tool_names, mut notes) = Prompt::with_names(chat);
    let Prompt { model, instructions, tools, items } = prompt;

    let options = &chat.options;
    let conversation_id = conversation_id(chat);
    // The caller's model options may say the same things under the protocol's names or older ones.
    let number = |name: &str| options.extra_body.get(name).and_then(Value::as_f64);
    let count = |name: &str| options.extra_body.get(name).and_then(Value::as_u64);
    let max_output_tokens =
        options.max_output_tokens.or_else(|| count("max_output_tokens")).or_else(|| count("max_tokens"));
    // VS Code says so when it goes on from an answer whose thinking it does not have any more.
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
    notes.extend(problems.into_iter().map(|problem| Note::new(NoteKind::Setting, problem.message)));
    let url = format!("{}/responses", endpoint.base_url);
    let body = serde_json::to_string(&body).unwrap_or_default();
    let request = HttpRequest { method: "POST".to_owned(), url, headers, body };
    let marker = conversation_id.as_deref().and_then(|id| marker(&chat.model, id));
    BuiltRequest { request, tool_names, conversation_id, marker, notes }
}
