//! What an editor shows is ready to be shown: in the user's language, without secrets, and with nothing of a server's to click
//! on.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use crate::support::catalog::{NOW, catalog};
use expect_test::{Expect, expect};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sluice_core::{
    Card, ChatMessage, DEMO_BASE_URL, Language, ModelSettings, Reader, RejectedAnswer, ReportFacts, Secrets,
    StatusBarFacts, settings_schema,
};

const HOSTILE: &str = "<b>[x](command:y)</b> $(bug) canary-0123456789";

fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn german() -> Language {
    read(json!({ "name": "de", "sentences": {
        "Works": "Funktioniert",
        "The connection \"{0}\" works.": "Die Verbindung \"{0}\" funktioniert.",
        "{0} (demo, not a real model)": "{0} (Demo, kein echtes Modell)",
        "Thinking Effort": "Denkaufwand",
        "Sluice: trying again in {0} s": "Sluice: neuer Versuch in {0} s",
        "Too many requests.": "Zu viele Anfragen.",
    }}))
}

/// Makes word joiners visible.
fn visible(text: String) -> String {
    text.replace('\u{2060}', "¦")
}

fn plain(text: &str) -> Value {
    json!({ "code": "plain", "args": [text] })
}

/// Shows the body of the page, and what else is shown of a test.
fn check_card(checks: &[(&str, &str)], differences: &[&str], expected: Expect) {
    let checks: Vec<Value> = checks
        .iter()
        .map(|(result, detail)| {
            json!({ "topic": "key", "label": plain("Key"), "result": result, "detail": [plain(detail)] })
        })
        .collect();
    let differences: Vec<Value> = differences.iter().copied().map(plain).collect();
    let card: Card = read(json!({
        "baseUrl": "https://a.example/v1", "model": "m", "checks": checks, "differences": differences,
        "requests": 3, "tokens": 50, "refused": [], "overflow": null,
    }));
    let secrets = Secrets::new(["canary-0123456789"]);
    let (page, test) = card.show(("My <key>", "Sluice 1", "n0nce"), &german(), &secrets);
    assert!(page.contains("default-src 'none'; style-src 'nonce-n0nce'") && page.contains("<html lang=\"de\">"));
    assert!(!page.contains("canary") && !test.details.contains("canary") && !test.verdict.contains("canary"));
    let (_, body) = page.split_once("<body>\n").unwrap();
    expected.assert_eq(&format!("{body}{}, failed: {}\n{}\n", test.verdict, test.is_failed, test.details));
}

