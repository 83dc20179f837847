//! The client with the embedded gateway: when it stops, when it retries, and what it refuses.
//!
//! Nothing here sleeps: the gateway reports when a stream was abandoned, and the delays are those that the client
//! announces.

use std::future::{pending, ready};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use sluice_client::{Event, Timeouts};
use sluice_core::{Endpoint, FailureKind, ModelCatalog, Output, Parameter, Refresh, Status};
use sluice_simulator::server::{Config, Simulator};
use sluice_simulator::{Faults, Options, Request, Responder};

use crate::support::exchange::{Heard, PATIENT, ask, chat, client};

fn simulator() -> Simulator {
    Simulator::start(Config::recording()).unwrap()
}

async fn heard(simulator: &Simulator, model: &str, timeouts: Timeouts) -> Heard {
    ask(&client(&simulator.url(), None, timeouts), &chat(model, "Hello there"), |_| false).await
}

/// The gateway notices that the client no longer reads. The time limit only prevents a hang.
fn abandoned(simulator: &Simulator) -> bool {
    simulator.wait_until(Duration::from_secs(20), |streams| streams.open == 0 && streams.abandoned == 1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn cancelling_before_the_start_sends_nothing() {
    let simulator = simulator();
    let client = client(&simulator.url(), None, PATIENT);
    let mut events = 0;
    let answer = client.respond(&chat("sluice/echo", "Hello"), ready(()), &mut |_| events += 1).await;
    assert_eq!((answer.outcome.status, answer.attempts, events), (Status::Cancelled, 1, 0));
    assert!(simulator.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn cancelling_before_the_headers_closes_the_connection() {
    let simulator = Arc::new(simulator());
    let client = client(&simulator.url(), None, PATIENT);
    // The request has arrived when the gateway counts it. Waiting for that blocks, so it runs in its own thread.
    let waiting = Arc::clone(&simulator);
    let arrived = tokio::task::spawn_blocking(move || {
        waiting.wait_until(Duration::from_secs(20), |streams| streams.open == 1);
    });
    let cancel = async { arrived.await.unwrap() };
    let answer = client.respond(&chat("sluice/echo+never-headers", "Hello"), cancel, &mut |_| {}).await;
    assert_eq!((answer.outcome.status, answer.attempts), (Status::Cancelled, 1));
    assert!(abandoned(&simulator));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn no_part_follows_a_cancellation() {
    let simulator = simulator();
    // All deltas arrive in one chunk, and the connection stays open forever.
    for model in ["sluice/long+stall-at=6000", "sluice/long+pace=20+never-close"] {
        let client = client(&simulator.url(), None, PATIENT);
        let before = simulator.streams().abandoned;
        let is_part = |event: &Event<'_>| matches!(event, Event::Output(Output::Part(_)));
        let heard = ask(&client, &chat(model, "Say 200 words"), is_part).await;
        assert_eq!(heard.answer.outcome.status, Status::Cancelled, "{model}");
        assert_eq!((heard.parts, heard.parts_after_cancel, heard.answer.attempts), (1, 0, 1), "{model}");
        assert!(heard.answer.outcome.error.is_none() && !heard.answer.outcome.retry_safe);
        let given_up =
            |streams: sluice_simulator::server::Streams| streams.open == 0 && streams.abandoned == before + 1;
        assert!(simulator.wait_until(Duration::from_secs(20), given_up), "{model}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn waiting_for_a_retry_can_be_cancelled() {
    let simulator = simulator();
    let client = client(&simulator.url(), None, PATIENT);
    let is_retry = |event: &Event<'_>| matches!(event, Event::Retrying { .. });
    let heard = ask(&client, &chat("sluice/echo+status=503+retry-after=50", "Hello"), is_retry).await;
    assert_eq!((heard.answer.outcome.status, heard.answer.attempts), (Status::Cancelled, 1));
    assert_eq!((heard.parts, heard.retries.len(), simulator.requests().len()), (0, 1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn dropping_the_future_closes_the_connection() {
    let simulator = simulator();
    let client = client(&simulator.url(), None, PATIENT);
    let (said, mut first) = tokio::sync::mpsc::unbounded_channel();
    let request = chat("sluice/echo+comments-forever", "Hello");
    let task = tokio::spawn(async move {
        let mut tell = |_: Event<'_>| {
            let _ = said.send(());
        };
        client.respond(&request, pending(), &mut tell).await;
    });
    first.recv().await.unwrap();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert!(abandoned(&simulator));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn reading_stops_at_the_last_event_even_if_the_server_never_closes() {
    let simulator = simulator();
    for model in ["sluice/echo+never-close", "sluice/echo+stall-after-completed"] {
        let heard = heard(&simulator, model, PATIENT).await;
        assert_eq!((heard.answer.outcome.status, heard.text.as_str()), (Status::Completed, "Hello there"), "{model}");
    }
    assert!(simulator.wait_until(Duration::from_secs(20), |streams| streams.open == 0 && streams.abandoned == 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_connection_is_reused() {
    // With a pace, the rest of the body arrives some milliseconds after the last event.
    for model in ["sluice/echo", "sluice/echo+pace=5+chunk=500", "sluice/echo+no-done", "sluice/echo+status=400"] {
        let simulator = simulator();
        let client = client(&simulator.url(), None, PATIENT);
        for _ in 0..10 {
            ask(&client, &chat(model, "Hello there"), |_| false).await;
        }
        // On a busy machine, a request may start before the connection is back in its pool, and open another.
        let connections = simulator.connections();
        assert!(simulator.requests().len() == 10 && connections < 5, "{model}: {connections} connections");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn there_are_at_most_three_attempts() {
    let simulator = simulator();
    // The server requests the delay, so that the test doesn't have to wait for ours.
    for (failures, status, attempts) in [(1, Status::Completed, 2), (2, Status::Completed, 3), (3, Status::Failed, 3)] {
        let model = format!("sluice/echo+fail-times={failures}+status=503+retry-after-ms=1");
        let before = simulator.requests().len();
        let heard = heard(&simulator, &model, PATIENT).await;
        assert_eq!((heard.answer.outcome.status, heard.answer.attempts), (status, attempts), "{failures} failures");
        assert_eq!(simulator.requests().len() - before, attempts as usize);
        assert_eq!(heard.text, if status == Status::Completed { "Hello there" } else { "" });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn retries_wait_half_a_second_and_then_one_second() {
    let simulator = simulator();
    let is_second = |event: &Event<'_>| matches!(event, Event::Retrying { attempt: 3, .. });
    let heard =
        ask(&client(&simulator.url(), None, PATIENT), &chat("sluice/echo+reset-before-headers", "Hello"), is_second)
            .await;
    let delays: Vec<u128> = heard.retries.iter().map(|(_, delay)| delay.as_millis()).collect();
    assert!(matches!(delays[..], [375..=500, 750..=1000]), "{delays:?}");
    assert_eq!(heard.answer.outcome.status, Status::Cancelled);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn retries_wait_as_long_as_the_server_says() {
    let simulator = simulator();
    for (fault, from, to) in [
        ("retry-after-ms=1500", 1_500, 1_500),
        ("retry-after-ms=0", 0, 0),
        ("retry-after=7", 7_000, 7_000),
        ("retry-after=0.5", 500, 500),
        ("retry-after-date=30", 28_000, 30_000),
        ("retry-after-date=0", 0, 0),
        // Invalid values are ignored.
        ("retry-after=soon", 375, 500),
        ("retry-after=-5", 375, 500),
    ] {
        let client = client(&simulator.url(), None, PATIENT);
        let is_retry = |event: &Event<'_>| matches!(event, Event::Retrying { .. });
        let heard = ask(&client, &chat(&format!("sluice/echo+{fault}"), "Hello"), is_retry).await;
        let (failure, delay) = heard.retries.first().unwrap();
        assert_eq!((failure.kind, failure.status), (FailureKind::RateLimited, Some(429)), "{fault}");
        assert!((from..=to).contains(&delay.as_millis()), "{fault}: {delay:?}");
        assert_eq!(heard.answer.outcome.status, Status::Cancelled, "{fault}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_wait_of_more_than_a_minute_fails_and_names_the_time() {
    let simulator = simulator();
    for (fault, time) in [
        ("retry-after=61", "61 s"),
        ("retry-after=86400", "24 hours"),
        ("retry-after-ms=86400000", "24 hours"),
        ("retry-after-date=86400", "24 hours"),
    ] {
        let heard = heard(&simulator, &format!("sluice/echo+{fault}"), PATIENT).await;
        assert_eq!((heard.answer.outcome.status, heard.answer.attempts), (Status::Failed, 1), "{fault}");
        let sentence = heard.answer.outcome.error.unwrap().sentence();
        assert!(sentence.contains(&format!("wait {time}")), "{fault}: {sentence}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn redirects_are_refused() {
    let elsewhere = simulator();
    let simulator = simulator();
    let model = format!("sluice/echo+redirect={}/responses", elsewhere.url());
    let heard = heard(&simulator, &model, PATIENT).await;
    let failure = heard.answer.outcome.error.unwrap();
    assert_eq!((failure.kind, heard.answer.attempts, heard.parts), (FailureKind::BadRequest, 1, 0));
    assert!(failure.message.contains("redirects"), "{}", failure.message);
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn plain_http_is_allowed_only_to_this_machine() {
    for address in ["http://gateway.example/v1", "http://127.0.0.1.example/v1", "http://10.0.0.1/v1", "ftp://127.0.0.1"]
    {
        assert!(Endpoint::parse(address).is_err(), "{address}");
    }
    for address in
        ["http://127.0.0.1:8080/v1", "http://localhost/v1", "http://[::1]:1/v1", "https://gateway.example/v1"]
    {
        assert!(Endpoint::parse(address).is_ok(), "{address}");
    }
}

/// Responds to the first request with a JSON body. The client may disconnect before its end.
fn serve_once(body: Vec<u8>) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        // Requests are short and arrive in one piece.
        let _ = socket.read(&mut [0; 16 << 10]).unwrap();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8\r\nconnection: close";
        write!(socket, "{head}\r\ncontent-length: {}\r\n\r\n", body.len()).unwrap();
        let _ = socket.write_all(&body);
    });
    (url, serving)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_whole_response_is_understood() {
    // The embedded gateway streams if asked to, and the client always asks.
    let request = serde_json::json!({ "model": "sluice/echo", "input": "Hello there" }).to_string().into_bytes();
    let request = Request { method: "POST".into(), path: "/v1/responses".into(), body: request, ..Request::default() };
    let whole = Responder::default().respond(&request, 0).body();
    let (url, serving) = serve_once(whole);
    let heard = ask(&client(&url, None, PATIENT), &chat("sluice/echo", "Hello there"), |_| false).await;
    serving.join().unwrap();
    assert_eq!((heard.answer.outcome.status, heard.text.as_str()), (Status::Completed, "Hello there"));
    assert!(heard.answer.outcome.usage.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_web_page_is_recognized() {
    let simulator = simulator();
    let heard = heard(&simulator, "sluice/echo+html-200", PATIENT).await;
    let failure = heard.answer.outcome.error.unwrap();
    assert_eq!((failure.kind, failure.status, heard.answer.attempts), (FailureKind::NotAStream, Some(200), 1));
    assert!(!failure.sentence().contains('<'), "{}", failure.sentence());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn comments_keep_a_slow_answer_alive() {
    let simulator = simulator();
    // The comments last twice as long as silence may, and each arrives in a tenth of the allowed time.
    let timeouts = Timeouts { idle: Duration::from_millis(1_500), ..PATIENT };
    let mut comments = 0;
    let client = client(&simulator.url(), None, timeouts);
    let heard = ask(&client, &chat("sluice/echo+comments-forever=150", "Hello"), |event| {
        comments += usize::from(matches!(event, Event::Bytes(_)));
        comments == 20
    })
    .await;
    assert_eq!((heard.answer.outcome.status, heard.answer.attempts), (Status::Cancelled, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_silent_server_is_given_up() {
    let simulator = simulator();
    let timeouts = Timeouts { idle: Duration::from_secs(1), ..PATIENT };
    let heard = heard(&simulator, "sluice/echo+stall-after-completed+early-eof", timeouts).await;
    let outcome = heard.answer.outcome;
    assert_eq!((outcome.status, outcome.reason.as_deref()), (Status::Truncated, Some("idle_timeout")));
    assert_eq!((heard.text.as_str(), heard.answer.attempts), ("Hello there", 1));
    assert!(abandoned(&simulator));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_that_sends_only_comments_is_given_up() {
    let simulator = simulator();
    let timeouts = Timeouts { output: Duration::from_millis(300), ..PATIENT };
    // Each comment arrives in time, and so fast that there is always one to read.
    for pause in [0, 5] {
        let heard = heard(&simulator, &format!("sluice/echo+comments-forever={pause}"), timeouts).await;
        let outcome = heard.answer.outcome;
        assert_eq!((outcome.status, outcome.reason.as_deref()), (Status::Truncated, Some("idle_timeout")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_list_that_trickles_in_is_given_up() {
    let options = Options { list_faults: Faults::parse("dribble=50").unwrap(), ..Options::default() };
    let simulator = Simulator::start(Config { options, ..Config::default() }).unwrap();
    let client = client(&simulator.url(), None, Timeouts { small: Duration::from_millis(300), ..PATIENT });
    let mut catalog = ModelCatalog::new(client.endpoint());
    let Refresh::Kept(note) = client.refresh_models(&mut catalog).await else { panic!("a list") };
    assert!(note.detail.contains("did not answer in time"), "{}", note.detail);
    assert!(abandoned(&simulator));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_list_that_is_too_large_is_reported_as_such() {
    let list = r#"{"data":[{"id":"acme/model"}]}"#;
    let (url, serving) = serve_once([list, &" ".repeat(8 << 20)].concat().into_bytes());
    let client = client(&url, None, PATIENT);
    let mut catalog = ModelCatalog::new(client.endpoint());
    let Refresh::Kept(note) = client.refresh_models(&mut catalog).await else { panic!("a list") };
    assert!(note.detail.contains("is too large and was not read to its end"), "{}", note.detail);
    serving.join().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_error_that_trickles_in_is_reported_by_its_status() {
    let simulator = simulator();
    let timeouts = Timeouts { small: Duration::from_millis(300), ..PATIENT };
    let heard = heard(&simulator, "sluice/echo+status=400+dribble=50", timeouts).await;
    let failure = heard.answer.outcome.error.unwrap();
    assert_eq!((failure.status, heard.answer.attempts), (Some(400), 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_missing_server_is_a_network_failure() {
    let url = simulator().url();
    let is_retry = |event: &Event<'_>| matches!(event, Event::Retrying { .. });
    let heard = ask(&client(&url, None, PATIENT), &chat("sluice/echo", "Hello"), is_retry).await;
    assert_eq!(heard.retries[0].0.kind, FailureKind::Network);
    assert!(heard.retries[0].0.message.starts_with("No connection to http://127.0.0.1:"));
}

/// A server that refuses the parameter `store` by name. The gateway knows all parameters.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_refused_parameter_is_left_out_from_then_on() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || -> Vec<bool> {
        let answer = |socket: std::io::Result<std::net::TcpStream>| {
            let mut socket = socket.unwrap();
            let mut request = String::new();
            while !request.ends_with('}') {
                let mut bytes = [0; 4096];
                let read = socket.read(&mut bytes).unwrap();
                request.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
            }
            let has_store = request.contains("\"store\"");
            let (status, kind, body) = if has_store {
                ("400 Bad Request", "application/json", r#"{"error":{"message":"Unknown parameter: 'store'."}}"#)
            } else {
                let completed = r#"data: {"type":"response.completed","response":{}}"#;
                ("200 OK", "text/event-stream", completed)
            };
            let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{body}\n\n");
            socket.write_all(head.as_bytes()).unwrap();
            has_store
        };
        listener.incoming().take(4).map(answer).collect()
    });
    let question = chat("acme/m", "Hello");
    let first = client(&url, None, PATIENT);
    let mut refused = Vec::new();
    for _ in 0..2 {
        refused.push(first.respond(&question, pending(), &mut |_| {}).await.refused);
    }
    assert_eq!(refused, [vec![Parameter::Store], vec![]]);
    // Another client can be given what the first one learned.
    let second = client(&url, None, PATIENT);
    second.leave_out("acme/m", &refused[0]);
    assert_eq!(second.respond(&question, pending(), &mut |_| {}).await.outcome.status, Status::Completed);
    assert_eq!(server.join().unwrap(), [true, false, false, false]);
}
