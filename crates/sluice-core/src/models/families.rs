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

/// Members of a family that sees images, which don't.
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
    words.iter().any(|word| {
        name.match_indices(word).any(|(at, _)| {
            let goes_on = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
            let before = name.get(..at).and_then(|text| text.chars().next_back());
            let after = name.get(at + word.len()..).and_then(|text| text.chars().next());
            // `gpt-5` isn't part of `gpt-50`, but `grok-4` is of `grok-4.1` and `llava` of `llava13b`.
            let ends_in_digit = word.ends_with(|c: char| c.is_ascii_digit());
            !(goes_on(before) || ends_in_digit && after.is_some_and(|c| c.is_ascii_digit()))
        })
    })
}