#[test]
fn a_card_is_a_page_and_a_text() {
    check_card(
        &[("works", "Accepted."), ("absent", "No."), ("unknown", "?")],
        &[],
        expect![[r#"
        <h1>My &#60;key&#62;</h1>
        <p class="where">https://a.example/v1 · m</p>
        <p class="verdict">Die Verbindung &#34;My &#60;key&#62;&#34; funktioniert.</p>
        <table><tr><td class="works"><span role="img" aria-label="Funktioniert" title="Funktioniert">✓</span></td><th scope="row">Key</th><td>Accepted.</td></tr>
        <tr><td class="absent"><span role="img" aria-label="The server does not do this" title="The server does not do this">–</span></td><th scope="row">Key</th><td>No.</td></tr>
        <tr><td class="unknown"><span role="img" aria-label="Unknown" title="Unknown">?</span></td><th scope="row">Key</th><td>?</td></tr>
        </table>

        <p class="cost">Requests: 3, tokens: 50</p>
        </body>
        </html>
        Die Verbindung "My <key>" funktioniert., failed: false
        Sluice 1
        https://a.example/v1 m
        ✓ Key: Accepted.
        – Key: No.
        ? Key: ?
    "#]],
    );
    check_card(
        &[("failed", HOSTILE)],
        &[HOSTILE, "More."],
        expect![[r#"
        <h1>My &#60;key&#62;</h1>
        <p class="where">https://a.example/v1 · m</p>
        <p class="verdict failed">Key: &#60;b&#62;[x](command:y)&#60;/b&#62; $(bug) [hidden]</p>
        <table><tr><td class="failed"><span role="img" aria-label="Failed" title="Failed">✗</span></td><th scope="row">Key</th><td>&#60;b&#62;[x](command:y)&#60;/b&#62; $(bug) [hidden]</td></tr>
        </table>
        <h2>What Sluice does differently for this server</h2><ul><li>&#60;b&#62;[x](command:y)&#60;/b&#62; $(bug) [hidden]</li><li>More.</li></ul>
        <p class="cost">Requests: 3, tokens: 50</p>
        </body>
        </html>
        Key: <b>[x](command:y)</b> $(bug) [hidden], failed: true
        Sluice 1
        https://a.example/v1 m
        ✗ Key: <b>[x](command:y)</b> $(bug) [hidden]
        • <b>[x](command:y)</b> $(bug) [hidden]
        • More.
    "#]],
    );
}

/// Shows what VS Code gets to know about a model, without its limits, and what is sent to it.
fn check_model(fields: Value, settings: Value, base_url: &str, expected: Expect) {
    let settings: ModelSettings = read(settings);
    let model = catalog(&json!([fields])).models(&settings, NOW).models.remove(0);
    let listed = model.listed(base_url, &german());
    let mut shown = serde_json::to_value(&listed.shown).unwrap();
    for limit in ["maxInputTokens", "maxOutputTokens", "maxContextWindowTokens", "infoText", "tooltip", "category"] {
        assert!(shown.as_object_mut().unwrap().remove(limit).is_some(), "{limit}");
    }
    expected.assert_eq(&visible(format!("{shown:#}\n{}\n", Value::from(listed.request))));
}

#[test]
fn a_model_is_shown_without_links() {
    check_model(
        json!({ "id": HOSTILE, "name": HOSTILE, "type": "language", "owned_by": HOSTILE }),
        json!({}),
        "https://a.example/v1",
        expect![[r#"
            {
              "capabilities": {
                "imageInput": false,
                "toolCalling": true
              },
              "detail": "<¦b>[x]¦(command:y)<¦/b> $¦(bug) canary 0123456789",
              "family": "b>-$¦(bug)-canary-0123456789",
              "id": "<¦b>[x]¦(command:y)<¦/b> $¦(bug) canary-0123456789",
              "isUserSelectable": true,
              "name": "<¦b>[x]¦(command:y)<¦/b> $¦(bug) canary-0123456789",
              "promo": {
                "discountPercent": 0,
                "message": ""
              },
              "version": "0123456789"
            }
            {"efforts":[],"extraBody":{}}
        "#]],
    );
}

#[test]
fn a_model_has_pickers_and_what_is_sent_to_it() {
    let model = json!({
        "id": "openai/gpt-5", "type": "language", "context_window": 400_000, "max_tokens": 128_000,
        "tags": ["reasoning", "tool-use", "vision"], "supported_parameters": ["reasoning_effort"], "pricing": { "input": "0.000001", "output": "0.00001" },
    });
    let overrides = json!({ "overrides": { "openai/gpt-5": {
        "effort": "low", "body": { "top_p": 0.5 }, "routing": { "only": ["azure"] },
    } } });
    check_model(
        model.clone(),
        json!({ "favourites": ["openai/*"] }),
        "https://a.example/v1",
        expect![[r#"
        {
          "capabilities": {
            "imageInput": true,
            "toolCalling": false
          },
          "configurationSchema": {
            "properties": {
              "contextSize": {
                "default": 400000,
                "enum": [
                  128000,
                  200000,
                  400000
                ],
                "enumItemLabels": [
                  "128K",
                  "200K",
                  "400K"
                ],
                "group": "tokens",
                "title": "Context Size",
                "type": "number"
              },
              "reasoningEffort": {
                "default": "default",
                "enum": [
                  "default",
                  "low",
                  "medium",
                  "high"
                ],
                "enumItemLabels": [
                  "Default",
                  "Low",
                  "Medium",
                  "High"
                ],
                "group": "navigation",
                "title": "Denkaufwand",
                "type": "string"
              }
            }
          },
          "detail": "OpenAI",
          "family": "gpt-5",
          "icon": "star-full",
          "id": "openai/gpt-5",
          "isUserSelectable": true,
          "name": "gpt-5",
          "priceCategory": "medium",
          "pricing": "$1 / $10",
          "promo": {
            "discountPercent": 0,
            "message": ""
          },
          "version": "5"
        }
        {"efforts":["low","medium","high"],"extraBody":{},"maxOutputTokens":128000}
    "#]],
    );
    check_model(
        model,
        overrides,
        DEMO_BASE_URL,
        expect![[r#"
        {
          "capabilities": {
            "imageInput": true,
            "toolCalling": false
          },
          "configurationSchema": {
            "properties": {
              "contextSize": {
                "default": 400000,
                "enum": [
                  128000,
                  200000,
                  400000
                ],
                "enumItemLabels": [
                  "128K",
                  "200K",
                  "400K"
                ],
                "group": "tokens",
                "title": "Context Size",
                "type": "number"
              },
              "reasoningEffort": {
                "default": "low",
                "enum": [
                  "low",
                  "medium",
                  "high"
                ],
                "enumItemLabels": [
                  "Low",
                  "Medium",
                  "High"
                ],
                "group": "navigation",
                "title": "Denkaufwand",
                "type": "string"
              }
            }
          },
          "detail": "OpenAI",
          "family": "gpt-5",
          "id": "openai/gpt-5",
          "isUserSelectable": true,
          "name": "gpt-5 (Demo, kein echtes Modell)",
          "version": "5"
        }
        {"efforts":["low","medium","high"],"extraBody":{"top_p":0.5},"maxOutputTokens":128000,"reasoningEffort":"low","routing":{"only":["azure"]}}
    "#]],
    );
}

fn check_status(facts: Value, expected: Expect) {
    let shown = read::<StatusBarFacts>(facts).show(&german());
    expected.assert_eq(&visible(format!("{:#}\n", serde_json::to_value(&shown).unwrap())));
}

#[test]
fn the_status_bar_shows_the_conversation_or_the_next_attempt() {
    let row = json!({ "label": plain("Kontext"), "value": [plain("12.0k of 168k"), plain(HOSTILE)] });
    let line = json!({ "text": [plain("12.0k/168k"), plain("$0.01")], "level": "warning", "activity": "answering", "tooltip": [row] });
    check_status(
        json!({ "line": null, "retrying": null, "offersSmoothStreaming": false }),
        expect![[r#"
        {
          "commands": [
            "sluice.smoothStreaming"
          ],
          "isCounting": false,
          "level": "normal",
          "spoken": "Sluice",
          "text": "$(dashboard) Sluice",
          "tooltip": "| | |\n|:--|--:|\n"
        }
    "#]],
    );
    check_status(
        json!({ "line": line, "retrying": null, "offersSmoothStreaming": true }),
        expect![[r#"
        {
          "commands": [
            "sluice.smoothStreaming"
          ],
          "isCounting": false,
          "level": "warning",
          "spoken": "Sluice. Kontext: 12.0k of 168k, <¦b>[x]¦(command:y)<¦/b> $¦(bug) canary-0123456789",
          "text": "$(loading~spin) 12.0k/168k · $0.01",
          "tooltip": "| | |\n|:--|--:|\n| Kontext | 12\\.0k of 168k\\, \\<¦b\\>\\[x\\]¦\\(command\\:y\\)\\<¦\\/b\\> \\$¦\\(bug\\) canary\\-0123456789 |\n\n\n[Smoother streaming \\(an experiment of VS Code\\)](command:sluice.smoothStreaming)"
        }
    "#]],
    );
    check_status(
        json!({ "line": line, "retrying": ["No. [x](y)", 1200.5], "offersSmoothStreaming": false }),
        expect![[r#"
            {
              "commands": [
                "sluice.smoothStreaming"
              ],
              "isCounting": true,
              "level": "warning",
              "spoken": "Sluice: neuer Versuch in 2 s",
              "text": "$(sync~spin) Sluice: neuer Versuch in 2 s",
              "tooltip": "No\\. \\[x\\]¦\\(y\\)\n\n| | |\n|:--|--:|\n| Kontext | 12\\.0k of 168k\\, \\<¦b\\>\\[x\\]¦\\(command\\:y\\)\\<¦\\/b\\> \\$¦\\(bug\\) canary\\-0123456789 |\n"
            }
        "#]],
    );
    check_status(
        json!({ "line": null, "retrying": ["No.", -3], "offersSmoothStreaming": false }),
        expect![[r#"
        {
          "commands": [
            "sluice.smoothStreaming"
          ],
          "isCounting": false,
          "level": "normal",
          "spoken": "Sluice: neuer Versuch in 1 s",
          "text": "$(sync~spin) Sluice: neuer Versuch in 1 s",
          "tooltip": "No\\.\n\n| | |\n|:--|--:|\n"
        }
    "#]],
    );
}

#[test]
fn readers_get_what_they_can_use_of_a_rejection() {
    let mut shown = String::new();
    for initiator in ["GitHub.copilot-chat", "core", "Core", "acme.other", ""] {
        let reader = Reader::of(initiator);
        let paces = [reader.pace(false), reader.pace(true)];
        shown.push_str(&format!("{initiator:?} is {reader:?}, {paces:?}\n"));
    }
    for (kind, is_note) in [
        (Some("signIn"), false),
        (Some("noCredit"), false),
        (Some("modelNotFound"), false),
        (Some("network"), false),
        (None, true),
    ] {
        for reader in ["chat", "agentHost", "program"] {
            let answer: RejectedAnswer = read(json!({
                "reader": reader, "kind": kind, "isNote": is_note, "page": "https://keys.example",
                "text": [{ "code": "tooManyRequests", "args": [] }],
            }));
            shown.push_str(&format!("{reader}: {:?}\n", answer.show(&german())));
        }
    }
    expect![[r#"
        "GitHub.copilot-chat" is Chat, [ChatView, Steady]
        "core" is AgentHost, [AtEnd, AtEnd]
        "Core" is Program, [Steady, Steady]
        "acme.other" is Program, [Steady, Steady]
        "" is Program, [Steady, Steady]
        chat: Error { text: "Zu viele Anfragen. \"Sluice: Add or Change a Key\" in the command palette replaces the key.", link: " [Open the page for it](https://keys.example)", code: None, refusal: Some([Message { code: TooManyRequests, args: [] }]) }
        agentHost: Error { text: "Zu viele Anfragen. \"Sluice: Add or Change a Key\" in the command palette replaces the key.", link: " [Open the page for it](https://keys.example)", code: None, refusal: Some([Message { code: TooManyRequests, args: [] }]) }
        program: Error { text: "Zu viele Anfragen. \"Sluice: Add or Change a Key\" in the command palette replaces the key.", link: "", code: Some("NoPermissions"), refusal: Some([Message { code: TooManyRequests, args: [] }]) }
        chat: Error { text: "Zu viele Anfragen.", link: " [Open the page for it](https://keys.example)", code: None, refusal: None }
        agentHost: Error { text: "Zu viele Anfragen.", link: " [Open the page for it](https://keys.example)", code: None, refusal: None }
        program: Error { text: "Zu viele Anfragen.", link: "", code: Some("Blocked"), refusal: None }
        chat: Error { text: "Zu viele Anfragen.", link: " [Open the page for it](https://keys.example)", code: None, refusal: None }
        agentHost: Error { text: "Zu viele Anfragen.", link: " [Open the page for it](https://keys.example)", code: None, refusal: None }
        program: Error { text: "Zu viele Anfragen.", link: "", code: Some("NotFound"), refusal: None }
        chat: Error { text: "Zu viele Anfragen.", link: " [Open the page for it](https://keys.example)", code: None, refusal: None }
        agentHost: Error { text: "Zu viele Anfragen.", link: " [Open the page for it](https://keys.example)", code: None, refusal: None }
        program: Error { text: "Zu viele Anfragen.", link: "", code: None, refusal: None }
        chat: Note { markdown: "\n\n\u{2063}*Zu viele Anfragen.*" }
        agentHost: Note { markdown: "\n\n\u{2063}*Zu viele Anfragen.*" }
        program: Error { text: "Zu viele Anfragen.", link: "", code: None, refusal: None }
    "#]].assert_eq(&shown);
}

#[test]
fn a_report_contains_nothing_private() {
    let facts = json!({
        "sluice": "1.0", "vscode": { "version": "1.139", "remote": "ssh-remote+my.host" }, "machine": {}, "thinkingParts": true,
        "settings": { "sluice.extraHeaders": { "x-team": "blue", "https://a.example": { "x-key": [1, "two"] } }, "sluice.caching": false },
        "connections": [{ "name": "connection 1", "problem": "The \"A\" team has no credit." }],
        "log": ["canary-0123456789 in /home/anna/notes"], "labels": ["The \"A\" team", ""], "secrets": ["canary-0123456789"],
    });
    expect![[r#"
        {
          "sluice": "1.0",
          "vscode": {
            "remote": "other",
            "version": "1.139"
          },
          "machine": {},
          "thinkingParts": true,
          "settings": {
            "sluice.caching": false,
            "sluice.extraHeaders": {
              "https://a.example": {
                "x-key": [
                  "[hidden]",
                  "[hidden]"
                ]
              },
              "x-team": "[hidden]"
            }
          },
          "connections": [
            {
              "name": "connection 1",
              "problem": "[connection] has no credit."
            }
          ],
          "log": [
            "[hidden] in ~/notes"
          ]
        }"#]]
    .assert_eq(&read::<ReportFacts>(facts).into_report());
    let plain = json!({ "vscode": { "remote": "ssh-remote" }, "sluice": "", "machine": {}, "thinkingParts": false,
        "settings": {}, "connections": [], "log": [], "labels": [], "secrets": [] });
    assert!(read::<ReportFacts>(plain).into_report().contains("\"remote\": \"ssh-remote\""));
}

#[test]
fn each_id_is_completed_once() {
    let schema = settings_schema(&["b", "a", "b"].map(str::to_owned).into());
    expect![[r#"{"properties":{"sluice.models.default":{"examples":["a","b"]},"sluice.models.favourites":{"items":{"examples":["a","b"]}},"sluice.models.hidden":{"items":{"examples":["a","b"]}},"sluice.models.overrides":{"properties":{"a":{},"b":{}}}}}"#]].assert_eq(&schema.to_string());
}

#[test]
fn a_note_below_an_answer_is_not_sent() {
    let text = |value: &str| {
        let json = json!({ "role": "assistant", "content": [{ "type": "text", "value": value }] }).to_string();
        ChatMessage::from_json(&json).unwrap().content
    };
    assert_eq!(text("Half of\n\n\u{2063}*The answer was cut off.*"), text("Half of"));
    assert_ne!(text("Half\n\nof"), text("Half"));
}
