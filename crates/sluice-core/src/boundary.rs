//! Every value a shell gives or gets: plain data with public fields, and the source of the TypeScript types
//! (`crates/sluice-wasm/js/src/boundary.ts`).

mod outcome;
mod part;
#[cfg(test)]
mod typescript;

pub use outcome::{Empty, Failure, FailureKind, Gateway, Outcome, Status, TokenDetails, Usage};
pub use part::{Citation, Note, NoteKind, Output, Part, ReasoningItem, ThinkingReplay};
