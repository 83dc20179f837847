//! Runs a gateway in its own thread, so that it works for callers that are blocking, asynchronous, or use a paused
//! clock.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime;
use tokio::sync::oneshot;

use super::{Config, Server, Shared, Streams};
use crate::http::Request;

/// A running gateway. Dropping it stops the gateway and aborts all replies.
#[derive(Debug)]
pub struct Simulator {
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Simulator {
    pub fn start(config: Config) -> io::Result<Self> {
        let server = Server::bind(config)?;
        let shared = Arc::clone(&server.shared);
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = move || {
            runtime.block_on(async {
                let server = runtime.spawn(server.run());
                // The server ends in both cases: on a stop signal, and when the sender is dropped.
                let _ = stopped.await;
                server.abort();
            });
        };
        let thread = thread::Builder::new().name("embedded gateway".into()).spawn(serving)?;
        Ok(Self { shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns the base URL, including `/v1`.
    pub fn url(&self) -> String {
        self.shared.url()
    }

    pub fn port(&self) -> u16 {
        self.shared.port
    }

    /// Returns all requests so far, in order. This requires [`Config::record`]. A message on a WebSocket has the method
    /// `MESSAGE`.
    ///
    /// # Panics
    ///
    /// Panics if requests aren't recorded, because a test that found no requests would prove nothing.
    pub fn requests(&self) -> Vec<Request> {
        let record = self.shared.requests.as_ref().expect("a gateway that was started to record");
        record.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }

    /// Returns the number of connections so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    pub fn streams(&self) -> Streams {
        self.shared.tally.streams()
    }

    /// Blocks until the open replies satisfy `wanted`, for example none are open. Returns `false` on a timeout.
    pub fn wait_until(&self, at_most: Duration, wanted: impl Fn(Streams) -> bool) -> bool {
        self.shared.tally.wait_until(at_most, wanted)
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
