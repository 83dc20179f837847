//! The signals that ask the program to stop.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens from the start, so that no Ctrl-C is lost between two operations that can be interrupted.
pub struct Interrupts {
    #[cfg(unix)]
    ctrl_c: Signal,
    /// SIGTERM, SIGHUP and SIGQUIT. The program must end the processes that it started before it exits.
    #[cfg(unix)]
    others: Option<[Signal; 3]>,
    #[cfg(windows)]
    ctrl_c: tokio::signal::windows::CtrlC,
}

impl Interrupts {
    #[cfg(unix)]
    pub fn listen(starts_processes: bool) -> io::Result<Self> {
        let others = if starts_processes {
            let [terminate, hangup, quit] = [SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()];
            Some([signal(terminate)?, signal(hangup)?, signal(quit)?])
        } else {
            None
        };
        Ok(Self { ctrl_c: signal(SignalKind::interrupt())?, others })
    }

    #[cfg(windows)]
    pub fn listen(_starts_processes: bool) -> io::Result<Self> {
        Ok(Self { ctrl_c: tokio::signal::windows::ctrl_c()? })
    }

    /// Completes when the program should stop what it is doing.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        if let Some([terminate, hangup, quit]) = &mut self.others {
            tokio::select! {
                _ = self.ctrl_c.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
                _ = quit.recv() => {}
            }
            return;
        }
        self.ctrl_c.recv().await;
    }
}
