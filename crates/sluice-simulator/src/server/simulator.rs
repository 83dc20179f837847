//! A gateway in a thread of its own: whoever starts it may be blocking, asynchronous, or on a clock that stands still.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime;
use tokio::sync::oneshot;

use super::{Config, Server, Shared, Streams};
use crate::http::Request;

/// A running gateway. It stops when this is dropped, and breaks off whatever it was sending.
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
                // Either way it is over: told to stop, or nobody is left who could tell.
                let _ = stopped.await;
                server.abort();
            });
        };
        let thread = thread::Builder::new().name("embedded gateway".into()).spawn(serving)?;
        Ok(Self { shared, stop: Some(stop), thread: Some(thread) })
    }

    /// The base URL, `/v1` included.
    pub fn url(&self) -> String {
        self.shared.url()
    }

    pub fn port(&self) -> u16 {
        self.shared.port
    }

    /// All requests so far, in order, if [`Config::record`] asks for it. A message on a WebSocket is one with the method
    /// `MESSAGE`.
    ///
    /// # Panics
    ///
    /// If nothing is recorded: a test that found no requests would prove nothing.
    pub fn requests(&self) -> Vec<Request> {
        let record = self.shared.requests.as_ref().expect("a gateway that was started to record");
        record.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }

    /// How many connections were made so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    pub fn streams(&self) -> Streams {
        self.shared.tally.streams()
    }

    /// Blocks until the replies under way are as wanted, say none open; `false` if that takes too long.
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
