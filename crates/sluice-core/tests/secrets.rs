//! Which secrets are masked in text that a server wrote.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use sluice_core::{Failure, HttpResponse, Note, NoteKind, Outcome, Secrets};

const KEY: &str = "canary0123456789abcdefXYZ";

#[expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]
fn check(texts: &[&str], expected: Expect) {
    let secrets = Secrets::new([KEY]);
    let masked: Vec<_> = texts.iter().map(|text| secrets.mask(text)).collect();
    expected.assert_eq(&masked.join("\n"));
}

#[test]
fn a_known_key_is_masked_in_any_spelling() {
    let base64 = |before: &str| STANDARD.encode(format!("{before}{KEY}:end"));
    let escaped = |length: usize| KEY[..length].bytes().map(|byte| format!(r"\u{byte:04x}")).collect::<String>();
    check(
        &[
            KEY,
            &format!("Incorrect API key provided: Bearer {KEY}."),
            &format!("twice {KEY}{KEY}, and {}", KEY.to_uppercase()),
            &format!("percent %63anary{}", &KEY[6..]),
            &format!("twice percent %2563%2561nary{}", &KEY[6..]),
            &format!(r#"{{"json":"\u0063anary{}"}}"#, &KEY[6..]),
            &format!(r#"{{"twice":"{{\"json\":\"\\u0063anary{}\"}}"}}"#, &KEY[6..]),
            &format!("invisible ca\u{200b}na\u{7}ry{}", &KEY[6..]),
            &format!(r#"{{"invisible":"ca\u200bnary{}"}}"#, &KEY[6..]),
            &format!("base64 {} {} {}", base64(""), base64("u:"), base64("Bearer ")),
            &format!("for URLs {}", URL_SAFE_NO_PAD.encode(KEY)),
            &format!("hex {}", KEY.bytes().map(|byte| format!("{byte:02X}")).collect::<String>()),
            &format!("in a page {}", KEY.bytes().map(|byte| format!("&#{byte};")).collect::<String>()),
            &format!("in a page &#x63;&#x061;nary{}", &KEY[6..]),
            &format!(r"in code \x63\x61nary{}", &KEY[6..]),
            &format!("cut off {}", &KEY[..12]),
            // A message that is too long can end within an escape.
            &format!(r"cut off {}\u", escaped(10)),
            &format!(r"cut off {}\u00", escaped(10)),
            &format!(r"cut off {}\", escaped(10)),
            &format!("cut off {}%3…", KEY[..10].bytes().map(|byte| format!("%{byte:02X}")).collect::<String>()),
            &format!("cut off {}&#x6...", KEY[..10].bytes().map(|byte| format!("&#x{byte:x};")).collect::<String>()),
            &format!("shortened {}...XYZ, {}…, {}****", &KEY[..10], &KEY[..10], &KEY[..10]),
            // A word that only starts like the key stays.
            &format!("{} is no key", &KEY[..10]),
        ],
        expect![[r#"
            [hidden]
            Incorrect API key provided: Bearer [hidden].
            twice [hidden], and [hidden]
            percent [hidden]
            twice percent [hidden]
            {"json":"[hidden]"}
            {"twice":"{\"json\":\"[hidden]\"}"}
            invisible [hidden]
            {"invisible":"[hidden]"}
            base64 [hidden]lbmQ= d[hidden]VuZA== QmVhcmVy[hidden]ZW5k
            for URLs [hidden]
            hex [hidden]
            in a page [hidden]
            in a page [hidden]
            in code [hidden]
            cut off [hidden]
            cut off [hidden]\u
            cut off [hidden]\u00
            cut off [hidden]\
            cut off [hidden]%3…
            cut off [hidden]&#x6...
            shortened [hidden]...XYZ, [hidden]…, [hidden]****
            canary0123 is no key"#]],
    );
}

#[test]
fn text_that_looks_like_a_key_is_masked() {
    check(
        &[
            "sk-short and skip-this-very-long-word, task-management-for-all",
            "anthropic/claude-sonnet-4.5 response.output_text.delta req_0123456789abcdef vercel-ai-gateway",
            "1fe0d9c4-0a8e-4b5b-9df3-2e9c0d9a1b2c",
            "sk-proj-1234567890abcdef, sk_live_1234567890 (vck_1234567890abcdef) 'vcp_1234567890abcdef'",
            "pk-1234567890ab rk_1234567890ab gsk_1234567890ab hf_1234567890ab r8_1234567890ab xai-1234567890ab",
            "ghp_1234567890ab gho_1234567890ab ghs_1234567890ab ghu_1234567890ab github_pat_1234567890ab vca_1234567890ab",
            "xoxb-1234567890ab xoxp-1234567890ab AIzaSy1234567890ab AKIA1234567890AB ASIA1234567890AB vercel_1234567890ab",
            "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.c2ln!",
            "api_key=sk-1234567890abcdef;token:sk-1234567890abcdef",
            "Authorization: Bearer abc, authorization: basic YWJj",
            "The bearer token is not valid in the basic plan. Bearer a1b2c3d4e5",
            "https://me:secret@host/v1 https://host/v1?api_key=abc&x=1 https://host/?x=2&X-Amz-Signature=00?11#top",
        ],
        expect![[r#"
            sk-short and skip-this-very-long-word, task-management-for-all
            anthropic/claude-sonnet-4.5 response.output_text.delta req_0123456789abcdef vercel-ai-gateway
            1fe0d9c4-0a8e-4b5b-9df3-2e9c0d9a1b2c
            [hidden], [hidden] ([hidden]) '[hidden]'
            [hidden] [hidden] [hidden] [hidden] [hidden] [hidden]
            [hidden] [hidden] [hidden] [hidden] [hidden] [hidden]
            [hidden] [hidden] [hidden] [hidden] [hidden] [hidden]
            [hidden]!
            api_key=[hidden];token:[hidden]
            Authorization: Bearer [hidden], authorization: basic [hidden]
            The bearer token is not valid in the basic plan. Bearer [hidden]
            https://[hidden]@host/v1 https://host/v1?api_key=[hidden]&x=1 https://host/?x=2&X-Amz-Signature=[hidden]#top"#]],
    );
}

#[test]
fn short_values_and_schemes_are_not_secrets() {
    let secrets = Secrets::new(["", "short", "Bearer  0123456789-token", "  padded-value "]);
    assert_eq!(secrets.mask("a short Bearer answer"), "a short Bearer answer");
    assert_eq!(secrets.mask("0123456789-token and padded-value"), "[hidden] and [hidden]");
    assert_eq!(format!("{secrets:?}"), "Secrets(hidden)");
    let tomato = Secrets::new(["tomato"]);
    assert_eq!([&*tomato.mask("a tomato"), &tomato.redact("a tomato")], ["a tomato", "a [hidden]"]);
}

#[test]
fn a_value_may_start_at_the_end_of_a_text() {
    let secrets = Secrets::new(["aab-aac-x", "zebra-42", "short"]);
    for (text, length) in [
        ("", 0),
        ("b", 0),
        ("xa", 1),
        ("xaa", 2),
        ("aaa", 2),
        ("AAB-", 4),
        ("aab-aac-", 8),
        ("aab-aac-x", 0),
        ("ZEB", 3),
        ("sho", 0),
        ("é", 0),
    ] {
        assert_eq!(secrets.begun_at_end(text), length, "{text}");
    }
}

#[test]
fn all_server_text_is_masked() {
    let secrets = Secrets::new([KEY]);
    let headers = vec![("x-request-id".to_owned(), format!("id {KEY}"))];
    let body = format!(r#"{{"error":{{"message":"m {KEY}","code":"c-{KEY}","generationId":"g{KEY}"}}}}"#);
    let mut answer = HttpResponse { status: 500, headers, body };
    let mut outcome = Outcome::refused(Failure::from_http(&answer, 0));
    outcome.response_id = Some(KEY.to_owned());
    outcome.model = Some(format!("creator/{KEY}"));
    outcome.reason = Some(KEY.to_owned());
    outcome.usage =
        serde_json::from_value(serde_json::json!({ "input_tokens_details": { KEY: [KEY] }, KEY: KEY })).ok();
    secrets.mask_outcome(&mut outcome);
    assert!(!format!("{outcome:?}").contains(KEY), "{outcome:?}");
    secrets.mask_response(&mut answer);
    assert!(!format!("{answer:?}").contains(KEY), "{answer:?}");
    let mut note = Note::new(NoteKind::ModelList, format!("see {KEY}"));
    secrets.mask_note(&mut note);
    assert_eq!(note.detail, "see [hidden]");
    let mut value = serde_json::json!([{ KEY: { "x": [KEY, 1, null] } }]);
    secrets.mask_value(&mut value);
    assert_eq!(value.to_string(), r#"[{"[hidden]":{"x":["[hidden]",1,null]}}]"#);
}

/// Random text made of the characters that matter to the search.
fn context() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~]{0,12}",
        "\\PC{0,4}",
        Just("Bearer ".to_owned()),
        Just("://".to_owned()),
        Just("?key=".to_owned()),
        Just("sk-".to_owned()),
        Just("%25".to_owned()),
        Just("\\u00".to_owned()),
        Just("…".to_owned()),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn spelled(secret: &str, how: u8) -> String {
    match how {
        0 => secret.to_owned(),
        1 => secret.bytes().map(|byte| format!("%{byte:02x}")).collect(),
        2 => secret.bytes().map(|byte| format!("\\u{byte:04x}")).collect(),
        3 => serde_json::Value::from(secret).to_string(),
        4 => STANDARD.encode(secret),
        5 => URL_SAFE_NO_PAD.encode(format!("Bearer {secret}")),
        6 => secret.to_uppercase(),
        _ => secret.chars().flat_map(|c| [c, '\u{200b}']).collect(),
    }
}

proptest! {
    #[test]
    fn no_secret_is_left(secret in "[!-~]{8,40}", before in context(), after in context(), how in 0_u8..8) {
        // After a backslash, an escape isn't an escape: the text means something else.
        prop_assume!(!before.ends_with('\\'));
        let spelling = spelled(&secret, how);
        let text = format!("{before}{spelling}{after}");
        let masked = Secrets::new([&secret]).mask(&text).into_owned();
        let bare = masked.replace("[hidden]", "");
        prop_assert!(!bare.contains(spelling.trim_matches('"')), "{text:?} became {masked:?}");
        prop_assert!(!bare.to_lowercase().contains(&secret.to_lowercase()), "{text:?} became {masked:?}");
    }

    #[test]
    fn masked_json_is_still_json(secret in "[a-zA-Z_][a-zA-Z0-9_-]{7,40}", texts in prop::collection::vec(context(), 1..4), how in 0_u8..8) {
        let mut texts = texts;
        texts.push(spelled(&secret, how));
        let json = serde_json::json!({ "texts": texts, "key": secret, "number": 12_345_678 }).to_string();
        let masked = Secrets::new([&secret]).mask(&json).into_owned();
        prop_assert!(serde_json::from_str::<serde_json::Value>(&masked).is_ok(), "{json} became {masked}");
    }

    #[test]
    fn text_without_secrets_is_unchanged(text in "[a-z ,.]{0,200}") {
        prop_assert_eq!(Secrets::new([KEY]).mask(&text), &*text);
    }
}

#[test]
fn a_secret_is_found_anywhere_in_a_long_text() {
    let secrets = Secrets::new(["canary-0123456789"]);
    // The text is searched window by window, so the secret is placed across every possible end of a window.
    for at in (262_000..263_500).step_by(150) {
        let text = format!("{}canary-0123456789{}", "é".repeat(at / 2), "x".repeat(5_000));
        let masked = secrets.mask(&text);
        assert_eq!(masked.len(), text.len() - "canary-0123456789".len() + "[hidden]".len(), "{at}");
    }
}

#[test]
fn only_known_values_are_masked_in_what_a_model_says() {
    let secrets = Secrets::new(["canary-0123456789"]);
    assert_eq!(secrets.mask_values("sk-abcdefghijkl and canary-0123456789"), "sk-abcdefghijkl and [hidden]");
    assert_eq!(secrets.mask_values(r"[canary\-0123456789](https://a.example)"), "[[hidden]](https://a.example)");
}

#[test]
fn a_log_contains_no_long_random_words_and_no_names_of_users() {
    let secrets = Secrets::new([KEY]);
    let mut lines = String::new();
    for text in [
        "nothing to hide in anthropic/claude-sonnet-4.5",
        "response.output_text.delta, request req_0123456789abcdef, 1fe0d9c4-0a8e-4b5b-9df3-2e9c0d9a1b2c",
        "Authorization: Bearer abc, key vck_1234567890abcdef is wrong",
        &format!("quoted {KEY}"),
        "0123456789abcdef0123456789abcdef0123456789abcdef",
        &"-".repeat(50),
        "/home/anna/.local/share and (/home/anna)",
        "/home and /home/ and /homes/anna and /Users",
        r"C:\Users\anna\AppData and \Users\anna",
        r#"{"path":"C:\\Users\\anna\\AppData"}"#,
        "file:///Users/anna/x",
        &format!("cannot read {0}/notes, '{0}' or {0}", "/root"),
        "/rooted, /var/root",
    ] {
        lines.push_str(&secrets.redact(text));
        lines.push('\n');
    }
    expect![[r#"
        nothing to hide in anthropic/claude-sonnet-4.5
        response.output_text.delta, request req_0123456789abcdef, 1fe0d9c4-0a8e-4b5b-9df3-2e9c0d9a1b2c
        Authorization: Bearer [hidden], key [hidden] is wrong
        quoted [hidden]
        [hidden]
        --------------------------------------------------
        ~/.local/share and (~)
        /home and /home/ and /homes/anna and /Users
        ~\AppData and ~
        {"path":"~\\AppData"}
        file://~/x
        cannot read ~/notes, '~' or ~
        /rooted, /var/root
    "#]]
    .assert_eq(&lines);
}

#[test]
fn redacting_takes_linear_time() {
    // With a search that starts again at every piece, each of these would take hours.
    for piece in ["/", "\\", "a/", "/home", "/home/", "/Users//", "/root", "a1", "a1/", "-", "?key=", "://", "sk-"] {
        let text = piece.repeat(1_000_000 / piece.len());
        assert!(Secrets::new([KEY]).redact(&text).len() <= text.len() * 3, "{piece}");
    }
}
