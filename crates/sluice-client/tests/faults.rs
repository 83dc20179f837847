//! The fault matrix: whatever a server does, the client ends correctly. `cargo xtask faults` prints it.

#[path = "support/cases.rs"]
mod cases;
#[path = "support/clock.rs"]
mod clock;
#[path = "support/exchange.rs"]
mod exchange;
#[path = "support/matrix.rs"]
mod matrix;

#[tokio::test(start_paused = true)]
async fn every_fault_ends_as_it_should() {
    let rows = matrix::run().await;
    assert!(rows.iter().all(|row| row.wrong.is_none()), "{}", matrix::table(&rows));
}
