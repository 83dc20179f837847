//! Standard output, standard error, and what a failed write means.
//!
//! Every subcommand returns the errors of its writes to standard output, and [`exit_code`] reports them: a program that
//! couldn't print its answer has failed. A message that can't be written to standard error is dropped, because there is
//! no other place for it; the exit code still says how the command ended. The macros of the standard library would
//! panic in both cases, so a lint forbids them in this crate.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::text::one_line;

/// The exit code that shells report for a program that SIGPIPE ended, because nothing reads its output any more, as
/// after `| head`.
const CLOSED_PIPE: u8 = 141;

/// Writes a line to standard error. The line may contain text of any origin.
macro_rules! tell {
    ($($argument:tt)*) => { $crate::output::tell_line(&format!($($argument)*)) };
}
pub(crate) use tell;

pub fn tell_line(text: &str) {
    let _ = writeln!(io::stderr(), "{}", one_line(text));
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
