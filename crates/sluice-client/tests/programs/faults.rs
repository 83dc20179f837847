//! Prints the fault matrix: the expected and the actual outcome of every fault of the embedded gateway with the client.
//! Run by `cargo xtask faults`.

use std::process::ExitCode;

#[path = "../support/exchange.rs"]
mod exchange;
#[path = "../support/matrix.rs"]
mod matrix;

#[tokio::main]
async fn main() -> ExitCode {
    let rows = matrix::run().await;
    print!("{}", matrix::table(&rows));
    if rows.iter().any(|row| row.wrong.is_some()) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
