//! A recorded exchange can be read again, and its redacted form has no text of the user's and no secret.

use crate::support::events::created;
use crate::support::streams::{event_streams, streams};
use crate::support::wire::body;
use crate::support::{parts, run};
use serde_json::{Value, json};
use sluice_core::{Recording, RequestRecord, Secrets, redact_response};

const KEY: &str = "sk-canary-0123456789abcdef";

fn recording() -> Recording {
    let none = json!({ "input": null, "cached": null, "cacheWrite": null, "output": null, "reasoning": null });
    let record = json!({
        "version": RequestRecord::VERSION, "id": "1", "conversation": "a", "parent": null, "kind": "main",
        "purpose": "conversation", "model": "acme/one", "origin": "", "effort": null, "mustCall": false, "startedMs": 1,
        "timeline": { "endMs": 1 }, "pieces": [], "usage": none, "cost": null, "forecast": null, "lens": null,
        "retries": [], "routing": {}, "notes": [], "finish": { "status": "completed", "reason": null, "failure": null },
    });
    Recording {
        version: Recording::VERSION,
        record: serde_json::from_value(record).unwrap(),
        url: "https://acme.example/v1/responses".to_owned(),
        request: json!({ "model": "acme/one", "max_output_tokens": 5, "tools": [{ "type": "function", "name": "secret_tool" }],
            "input": [{ "type": "message", "role": "user", "content": "my diary" }] }),
        chat: Some(json!({ "messages": ["my diary"] })),
        status: Some(200),
        response: format!("data: {{\"type\":\"response.output_text.delta\",\"delta\":\"Your key is {KEY}\"}}\n\n"),
    }
}

#[test]
fn a_recording_is_read_as_it_was_written() {
    let written = serde_json::to_string(&recording()).unwrap();
    assert_eq!(Recording::read(&written), Some(recording()));
    assert_eq!(Recording::read(&written.replacen("\"version\":1", "\"version\":2", 1)), None);
    assert_eq!(Recording::read(&written[1..]), None);
}

#[test]
fn a_redacted_recording_keeps_its_structure_and_its_answer() {
    let redacted = recording().redacted(&Secrets::new([KEY.to_owned()]));
    let json = redacted.to_exchange();
    for private in ["my diary", "secret_tool", KEY] {
        assert!(!json.contains(private), "{private} is in {json}");
    }
    let expected = json!({ "model": "acme/one", "max_output_tokens": 5,
        "tools": [{ "type": "function", "name": "[11 characters]" }],
        "input": [{ "type": "message", "role": "user", "content": "[8 characters]" }] });
    assert_eq!(redacted.request, expected);
    assert!(redacted.response.starts_with("data: {\"type\":\"response.output_text.delta\",\"delta\":\"Your key is "));
}

/// One file of each version of both formats.
const RECORDS: [&str; 1] = [include_str!("data/upgrade/record-1.json")];
const RECORDINGS: [&str; 1] = [include_str!("data/upgrade/recording-1.json")];

#[test]
fn files_of_every_version_are_read() {
    for (number, file) in (1..).zip(RECORDS) {
        assert_eq!(serde_json::from_str::<Value>(file).unwrap()["version"], number);
        let record = RequestRecord::read(file).unwrap();
        assert_eq!(
            (record.model.as_str(), record.usage.input, record.timeline.end_ms > 0),
            ("sluice/echo", Some(7), true)
        );
        assert!(!record.pieces.is_empty() && record.cost.is_some() && record.forecast.is_some());
    }
    for (number, file) in (1..).zip(RECORDINGS) {
        assert_eq!(serde_json::from_str::<Value>(file).unwrap()["version"], number);
        let recording = Recording::read(file).unwrap();
        assert!(recording.response.contains("The Elbe."));
        assert!(recording.to_exchange().starts_with("{\"chat\":{"), "{}", recording.to_exchange());
    }
    let advice = "add a file of the new version";
    assert_eq!(RECORDS.len(), usize::try_from(RequestRecord::VERSION).unwrap(), "{advice}");
    assert_eq!(RECORDINGS.len(), usize::try_from(Recording::VERSION).unwrap(), "{advice}");
}

#[test]
fn files_of_a_newer_version_are_ignored() {
    let newer = |file: &str| file.replacen("\"version\": 1", "\"version\": 2", 1);
    assert_eq!(RequestRecord::read(&newer(RECORDS[0])), None);
    assert_eq!(Recording::read(&newer(RECORDINGS[0])), None);
}

/// OpenAI repeats the whole request in three events of every stream.
fn with_echo(events: &[Value]) -> String {
    let echo = json!({ "instructions": "my diary", "metadata": {"who": "my diary"}, "user": "my diary",
        "text": {"format": {"type": "json_schema", "schema": {"description": "my diary"}}},
        "tools": [{"type": "function", "name": "read", "description": "my diary"}] });
    let mut events = events.to_vec();
    for event in events.iter_mut().filter(|event| event["response"].is_object()) {
        let response = event["response"].as_object_mut().unwrap();
        response.extend(echo.as_object().unwrap().clone());
    }
    String::from_utf8(body(&events)).unwrap()
}

#[test]
fn what_a_response_repeats_of_the_request_is_redacted() {
    let echoed = with_echo(&[created()]);
    assert!(echoed.contains("my diary"));
    let redacted = redact_response(&echoed);
    assert!(!redacted.contains("diary") && redacted.contains("[8 characters]"), "{redacted}");
    // A response that isn't a stream.
    let whole = json!({ "instructions": "my diary", "output": [], "text": {"format": {"type": "text"}} }).to_string();
    assert!(!redact_response(&whole).contains("diary"));
}

#[test]
fn a_redacted_response_has_the_same_parts() {
    for (name, events) in event_streams() {
        let echoed = with_echo(&events);
        let redacted = redact_response(&echoed).into_owned();
        assert!(!redacted.contains("diary"), "{name}");
        let ((before, ended), (after, ended_too)) = (run(echoed.as_bytes(), 64), run(redacted.as_bytes(), 64));
        assert_eq!((parts(&before), ended.status), (parts(&after), ended_too.status), "{name}");
    }
    for (name, bytes) in streams() {
        let Ok(text) = str::from_utf8(&bytes) else { continue };
        let redacted = redact_response(text).into_owned();
        assert_eq!(parts(&run(&bytes, 64).0), parts(&run(redacted.as_bytes(), 64).0), "{name}");
    }
}
