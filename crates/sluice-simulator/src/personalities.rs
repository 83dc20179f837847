//! The answers of each model. `sluice/demo` has its own folder; the others do one thing each and are in this file.

use serde_json::Value;

use crate::ask::{Ask, Calling};
use crate::providers::Provider;
use crate::script::{Citation, Content, Ending, Item, Script};

pub mod arguments;
mod demo;

pub use demo::tell;

const WORDS: [&str; 12] =
    ["water", "runs", "down", "the", "channel", "until", "the", "gate", "lets", "it", "through", "again"];
/// A PNG with one grey pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB0KTCWgAAAABJRU5ErkJggg==";
/// The maximum length of an answer. A larger number in the prompt is a mistake.
const MOST: usize = 1_000_000;

pub fn script(ask: &Ask) -> Script {
    let prompt = ask.prompt();
    let half_an_answer = "This answer is cut off in the middle of a";
    if let Some(provider) = Provider::of(ask.model) {
        return provider.script(ask);
    }
    match ask.model.trim_start_matches("sluice/") {
        "demo" | "small" => demo::script(ask),
        "long" => Script::at_once(vec![Item::text(words(number_in(&prompt).unwrap_or(200)))]),
        "tools" => tools(ask, &prompt, 1),
        "parallel-tools" => tools(ask, &prompt, 2),
        "reasoning" => thoughtful(ask, false, format!("I thought about it: {prompt}")),
        "encrypted-reasoning" => thoughtful(ask, true, format!("I kept my thoughts to myself: {prompt}")),
        "refusal" => Script::at_once(vec![Item::refusal("I can't help with that.")]),
        "citations" => Script::at_once(vec![citations()]),
        "image" => Script::at_once(vec![Item::Image(PIXEL.into()), Item::text("Here is your picture.")]),
        "empty" => Script::at_once(Vec::new()),
        "thinking-only" => {
            let mut summary = vec!["I have nothing to say to that.".to_owned()];
            summary.retain(|_| ask.wants_summary());
            Script::at_once(vec![Item::Reasoning { raw: None, summary, sealed: false }])
        }
        "incomplete" => {
            Script::at_once(vec![Item::text(half_an_answer)]).ending(Ending::Incomplete("max_output_tokens".into()))
        }
        "content-filter" => {
            Script::at_once(vec![Item::text(half_an_answer)]).ending(Ending::Incomplete("content_filter".into()))
        }
        "failed" => Script::at_once(vec![Item::text(half_an_answer)])
            .ending(Ending::Failed("server_error".into(), "The model has failed, as it was asked to.".into())),
        "error" => Script::at_once(vec![Item::text(half_an_answer)])
            .ending(Ending::Error("server_error".into(), "Something broke, as it was asked to.".into())),
        "burst" => Script::at_once(vec![Item::text(numbers(number_in(&prompt).unwrap_or(200)))]),
        _ => Script::at_once(vec![Item::text(prompt)]),
    }
}

pub fn number_in(prompt: &str) -> Option<usize> {
    let number = prompt.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty())?;
    number.parse().ok().map(|number: usize| number.min(MOST))
}

fn words(count: usize) -> String {
    (0..count).map(|at| WORDS[at % WORDS.len()]).collect::<Vec<_>>().join(" ")
}

/// Returns `0 1 2 …`. Each delta has its own number, so that lost, repeated or misplaced deltas are noticed.
fn numbers(count: usize) -> String {
    (0..count).map(|at| format!(" {at}")).collect()
}

/// Thinks before it answers, unless the effort is `none`.
fn thoughtful(ask: &Ask, sealed: bool, text: String) -> Script {
    let prompt = ask.prompt();
    let raw = format!("The user says: {prompt}\nThat can be answered at once.");
    let summary = ask
        .wants_summary()
        .then(|| format!("**Reading the request**\n\nIt has {} characters.", prompt.chars().count()));
    let thought = Item::Reasoning { raw: (!sealed).then_some(raw), summary: summary.into_iter().collect(), sealed };
    let thought = ask.may_think().then_some(thought);
    Script::at_once(thought.into_iter().chain([Item::text(text)]).collect())
}

fn citations() -> Item {
    let text = "Open Responses is a specification. The gateway speaks it.";
    let source = |start, end, url: &str, title: &str| Citation { start, end, url: url.into(), title: title.into() };
    let citations = vec![
        source(0, 34, "https://www.openresponses.org/", "Open Responses"),
        source(35, 57, "https://vercel.com/docs/ai-gateway", "AI Gateway [docs] (beta)"),
    ];
    Item::Message(vec![Content::Text { text: text.into(), citations }])
}

/// Calls the tools that the prompt names, in that order. The arguments are the JSON object after the name, or else
/// generated from the schema. After a result there are no more calls, unless they are required.
fn tools(ask: &Ask, prompt: &str, at_least: usize) -> Script {
    let results = ask.results();
    let (offered, calling) = ask.tools();
    if offered.is_empty() || calling == Calling::Never || (!results.is_empty() && calling != Calling::Always) {
        let said: Vec<String> = results.iter().map(|result| format!("{} said: {}", result.tool, result.text)).collect();
        let text = if said.is_empty() { "I was not offered a tool.".into() } else { said.join("\n") };
        return Script::at_once(vec![Item::text(text)]);
    }
    let mut calls = Vec::new();
    for (at, word) in identifiers(prompt) {
        if let Some(tool) = offered.iter().find(|tool| tool.name == word) {
            let given = object_at(&prompt[at + word.len()..]).map(str::to_owned);
            let arguments = given.unwrap_or_else(|| arguments::fill(&tool.parameters, prompt, 0).to_string());
            calls.push(Item::Call { name: tool.name.clone(), arguments });
        }
    }
    for nth in 0.. {
        if calls.len() >= at_least {
            break;
        }
        let tool = &offered[nth % offered.len()];
        let arguments = arguments::fill(&tool.parameters, prompt, nth);
        calls.push(Item::Call { name: tool.name.clone(), arguments: arguments.to_string() });
    }
    calls.truncate(ask.most_calls());
    Script::at_once(calls)
}

/// Returns every word that could be the name of a tool, with its position.
fn identifiers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
    words.filter(|word| !word.is_empty()).map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// Returns the JSON object at the start of a text, exactly as it is written.
fn object_at(text: &str) -> Option<&str> {
    let text = text.trim_start().strip_prefix(':').unwrap_or(text).trim_start();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let object = values.next()?.ok()?.is_object();
    object.then(|| &text[..values.byte_offset()])
}
