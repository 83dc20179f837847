//! A key that must not sing: it goes to its own origin in the `Authorization` header, and nowhere else.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use sluice::{ApiKey, Client, Event, Timeouts};
use sluice_core::{Endpoint, ModelCatalog, Refresh};
use sluice_simulator::server::{Config, Simulator};
use sluice_simulator::{Options, faults};

use exchange::{PATIENT, ask, chat, client};

#[path = "support/exchange.rs"]
mod exchange;

const CANARY: &str = "canary-6f1d2a9e-Tweet-tweet";

/// Wants the canary, and nothing else.
fn simulator() -> Simulator {
    let options = Options { key: Some(CANARY.into()), ..Options::default() };
    Simulator::start(Config { options, ..Config::default() }).unwrap()
}

fn silent(what: &str, said: impl AsRef<[u8]>) {
    let said = String::from_utf8_lossy(said.as_ref());
    // Neither as it is nor without the part that all keys share.
    for trace in [CANARY, "6f1d2a9e", "Tweet-tweet"] {
        assert!(!said.contains(trace), "the key is in {what}: {said}");
    }
}

/// Every request came with the key in its header, and only there. Says how many there were.
fn only_in_the_header(simulator: &Simulator) -> usize {
    let requests = simulator.requests();
    for request in &requests {
        assert_eq!(request.header("authorization"), Some(format!("Bearer {CANARY}").as_str()), "{}", request.path);
        silent("the path", &request.path);
        silent("the body", &request.body);
        for (name, value) in request.headers.iter().filter(|(name, _)| name != "authorization") {
            silent("a header", format!("{name}: {value}"));
        }
    }
    requests.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_the_client_says_has_the_key() {
    let simulator = simulator();
    let short = Duration::from_millis(100);
    let client =
        client(&simulator.url(), Some(CANARY), Timeouts { headers: Duration::from_secs(5), idle: short, ..PATIENT });
    silent("the client", format!("{client:?} {client:#?}"));
    let megabytes = ["huge-event", "large-event", "many-items", "dribble", "never-headers"];
    let mut asked = 0;
    for fault in faults().iter().filter(|fault| !megabytes.contains(&fault.name)) {
        let model = format!("{}+{}", fault.model, fault.name);
        let mut pieces = 0;
        // Comments for ever and long waits are cancelled; all else ends by itself.
        let heard = ask(&client, &chat(&model, "Hello there"), |event| {
            silent("an event", format!("{event:?}"));
            pieces += 1;
            matches!(event, Event::Retrying { .. }) || (fault.name == "comments-forever" && pieces > 3)
        })
        .await;
        silent("what was heard", format!("{heard:?}"));
        silent("the stream", &heard.bytes);
        if let Some(failure) = &heard.answer.outcome.error {
            silent("the sentence", failure.sentence());
        }
        asked += heard.answer.attempts as usize;
    }
    let mut catalog = ModelCatalog::new(client.endpoint());
    assert_eq!(client.refresh_models(&mut catalog).await, Refresh::Changed);
    silent("the list of models", catalog.snapshot());
    assert_eq!(only_in_the_header(&simulator), asked + 1);
}

#[tokio::test]
async fn a_key_the_server_refuses_is_not_repeated() {
    let options = Options { key: Some("another".into()), ..Options::default() };
    let simulator = Simulator::start(Config { options, ..Config::default() }).unwrap();
    let client = client(&simulator.url(), Some(CANARY), PATIENT);
    let heard = ask(&client, &chat("sluice/echo", "Hello"), |_| false).await;
    silent("the refusal", format!("{heard:?} {}", heard.answer.outcome.error.as_ref().unwrap().sentence()));
    let mut catalog = ModelCatalog::new(client.endpoint());
    silent("the refusal of the list", format!("{:?}", client.refresh_models(&mut catalog).await));
    assert_eq!(only_in_the_header(&simulator), 2);
}

#[tokio::test]
async fn the_key_goes_to_no_other_origin() {
    let elsewhere = simulator();
    let simulator = simulator();
    let model = format!("sluice/echo+redirect={}/responses", elsewhere.url());
    let heard = ask(&client(&simulator.url(), Some(CANARY), PATIENT), &chat(&model, "Hello"), |_| false).await;
    silent("the refusal", format!("{heard:?}"));
    assert_eq!((only_in_the_header(&simulator), elsewhere.requests().len()), (1, 0));

    // A key for one origin in a client for another: the request goes out without it.
    let endpoint = Endpoint::parse(&elsewhere.url()).unwrap();
    let key = ApiKey::for_origin(CANARY, &Endpoint::parse(&simulator.url()).unwrap().origin);
    silent("the key", format!("{key:?} {key:#?}"));
    let stranger = Client::new(endpoint, Some(key), PATIENT).unwrap();
    let heard = ask(&stranger, &chat("sluice/echo", "Hello"), |_| false).await;
    assert_eq!(heard.answer.outcome.error.unwrap().status, Some(401));
    assert!(elsewhere.requests().iter().all(|request| request.header("authorization").is_none()));
}

/// The real program, with the canary as its key. Gives its exit code.
fn sluice(url: &str, directory: &Path, arguments: &[&str]) -> Option<i32> {
    let output = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(arguments)
        .current_dir(directory)
        .env("AI_GATEWAY_API_KEY", CANARY)
        .env("SLUICE_BASE_URL", url)
        .env("SLUICE_HOME", directory)
        .env("XDG_CACHE_HOME", directory)
        .env_remove("VERCEL_OIDC_TOKEN")
        .env_remove("SLUICE_MODEL")
        .output()
        .unwrap();
    silent(&format!("the output of {arguments:?}"), &output.stdout);
    silent(&format!("the errors of {arguments:?}"), &output.stderr);
    output.status.code()
}

#[test]
fn nothing_the_program_writes_has_the_key() {
    let elsewhere = simulator();
    let simulator = simulator();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("canary");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
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
    // Mistakes before any request.
    assert_eq!(run(&["chat", "Hello"]), Some(2));
    assert_eq!(run(&["chat", "--no-such-flag"]), Some(2));
    assert_eq!(run(&["chat", "--help"]), Some(0));
    assert_eq!(sluice("http://gateway.example/v1", &directory, &["models"]), Some(2));

    let mut files = 0;
    let [here, kept] = [directory.clone(), directory.join("sluice")].map(|path| std::fs::read_dir(path).unwrap());
    for path in here.chain(kept).map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
        silent(&format!("{}", path.display()), std::fs::read(&path).unwrap());
        files += 1;
    }
    assert_eq!(
        files, 8,
        "two captures, each with its request, the list of models; what is remembered, its key, its lock"
    );
    // Eleven questions, because the list is kept; the one that is cut off before its first word is asked three times.
    assert_eq!((only_in_the_header(&simulator), elsewhere.requests().len()), (13, 0));
}
