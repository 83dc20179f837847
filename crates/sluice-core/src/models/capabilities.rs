//! Determines whether a model can chat, and what else it can do. Structured fields are preferred to tags; without either,
//! its family decides.

use super::families;
use crate::boundary::{EffortChoices, ModelCapabilities, ModelOverride};
use crate::wire::{Model, ReasoningOption};

const CHAT_KINDS: [&str; 9] =
    ["language", "chat", "llm", "vlm", "text", "multimodal", "text-generation", "chat-completion", "responses"];
const OTHER_KINDS: [&str; 26] = [
    "embedding",
    "embeddings",
    "image",
    "video",
    "reranking",
    "rerank",
    "realtime",
    "transcription",
    "speech",
    "audio",
    "tts",
    "stt",
    "moderation",
    "decision",
    "evaluation",
    "ocr",
    "classification",
    // LiteLLM's words.
    "audio-transcription",
    "audio-speech",
    "image-generation",
    "image-edit",
    "video-generation",
    "vector-store",
    "search",
    "fine-tuning",
    "batch",
];
/// Words in the ids of models that can't chat, each with the kind of model it indicates. They are used if the list has
/// no other information about the kind.
const OTHER_WORDS: [(&str, &str); 32] = [
    ("embed", "embedding"),
    ("embedding", "embedding"),
    ("embeddings", "embedding"),
    ("bge", "embedding"),
    ("gte", "embedding"),
    ("e5", "embedding"),
    ("voyage", "embedding"),
    ("rerank", "reranking"),
    ("reranker", "reranking"),
    ("whisper", "transcription"),
    ("transcribe", "transcription"),
    ("scribe", "transcription"),
    ("tts", "speech"),
    ("speech", "speech"),
    ("realtime", "realtime"),
    ("moderation", "moderation"),
    ("dall", "image"),
    ("imagen", "image"),
    ("flux", "image"),
    ("sdxl", "image"),
    ("diffusion", "image"),
    ("recraft", "image"),
    ("ideogram", "image"),
    ("seedream", "image"),
    ("image", "image"),
    ("sora", "video"),
    ("veo", "video"),
    ("kling", "video"),
    ("seedance", "video"),
    ("wan", "video"),
    ("video", "video"),
    ("ocr", "ocr"),
];
/// From least to most.
pub(crate) const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// Returns the kind of a model that can't chat.
pub(crate) fn other_kind(model: &Model, id: &str) -> Option<String> {
    if let Some(kind) = model.kind.as_deref() {
        if CHAT_KINDS.contains(&kind) {
            return None;
        }
        if OTHER_KINDS.contains(&kind) {
            return Some(kind.to_owned());
        }
    }
    // The type is unknown or missing, so the outputs decide.
    let says = |list: &[String], word: &str| list.iter().any(|said| said == word);
    if !model.outputs.is_empty() {
        return if says(&model.outputs, "text") { None } else { model.outputs.first().cloned() };
    }
    if says(&model.parameters, "tools") || says(&model.tags, "tool-use") {
        return None;
    }
    if says(&model.tags, "image-generation") {
        return Some("image".to_owned());
    }
    let id = id.to_ascii_lowercase();
    let name = id.rsplit('/').next().unwrap_or_default();
    let word = |word: &str| {
        OTHER_WORDS.iter().find(|(known, _)| word == *known || *known == "embed" && word.starts_with("embed"))
    };
    name.split(['-', '_', '.', ':', '@']).find_map(word).map(|(_, kind)| (*kind).to_owned())
}

