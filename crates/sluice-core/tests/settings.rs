//! What is wrong with the user's settings, and which headers are for which server.

use expect_test::expect;
use serde_json::Value;
use serde_json::json;
use sluice_core::{Settings, edit_override, override_form, read_settings};

fn read(values: &Value) -> Settings {
    let environment = [("TEAM".to_owned(), "blue".to_owned())].into();
    read_settings(values.as_object().unwrap(), &environment)
}

#[test]
fn settings_are_checked_without_a_request() {
    let settings = json!({
        "baseUrl": "http://gateway.example",
        "models": {"hidden": ["acme/*", "two words"], "favourites": ["!"], "default": "acme/{a,b}"},
        "extraHeaders": {"x-fine": "yes", "Host": "other.example", "elsewhere": {"x-fine": "yes"}},
        "routing": {"order": "acme"},
        "caching": "yes",
    });
    let problems = read(&settings).problems;
    let lines: Vec<String> =
        problems.iter().map(|problem| format!("{}: {}", problem.setting, problem.message)).collect();
    expect![[r#"
        caching: The setting sluice.caching has a value of the wrong type, so it is ignored.
        routing.order: The setting sluice.routing.order has a value of the wrong type, so it is ignored.
        baseUrl: The base URL must be https, except on this machine (127.0.0.1, localhost) and in private networks. It should look like https://ai-gateway.vercel.sh/v1
        models.hidden: The pattern `two words` has white space in it; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`, one id or pattern for each entry
        models.favourites: The pattern `!` names no model; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`
        models.default: The pattern `acme/{a,b}` has characters that no id has; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`
        extraHeaders: Headers are set for elsewhere, an address that Sluice can't send anything to. Write it like https://gateway.example.
        extraHeaders: The extra header host is not sent: Sluice sets it."#]].assert_eq(&lines.join("\n"));
    assert_eq!(read(&json!({})).problems, []);
}

#[test]
fn overrides_are_checked_field_by_field() {
    let overrides = json!({
        "": {"maxInputTokens": 5},
        "!acme/*": {},
        "acme/list": [],
        "acme/names": {"maxTokens": 5, "routing": {"first": "x"}},
        "acme/types": {
            "maxInputTokens": -1, "hidden": "yes", "effort": "much", "body": 5, "imageInput": 1,
            "routing": {"only": "anthropic", "sort": "name"},
        },
        "acme/reserved": {"body": {"input": [], "temperature": 0.5}},
        "acme/routing": {"routing": []},
        "acme/fine": {
            "contextWindow": 100_000, "maxInputTokens": 5, "maxOutputTokens": 5, "effort": "low", "imageInput": false,
            "hidden": false, "body": {"top_k": 5},
            "routing": {"order": ["a"], "only": ["a"], "fallbacks": ["b/c"], "sort": "cost"},
        },
    });
    let problems = read(&json!({"models": {"overrides": overrides}})).problems;
    assert!(problems.iter().all(|problem| problem.setting == "models.overrides"));
    let lines: Vec<String> = problems.iter().map(|problem| problem.message.to_string()).collect();
    expect![[r#"
        The pattern `` names no model; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`
        The pattern `!acme/*` in overrides must not begin with `!`; a more specific pattern makes an exception
        `acme/list` in overrides must look like `{"maxOutputTokens": 8000}`
        `acme/names: maxTokens` in overrides is not a field; there are hidden, contextWindow, maxInputTokens, maxOutputTokens, effort, imageInput, toolCalling, body, routing
        `acme/names: routing.first` in overrides is not a field; there are order, only, fallbacks, sort
        The extra body field input is not sent: Sluice sets it.
        `acme/routing: routing` in overrides must look like `{"only": ["anthropic"]}`
        `acme/types: body` in overrides must look like `{"temperature": 0.2}`
        `acme/types: effort` in overrides must be one of none, minimal, low, medium, high, xhigh, max
        `acme/types: hidden` in overrides must look like `true`
        `acme/types: imageInput` in overrides must look like `true`
        `acme/types: maxInputTokens` in overrides must look like `200000`
        `acme/types: routing.only` in overrides must look like `["anthropic"]`
        `acme/types: routing.sort` in overrides must be one of cost, ttft, tps"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn overrides_are_edited_field_by_field() {
    let overrides = json!({"acme/*": {"hidden": false}, "acme/one": {"effort": "low"}});
    let edit = |field, input| match edit_override(overrides.as_object().unwrap().clone(), "acme/one", field, input) {
        Ok(overrides) => Value::Object(overrides).to_string(),
        Err(problem) => problem.to_string(),
    };
    let edited = [
        edit("maxOutputTokens", "4000"),
        edit("maxOutputTokens", "many"),
        edit("maxOutputTokens", "0"),
        edit("effort", "high"),
        edit("effort", ""),
        edit("toolCalling", "false"),
        edit("body", "[]"),
        edit("body", "{\"input\": 5}"),
        edit("routing", "{\"only\": [\"acme\"]}"),
        edit("nonsense", "5"),
    ];
    expect![[r#"
        {"acme/*":{"hidden":false},"acme/one":{"effort":"low","maxOutputTokens":4000}}
        `acme/one: maxOutputTokens` in overrides must look like `200000`
        `acme/one: maxOutputTokens` in overrides must look like `200000`
        {"acme/*":{"hidden":false},"acme/one":{"effort":"high"}}
        {"acme/*":{"hidden":false}}
        {"acme/*":{"hidden":false},"acme/one":{"effort":"low","toolCalling":false}}
        `acme/one: body` in overrides must look like `{"temperature": 0.2}`
        The extra body field input is not sent: Sluice sets it.
        {"acme/*":{"hidden":false},"acme/one":{"effort":"low","routing":{"only":["acme"]}}}
        `acme/one: nonsense` in overrides is not a field; there are hidden, contextWindow, maxInputTokens, maxOutputTokens, effort, imageInput, toolCalling, body, routing"#]].assert_eq(&edited.join("\n"));
}

#[test]
fn the_form_shows_every_field_and_what_is_set() {
    let overrides = json!({"acme/one": {"effort": "low", "body": {"seed": 5}}});
    let lines: Vec<String> = override_form(overrides.as_object().unwrap(), "acme/one")
        .iter()
        .map(|field| {
            let choices: Vec<String> = field.choices.iter().map(|(value, name)| format!("{value} ({name})")).collect();
            let values = if choices.is_empty() { format!("such as {}", field.example) } else { choices.join(", ") };
            let value = field.value.as_deref().unwrap_or("the model's own");
            format!("{}: {}: {value}; {values}", field.name, field.label)
        })
        .collect();
    expect![[r#"
        hidden: Hide the model: the model's own; true (Yes), false (No)
        contextWindow: Context size: the model's own; such as 200000
        maxInputTokens: Maximum input tokens: the model's own; such as 200000
        maxOutputTokens: Maximum output tokens: the model's own; such as 200000
        effort: Thinking effort: "low"; none (none), minimal (minimal), low (low), medium (medium), high (high), xhigh (xhigh), max (max)
        imageInput: Can see images: the model's own; true (Yes), false (No)
        toolCalling: Can call tools: the model's own; true (Yes), false (No)
        body: Extra fields of the request: {"seed":5}; such as {"temperature": 0.2}
        routing: Routing: the model's own; such as {"only": ["anthropic"]}"#]].assert_eq(&lines.join("\n"));
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
    });
    let mut lines = String::new();
    for (origin, headers) in read(&settings).headers {
        lines.push_str(&format!("{origin} {headers:?}\n"));
    }
    expect![[r#"
        http://two.example {"x-clear": "c"}
        https://base.example {"x-number": "5", "x-plain": "a"}
        https://one.example {"x-env": "<blue->", "x-more": "b", "x-open": "a${env:TEAM"}
    "#]]
    .assert_eq(&lines);
}

#[test]
fn spend_limits_of_zero_are_none() {
    let text = |spend: Value| {
        let Settings { spend, problems, .. } = read(&json!({"spend": spend}));
        let problems: Vec<_> = problems.iter().map(|problem| problem.setting).collect();
        format!("{} {problems:?}", serde_json::to_string(&spend).unwrap())
    };
    expect!["null []"].assert_eq(&text(json!({})));
    let zeros = json!({"request": 0, "day": 0, "models": {"a/b": {"month": 0}}, "hardStop": true});
    expect!["null []"].assert_eq(&text(zeros));
    let limits =
        json!({"request": 0, "day": 2.5, "models": {"a/b": {"month": 9, "day": 0}, "c/d": {}}, "hardStop": true});
    expect![[r#"{"day":2.5,"models":{"a/b":{"month":9.0}},"isHard":true} []"#]].assert_eq(&text(limits));
    // One that can't be read is reported, and the others still count.
    let wrong = json!({"request": "much", "day": -1, "month": 9, "models": {"a/b": 5, "c/d": {"day": 1}}});
    expect![[
        r#"{"month":9.0,"models":{"c/d":{"day":1.0}},"isHard":false} ["spend.request", "spend.day", "spend.models"]"#
    ]]
    .assert_eq(&text(wrong));
}

#[test]
fn settings_become_options_of_requests() {
    let text = |values: &Value| {
        let Settings { models, chat, idle_timeout_ms, thinking_fallback, .. } = read(values);
        let routing = serde_json::to_string(&chat.routing).unwrap();
        let (caching, claude) = (chat.automatic_caching, chat.claude_context_management);
        format!(
            "{:?} {:?} {routing} caching={caching} claude={claude} {idle_timeout_ms} {thinking_fallback:?}",
            models.default, models.effort
        )
    };
    expect!["[] None {} caching=true claude=false 600000 Hide"].assert_eq(&text(&json!({})));
    let defaults = json!({
        "models": {"default": ""}, "thinking": {"effort": "default", "fallback": "hide"},
        "routing": {"order": [], "sort": "default"}, "caching": true, "idleTimeoutSeconds": 600,
    });
    assert_eq!(text(&defaults), text(&json!({})));
    expect![[r#"["a/b"] Some("low") {"order":["acme"],"only":["acme","other"],"models":["c/d"],"sort":"cost"} caching=false claude=true 10000 Text"#]].assert_eq(&text(&json!({
        "models": {"default": "a/b"}, "thinking": {"effort": "low", "fallback": "text"},
        "routing": {"order": ["acme"], "only": ["acme", "other"], "fallbacks": ["c/d"], "sort": "cost"},
        "caching": false, "claudeContextManagement": true, "idleTimeoutSeconds": 1,
    })));
    assert_eq!(read(&json!({"idleTimeoutSeconds": 12.5})).idle_timeout_ms, 12_500);
    assert_eq!(read(&json!({"idleTimeoutSeconds": 1e300})).idle_timeout_ms, 3_600_000);
    assert_eq!(text(&json!({"models": 5, "thinking": null, "routing": [1]})), text(&json!({})));
}
