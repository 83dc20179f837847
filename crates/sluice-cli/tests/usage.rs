//! Runs `sluice usage` as a user would, with usage from `sluice chat` and from made-up days.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use sluice_client::Store;
use sluice_core::{RequestEnd, RequestKind, RequestStart, UsageTracker};
use sluice_simulator::server::{Config, Simulator};

use crate::support;

fn home(name: &str) -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("usage-{name}"));
    let _ = std::fs::remove_dir_all(&home);
    home
}

/// Returns the exit code, standard output and standard error. Without a key and an address, the embedded gateway
/// answers.
fn sluice(home: &Path, columns: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = support::sluice(home, arguments).current_dir(".").env("COLUMNS", columns).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn check(home: &Path, columns: &str, arguments: &[&str], expected: Expect) {
    let (code, shown, errors) = sluice(home, columns, arguments);
    expected.assert_eq(&format!("{shown}{errors}"));
    assert_eq!(code, Some(0));
}

/// The day, the model, the server's usage and the gateway's cost.
fn record(home: &Path, requests: &[(u32, &str, &str, Option<&str>)]) {
    let (store, mut memory, error) = Store::open(home);
    assert!(error.is_none());
    for (day, model, usage, cost) in requests {
        let mut tracker = UsageTracker::default();
        let start = RequestStart {
            id: String::new(),
            conversation: String::new(),
            model: (*model).to_owned(),
            kind: RequestKind::Main,
            effort: None,
            estimate: None,
            context_window: None,
        };
        tracker.open(start, 0);
        let end = RequestEnd {
            usage: serde_json::from_str(usage).unwrap(),
            cost: cost.map(str::to_owned),
            is_answered: true,
            first_part_ms: Some(700),
            ..RequestEnd::default()
        };
        memory.record(&tracker.finish("", &end, 10_700).unwrap(), *day);
    }
    store.save(&mut memory).unwrap();
}

const LARGE: &str = r#"{"input_tokens":412345,"output_tokens":5000,"input_tokens_details":{"cached_tokens":400000}}"#;
const SMALL: &str = r#"{"input_tokens":900,"output_tokens":1100,"output_tokens_details":{"reasoning_tokens":600}}"#;

fn three_days(name: &str) -> PathBuf {
    let home = home(name);
    record(
        &home,
        &[
            (20_512, "anthropic/claude-sonnet-4.5", LARGE, Some("0.4512")),
            (20_513, "anthropic/claude-sonnet-4.5", LARGE, Some("0.4512")),
            (20_513, "openai/gpt-5.2", SMALL, None),
            (20_514, "openai/gpt-5.2", SMALL, Some("0.0052")),
            (20_514, "a/\u{1b}[31mvery-long-name-of-a-model-that-nobody-can-remember-20260101", "null", None),
        ],
    );
    home
}

#[test]
fn without_usage_there_is_a_message() {
    let home = home("nothing");
    check(
        &home,
        "80",
        &["usage"],
        expect![[r#"
            Nothing was used yet. Ask something: sluice chat "Hello" (without a key the embedded gateway answers).
        "#]],
    );
    check(
        &home,
        "80",
        &["usage", "--json"],
        expect![[r#"
            {"rows":[],"total":{"requests":0,"uncounted":0,"unpriced":0,"inputTokens":0,"cachedTokens":0,"outputTokens":0,"reasoningTokens":0,"cost":0.0,"firstParts":0,"firstPartMs":0,"streamedTokens":0,"streamingMs":0,"firstPartAfterMs":null,"tokensPerSecond":null},"limits":[],"expectedThisMonth":null}
        "#]],
    );
    assert!(!home.exists(), "looking makes nothing");
}

#[test]
fn a_wide_terminal_gets_all_columns() {
    check(
        &three_days("wide"),
        "120",
        &["usage"],
        expect![[r#"
            Day         Requests   Input  Cached  Output     Cost  1st part  Tokens/s
            2026-02-28         1  412.3k    97 %    5.0k    $0.45     0.7 s       500  ███████████████████████████████████████▊
            2026-03-01         2  413.2k    97 %    6.1k   $0.45+     0.7 s       275  ████████████████████████████████████████
            2026-03-02         2     900     0 %    1.1k  $0.0052     0.7 s        50  ▏
            Total              5  826.5k    97 %   12.2k   $0.91+     0.7 s       275

            Model                                                         Requests   Input  Cached  Output      Cost
            anthropic/claude-sonnet-4.5                                          2  824.7k    97 %   10.0k     $0.90  ██████████████
            openai/gpt-5.2                                                       2    1.8k     0 %    2.2k  $0.0052+  ▏
            …very-long-name-of-a-model-that-nobody-can-remember-20260101         1       0       –       0         –
            Total                                                                5  826.5k    97 %   12.2k    $0.91+

            1 request is not in the cost: no price is known.
            1 request is not in the tokens: failed, or not counted by the server.
        "#]],
    );
}

#[test]
fn an_ordinary_terminal_gets_most_columns() {
    check(
        &three_days("80"),
        "80",
        &["usage", "--day"],
        expect![[r#"
            Day         Requests   Input  Cached  Output     Cost  Tokens/s
            2026-02-28         1  412.3k    97 %    5.0k    $0.45       500  ██████████████▉
            2026-03-01         2  413.2k    97 %    6.1k   $0.45+       275  ███████████████
            2026-03-02         2     900     0 %    1.1k  $0.0052        50  ▏
            Total              5  826.5k    97 %   12.2k   $0.91+       275

            Model                                      Input  Output      Cost
            anthropic/claude-sonnet-4.5               824.7k   10.0k     $0.90  ████████████
            openai/gpt-5.2                              1.8k    2.2k  $0.0052+  ▏
            …model-that-nobody-can-remember-20260101       0       0         –
            Total                                     826.5k   12.2k    $0.91+

            1 request is not in the cost: no price is known.
            1 request is not in the tokens: failed, or not counted by the server.
        "#]],
    );
}

#[test]
fn a_narrow_terminal_gets_few_columns() {
    check(
        &three_days("narrow"),
        "44",
        &["usage", "--month"],
        expect![[r#"
            Month     Input  Output    Cost
            2026-02  412.3k    5.0k   $0.45  ██████████▉
            2026-03  414.1k    7.2k  $0.46+  ███████████
            Total    826.5k   12.2k  $0.91+

            Model                       Cost
            …pic/claude-sonnet-4.5     $0.90  ██████████
            openai/gpt-5.2          $0.0052+  ▏
            …can-remember-20260101         –
            Total                     $0.91+

            1 request is not in the cost: no price is known.
            1 request is not in the tokens: failed, or not counted by the server.
        "#]],
    );
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    let home = three_days("every-width");
    for width in 24..140 {
        let (_, shown, _) = sluice(&home, &width.to_string(), &["usage"]);
        let table = shown.lines().filter(|line| !line.ends_with('.'));
        let longest = table.map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= width, "{longest} of {width}:\n{shown}");
        assert!(!shown.contains('\u{1b}'), "no colours into a pipe, no escapes of a model's");
    }
}

#[test]
fn usage_is_printed_as_json() {
    let home = three_days("json");
    check(
        &home,
        "80",
        &["usage", "--json"],
        expect![[r#"
            {"rows":[{"day":"2026-02-28","model":"anthropic/claude-sonnet-4.5","requests":1,"uncounted":0,"unpriced":0,"inputTokens":412345,"cachedTokens":400000,"outputTokens":5000,"reasoningTokens":0,"cost":0.4512,"firstParts":1,"firstPartMs":700,"streamedTokens":5000,"streamingMs":10000,"firstPartAfterMs":700,"tokensPerSecond":500.0},{"day":"2026-03-01","model":"anthropic/claude-sonnet-4.5","requests":1,"uncounted":0,"unpriced":0,"inputTokens":412345,"cachedTokens":400000,"outputTokens":5000,"reasoningTokens":0,"cost":0.4512,"firstParts":1,"firstPartMs":700,"streamedTokens":5000,"streamingMs":10000,"firstPartAfterMs":700,"tokensPerSecond":500.0},{"day":"2026-03-01","model":"openai/gpt-5.2","requests":1,"uncounted":0,"unpriced":1,"inputTokens":900,"cachedTokens":0,"outputTokens":1100,"reasoningTokens":600,"cost":0.0,"firstParts":1,"firstPartMs":700,"streamedTokens":500,"streamingMs":10000,"firstPartAfterMs":700,"tokensPerSecond":50.0},{"day":"2026-03-02","model":"a/\u001b[31mvery-long-name-of-a-model-that-nobody-can-remember-20260101","requests":1,"uncounted":1,"unpriced":0,"inputTokens":0,"cachedTokens":0,"outputTokens":0,"reasoningTokens":0,"cost":0.0,"firstParts":1,"firstPartMs":700,"streamedTokens":0,"streamingMs":0,"firstPartAfterMs":700,"tokensPerSecond":null},{"day":"2026-03-02","model":"openai/gpt-5.2","requests":1,"uncounted":0,"unpriced":0,"inputTokens":900,"cachedTokens":0,"outputTokens":1100,"reasoningTokens":600,"cost":0.0052,"firstParts":1,"firstPartMs":700,"streamedTokens":500,"streamingMs":10000,"firstPartAfterMs":700,"tokensPerSecond":50.0}],"total":{"requests":5,"uncounted":1,"unpriced":1,"inputTokens":826490,"cachedTokens":800000,"outputTokens":12200,"reasoningTokens":1200,"cost":0.9076,"firstParts":5,"firstPartMs":3500,"streamedTokens":11000,"streamingMs":40000,"firstPartAfterMs":700,"tokensPerSecond":275.0},"limits":[],"expectedThisMonth":null}
        "#]],
    );
    let (_, months, _) = sluice(&home, "80", &["usage", "--json", "--month"]);
    assert_eq!(months.matches(r#""month":"2026-03""#).count(), 3, "{months}");
}

#[test]
fn only_the_latest_days_are_shown() {
    let home = home("many");
    let days: Vec<_> = (20_000..20_100).map(|day| (day, "acme/one", SMALL, Some("0.01"))).collect();
    record(&home, &days);
    let (_, shown, _) = sluice(&home, "80", &["usage"]);
    assert_eq!(shown.lines().filter(|line| line.starts_with("202")).count(), 30, "{shown}");
    assert!(shown.contains("70 earlier days are not shown; --month sums them up."), "{shown}");
}

#[test]
fn chat_adds_to_the_usage() {
    let home = home("chat");
    let ask = |arguments: &[&str]| {
        let (code, shown, errors) = sluice(&home, "80", &[&["chat", "-v", "-m"], arguments].concat());
        (code, shown + &errors)
    };
    let (code, first) = ask(&["sluice/echo", "Hello there"]);
    assert_eq!(code, Some(0));
    assert!(first.contains("0 of them counted before"), "{first}");
    // The same question again: the estimate is what the server counted.
    let (_, second) = ask(&["sluice/echo", "Hello there"]);
    let counted = second.split(" tokens in").next().and_then(|start| start.rsplit(' ').next()).unwrap();
    assert!(second.contains(&format!("estimated: {counted} tokens in, {counted} of them counted before")), "{second}");
    // A failed request counts, too.
    assert_eq!(ask(&["sluice/echo+status=400", "Hello there"]).0, Some(1));
    let (_, shown, _) = sluice(&home, "80", &["usage", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&report["total"]["requests"], &report["total"]["uncounted"]), (&3.into(), &1.into()), "{shown}");
    assert_eq!(report["rows"][0]["inputTokens"], counted.parse::<u64>().unwrap() * 2);
}

#[test]
fn chat_warns_about_a_full_window_and_sends_the_request() {
    let home = home("window");
    let simulator = Simulator::start(Config::recording()).unwrap();
    let run = |arguments: &[&str], input: &str| {
        let mut command = support::sluice(&home, arguments);
        let output = support::run(command.current_dir(".").env("SLUICE_BASE_URL", simulator.url()), input.as_bytes());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let prompt = format!("3 {}", "word ".repeat(108_000));
    let ask = || run(&["chat", "-v", "-m", "sluice/long", "-"], &prompt);
    assert!(!ask().contains("sluice/long's input limit"), "nobody knows the window yet");
    run(&["models"], "");
    let said = ask();
    assert!(said.contains("sluice/long's input limit"), "{said}");
    assert!(said.contains("/128k · "), "{said}");
}

#[test]
fn a_damaged_file_is_reported_once() {
    let home = three_days("damaged");
    std::fs::write(home.join("memory"), "junk").unwrap();
    let (code, shown, errors) = sluice(&home, "80", &["usage"]);
    assert_eq!(code, Some(0));
    assert!(shown.starts_with("Nothing was used yet."));
    assert!(errors.contains("damaged"), "{errors}");
    assert_eq!(sluice(&home, "80", &["usage"]).2, "");
    assert_eq!(std::fs::read(home.join("memory.corrupt")).unwrap(), b"junk");
}

#[test]
fn chat_works_without_a_directory_for_its_files() {
    let file = home("no-place");
    std::fs::write(&file, "").unwrap();
    let (code, shown, errors) = sluice(&file.join("below"), "80", &["chat", "-m", "sluice/echo", "Hello"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(shown.starts_with("Hello"));
    assert_eq!(errors.matches("SLUICE_HOME").count(), 1, "{errors}");
}
