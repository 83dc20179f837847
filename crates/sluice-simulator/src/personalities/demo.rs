//! `sluice/demo`: an assistant made of rules. It knows little and says so, and it does everything that a client has to
//! handle: reasoning, tool calls and their results, citations, refusals, summaries.

use crate::ask::{Ask, Calling, ToolResult};
use crate::script::{Citation, Content, Item, Script};

mod calls;
mod small_talk;
mod summary;

pub use summary::tell;

/// A prompt with one of these is refused.
const OFF_LIMITS: [&str; 9] = [
    "ransomware",
    "malware",
    "keylogger",
    "phishing",
    "credit card number",
    "build a bomb",
    "make a bomb",
    "steal a password",
    "steal passwords",
];

/// Chooses an answer in this order: refusals, questions about the conversation itself, tool calls, conversation.
pub fn script(ask: &Ask) -> Script {
    let prompt = ask.prompt();
    let lower = prompt.to_lowercase();
    let results = ask.results();
    let (tools, calling) = ask.tools();

    let mut plan = String::new();
    let mut said = Vec::new();
    if OFF_LIMITS.iter().any(|word| lower.contains(word)) && results.is_empty() {
        plan.push_str(
            "This is on the short list of things I do not help with, so I will say no and offer something else.",
        );
        said.push(Item::refusal(
            "I'm sorry, but I can't help with that. I'd be glad to help with something harmless instead.",
        ));
    } else if let Some(text) = summary::answer(ask, &lower) {
        plan.push_str("I am asked about the conversation as a whole, so I will go through it from the start.");
        said.push(Item::text(text));
    } else if let Some(calls) = calls::choose(ask, &prompt, &tools, calling, &results) {
        plan.push_str(&calls.plan);
        if !calls.remark.is_empty() && calling != Calling::Always {
            said.push(Item::text(calls.remark));
        }
        said.extend(calls.items);
    } else if !results.is_empty() {
        plan.push_str("The tools have answered. I will quote what matters and stop here.");
        said.push(Item::text(from_results(&prompt, &results)));
    } else if ["source", "cite", "citation", "reference"].iter().any(|word| lower.contains(word)) {
        plan.push_str("Sources are wanted, so I will name the one I am sure of.");
        said.push(with_source());
    } else {
        let (thought, text) = small_talk::answer(ask, &prompt, &lower, tools.len());
        plan.push_str(&thought);
        said.push(Item::text(text));
    }

    let mut items = Vec::new();
    if ask.effort().is_some() {
        let asked = prompt.trim().lines().next().unwrap_or_default();
        let asked: String = asked.chars().take(80).collect();
        let mut summary = vec![
            format!("**Reading the request**\n\nThe user says: “{asked}”. {}", offer(tools.len(), calling)),
            format!("**Deciding what to do**\n\n{plan}"),
        ];
        summary.retain(|_| ask.wants_summary());
        items.push(Item::Reasoning { raw: None, summary, sealed: true });
    }
    items.extend(said);
    Script::at_reading_pace(items)
}

fn offer(tools: usize, calling: Calling) -> String {
    match (tools, calling) {
        (0, _) => "I have no tools to help me.".into(),
        (_, Calling::Never) => "There are tools, but I am told not to call them.".into(),
        (_, Calling::Always) => format!("I have to call one of {tools} tools."),
        (1, _) => "There is a tool I may call.".into(),
        _ => format!("There are {tools} tools I may call."),
    }
}

/// Quotes the beginning of every result.
fn from_results(prompt: &str, results: &[ToolResult]) -> String {
    let mut text = if results.len() == 1 {
        format!("Here is what `{}` returned", results[0].tool)
    } else {
        format!("Here is what the {} calls returned", results.len())
    };
    let asked = prompt.trim().lines().next().unwrap_or_default();
    text.push_str(if asked.ends_with('?') { ", which should answer your question.\n" } else { ".\n" });
    for result in results {
        let lines: Vec<&str> = result.text.lines().filter(|line| !line.trim().is_empty()).collect();
        let about = result.arguments.as_object().and_then(|object| object.values().find_map(|value| value.as_str()));
        text.push_str(&format!("\n**{}**", about.unwrap_or(&result.tool)));
        if lines.is_empty() {
            text.push_str(": nothing at all.\n");
            continue;
        }
        let unit = if lines.len() == 1 { "line" } else { "lines" };
        text.push_str(&format!(" ({} {unit}):\n\n", lines.len()));
        for line in lines.iter().take(4) {
            let line: String = line.chars().take(160).collect();
            text.push_str(&format!("> {line}\n"));
        }
        if lines.len() > 4 {
            text.push_str(&format!(">\n> … and {} more lines.\n", lines.len() - 4));
        }
    }
    text.push_str("\nI am only a demo, so I quote rather than understand; a real model would go on from here.");
    text
}

fn with_source() -> Item {
    let claim = "Open Responses is an open specification for model APIs";
    let text =
        format!("{claim}, and everything you see here travels through it. That is the one source I know by heart.");
    let citation = Citation {
        start: 0,
        end: claim.chars().count(),
        url: "https://www.openresponses.org/".into(),
        title: "Open Responses".into(),
    };
    Item::Message(vec![Content::Text { text, citations: vec![citation] }])
}
