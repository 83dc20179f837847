//! Output that cannot be written: every subcommand of the real binary, with a full disk and a closed pipe.

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::pipe;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use sluice_simulator::server::{Config, Simulator};

use crate::support;

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("write-errors").join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

fn sluice(directory: &Path, url: &str, arguments: &[&str]) -> Command {
    let mut command = support::sluice(directory, arguments);
    command.env("SLUICE_BASE_URL", url).stdin(Stdio::null());
    command
}

fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

fn closed() -> Stdio {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    writer.into()
}

/// Returns the exit code and standard error.
fn ended(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

const UNWRITABLE: &str = "cannot write to standard output: No space left on device";

#[test]
fn every_subcommand_reports_write_errors() {
    let directory = directory("every");
    let simulator = Simulator::start(Config::default()).unwrap();
    let tools = r#"{"tools": [{"name": "run", "description": "", "command": ["echo", "done"]}]}"#;
    fs::write(directory.join("tools.json"), tools).unwrap();
    fs::write(directory.join("text"), b"Hello \xFF there").unwrap();
    fs::write(directory.join("request"), r#"{"model":"m","input":"Hello"}"#).unwrap();
    fs::write(directory.join("stream"), "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\n\n")
        .unwrap();
    // Each has the exit code that it returns if everything can be written.
    let commands: &[(i32, &[&str])] = &[
        (0, &["chat", "-m", "sluice/echo", "Hello"]),
        (0, &["chat", "--json", "-m", "sluice/echo", "Hello"]),
        (0, &["chat", "-m", "sluice/tools", "--tools", "tools.json", "-y", "run {}"]),
        (0, &["capture", "/dev/null", "-m", "sluice/echo", "Hello"]),
        (0, &["models"]),
        (0, &["models", "--json", "--refresh"]),
        (0, &["count", "text"]),
        (0, &["count", "--json", "text"]),
        (0, &["count", "--request", "request"]),
        (1, &["decode", "stream"]),
        (1, &["decode", "--json", "stream"]),
        (0, &["usage"]),
        (0, &["usage", "--json", "--month"]),
        (0, &["serve", "--list-faults"]),
        (0, &["completions", "bash"]),
        (0, &["--help"]),
        (0, &["chat", "--help"]),
        (0, &["--version"]),
    ];
    let check = |code: i32, arguments: &[&str]| {
        let run = |stdout: Stdio, stderr: Stdio| {
            let output = sluice(&directory, &simulator.url(), arguments).stdout(stdout).stderr(stderr).output();
            let (code, errors) = ended(&output.unwrap());
            assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
            (code, errors.contains(UNWRITABLE))
        };
        assert_eq!(run(Stdio::piped(), Stdio::piped()), (Some(code), false), "{arguments:?}");
        assert_eq!(run(full(), Stdio::piped()), (Some(1), true), "{arguments:?} > /dev/full");
        assert_eq!(run(closed(), Stdio::piped()), (Some(141), false), "{arguments:?} | true");
        assert_eq!(run(Stdio::piped(), full()), (Some(code), false), "{arguments:?} 2> /dev/full");
        assert_eq!(run(full(), full()), (Some(1), false), "{arguments:?} > /dev/full 2>&1");
    };
    thread::scope(|scope| {
        for some in commands.chunks(5) {
            scope.spawn(|| some.iter().for_each(|(code, arguments)| check(*code, arguments)));
        }
    });
    // These print nothing to standard output.
    let complaints: &[(i32, &[&str])] = &[
        (2, &[]),
        (1, &["chat", "-m", "sluice/echo+status=401", "Hello"]),
        (2, &["chat", "--no-such-flag"]),
        (2, &["chat", "--tools", "no-such-file", "Hello"]),
        (2, &["count", "no-such-file"]),
        (2, &["count", "--request", "text"]),
        (2, &["decode", "no-such-file"]),
        (2, &["decode", "text"]),
        (2, &["serve", "--fault", "no-such-fault"]),
        (1, &["models", "no-such-model"]),
    ];
    for (code, arguments) in complaints {
        let run =
            |stderr: Stdio| sluice(&directory, &simulator.url(), arguments).stdout(full()).stderr(stderr).output();
        let (told, errors) = ended(&run(Stdio::piped()).unwrap());
        assert!(told == Some(*code) && !errors.is_empty() && !errors.contains("panicked"), "{arguments:?}: {errors}");
        assert_eq!(ended(&run(full()).unwrap()).0, Some(*code), "{arguments:?} 2> /dev/full");
        assert_eq!(ended(&run(closed()).unwrap()).0, Some(*code), "{arguments:?} 2>&1 | true");
    }
    for (stdout, code) in [(full(), 1), (closed(), 141)] {
        let output = sluice(&directory, &simulator.url(), &["serve", "--port", "0"]).stdout(stdout).output().unwrap();
        assert_eq!(ended(&output).0, Some(code), "serve");
    }
}

#[test]
fn a_capture_that_cannot_be_written_is_an_error() {
    let directory = directory("capture");
    let simulator = Simulator::start(Config::default()).unwrap();
    std::os::unix::fs::symlink("/dev/full", directory.join("full")).unwrap();
    std::os::unix::fs::symlink("/dev/full", directory.join("request.request.json")).unwrap();
    for file in ["full", "request"] {
        let arguments = ["capture", file, "-m", "sluice/echo", "Hello"];
        let (code, errors) = ended(&sluice(&directory, &simulator.url(), &arguments).output().unwrap());
        assert!(code.is_some_and(|code| code == 1 || code == 2), "{file}: {code:?}");
        assert!(errors.contains("cannot write the capture"), "{file}: {errors}");
    }
}
