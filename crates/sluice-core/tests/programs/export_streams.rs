//! Writes every made-up stream of the tests, and what the core makes of it, for tests in other languages: `cargo run -p
//! sluice-core --example export_streams -- DIR` writes `DIR/NAME.sse` and `DIR/NAME.json`.

#![expect(clippy::disallowed_methods, reason = "a tool for the command line: it reads its argument and writes files")]

#[path = "../support/mod.rs"]
mod support;

use std::path::Path;
use std::{env, fs, io};

use serde_json::{Value, json};
use sluice_core::{Action, Exchange, ExchangeOptions, Output};

fn main() -> io::Result<()> {
    let Some(directory) = env::args().nth(1) else {
        return Err(io::Error::other("usage: export_streams DIR"));
    };
    let directory = Path::new(&directory);
    fs::create_dir_all(directory)?;
    for (name, bytes) in support::streams() {
        let mut exchange = Exchange::reading(ExchangeOptions::default());
        exchange.handle_bytes(&bytes);
        exchange.handle_end();
        let mut outputs = Vec::new();
        let outcome = loop {
            match exchange.poll(0) {
                Action::Output(output) => outputs.push(output),
                Action::End(report) => break report.outcome.clone(),
                action => return Err(io::Error::other(format!("{action:?}"))),
            }
        };
        let outputs: Vec<Value> = outputs.iter().map(to_json).collect::<Result<_, _>>()?;
        let result = json!({"outputs": outputs, "outcome": outcome});
        fs::write(directory.join(format!("{name}.sse")), &bytes)?;
        fs::write(directory.join(format!("{name}.json")), format!("{result:#}\n"))?;
    }
    Ok(())
}

/// A part or a note, as the core serializes it.
fn to_json(output: &Output) -> serde_json::Result<Value> {
    match output {
        Output::Part(part) => serde_json::to_value(part),
        Output::Note(note) => Ok(json!({"type": "note", "kind": note.kind, "detail": note.detail})),
    }
}
