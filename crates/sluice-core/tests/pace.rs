//! When text reaches the screen of VS Code: the pacer in a model of the Chat view.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use crate::support::chat_view::{Figures, Random, Report, Token, figures};
use crate::support::providers::{event, every, paced, reports, run, text_event, words};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;
use sluice_core::{Action, Exchange, ExchangeOptions, Output, Pace, Part};

/// The second piece has ten words.
fn late_second(interval: f64) -> impl Fn(&[Token]) -> Vec<Report> {
    move |tokens| reports(tokens, |pieces, pending| if pieces == 1 && pending < 10 { f64::INFINITY } else { interval })
}

/// The model against what was measured in VS Code 1.139.1 on an idle machine: words at an even distance, each strategy as
/// (first, p50, p95, last third), medians where there were several runs.
#[test]
fn the_model_agrees_with_vs_code() {
    type Strategy = Box<dyn Fn(&[Token]) -> Vec<Report>>;
    let cases: [(&str, u32, f64, Strategy, [f64; 4]); 14] = [
        ("each token", 200, 15.0, Box::new(every(0.0)), [471.0, 235.0, 452.0, 228.0]),
        ("every 40 ms", 200, 15.0, Box::new(every(41.0)), [62.0, 902.0, 1118.0, 1072.0]),
        ("every 100 ms", 200, 15.0, Box::new(every(101.0)), [50.0, 667.0, 809.0, 781.0]),
        ("every 200 ms", 200, 15.0, Box::new(every(201.0)), [44.0, 354.0, 502.0, 467.0]),
        ("late second, 100 ms", 200, 15.0, Box::new(late_second(101.0)), [45.0, 338.0, 523.0, 491.0]),
        ("each token", 700, 15.0, Box::new(every(0.0)), [474.0, 675.0, 1252.0, 1192.0]),
        ("every 40 ms", 700, 15.0, Box::new(every(41.0)), [46.0, 1900.0, 2566.0, 2462.0]),
        ("each token", 200, 5.0, Box::new(every(0.0)), [188.0, 113.0, 179.0, 108.0]),
        ("every 40 ms", 200, 5.0, Box::new(every(41.0)), [58.0, 263.0, 326.0, 275.0]),
        ("late second, 100 ms", 200, 5.0, Box::new(late_second(101.0)), [58.0, 170.0, 217.0, 170.0]),
        ("each token", 300, 22.0, Box::new(every(0.0)), [679.0, 375.0, 659.0, 375.0]),
        ("every 40 ms", 300, 22.0, Box::new(every(41.0)), [52.0, 1663.0, 2299.0, 2000.0]),
        ("each token", 200, 60.0, Box::new(every(0.0)), [64.0, 49.0, 107.0, 49.0]),
        ("every 40 ms", 200, 60.0, Box::new(every(41.0)), [48.0, 50.0, 116.0, 50.0]),
    ];
    for (name, count, spacing, strategy, [first, p50, p95, last_third]) in cases {
        let tokens = words(count, spacing);
        let model = figures(&tokens, &strategy(&tokens));
        let near = |model: f64, measured: f64| (model - measured).abs() <= f64::max(80.0, 0.3 * measured);
        assert!(
            near(model.first, first)
                && near(model.p50, p50)
                && near(model.p95, p95)
                && near(model.last_third, last_third),
            "{name}, {count} words every {spacing} ms: the model says {model:?}, VS Code took {first} / {p50} / {p95} / {last_third}",
        );
    }
}

fn row(name: &str, tokens: &[Token], reported: &[Report]) -> (String, Figures) {
    let ours = figures(tokens, reported);
    let theirs = figures(tokens, &every(0.0)(tokens));
    let cells =
        |Figures { first, p50, p95, last_third }: Figures| format!("{first:4.0} {p50:5.0} {p95:5.0} {last_third:5.0}");
    (format!("{name:22} {}  | {}\n", cells(ours), cells(theirs)), ours)
}

const HEAD: &str = "                       Sluice: first, p50, p95, last third | every token at once\n";

