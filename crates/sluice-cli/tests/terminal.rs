//! A conversation in a real pseudo-terminal: editing, pasting, Ctrl-C, commands and what is on the screen.

#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Child;

use expect_test::{Expect, expect};
use pty_process::Size;
use pty_process::blocking::{Command, Pty};
use sluice_simulator::server::{Config, Simulator};

use crate::support;

/// A program in a terminal, and everything that it has printed.
struct Terminal {
    pty: Pty,
    screen: vt100::Parser,
    printed: Vec<u8>,
    child: Child,
    simulator: Simulator,
    directory: PathBuf,
}

impl Terminal {
    fn start(name: &str, arguments: &[&str], size: (u16, u16)) -> Self {
        Self::start_in(empty_directory(name), arguments, size)
    }

    fn start_in(directory: PathBuf, arguments: &[&str], size: (u16, u16)) -> Self {
        Self::start_with(directory, arguments, size, &[])
    }

    fn start_with(
        directory: PathBuf,
        arguments: &[&str],
        (rows, columns): (u16, u16),
        variables: &[(&str, &str)],
    ) -> Self {
        let simulator = Simulator::start(Config::recording()).unwrap();
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(Size::new(rows, columns)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"))
            .args(arguments)
            .current_dir(&directory)
            .env("SLUICE_HOME", &directory)
            .env("XDG_CACHE_HOME", &directory)
            .env("SLUICE_BASE_URL", simulator.url())
            .env("TERM", "xterm-256color");
        for name in ["SLUICE_API_KEY", "AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN", "SLUICE_MODEL", "NO_COLOR"] {
            command = command.env_remove(name);
        }
        for (name, value) in variables {
            command = command.env(name, value);
        }
        let child = command.spawn(pts).unwrap();
        let screen = vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
        Self { pty, screen, printed: Vec::new(), child, simulator, directory }
    }

    /// Types keys.
    fn type_keys(&mut self, keys: &str) {
        self.pty.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads until the screen contains a text.
    fn wait_for(&mut self, text: &str) {
        while !self.screen.screen().contents().contains(text) {
            assert!(self.read() > 0, "{text:?} did not appear:\n{}", self.screen.screen().contents());
        }
    }

    /// Reads until the program waits for a question: the last line is the prompt.
    fn wait_for_prompt(&mut self) {
        while !self.screen.screen().contents().trim_end().ends_with("\n>") {
            assert!(self.read() > 0, "there is no prompt:\n{}", self.screen.screen().contents());
        }
    }

    /// Types keys that make a line, sends it, and waits for the next prompt.
    fn say(&mut self, keys: &str, line: &str) {
        self.type_keys(keys);
        self.wait_for(&format!("> {line}"));
        self.type_keys("\r");
        self.wait_for_prompt();
    }

    /// Returns 0 at the end of the output.
    fn read(&mut self) -> usize {
        let mut chunk = [0; 4096];
        // After the last process is gone, reading is an error.
        let length = self.pty.read(&mut chunk).unwrap_or(0);
        self.screen.process(&chunk[..length]);
        self.printed.extend_from_slice(&chunk[..length]);
        length
    }

    /// Waits for the end of the program and returns its exit code.
    fn end(mut self) -> Option<i32> {
        while self.read() > 0 {}
        self.child.wait().unwrap().code()
    }

    /// Waits for the end of the program. Returns what is on the screen, and everything that was printed.
    fn finish(mut self) -> (String, String) {
        while self.read() > 0 {}
        assert!(self.child.wait().unwrap().success());
        let contents = self.screen.screen().contents();
        let rows: Vec<&str> = contents.lines().map(str::trim_end).collect();
        (rows.join("\n").trim_end().to_owned() + "\n", String::from_utf8(self.printed).unwrap())
    }

    /// Returns the text of the last question.
    fn asked(&self) -> String {
        let bodies = support::bodies(&self.simulator);
        let body = bodies.last().expect("a request");
        let last = body["input"].as_array().unwrap().last().unwrap();
        last["content"].as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap_or("[data]")).collect()
    }
}

fn empty_directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminal").join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

const SIZE: (u16, u16) = (40, 100);
const PASTE: [&str; 2] = ["\u{1b}[200~", "\u{1b}[201~"];

#[test]
fn a_line_is_edited_and_remembered() {
    let mut terminal = Terminal::start("editing", &["chat", "-m", "sluice/echo"], SIZE);
    terminal.wait_for_prompt();
    terminal.say("Helo there\u{1b}[1~\u{1b}[C\u{1b}[C\u{1b}[Cl", "Hello there");
    assert_eq!(terminal.asked(), "Hello there");
    terminal.say("\u{1b}[A!", "Hello there!");
    assert_eq!(terminal.asked(), "Hello there!");
    terminal.type_keys("first\\\rsecond\u{1b}\r");
    terminal.wait_for("second");
    terminal.type_keys("third");
    terminal.wait_for("third");
    terminal.type_keys("\r");
    terminal.wait_for_prompt();
    assert_eq!(terminal.asked(), "first\nsecond\nthird");
    terminal.type_keys("\u{4}");
    let directory = terminal.directory.clone();
    assert_eq!(terminal.end(), Some(0));
    // The history outlives the program, and only its owner can read it.
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(directory.join("history")).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let mut terminal = Terminal::start_in(directory, &["chat", "-m", "sluice/echo"], SIZE);
    terminal.wait_for_prompt();
    terminal.say("\u{1b}[A\u{1b}[A\u{1b}[A\u{1b}[A", "Hello there!");
    assert_eq!(terminal.asked(), "Hello there!");
}

#[test]
fn without_arguments_a_conversation_starts() {
    let variables = [("SLUICE_MODEL", "sluice/echo")];
    let mut terminal = Terminal::start_with(empty_directory("alone"), &[], SIZE, &variables);
    terminal.wait_for("Talking with sluice/echo.");
    terminal.wait_for_prompt();
    terminal.say("Hello", "Hello");
    assert_eq!(terminal.asked(), "Hello");
    terminal.type_keys("\u{4}");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn a_question_is_not_the_name_of_a_capture() {
    let mut terminal = Terminal::start("capture", &["capture", "hello how are you"], SIZE);
    terminal.wait_for("name a file before the question");
    assert!(!terminal.directory.join("hello how are you").exists());
    assert_eq!(terminal.end(), Some(2));
}

#[test]
fn a_pasted_text_is_one_question() {
    let mut terminal = Terminal::start("paste", &["chat", "-m", "sluice/echo"], (120, 100));
    terminal.wait_for_prompt();
    let script = "Explain:\n#!/bin/sh\n\n\ntouch PWNED";
    terminal.type_keys(&PASTE.join(&script.replace('\n', "\r")));
    terminal.wait_for("touch PWNED");
    terminal.type_keys("\r");
    terminal.wait_for_prompt();
    assert_eq!(terminal.asked(), script);
    // A terminal in its usual mode would cut a line after 4,095 bytes.
    let long = format!("{}end", "x".repeat(4500));
    terminal.type_keys(&PASTE.join(&long));
    terminal.wait_for("xend");
    terminal.type_keys("\r");
    terminal.wait_for_prompt();
    assert_eq!(terminal.asked(), long);
    // Nothing is asked by an empty line.
    terminal.type_keys("\r");
    terminal.say("/cost", "/cost");
    terminal.wait_for("2 requests");
    terminal.type_keys("/quit\r");
    let requests = support::bodies(&terminal.simulator).len();
    assert_eq!((requests, terminal.end()), (2, Some(0)));
}

#[test]
fn ctrl_c_clears_stops_and_leaves() {
    let mut terminal = Terminal::start("interrupt", &["chat", "-m", "sluice/echo+delay-headers=600000"], SIZE);
    terminal.wait_for_prompt();
    terminal.type_keys("not sent");
    terminal.wait_for("> not sent");
    // What is typed is cleared, again and again; nothing leaves.
    terminal.type_keys("\u{3}");
    terminal.wait_for_prompt();
    terminal.type_keys("nor this");
    terminal.wait_for("> nor this");
    terminal.type_keys("\u{3}");
    terminal.wait_for_prompt();
    terminal.type_keys("\u{3}");
    terminal.wait_for("Ctrl-C again or Ctrl-D leaves.");
    terminal.wait_for_prompt();
    terminal.type_keys("a question");
    terminal.wait_for("> a question");
    terminal.type_keys("\r");
    // The request is running; the editor isn't. The spinner goes on, so there is always something to read.
    while support::bodies(&terminal.simulator).is_empty() {
        terminal.read();
    }
    assert_eq!(terminal.asked(), "a question");
    terminal.type_keys("\u{3}");
    terminal.wait_for("cancelled");
    terminal.wait_for_prompt();
    // The second one leaves.
    terminal.type_keys("\u{3}");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn commands_change_the_conversation() {
    let mut terminal = Terminal::start("commands", &["chat", "-m", "sluice/echo"], (60, 100));
    fs::write(terminal.directory.join("notes.txt"), "the notes").unwrap();
    terminal.wait_for_prompt();
    terminal.say("one", "one");
    terminal.say("/undo", "/undo");
    terminal.say("/system Be brief.", "/system Be brief.");
    terminal.say("/file no\t", "/file notes.txt");
    terminal.say("two", "two");
    assert_eq!(terminal.asked(), "<file path=\"notes.txt\">\nthe notes\n</file>\ntwo");
    let body = support::bodies(&terminal.simulator).pop().unwrap();
    assert_eq!((&body["instructions"], body["input"].as_array().unwrap().len()), (&"Be brief.".into(), 1));
    terminal.type_keys("/model sluice/reas");
    // The list of models is fetched meanwhile. Until it is there, Tab only rings.
    while !terminal.screen.screen().contents().contains("> /model sluice/reasoning") {
        terminal.type_keys("\t");
        assert!(terminal.read() > 0);
    }
    terminal.type_keys("\r");
    terminal.wait_for("Talking with sluice/reasoning.");
    terminal.wait_for_prompt();
    terminal.say("/save talk.md", "/save talk.md");
    terminal.say("/nonsense", "/nonsense");
    terminal.wait_for("there is no command /nonsense");
    let saved = fs::read_to_string(terminal.directory.join("talk.md")).unwrap();
    assert!(saved.contains("## Instructions\n\nBe brief.") && saved.contains("## Answer"), "{saved}");
    terminal.say("/clear", "/clear");
    terminal.say("three", "three");
    let body = support::bodies(&terminal.simulator).pop().unwrap();
    assert_eq!((&body["model"], body["input"].as_array().unwrap().len()), (&"sluice/reasoning".into(), 1));
    terminal.type_keys("/exit\r");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn a_question_that_failed_is_asked_again_with_its_files() {
    let mut terminal = Terminal::start("failed", &["chat", "-m", "sluice/echo+status=402"], (60, 100));
    fs::write(terminal.directory.join("notes.txt"), "the notes").unwrap();
    terminal.wait_for_prompt();
    terminal.say("/file notes.txt", "/file notes.txt");
    terminal.say("one", "one");
    terminal.wait_for("failed: ");
    terminal.say("/model sluice/echo", "/model sluice/echo");
    terminal.say("two", "two");
    let body = support::bodies(&terminal.simulator).pop().unwrap();
    assert_eq!(body["input"].as_array().unwrap().len(), 1, "{body}");
    assert_eq!(terminal.asked(), "<file path=\"notes.txt\">\nthe notes\n</file>\ntwo");
    terminal.say("three", "three");
    assert_eq!(terminal.asked(), "three");
    terminal.type_keys("\u{4}");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn a_tool_runs_only_if_the_user_agrees() {
    let tools = r#"{"tools": [{"name": "run", "command": ["sh", "-c", "echo x >> log; echo done"]}]}"#;
    let directory = empty_directory("agree");
    fs::write(directory.join("tools.json"), tools).unwrap();
    let runs = || fs::read_to_string(directory.join("log")).unwrap_or_default().lines().count();
    for (answer, expected) in [("n\r", 0), ("\r", 0), ("y\r", 1), ("a\r", 3)] {
        // Two calls, one after the other.
        let prompt = if expected == 3 { "run {} run {\"a\":1}" } else { "run {}" };
        let arguments = ["chat", "-m", "sluice/tools", "--tools", "tools.json", prompt];
        let mut terminal = Terminal::start_in(directory.clone(), &arguments, SIZE);
        terminal.wait_for("Run run? [y]es, [a]lways, [N]o:");
        terminal.type_keys(answer);
        terminal.wait_for("completed · ");
        assert_eq!(terminal.end(), Some(0));
        assert_eq!(runs(), expected, "{answer:?}");
    }
}

#[test]
fn the_user_sees_what_may_run() {
    let directory = empty_directory("seen");
    let tools = r#"{"tools": [{"name": "run", "command": ["sh", "-c", "echo one; echo two"]}]}"#;
    fs::write(directory.join("tools.json"), tools).unwrap();
    for option in ["-q", "--json"] {
        let arguments = ["chat", "-m", "sluice/tools", "--tools", "tools.json", option, "run {\"path\":\"secret\"}"];
        let mut terminal = Terminal::start_in(directory.clone(), &arguments, (40, 200));
        terminal.wait_for("Run run? [y]es, [a]lways, [N]o:");
        assert!(terminal.screen.screen().contents().contains("→ run {\"path\":\"secret\"}\nRun run?"), "{option}");
        terminal.type_keys("\r");
        assert_eq!(terminal.end(), Some(0));
    }
    let arguments = ["chat", "-m", "sluice/tools", "--tools", "tools.json", "-y", "-v", "run {}"];
    let (screen, _) = Terminal::start_in(directory, &arguments, SIZE).finish();
    assert!(screen.contains("← run: one\n  two\n"), "{screen}");
}

const ANSWER: &str = "# Levels of the *gate*\n\nThe **upper** gate is `closed`, see [the plan](https://example.com/plan) for its opening hours this week.\n\n\
    1. Open it:\n\n   ```sh\n   gate open --slowly # one hand\n   ```\n\n   It takes a while: 水位 and ünïcode are as wide as they look 😀.\n\n\
    2. Close it\n   - by hand\n   - or by itself\n\n> Never both.\n\n| Gate | Purpose of the gate, in some detail | Metres |\n|---|---|---:|\n\
    | upper | keeps the water in the basin until it is needed | 1.5 |\n| lower | empties it | 12 |\n";

/// Checks how an answer looks on a terminal with this many columns.
#[expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]
fn check_answer(columns: u16, expected: Expect) {
    let arguments = ["chat", "-q", "-m", "sluice/echo+chunk=5", ANSWER];
    let directory = |name| empty_directory(&format!("answer-{columns}-{name}"));
    let (screen, printed) = Terminal::start_in(directory("colour"), &arguments, (60, columns)).finish();
    expected.assert_eq(&screen);
    let has_colour = |text: &str| {
        text.split("\u{1b}[")
            .skip(1)
            .any(|sequence| sequence.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m'))
    };
    assert!(has_colour(&printed));
    let variables = [("NO_COLOR", "1")];
    let (_, printed) = Terminal::start_with(directory("plain"), &arguments, (60, columns), &variables).finish();
    assert!(!has_colour(&printed), "{printed:?}");
    for (option, variables) in [("--plain", [("TERM", "xterm")]), ("--no-log", [("TERM", "dumb")])] {
        let arguments = ["chat", "-q", "-m", "sluice/echo", option, ANSWER];
        let (_, printed) = Terminal::start_with(directory("raw"), &arguments[..], (60, columns), &variables).finish();
        assert_eq!(printed.replace('\r', ""), ANSWER, "{option}");
    }
}

/// Without colours, only the marks of Markdown distinguish a heading from other text.
#[test]
fn an_answer_without_colours_keeps_its_marks() {
    let arguments = ["chat", "-q", "-m", "sluice/echo+chunk=5", ANSWER];
    let variables = [("NO_COLOR", "1")];
    let (screen, _) = Terminal::start_with(empty_directory("marks"), &arguments, (60, 60), &variables).finish();
    expect![[r#"
        # Levels of the *gate*

        The **upper** gate is `closed`, see the plan
        (https://example.com/plan) for its opening hours this week.

        1. Open it:

             gate open --slowly # one hand

           It takes a while: 水位 and ünïcode are as wide as they
           look 😀.

        2. Close it
           • by hand
           • or by itself

        │ Never both.

        Gate  │ Purpose of the gate, in some detail         │ Metres
        ──────┼─────────────────────────────────────────────┼───────
        upper │ keeps the water in the basin until it is    │    1.5
              │ needed                                      │
        ──────┼─────────────────────────────────────────────┼───────
        lower │ empties it                                  │     12
    "#]]
    .assert_eq(&screen);
}

#[test]
fn an_answer_at_40_columns() {
    check_answer(
        40,
        expect![[r#"
        Levels of the gate

        The upper gate is closed, see the plan
        (https://example.com/plan) for its
        opening hours this week.

        1. Open it:

             gate open --slowly # one hand

           It takes a while: 水位 and ünïcode
           are as wide as they look 😀.

        2. Close it
           • by hand
           • or by itself

        │ Never both.

        Gate  │ Purpose of the gate, in │ Metres
              │ some detail             │
        ──────┼─────────────────────────┼───────
        upper │ keeps the water in the  │    1.5
              │ basin until it is       │
              │ needed                  │
        ──────┼─────────────────────────┼───────
        lower │ empties it              │     12
    "#]],
    );
}

#[test]
fn an_answer_at_80_columns() {
    check_answer(
        80,
        expect![[r#"
        Levels of the gate

        The upper gate is closed, see the plan (https://example.com/plan) for its
        opening hours this week.

        1. Open it:

             gate open --slowly # one hand

           It takes a while: 水位 and ünïcode are as wide as they look 😀.

        2. Close it
           • by hand
           • or by itself

        │ Never both.

        Gate  │ Purpose of the gate, in some detail             │ Metres
        ──────┼─────────────────────────────────────────────────┼───────
        upper │ keeps the water in the basin until it is needed │    1.5
        lower │ empties it                                      │     12
    "#]],
    );
}

#[test]
fn an_answer_at_200_columns() {
    check_answer(
        200,
        expect![[r#"
        Levels of the gate

        The upper gate is closed, see the plan (https://example.com/plan) for its opening hours this week.

        1. Open it:

             gate open --slowly # one hand

           It takes a while: 水位 and ünïcode are as wide as they look 😀.

        2. Close it
           • by hand
           • or by itself

        │ Never both.

        Gate  │ Purpose of the gate, in some detail             │ Metres
        ──────┼─────────────────────────────────────────────────┼───────
        upper │ keeps the water in the basin until it is needed │    1.5
        lower │ empties it                                      │     12
    "#]],
    );
}
