//! The table of model families: how each one counts, and where every figure comes from.
//!
//! Rows are data. To change a figure, change it here together with its source, and run `cargo xtask tokens DIR` on
//! recorded requests: it prints the errors of every family beside those of simple rules, also with the requests of one
//! repository left out at a time.
//!
//! A row is chosen by the model's id: the first row whose fragments all occur in the id, and whose version isn't above
//! the id's version. OpenAI's ids follow no such pattern; `tokens/tokenizer.rs` maps them to rows by name.

mod bases;

use super::tokenizer::{Encoding, Family, Source, ToolStyle};
use bases::{
    CLAUDE, CLAUDE_5, COHERE, DEEPSEEK, GEMINI, GPT_4O, GPT_5, GROK, LLAMA, O_SERIES, OTHER, QWEN, STUDIO_2_5,
    STUDIO_3, documented, fitted,
};

/// The date of the figures below.
pub(super) const AS_OF: &str = "2026-11-17";

/// The row for all models that no other row is for. It is also the last of the table.
pub(super) static FALLBACK: Family = OTHER;

/// The order matters: the first row that matches is used. A newer version comes before an older one.
pub(super) static FAMILIES: &[Family] = &[
    Family {
        name: "claude-opus-5",
        ids: &[&["claude", "opus"]],
        tools: ToolStyle::Json { spaced: true, scale: 1340, around: 286, forced: 406, each: 9 },
        ..CLAUDE_5
    },
    CLAUDE_5,
    Family {
        name: "claude-4.8",
        from: (4, 8),
        tools: ToolStyle::Json { spaced: true, scale: 1340, around: 290, forced: 410, each: 9 },
        ..CLAUDE_5
    },
    Family {
        name: "claude-4.7",
        from: (4, 7),
        tools: ToolStyle::Json { spaced: true, scale: 1340, around: 675, forced: 804, each: 9 },
        ..CLAUDE_5
    },
    Family { name: "claude-4.6", from: (4, 6), thinking: 16, ..CLAUDE },
    CLAUDE,
    Family {
        name: "claude-4",
        from: (3, 7),
        tools: ToolStyle::Json { spaced: true, scale: 1086, around: 313, forced: 315, each: 2 },
        ..CLAUDE
    },
    Family {
        name: "claude-3.5-haiku",
        ids: &[&["claude", "haiku"]],
        from: (3, 5),
        tools: ToolStyle::Json { spaced: true, scale: 1086, around: 264, forced: 355, each: 2 },
        ..CLAUDE
    },
    Family {
        name: "claude-3.5",
        from: (3, 5),
        tools: ToolStyle::Json { spaced: true, scale: 1086, around: 294, forced: 261, each: 2 },
        ..CLAUDE
    },
    Family {
        name: "claude-3-opus",
        ids: &[&["claude", "opus"]],
        from: (0, 0),
        tools: ToolStyle::Json { spaced: true, scale: 1086, around: 530, forced: 281, each: 2 },
        ..CLAUDE
    },
    Family {
        name: "claude-3-haiku",
        ids: &[&["claude", "haiku"]],
        from: (0, 0),
        tools: ToolStyle::Json { spaced: true, scale: 1086, around: 264, forced: 340, each: 2 },
        ..CLAUDE
    },
    Family {
        name: "claude-3",
        from: (0, 0),
        tools: ToolStyle::Json { spaced: true, scale: 1086, around: 264, forced: 340, each: 2 },
        ..CLAUDE
    },
    Family { name: "gemini-3", from: (3, 0), studio: Some(&STUDIO_3), ..GEMINI },
    Family { name: "gemini-2.5", from: (2, 5), studio: Some(&STUDIO_2_5), ..GEMINI },
    GEMINI,
    Family {
        name: "gemma",
        ids: &[&["gemma"]],
        request: 6,
        message: 4,
        system: 2,
        call: 5,
        result: 5,
        tools: ToolStyle::Json { spaced: true, scale: 1050, around: 40, forced: 40, each: 5 },
        error: (5, 30),
        sources: &[
            documented("vocabulary", "Google"),
            fitted("text and messages", 22, 3),
            Source::Template { what: "messages", of: "Gemma 3" },
        ],
        ..GEMINI
    },
    // The length of the server's own prompt differs from model to model.
    Family {
        name: "grok-code",
        ids: &[&["grok", "code"]],
        request: 200,
        tools: ToolStyle::Json { spaced: true, scale: 1050, around: 105, forced: 105, each: 3 },
        sources: &[fitted("the server's prompt, tools", 22, 3)],
        ..GROK
    },
    Family {
        name: "grok-fast",
        ids: &[&["grok", "fast"]],
        request: 154,
        tools: ToolStyle::Json { spaced: true, scale: 1050, around: 132, forced: 132, each: 3 },
        sources: &[fitted("the server's prompt, tools", 48, 4)],
        ..GROK
    },
    Family {
        name: "grok-4.3",
        from: (4, 2),
        request: 189,
        tools: ToolStyle::Json { spaced: true, scale: 1050, around: 25, forced: 25, each: 3 },
        sources: &[fitted("the server's prompt, tools", 22, 2)],
        ..GROK
    },
    Family {
        name: "grok-4",
        from: (4, 0),
        request: 680,
        tools: ToolStyle::Json { spaced: true, scale: 1050, around: 120, forced: 120, each: 3 },
        sources: &[fitted("the server's prompt, tools", 16, 2)],
        ..GROK
    },
    GROK,
    Family {
        name: "deepseek-v4",
        from: (4, 0),
        thinking: 79,
        call: 23,
        result: 23,
        tools: ToolStyle::Json { spaced: true, scale: 1000, around: 218, forced: 226, each: 6 },
        sources: &[fitted("everything, and the prompt for thinking", 80, 6)],
        ..DEEPSEEK
    },
    DEEPSEEK,
    // These are told to call tools in XML, which takes a longer prompt.
    Family {
        name: "qwen-coder",
        ids: &[&["qwen", "coder"]],
        from: (3, 0),
        tools: ToolStyle::Json { spaced: true, scale: 1050, around: 214, forced: 214, each: 8 },
        sources: &[fitted("everything", 36, 4)],
        ..QWEN
    },
    Family {
        name: "qwen-3.5",
        from: (3, 5),
        tools: ToolStyle::Json { spaced: true, scale: 1050, around: 208, forced: 208, each: 8 },
        sources: &[fitted("everything", 45, 2)],
        ..QWEN
    },
    Family { name: "qwen-3", from: (3, 0), ..QWEN },
    Family {
        name: "qwen-2",
        default_prompt: 20,
        sources: &[
            Source::Template { what: "the prompt without instructions", of: "Qwen 2.5" },
            fitted("everything else", 172, 4),
        ],
        ..QWEN
    },
    Family {
        name: "llama-4",
        from: (4, 0),
        tools: ToolStyle::Json { spaced: true, scale: 1050, around: 640, forced: 640, each: 3 },
        error: (5, 20),
        sources: &[fitted("everything", 45, 4)],
        ..LLAMA
    },
    // The published template writes the date into every request.
    Family {
        name: "llama-3.1",
        from: (3, 1),
        request: 31,
        sources: &[
            Source::Template { what: "the header with the date", of: "Llama 3.1" },
            fitted("everything", 91, 11),
        ],
        ..LLAMA
    },
    LLAMA,
    Family {
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
        text: 1040,
        long: 1060,
        request: 1,
        message: 2,
        system: 2,
        call: 5,
        result: 5,
        tools: ToolStyle::Json { spaced: true, scale: 1080, around: 2, forced: 0, each: 12 },
        error: (8, 12),
        sources: &[fitted("everything", 252, 13)],
        ..OTHER
    },
    // Without instructions, the published template adds a sentence about who the model is.
    Family {
        name: "kimi",
        ids: &[&["kimi"]],
        text: 1000,
        long: 1020,
        request: 1,
        message: 5,
        system: 5,
        default_prompt: 19,
        call: 19,
        result: 12,
        tools: ToolStyle::Json { spaced: false, scale: 1020, around: 12, forced: 12, each: 10 },
        error: (10, 20),
        sources: &[
            Source::Template { what: "the prompt without instructions", of: "Kimi K2" },
            fitted("everything else", 84, 4),
        ],
        ..OTHER
    },
    Family {
        name: "glm",
        ids: &[&["glm"]],
        text: 1030,
        long: 1030,
        request: 4,
        message: 2,
        system: 2,
        call: 9,
        result: 8,
        tools: ToolStyle::Json { spaced: true, scale: 1015, around: 99, forced: 99, each: 2 },
        error: (7, 5),
        sources: &[fitted("everything", 158, 5)],
        ..OTHER
    },
    Family {
        name: "minimax",
        ids: &[&["minimax"]],
        text: 1000,
        long: 1020,
        request: 10,
        message: 3,
        system: 3,
        default_prompt: 28,
        tools: ToolStyle::Json { spaced: true, scale: 1000, around: 100, forced: 100, each: 5 },
        error: (15, 30),
        sources: &[fitted("the prompt without instructions, tools", 12, 2)],
        ..OTHER
    },
    Family {
        name: "nova-2",
        ids: &[&["nova-2"]],
        text: 1100,
        long: 1130,
        request: 44,
        message: 1,
        system: 1,
        call: 17,
        result: 17,
        tools: ToolStyle::Json { spaced: true, scale: 1150, around: 795, forced: 795, each: 5 },
        error: (15, 6),
        sources: &[fitted("everything", 34, 2)],
        ..OTHER
    },
    Family {
        name: "nova",
        ids: &[&["nova-"]],
        text: 1100,
        long: 1180,
        request: 0,
        message: 1,
        system: 1,
        call: 20,
        result: 20,
        tools: ToolStyle::Json { spaced: true, scale: 1050, around: 345, forced: 345, each: 5 },
        error: (15, 15),
        sources: &[fitted("everything", 22, 4)],
        ..OTHER
    },
    Family {
        name: "command-a-reasoning",
        ids: &[&["command-a", "reasoning"]],
        request: 1374,
        tools: ToolStyle::Json { spaced: true, scale: 1040, around: 25, forced: 25, each: 5 },
        sources: &[fitted("everything", 9, 2)],
        ..COHERE
    },
    COHERE,
    Family {
        name: "command-r-08",
        ids: &[&["command-r", "08-2024"]],
        request: 190,
        error: (20, 40),
        sources: &[fitted("the server's prompt", 4, 4)],
        ..COHERE
    },
    Family {
        name: "command",
        ids: &[&["command"]],
        request: 60,
        error: (20, 40),
        sources: &[fitted("the server's prompt", 16, 5)],
        ..COHERE
    },
    Family {
        name: "gpt-oss",
        ids: &[&["gpt-oss"]],
        request: 67,
        tools: ToolStyle::Namespace { around: 10, names_forced: false, sequential: 0 },
        error: (5, 8),
        sources: &[
            documented("vocabulary", "OpenAI"),
            Source::Template { what: "messages and tools", of: "harmony" },
            fitted("tools", 55, 6),
        ],
        ..GPT_5
    },
    GPT_4O,
    O_SERIES,
    GPT_5,
    // Since 5.4, calls have more overhead.
    Family { name: "gpt-5.4", call: 10, result: 10, ..GPT_5 },
    Family {
        name: "gpt-5.6",
        call: 10,
        result: 10,
        tools: ToolStyle::Namespace { around: 8, names_forced: false, sequential: 74 },
        reasoning_head: 700,
        ..GPT_5
    },
    Family { name: "gpt-4", encoding: Encoding::Cl100k, ..GPT_4O },
    OTHER,
];
