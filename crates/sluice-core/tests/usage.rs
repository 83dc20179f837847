//! What requests use is tracked separately however they overlap, and the status bar shows it.

#![allow(clippy::needless_pass_by_value, reason = "an `expect!` is passed by value in each case")]

use expect_test::{Expect, expect};
use sluice_core::{
    Dollars, History, HistoryPeriod, HistoryRow, Level, RequestEnd, RequestKind, RequestStart, RequestUsage, Usage,
    UsageTracker, date, join_messages, preflight,
};

fn start(id: &str, kind: RequestKind, estimate: Option<u64>) -> RequestStart {
    RequestStart {
        id: id.to_owned(),
        conversation: "chat".to_owned(),
        model: "acme/one".to_owned(),
        kind,
        effort: None,
        estimate,
        context_window: Some(128_000),
    }
}

fn counted(input: u64, output: u64) -> RequestEnd {
    let usage = Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() };
    RequestEnd { usage: Some(usage), is_answered: true, ..RequestEnd::default() }
}

/// Runs a main request that the server counts as `input`.
fn turn(tracker: &mut UsageTracker, id: &str, input: u64) {
    tracker.open(start(id, RequestKind::Main, Some(input + 10)), 0);
    tracker.finish(id, &counted(input, 0), 1000);
}

fn text(tracker: &UsageTracker) -> String {
    let line = tracker.status("chat").unwrap();
    format!("{} [{:?}, {:?}]", join_messages(&line.text, " · "), line.level, line.activity)
}

fn check_text(tracker: &UsageTracker, expected: Expect) {
    expected.assert_eq(&text(tracker));
}

#[test]
fn the_estimate_is_shown_before_and_the_count_after() {
    let mut tracker = UsageTracker::default();
    assert_eq!(tracker.status("chat"), None);
    tracker.open(start("1", RequestKind::Main, Some(51_000)), 0);
    check_text(&tracker, expect!["~51.0k/128k · 40 % [Normal, Answering]"]);
    tracker.finish("1", &counted(52_000, 700), 4000);
    check_text(&tracker, expect!["52.7k/128k · 41 % [Normal, Idle]"]);
    tracker.open(start("2", RequestKind::Main, Some(53_000)), 5000);
    check_text(&tracker, expect!["~53.0k/128k · 41 % [Normal, Answering]"]);
    // After a failed request, the last count is still shown.
    tracker.finish("2", &RequestEnd::default(), 6000);
    check_text(&tracker, expect!["52.7k/128k · 41 % [Normal, Idle]"]);
}

#[test]
fn levels_follow_the_number_that_is_shown() {
    for (input, expected) in [
        (1, expect!["1/128k · 0 % [Normal, Idle]"]),
        (999, expect!["999/128k · 1 % [Normal, Idle]"]),
        (95_000, expect!["95.0k/128k · 74 % [Normal, Idle]"]),
        (95_900, expect!["95.9k/128k · 75 % [Warning, Idle]"]),
        (96_000, expect!["96.0k/128k · 75 % [Warning, Idle]"]),
        (114_000, expect!["114.0k/128k · 89 % [Warning, Idle]"]),
        (115_200, expect!["115.2k/128k · 90 % [Error, Idle]"]),
        (128_000, expect!["128.0k/128k · 100 % [Error, Idle]"]),
        (128_001, expect!["128.0k/128k · 101 % [Error, Idle]"]),
        (2_097_152, expect!["2.10M/128k · 1638 % [Error, Idle]"]),
    ] {
        let mut tracker = UsageTracker::default();
        turn(&mut tracker, "1", input);
        check_text(&tracker, expected);
    }
}

