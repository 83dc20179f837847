//! What a row of the table of families (`tokens/families.rs`) consists of, and which row a model's id selects.

use std::fmt;

use super::families::{AS_OF, FALLBACK, FAMILIES};
use super::kinds::Kinds;
use super::server::Server;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    O200k,
    Cl100k,
    /// Gemini's, which is loaded on demand. Until then, texts are counted with o200k.
    Gemma,
}

/// How the models of one family count. They share a vocabulary and the overhead that is added to the text itself.
#[derive(Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each of them is a figure of the table")]
pub(super) struct Family {
    pub name: &'static str,
    /// The ids of its models: each entry lists fragments that all occur in the id.
    pub ids: &'static [&'static [&'static str]],
    /// The lowest version that the row applies to.
    pub from: (u32, u32),
    pub encoding: Encoding,
    /// Whether `encoding` is the models' own vocabulary.
    pub is_own: bool,
    /// Whether every digit is a token of its own. In `encoding`, up to three of them are one.
    pub splits_digits: bool,
    /// The tokens of this family per thousand tokens of `encoding`.
    pub text: usize,
    /// The same for the part of a text after [`LONG`]. It is never lower: a long conversation whose count is too low
    /// isn't summarized in time.
    pub long: usize,
    /// What a word of up to three letters between spaces costs more, in thousandths of a token. It is a single token in
    /// every vocabulary, so that it costs less where `text` is high.
    pub short_word: i64,
    /// The same for a capital letter next to another one.
    pub capital: i64,
    /// The same for a line break.
    pub line: i64,
    /// The overhead of a request. Servers that add a prompt of their own have a larger one.
    pub request: u32,
    /// The overhead of a message.
    pub message: u32,
    /// The overhead of the instructions.
    pub system: u32,
    /// The additional overhead of an assistant message, for its channel.
    pub assistant: u32,
    /// The prompt that takes the place of missing instructions.
    pub default_prompt: u32,
    /// The overhead of a request in which the model is asked to think.
    pub thinking: u32,
    /// The overhead of a call, in addition to the tool's name and the arguments.
    pub call: u32,
    /// What the first of several calls in a row costs less than the others. A single call is the first, too.
    pub first_call: u32,
    /// The overhead of each argument of a call, in addition to its JSON.
    pub argument: u32,
    /// The overhead of a result.
    pub result: u32,
    /// Whether the tool's name is repeated before its result.
    pub repeats_name: bool,
    /// Whether a result is written as a JSON string, in which quotes and line breaks are escaped.
    pub quotes_results: bool,
    /// The additional overhead of a single call where several tools are offered.
    pub lone_call: u32,
    pub tools: ToolStyle,
    pub reasoning: Thinking,
    /// The overhead of a reasoning item that is sent back.
    pub reasoning_overhead: u32,
    /// The number of characters in encrypted reasoning that are overhead, whatever it contains.
    pub reasoning_head: usize,
    /// The number of characters of encrypted reasoning per token, in tenths.
    pub reasoning_tenths: usize,
    /// What the model thought before it called tools, if the request doesn't contain it and the server counts it
    /// nevertheless. Nobody can count it; this is a usual amount.
    pub unseen_thought: u32,
    /// The rows for servers that count these models in another way than the gateway.
    pub servers: &'static [(Server, &'static Self)],
    /// How far off nine of ten counts are at most, in per cent: without tools and with tools.
    pub error: (u32, u32),
    /// Where the figures come from.
    pub sources: &'static [Source],
}

/// The tokens of a text beyond which [`Family::long`] applies.
const LONG: usize = 512;

