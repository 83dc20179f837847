//! Turns a reply's chunks into a body that keeps their timing, and counts the open bodies.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use futures_util::stream::{Stream, unfold};

use super::connection::Control;
use crate::http::{Chunks, End, TimedChunk};

/// The number of replies that are open, were finished, or were abandoned because the client disconnected.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Streams {
    pub open: usize,
    /// The highest number that were open at the same time.
    pub most_open: usize,
    pub finished: usize,
    pub abandoned: usize,
}

#[derive(Debug, Default)]
pub struct Tally {
    streams: Mutex<Streams>,
    changed: Condvar,
}

impl Tally {
    pub fn streams(&self) -> Streams {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn open(self: &Arc<Self>) -> Open {
        let mut streams = self.lock();
        streams.open += 1;
        streams.most_open = streams.most_open.max(streams.open);
        drop(streams);
        self.changed.notify_all();
        Open { tally: Arc::clone(self), finished: false }
    }

    /// Waits until the counts satisfy `wanted`. Returns `false` on a timeout.
    pub fn wait_until(&self, at_most: Duration, wanted: impl Fn(Streams) -> bool) -> bool {
        let waited = self.changed.wait_timeout_while(self.lock(), at_most, |streams| !wanted(*streams));
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

/// A reply that is being sent.
#[derive(Debug)]
pub struct Open {
    tally: Arc<Tally>,
    finished: bool,
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut streams = self.tally.lock();
        streams.open -= 1;
        if self.finished {
            streams.finished += 1;
        } else {
            streams.abandoned += 1;
        }
        drop(streams);
        self.tally.changed.notify_all();
    }
}

impl Open {
    pub fn finish(&mut self) {
        self.finished = true;
    }
}

struct Sending {
    chunks: Chunks,
    end: End,
    control: Control,
    open: Open,
    first: bool,
}

pub fn body(chunks: Chunks, end: End, control: Control, open: Open) -> impl Stream<Item = io::Result<Bytes>> {
    let sending = Sending { chunks, end, control, open, first: true };
    unfold(Some(sending), |sending| async {
        let mut sending = sending?;
        let item = sending.next().await?;
        // An error ends the body and the connection.
        let next = item.is_ok().then_some(sending);
        Some((item, next))
    })
}

impl Sending {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if self.chunks.is_empty() {
            return self.at_end().await;
        }
        if !self.first {
            flush().await;
        }
        self.first = false;
        // The pause comes first, because a chunk that isn't generated yet takes no memory.
        pause(self.chunks.delay_ms()).await;
        let TimedChunk { bytes, .. } = self.chunks.next()?;
        // A body of known length isn't polled again after its last chunk.
        if self.chunks.is_empty() && self.end == End::Finish {
            self.open.finish();
        }
        Some(Ok(bytes.into()))
    }

    async fn at_end(&mut self) -> Option<io::Result<Bytes>> {
        match &self.end {
            End::Finish => {
                self.open.finish();
                None
            }
            End::Cut | End::Reset => {
                flush().await;
                if self.end == End::Reset {
                    self.control.reset();
                }
                self.open.finish();
                Some(Err(io::ErrorKind::ConnectionAborted.into()))
            }
            End::Hang => std::future::pending().await,
            End::Repeat(chunk) => {
                flush().await;
                pause(chunk.delay_ms).await;
                Some(Ok(chunk.bytes.clone().into()))
            }
        }
    }
}

/// Yields once, which makes the connection write its buffer.
async fn flush() {
    tokio::task::yield_now().await;
}

pub async fn pause(delay_ms: u64) {
    if delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
    }
}
