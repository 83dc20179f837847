//! A key that must not leak: nothing that the program prints or writes contains it.

use std::path::{Path, PathBuf};

use crate::support;
use crate::support::canary::{CANARY, only_in_the_header, silent, simulator};
use sluice_simulator::server::{Config, Simulator};
use sluice_simulator::{Faults, Options, faults};

/// Runs the real program with the canary as its key. Returns the exit code.
fn sluice(url: &str, directory: &Path, arguments: &[&str]) -> Option<i32> {
    let mut command = support::sluice(directory, arguments);
    let output = command.env("SLUICE_API_KEY", CANARY).env("SLUICE_BASE_URL", url).output().unwrap();
    silent(&format!("the output of {arguments:?}"), &output.stdout);
    silent(&format!("the errors of {arguments:?}"), &output.stderr);
    output.status.code()
}

fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Checks that no file in the directory contains the key or can be read by others. Returns the number of files.
fn silent_files(directory: &Path) -> usize {
    let mut files = 0;
    for path in std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()) {
        if path.is_dir() {
            files += silent_files(&path);
            continue;
        }
        silent(&format!("{}", path.display()), std::fs::read(&path).unwrap());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        }
        files += 1;
    }
    files
}

/// Returns the number of files with conversations and with records of their requests.
fn conversations(directory: &Path) -> usize {
    let files = |name: &str| std::fs::read_dir(directory.join(name)).map_or(0, Iterator::count);
    assert_eq!(files("conversations"), files("requests"));
    files("conversations") + files("requests")
}

/// Returns the files of the capture `stream.txt`: a stream, a request and perhaps a failure for each attempt.
fn captures(directory: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("stream.txt"))).collect()
}

#[test]
fn the_program_never_writes_the_key() {
    let elsewhere = simulator();
    let simulator = simulator();
    let directory = scratch("canary");
    let run = |arguments: &[&str]| sluice(&simulator.url(), &directory, arguments);
    let redirect = format!("sluice/echo+redirect={}/responses", elsewhere.url());

    assert_eq!(run(&["chat", "-m", "sluice/echo", "Hello"]), Some(0));
    assert_eq!(run(&["chat", "-v", "-m", "sluice/echo+unknown-event", "Hello"]), Some(0));
    assert_eq!(run(&["chat", "--json", "-m", "sluice/reasoning", "Hello"]), Some(0));
    assert_eq!(run(&["chat", "--json", "-m", "sluice/echo+status=401", "Hello"]), Some(1));
    assert_eq!(run(&["chat", "-m", "sluice/echo+html-404", "Hello"]), Some(1));
    assert_eq!(run(&["chat", "-m", "sluice/echo+cut-at", "Hello"]), Some(1));
    assert_eq!(run(&["chat", "-v", "-m", &redirect, "Hello"]), Some(1));
    assert_eq!(run(&["chat", "-m", "sluice/no-such-model", "Hello"]), Some(1));
    assert_eq!(run(&["models"]), Some(0));
    assert_eq!(run(&["usage", "--json"]), Some(0));
    assert_eq!(run(&["models", "--json"]), Some(0));
    assert_eq!(run(&["capture", "stream.txt", "-m", "sluice/echo", "Hello"]), Some(0));
    assert_eq!(run(&["chat", "--capture", "failed.txt", "-m", "sluice/echo+error-event", "Hello"]), Some(1));
    // Errors before any request.
    assert_eq!(run(&["chat", "Hello"]), Some(2));
    assert_eq!(run(&["chat", "--no-such-flag"]), Some(2));
    assert_eq!(run(&["chat", "--help"]), Some(0));
    assert_eq!(sluice("http://gateway.example/v1", &directory, &["models"]), Some(2));

    assert_eq!(
        silent_files(&directory) - conversations(&directory),
        15,
        "a capture with its request; three attempts, each with its request and its failure; the list of models; what is remembered, its key, its lock"
    );
    // There are eleven requests, because the list is cached; the answer that is cut off before its first word is
    // requested three times, and the page with status 404 makes the program try the address without `/v1`.
    assert_eq!((only_in_the_header(&simulator), elsewhere.requests().len()), (14, 0));
}