/// Where figures come from.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The provider documents them.
    Documented { of: &'static [Figure], by: &'static str },
    /// They were fitted to recorded requests with the server's own count.
    Fitted { of: &'static [Figure], pairs: u32, repositories: u32 },
    /// They were fitted to the counts of the models' own vocabulary, which isn't shipped.
    Compared { of: &'static [Figure], files: u32 },
    /// They follow from the model's published chat template.
    Template { of: &'static [Figure], model: &'static str },
    /// Too few recordings show that something is added. The figure is the highest of them, so that a count is rather too
    /// high than too low.
    Margin { of: &'static [Figure] },
}

/// The figures of a row that share a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    /// The vocabulary is the models' own.
    Vocabulary,
    /// `text`, `long`, `short_word`, `capital` and `line`.
    Text,
    /// `request`, `message`, `system` and `assistant`.
    Messages,
    /// `default_prompt`, or a prompt of the server's own in `request`.
    Prompt,
    Thinking,
    /// `call`, `first_call`, `argument`, `result`, `repeats_name`, `quotes_results`, `lone_call` and `unseen_thought`.
    Calls,
    Tools,
}

impl Source {
    pub(super) fn figures(&self) -> &'static [Figure] {
        match self {
            Self::Documented { of, .. }
            | Self::Fitted { of, .. }
            | Self::Compared { of, .. }
            | Self::Template { of, .. }
            | Self::Margin { of } => of,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.figures().iter().map(|figure| figure.name()).collect();
        write!(f, "{}: ", names.join(", "))?;
        match self {
            Self::Documented { by, .. } => write!(f, "documented by {by}"),
            Self::Fitted { pairs, repositories, .. } => {
                write!(f, "fitted to {pairs} recorded requests from {repositories} repositories")
            }
            Self::Compared { files, .. } => write!(f, "compared with the models' vocabulary on {files} files"),
            Self::Template { model, .. } => write!(f, "published template of {model}"),
            Self::Margin { .. } => f.write_str("a margin, because there are few recordings"),
        }
    }
}

impl Figure {
    fn name(self) -> &'static str {
        match self {
            Self::Vocabulary => "vocabulary",
            Self::Text => "text",
            Self::Messages => "messages",
            Self::Prompt => "the server's prompt",
            Self::Thinking => "thinking",
            Self::Calls => "calls",
            Self::Tools => "tools",
        }
    }
}

/// How tools are shown to the model.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToolStyle {
    /// As TypeScript types in a namespace, with an overhead of `around` tokens. A forced call may repeat the tool's
    /// name, and `sequential` is the overhead of a request that allows only one call at a time.
    Namespace { around: i32, names_forced: bool, sequential: u32 },
    /// As JSON, multiplied by `scale` thousandths. The overhead is `around` tokens for the list (`forced` if a call is
    /// required) and `each` tokens for every tool.
    Json { layout: Layout, scale: usize, around: u32, forced: u32, each: u32 },
    /// The words of a schema (names, descriptions, listed values), and a fixed cost for each part of it.
    Words(SchemaCost),
}

/// Where there are spaces in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Nowhere, as JavaScript writes it.
    Compact,
    /// After separators, as Python writes it.
    Spaced,
    /// As Python writes it with an indentation of four.
    Indented,
}

/// What the parts of a tool cost, apart from their words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SchemaCost {
    pub tool: u32,
    /// A tool that has a description.
    pub described: u32,
    /// A schema that has a type.
    pub typed: u32,
    pub property: u32,
    /// A property that has a description.
    pub explained: u32,
    /// A listed value.
    pub value: u32,
    /// An object within an object.
    pub nested: u32,
}

impl SchemaCost {
    /// Only words cost something.
    pub(super) const NOTHING: Self =
        Self { tool: 0, described: 0, typed: 0, property: 0, explained: 0, value: 0, nested: 0 };
}

/// Which of the reasoning items in a request the model sees.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Thinking {
    /// Only those after the last question; the server discards older ones.
    SinceLastQuestion,
    All,
}