/// The latencies on the screen that the pacer is made for.
#[test]
fn evenly_spaced_words_reach_the_screen_in_time() {
    let mut table = HEAD.to_owned();
    for spacing in [2, 3, 5, 7, 9, 11, 13, 15, 17, 19, 22, 24, 26, 30, 40, 60, 100, 200] {
        for seconds in [3, 10, 30] {
            let tokens = words(1000 * seconds / spacing, f64::from(spacing));
            let (line, ours) = row(&format!("{spacing:3} ms, {seconds:2} s"), &tokens, &paced(&tokens));
            table.push_str(&line);
            assert!(ours.first <= 65.0 && ours.p95 <= 450.0, "{line}");
            if (15..=22).contains(&spacing) {
                assert!(ours.p50 <= 290.0 && ours.p95 <= 410.0 && ours.last_third <= 290.0, "{line}");
            }
            if spacing >= 60 {
                assert!(ours.p50 <= 55.0, "{line}");
            }
        }
    }
    expect![[r#"
                               Sluice: first, p50, p95, last third | every token at once
          2 ms,  3 s             50   121   166   149  |   79   136   193   171
          2 ms, 10 s             51   210   329   295  |   77   244   388   349
          2 ms, 30 s             52   370   410   377  |   78   554   969   866
          3 ms,  3 s             53   147   203   184  |  108   133   183   163
          3 ms, 10 s             54   265   409   389  |  109   268   424   380
          3 ms, 30 s             54   365   404   364  |  109   588  1026   921
          5 ms,  3 s             52   170   256   231  |  167   223   300   277
          5 ms, 10 s             52   367   418   378  |  170   384   609   543
          5 ms, 30 s             52   353   401   346  |  168   864  1552  1388
          7 ms,  3 s             50   238   341   314  |  227   262   369   337
          7 ms, 10 s             51   372   437   375  |  228   522   877   778
          7 ms, 30 s             52   336   408   328  |  229  1268  2258  2005
          9 ms,  3 s             53   308   369   300  |  289   233   386   338
          9 ms, 10 s             52   313   373   311  |  286   725  1304  1173
          9 ms, 30 s             50   313   375   311  |  289  1981  3710  3295
         11 ms,  3 s             53   313   370   305  |  348   251   370   319
         11 ms, 10 s             52   303   371   292  |  349   811  1691  1472
         11 ms, 30 s             52   297   371   294  |  350  2766  5383  4724
         13 ms,  3 s             53   277   368   269  |  409   246   395   259
         13 ms, 10 s             52   280   373   278  |  408   545  1074   974
         13 ms, 30 s             50   279   373   279  |  410  1913  3472  3244
         15 ms,  3 s             53   275   376   267  |  468   243   452   232
         15 ms, 10 s             52   275   377   274  |  468   517  1100  1018
         15 ms, 30 s             50   275   378   273  |  470  2155  3856  3613
         17 ms,  3 s             53   274   374   270  |  529   260   509   242
         17 ms, 10 s             52   263   375   257  |  527   465   897   803
         17 ms, 30 s             50   259   376   257  |  526  1580  2799  2527
         19 ms,  3 s             53   232   369   226  |  588   303   569   245
         19 ms, 10 s             52   236   372   235  |  589   567  1584  1399
         19 ms, 30 s             50   236   374   236  |  589  4234  6847  6266
         22 ms,  3 s             53   234   389   220  |  679   307   655   218
         22 ms, 10 s             53   230   390   219  |  679   500   806   660
         22 ms, 30 s             52   228   392   226  |  680  2212  4079  3629
         24 ms,  3 s             51   229   385   216  |  739   378   713   234
         24 ms, 10 s             53   224   390   217  |  739   449   714   492
         24 ms, 30 s             52   226   392   224  |  737  1184  2349  2070
         26 ms,  3 s             53   191   358   185  |  798   382   748   255
         26 ms, 10 s             53   193   349   190  |  799   385   771   333
         26 ms, 30 s             51   193   348   191  |  798   408   772   386
         30 ms,  3 s             53    94   159   128  |  919   437   887   287
         30 ms, 10 s             52   129   157   131  |  919   467   888   410
         30 ms, 30 s             51   128   158   132  |  918   468   888   438
         40 ms,  3 s             51    52    81    51  |   50    51    54    51
         40 ms, 10 s             52    51    61    51  |   53    51    54    51
         40 ms, 30 s             52    51    54    51  |   50    51    54    51
         60 ms,  3 s             50    50    53    50  |   50    50    53    50
         60 ms, 10 s             52    51    54    51  |   52    51    54    51
         60 ms, 30 s             52    51    54    51  |   52    51    54    51
        100 ms,  3 s             51    51    53    50  |   51    51    53    50
        100 ms, 10 s             52    51    53    51  |   52    51    53    51
        100 ms, 30 s             51    51    54    51  |   51    51    54    51
        200 ms,  3 s             50    51    53    51  |   50    51    53    51
        200 ms, 10 s             50    50    53    50  |   50    50    53    50
        200 ms, 30 s             52    51    54    51  |   52    51    54    51
    "#]]
    .assert_eq(&table);
    let short = words(200, 5.0);
    assert!(figures(&short, &paced(&short)).p95 <= 230.0);
}

/// Answers of other shapes: the same aims, as far as they apply.
#[test]
fn answers_of_every_shape_reach_the_screen_in_time() {
    let mut table = HEAD.to_owned();
    for (name, tokens) in shapes() {
        let (line, ours) = row(name, &tokens, &paced(&tokens));
        table.push_str(&line);
        assert!(ours.first <= 65.0, "{line}");
        if name.starts_with("uneven") {
            assert!(ours.p50 <= 400.0 && ours.last_third <= 450.0, "{line}");
        }
    }
    expect![[r#"
                               Sluice: first, p50, p95, last third | every token at once
        bursts of 8              51   287   375   288  |   50   648  1125  1062
        packets of 30            53   137   352   135  |   52   208   629   466
        packets of 15            53   349   567   302  |   51  1007  1789  1691
        packets of 60            49    52   448    50  |   50    51   462   103
        pauses of 2 s            52   315   408   336  |  467   347   639   478
        slow, then fast          51  2666  2973  2826  |   50  2973  3626  3398
        faster after 5 s         51  1992  2423  1917  |   53  3825  4887  4760
        fast, then slow          53   144   216    54  |  169   157   218    53
        uneven, 5 ms             53   375   564   377  |  229   519  1139   997
        uneven, 15 ms            50   347   524   428  |  100  1345  2496  2343
        uneven, 22 ms            52   327   705   327  |   52  1902  2771  2563
        uneven, 30 ms            52   255   409   259  |   52   240   444   249
        syllables, 11 ms         52   267   371   264  |  349   753  1461  1379
        code, 12 ms              52   279   374   279  |  379   716  1250  1178
        Han, 20 ms               52   271   373   269  |  619   500   959   871
        2 s, 22 ms               52   235   388   217  |  679   328   633   284
        60 s, 22 ms              50   229   392   229  |  679  4876  8526  7619
        60 s, 15 ms              52   274   378   274  |  467  4863  8244  7728
    "#]]
    .assert_eq(&table);
}

/// Tokens at times that a function of their index determines.
fn tokens(count: u32, at: impl Fn(u32) -> u32, text: impl Fn(u32) -> String) -> Vec<Token> {
    (0..count).map(|index| Token { at: f64::from(at(index)), text: text(index) }).collect()
}

/// Words whose distances vary as those of independent arrivals do.
fn uneven(count: u32, spacing: f64) -> Vec<Token> {
    let mut random = Random::new(3);
    let mut tokens = words(count, 0.0);
    let mut at = 0.0;
    for token in &mut tokens {
        token.at = f64::floor(at);
        at -= spacing * (1.0 - random.next()).ln();
    }
    tokens
}

fn shapes() -> Vec<(&'static str, Vec<Token>)> {
    let word = |index: u32| format!("w{index} ");
    // Tokens are often shorter than words.
    let syllable = |index: u32| if index % 4 == 3 { "le".to_owned() } else { " syl".to_owned() };
    let code = |index: u32| {
        let pieces = ["\n    let", " total", " =", " a", "+b", ";", "\n    if", " total", " ==", " `limit`", " {", "}"];
        pieces[index as usize % pieces.len()].to_owned()
    };
    vec![
        ("bursts of 8", tokens(600, |i| i / 8 * 120, word)),
        ("packets of 30", tokens(600, |i| i / 30 * 500, word)),
        ("packets of 15", tokens(900, |i| i / 15 * 200, word)),
        ("packets of 60", tokens(900, |i| i / 60 * 1000, word)),
        ("pauses of 2 s", tokens(600, |i| i * 15 + i / 150 * 2000, word)),
        ("slow, then fast", tokens(600, |i| if i < 50 { i * 100 } else { 4250 + i * 15 }, word)),
        ("faster after 5 s", tokens(1000, |i| if i < 150 { i * 33 } else { 3150 + i * 12 }, word)),
        ("fast, then slow", tokens(500, |i| if i < 400 { i * 5 } else { i * 40 - 14_000 }, word)),
        ("uneven, 5 ms", uneven(3000, 5.0)),
        ("uneven, 15 ms", uneven(1000, 15.0)),
        ("uneven, 22 ms", uneven(700, 22.0)),
        ("uneven, 30 ms", uneven(500, 30.0)),
        ("syllables, 11 ms", tokens(900, |i| i * 11, syllable)),
        ("code, 12 ms", tokens(900, |i| i * 12, code)),
        (
            "Han, 20 ms",
            tokens(500, |i| i * 20, |i| if i % 3 == 0 { "\u{4f60}\u{597d}" } else { "\u{4e16}" }.to_owned()),
        ),
        ("2 s, 22 ms", tokens(90, |i| i * 22, word)),
        ("60 s, 22 ms", tokens(2700, |i| i * 22, word)),
        ("60 s, 15 ms", tokens(4000, |i| i * 15, word)),
    ]
}

/// The Chat view averages over all rounds of a turn. Each round is an exchange of its own, whose pacer doesn't know the
/// earlier ones.
#[test]
fn later_tool_rounds_reach_the_screen_in_time() {
    let mut table = HEAD.to_owned();
    for spacing in [5, 15, 22, 60] {
        let (mut all, mut reported, mut length) = (Vec::new(), Vec::new(), 0);
        for round in 0..5 {
            let start = f64::from(round * (100 * spacing + 4000));
            let tokens = words(100, f64::from(spacing));
            reported.extend(paced(&tokens).into_iter().map(|(at, until)| (start + at, length + until)));
            length += tokens.iter().map(|token| token.text.len()).sum::<usize>();
            all.extend(tokens.into_iter().map(|token| Token { at: start + token.at, ..token }));
        }
        let (line, ours) = row(&format!("5 rounds, {spacing:2} ms"), &all, &reported);
        table.push_str(&line);
        assert!(ours.p95 <= 420.0, "{line}");
    }
    expect![[r#"
                               Sluice: first, p50, p95, last third | every token at once
        5 rounds,  5 ms          53   171   313   229  |  169   157   556   296
        5 rounds, 15 ms          51   320   409   349  |  469   321   506   353
        5 rounds, 22 ms          51   300   409   324  |  679   326   656   306
        5 rounds, 60 ms          52    51    54    51  |   52    51    54    51
    "#]]
    .assert_eq(&table);
}

/// Renders the parts of an answer with their times.
fn check(events: &[(f64, String)], pace: Pace, expected: Expect) {
    let lines = run(events, pace).into_iter().map(|(at, part)| match part {
        Part::Text { value } => format!("{at} ms: text {value:?}\n"),
        Part::Thinking { value, id, .. } => format!("{at} ms: thinking {id} {value:?}\n"),
        Part::ToolCall { name, .. } => format!("{at} ms: call {name}\n"),
        part => format!("{at} ms: {part:?}\n"),
    });
    expected.assert_eq(&lines.collect::<String>());
}

fn thinking_event(text: &str) -> String {
    event(json!({"type": "response.reasoning_text.delta", "output_index": 0, "item_id": "r", "delta": text}))
}

#[test]
fn thinking_is_joined_and_calls_do_not_wait() {
    let call = event(json!({"type": "response.output_item.done", "output_index": 2, "item":
        {"type": "function_call", "id": "f", "call_id": "c", "name": "look", "arguments": "{}", "status": "completed"}}));
    let mut events: Vec<(f64, String)> = (0..6).map(|i| (f64::from(i) * 15.0, thinking_event("hm "))).collect();
    let said = |at: f64, text: &str| {
        (at, event(json!({"type": "response.output_text.delta", "output_index": 1, "item_id": "m", "delta": text})))
    };
    events.extend([said(90.0, "Let "), said(95.0, "me "), (99.0, call), said(103.0, "look.")]);
    events.push((110.0, event(json!({"type": "response.completed", "response": {}}))));
    check(
        &events,
        Pace::ChatView,
        expect![[r#"
            0 ms: thinking r "hm "
            41 ms: thinking r "hm hm "
            82 ms: thinking r "hm hm hm "
            90 ms: text "Let "
            99 ms: text "me "
            99 ms: call look
            110 ms: text "look."
            110 ms: thinking r ""
        "#]],
    );
    check(
        &events,
        Pace::Steady,
        expect![[r#"
            0 ms: thinking r "hm "
            41 ms: thinking r "hm hm "
            82 ms: thinking r "hm hm hm "
            99 ms: text "Let me "
            99 ms: call look
            110 ms: text "look."
            110 ms: thinking r ""
        "#]],
    );
    check(
        &events,
        Pace::AtEnd,
        expect![[r#"
        110 ms: thinking r "hm hm hm hm hm hm "
        110 ms: text "Let me "
        110 ms: call look
        110 ms: text "look."
    "#]],
    );
    check(
        &events[..2],
        Pace::Immediate,
        expect![[r#"
            0 ms: thinking r "hm "
            15 ms: thinking r "hm "
        "#]],
    );
}

proptest! {
    /// Invariant E10: however text arrives and however it is paced, all of it is returned in order, and none of it waits
    /// for longer than the longest pause.
    #[test]
    fn pacing_delays_text_and_changes_nothing_else(
        gaps in proptest::collection::vec((0_u32..400, "[a-z =\u{4f60}-]{1,9}"), 1..80),
        is_chat_view: bool,
    ) {
        let mut at = 0.0;
        let mut events = Vec::new();
        for (gap, text) in &gaps {
            at += f64::from(*gap);
            events.push((at, text_event(text)));
        }
        let pace = if is_chat_view { Pace::ChatView } else { Pace::Steady };
        let mut arrived = events.iter().zip(&gaps).flat_map(|((at, _), (_, text))| text.chars().map(move |c| (*at, c)));
        for (returned_at, part) in run(&[events.clone(), vec![(at + 1000.0, event(json!({"type": "response.completed", "response": {}})))]].concat(), pace) {
            let Part::Text { value } = part else { panic!("{part:?}") };
            for c in value.chars() {
                let (at, expected) = arrived.next().expect("nothing is repeated");
                prop_assert_eq!(c, expected);
                prop_assert!(returned_at - at <= 1040.0, "{} ms", returned_at - at);
            }
        }
        prop_assert!(arrived.next().is_none(), "nothing is lost");
    }
}

#[test]
fn the_agent_host_gets_what_the_model_needs_back_first() {
    let mut exchange = Exchange::new(ExchangeOptions { pace: Pace::AtEnd, ..ExchangeOptions::default() });
    assert!(matches!(exchange.poll(0), Action::Send { .. }));
    exchange.handle_head(200, vec![("content-type".to_owned(), "text/event-stream".to_owned())], 0);
    let events =
        [thinking_event("hm"), text_event("Hello"), event(json!({"type": "response.completed", "response": {}}))];
    let mut outputs = Vec::new();
    for (at, event) in (1..).zip(events) {
        exchange.handle_bytes(event.as_bytes());
        while let Action::Output(Output::Part(part)) = exchange.poll(at) {
            outputs.push((at, part));
        }
    }
    let Action::End(report) = exchange.poll(4) else { panic!("it is over") };
    // The times are those at which the parts arrived.
    let timeline = &report.entry.timeline;
    assert_eq!((timeline.first_thinking_ms, timeline.first_text_ms), (Some(1), Some(2)));
    let [(3, Part::Thinking { value, replay: Some(replay), .. }), (3, Part::Text { .. })] = &outputs[..] else {
        panic!("{outputs:?}")
    };
    assert_eq!((value.as_str(), replay.items.len()), ("hm", 2));
}

/// Invariants E7 and E10: what is pending is returned before an answer ends, however it ends.
#[test]
fn pending_text_is_returned_before_the_end() {
    let start = || {
        let mut exchange = Exchange::reading(ExchangeOptions { pace: Pace::ChatView, ..ExchangeOptions::default() });
        exchange.handle_bytes(text_event("one ").as_bytes());
        assert!(matches!(exchange.poll(0), Action::Output(Output::Part(Part::Text { .. }))));
        exchange.handle_bytes(text_event("two").as_bytes());
        assert!(matches!(exchange.poll(5), Action::Read { timeout_ms: 50 }));
        exchange
    };
    let rest = |mut exchange: Exchange| {
        let mut rest = String::new();
        loop {
            match exchange.poll(6) {
                Action::Output(Output::Part(Part::Text { value })) => rest.push_str(&value),
                Action::End(report) => return format!("{rest:?}, {:?}", report.outcome.status),
                action => panic!("{action:?}"),
            }
        }
    };
    let after = |happen: fn(&mut Exchange)| {
        let mut exchange = start();
        happen(&mut exchange);
        rest(exchange)
    };
    assert_eq!(after(Exchange::handle_end), r#""two", Truncated"#);
    assert_eq!(after(|it| it.handle_connection_error(sluice_core::ConnectionError::Broken)), r#""two", Truncated"#);
    assert_eq!(
        after(|it| it.handle_bytes(event(json!({"type": "error", "error": {}})).as_bytes())),
        r#""two", Failed"#
    );
    assert_eq!(after(Exchange::cancel), r#""two", Cancelled"#);
    // A shell that won't show the rest of the text gets none of it.
    assert_eq!(after(Exchange::cancel_unseen), r#""", Cancelled"#);
    // A pause isn't the time limit of the connection.
    let mut exchange = start();
    exchange.handle_timeout();
    assert!(matches!(exchange.poll(55), Action::Output(_)));
    assert!(matches!(exchange.poll(55), Action::Read { timeout_ms: 600_000 }));
}
