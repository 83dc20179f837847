//! The fault matrix: whatever a server does, the client ends correctly. `cargo xtask faults` prints it.

use crate::support;

#[tokio::test(start_paused = true)]
async fn every_fault_ends_as_it_should() {
    let rows = support::matrix::run().await;
    assert!(rows.iter().all(|row| row.wrong.is_none()), "{}", support::matrix::table(&rows));
}
