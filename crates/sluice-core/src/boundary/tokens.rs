//! What a request is expected to cost, before a server has counted it.

use serde::Serialize;

/// The tokens of a whole request, by what they are spent on. The parts add up to `input_tokens`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct TokenBreakdown {
    /// The tokens of the whole request.
    pub input_tokens: u32,
    /// The model that the request names.
    pub model: String,
    /// The tokenizer whose rules were applied: `gpt-5`, `claude`, …
    pub tokenizer: String,
    /// Whether the text was counted with the model's own vocabulary. If not, the count is an estimate.
    pub own_vocabulary: bool,
    /// The system messages.
    pub instructions: u32,
    /// The text of all other messages.
    pub messages: u32,
    /// The calls that the model made, with their arguments.
    pub tool_calls: u32,
    /// What the tools returned.
    pub tool_results: u32,
    /// Encrypted reasoning that is sent back.
    pub reasoning: u32,
    /// The definitions of the tools.
    pub tools: u32,
    /// The JSON schema that the answer must follow.
    pub format: u32,
    /// The images in messages and tool results.
    pub images: u32,
    /// The overhead of every request.
    pub framing: u32,
    /// How far off nine of ten such counts are at most, in per cent. What the notes mention isn't included.
    pub uncertainty: u32,
    /// Where the figures behind the count come from.
    pub basis: String,
    /// What could not be counted. The server's count will be higher.
    pub notes: Vec<String>,
}
