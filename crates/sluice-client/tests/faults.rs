//! The fault matrix: whatever a server does, the client ends correctly. `cargo xtask faults` prints it.

#[path = "support/exchange.rs"]
mod exchange;
#[path = "support/matrix.rs"]
mod matrix;

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_ends_as_it_should() {
    let rows = matrix::run().await;
    let wrong: Vec<_> = rows.iter().filter(|row| row.wrong.is_some()).collect();
    assert!(wrong.is_empty(), "{}", matrix::table(&rows));
}
