//! What a model answers, before it is counted, cut off and sent.

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    pub items: Vec<Item>,
    pub ending: Ending,
    /// The milliseconds before the first token.
    pub think_ms: u64,
    /// The milliseconds between two tokens.
    pub pace_ms: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Message(Vec<Content>),
    /// A message with its `phase`: `commentary` or `final_answer`.
    Phased(&'static str, Vec<Content>),
    Reasoning {
        /// The reasoning itself.
        raw: Option<String>,
        /// The visible summary, one string for each paragraph.
        summary: Vec<String>,
        /// Whether it includes encrypted content that only its model can decrypt.
        sealed: bool,
    },
    Call {
        name: String,
        /// The arguments as JSON text.
        arguments: String,
    },
    /// A picture as base64-encoded PNG. Open Responses has no such item; this is `OpenAI`'s format.
    Image(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Text { text: String, citations: Vec<Citation> },
    Refusal(String),
}

/// The source of the characters from `start` to `end`.
#[derive(Clone, Debug, PartialEq)]
pub struct Citation {
    pub start: usize,
    pub end: usize,
    pub url: String,
    pub title: String,
}

/// How the answer ends after all items.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    Completed,
    /// It stops for this reason; the last item is incomplete.
    Incomplete(String),
    /// It fails with this code and message.
    Failed(String, String),
    /// It sends an `error` event with this code and message, then fails.
    Error(String, String),
}

impl Script {
    /// Returns an answer that is sent as fast as possible.
    pub fn at_once(items: Vec<Item>) -> Self {
        Self { items, ending: Ending::Completed, think_ms: 0, pace_ms: 0 }
    }

    /// Returns an answer that is sent at a speed that people can read.
    pub fn at_reading_pace(items: Vec<Item>) -> Self {
        Self { items, ending: Ending::Completed, think_ms: 250, pace_ms: 18 }
    }

    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }
}

impl Item {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Message(vec![Content::Text { text: text.into(), citations: Vec::new() }])
    }

    pub fn refusal(text: impl Into<String>) -> Self {
        Self::Message(vec![Content::Refusal(text.into())])
    }

    pub fn phased(phase: &'static str, text: impl Into<String>) -> Self {
        Self::Phased(phase, vec![Content::Text { text: text.into(), citations: Vec::new() }])
    }

    pub fn thought(summary: impl Into<String>) -> Self {
        Self::Reasoning { raw: None, summary: vec![summary.into()], sealed: false }
    }
}

impl Content {
    /// Returns the same words as text without citations.
    pub fn plain(self) -> Self {
        let (Self::Text { text, .. } | Self::Refusal(text)) = self;
        Self::Text { text, citations: Vec::new() }
    }
}
