//! Files of older versions are read, and files of newer ones are left alone.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support;

/// What each version wrote: conversations, profiles and settings. The first ones had no version.
const VERSIONS: [Option<u64>; 2] = [None, Some(1)];

fn files(version: Option<u64>) -> [(&'static str, Value); 3] {
    let message = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "value": text}]});
    let messages = [message("user", "Name a river."), message("assistant", "The Elbe.")];
    let mut files = [
        (
            "conversations/mf2k1x9a.json",
            json!({"id": "mf2k1x9a", "updated": 1_760_000_000, "model": "acme/one", "origin": "http://127.0.0.1:1", "messages": messages}),
        ),
        (
            "profiles.json",
            json!({"profiles": {"work": {"baseUrl": "https://llm.example.com/v1", "model": "team-model"}}}),
        ),
        ("config.json", json!({"model": "acme/two", "max-output": 500, "option": {"temperature": 0.2}})),
    ];
    for (_, file) in &mut files {
        if let Some(version) = version {
            file["version"] = version.into();
        }
    }
    files
}

fn home(name: &str, version: Option<u64>) -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("upgrade").join(name);
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(home.join("conversations")).unwrap();
    for (file, json) in files(version) {
        fs::write(home.join(file), json.to_string()).unwrap();
    }
    home
}

fn print(home: &Path, arguments: &[&str]) -> String {
    let output = support::run(&mut support::sluice(home, arguments), b"");
    let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    format!("{}: {printed}", output.status.code().unwrap())
}

#[test]
fn files_of_every_older_version_are_read_and_written_again() {
    for version in VERSIONS {
        let home = home(&format!("older-{}", version.unwrap_or_default()), version);
        let shown = print(&home, &["show"]);
        assert!(shown.starts_with("0: ") && shown.contains("The Elbe."), "{shown}");
        let profiles = print(&home, &["profiles"]);
        assert!(profiles.contains("work") && profiles.contains("https://llm.example.com/v1"), "{profiles}");
        assert!(print(&home, &["config"]).contains("acme/two"));
        assert!(print(&home, &["config", "effort", "low"]).starts_with("0: "));
        let written: Value = serde_json::from_slice(&fs::read(home.join("config.json")).unwrap()).unwrap();
        let expected = json!({
            "effort": "low", "max-output": 500, "model": "acme/two", "option": {"temperature": 0.2}, "version": 1,
        });
        assert_eq!(written, expected, "add the new version to the list above");
    }
}

#[test]
fn files_of_a_newer_version_are_left_alone() {
    let home = home("newer", Some(2));
    for arguments in [&["show"][..], &["profiles"], &["config"], &["config", "effort", "low"], &["logout"]] {
        let printed = print(&home, arguments);
        assert!(!printed.starts_with("0: "), "{arguments:?}: {printed}");
        assert!(printed.contains("newer version"), "{arguments:?}: {printed}");
    }
    for (file, json) in files(Some(2)) {
        assert_eq!(fs::read_to_string(home.join(file)).unwrap(), json.to_string(), "{file}");
    }
}

/// One captured exchange of each version of the format.
const EXCHANGES: [&str; 1] = [include_str!("data/exchange-1.jsonl")];

#[test]
fn exchanges_of_every_older_version_are_replayed() {
    let home = home("exchanges", Some(1));
    for (number, exchange) in (1..).zip(EXCHANGES) {
        let header: Value = serde_json::from_str(exchange.lines().next().unwrap()).unwrap();
        assert_eq!(header["sluiceExchange"], number);
        fs::write(home.join("old.exchange"), exchange).unwrap();
        let replayed = print(&home, &["replay", "old.exchange"]);
        assert!(replayed.starts_with("0: ") && replayed.contains("The Elbe."), "{replayed}");
    }
    let newest = u64::try_from(EXCHANGES.len()).unwrap();
    let newer = EXCHANGES[EXCHANGES.len() - 1].replacen(
        &format!("\"sluiceExchange\":{newest}"),
        &format!("\"sluiceExchange\":{}", newest + 1),
        1,
    );
    fs::write(home.join("newer.exchange"), newer).unwrap();
    let refused = print(&home, &["replay", "newer.exchange"]);
    assert!(!refused.starts_with("0: ") && refused.contains("newer version"), "{refused}");
}
