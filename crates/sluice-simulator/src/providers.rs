//! Models that treat reasoning as real providers do: each shows as little of it as its provider, and refuses a
//! conversation in which its reasoning is missing, changed or from another model. The refusals have the providers' wording.
//!
//! All of them call a tool as often as the first number in the prompt says, and then answer.

use serde_json::Value;

use crate::ask::{Ask, Calling, text_of};
use crate::personalities::{arguments, number_in};
use crate::problem::Problem;
use crate::script::{Item, Script};
use crate::seal;
use crate::seed::fingerprint;

/// Returns the remark before every call, and how every answer begins. A model recognizes its own messages by them.
fn remark(ask: &Ask) -> String {
    format!("I will look at it first ({}).", mark(ask))
}

fn opening(ask: &Ask) -> String {
    format!("Here is what I found ({}): ", mark(ask))
}

/// Returns a mark by which this model at this server recognizes its own messages.
fn mark(ask: &Ask) -> String {
    format!("{:04x}", fingerprint(ask.key.as_bytes()) & 0xffff)
}

/// How many tools `OpenAI` accepts.
const MAX_TOOLS: usize = 128;

/// A provider whose rules a model follows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Provider {
    /// Summaries if they are asked for, encrypted reasoning, and messages with a `phase`.
    OpenAi,
    /// The same for an organization that must not ask for summaries.
    OpenAiUnverified,
    /// Signed thinking, behind a gateway.
    Anthropic,
    /// Plain reasoning, which every later request must repeat.
    DeepSeek,
    /// Plain reasoning, which must be repeated with the calls that followed from it.
    Kimi,
    /// Plain reasoning that needn't be repeated, and no field that `OpenAI` doesn't have.
    Vllm,
}

impl Provider {
    pub fn of(model: &str) -> Option<Self> {
        Some(match model {
            "sluice/openai-like" => Self::OpenAi,
            "sluice/openai-unverified" => Self::OpenAiUnverified,
            "sluice/anthropic-like" => Self::Anthropic,
            "sluice/deepseek-like" => Self::DeepSeek,
            "sluice/kimi-like" => Self::Kimi,
            "sluice/vllm-like" => Self::Vllm,
            _ => return None,
        })
    }

    fn has_phases(self) -> bool {
        matches!(self, Self::OpenAi | Self::OpenAiUnverified)
    }

    fn thinks(self, ask: &Ask) -> bool {
        match self {
            // Claude thinks only if the request mentions reasoning.
            Self::Anthropic => ask.effort().is_some(),
            _ => ask.may_think(),
        }
    }

    /// Refuses a request as the provider would.
    pub fn check(self, ask: &Ask) -> Result<(), Problem> {
        let tools = ask.body.get("tools").and_then(Value::as_array).map_or(0, Vec::len);
        match self {
            Self::OpenAi | Self::OpenAiUnverified if tools > MAX_TOOLS => {
                let message = format!(
                    "Invalid 'tools': array too long. Expected an array with maximum length {MAX_TOOLS}, but got an array \
                    with length {tools} instead."
                );
                return Err(Problem::invalid("tools", message).code("array_above_max_length"));
            }
            Self::OpenAiUnverified if ask.wants_summary() => {
                let message = "Your organization must be verified to generate reasoning summaries. Please go to: \
                    https://platform.openai.com/settings/organization/general and click on Verify Organization. If you \
                    just verified, it can take up to 15 minutes for access to propagate.";
                return Err(Problem::invalid("reasoning.summary", message).code("unsupported_value"));
            }
            Self::Vllm => check_fields(ask)?,
            _ => {}
        }
        for (number, run) in runs(&ask.items).enumerate() {
            for (at, item) in run.iter().enumerate().filter(|(_, item)| item["type"] == "reasoning") {
                self.check_reasoning(ask, number, item, at + 1 == run.len())?;
            }
            let has_reasoning = run.iter().any(|item| item["type"] == "reasoning");
            if !has_reasoning && self.thinks(ask) {
                self.check_missing(ask, number, run)?;
            }
        }
        Ok(())
    }