#[test]
fn a_key_that_a_server_quotes_is_masked_wherever_it_is_written() {
    let simulator = simulator();
    let directory = scratch("quoted");
    let mut runs = 0;
    for fault in faults().iter().filter(|fault| fault.name.starts_with("quote-key")) {
        // This includes retries, so that their messages are checked, and small chunks, so that the key is split.
        let more = if fault.name == "quote-key" { "+status=503+retry-after-ms=1" } else { "+delta-only+chunk=5" };
        for model in fault.variants().flat_map(|variant| ["", more].map(|more| format!("sluice/echo+{variant}{more}")))
        {
            for arguments in [
                &["chat", "-v", "-m", &model, "--capture", "stream.txt", "Hello"],
                &["chat", "--json", "-m", &model, "--capture", "stream.txt", "Hello"],
            ] {
                for file in captures(&directory) {
                    std::fs::remove_file(file).unwrap();
                }
                assert!(sluice(&simulator.url(), &directory, arguments).is_some_and(|code| code < 2), "{arguments:?}");
                runs += 1;
            }
            let captures = captures(&directory).len();
            assert!(captures >= 2, "a stream and its request");
            let others = silent_files(&directory) - conversations(&directory) - captures;
            assert_eq!(others, 3, "{model}: what is remembered, its key, its lock");
        }
    }
    assert_eq!(run_twice(&simulator.url(), &directory, &["usage"]), (Some(0), Some(0)));
    assert_eq!(runs, 40);
}

#[test]
fn a_key_that_a_list_quotes_is_masked_wherever_it_is_written() {
    for fault in ["quote-key-answer", "quote-key", "quote-key=code", "quote-key=request-id", "quote-key=escaped"] {
        let list_faults = Faults::parse(fault).unwrap();
        let options = Options { key: Some(CANARY.into()), list_faults, ..Options::default() };
        let simulator = Simulator::start(Config { options, ..Config::default() }).unwrap();
        let directory = scratch("quoted-in-a-list");
        for arguments in [&["models"][..], &["models", "--json"], &["models", "--all", "--refresh"], &["models", "zz"]]
        {
            let (first, second) = run_twice(&simulator.url(), &directory, arguments);
            assert!(first == second && first.is_some_and(|code| code < 2), "{fault} {arguments:?}");
        }
        // Chats use the cached details of a model.
        run_twice(&simulator.url(), &directory, &["chat", "-v", "-m", "sluice/echo", "Hello"]);
        silent_files(&directory);
    }
}

/// Once with what the first run finds, and once with what it has cached.
fn run_twice(url: &str, directory: &Path, arguments: &[&str]) -> (Option<i32>, Option<i32>) {
    (sluice(url, directory, arguments), sluice(url, directory, arguments))
}

/// Returns what a capture contains for an answer.
#[test]
fn a_capture_has_everything_but_the_key() {
    let simulator = simulator();
    let directory = scratch("captured");
    let capture = |model: &str| {
        let _ = std::fs::remove_file(directory.join("stream.txt"));
        sluice(&simulator.url(), &directory, &["capture", "stream.txt", "-m", model, "Hello"]);
        std::fs::read(directory.join("stream.txt")).unwrap()
    };
    let quoted = String::from_utf8(capture("sluice/echo+quote-key-answer+done-only+chunk=7")).unwrap();
    assert!(quoted.contains("The key is Bearer [hidden]"), "{quoted}");
    // The rest is unchanged, even though it isn't valid UTF-8.
    let damaged = capture("sluice/echo+invalid-utf8");
    assert!(std::str::from_utf8(&damaged).is_err());
    assert!(String::from_utf8_lossy(&damaged).contains("response.completed"));
    // A last line without a line ending is included, too.
    assert!(capture("sluice/echo+no-final-blank-line").ends_with(b"}"));
}
