//! The signals that ask the program to stop.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens from the start, so that no Ctrl-C is lost between two things that can be interrupted.
pub struct Interrupts {
    #[cfg(unix)]
    ctrl_c: Signal,
    /// SIGTERM and SIGHUP, where the program must not go without ending the processes that it started.
    #[cfg(unix)]
    others: Option<(Signal, Signal)>,
    #[cfg(windows)]
    ctrl_c: tokio::signal::windows::CtrlC,
}

impl Interrupts {
    #[cfg(unix)]
    pub fn listen(starts_processes: bool) -> io::Result<Self> {
        let others = || Ok::<_, io::Error>((signal(SignalKind::terminate())?, signal(SignalKind::hangup())?));
        let others = if starts_processes { Some(others()?) } else { None };
        Ok(Self { ctrl_c: signal(SignalKind::interrupt())?, others })
    }

    #[cfg(windows)]
    pub fn listen(_starts_processes: bool) -> io::Result<Self> {
        Ok(Self { ctrl_c: tokio::signal::windows::ctrl_c()? })
    }

    /// Completes when the program should stop what it does.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        if let Some((terminate, hangup)) = &mut self.others {
            tokio::select! {
                _ = self.ctrl_c.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
            return;
        }
        self.ctrl_c.recv().await;
    }
}
