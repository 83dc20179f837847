//! Conversations that are kept, settings, and what an answer has to look like.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use sluice_simulator::server::{Config, Simulator};

use crate::support;

/// A directory for one test, and the gateway.
struct Bench {
    directory: PathBuf,
    simulator: Simulator,
}

impl Bench {
    fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conversations").join(name);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        Self { directory, simulator: Simulator::start(Config::recording()).unwrap() }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = support::sluice(&self.directory, arguments);
        support::run(command.env("SLUICE_BASE_URL", self.simulator.url()), b"")
    }

    /// Runs a command that must succeed, and returns what it printed.
    fn print(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the last request.
    fn body(&self) -> Value {
        support::bodies(&self.simulator).pop().expect("a request")
    }

    fn kept(&self) -> usize {
        fs::read_dir(self.directory.join("conversations")).map_or(0, Iterator::count)
    }
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_conversation_is_continued_found_and_shown() {
    let bench = Bench::new("continued");
    assert_eq!(bench.run(&["chat", "-c", "Hello"]).status.code(), Some(2), "there is none yet");
    bench.print(&["chat", "-m", "sluice/echo", "-s", "Be brief.", "The first question"]);
    bench.print(&["chat", "-m", "sluice/echo", "Something else"]);
    let first = bench.print(&["log", "first", "QUESTION"]);
    assert_eq!(first.lines().count(), 1, "{first}");
    assert!(first.contains("sluice/echo  The first question"), "{first}");
    let id = first.split_whitespace().next().unwrap();
    bench.print(&["chat", "--id", id, "And now?"]);
    let body = bench.body();
    assert_eq!((&body["instructions"], &body["model"]), (&json!("Be brief."), &json!("sluice/echo")));
    assert_eq!(body["input"].as_array().unwrap().len(), 3, "question, answer, question");
    // It was continued last, although the other one is newer.
    bench.print(&["chat", "-c", "Go on"]);
    assert_eq!(bench.body()["input"].as_array().unwrap().len(), 5);
    let title = bench.print(&["log", "-n", "1"]);
    assert!(title.trim_end().ends_with("sluice/echo  The first question"), "{title}");
    let shown = bench.print(&["show"]);
    assert!(shown.contains("## Instructions\n\nBe brief.") && shown.contains("## Question\n\nGo on"), "{shown}");
    assert_eq!((bench.kept(), bench.print(&["log"]).lines().count()), (2, 2));
    let line: Value = serde_json::from_str(bench.print(&["log", "--json", "Something"]).trim()).unwrap();
    assert_eq!((&line["title"], &line["model"]), (&json!("Something else"), &json!("sluice/echo")));
    bench.print(&["log", "--delete", "Something"]);
    assert_eq!(bench.kept(), 1);
    assert!(told(&bench.run(&["show", "nonsense"])).contains("there is no conversation nonsense"));
}

#[test]
fn nothing_is_kept_if_the_user_says_so() {
    let bench = Bench::new("not-kept");
    bench.print(&["chat", "--no-log", "-m", "sluice/echo", "Hello"]);
    assert_eq!(bench.kept(), 0);
    bench.print(&["config", "log", "off"]);
    bench.print(&["chat", "-m", "sluice/echo", "Hello"]);
    assert_eq!(bench.kept(), 0);
    bench.print(&["config", "log", "--unset"]);
    bench.print(&["chat", "-m", "sluice/echo", "Hello"]);
    assert_eq!(bench.kept(), 1);
    // A request that failed has no answer to continue.
    bench.run(&["chat", "-m", "sluice/echo+status=402", "Hello"]);
    assert_eq!(bench.kept(), 1);
}

#[test]
fn settings_apply_unless_an_option_says_otherwise() {
    let bench = Bench::new("settings");
    for (name, value) in
        [("model", "sluice/echo"), ("system", "Be kind."), ("option.temperature", "0.5"), ("max-output", "99")]
    {
        bench.print(&["config", name, value]);
    }
    let all = "max-output = 99\nmodel = sluice/echo\noption.temperature = 0.5\nsystem = Be kind.\n";
    assert_eq!(
        (bench.print(&["config"]), bench.print(&["config", "model"])),
        (all.to_owned(), "sluice/echo\n".to_owned())
    );
    bench.print(&["chat", "Hello"]);
    let body = bench.body();
    assert_eq!((&body["model"], &body["instructions"]), (&json!("sluice/echo"), &json!("Be kind.")));
    assert_eq!((&body["temperature"], &body["max_output_tokens"]), (&json!(0.5), &json!(99)));
    bench.print(&[
        "chat",
        "-m",
        "sluice/reasoning",
        "-s",
        "Be brief.",
        "-o",
        "temperature=0.1",
        "-o",
        "user=ada",
        "Hello",
    ]);
    let body = bench.body();
    assert_eq!((&body["model"], &body["instructions"]), (&json!("sluice/reasoning"), &json!("Be brief.")));
    assert_eq!((&body["temperature"], &body["user"]), (&json!(0.1), &json!("ada")));
    for arguments in [&["config", "nonsense", "1"][..], &["config", "log", "maybe"], &["config", "max-output", "3"]] {
        assert_eq!(bench.run(arguments).status.code(), Some(2), "{arguments:?}");
    }
    assert_eq!(bench.run(&["config", "effort"]).status.code(), Some(1), "it isn't set");
}

#[test]
fn an_answer_is_checked_extracted_and_put_into_a_template() {
    let bench = Bench::new("format");
    // The echo model repeats the prompt.
    let answer = r#"{"name": "Ada", "age": 36}"#;
    bench.print(&["chat", "-m", "sluice/echo", "--schema", "name, age int", answer]);
    let format = &bench.body()["text"]["format"];
    assert_eq!((&format["type"], &format["schema"]["required"]), (&json!("json_schema"), &json!(["name", "age"])));
    let wrong = bench.run(&["chat", "-m", "sluice/echo", "--schema", "name, age int", r#"{"name": "Ada"}"#]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(told(&wrong).contains("the answer doesn't fit the schema: it has no age"), "{}", told(&wrong));
    let block = bench.print(&["chat", "-x", "-m", "sluice/echo", "Run\n```sh\nls\n```\nor\n```sh\nls -l\n```\n"]);
    assert_eq!(block, "ls -l\n");
    fs::create_dir(bench.directory.join("templates")).unwrap();
    fs::write(bench.directory.join("templates/polite.md"), "Please: $input. Thanks.").unwrap();
    assert_eq!(
        bench.print(&["chat", "-q", "-m", "sluice/echo", "-t", "polite", "help", "me"]),
        "Please: help me. Thanks.\n"
    );
    assert!(told(&bench.run(&["chat", "-t", "missing", "x"])).contains("there is no template \"missing\""));
}

#[cfg(unix)]
#[test]
fn a_prompt_is_written_in_an_editor() {
    let bench = Bench::new("editor");
    let script = bench.directory.join("editor.sh");
    fs::write(&script, "#!/bin/sh\necho 'from the editor' >> \"$1\"\n").unwrap();
    let mut command = support::sluice(&bench.directory, &["chat", "-q", "-m", "sluice/echo", "--edit", "start:"]);
    command
        .env("SLUICE_BASE_URL", bench.simulator.url())
        .env("EDITOR", format!("sh {}", script.display()))
        .env_remove("VISUAL");
    let output = support::run(&mut command, b"");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "start:from the editor\n", "{}", told(&output));
}

#[test]
fn the_version_has_a_commit_and_there_is_a_manual() {
    let bench = Bench::new("manual");
    assert!(bench.print(&["--version"]).starts_with(concat!("sluice ", env!("CARGO_PKG_VERSION"))));
    assert!(bench.print(&["man"]).contains(".TH sluice 1"));
    bench.print(&["man", "pages"]);
    assert!(bench.directory.join("pages/sluice-chat.1").is_file());
}

#[test]
fn a_similar_model_is_suggested() {
    let output = Bench::new("similar").run(&["chat", "-m", "sluice/dmeo", "Hello"]);
    assert!(told(&output).contains("did you mean sluice/demo"), "{}", told(&output));
}
