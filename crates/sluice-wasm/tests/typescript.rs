//! Writes the numbers that cross the boundary to TypeScript and compares them with the committed file.
//! `UPDATE_EXPECT=1 cargo test -p sluice-wasm` rewrites it.

use expect_test::expect_file;
use sluice_bridge::ANSWER;
use sluice_wasm::*;

#[test]
fn typescript_numbers_are_fresh() {
    let kinds = [
        ("ANSWER", ANSWER),
        ("TEXT", TEXT),
        ("THINKING", THINKING),
        ("THINKING_REPLAY", THINKING_REPLAY),
        ("TOOL_CALL", TOOL_CALL),
        ("DATA", DATA),
        ("CITATIONS", CITATIONS),
        ("NOTE", NOTE),
        ("ACTION", ACTION),
    ];
    let events = [
        ("BODY_ENDED", BODY_ENDED),
        ("CANNOT_CONNECT", CANNOT_CONNECT),
        ("CONNECTION_BROKE", CONNECTION_BROKE),
        ("TIME_IS_UP", TIME_IS_UP),
        ("CANCEL", CANCEL),
        ("CANCEL_UNSEEN", CANCEL_UNSEEN),
        ("CRASHED", CRASHED),
        ("RAN_OUT_OF_MEMORY", RAN_OUT_OF_MEMORY),
    ];
    let lines = |constants: &[(&str, u32)]| -> String {
        constants.iter().map(|(name, number)| format!("export const {name} = {number};\n")).collect()
    };
    let file = format!(
        "// Generated from crates/sluice-wasm/src/exports.rs by `UPDATE_EXPECT=1 cargo test -p sluice-wasm`.\n\n\
         // The kinds of rows.\n{}\n\
         // The first extra number of an answer if the exchange needs more of the body.\n{}\n\
         // The events without data.\n{}",
        lines(&kinds),
        lines(&[("READ", READ)]),
        lines(&events),
    );
    expect_file!["../../../packages/loader/src/numbers.ts"].assert_eq(&file);
}
