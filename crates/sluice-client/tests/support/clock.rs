//! A clock that runs fast, for tests with real servers: a wait of a minute takes a fraction of a second, and on a machine
//! that is slow everything else still has as long as it needs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use sluice_client::Timeouts;
use tokio::task::spawn_blocking;
use tokio::time::advance;

/// Longer than any test runs, even on this clock.
pub const NEVER: Duration = Duration::from_secs(50_000_000);
/// For a timeout that is expected to run out.
pub const EXPECTED: Duration = Duration::from_secs(10_000);

pub const PATIENT: Timeouts = Timeouts { connect: NEVER, headers: NEVER, idle: NEVER, output: NEVER, small: NEVER };

/// Turns the time of a paused runtime by hand. Otherwise the time would jump whenever all tasks wait for a server.
#[derive(Clone, Debug)]
pub struct Clock {
    step_ms: Arc<AtomicU64>,
    _stop: mpsc::Sender<()>,
}

impl Clock {
    /// Must be called in a single-threaded runtime whose time is paused.
    pub fn start() -> Self {
        let step_ms = Arc::new(AtomicU64::new(500));
        let (stop, stopped) = mpsc::channel();
        // While such a task runs, the runtime doesn't advance its time.
        spawn_blocking(move || stopped.recv());
        let step = Arc::clone(&step_ms);
        tokio::spawn(async move {
            loop {
                let _ = spawn_blocking(|| thread::sleep(Duration::from_millis(1))).await;
                advance(Duration::from_millis(step.load(Ordering::SeqCst))).await;
            }
        });
        Self { step_ms, _stop: stop }
    }

    /// Sets how far the time moves in about a millisecond.
    pub fn set_step(&self, step: Duration) {
        self.step_ms.store(u64::try_from(step.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }
}
