//! The formats of an answer. A program contains the code for those that it names, so a WebAssembly module with only one of
//! them is smaller.

use std::fmt::Debug;
use std::vec::Drain;

use crate::ai_sdk::ChunkStream;
use crate::boundary::{Outcome, Output};
use crate::receive::{BodyEnd, ResponseStream, StreamOptions};
use crate::wire::as_stream;

/// An answer that an [`Exchange`](super::Exchange) reads: a [`ResponseStream`] or a [`ChunkStream`], which document the
/// methods.
#[expect(missing_docs, reason = "the streams document their methods")]
pub trait Stream: Clone + Debug {
    /// Turns a whole JSON response into the text of a stream, if servers send such responses in this format.
    const OF_WHOLE: Option<fn(&str) -> Option<String>>;

    fn new(options: StreamOptions) -> Self;
    fn push(&mut self, body: &[u8]) -> Drain<'_, Output>;
    fn has_open_call(&self) -> bool;
    fn is_terminal(&self) -> bool;
    fn finish(self, end: BodyEnd) -> (Vec<Output>, Outcome);
}

macro_rules! stream {
    ($stream:ty, $of_whole:expr) => {
        impl Stream for $stream {
            const OF_WHOLE: Option<fn(&str) -> Option<String>> = $of_whole;

            fn new(options: StreamOptions) -> Self {
                Self::new(options)
            }

            fn push(&mut self, body: &[u8]) -> Drain<'_, Output> {
                self.push(body)
            }

            fn has_open_call(&self) -> bool {
                self.has_open_call()
            }

            fn is_terminal(&self) -> bool {
                self.is_terminal()
            }

            fn finish(self, end: BodyEnd) -> (Vec<Output>, Outcome) {
                self.finish(end)
            }
        }
    };
}

stream!(ResponseStream, Some(as_stream));
stream!(ChunkStream, None);