    /// Refuses reasoning that this model didn't produce.
    fn check_reasoning(self, ask: &Ask, number: usize, item: &Value, is_last: bool) -> Result<(), Problem> {
        let id = item["id"].as_str().unwrap_or_default();
        let texts = |key: &str| -> Vec<String> {
            let parts = item[key].as_array().into_iter().flatten();
            parts.filter_map(|part| part["text"].as_str().map(str::to_owned)).collect()
        };
        let sealed = item["encrypted_content"].as_str();
        match self {
            Self::OpenAi | Self::OpenAiUnverified => {
                let Some(sealed) = sealed else {
                    let message = format!(
                        "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again \
                        with `store` set to true, or remove this item from your input."
                    );
                    return Err(Problem { status: 404, ..Problem::invalid("input", message) });
                };
                if seal::open(&ask.key, sealed).is_none() {
                    let message = format!(
                        "The encrypted content for item {id} could not be verified. Reason: Encrypted content could not \
                        be decrypted or parsed."
                    );
                    return Err(Problem::invalid("", message).code("invalid_encrypted_content"));
                }
                if is_last {
                    let message =
                        format!("Item '{id}' of type 'reasoning' was provided without its required following item.");
                    return Err(Problem::invalid("input", message));
                }
                Ok(())
            }
            Self::Anthropic => {
                let summary = texts("summary");
                let mut signatures = sealed.into_iter().chain(item["signature"].as_str()).peekable();
                let is_signed = signatures.peek().is_some();
                if !is_signed || !signatures.all(|sealed| seal::belongs_to(&ask.key, sealed, &summary)) {
                    let message = format!("messages.{number}.content.0: Invalid `signature` in `thinking` block");
                    return Err(Problem::invalid("", message));
                }
                Ok(())
            }
            Self::Vllm if sealed.is_some() => Err(Problem::invalid("", "Encrypted content is not supported.")),
            Self::DeepSeek | Self::Kimi | Self::Vllm => {
                if seal::is_own_id(id, &ask.key, &texts("content").concat()) {
                    return Ok(());
                }
                Err(Problem::invalid("input", format!("The reasoning of item '{id}' could not be verified.")))
            }
        }
    }

    /// Refuses a part of an answer whose reasoning is missing.
    fn check_missing(self, ask: &Ask, number: usize, run: &[Value]) -> Result<(), Problem> {
        let call_id = |item: &Value| item["call_id"].as_str().unwrap_or_default().to_owned();
        let own_call = run
            .iter()
            .find(|item| item["type"] == "function_call" && seal::is_own_id(&call_id(item), &ask.key, seal::THOUGHT));
        let own_text = run.iter().any(|item| is_own_text(ask, &text_of(&item["content"])));
        let message = match (self, own_call) {
            (Self::OpenAi | Self::OpenAiUnverified, Some(call)) => {
                let id = call_id(call).replace("call_", "");
                format!(
                    "Item 'fc_{id}' of type 'function_call' was provided without its required 'reasoning' item: \
                    'rs_{id}'."
                )
            }
            (Self::Anthropic, Some(_)) => format!(
                "messages.{number}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. \
                When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the \
                lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from \
                previous turns. To avoid this requirement, disable `thinking`."
            ),
            (Self::Kimi, Some(_)) => {
                format!(
                    "thinking is enabled but reasoning_content is missing in assistant tool call message at index {number}"
                )
            }
            (Self::DeepSeek, call) if call.is_some() || own_text => {
                "The `reasoning_content` in the thinking mode must be passed back to the API.".to_owned()
            }
            _ => return Ok(()),
        };
        let param = if self.has_phases() { "input" } else { "" };
        Err(Problem::invalid(param, message))
    }

