//! A key that must not leak: it is sent to its own origin in the `Authorization` header, and nowhere else.

use std::time::Duration;

use sluice_client::{ApiKey, Client, Event, Timeouts};
use sluice_core::{Endpoint, ModelCatalog, Output, Refresh};
use sluice_simulator::server::{Config, Simulator};
use sluice_simulator::{Options, faults};

use crate::support::canary::{CANARY, only_in_the_header, silent, simulator};
use crate::support::exchange::{PATIENT, ask, chat, client};

#[tokio::test(flavor = "multi_thread")]
async fn no_message_of_the_client_contains_the_key() {
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
        // Endless comments and long waits are cancelled; everything else ends by itself.
        let heard = ask(&client, &chat(&model, "Hello there"), |event| {
            if !matches!(event, Event::Bytes(_) | Event::Output(Output::Part(_))) {
                silent("an event", format!("{event:?}"));
            }
            pieces += 1;
            matches!(event, Event::Retrying { .. }) || (fault.name == "comments-forever" && pieces > 3)
        })
        .await;
        // The model's text is passed on unchanged.
        if fault.name == "quote-key-answer" {
            assert!(heard.text.contains(CANARY));
        } else {
            silent("what was said", format!("{} {} {:?}", heard.text, heard.thinking, heard.calls));
        }
        // The report repeats what the model said; everything else in it is for the user.
        let mut report = heard.answer.clone();
        report.entry.answer.clear();
        silent("what was heard", format!("{report:?} {:?}", heard.retries));
        if let Some(failure) = &heard.answer.outcome.error {
            silent("the sentence", failure.sentence());
        }
        let status = heard.answer.outcome.error.as_ref().and_then(|failure| failure.status);
        // If there is no API at an address, the client also tries the one without `/v1`.
        let elsewhere = usize::from(matches!(status, Some(404 | 405)));
        asked += heard.answer.attempts as usize + elsewhere;
    }
    let mut catalog = ModelCatalog::new(client.endpoint());
    assert_eq!(client.refresh_models(&mut catalog).await, Refresh::Changed);
    silent("the list of models", catalog.snapshot());
    assert_eq!(only_in_the_header(&simulator), asked + 1);
}

#[tokio::test]
async fn a_refused_key_is_not_quoted() {
    let options = Options { key: Some("another".into()), ..Options::default() };
    let simulator = Simulator::start(Config { options, ..Config::recording() }).unwrap();
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

    // The key belongs to another origin, so the request is sent without it.
    let endpoint = Endpoint::parse(&elsewhere.url()).unwrap();
    let key = ApiKey::for_origin(CANARY, &Endpoint::parse(&simulator.url()).unwrap().origin).unwrap();
    silent("the key", format!("{key:?} {key:#?}"));
    let stranger = Client::new(endpoint, Some(key), PATIENT).unwrap();
    let heard = ask(&stranger, &chat("sluice/echo", "Hello"), |_| false).await;
    assert_eq!(heard.answer.outcome.error.unwrap().status, Some(401));
    assert!(elsewhere.requests().iter().all(|request| request.header("authorization").is_none()));
}
