//! What is wrong with the user's settings, and which headers are for which server.

use expect_test::expect;
use serde_json::json;
use sluice_core::{Settings, check_settings, headers_by_origin};

#[test]
fn settings_are_checked_without_a_request() {
    let settings = json!({
        "baseUrl": "http://gateway.example",
        "models": {
            "hide": ["acme/*", "two words"], "favourites": ["!"], "default": ["acme/{a,b}"],
            "limits": [{"model": "", "maxInputTokens": 5}],
        },
        "extraHeaders": {"x-fine": "yes", "Host": "other.example", "elsewhere": {"x-fine": "yes"}},
        "extraBody": {"user": "me", "input": []},
    });
    let problems = check_settings(&serde_json::from_value(settings).unwrap());
    let lines: Vec<String> =
        problems.iter().map(|problem| format!("{:?}: {}", problem.setting, problem.message)).collect();
    expect![[r#"
        BaseUrl: The base URL must be https, except on this machine (127.0.0.1, localhost). It should look like https://ai-gateway.vercel.sh/v1
        Hide: The pattern `two words` has white space in it; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`, one id or pattern for each entry
        Favourites: The pattern `!` names no model; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`
        Default: The pattern `acme/{a,b}` has characters that no id has; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`
        Limits: The pattern `` names no model; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`
        ExtraHeaders: Headers are set for elsewhere, an address that Sluice can't send anything to. Write it like https://gateway.example.
        ExtraHeaders: The extra header host is not sent: Sluice sets it.
        ExtraBody: The extra body field input is not sent: Sluice sets it."#]].assert_eq(&lines.join("\n"));
    assert_eq!(check_settings(&Settings::default()), []);
}

#[test]
fn every_extra_header_belongs_to_one_origin() {
    let settings = json!({
        "baseUrl": "https://Base.example/v1",
        "extraHeaders": {
            "x-plain": "a", "x-number": 5,
            "https://ONE.example:443/v1/": {"x-env": "<${env:TEAM}-${env:MISSING}>", "x-open": "a${env:TEAM"},
            "https://one.example": {"x-more": "b"},
            "http://two.example": {"x-clear": "c"},
            "https://base.example": {"x-plain": "later"},
        },
        "environment": {"TEAM": "blue"},
    });
    let mut lines = String::new();
    for (origin, headers) in headers_by_origin(&serde_json::from_value(settings).unwrap()) {
        lines.push_str(&format!("{origin} {headers:?}\n"));
    }
    expect![[r#"
        http://two.example {"x-clear": "c"}
        https://base.example {"x-number": "5", "x-plain": "a"}
        https://one.example {"x-env": "<blue->", "x-more": "b", "x-open": "a${env:TEAM"}
    "#]]
    .assert_eq(&lines);
}