#[test]
fn windows_of_every_size_are_formatted() {
    for (limit, expected) in [
        (Some(8192), expect!["4.1k/8.19k · 50 % [Normal, Idle]"]),
        (Some(131_072), expect!["4.1k/131k · 3 % [Normal, Idle]"]),
        (Some(999_999), expect!["4.1k/1M · 0 % [Normal, Idle]"]),
        (Some(1_048_576), expect!["4.1k/1.05M · 0 % [Normal, Idle]"]),
        (Some(0), expect!["4.1k tokens [Normal, Idle]"]),
        (None, expect!["4.1k tokens [Normal, Idle]"]),
    ] {
        let mut tracker = UsageTracker::default();
        tracker.open(RequestStart { context_window: limit, ..start("1", RequestKind::Main, None) }, 0);
        check_text(&tracker, expect!["… [Normal, Answering]"]);
        tracker.finish("1", &counted(4096, 1), 1000);
        check_text(&tracker, expected);
    }
}

#[test]
fn a_server_that_does_not_count_leaves_the_estimate() {
    let mut tracker = UsageTracker::default();
    tracker.open(start("1", RequestKind::Main, Some(2000)), 0);
    tracker.finish("1", &RequestEnd { is_answered: true, ..RequestEnd::default() }, 10);
    check_text(&tracker, expect!["~2.0k/128k · 2 % [Normal, Idle]"]);
    tracker.open(start("2", RequestKind::Main, None), 0);
    tracker.finish("2", &counted(0, 0), 10);
    check_text(&tracker, expect!["not counted [Normal, Idle]"]);
}

#[test]
fn sub_agents_and_summaries_do_not_overwrite_the_conversation() {
    let mut tracker = UsageTracker::default();
    turn(&mut tracker, "1", 100_000);
    tracker.open(start("2", RequestKind::Main, Some(101_000)), 0);
    tracker.open(start("sub a", RequestKind::SubAgent, Some(5000)), 0);
    tracker.open(start("sub b", RequestKind::SubAgent, Some(6000)), 0);
    check_text(&tracker, expect!["~101.0k/128k · 79 % [Warning, Answering]"]);
    assert!(
        tracker.status("chat").unwrap().tooltip.iter().any(|line| join_messages(&line.value, ", ") == "2 sub-agents")
    );
    tracker.finish("2", &counted(101_500, 10), 0);
    tracker.finish("sub b", &counted(6100, 10), 0);
    check_text(&tracker, expect!["101.5k/128k · 79 % [Warning, Answering]"]);
    tracker.finish("sub a", &counted(5100, 10), 0);
    tracker.open(start("title", RequestKind::Utility, Some(300)), 0);
    check_text(&tracker, expect!["101.5k/128k · 79 % [Warning, Idle]"]);
    tracker.open(start("summary", RequestKind::Summary, Some(102_000)), 0);
    check_text(&tracker, expect!["101.5k/128k · 79 % [Warning, Summarizing]"]);
    tracker.finish("summary", &counted(102_200, 2000), 0);
    check_text(&tracker, expect!["101.5k/128k · 79 % [Warning, Idle]"]);
    // All requests count towards the conversation's sums.
    assert_eq!(tracker.conversation("chat").unwrap().input_tokens, 100_000 + 101_500 + 6100 + 5100 + 102_200);
    assert_eq!(tracker.conversation("another"), None);
}

#[test]
fn freed_tokens_are_shown_for_two_answers() {
    let mut tracker = UsageTracker::default();
    turn(&mut tracker, "1", 100_000);
    tracker.open(start("2", RequestKind::Main, Some(30_000)), 0);
    check_text(&tracker, expect!["~30.0k/128k · 23 % · ↓70.0k [Normal, Answering]"]);
    tracker.finish("2", &counted(31_000, 10), 0);
    check_text(&tracker, expect!["31.0k/128k · 24 % · ↓69.0k [Normal, Idle]"]);
    turn(&mut tracker, "3", 35_000);
    check_text(&tracker, expect!["35.0k/128k · 27 % · ↓69.0k [Normal, Idle]"]);
    turn(&mut tracker, "4", 40_000);
    check_text(&tracker, expect!["40.0k/128k · 31 % [Normal, Idle]"]);
    turn(&mut tracker, "5", 29_000);
    check_text(&tracker, expect!["29.0k/128k · 23 % [Normal, Idle]"]);
}

