//! The table of model families: how each one counts, and where every figure comes from.
//!
//! Rows are data. To change a figure, change it here together with its source, and run `cargo xtask tokens DIR` on
//! recorded requests: it prints the errors of every family next to those of simple rules, also with the requests of one
//! repository left out at a time.
//!
//! A row is chosen by the model's id: the first row whose fragments all occur in the id, and whose version isn't above
//! the id's version. OpenAI's ids follow no such pattern; `tokens/tokenizer.rs` maps them to rows by name.

mod bases;
mod open_weights;

use super::server::Server;
use super::tokenizer::Figure::{Calls, Messages, Prompt, Text, Thinking, Tools, Vocabulary};
use super::tokenizer::Layout::{Compact, Indented, Spaced};
use super::tokenizer::{Encoding, Family, SchemaCost, ToolStyle};
use bases::{
    CLAUDE, CLAUDE_5, COHERE, COMPARED, GEMINI, GEMMA, GEMMA_GROQ, GPT_4O, GPT_5, GROK, GROK_FAST, GROK_FAST_AZURE,
    O_SERIES, OTHER, STUDIO_2_5, STUDIO_3, documented, fitted, margin, template,
};
use open_weights::{
    DEEPSEEK, DEEPSEEK_V3_2, DEEPSEEK_V4, DEEPSEEK_V4_THINKING, GLM, KIMI, KIMI_GROQ, KIMI_OPENROUTER, LLAMA,
    LLAMA_3_BEDROCK, LLAMA_3_CEREBRAS, LLAMA_3_GROQ, LLAMA_3_TOGETHER, LLAMA_4, LLAMA_4_BEDROCK, LLAMA_4_TOGETHER,
    LLAMA_GROQ, MINIMAX, MISTRAL, QWEN, QWEN_3_5,
};

/// The date of the figures below.
pub(super) const AS_OF: &str = "2026-11-18";

/// The row for all models without a row of their own. It is also the last of the table.
pub(super) static FALLBACK: Family = OTHER;

