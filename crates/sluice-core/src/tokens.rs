//! Counts the tokens of text, messages and whole requests. A count that a server has reported is preferred; everything
//! else is counted here.
//!
//! Our own count is made in these steps:
//!
//! 1. `tokens/tokenizer.rs` maps a model's id to a row of the table in `tokens/families.rs`: the vocabulary, and the
//!    overhead of messages, calls and tools, each with its source.
//! 2. `tokens/request.rs` counts a whole request body, item by item.
//! 3. `tokens/schema.rs` renders tools and response formats the way the model sees them.
//! 4. `tokens/images.rs` reads an image's size from its header and applies the model's rule.
//! 5. `tokens/pieces.rs` counts a chat's prompt with the same rules, one piece at a time.
//! 6. `tokens/estimate.rs` counts text without a vocabulary, `tokens/bpe.rs` with OpenAI's, `tokens/gemma.rs` with
//!    Gemini's.
//!
//! Reported counts are kept in `tokens/known.rs`, keyed by the hashes of `tokens/fingerprint.rs` and corrected by
//! `tokens/calibration.rs`. The raw counts that it needs come from [`Counter::piece`].
//!
//! A vocabulary takes megabytes, so it is linked only into programs that call [`Counter::exact`]. The module that streams
//! answers uses [`Counter::estimating`].

mod bpe;
mod calibration;
mod estimate;
mod families;
mod fingerprint;
mod gemma;
mod images;
mod kinds;
mod known;
mod layout;
mod pieces;
mod records;
mod request;
mod rounding;
mod schema;
mod server;
mod split;
mod tokenizer;

use std::fmt;
use std::sync::OnceLock;

pub use calibration::Calibration;
pub(crate) use calibration::Factor;
pub(crate) use fingerprint::SCHEME;
pub(crate) use images::has_image_size;
pub(crate) use known::{Entry, Quality};
pub use known::{Estimate, InstallKey, KnownCounts, Measured};
pub use pieces::Piece;
pub(crate) use records::scale;
pub use request::BadRequestBody;

use bpe::{CL100K, O200K};
use gemma::Gemma;
use server::Server;
use tokenizer::{Encoding, Family};

use crate::boundary::TokenBreakdown;

static GEMMA: OnceLock<Gemma> = OnceLock::new();

/// Counts tokens. It is cheap to create and to copy.
#[derive(Clone, Copy)]
pub struct Counter {
    count: fn(Encoding, &str) -> usize,
    server: Server,
}

impl Counter {
    /// Returns a counter that uses the models' own vocabularies where they are public.
    pub fn exact() -> Self {
        Self { count: exact, server: Server::Gateway }
    }

    /// Returns whether a model's texts need a vocabulary that isn't built in. A shell then reads the file
    /// `gemma.vocabulary` and passes it to [`load_vocabulary`](Self::load_vocabulary). Until it does, texts are counted
    /// with another vocabulary, which is a few per cent off.
    pub fn lacks_vocabulary(model: &str) -> bool {
        Family::of(model).encoding == Encoding::Gemma && GEMMA.get().is_none()
    }

    /// Makes a vocabulary available to all counters. Returns whether it is valid.
    pub fn load_vocabulary(file: &[u8]) -> bool {
        GEMMA.get().is_some() || Gemma::read(file).is_some_and(|gemma| GEMMA.set(gemma).is_ok())
    }

    /// Returns a counter that estimates by kinds of characters. It needs no vocabulary. The result is usually a few per
    /// cent too high and hardly ever too low.
    pub fn estimating() -> Self {
        Self { count: |_, text| estimate::tokens(text), server: Server::Gateway }
    }

    /// Counts like the server at an address. A few servers count some models in another way than the gateway.
    #[must_use]
    pub fn for_server(self, base_url: &str) -> Self {
        Self { server: Server::at(base_url), ..self }
    }

    /// Counts the tokens of plain text. Special tokens in it, such as `<|endoftext|>`, are counted as ordinary text.
    pub fn text(self, model: &str, text: &str) -> u32 {
        self.text_of(Family::of(model), text)
    }

    /// Returns an empty breakdown that names the model's tokenizer and says whether its own vocabulary is used.
    pub fn about(model: &str) -> TokenBreakdown {
        let family = Family::of(model);
        TokenBreakdown {
            model: model.to_owned(),
            tokenizer: family.name.to_owned(),
            own_vocabulary: family.is_own && !Self::lacks_vocabulary(model),
            uncertainty: family.error.0,
            basis: family.basis(),
            ..TokenBreakdown::default()
        }
    }

    /// Returns the index of a model's tokenizer. Callers that count many short texts look it up once and then use
    /// [`Counter::text_with_tokenizer`].
    pub fn tokenizer_index(model: &str) -> usize {
        Family::index_of(model)
    }

    /// Like [`Counter::text`], for a tokenizer that [`Counter::tokenizer_index`] returned.
    pub fn text_with_tokenizer(self, index: usize, text: &str) -> u32 {
        self.text_of(Family::at(index), text)
    }

    fn text_of(self, family: &Family, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        family.scaled(self.raw(family, text), text)
    }

    /// Counts text in the family's encoding, before any factor.
    fn raw(self, family: &Family, text: &str) -> usize {
        let digits = if family.splits_digits { more_digits(text) } else { 0 };
        (self.count)(family.encoding, text) + digits
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counter")
    }
}

/// Returns how many more tokens a text has if every digit is one, instead of up to three digits.
fn more_digits(text: &str) -> usize {
    let runs = text.as_bytes().chunk_by(|one, other| one.is_ascii_digit() && other.is_ascii_digit());
    runs.filter(|run| run.len() > 1).map(|run| run.len() - run.len().div_ceil(3)).sum()
}

fn exact(encoding: Encoding, text: &str) -> usize {
    match encoding {
        Encoding::O200k => O200K.count(text),
        Encoding::Cl100k => CL100K.count(text),
        Encoding::Gemma => GEMMA.get().map_or_else(|| (O200K.count(text) * 105 + 50) / 100, |gemma| gemma.count(text)),
    }
}