impl Family {
    pub(super) fn of(model: &str) -> &'static Self {
        Self::at(Self::index_of(model))
    }

    /// Like [`of`](Self::of), as a server counts it.
    pub(super) fn at_server(model: &str, server: Server) -> &'static Self {
        let family = Self::of(model);
        let server = Server::named_in(model).unwrap_or(server);
        family.servers.iter().find(|(at, _)| *at == server).map_or(family, |(_, row)| row)
    }

    pub(super) fn at(index: usize) -> &'static Self {
        FAMILIES.get(index).unwrap_or(&FALLBACK)
    }

    /// Returns the row for a model. Ids look like `creator/model`, `vendor.model` or `model`, often followed by a date
    /// or a variant. The last row is for all models without a row of their own.
    pub(super) fn index_of(model: &str) -> usize {
        let id = model.to_ascii_lowercase();
        let bare = id.rsplit('/').next().unwrap_or_default();
        let version = version(bare);
        // Other vendors' names are checked first: a fine-tuned Llama may be called `…-gpt-4-distilled`, but never the
        // other way round.
        let is_for = |family: &Self| {
            let named = family.ids.iter().any(|fragments| fragments.iter().all(|part| bare.contains(part)));
            named && version >= family.from
        };
        let named = |name: &str| FAMILIES.iter().position(|family| family.name == name);
        let found = FAMILIES.iter().position(is_for).or_else(|| named(openai_name(bare)?));
        found.unwrap_or(FAMILIES.len() - 1)
    }

    /// Returns whether the model sees a reasoning item at `index`, given the index of the last question.
    pub(super) fn sees_reasoning(&self, index: usize, last_question: Option<usize>) -> bool {
        self.reasoning == Thinking::All || last_question.is_none_or(|last| index > last)
    }

    /// Returns where the figures come from, in one sentence.
    pub(super) fn basis(&self) -> String {
        let sources: Vec<String> = self.sources.iter().map(Source::to_string).collect();
        format!("{} ({AS_OF})", sources.join("; "))
    }

    /// Estimates the tokens of encrypted reasoning from its length in characters.
    pub(super) fn reasoning(&self, encrypted: usize) -> u32 {
        u32::try_from(encrypted.saturating_sub(self.reasoning_head) * 10 / self.reasoning_tenths)
            .unwrap_or(u32::MAX)
            .saturating_add(self.reasoning_overhead)
    }

    /// Converts the tokens of a text in `encoding` to tokens of this family.
    pub(super) fn scaled(&self, tokens: usize, text: &str) -> u32 {
        let long = tokens.saturating_sub(LONG);
        let scaled = (tokens - long) * self.text + long * self.long;
        if (self.short_word, self.capital, self.line) == (0, 0, 0) {
            return rounded(scaled);
        }
        let kinds = Kinds::of(text);
        let more = kinds.short_words * self.short_word + kinds.capitals * self.capital + kinds.lines * self.line;
        // Nothing is less than a token.
        rounded(scaled.saturating_add_signed(isize::try_from(more).unwrap_or(0)).max(1000))
    }
}

/// Rounds thousandths of a token to whole tokens.
pub(super) fn rounded(thousandths: usize) -> u32 {
    u32::try_from((thousandths + 500) / 1000).unwrap_or(u32::MAX)
}

/// Returns the name of the row for one of OpenAI's models.
fn openai_name(bare: &str) -> Option<&'static str> {
    let has = |part: &str| bare.contains(part);
    if let Some((_, version)) = bare.split_once("gpt-").or_else(|| bare.split_once("gpt")) {
        return Some(openai_tokenizer(version, bare));
    }
    let is_o_series = bare.split(['.', ':']).any(|part| {
        let mut letters = part.chars();
        letters.next() == Some('o') && letters.next().is_some_and(|digit| digit.is_ascii_digit())
    });
    if is_o_series || has("codex") || has("computer-use") {
        return Some("o-series");
    }
    (has("embedding") || has("davinci") || has("babbage")).then_some("gpt-4")
}

/// Returns the tokenizer for the part of an id after `gpt-`.
fn openai_tokenizer(version: &str, id: &str) -> &'static str {
    let (major, minor) = numbers(version);
    match (major, minor) {
        (3 | 35, _) => "gpt-4",
        // A plain 4 may be followed by a date or a variant: `gpt-4-0613`, `gpt-4-32k`, `gpt-4-turbo`.
        (4, 0) if !version.starts_with("4o") && !id.starts_with("chatgpt-4o") => "gpt-4",
        (4, _) => "gpt-4o",
        (5, 0..=3) => "gpt-5",
        (5, 4..=5) => "gpt-5.4",
        // A future model is likely to resemble the newest one.
        _ => "gpt-5.6",
    }
}

