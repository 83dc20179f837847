//! The rows that other rows of the table are variants of.

use crate::tokens::tokenizer::Figure::{Calls, Messages, Prompt, Text, Thinking as Thought, Tools, Vocabulary};
use crate::tokens::tokenizer::Layout::{Compact, Indented, Spaced};
use crate::tokens::tokenizer::{Encoding, Family, Figure, SchemaCost, Source, Thinking, ToolStyle};

pub(super) const fn fitted(of: &'static [Figure], pairs: u32, repositories: u32) -> Source {
    Source::Fitted { of, pairs, repositories }
}

pub(super) const fn documented(of: &'static [Figure], by: &'static str) -> Source {
    Source::Documented { of, by }
}

pub(super) const fn template(of: &'static [Figure], model: &'static str) -> Source {
    Source::Template { of, model }
}

pub(super) const fn margin(of: &'static [Figure]) -> Source {
    Source::Margin { of }
}

/// The files are described in `data/README.md`.
pub(super) const COMPARED: Source = Source::Compared { of: &[Text], files: 976 };

pub(super) const GPT_4O: Family = Family {
    name: "gpt-4o",
    ids: &[],
    from: (0, 0),
    encoding: Encoding::O200k,
    is_own: true,
    splits_digits: false,
    text: 1000,
    long: 1000,
    short_word: 0,
    capital: 0,
    line: 0,
    request: 3,
    message: 4,
    system: 4,
    assistant: 0,
    default_prompt: 0,
    thinking: 0,
    call: 6,
    result: 5,
    repeats_name: true,
    lone_call: 3,
    tools: ToolStyle::Namespace { around: -2, names_forced: true, sequential: 0 },
    reasoning: Thinking::SinceLastQuestion,
    reasoning_overhead: 2,
    reasoning_head: 924,
    reasoning_tenths: 60,
    unseen_thought: 0,
    servers: &[],
    error: (1, 3),
    sources: &[documented(&[Vocabulary], "OpenAI"), fitted(&[Messages, Calls, Tools], 315, 16)],
};

pub(super) const O_SERIES: Family = Family {
    name: "o-series",
    request: 2,
    assistant: 2,
    call: 9,
    result: 8,
    lone_call: 0,
    tools: ToolStyle::Namespace { around: 0, names_forced: true, sequential: 0 },
    sources: &[documented(&[Vocabulary], "OpenAI"), fitted(&[Messages, Calls, Tools], 77, 6)],
    ..GPT_4O
};

pub(super) const GPT_5: Family = Family {
    name: "gpt-5",
    tools: ToolStyle::Namespace { around: 3, names_forced: false, sequential: 74 },
    sources: &[documented(&[Vocabulary], "OpenAI"), fitted(&[Messages, Calls, Tools], 165, 12)],
    ..O_SERIES
};

/// The defaults for models that are not OpenAI's.
pub(super) const OTHER: Family = Family {
    name: "other",
    is_own: false,
    text: 1050,
    long: 1100,
    request: 3,
    message: 4,
    system: 4,
    call: 15,
    result: 15,
    repeats_name: false,
    lone_call: 0,
    tools: ToolStyle::Json { layout: Spaced, scale: 1050, around: 100, forced: 100, each: 8 },
    reasoning_overhead: 0,
    reasoning_head: 0,
    reasoning_tenths: 63,
    error: (15, 25),
    sources: &[fitted(&[Text, Messages, Calls, Tools], 1400, 25)],
    ..GPT_4O
};

pub(super) const CLAUDE: Family = Family {
    name: "claude-4.5",
    ids: &[&["claude"]],
    from: (4, 5),
    text: 1190,
    long: 1205,
    short_word: -300,
    capital: 90,
    request: 4,
    message: 3,
    system: 0,
    thinking: 28,
    call: 34,
    result: 34,
    tools: ToolStyle::Json { layout: Spaced, scale: 1086, around: 496, forced: 588, each: 2 },
    error: (8, 6),
    sources: &[documented(&[Tools], "Anthropic"), fitted(&[Text, Messages, Calls, Tools, Thought], 962, 21)],
    ..OTHER
};

/// The newer vocabulary. There are few recordings of it, and none of long prose. Anthropic documents about a third more
/// tokens than before.
pub(super) const CLAUDE_5: Family = Family {
    name: "claude-5",
    from: (5, 0),
    text: 1450,
    long: 1550,
    short_word: -330,
    capital: 100,
    request: 4,
    message: 4,
    system: 2,
    thinking: 0,
    call: 34,
    result: 34,
    tools: ToolStyle::Json { layout: Spaced, scale: 1340, around: 354, forced: 474, each: 9 },
    error: (15, 8),
    sources: &[documented(&[Text, Tools], "Anthropic"), fitted(&[Text, Messages, Calls, Tools], 48, 4)],
    ..CLAUDE
};