#[test]
fn an_older_request_that_ends_late_is_not_shown() {
    let mut tracker = UsageTracker::default();
    tracker.open(start("old", RequestKind::Main, Some(10_000)), 0);
    tracker.open(start("new", RequestKind::Main, Some(20_000)), 1);
    tracker.finish("new", &counted(20_500, 1), 2);
    check_text(&tracker, expect!["20.5k/128k · 16 % [Normal, Answering]"]);
    tracker.finish("old", &counted(10_500, 1), 3);
    check_text(&tracker, expect!["20.5k/128k · 16 % [Normal, Idle]"]);
    assert_eq!(tracker.finish("old", &counted(1, 1), 3), None, "it is over");
    assert_eq!(tracker.finish("never opened", &counted(1, 1), 3), None);
}

fn usage(json: &str) -> Usage {
    serde_json::from_str(json).unwrap()
}

fn finished(end: &RequestEnd, now: u64) -> RequestUsage {
    let mut tracker = UsageTracker::default();
    tracker.open(start("1", RequestKind::Main, Some(900)), 100);
    tracker.finish("1", end, now).unwrap()
}

#[test]
fn time_and_speed_are_measured_while_streaming() {
    let end = RequestEnd {
        usage: Some(usage(
            r#"{"input_tokens":1000,"output_tokens":500,"input_tokens_details":{"cached_tokens":900},
                "output_tokens_details":{"reasoning_tokens":400}}"#,
        )),
        is_answered: true,
        ..RequestEnd::default()
    };
    let speed = |first: Option<(bool, u64)>, now| {
        let (began_with_thinking, first_part_ms) = first.unzip();
        let began_with_thinking = began_with_thinking.unwrap_or(false);
        let used = finished(&RequestEnd { first_part_ms, began_with_thinking, ..end.clone() }, now);
        (used.first_part_ms, used.total_ms, used.tokens_per_second)
    };
    // Visible reasoning was streamed; hidden reasoning came before the first part.
    assert_eq!(speed(Some((true, 500)), 2600), (Some(500), 2500, Some(250.0)));
    assert_eq!(speed(Some((false, 500)), 2600), (Some(500), 2500, Some(50.0)));
    assert_eq!(speed(None, 2600), (None, 2500, None));
    // If the clock jumped or the answer arrived in one piece, there is no speed, not an infinite one.
    assert_eq!(speed(Some((true, 0)), 20), (Some(0), 0, None));
    assert_eq!(speed(Some((true, 500)), 600), (Some(500), 500, None));
    assert_eq!(speed(Some((true, 500)), 650), (Some(500), 550, None));
}

