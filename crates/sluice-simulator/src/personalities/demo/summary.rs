//! Summaries of the conversation so far.

use serde_json::Value;

use crate::ask::{Ask, text_of};

/// Returns a summary if the prompt asks for one, between tags if it asks for those.
pub fn answer(ask: &Ask, lower: &str) -> Option<String> {
    let tagged = lower.contains("<summary>") || ask.instructions().contains("<summary>");
    let talk =
        ["conversation", "chat", "so far", "discussion", "history", "session"].iter().any(|word| lower.contains(word));
    let wanted = ["summari", "sum up", "compact"].iter().any(|word| lower.contains(word));
    if !(wanted && talk || tagged && (wanted || lower.contains("summary"))) {
        return None;
    }
    let last = ask.items.iter().rposition(|item| item["role"] == "user").unwrap_or(ask.items.len());
    let told = tell(&ask.items[..last]);
    Some(if tagged { format!("<summary>\n{told}\n</summary>") } else { told })
}

/// Lists what happened in a conversation.
pub fn tell(items: &[Value]) -> String {
    let mut lines = Vec::new();
    for item in items {
        let line = match (item["type"].as_str(), item["role"].as_str()) {
            (_, Some("user")) => format!("- The user said: {}", short(&text_of(&item["content"]))),
            (_, Some("assistant")) => format!("- The assistant said: {}", short(&text_of(&item["content"]))),
            (Some("function_call"), _) => format!("- It called `{}`.", item["name"].as_str().unwrap_or_default()),
            (Some("function_call_output"), _) => format!("- The tool returned: {}", short(&text_of(&item["output"]))),
            _ => continue,
        };
        lines.push(line);
    }
    if lines.is_empty() {
        return "Nothing has been said before this.".into();
    }
    format!("What happened so far:\n\n{}", lines.join("\n"))
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(120).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
