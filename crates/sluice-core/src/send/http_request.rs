//! Builds the HTTP request. It doesn't contain the key, which shells add themselves.

use serde::Serialize;
use serde_json::{Value, json};

use super::conversation::{conversation_id, marker};
use super::extras::{extra_fields, extra_headers, is_header_value};
use super::kinds::purpose;
use super::prompt::Prompt;
use super::tools::{ToolNames, tool_choice};
use super::{Endpoint, Parameter};
use crate::boundary::{ChatOptions, ChatRequest, HttpRequest, Note, NoteKind, RequestKind};
use crate::log::describe_request;
use crate::message::{Message, MessageCode};
use crate::wire::{CreateResponse, InputItem, ProviderOptions, ReasoningOptions};

/// Limits of the protocol.
const MAX_CACHE_KEY: usize = 64;
const MIN_OUTPUT_TOKENS: u64 = 16;

/// A request that is ready to be sent, and everything that is needed to read its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct BuiltRequest {
    /// What to send.
    pub request: HttpRequest,
    /// The tool names that were sent, with VS Code's names for them.
    #[cfg_attr(test, ts(type = "{ [sent: string]: string }"))]
    pub tool_names: ToolNames,
    /// The id of the conversation, if the caller, VS Code or a marker named it.
    pub conversation_id: Option<String>,
    /// The text of a `stateful_marker` part to add to the answer. The next request recognizes the conversation by it.
    pub marker: Option<String>,
    /// What the request is for.
    pub kind: RequestKind,
    /// What the request is for and how much the model should think, for a log.
    pub description: String,
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
            let most = parameters.iter().filter_map(|parameter| parameter.most_tools()).min();
            for parameter in &mut self.optional {
                if let Some(most) = most.filter(|most| parameter.most_tools().is_some_and(|sent| sent > *most)) {
                    *parameter = Parameter::MostTools(most);
                    self.notes.push(too_many_tools(most));
                }
            }
        }
        self
    }
}

/// Tells the user which tools are not sent to a server that refused to take all of them.
pub(crate) fn too_many_tools(most: u32) -> Note {
    Note::for_people(NoteKind::LeftOut, vec![Message::new(MessageCode::TooManyTools, [&most])])
}

/// Returns how much the model should think, and whether we get to see it. Servers send summaries only if they are asked
/// to.
pub(crate) fn reasoning_options(options: &ChatOptions, kind: RequestKind) -> ReasoningOptions {
    // VS Code sets this to false when it continues from an answer whose reasoning it no longer has.
    if options.extra_body.get("_enableThinking") == Some(&Value::Bool(false)) {
        return ReasoningOptions::default();
    }
    if kind == RequestKind::Utility {
        // Titles and the like need no thinking. Models that can't stop think as little as possible.
        let offers = |effort: &&&str| options.efforts.iter().any(|offered| offered == **effort);
        let least = ["none", "minimal", "low"].iter().find(offers).map(|effort| (*effort).to_owned());
        return ReasoningOptions { effort: least, summary: None };
    }
    let effort = options.effort();
    let summary = || options.reasoning_summary.clone().unwrap_or_else(|| "auto".to_owned());
    ReasoningOptions { effort: effort.cloned(), summary: effort.is_none_or(|effort| effort != "none").then(summary) }
}

/// Returns the gateway's routing, and what it passes on to providers.
fn provider_options(chat: &ChatRequest) -> ProviderOptions {
    let is_claude = chat.model.to_ascii_lowercase().contains("claude");
    ProviderOptions {
        gateway: chat.options.routing.clone().filter(|routing| *routing != crate::boundary::Routing::default()),
        anthropic: (is_claude && chat.options.claude_context_management).then(|| {
            json!({"contextManagement": {"edits": [
                {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}},
                {"type": "clear_tool_uses_20250919"},
            ]}})
        }),
    }
}

/// Builds the request for a chat. The same chat always gives the same bytes, because prompt caches depend on them.
pub fn build_request(chat: &ChatRequest, endpoint: &Endpoint) -> BuiltRequest {
    let (prompt, mut tool_names, mut notes) = Prompt::with_names(chat, Some(&endpoint.origin));
    let Prompt { model, instructions, tools, items, .. } = prompt;

    let options = &chat.options;
    let conversation_id = conversation_id(chat);
    // The caller's model options may contain the same settings under the protocol's names or older ones.
    let number = |name: &str| options.extra_body.get(name).and_then(Value::as_f64);
    let count = |name: &str| options.extra_body.get(name).and_then(Value::as_u64);
    let wanted = count("max_output_tokens").or_else(|| count("max_tokens"));
    // A caller may want less than the most that is possible.
    let max_output_tokens = options.max_output_tokens.into_iter().chain(wanted).min();
    let purpose = purpose(chat);
    let reasoning = reasoning_options(options, purpose.kind);
    let mut problems = Vec::new();
    let extra = extra_fields(&options.extra_body, &mut problems);
    let description = describe_request(&model, purpose.name, reasoning.effort.as_deref(), reasoning.summary.as_deref());
    // Other servers don't know these fields, and strict ones refuse them.
    let has_cache = endpoint.is_vercel && options.automatic_caching;
    // What the model has answered and everything before it is repeated, unless the conversation is summarized.
    let stable = items.iter().rposition(InputItem::is_answer).map(|last| last + 1);
    let body = CreateResponse {
        model,
        instructions,
        input: items,
        tool_choice: tool_choice(chat, purpose.kind == RequestKind::Summary, &mut tool_names),
        tools,
        stream: true,
        store: false,
        include: &["reasoning.encrypted_content"],
        max_output_tokens: max_output_tokens.map(|tokens| tokens.max(MIN_OUTPUT_TOKENS)),
        temperature: options.temperature.or_else(|| number("temperature")),
        top_p: options.top_p.or_else(|| number("top_p")),
        reasoning: (reasoning.effort.is_some() || reasoning.summary.is_some()).then_some(reasoning),
        prompt_cache_key: conversation_id.as_ref().map(|id| id.chars().take(MAX_CACHE_KEY).collect()),
        caching: has_cache.then_some("auto"),
        cache_anchor_items: stable.filter(|_| has_cache),
        cache_ttl: options.has_long_cache(&endpoint.origin).then_some("1h"),
        provider_options: if endpoint.is_vercel { provider_options(chat) } else { ProviderOptions::default() },
        extra,
    };

    let mut headers = vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("accept".to_owned(), "text/event-stream".to_owned()),
    ];
    if let Some(id) = conversation_id.as_deref().filter(|id| endpoint.is_vercel && is_header_value(id)) {
        headers.push(("x-session-affinity".to_owned(), id.to_owned()));
    }
    headers.extend(extra_headers(&options.extra_headers, &mut problems));
    notes.extend(problems.into_iter().map(|problem| Note::for_people(NoteKind::Setting, vec![problem.message])));
    let url = format!("{}/responses", endpoint.base_url);
    let optional = Parameter::in_body(&body);
    let body = serde_json::to_string(&body).unwrap_or_default();
    let request = HttpRequest { method: "POST".to_owned(), url, headers, body };
    let marker = conversation_id.as_deref().and_then(|id| marker(&chat.model, id));
    BuiltRequest { request, tool_names, conversation_id, marker, kind: purpose.kind, description, optional, notes }
}
