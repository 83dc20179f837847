//! A recorded exchange can be read again, and its redacted form has no text of the user's and no secret.

use serde_json::json;
use sluice_core::{Recording, RequestRecord, Secrets};

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