#[test]
fn the_gateways_own_cost_comes_first() {
    let check = |cost: Option<&str>, more: &str, by_prices: Option<f64>, expected: Option<u64>| {
        let usage = usage(&format!(r#"{{"input_tokens":1,"output_tokens":1{more}}}"#));
        let end = RequestEnd {
            usage: Some(usage),
            cost: cost.map(str::to_owned),
            cost_by_prices: by_prices,
            is_answered: true,
            ..RequestEnd::default()
        };
        assert_eq!(finished(&end, 200).cost, expected.map(Dollars), "{cost:?} {more} {by_prices:?}");
    };
    check(Some("0.000227"), r#","cost":5"#, Some(9.0), Some(227_000));
    check(Some("junk"), r#","cost":0.5"#, Some(9.0), Some(500_000_000));
    check(None, r#","cost":"0.25""#, None, Some(250_000_000));
    check(None, r#","cost_in_usd_ticks":6543500"#, None, Some(654_350));
    check(None, "", Some(0.001), Some(1_000_000));
    check(None, "", Some(f64::NAN), None);
    check(None, "", None, None);
    check(Some("0"), "", Some(9.0), Some(0));
}

#[test]
fn dollars_are_parsed_and_formatted() {
    for (text, expected) in [
        ("0.000227", Some(227_000)),
        ("12", Some(12_000_000_000)),
        (" $1.5 ", Some(1_500_000_000)),
        (".5", Some(500_000_000)),
        ("5.", Some(5_000_000_000)),
        ("0.0000000004", Some(0)),
        ("0.0000000005", Some(1)),
        ("0.9999999999", Some(1_000_000_000)),
        ("1.5e-7", Some(150)),
        ("", None),
        (".", None),
        ("-1", None),
        ("NaN", None),
        ("inf", None),
        ("1e300", None),
        ("99999999999999999999", None),
        ("free", None),
    ] {
        assert_eq!(Dollars::parse(text).map(|dollars| dollars.0), expected, "{text:?}");
    }
    let shown = |nanos| Dollars(nanos).to_string();
    assert_eq!(
        [0, 227_000, 5_200_000, 52_000_000, 1_234_567_890, 150].map(shown),
        ["$0", "$0.00023", "$0.0052", "$0.052", "$1.23", "$0.00000015"]
    );
}

#[test]
fn the_tooltip_lists_the_details() {
    let mut tracker = UsageTracker::default();
    tracker.open(start("1", RequestKind::Main, Some(900)), 0);
    let end = RequestEnd {
        usage: Some(usage(
            r#"{"input_tokens":52000,"output_tokens":1200,"input_tokens_details":{"cached_tokens":48000},
                "output_tokens_details":{"reasoning_tokens":300}}"#,
        )),
        cost: Some("0.0123".to_owned()),
        is_answered: true,
        first_part_ms: Some(800),
        began_with_thinking: true,
        ..RequestEnd::default()
    };
    tracker.finish("1", &end, 15_000);
    expect![[r#"
        Model: acme/one
        Thinking: as much as the model decides
        Context: 53,200 of 128,000 tokens, counted by the server
        Last answer: 52,000 in (48,000 cached), 1,200 out (300 reasoning)
        Cost: $0.012
        Speed: first part after 0.8 s, 85 tokens/s
        Conversation: 1 request, 52,000 in, 1,200 out, $0.012
    "#]]
    .assert_eq(&tooltip(&tracker));
}

#[test]
fn the_tooltip_says_what_was_asked_for() {
    use RequestKind::{Inline, Main, SubAgent, Summary, Utility};
    let mut tracker = UsageTracker::default();
    let mut thinking = |effort: &str| {
        tracker.open(RequestStart { effort: Some(effort.to_owned()), ..start("1", Main, Some(10)) }, 0);
        let while_running = tooltip(&tracker);
        tracker.finish("1", &counted(10, 1), 1);
        assert_eq!(while_running.lines().nth(1), tooltip(&tracker).lines().nth(1));
        while_running.lines().nth(1).unwrap().to_owned()
    };
    assert_eq!([thinking("high"), thinking("none")], ["Thinking: high", "Thinking: off"]);
    // Requests outside of the conversation, whatever conversation they name.
    for (number, kind) in [Utility, Utility, Summary, SubAgent, SubAgent, Inline].into_iter().enumerate() {
        let id = number.to_string();
        tracker.open(RequestStart { conversation: id.clone(), ..start(&id, kind, None) }, 0);
        tracker.finish(&id, &counted(5, 1), 1);
    }
    let also = tooltip(&tracker).lines().last().unwrap().to_owned();
    expect![
        "Also: 2 by sub-agents, 1 for summaries, 1 in editors and terminals, 2 for titles, commit messages and the like"
    ]
    .assert_eq(&also);
}

fn tooltip(tracker: &UsageTracker) -> String {
    let lines = tracker.status("chat").unwrap().tooltip;
    lines.iter().map(|line| format!("{}: {}\n", line.label, join_messages(&line.value, ", "))).collect()
}

#[test]
fn preflight_warns_and_never_refuses() {
    let told = |tokens, limit| preflight("acme/one", tokens, limit);
    assert_eq!(told(1_000_000, None), None);
    assert_eq!(told(5, Some(0)), None);
    assert_eq!(told(114_000, Some(128_000)), None);
    let close = told(120_000, Some(128_000)).unwrap();
    assert_eq!(close.level, Level::Error);
    expect!["This request has about 120.0k tokens, 94 % of acme/one's input limit (128k). Summarize the conversation soon, or start a new one."]
        .assert_eq(&close.message.to_string());
    expect!["This request has about 131.0k tokens, but acme/one accepts at most 128k, so it may be refused. Summarize the conversation, drop some context, or choose a model with a larger window."]
        .assert_eq(&told(131_000, Some(128_000)).unwrap().message.to_string());
}

#[test]
fn usage_is_summed_by_day_and_month() {
    for (day, expected) in [
        (0, "1970-01-01"),
        (59, "1970-03-01"),
        (11_016, "2000-02-29"),
        (19_782, "2024-02-29"),
        (20_513, "2026-03-01"),
        (20_818, "2026-12-31"),
        (47_540, "2100-02-28"),
        (47_541, "2100-03-01"),
    ] {
        assert_eq!(date(day), expected);
    }
    assert!(date(u32::MAX).len() > 10, "no panic");
    let mut history = History::default();
    let used = finished(&counted(100, 10), 200);
    for day in [20_512, 20_513, 20_513, 20_514] {
        history.add(day, &used);
    }
    history.add(20_513, &RequestUsage { model: "acme/two".to_owned(), ..used });
    let shown = |period| {
        let mut lines = String::new();
        for (name, models) in history.by(period) {
            for (model, totals) in models {
                lines.push_str(&format!("{name} {model} {} {}\n", totals.requests, totals.input_tokens));
            }
        }
        lines
    };
    expect![[r#"
        2026-02-28 acme/one 1 100
        2026-03-01 acme/one 2 200
        2026-03-01 acme/two 1 100
        2026-03-02 acme/one 1 100
    "#]]
    .assert_eq(&shown(HistoryPeriod::Day));
    expect![[r#"
        2026-02 acme/one 1 100
        2026-03 acme/one 3 300
        2026-03 acme/two 1 100
    "#]]
    .assert_eq(&shown(HistoryPeriod::Month));
    let listed =
        history.listed(HistoryPeriod::Day).into_iter().map(|HistoryRow { when, model, details, share, .. }| {
            format!("{when} {model}: {}; {share}\n", join_messages(&details, " · "))
        });
    expect![[r#"
        2026-03-02 acme/one: 1 request · 100 in · 10 out; 0.5
        2026-03-01 acme/one: 2 requests · 200 in · 20 out; 1
        2026-03-01 acme/two: 1 request · 100 in · 10 out; 0.5
        2026-02-28 acme/one: 1 request · 100 in · 10 out; 0.5
    "#]]
    .assert_eq(&listed.collect::<String>());
}

/// Checks invariant L9.
#[test]
fn history_and_trackers_are_bounded() {
    let used = finished(&counted(100, 10), 200);
    let mut history = History::default();
    // A clock that was wrong once causes no loss.
    history.add(u32::MAX, &used);
    for day in 0..1000 {
        history.add(day, &RequestUsage { model: "x".repeat(5000), ..used.clone() });
    }
    let days: Vec<u32> = history.rows().map(|(day, ..)| day).collect();
    assert_eq!((days.len(), days[0], days[398]), (400, 601, 999));
    for model in 0..3100 {
        history.add(1000, &RequestUsage { model: model.to_string(), ..used.clone() });
    }
    assert_eq!(history.rows().count(), 3000);

    let mut tracker = UsageTracker::default();
    for index in 0..3000 {
        let conversation = format!("chat {index}");
        tracker.open(RequestStart { conversation, ..start(&index.to_string(), RequestKind::Main, None) }, 0);
    }
    assert_eq!(tracker.finish("0", &counted(1, 1), 1), None);
    assert!(tracker.finish("2999", &counted(1, 1), 1).is_some());
    assert_eq!(tracker.status("chat 0"), None);
    assert!(tracker.status("chat 2999").is_some());
}
