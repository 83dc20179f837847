//! Standard output, standard error, and what a failed write means.
//!
//! Every subcommand returns the errors of its writes to standard output, and [`exit_code`] reports them: a program that
//! couldn't print its answer has failed. A message that can't be written to standard error is dropped, because there is
//! no other place for it; the exit code still says how the command ended. The macros of the standard library would
//! panic in both cases, so a lint forbids them in this crate.

use std::io::{self, Write};
use std::process::ExitCode;

use unicode_width::UnicodeWidthStr;

use crate::text::one_line;

/// The exit code that shells report for a program that was ended by SIGPIPE because its output is no longer read, for
/// example after `| head`.
const CLOSED_PIPE: u8 = 141;

/// Writes a line to standard error. The line may contain text of any origin.
macro_rules! tell {
    ($($argument:tt)*) => { $crate::output::tell_line(&format!($($argument)*)) };
}
pub(crate) use tell;

pub fn tell_line(text: &str) {
    let _ = writeln!(io::stderr(), "{}", fitted(&one_line(text)));
}

/// Returns a line with line breaks between words, so that it fits the terminal that standard error is, if it is one.
pub fn fitted(line: &str) -> String {
    match terminal_size::terminal_size_of(io::stderr()) {
        Some((width, _)) => wrapped(line, width.0.into()),
        None => line.to_owned(),
    }
}

/// A word that is wider than a row is left to the terminal. Spaces within a row stay.
fn wrapped(line: &str, width: usize) -> String {
    let (mut rows, mut used) = (String::with_capacity(line.len()), 0);
    for word in line.split_inclusive(' ') {
        if used > 0 && used + word.trim_end().width() > width {
            rows.truncate(rows.trim_end_matches(' ').len());
            rows.push('\n');
            used = 0;
        }
        rows.push_str(word);
        used += word.width();
    }
    rows
}

/// Asks the user for a line.
pub fn prompt(text: &str) {
    let mut out = io::stderr();
    let _ = write!(out, "{} ", one_line(text)).and_then(|()| out.flush());
}

/// Returns the exit code of a command that returned `result`. Errors are those of writing to standard output.
pub fn exit_code(result: io::Result<ExitCode>) -> ExitCode {
    // Otherwise, the rest of the buffer would be written when the program exits, and errors would be ignored.
    match result.and_then(|code| io::stdout().flush().map(|()| code)) {
        Ok(code) => code,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(CLOSED_PIPE),
        Err(error) => {
            tell!("sluice: cannot write to standard output: {error}. Make room or send the output elsewhere.");
            ExitCode::FAILURE
        }
    }
}

/// Completes when standard output is a pipe and nothing reads it any more. Nobody waits for the answer then, even if the
/// server is silent and there is nothing to write.
pub async fn reader_is_gone() {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, poll};

        let (gone, told) = tokio::sync::oneshot::channel();
        // The thread ends with the process. Without requested events, only errors and hang-ups are reported.
        std::thread::spawn(move || {
            let out = io::stdout();
            let mut pipe = [PollFd::new(&out, PollFlags::empty())];
            while !gone.is_closed() {
                let one_second = rustix::event::Timespec { tv_sec: 1, tv_nsec: 0 };
                match poll(&mut pipe, Some(&one_second)) {
                    Ok(0) | Err(rustix::io::Errno::INTR) => {}
                    Ok(_) if pipe[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) => {
                        let _ = gone.send(());
                        return;
                    }
                    // It can't be watched.
                    _ => return,
                }
            }
        });
        if told.await.is_ok() {
            return;
        }
    }
    std::future::pending::<()>().await;
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_are_broken_between_words() {
        let check = |line: &str, expected: &str| assert_eq!(wrapped(line, 10), expected);
        check("", "");
        check("short", "short");
        check("ten wide..", "ten wide..");
        check("ten wide.. and more", "ten wide..\nand more");
        check("/help   a list", "/help   a\nlist");
        check("a https://a.example/long b", "a\nhttps://a.example/long\nb");
        check("水位水位 水位", "水位水位\n水位");
        check("  in front", "  in front");
    }
}
