//! `sluice chat --mcp` as a user runs it: the real binary, a server of the Model Context Protocol that is a shell script,
//! and the embedded gateway's model that calls the tools which the prompt names.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use expect_test::{Expect, expect};
use serde_json::Value;
use sluice_simulator::server::{Config, Simulator};

use crate::support;

/// Replies to each line of its input by its method. `$1` is the server's name.
const SERVER: &str = r#"
reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
echo "starting up" >&2
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  printf '%s\n' "$line" >> log
  case "$line" in
    *'"method":"initialize"'*)
      reply '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"'"$1"'","version":"1"}}' ;;
    *'"method":"tools/list"'*'"cursor":"more"'*)
      reply '{"tools":[{"name":"picture","inputSchema":{"type":"object"}},{"name":"crash","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/list"'*)
      reply '{"tools":[{"name":"greet","description":"Greets.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},
        {"name":"fail","inputSchema":{"type":"object"}},{"name":"keys","inputSchema":{"type":"object"}}],"nextCursor":"more"}' | tr -d '\n'; echo ;;
    *'"name":"greet"'*) reply '{"content":[{"type":"text","text":"Hello"},{"type":"text","text":"from '"$1"'"}]}' ;;
    *'"name":"fail"'*) reply '{"content":[{"type":"text","text":"It is closed."}],"isError":true}' ;;
    *'"name":"keys"'*) reply '{"content":[],"structuredContent":{"key":"'"$AI_GATEWAY_API_KEY$SLUICE_API_KEY"'"}}' ;;
    *'"name":"picture"'*) reply '{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}]}' ;;
    *'"name":"crash"'*) echo "out of order" >&2; exit 3 ;;
    *'"method":"ping"'*) reply '{}' ;;
  esac
done
"#;

struct Bench {
    directory: PathBuf,
    simulator: Simulator,
}

impl Bench {
    fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp").join(name);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("server.sh"), SERVER).unwrap();
        Self { directory, simulator: Simulator::start(Config::recording()).unwrap() }
    }

    fn run(&self, prompt: &str, arguments: &[&str]) -> Output {
        let chat = ["chat", "-m", "sluice/tools"];
        let mut command = support::sluice(&self.directory, &[&chat, arguments, &["-"]].concat());
        command.env("SLUICE_BASE_URL", self.simulator.url()).env("AI_GATEWAY_API_KEY", "canary");
        support::start(&mut command, prompt.as_bytes()).wait_with_output().unwrap()
    }

    /// Returns the body of the last request.
    fn last(&self) -> Value {
        support::bodies(&self.simulator).pop().expect("a request")
    }

    /// Returns the results that the model got, call by call.
    fn results(&self) -> String {
        let body = self.last();
        let items = body["input"].as_array().unwrap().iter();
        let results = items.filter(|item| item["type"] == "function_call_output");
        results.map(|result| format!("{}\n", result["output"])).collect()
    }

    /// Returns the lines of a file that the server wrote.
    fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.directory.join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

const ONE: [&str; 3] = ["--yes", "--mcp", "sh server.sh 'the clerk'"];

#[track_caller]
fn check(name: &str, prompt: &str, results: &Expect) {
    let bench = Bench::new(name);
    let output = bench.run(prompt, &ONE);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    results.assert_eq(&bench.results());
}

#[test]
fn results_are_texts_and_images_and_errors() {
    check(
        "texts",
        "greet",
        &expect![[r#"
        "Hello\nfrom the clerk"
    "#]],
    );
    check(
        "errors",
        "fail",
        &expect![[r#"
            "The tool failed:\nIt is closed."
        "#]],
    );
    check(
        "images",
        "picture",
        &expect![[r#"
            [{"detail":"auto","image_url":"data:image/png;base64,iVBORw0KGgo=","type":"input_image"}]
        "#]],
    );
    // The server doesn't get the key.
    check(
        "keys",
        "keys",
        &expect![[r#"
        "{\"key\":\"\"}"
    "#]],
    );
}

#[test]
fn all_pages_of_the_list_are_offered() {
    let bench = Bench::new("pages");
    bench.run("greet", &ONE);
    let body = bench.last();
    let names: Vec<&str> =
        body["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["greet", "fail", "keys", "picture", "crash"]);
}

#[test]
fn tools_of_the_same_name_are_told_apart() {
    let bench = Bench::new("names");
    let both = ["--yes", "--mcp", "sh server.sh first", "--mcp", "sh server.sh second"];
    bench.run("second_greet", &both);
    expect![[r#"
        "Hello\nfrom second"
    "#]]
    .assert_eq(&bench.results());
}

/// The pipe ends when the last process that has it is gone.
#[test]
fn servers_end_with_the_conversation() {
    let well_behaved = "sh server.sh clerk";
    let stubborn = "trap '' TERM; sh server.sh clerk; while :; do sleep 1; done";
    for script in [well_behaved, stubborn] {
        let bench = Bench::new("ends");
        let pipe = bench.directory.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn(|| fs::read_to_string(pipe));
        bench.run("greet", &["--yes", "--mcp", &format!("sh -c \"exec 3> pipe; {script}\"")]);
        reader.join().unwrap().unwrap();
    }
}

#[test]
fn nothing_is_called_without_permission() {
    let bench = Bench::new("permission");
    let output = bench.run("greet", &ONE[1..]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("greet was not run, because nobody can be asked"));
    expect![[r#"
        "The tool failed:\nThe tool was not run: the user could not be asked for permission."
    "#]]
    .assert_eq(&bench.results());
    assert!(!bench.lines("log").iter().any(|line| line.contains("tools/call")));
}

#[test]
fn a_server_that_crashes_does_not_end_the_conversation() {
    check(
        "crash",
        "crash",
        &expect![[r#"
            "The tool failed:\nthe MCP server \"sh server.sh 'the clerk'\" has ended\nstarting up\nout of order"
        "#]],
    );
}

#[test]
fn a_server_that_does_not_start_is_an_error() {
    let bench = Bench::new("start");
    let cases = [
        ("no-such-program-anywhere", "\"no-such-program-anywhere\" cannot be started: "),
        ("sh -c 'echo it is broken >&2; exit 1'", "ended before it was ready"),
        ("sh -c 'echo it is broken >&2; exit 1'", "it is broken"),
        ("sh -c 'unclosed", "is not a command; check its quotation marks"),
        ("", "is not a command"),
    ];
    for (command, expected) in cases {
        let output = bench.run("greet", &["--mcp", command]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {told}");
        assert!(told.contains(expected), "{command}: {told}");
    }
    assert!(bench.simulator.requests().is_empty(), "nothing was sent");
}
