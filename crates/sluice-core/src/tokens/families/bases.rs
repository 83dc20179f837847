//! The rows that other rows of the table are variants of.

use crate::tokens::tokenizer::{Encoding, Family, Source, Thinking, ToolStyle};

pub(super) const fn fitted(what: &'static str, pairs: u32, repositories: u32) -> Source {
    Source::Fitted { what, pairs, repositories }
}

pub(super) const fn documented(what: &'static str, by: &'static str) -> Source {
    Source::Documented { what, by }
}

pub(super) const GPT_4O: Family = Family {
    name: "gpt-4o",
    ids: &[],
    from: (0, 0),
    encoding: Encoding::O200k,
    text: 1000,
    long: 1000,
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
    studio: None,
    error: (1, 3),
    sources: &[documented("vocabulary", "OpenAI"), fitted("overheads and tools", 290, 12)],
};

pub(super) const O_SERIES: Family = Family {
    name: "o-series",
    request: 2,
    assistant: 2,
    call: 9,
    result: 8,
    lone_call: 0,
    tools: ToolStyle::Namespace { around: 0, names_forced: true, sequential: 0 },
    sources: &[documented("vocabulary", "OpenAI"), fitted("overheads and tools", 60, 6)],
    ..GPT_4O
};

pub(super) const GPT_5: Family = Family {
    name: "gpt-5",
    tools: ToolStyle::Namespace { around: 3, names_forced: false, sequential: 74 },
    sources: &[
        documented("vocabulary", "OpenAI"),
        fitted("overheads and tools", 170, 11),
        fitted("one call at a time", 4, 3),
    ],
    ..O_SERIES
};

/// The defaults for models that are not OpenAI's.
pub(super) const OTHER: Family = Family {
    name: "other",
    text: 1100,
    long: 1150,
    request: 3,
    message: 4,
    system: 4,
    call: 15,
    result: 15,
    repeats_name: false,
    lone_call: 0,
    tools: ToolStyle::Json { spaced: true, scale: 1100, around: 100, forced: 100, each: 8 },
    reasoning_overhead: 0,
    reasoning_head: 0,
    reasoning_tenths: 63,
    error: (15, 25),
    sources: &[fitted("everything, as an average of the open families", 1400, 25)],
    ..GPT_4O
};

pub(super) const CLAUDE: Family = Family {
    name: "claude-4.5",
    ids: &[&["claude"]],
    from: (4, 5),
    text: 1152,
    long: 1190,
    request: 4,
    message: 3,
    system: 0,
    thinking: 28,
    call: 34,
    result: 34,
    tools: ToolStyle::Json { spaced: true, scale: 1086, around: 496, forced: 588, each: 2 },
    error: (8, 6),
    sources: &[
        documented("prompt for tools, by tool choice", "Anthropic"),
        fitted("text, messages, calls, tools, thinking", 962, 21),
    ],
    ..OTHER
};

/// The newer vocabulary. There are few recordings of it, and none of long prose.
pub(super) const CLAUDE_5: Family = Family {
    name: "claude-5",
    from: (5, 0),
    text: 1400,
    long: 1500,
    request: 4,
    message: 4,
    system: 2,
    thinking: 0,
    call: 34,
    result: 34,
    tools: ToolStyle::Json { spaced: true, scale: 1340, around: 354, forced: 474, each: 9 },
    error: (15, 8),
    sources: &[
        documented("prompt for tools, by tool choice; a third more tokens than before", "Anthropic"),
        fitted("messages, calls, tools", 48, 4),
    ],
    ..CLAUDE
};

/// Counted as the gateway and Vertex do it: of tools and calls, only the words.
pub(super) const GEMINI: Family = Family {
    name: "gemini",
    ids: &[&["gemini"]],
    encoding: Encoding::Gemma,
    text: 1000,
    long: 1000,
    request: 0,
    message: 0,
    system: 0,
    call: 0,
    result: 0,
    tools: ToolStyle::Words { each: 4 },
    error: (1, 15),
    sources: &[
        documented("vocabulary: the one of Gemma 3", "Google"),
        fitted("text and messages", 297, 19),
        fitted("tools: names and descriptions only", 120, 14),
    ],
    ..OTHER
};

/// Google's AI Studio counts the JSON of tools, and a token for each message.
pub(super) static STUDIO_2_5: Family = Family {
    name: "gemini-2.5",
    message: 1,
    call: 8,
    result: 8,
    tools: ToolStyle::Json { spaced: false, scale: 1000, around: 2, forced: 2, each: 2 },
    error: (1, 15),
    sources: &[fitted("messages", 133, 12), fitted("tools", 100, 11)],
    ..GEMINI
};

pub(super) static STUDIO_3: Family = Family {
    name: "gemini-3",
    tools: ToolStyle::Json { spaced: false, scale: 1120, around: 2, forced: 2, each: 2 },
    sources: &[fitted("messages", 36, 6), fitted("tools", 30, 6)],
    message: 1,
    call: 8,
    result: 8,
    ..GEMINI
};

pub(super) const GROK: Family = Family {
    name: "grok",
    ids: &[&["grok"]],
    text: 1030,
    long: 1050,
    request: 4,
    message: 3,
    system: 3,
    call: 17,
    result: 17,
    tools: ToolStyle::Json { spaced: true, scale: 1050, around: 185, forced: 185, each: 3 },
    reasoning: Thinking::All,
    error: (10, 15),
    sources: &[fitted("everything", 75, 3)],
    ..OTHER
};

pub(super) const LLAMA: Family = Family {
    name: "llama",
    ids: &[&["llama"]],
    text: 1020,
    long: 1030,
    request: 6,
    message: 4,
    system: 4,
    call: 8,
    result: 8,
    tools: ToolStyle::Json { spaced: true, scale: 1050, around: 130, forced: 130, each: 3 },
    error: (8, 25),
    sources: &[fitted("text and messages", 16, 7), fitted("tools", 29, 8)],
    ..OTHER
};

pub(super) const DEEPSEEK: Family = Family {
    name: "deepseek",
    ids: &[&["deepseek"]],
    text: 1030,
    long: 1060,
    request: 3,
    message: 1,
    system: 1,
    call: 5,
    result: 5,
    tools: ToolStyle::Json { spaced: true, scale: 1050, around: 90, forced: 90, each: 3 },
    reasoning: Thinking::All,
    error: (8, 12),
    sources: &[fitted("everything", 144, 7)],
    ..OTHER
};

pub(super) const QWEN: Family = Family {
    name: "qwen",
    ids: &[&["qwen"], &["qwq"]],
    text: 1030,
    long: 1050,
    request: 5,
    message: 4,
    system: 4,
    call: 13,
    result: 13,
    tools: ToolStyle::Json { spaced: true, scale: 1050, around: 86, forced: 86, each: 8 },
    error: (7, 10),
    sources: &[fitted("everything", 172, 4)],
    ..OTHER
};

pub(super) const COHERE: Family = Family {
    name: "command-a",
    ids: &[&["command-a"], &["r7b"]],
    text: 1050,
    long: 1050,
    request: 484,
    message: 11,
    system: 11,
    call: 36,
    result: 36,
    tools: ToolStyle::Json { spaced: true, scale: 1040, around: 870, forced: 895, each: 15 },
    error: (5, 5),
    sources: &[fitted("everything", 51, 4)],
    ..OTHER
};
