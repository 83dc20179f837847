//! What well-known families of models can do, for servers whose list says nothing about it. An entry applies to every
//! model whose name has it at the beginning of a word.

const SEES_IMAGES: [&str; 45] = [
    "gpt-4o",
    "gpt-4.1",
    "gpt-4-turbo",
    "gpt-4.5",
    "gpt-5",
    "chatgpt-4o",
    "o1",
    "o3",
    "o4",
    "claude-3",
    "claude-4",
    "claude-opus",
    "claude-sonnet",
    "claude-haiku",
    "gemini",
    "gemma-3",
    "gemma3",
    "gemma-4",
    "gemma4",
    "grok-4",
    "llama-4",
    "llama4",
    "llava",
    "bakllava",
    "pixtral",
    "mistral-small3",
    "mistral-small-3",
    "mistral-medium-3",
    "ministral-3",
    "vl",
    "vision",
    "multimodal",
    "qwen2.5vl",
    "qwen2vl",
    "qwen3vl",
    "internvl",
    "minicpm-v",
    "molmo",
    "moondream",
    "glm-4v",
    "glm-4.5v",
    "glm-4.6v",
    "nova-lite",
    "nova-pro",
    "smolvlm",
];

const CALLS_NO_TOOLS: [&str; 15] = [
    "llama-2",
    "llama2",
    "tinyllama",
    "codellama",
    "gemma-2",
    "gemma2",
    "gemma-3",
    "gemma3",
    "llava",
    "bakllava",
    "moondream",
    "phi-2",
    "starcoder",
    "o1-mini",
    "o1-preview",
];

/// Models that can't see images although the rest of their family can.
const SEES_NO_IMAGES: [&str; 7] =
    ["o1-mini", "o1-preview", "o3-mini", "claude-3-5-haiku", "claude-3.5-haiku", "gemma-3-1b", "gemma3:1b"];

/// Returns whether models with this id are known to see images.
pub(super) fn sees_images(id: &str) -> bool {
    let name = name_of(id);
    has_any(&name, &SEES_IMAGES) && !has_any(&name, &SEES_NO_IMAGES)
}

/// Returns whether models with this id are known to call no tools.
pub(super) fn calls_no_tools(id: &str) -> bool {
    has_any(&name_of(id), &CALLS_NO_TOOLS)
}

fn name_of(id: &str) -> String {
    id.rsplit('/').next().unwrap_or_default().to_ascii_lowercase()
}

fn has_any(name: &str, words: &[&str]) -> bool {
    let starts_with = |rest: &str, word: &str| {
        // `gpt-5` isn't part of `gpt-50`, but `grok-4` is of `grok-4.1` and `llava` of `llava13b`.
        let ends_in_digit = word.ends_with(|c: char| c.is_ascii_digit());
        let after = rest.strip_prefix(word);
        after.is_some_and(|after| !(ends_in_digit && after.starts_with(|c: char| c.is_ascii_digit())))
    };
    let mut is_inside = false;
    name.char_indices().any(|(at, c)| {
        let is_start = !std::mem::replace(&mut is_inside, c.is_ascii_alphanumeric());
        let rest = name.get(at..).unwrap_or_default();
        is_start && words.iter().any(|word| starts_with(rest, word))
    })
}
