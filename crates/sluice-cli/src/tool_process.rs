//! One run of a tool's command, and of every process that it starts.
//!
//! The command leads a process group of its own. The group ends with the call: when the command exits, when its time is
//! up, and when the user interrupts it. Processes that leave the group (`setsid`) are beyond reach, as are those that
//! another process starts for the command; they cannot delay the answer either. On Windows, a job object takes the place
//! of the process group.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::time::{sleep, timeout};

/// The maximum number of bytes that are kept of standard output, and of standard error. No model needs more.
pub const MAX_OUTPUT: usize = 1 << 20;
/// How long a process may take to end after the first signal.
const GRACE: Duration = Duration::from_secs(1);

pub struct Finished {
    pub how: How,
    pub stdout: Kept,
    pub stderr: Kept,
}

pub enum How {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
}

/// Runs the command with `input` on its standard input until it exits, `limit` has passed or `cancel` completes.
pub async fn run(
    mut command: Command,
    input: &str,
    limit: Duration,
    cancel: impl Future<Output = ()>,
) -> io::Result<Finished> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn()?;
    let group = Group::of(&child);
    let (mut stdin, mut out, mut err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (mut stdout, mut stderr) = (Kept::default(), Kept::default());
    let how = {
        // All three happen at once, because a command may write before it has read everything, and vice versa.
        let exchange = async {
            let feed = async {
                if let Some(mut stdin) = stdin.take() {
                    // A command needn't read its input.
                    let _ = stdin.write_all(input.as_bytes()).await;
                }
            };
            tokio::join!(feed, stdout.read(&mut out), stderr.read(&mut err));
            std::future::pending::<()>().await;
        };
        tokio::pin!(exchange);
        let how = tokio::select! {
            biased;
            status = child.wait() => How::Exited(status?),
            () = cancel => How::Cancelled,
            () = sleep(limit) => How::TimedOut,
            () = &mut exchange => How::TimedOut,
        };
        if !matches!(how, How::Exited(_)) {
            group.ask_to_end();
            tokio::select! {
                biased;
                _ = timeout(GRACE, child.wait()) => {}
                () = &mut exchange => {}
            }
        }
        how
    };
    drop(group);
    child
        .kill()
        .await
        .or_else(|error| if error.kind() == io::ErrorKind::InvalidInput { Ok(()) } else { Err(error) })?;
    // The command has written everything. Another process may still hold the pipes open, but isn't waited for.
    stdout.rest(&mut out).await;
    stderr.rest(&mut err).await;
    Ok(Finished { how, stdout, stderr })
}

/// Keeps the first bytes of an output.
#[derive(Default)]
pub struct Kept {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Kept {
    /// Reads everything and drops the excess, so that the command never waits for a reader.
    async fn read(&mut self, pipe: &mut Option<impl AsyncRead + Unpin>) {
        let Some(pipe) = pipe else { return };
        let mut chunk = vec![0; 64 << 10];
        while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
            self.keep(&chunk[..length]);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_OUTPUT - self.bytes.len();
        self.is_cut |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    /// Reads what is already in the pipe.
    #[cfg(unix)]
    #[allow(clippy::unused_async, reason = "it waits on Windows")]
    async fn rest(&mut self, pipe: &mut Option<impl std::os::fd::AsFd>) {
        let Some(pipe) = pipe else { return };
        let mut chunk = vec![0; 64 << 10];
        // The pipe is non-blocking, so this ends when there is nothing more to read.
        while !self.is_cut
            && let Ok(length @ 1..) = rustix::io::retry_on_intr(|| rustix::io::read(&*pipe, &mut chunk))
        {
            self.keep(&chunk[..length]);
        }
    }

    /// Reads what arrives soon, because the contents of a pipe can't be queried here.
    #[cfg(windows)]
    async fn rest(&mut self, pipe: &mut Option<impl AsyncRead + Unpin>) {
        let _ = timeout(GRACE, self.read(pipe)).await;
    }

    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        if self.is_cut { format!("{text}\n[cut after {MAX_OUTPUT} bytes]") } else { text.into_owned() }
    }
}

/// The processes of a command. Dropping this ends all of them.
pub struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
    /// Windows ends the processes of a job with its last handle, even if this program is killed.
    #[cfg(windows)]
    _job: Option<win32job::Job>,
}

#[cfg(unix)]
impl Group {
    pub fn of(child: &tokio::process::Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self { leader: id.and_then(rustix::process::Pid::from_raw) }
    }

    pub fn ask_to_end(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// A group's number isn't reused while there is a process in it, even after its leader is gone. If there is none,
    /// nothing happens.
    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(leader) = self.leader {
            let _ = rustix::process::kill_process_group(leader, signal);
        }
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.signal(rustix::process::Signal::KILL);
    }
}

#[cfg(windows)]
impl Group {
    /// What the command starts before it belongs to the job is beyond reach. It has hardly begun to run then.
    pub fn of(child: &tokio::process::Child) -> Self {
        let job = || {
            let mut limits = win32job::ExtendedLimitInfo::new();
            limits.limit_kill_on_job_close();
            let job = win32job::Job::create_with_limit_info(&limits).ok()?;
            job.assign_process(child.raw_handle()? as isize).ok()?;
            Some(job)
        };
        Self { _job: job() }
    }

    /// A command in the same console receives Ctrl-C itself.
    #[allow(clippy::unused_self, reason = "as on Unix")]
    pub fn ask_to_end(&self) {}
}

/// On Unix, `tests/tools.rs` checks this and more with the whole program.
#[cfg(all(test, windows))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_process_in_the_background_ends_with_its_command() {
        let directory = std::env::temp_dir().join(format!("sluice-job-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let script = [
            "@start /b cmd /c \"ping -n 100000 127.0.0.1 > held.txt\"",
            ":wait",
            "@if not exist held.txt goto wait",
            "@echo done",
        ];
        std::fs::write(directory.join("run.cmd"), script.join("\r\n")).unwrap();
        let mut command = Command::new(directory.join("run.cmd"));
        command.current_dir(&directory);
        let limit = Duration::from_secs(100);
        let finished = run(command, "", limit, std::future::pending()).await.unwrap();
        assert_eq!(finished.stdout.text(), "done\r\n");
        // A file that a process has open can't be deleted.
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
