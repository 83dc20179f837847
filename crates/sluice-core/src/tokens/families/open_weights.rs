//! The rows that other rows of the table are variants of, for models whose weights and templates are published.

use super::bases::{COMPARED, GROQ_TOOLS, OTHER, fitted, margin, template};
use crate::tokens::tokenizer::Figure::{Calls, Messages, Prompt, Text, Thinking as Thought, Tools};
use crate::tokens::tokenizer::Layout::{Compact, Indented, Spaced};
use crate::tokens::tokenizer::{Family, Thinking, ToolStyle};

pub(super) const LLAMA: Family = Family {
    name: "llama",
    ids: &[&["llama"]],
    text: 1000,
    long: 1010,
    request: 5,
    message: 5,
    system: 5,
    call: 8,
    result: 8,
    tools: ToolStyle::Json { layout: Spaced, scale: 1000, around: 128, forced: 132, each: 3 },
    error: (3, 25),
    sources: &[template(&[Messages], "Llama 3"), fitted(&[Text, Calls, Tools], 105, 14)],
    ..OTHER
};

/// Groq's prompt for models whose own template knows no tools. A call and its result were long in the only recording.
pub(super) static LLAMA_GROQ: Family = Family {
    call: 28,
    result: 28,
    tools: GROQ_TOOLS,
    error: (3, 10),
    sources: &[template(&[Messages], "Llama 3"), fitted(&[Text], 105, 14), fitted(&[Tools], 2, 2), margin(&[Calls])],
    ..LLAMA
};

/// Groq writes tools without line breaks, after a longer prompt.
pub(super) const LLAMA_3_GROQ: Family = Family {
    name: "llama-3.1",
    from: (3, 1),
    request: 30,
    system: 0,
    quotes_results: true,
    sources: &[template(&[Messages], "Llama 3.1"), fitted(&[Text, Calls, Tools], 87, 11)],
    ..LLAMA
};

/// Together follows the published template, which writes tools as indented JSON.
pub(super) static LLAMA_3_TOGETHER: Family = Family {
    tools: ToolStyle::Json { layout: Indented, scale: 1000, around: 55, forced: 55, each: 15 },
    sources: &[template(&[Messages, Tools], "Llama 3.1"), fitted(&[Text, Calls], 87, 11)],
    ..LLAMA_3_GROQ
};

/// Cerebras puts a long prompt before the tools. Hugging Face passes some of these models on to it.
pub(super) static LLAMA_3_CEREBRAS: Family = Family {
    tools: ToolStyle::Json { layout: Spaced, scale: 1000, around: 420, forced: 420, each: 3 },
    sources: &[template(&[Messages], "Llama 3.1"), fitted(&[Text, Calls], 87, 11), margin(&[Tools])],
    ..LLAMA_3_GROQ
};

/// Bedrock leaves out that each tool is a function.
pub(super) static LLAMA_3_BEDROCK: Family = Family {
    tools: ToolStyle::Json { layout: Indented, scale: 1000, around: 55, forced: 55, each: 1 },
    sources: &[template(&[Messages, Tools], "Llama 3.1"), fitted(&[Text, Calls], 87, 11)],
    ..LLAMA_3_GROQ
};

pub(super) const LLAMA_4: Family = Family {
    name: "llama-4",
    from: (4, 0),
    call: 23,
    result: 21,
    tools: ToolStyle::Json { layout: Spaced, scale: 1000, around: 650, forced: 656, each: 0 },
    error: (3, 20),
    sources: &[template(&[Messages], "Llama 4"), fitted(&[Text, Calls, Tools], 49, 4)],
    ..LLAMA
};

/// Together, to which `OpenRouter` passes them on, puts a shorter prompt before the tools.
pub(super) static LLAMA_4_TOGETHER: Family = Family {
    tools: ToolStyle::Json { layout: Spaced, scale: 1000, around: 540, forced: 540, each: 0 },
    sources: &[template(&[Messages], "Llama 4"), fitted(&[Text, Calls, Tools], 7, 2)],
    ..LLAMA_4
};

/// Bedrock writes tools and calls as for Llama 3, with the date.
pub(super) static LLAMA_4_BEDROCK: Family = Family {
    call: LLAMA.call,
    result: LLAMA.result,
    tools: ToolStyle::Json { layout: Indented, scale: 1000, around: 87, forced: 87, each: 1 },
    sources: &[template(&[Messages, Tools], "Llama 3.1"), fitted(&[Text, Calls], 49, 4)],
    ..LLAMA_4
};

pub(super) const DEEPSEEK: Family = Family {
    name: "deepseek",
    ids: &[&["deepseek"], &["mai-ds"]],
    text: 1025,
    long: 1027,
    short_word: -160,
    capital: 80,
    line: 310,
    request: 3,
    message: 1,
    system: 0,
    assistant: 2,
    call: 6,
    result: 5,
    tools: ToolStyle::Json { layout: Spaced, scale: 990, around: 98, forced: 98, each: 0 },
    reasoning: Thinking::All,
    error: (6, 12),
    sources: &[COMPARED, fitted(&[Messages, Calls, Tools], 145, 7)],
    ..OTHER
};

pub(super) const DEEPSEEK_V4: Family = Family {
    name: "deepseek-v4",
    from: (4, 0),
    thinking: 79,
    call: 23,
    result: 20,
    tools: ToolStyle::Json { layout: Spaced, scale: 1025, around: 223, forced: 231, each: 0 },
    sources: &[COMPARED, fitted(&[Messages, Calls, Tools, Thought], 80, 6)],
    ..DEEPSEEK
};