/// Counted as the gateway and Vertex do it: of tools and calls, only the words, and a token for each type.
pub(super) const GEMINI: Family = Family {
    name: "gemini",
    ids: &[&["gemini"]],
    encoding: Encoding::Gemma,
    is_own: true,
    text: 1000,
    long: 1000,
    request: 0,
    message: 0,
    system: 0,
    call: 0,
    result: 1,
    repeats_name: true,
    tools: ToolStyle::Words(SchemaCost {
        tool: 0,
        described: 0,
        typed: 1,
        property: 0,
        explained: 0,
        value: 0,
        nested: 0,
    }),
    error: (1, 15),
    sources: &[documented(&[Vocabulary], "Google"), fitted(&[Messages, Calls, Tools], 228, 10)],
    ..OTHER
};

/// Google's AI Studio counts every part of a tool, and a token for each message.
pub(super) static STUDIO_2_5: Family = Family {
    name: "gemini-2.5",
    message: 1,
    call: 13,
    result: 2,
    tools: ToolStyle::Words(SchemaCost {
        tool: 18,
        described: 0,
        typed: 0,
        property: 9,
        explained: 0,
        value: 3,
        nested: 40,
    }),
    error: (1, 10),
    sources: &[documented(&[Vocabulary], "Google"), fitted(&[Messages, Calls, Tools], 236, 16)],
    ..GEMINI
};

pub(super) static STUDIO_3: Family = Family {
    name: "gemini-3",
    message: 1,
    call: 13,
    result: 2,
    tools: ToolStyle::Words(SchemaCost {
        tool: 13,
        described: 5,
        typed: 0,
        property: 13,
        explained: 5,
        value: 3,
        nested: 25,
    }),
    sources: &[
        documented(&[Vocabulary], "Google"),
        fitted(&[Messages, Tools], 66, 9),
        // There are no recordings of this one with calls; they are assumed to be as in 2.5.
        fitted(&[Calls], 10, 5),
    ],
    ..GEMINI
};

pub(super) const GROK: Family = Family {
    name: "grok",
    ids: &[&["grok"]],
    text: 1000,
    long: 1020,
    request: 3,
    message: 3,
    system: 4,
    call: 17,
    result: 17,
    tools: ToolStyle::Json { layout: Compact, scale: 1000, around: 215, forced: 95, each: 0 },
    reasoning: Thinking::All,
    error: (10, 15),
    sources: &[fitted(&[Text, Messages, Calls, Tools, Prompt], 75, 3)],
    ..OTHER
};

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

/// Groq writes tools without line breaks, after a longer prompt.
pub(super) const LLAMA_3_GROQ: Family = Family {
    name: "llama-3.1",
    from: (3, 1),
    request: 30,
    system: 0,
    sources: &[template(&[Messages], "Llama 3.1"), fitted(&[Text, Calls, Tools], 87, 11)],
    ..LLAMA
};

/// Together follows the published template, which writes tools as indented JSON.
pub(super) static LLAMA_3_TOGETHER: Family = Family {
    tools: ToolStyle::Json { layout: Indented, scale: 1000, around: 55, forced: 55, each: 15 },
    sources: &[template(&[Messages, Tools], "Llama 3.1"), fitted(&[Text, Calls], 87, 11)],
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

pub(super) const COHERE: Family = Family {
    name: "command-a",
    ids: &[&["command-a"], &["r7b"]],
    text: 1050,
    long: 1050,
    request: 484,
    message: 11,
    system: 35,
    call: 36,
    result: 36,
    tools: ToolStyle::Json { layout: Spaced, scale: 1040, around: 870, forced: 895, each: 15 },
    error: (5, 5),
    sources: &[fitted(&[Text, Messages, Calls, Tools, Prompt], 51, 4)],
    ..OTHER
};

pub(super) const GROK_FAST: Family = Family {
    name: "grok-fast",
    ids: &[&["grok", "fast"]],
    request: 153,
    system: 0,
    tools: ToolStyle::Json { layout: Compact, scale: 1000, around: 152, forced: 152, each: 0 },
    unseen_thought: 320,
    sources: &[fitted(&[Text, Messages, Calls, Tools, Prompt], 74, 4)],
    ..GROK
};

/// Azure adds nothing to the request. Only variants that don't think have been recorded there.
pub(super) static GROK_FAST_AZURE: Family =
    Family { request: 0, message: 0, unseen_thought: 0, sources: &[fitted(&[Text, Calls, Tools], 74, 4)], ..GROK_FAST };

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

/// Servers on which these models think by default, so that every request contains the prompt for thinking: DeepSeek's own server,
/// if it is used through this API, and Together.
pub(super) static DEEPSEEK_V4_THINKING: Family =
    Family { request: DEEPSEEK_V4.request + DEEPSEEK_V4.thinking, thinking: 0, ..DEEPSEEK_V4 };

/// Without instructions, the published template adds a sentence about who the model is.
pub(super) const KIMI: Family = Family {
    name: "kimi",
    ids: &[&["kimi"]],
    text: 1000,
    long: 1010,
    request: 3,
    message: 4,
    system: 4,
    default_prompt: 18,
    call: 19,
    result: 12,
    tools: ToolStyle::Json { layout: Compact, scale: 1000, around: 12, forced: 12, each: 15 },
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

/// `OpenRouter` passes them on to servers with either version of the template. The sentence about who the model is has 18
/// tokens in the present one and 9 in the first; this is between the two.
pub(super) static KIMI_OPENROUTER: Family = Family { default_prompt: 14, ..KIMI };
