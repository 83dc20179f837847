//! Standard output, standard error, and what a failed write means.
//!
//! Every subcommand returns the errors of its writes to standard output, and [`exit_code`] reports them: a program that
//! could not print its answer has failed. A message that cannot be written to standard error is dropped, because there is
//! nobody left to tell; the exit code still says how the command ended. The macros of the standard library would panic in
//! both cases, so a lint forbids them in this crate.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::text::one_line;

/// What a shell reports for a program that SIGPIPE ended: nobody reads the output any more, as after `| head`.
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

/// The exit code of a command that returned `result`. An error in it is one of writing to standard output.
pub fn exit_code(result: io::Result<ExitCode>) -> ExitCode {
    // What is still in the buffer would otherwise be written at the very end, when nobody looks at the result.
    match result.and_then(|code| io::stdout().flush().map(|()| code)) {
        Ok(code) => code,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(CLOSED_PIPE),
        Err(error) => {
            tell!("sluice: cannot write to standard output: {error}. Make room or send the output elsewhere.");
            ExitCode::FAILURE
        }
    }
}