    pub fn script(self, ask: &Ask) -> Script {
        let prompt = ask.prompt();
        let (tools, calling) = ask.tools();
        let results = ask.results();
        let rounds = number_in(&prompt).unwrap_or(1);
        let mut items = Vec::new();
        let think = |items: &mut Vec<Item>, about: &str| {
            if self.thinks(ask) {
                items.push(self.thought(ask, about));
            }
        };
        if self.has_phases() && has_lost_phase(ask) {
            items
                .push(Item::phased("final_answer", "I stopped early: one of my messages came back without its phase."));
            return Script::at_once(items);
        }
        let is_calling = calling != Calling::Never && results.len() < rounds;
        let tool = tools.iter().find(|tool| prompt.contains(&tool.name)).or(tools.first());
        if let Some(tool) = tool.filter(|_| is_calling) {
            think(&mut items, &format!("Call {} of {rounds}.", results.len() + 1));
            if self.has_phases() {
                items.push(Item::phased("commentary", remark(ask)));
            }
            if prompt.contains("think twice") {
                think(&mut items, "It is the right tool.");
            }
            let calls = if prompt.contains("in parallel") { 2 } else { 1 };
            for nth in 0..calls {
                let arguments = arguments::fill(&tool.parameters, &prompt, results.len() + nth).to_string();
                items.push(Item::Call { name: tool.name.clone(), arguments });
            }
            return Script::at_once(items);
        }
        think(&mut items, &format!("There are {} results.", results.len()));
        let said: Vec<String> = results.into_iter().map(|result| result.text).collect();
        let answer = format!("{}{}", opening(ask), if said.is_empty() { prompt } else { said.join(", ") });
        if self.has_phases() {
            items.push(Item::phased("commentary", remark(ask)));
            items.push(Item::phased("final_answer", answer));
        } else {
            items.push(Item::text(answer));
        }
        Script::at_once(items)
    }

    fn thought(self, ask: &Ask, about: &str) -> Item {
        let is_plain = matches!(self, Self::DeepSeek | Self::Kimi | Self::Vllm);
        let mut summary =
            vec![format!("**Reading the request**\n\n{about}"), "**Going on**\n\nThat is all.".to_owned()];
        summary.retain(|_| !is_plain && ask.wants_summary());
        Item::Reasoning { raw: is_plain.then(|| about.to_owned()), summary, sealed: !is_plain }
    }
}

/// Returns the parts of a conversation that the model produced without a pause.
fn runs(items: &[Value]) -> impl Iterator<Item = &[Value]> {
    let is_models =
        |item: &Value| item["role"] == "assistant" || item["type"] == "function_call" || item["type"] == "reasoning";
    items.split(move |item| !is_models(item)).filter(|run| !run.is_empty())
}

fn is_own_text(ask: &Ask, text: &str) -> bool {
    text.starts_with(&remark(ask)) || text.starts_with(&opening(ask))
}

/// Returns whether one of the model's own messages came back without its phase, or glued to another.
fn has_lost_phase(ask: &Ask) -> bool {
    let remark = remark(ask);
    ask.items.iter().filter(|item| item["role"] == "assistant").any(|item| {
        let text = text_of(&item["content"]);
        let expected = if text == remark { "commentary" } else { "final_answer" };
        is_own_text(ask, &text) && (item["phase"] != expected || (text != remark && text.starts_with(&remark)))
    })
}

/// Refuses fields that vLLM doesn't know.
fn check_fields(ask: &Ask) -> Result<(), Problem> {
    const KNOWN: [&str; 22] = [
        "background",
        "include",
        "input",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "model",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt_cache_key",
        "reasoning",
        "service_tier",
        "store",
        "stream",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
    ];
    let unknown: Vec<String> =
        ask.body.keys().filter(|name| !KNOWN.contains(&name.as_str())).map(|name| format!("'{name}'")).collect();
    if !unknown.is_empty() {
        let message = format!("Unexpected fields in the request: {{{}}}", unknown.join(", "));
        return Err(Problem::invalid("", message));
    }
    match ask.items.iter().position(|item| !item["phase"].is_null() || !item["signature"].is_null()) {
        Some(at) => Err(Problem::invalid(&format!("input[{at}]"), "Extra inputs are not permitted")),
        None => Ok(()),
    }
}
