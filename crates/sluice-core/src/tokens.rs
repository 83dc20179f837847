//! How many tokens text, messages and whole requests are: what servers really counted, and a count of our own for the rest.
//!
//! Our own count:
//!
//! 1. `tokens/family.rs`: a model's id to its family: which vocabulary, what messages, calls and tools cost around their text
//! 2. `tokens/request.rs`: a whole request body, piece by piece
//! 3. `tokens/schema.rs`: tools and answer formats as the model gets to see them
//! 4. `tokens/images.rs`: pixels from an image's header, tokens by the family's rule
//! 5. `tokens/chat.rs`: the same for the parts of a chat, one at a time
//! 6. `tokens/estimate.rs`: text without a vocabulary
//!
//! What servers counted: `tokens/known.rs`, by the hashes of `tokens/fingerprint.rs`, with the corrections of
//! `tokens/calibration.rs`. [`Counter::pieces_of`] is the raw count that it asks for.
//!
//! A vocabulary is megabytes and takes a moment to build. It is linked only into programs that call [`Counter::exact`], and
//! built when the first text of its families is counted. The module that streams answers uses [`Counter::estimating`].

mod calibration;
mod chat;
mod estimate;
mod family;
mod fingerprint;
mod images;
mod known;
mod request;
mod schema;

use std::fmt;
use std::sync::OnceLock;

pub use calibration::Calibration;
pub(crate) use calibration::Factor;
pub(crate) use fingerprint::SCHEME;
pub(crate) use known::{Entry, Quality};
pub use known::{Estimate, InstallKey, Known, Measured, Piece};
pub use request::BadRequestBody;

use family::{Encoding, Family};
use tiktoken::CoreBpe;

use crate::boundary::TokenBreakdown;

static O200K: OnceLock<CoreBpe> = OnceLock::new();
static CL100K: OnceLock<CoreBpe> = OnceLock::new();

/// Counts tokens. Cheap to make and to copy; what is costly is built once and shared.
#[derive(Clone, Copy)]
pub struct Counter {
    count: fn(Encoding, &str) -> usize,
}

impl Counter {
    /// Counts with the families' own vocabularies where they are public. The first count of a family builds its vocabulary.
    pub fn exact() -> Self {
        Self { count: |encoding, text| vocabulary(encoding).count(text) }
    }

    /// Counts by kinds of characters: at once, some per cent too high, hardly ever too low.
    pub fn estimating() -> Self {
        Self { count: |_, text| estimate::tokens(text) }
    }

    /// Tokens of plain text. Special tokens in it, such as `<|endoftext|>`, are text like any other.
    pub fn text(self, model: &str, text: &str) -> u32 {
        self.text_of(Family::of(model), text)
    }

    /// What is known about a model's way to count: an empty breakdown with its family named.
    pub fn about(model: &str) -> TokenBreakdown {
        let family = Family::of(model);
        TokenBreakdown {
            model: model.to_owned(),
            family: family.name.to_owned(),
            own_vocabulary: family.is_exact(),
            ..TokenBreakdown::default()
        }
    }

    /// The place of a model's family in the list of families: for callers that count many short texts.
    pub fn family_index(model: &str) -> usize {
        Family::index_of(model)
    }

    /// Like [`Counter::text`], for a family found before.
    pub fn text_in_family(self, index: usize, text: &str) -> u32 {
        self.text_of(Family::at(index), text)
    }

    fn text_of(self, family: &Family, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        family.scaled((self.count)(family.encoding, text))
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counter")
    }
}

fn vocabulary(encoding: Encoding) -> &'static CoreBpe {
    match encoding {
        Encoding::O200k => O200K.get_or_init(tiktoken::encoding::o200k_base),
        Encoding::Cl100k => CL100K.get_or_init(tiktoken::encoding::cl100k_base),
    }
}
