//! Writes hostile input for tests in other languages and for the fuzz targets: `cargo run -p sluice-core --example
//! export_hostile -- DIR BYTES` writes a file of about BYTES bytes for each generator and lists their names in
//! `DIR/index.json`. With `largest` in place of BYTES it writes the largest events that the limits allow.

#![expect(clippy::disallowed_methods, reason = "a tool for the command line: it reads its argument and writes files")]

#[allow(dead_code, reason = "steps are for the fuzz target")]
#[path = "../support/hostile.rs"]
mod hostile;

use std::path::Path;
use std::{env, fs, io};

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [directory, bytes] = arguments.as_slice() else {
        return Err(io::Error::other("usage: export_hostile DIR BYTES|largest"));
    };
    let directory = Path::new(directory);
    let inputs = if bytes == "largest" {
        hostile::largest()
    } else {
        let bytes = bytes.parse().map_err(io::Error::other)?;
        hostile::generators().into_iter().map(|generator| (generator, bytes)).collect()
    };
    fs::create_dir_all(directory)?;
    let mut index: Vec<Value> = Vec::new();
    for (number, (generator, bytes)) in inputs.into_iter().enumerate() {
        let file = format!("{number:03}");
        fs::write(directory.join(&file), (generator.make)(bytes))?;
        index.push(json!({"name": generator.name, "input": format!("{:?}", generator.input), "file": file}));
    }
    fs::write(directory.join("index.json"), serde_json::to_string_pretty(&index)?)
}
