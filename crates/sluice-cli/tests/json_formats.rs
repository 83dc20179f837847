//! What `--json` prints is a public format: fields may be added, and are never renamed, removed or given another type.
//! `data/json-1.txt` lists every field that a release has had. `UPDATE_EXPECT=1 cargo test -p sluice-cli json_formats` adds
//! new ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use sluice_simulator::server::{Config, Simulator};

use crate::support;

const KNOWN: &str = include_str!("data/json-1.txt");

/// The fields of a format, with their types. An optional field has the type `?` as long as it is never there.
type Fields = BTreeMap<String, String>;

/// Each with the commands that have to run before it. `why` needs two requests.
const FORMATS: [&[&str]; 12] = [
    &["chat", "--json", "-m", "sluice/demo", "Hello!"],
    &["chat", "--json", "-c", "-m", "sluice/tools", "--tools", "tools.json", "-y", "now {}"],
    &["chat", "--json", "-m", "sluice/no-such-model", "Hello!"],
    &["decode", "--json", "answer.sse"],
    &["replay", "--json", "old.exchange"],
    &["models", "--json"],
    &["usage", "--json"],
    &["count", "--json", "-m", "openai/gpt-5", "answer.sse"],
    &["doctor", "--json"],
    &["log", "--json"],
    &["show", "--json"],
    &["why", "--json"],
];

#[test]
fn no_field_is_renamed_or_removed() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("json_formats");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    let tools = r#"{"tools": [{"name": "now", "description": "The time", "command": ["no-such-program"]}]}"#;
    fs::write(directory.join("tools.json"), tools).unwrap();
    fs::write(directory.join("old.exchange"), include_str!("data/exchange-1.jsonl")).unwrap();
    let delta = r#"{"type": "response.output_text.delta", "item_id": "a", "delta": "Hello"}"#;
    fs::write(directory.join("answer.sse"), format!("data: {delta}\n\n")).unwrap();
    let simulator = Simulator::start(Config::default()).unwrap();

    let mut found: BTreeMap<&str, Fields> = BTreeMap::new();
    for arguments in FORMATS {
        let mut command = support::sluice(&directory, arguments);
        let output = support::run(command.env("SLUICE_BASE_URL", simulator.url()).env("SLUICE_API_KEY", "canary"), b"");
        let printed = String::from_utf8(output.stdout).unwrap();
        let values: Vec<Value> = serde_json::Deserializer::from_str(&printed).into_iter().map(Result::unwrap).collect();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(!values.is_empty(), "{arguments:?} prints nothing: {complaint}");
        let fields = found.entry(arguments[0]).or_default();
        for value in &values {
            collect(value, "", fields);
        }
    }
    let known = parse(KNOWN);
    let all: String = merged(&known, &found)
        .iter()
        .flat_map(|(command, fields)| fields.iter().map(move |(path, kind)| format!("{command} {path} {kind}\n")))
        .collect();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/json-1.txt"), &all).unwrap();
    }
    let broken: Vec<String> = known
        .iter()
        .flat_map(|(command, fields)| fields.iter().map(move |(path, kind)| (*command, path, kind)))
        .filter(|(command, path, kind)| {
            let now = found.get(command).and_then(|fields| fields.get(*path));
            now.is_none_or(|now| now != *kind && now != "?" && *kind != "?")
        })
        .map(|(command, path, kind)| format!("{command} {path} {kind}"))
        .collect();
    assert!(
        broken.is_empty(),
        "programs rely on these fields, which are gone or have another type:\n{}",
        broken.join("\n")
    );
    assert!(KNOWN == all, "there are new fields; run this with UPDATE_EXPECT=1");
}

/// Adds the fields of a value. A line of a stream is named by its type, because each type has fields of its own.
fn collect(value: &Value, path: &str, fields: &mut Fields) {
    let kind = match value {
        Value::Null => "?",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(elements) => {
            for element in elements {
                collect(element, &format!("{path}[]"), fields);
            }
            "array"
        }
        Value::Object(object) => {
            let of_type = object.get("type").and_then(Value::as_str).filter(|_| path.is_empty());
            for (name, field) in object {
                // Some objects are maps, by the ids of models, names of providers and the like.
                let is_name = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
                let name = if is_name { name.as_str() } else { "*" };
                // Gateways put what they like into their metadata.
                let field = if name == "metadata" { &Value::Null } else { field };
                collect(field, &format!("{}{path}.{name}", of_type.unwrap_or_default()), fields);
            }
            "object"
        }
    };
    let known = fields.entry(format!("{path}:")).or_insert_with(|| kind.to_owned());
    if known == "?" {
        kind.clone_into(known);
    }
}

fn parse(text: &str) -> BTreeMap<&str, Fields> {
    let mut all: BTreeMap<&str, Fields> = BTreeMap::new();
    for line in text.lines() {
        let [command, path, kind] = line.split(' ').collect::<Vec<_>>().try_into().expect("three words");
        all.entry(command).or_default().insert(path.to_owned(), kind.to_owned());
    }
    all
}

fn merged<'a>(known: &BTreeMap<&'a str, Fields>, found: &BTreeMap<&'a str, Fields>) -> BTreeMap<&'a str, Fields> {
    let mut all = known.clone();
    for (command, fields) in found {
        for (path, kind) in fields {
            let field = all.entry(command).or_default().entry(path.clone()).or_insert_with(|| kind.clone());
            if field == "?" {
                field.clone_from(kind);
            }
        }
    }
    all
}
