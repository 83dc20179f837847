//! Which sources are listed after a text, and how much of the text is searched for links to them.

use expect_test::expect;
use serde_json::{Value, json};
use sluice_core::Status;

use crate::support::{Summary, run_whole};

fn text(index: usize, text: &str) -> Value {
    json!({"type": "response.output_text.delta", "output_index": index, "delta": text})
}

fn cite(index: usize, url: &str) -> Value {
    let annotation = json!({"type": "url_citation", "url": url});
    json!({"type": "response.output_text.annotation.added", "output_index": index, "annotation": annotation})
}

fn done(index: usize) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": {"type": "message"}})
}

fn sources(events: &[Value]) -> Vec<String> {
    let end = json!({"type": "response.completed", "response": {}});
    let body: String = events.iter().chain([&end]).map(|event| format!("data: {event}\n\n")).collect();
    let (outputs, outcome) = run_whole(body.as_bytes());
    assert_eq!(outcome.status, Status::Completed);
    Summary::of(&outputs).sources
}

#[test]
fn only_short_web_addresses_without_hidden_characters_are_listed() {
    let of_length = |bytes: usize| format!("https://a.example/{}", "x".repeat(bytes - 18));
    let urls =
        ["https://", "https://a b", "https://a\n", "https://a\u{202e}b", "ftp://a", &of_length(2049), "http://a"];
    assert_eq!(sources(&urls.map(|url| cite(0, url))), ["http://a"]);
    assert_eq!(sources(&[cite(0, &of_length(2048))]).len(), 1);
}

#[test]
fn a_message_lists_its_sources_once_and_at_most_a_hundred() {
    let many: Vec<Value> = (0..101).map(|number| cite(0, &format!("https://a.example/{number}"))).collect();
    assert_eq!(sources(&many).len(), 100);
    let late = [cite(0, "https://a.example"), done(0), cite(0, "https://b.example"), done(0)];
    assert_eq!(sources(&late), ["https://a.example"]);
}

#[test]
fn a_text_is_searched_for_links_within_a_budget() {
    // Whether a link is found after what comes before it.
    let found = |before: &str, link: &str| {
        let before = before.as_bytes().chunks(1 << 20).map(|piece| text(0, str::from_utf8(piece).unwrap()));
        sources(&before.chain([text(0, link), cite(0, link)]).collect::<Vec<_>>()).is_empty()
    };
    let (link, other) = ("https://a.example", "https://b.example ".repeat(20_000));
    let long = format!("https://a.example/{}", "x".repeat(1000));
    let similar = format!("{}y ", &long[..long.len() - 1]);
    let cases = [
        ("letters", found(&"h".repeat(50_000), link)),
        ("many other links", found(&other, link)),
        ("many other links and a long text", found(&format!("{other}{}", " ".repeat(6 << 20)), link)),
        ("long links", found(&similar.repeat(900), &long)),
        ("more long links", found(&similar.repeat(1100), &long)),
    ];
    expect![[r#"
        letters: true
        many other links: true
        many other links and a long text: false
        long links: true
        more long links: false
    "#]]
    .assert_eq(&cases.map(|(before, found)| format!("{before}: {found}\n")).concat());

    // A message without sources isn't searched.
    let events = [text(0, &other), done(0), text(1, &other), text(1, link), cite(1, link)];
    assert_eq!(sources(&events), [""; 0]);
}
