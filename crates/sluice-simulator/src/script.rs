//! What a model decides to say, before anything is counted, cut or put on the wire.

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    pub items: Vec<Item>,
    pub ending: Ending,
    /// Milliseconds before the first word, and between two.
    pub think_ms: u64,
    pub pace_ms: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Message(Vec<Content>),
    Reasoning {
        /// The chain of thought itself.
        raw: Option<String>,
        /// What may be shown of it, paragraph by paragraph.
        summary: Vec<String>,
        /// Whether it comes with a seal that only its model can open again.
        sealed: bool,
    },
    Call {
        name: String,
        /// JSON text.
        arguments: String,
    },
    /// A picture, base64-encoded PNG. Open Responses has no such item; `OpenAI`'s spelling is used.
    Image(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Text { text: String, citations: Vec<Citation> },
    Refusal(String),
}

/// A source for the characters from `start` to `end`.
#[derive(Clone, Debug, PartialEq)]
pub struct Citation {
    pub start: usize,
    pub end: usize,
    pub url: String,
    pub title: String,
}

/// How the answer ends once all items are said.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    Completed,
    /// Stopped for that reason; the last item is incomplete.
    Incomplete(String),
    /// Failed, with code and message.
    Failed(String, String),
    /// An `error` event, and then failed.
    Error(String, String),
}

impl Script {
    /// An answer that comes as fast as it can be sent.
    pub fn at_once(items: Vec<Item>) -> Self {
        Self { items, ending: Ending::Completed, think_ms: 0, pace_ms: 0 }
    }

    /// An answer that can be followed with the eyes.
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

    pub fn thought(summary: impl Into<String>) -> Self {
        Self::Reasoning { raw: None, summary: vec![summary.into()], sealed: false }
    }
}
