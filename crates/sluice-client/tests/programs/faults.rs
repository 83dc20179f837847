//! Prints the fault matrix: what the client makes of every fault of the embedded gateway. Run by `cargo xtask faults`.
//! With the name of a file, writes it there instead, so that other shells can be compared with the client.

use std::process::ExitCode;

#[path = "../support/cases.rs"]
mod cases;
#[path = "../support/clock.rs"]
mod clock;
#[path = "../support/exchange.rs"]
mod exchange;
#[path = "../support/matrix.rs"]
mod matrix;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let rows = runtime.block_on(matrix::run());
    match std::env::args().nth(1) {
        Some(file) => std::fs::write(file, matrix::export(&rows).to_string()).unwrap(),
        None => print!("{}", matrix::table(&rows)),
    }
    if rows.iter().any(|row| row.wrong.is_some()) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