/// Determines what a model can do: from what the list says, otherwise from what is known about its family. The user's
/// setting overrides both.
pub(crate) fn capabilities(model: &Model, id: &str, setting: Option<&ModelOverride>) -> ModelCapabilities {
    let tag = |names: &[&str]| model.tags.iter().any(|tag| names.contains(&tag.as_str()));
    let parameter = |names: &[&str]| model.parameters.iter().any(|known| names.contains(&known.as_str()));
    let input = |names: &[&str]| model.inputs.iter().any(|known| names.contains(&known.as_str()));
    let says_nothing = model.parameters.is_empty() && model.tags.is_empty() && model.tools.is_none();
    let knows_no_inputs = model.inputs.is_empty() && model.tags.is_empty();
    let is_vlm = model.kind.as_deref() == Some("vlm");
    let structured_or =
        |stated: &[String], by_field: bool, by_tag: bool| if stated.is_empty() { by_tag } else { by_field };
    ModelCapabilities {
        tool_calling: setting.and_then(|setting| setting.tool_calling).or(model.tools).unwrap_or_else(|| {
            let stated = structured_or(
                &model.parameters,
                parameter(&["tools", "tool_choice", "functions", "function_calling"]),
                tag(&["tool-use", "tools", "function-calling", "tool-calling", "tool-calls"]),
            );
            if says_nothing { !families::calls_no_tools(id) } else { stated }
        }),
        tool_calling_assumed: says_nothing && setting.is_none_or(|setting| setting.tool_calling.is_none()),
        image_input: setting.and_then(|setting| setting.image_input).or(model.vision).unwrap_or_else(|| {
            let stated = structured_or(
                &model.inputs,
                input(&["image", "images"]),
                tag(&["vision", "image-input", "multimodal", "image"]),
            );
            is_vlm || if knows_no_inputs { families::sees_images(id) } else { stated }
        }),
        file_input: structured_or(&model.inputs, input(&["file", "pdf", "document"]), tag(&["file-input"])),
        image_output: structured_or(
            &model.outputs,
            model.outputs.iter().any(|output| output == "image"),
            tag(&["image-generation"]),
        ),
        // A missing field doesn't mean that the model can't think: only some models have `reasoning_options`.
        thinking: !model.reasoning.is_empty()
            || model.reasoning_mandatory.is_some()
            || parameter(&["reasoning", "reasoning_effort", "include_reasoning", "thinking"])
            || tag(&["reasoning", "thinking"]),
        web_search: tag(&["web-search"]) || parameter(&["web_search", "web_search_options"]),
        structured_output: tag(&["structured-output"]) || parameter(&["structured_outputs", "response_format"]),
        prompt_caching: tag(&["implicit-caching", "explicit-caching"]) || model.pricing.cache_read.is_some(),
    }
}

/// Returns the efforts that the model is known to distinguish. The gateway translates them for the provider.
pub(crate) fn effort_choices(model: &Model, setting: Option<&str>) -> Option<EffortChoices> {
    let stated = model.reasoning.iter().find_map(|option| match option {
        ReasoningOption::Effort(values) if !values.is_empty() => Some(values.clone()),
        _ => None,
    });
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let takes_effort = model.parameters.iter().any(|name| name == "reasoning_effort" || name == "reasoning");
    let mut values = stated.or_else(|| {
        if model.reasoning.contains(&ReasoningOption::Budget) {
            Some(words(&["low", "medium", "high"]))
        } else if model.reasoning.contains(&ReasoningOption::Toggle) {
            Some(words(&["none", "medium"]))
        } else {
            takes_effort.then(|| words(&["low", "medium", "high"]))
        }
    })?;
    let can_stop = model.reasoning.contains(&ReasoningOption::Toggle) && model.reasoning_mandatory != Some(true);
    if can_stop && !values.iter().any(|value| value == "none") {
        values.push("none".to_owned());
    }
    if model.reasoning_mandatory == Some(true) {
        values.retain(|value| value != "none");
    }
    let mut seen = Vec::new();
    values.retain(|value| {
        !seen.contains(value) && {
            seen.push(value.clone());
            true
        }
    });
    // From least to most. Unknown words keep their order and come last.
    values.sort_by_key(|value| EFFORTS.iter().position(|known| known == value).unwrap_or(EFFORTS.len()));
    let default = values.iter().find(|value| Some(value.as_str()) == setting).cloned();
    (values.len() > 1).then_some(EffortChoices { values, default })
}