/// It was the first to call tools in the way of V4, with a slightly longer prompt.
pub(super) const DEEPSEEK_V3_2: Family = Family {
    name: "deepseek-v3.2",
    from: (3, 2),
    thinking: 0,
    call: 45,
    result: 5,
    tools: ToolStyle::Json { layout: Spaced, scale: 1040, around: 240, forced: 240, each: 0 },
    sources: &[COMPARED, fitted(&[Messages], 145, 7), template(&[Calls, Tools], "DeepSeek V3.2")],
    ..DEEPSEEK_V4
};

/// Servers on which these models think by default, so that every request contains the prompt for thinking: DeepSeek's own server,
/// if it is used through this API, and Together.
pub(super) static DEEPSEEK_V4_THINKING: Family =
    Family { request: DEEPSEEK_V4.request + DEEPSEEK_V4.thinking, thinking: 0, ..DEEPSEEK_V4 };

/// Its template shows each tool as JSON with its kind.
pub(super) const QWEN: Family = Family {
    name: "qwen-3",
    ids: &[&["qwen"], &["qwq"]],
    splits_digits: true,
    text: 1000,
    long: 1010,
    request: 3,
    message: 5,
    system: 5,
    call: 18,
    result: 10,
    tools: ToolStyle::Json { layout: Spaced, scale: 1000, around: 84, forced: 88, each: 10 },
    error: (3, 12),
    sources: &[template(&[Messages, Tools], "Qwen 3"), fitted(&[Text, Calls, Tools], 145, 4)],
    ..OTHER
};

pub(super) const QWEN_3_5: Family = Family {
    name: "qwen-3.5",
    from: (3, 5),
    request: 5,
    call: 21,
    result: 12,
    tools: ToolStyle::Json { layout: Spaced, scale: 1000, around: 208, forced: 208, each: 10 },
    sources: &[template(&[Messages], "Qwen 3.5"), fitted(&[Text, Calls, Tools], 45, 2)],
    ..QWEN
};

pub(super) const MISTRAL: Family = Family {
    name: "mistral",
    ids: &[
        &["mistral"],
        &["mixtral"],
        &["ministral"],
        &["magistral"],
        &["devstral"],
        &["codestral"],
        &["pixtral"],
        &["voxtral"],
    ],
    splits_digits: true,
    text: 1005,
    long: 1010,
    capital: 130,
    line: 215,
    request: 1,
    message: 2,
    system: 2,
    call: 4,
    result: 4,
    tools: ToolStyle::Json { layout: Spaced, scale: 1020, around: 4, forced: 4, each: 10 },
    error: (7, 8),
    sources: &[template(&[Messages, Tools], "Mistral"), COMPARED, fitted(&[Calls, Tools], 252, 13)],
    ..OTHER
};

pub(super) const GLM: Family = Family {
    name: "glm",
    ids: &[&["glm"]],
    text: 1000,
    long: 1010,
    request: 3,
    message: 2,
    system: 2,
    call: 9,
    result: 8,
    tools: ToolStyle::Json { layout: Spaced, scale: 1000, around: 98, forced: 98, each: 3 },
    error: (4, 5),
    sources: &[template(&[Messages], "GLM 4.5"), fitted(&[Text, Calls, Tools], 158, 5)],
    ..OTHER
};

/// Without instructions, the published template adds a sentence about who the model is. It writes tools without spaces, but
/// some servers have an earlier version that writes spaces; the factor is between the two.
pub(super) const KIMI: Family = Family {
    name: "kimi",
    ids: &[&["kimi"]],
    text: 1000,
    long: 1010,
    request: 3,
    message: 4,
    system: 4,
    default_prompt: 18,
    call: 17,
    result: 11,
    tools: ToolStyle::Json { layout: Compact, scale: 1090, around: 12, forced: 12, each: 12 },
    error: (5, 20),
    sources: &[template(&[Messages, Prompt], "Kimi K2"), fitted(&[Text, Calls, Tools], 84, 4)],
    ..OTHER
};

/// Groq writes tools with spaces, as the first version of the template did.
pub(super) static KIMI_GROQ: Family = Family {
    tools: ToolStyle::Json { layout: Spaced, scale: 1000, around: 8, forced: 14, each: 9 },
    error: (5, 10),
    sources: &[template(&[Messages, Prompt], "Kimi K2"), fitted(&[Text, Calls, Tools], 26, 3)],
    ..KIMI
};

/// `OpenRouter` passes them on to servers with either version of the template. The sentence about who the model is has 18
/// tokens in the present one and 9 in the first; this is between the two.
pub(super) static KIMI_OPENROUTER: Family = Family { default_prompt: 14, ..KIMI };

/// Its template shows tools as JSON between tags, and adds a sentence about who the model is if there are no instructions.
pub(super) const MINIMAX: Family = Family {
    name: "minimax",
    ids: &[&["minimax"]],
    text: 1000,
    long: 1010,
    request: 10,
    message: 3,
    system: 3,
    default_prompt: 28,
    tools: ToolStyle::Json { layout: Spaced, scale: 1000, around: 100, forced: 100, each: 5 },
    error: (10, 30),
    sources: &[template(&[Messages, Prompt, Tools], "MiniMax M2"), fitted(&[Text, Calls], 29, 3)],
    ..OTHER
};