/// The order matters: the first row that matches is used. A newer version comes before an older one.
pub(super) static FAMILIES: &[Family] = &[
    Family {
        name: "claude-opus-5",
        ids: &[&["claude", "opus"]],
        tools: ToolStyle::Json { layout: Spaced, scale: 1340, around: 286, forced: 406, each: 9 },
        ..CLAUDE_5
    },
    CLAUDE_5,
    Family {
        name: "claude-4.8",
        from: (4, 8),
        tools: ToolStyle::Json { layout: Spaced, scale: 1340, around: 290, forced: 410, each: 9 },
        ..CLAUDE_5
    },
    Family {
        name: "claude-4.7",
        from: (4, 7),
        tools: ToolStyle::Json { layout: Spaced, scale: 1340, around: 675, forced: 804, each: 9 },
        ..CLAUDE_5
    },
    Family { name: "claude-4.6", from: (4, 6), thinking: 16, ..CLAUDE },
    CLAUDE,
    Family {
        name: "claude-4",
        from: (3, 7),
        tools: ToolStyle::Json { layout: Spaced, scale: 1086, around: 313, forced: 315, each: 2 },
        ..CLAUDE
    },
    Family {
        name: "claude-3.5-haiku",
        ids: &[&["claude", "haiku"]],
        from: (3, 5),
        tools: ToolStyle::Json { layout: Spaced, scale: 1086, around: 264, forced: 355, each: 2 },
        ..CLAUDE
    },
    // The id doesn't tell the versions of June and October apart; the figures are between those of the two.
    Family {
        name: "claude-3.5",
        from: (3, 5),
        tools: ToolStyle::Json { layout: Spaced, scale: 1086, around: 300, forced: 300, each: 2 },
        ..CLAUDE
    },
    Family {
        name: "claude-3-opus",
        ids: &[&["claude", "opus"]],
        from: (0, 0),
        tools: ToolStyle::Json { layout: Spaced, scale: 1086, around: 530, forced: 281, each: 2 },
        ..CLAUDE
    },
    Family {
        name: "claude-3-haiku",
        ids: &[&["claude", "haiku"]],
        from: (0, 0),
        tools: ToolStyle::Json { layout: Spaced, scale: 1086, around: 264, forced: 340, each: 2 },
        ..CLAUDE
    },
    Family {
        name: "claude-3-sonnet",
        ids: &[&["claude", "sonnet"]],
        from: (0, 0),
        tools: ToolStyle::Json { layout: Spaced, scale: 1086, around: 159, forced: 235, each: 2 },
        ..CLAUDE
    },
    Family {
        name: "claude-3",
        from: (0, 0),
        tools: ToolStyle::Json { layout: Spaced, scale: 1086, around: 264, forced: 340, each: 2 },
        ..CLAUDE
    },
    // OpenRouter passes them on to AI Studio.
    Family {
        name: "gemini-3",
        from: (3, 0),
        servers: &[(Server::Studio, &STUDIO_3), (Server::OpenRouter, &STUDIO_3)],
        ..GEMINI
    },
    // OpenRouter passes previews on to either of Google's servers. Half of the recorded requests went to AI Studio, whose
    // counts are higher.
    Family {
        name: "gemini-2.5-preview",
        ids: &[&["gemini", "preview"]],
        from: (2, 5),
        servers: &[(Server::Studio, &STUDIO_2_5), (Server::OpenRouter, &STUDIO_2_5)],
        ..GEMINI
    },
    Family { name: "gemini-2.5", from: (2, 5), servers: &[(Server::Studio, &STUDIO_2_5)], ..GEMINI },
    GEMINI,
    Family { servers: &[(Server::Groq, &GEMMA_GROQ)], ..GEMMA },
    // The length of the server's own prompt differs from model to model.
    Family {
        name: "grok-code",
        ids: &[&["grok", "code"]],
        request: 201,
        system: 0,
        unseen_thought: 320,
        tools: ToolStyle::Json { layout: Compact, scale: 1000, around: 134, forced: 134, each: 0 },
        sources: &[fitted(&[Text, Messages, Calls, Tools, Prompt], 22, 3)],
        ..GROK
    },
    Family {
        name: "grok-fast-non-reasoning",
        ids: &[&["grok", "fast", "non-reasoning"]],
        request: 165,
        unseen_thought: 0,
        servers: &[(Server::Azure, &GROK_FAST_AZURE)],
        ..GROK_FAST
    },
    Family { servers: &[(Server::Azure, &GROK_FAST_AZURE)], ..GROK_FAST },
    Family {
        name: "grok-4.3",
        from: (4, 2),
        request: 189,
        system: 2,
        tools: ToolStyle::Json { layout: Spaced, scale: 1000, around: 31, forced: 31, each: 0 },
        sources: &[fitted(&[Text, Messages, Calls, Tools, Prompt], 22, 2)],
        ..GROK
    },
    Family {
        name: "grok-4",
        from: (4, 0),
        request: 681,
        system: 1,
        unseen_thought: 320,
        tools: ToolStyle::Json { layout: Compact, scale: 1000, around: 152, forced: 152, each: 0 },
        sources: &[fitted(&[Text, Messages, Calls, Tools, Prompt], 16, 2)],
        ..GROK
    },
    GROK,
    Family {
        servers: &[(Server::DeepSeek, &DEEPSEEK_V4_THINKING), (Server::Together, &DEEPSEEK_V4_THINKING)],
        ..DEEPSEEK_V4
    },
    DEEPSEEK_V3_2,
    DEEPSEEK,
    // These are told to call tools in XML, which takes a longer prompt.
    Family {
        name: "qwen-coder",
        ids: &[&["qwen", "coder"]],
        from: (3, 0),
        call: 21,
        result: 12,
        tools: ToolStyle::Json { layout: Spaced, scale: 1000, around: 212, forced: 220, each: 15 },
        sources: &[template(&[Messages], "Qwen 3"), fitted(&[Text, Calls, Tools], 36, 4)],
        ..QWEN
    },
    // Thinking is on by default. The server then adds instructions of 40 or 53 tokens, depending on the region.
    Family {
        name: "qwen-3.8",
        from: (3, 8),
        request: QWEN_3_5.request + 48,
        error: (15, 12),
        sources: &[margin(&[Prompt]), template(&[Messages], "Qwen 3.5"), fitted(&[Text, Calls, Tools], 45, 2)],
        ..QWEN_3_5
    },
    QWEN_3_5,
    Family {
        name: "qwen-max",
        ids: &[&["qwen", "max"]],
        from: (3, 0),
        tools: ToolStyle::Json { layout: Spaced, scale: 1000, around: 200, forced: 200, each: 10 },
        sources: &[template(&[Messages], "Qwen 3"), fitted(&[Text, Calls, Tools], 27, 2)],
        ..QWEN
    },
    // Its answers begin with a tag that belongs to the request.
    Family { name: "qwen-3-thinking", ids: &[&["qwen", "thinking"]], from: (3, 0), request: 5, ..QWEN },
    Family { name: "qwen-3", from: (3, 0), ..QWEN },
    Family {
        name: "qwen-2-vision",
        ids: &[&["qwen", "vl"]],
        default_prompt: 11,
        sources: &[template(&[Messages, Prompt, Tools], "Qwen 2.5 VL"), fitted(&[Text, Calls, Tools], 155, 4)],
        ..QWEN
    },
    Family {
        name: "qwen-2",
        default_prompt: 21,
        sources: &[template(&[Messages, Prompt, Tools], "Qwen 2.5"), fitted(&[Text, Calls, Tools], 155, 4)],
        ..QWEN
    },
    // Its template puts a list of rules before every conversation.
    Family {
        name: "llama-guard",
        ids: &[&["llama-guard"]],
        request: 194,
        sources: &[template(&[Messages, Prompt], "Llama Guard 4"), fitted(&[Text, Calls, Tools], 105, 14)],
        ..LLAMA
    },
    Family {
        servers: &[
            (Server::Bedrock, &LLAMA_4_BEDROCK),
            (Server::OpenRouter, &LLAMA_4_TOGETHER),
            (Server::Together, &LLAMA_4_TOGETHER),
        ],
        ..LLAMA_4
    },
    // Servers leave the date out of requests to this one.
    Family {
        name: "llama-3.2-vision",
        ids: &[&["llama-3.2", "vision"]],
        sources: &[fitted(&[Messages], 6, 2), fitted(&[Text, Calls, Tools], 87, 11)],
        ..LLAMA
    },
    // The published template writes the date into every request, as instructions to which others are added. Where the
    // server isn't known, tools cost as much as in the longer one of two ways: the prompt of Groq, and indented JSON.
    Family {
        tools: ToolStyle::Json { layout: Indented, scale: 1000, around: 100, forced: 100, each: 15 },
        servers: &[
            (Server::Bedrock, &LLAMA_3_BEDROCK),
            (Server::Cerebras, &LLAMA_3_CEREBRAS),
            (Server::Groq, &LLAMA_3_GROQ),
            (Server::HuggingFace, &LLAMA_3_CEREBRAS),
            (Server::Together, &LLAMA_3_TOGETHER),
        ],
        ..LLAMA_3_GROQ
    },
    Family { servers: &[(Server::Groq, &LLAMA_GROQ)], ..LLAMA },
    // The templates of these add long instructions if there are none.
    Family {
        name: "mistral-small-3.1",
        ids: &[&["mistral-small-3.1"]],
        default_prompt: 175,
        sources: &[
            template(&[Messages, Prompt, Tools], "Mistral Small 3.1"),
            COMPARED,
            fitted(&[Calls, Tools], 252, 13),
        ],
        ..MISTRAL
    },
    Family {
        name: "mistral-small-3.2",
        ids: &[&["mistral-small-3.2"]],
        default_prompt: 555,
        sources: &[
            template(&[Messages, Prompt, Tools], "Mistral Small 3.2"),
            COMPARED,
            fitted(&[Calls, Tools], 252, 13),
        ],
        ..MISTRAL
    },
    Family {
        name: "devstral-small-2505",
        ids: &[&["devstral-small-2505"]],
        default_prompt: 1222,
        sources: &[
            template(&[Messages, Prompt, Tools], "Devstral Small 2505"),
            COMPARED,
            fitted(&[Calls, Tools], 252, 13),
        ],
        ..MISTRAL
    },
    // The first vocabulary has no tokens for the marks around messages, and more tokens for everything else.
    Family {
        name: "mistral-v1",
        ids: &[&["mistral-7b"], &["mixtral"], &["mistral-tiny"]],
        text: 1100,
        long: 1150,
        message: 7,
        error: (15, 20),
        sources: &[template(&[Messages, Tools], "Mistral 7B"), fitted(&[Text, Calls, Tools], 252, 13)],
        ..MISTRAL
    },
    // Since Mistral Small 4 and Medium 3.5, the template contains a setting for thinking.
    Family {
        name: "mistral-small",
        ids: &[
            &["mistral-small-latest"],
            &["magistral-small-latest"],
            &["mistral-small-4"],
            &["mistral-small-26"],
            &["mistral-medium-3.5"],
            &["mistral-medium-26"],
        ],
        request: 13,
        sources: &[template(&[Messages, Tools], "Mistral Small 4"), COMPARED, fitted(&[Calls, Tools], 47, 4)],
        ..MISTRAL
    },
    // It has the vocabulary of Mistral, but the template of others.
    Family {
        name: "dolphin",
        ids: &[&["dolphin", "mistral"]],
        request: 5,
        message: 5,
        system: 5,
        default_prompt: 20,
        sources: &[template(&[Messages], "Dolphin 3"), margin(&[Prompt]), COMPARED, fitted(&[Calls, Tools], 252, 13)],
        ..MISTRAL
    },
    MISTRAL,
    // Its tools are written without spaces, as the present template of Kimi K2 does it.
    Family {
        name: "kimi-k2.5",
        from: (2, 5),
        tools: ToolStyle::Json { layout: Compact, scale: 1000, around: 5, forced: 5, each: 9 },
        sources: &[template(&[Messages, Prompt, Tools], "Kimi K2"), fitted(&[Text, Calls, Tools], 84, 4)],
        ..KIMI
    },
    Family { servers: &[(Server::Groq, &KIMI_GROQ), (Server::OpenRouter, &KIMI_OPENROUTER)], ..KIMI },
    Family {
        name: "glm-5.2",
        from: (5, 2),
        request: 10,
        tools: ToolStyle::Json { layout: Spaced, scale: 1000, around: 94, forced: 94, each: 3 },
        sources: &[fitted(&[Text, Messages, Calls, Tools], 12, 2)],
        ..GLM
    },
    GLM,
    // Without instructions, their servers add hundreds of tokens. The longest such prompt was that of MiniMax 01.
    Family {
        name: "minimax-1",
        ids: &[&["minimax-m1"], &["minimax-01"], &["minimax-text-01"]],
        default_prompt: 698,
        sources: &[margin(&[Prompt]), template(&[Messages, Tools], "MiniMax M2"), fitted(&[Text, Calls], 29, 3)],
        ..MINIMAX
    },
    MINIMAX,
    Family {
        name: "nova-2",
        ids: &[&["nova-2"]],
        splits_digits: true,
        text: 1000,
        long: 1050,
        request: 45,
        message: 1,
        system: 1,
        thinking: 48,
        call: 21,
        result: 21,
        tools: ToolStyle::Json { layout: Spaced, scale: 1020, around: 815, forced: 815, each: 0 },
        error: (10, 6),
        sources: &[fitted(&[Text, Messages, Calls, Tools, Prompt], 34, 2), margin(&[Thinking])],
        ..OTHER
    },
    // Its vocabulary isn't published. Capitals are assumed to cost as much as for DeepSeek, the least of the vocabularies
    // that were compared; recordings from one repository agree.
    Family {
        name: "nova",
        ids: &[&["nova-"]],
        splits_digits: true,
        text: 1000,
        long: 1050,
        capital: DEEPSEEK.capital,
        request: 0,
        message: 0,
        system: 0,
        assistant: 3,
        call: 20,
        result: 20,
        tools: ToolStyle::Json { layout: Spaced, scale: 1020, around: 348, forced: 348, each: 0 },
        error: (15, 15),
        sources: &[fitted(&[Text, Messages, Calls, Tools, Prompt], 22, 4), margin(&[Text])],
        ..OTHER
    },
    Family {
        name: "command-a-reasoning",
        ids: &[&["command-a", "reasoning"]],
        request: 1374,
        tools: ToolStyle::Json { layout: Spaced, scale: 1040, around: 25, forced: 25, each: 5 },
        sources: &[fitted(&[Text, Messages, Calls, Tools, Prompt], 9, 2)],
        ..COHERE
    },
    COHERE,
    // Amazon's names for these. Only words are counted there, and nothing is added.
    Family {
        name: "command-bedrock",
        ids: &[&["command-r-v1"], &["command-r-plus-v1"]],
        request: 0,
        message: 0,
        system: 0,
        call: 0,
        result: 0,
        tools: ToolStyle::Words(SchemaCost::NOTHING),
        error: (20, 30),
        sources: &[fitted(&[Text], 51, 4)],
        ..COHERE
    },
    Family {
        name: "command-r-08",
        ids: &[&["command-r", "08-2024"]],
        request: 190,
        system: 11,
        error: (20, 40),
        sources: &[fitted(&[Messages, Prompt], 4, 4), fitted(&[Text, Calls, Tools], 51, 4)],
        ..COHERE
    },
    // The prompt before the tools is shorter than for Command A in recordings from one repository. The figure is above
    // theirs.
    Family {
        name: "command",
        ids: &[&["command"]],
        request: 60,
        system: 11,
        tools: ToolStyle::Json { layout: Spaced, scale: 1040, around: 800, forced: 825, each: 15 },
        error: (20, 40),
        sources: &[fitted(&[Messages, Prompt], 16, 5), fitted(&[Text, Calls], 51, 4), margin(&[Tools])],
        ..COHERE
    },
    Family {
        name: "gpt-oss",
        ids: &[&["gpt-oss"]],
        request: 67,
        tools: ToolStyle::Namespace { around: 10, names_forced: false, sequential: 0 },
        error: (5, 8),
        sources: &[
            documented(&[Vocabulary], "OpenAI"),
            template(&[Messages, Tools], "harmony"),
            fitted(&[Calls, Tools], 55, 6),
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