/// Reads the version from ids such as `claude-opus-4.7`, `claude-opus-4-7`, `claude-opus-4-20250514` and
/// `claude-3-5-sonnet`.
fn version(id: &str) -> (u32, u32) {
    let from = id.find(|c: char| c.is_ascii_digit()).and_then(|at| id.get(at..));
    from.map_or((0, 0), numbers)
}

/// Returns the first two numbers of a version. The second is 0 if it is a date or a size.
fn numbers(version: &str) -> (u32, u32) {
    let mut rest = version.split(['.', '-']);
    let major: String = rest.next().unwrap_or_default().chars().take_while(char::is_ascii_digit).collect();
    let minor = rest.next().filter(|part| part.len() <= 2).unwrap_or_default();
    (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_ids_are_mapped_to_tokenizers() {
        let cases = [
            ("gpt-4o", "gpt-4o"),
            ("openai/gpt-4o-mini-2024-07-18", "gpt-4o"),
            ("gpt-4.1-nano-2025-04-14", "gpt-4o"),
            ("gpt-4.5-preview", "gpt-4o"),
            ("chatgpt-4o-latest", "gpt-4o"),
            ("gpt-4", "gpt-4"),
            ("gpt-4-0613", "gpt-4"),
            ("gpt-4-32k", "gpt-4"),
            ("gpt-4-turbo-2024-04-09", "gpt-4"),
            ("openai/gpt-3.5-turbo-instruct", "gpt-4"),
            ("gpt-35-turbo", "gpt-4"),
            ("text-embedding-3-large", "gpt-4"),
            ("gpt-5", "gpt-5"),
            ("gpt-5-2025-08-07", "gpt-5"),
            ("gpt-5-codex", "gpt-5"),
            ("gpt-5.1-codex-max", "gpt-5"),
            ("gpt-5.2-2025-12-11", "gpt-5"),
            ("openai/gpt-5.4-mini", "gpt-5.4"),
            ("openai.gpt-5.6-luna", "gpt-5.6"),
            ("gpt-6", "gpt-5.6"),
            ("ft:gpt-4o:org::abc", "gpt-4o"),
            ("o1", "o-series"),
            ("openai/o3-mini-2025-01-31", "o-series"),
            ("o4-mini", "o-series"),
            ("codex-mini-latest", "o-series"),
            ("openai/gpt-oss-120b", "gpt-oss"),
            ("anthropic/claude-sonnet-4.5", "claude-4.5"),
            ("claude-opus-4-20250514", "claude-4"),
            ("claude-3-5-haiku-20241022", "claude-3.5-haiku"),
            ("claude-3-sonnet-20240229", "claude-3-sonnet"),
            ("claude-opus-4-6", "claude-4.6"),
            ("anthropic/claude-opus-4.7", "claude-4.7"),
            ("us.anthropic.claude-opus-4-8-v1:0", "claude-4.8"),
            ("claude-5-sonnet", "claude-5"),
            ("anthropic/claude-opus-5", "claude-opus-5"),
            ("google/gemini-3-pro-preview", "gemini-3"),
            ("google/gemini-2.5-flash", "gemini-2.5"),
            ("google/gemini-2.0-flash", "gemini"),
            ("google/gemma-3-27b", "gemma"),
            ("xai/grok-code-fast-1", "grok-code"),
            ("xai/grok-4.1-fast", "grok-fast"),
            ("xai/grok-4-fast-non-reasoning", "grok-fast-non-reasoning"),
            ("xai/grok-4.20-beta", "grok-4.3"),
            ("xai/grok-4-0709", "grok-4"),
            ("xai/grok-3-mini", "grok"),
            ("meta/llama-3.3-70b", "llama-3.1"),
            ("meta/llama-4-scout", "llama-4"),
            ("meta/llama-3.2-90b-vision-instruct", "llama-3.2-vision"),
            ("meta/llama-3.2-3b", "llama-3.1"),
            ("llama3-8b-8192", "llama"),
            ("meta-llama/llama-guard-4-12b", "llama-guard"),
            ("mistral/devstral-2", "mistral"),
            ("mistral/mistral-small-latest", "mistral-small"),
            ("mistralai/mistral-small-3.2-24b-instruct", "mistral-small-3.2"),
            ("mistral/mistral-small", "mistral"),
            ("mistral/mixtral-8x22b-instruct", "mistral-v1"),
            ("deepseek/deepseek-r1-distill-llama-70b", "deepseek"),
            ("alibaba/qwen3-coder", "qwen-coder"),
            ("alibaba/qwen3.5-397b-a17b", "qwen-3.5"),
            ("alibaba/qwen-3-235b", "qwen-3"),
            ("alibaba/qwen3-max", "qwen-max"),
            ("alibaba/qwen3-vl-instruct", "qwen-3"),
            ("alibaba/qwen2.5-vl-72b-instruct", "qwen-2-vision"),
            ("alibaba/qwen3-235b-a22b-thinking-2507", "qwen-3-thinking"),
            ("alibaba/qwen3.7-plus", "qwen-3.5"),
            ("alibaba/qwen3.8-max", "qwen-3.8"),
            ("mistral/mistral-small", "mistral"),
            ("mistral/mistral-small-2603", "mistral-small"),
            ("mistral/mistral-medium-3.5", "mistral-small"),
            ("mistral/dolphin3.0-mistral-24b", "dolphin"),
            ("deepseek/deepseek-v4-flash", "deepseek-v4"),
            ("amazon/nova-2-lite", "nova-2"),
            ("moonshotai/kimi-k2-thinking", "kimi"),
            ("moonshotai/kimi-k2.5", "kimi-k2.5"),
            ("zai/glm-4.6", "glm"),
            ("zai/glm-5.2", "glm-5.2"),
            ("minimax/minimax-m2", "minimax"),
            ("minimax/minimax-m1", "minimax-1"),
            ("amazon/nova-pro", "nova"),
            ("", "other"),
            ("cohere/command-a", "command-a"),
            ("cohere.command-r-plus-v1:0", "command-bedrock"),
            ("cohere/command-r", "command"),
            ("cohere/command-a-reasoning-08-2025", "command-a-reasoning"),
            ("arcee-ai/trinity-mini", "other"),
        ];
        for (model, name) in cases {
            assert_eq!(Family::of(model).name, name, "{model}");
        }
    }

    #[test]
    fn every_figure_has_a_source_and_none_rests_on_one_repository() {
        for family in FAMILIES.iter().chain(FAMILIES.iter().flat_map(|family| family.servers).map(|(_, row)| *row)) {
            let overheads = [family.request, family.message, family.system, family.assistant];
            let needed = [
                (if family.is_own { Figure::Vocabulary } else { Figure::Text }, true),
                (Figure::Messages, overheads.iter().any(|figure| *figure > 0)),
                (Figure::Prompt, family.default_prompt > 0),
                (Figure::Thinking, family.thinking > 0),
                (Figure::Calls, family.call + family.result + family.lone_call + family.unseen_thought > 0),
                (Figure::Tools, family.tools != ToolStyle::Words(SchemaCost::NOTHING)),
            ];
            for (figure, is_used) in needed {
                let has_source = family.sources.iter().any(|source| source.figures().contains(&figure));
                assert!(has_source || !is_used, "{}: {}", family.name, figure.name());
            }
            for source in family.sources {
                if let Source::Fitted { pairs, repositories, .. } = source {
                    assert!(*repositories >= 2 && pairs >= repositories, "{}", family.name);
                }
            }
            assert!(family.long >= family.text && family.error.0 > 0 && family.error.1 > 0, "{}", family.name);
        }
        let names: std::collections::BTreeSet<&str> = FAMILIES.iter().map(|family| family.name).collect();
        assert_eq!(names.len(), FAMILIES.len(), "names are unique");
    }

    #[test]
    fn long_texts_are_counted_too_high_rather_than_too_low() {
        let claude = Family::of("anthropic/claude-sonnet-4.5");
        let counts = [100, 512, 1512].map(|tokens| claude.scaled(tokens, ""));
        assert_eq!(counts, [119, 609, 1814]);
        assert_eq!(claude.scaled(100, &"of the ".repeat(50)), 119 - 30);
        assert_eq!(Family::of("gpt-5").scaled(1512, "of the"), 1512);
    }
}
