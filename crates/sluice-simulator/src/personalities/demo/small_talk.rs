//! What the demo says when no tool is needed: greetings, questions about itself, small requests, and an honest
//! fallback.

use crate::ask::Ask;
use crate::base64;

/// Returns the reasoning and the answer.
pub fn answer(ask: &Ask, prompt: &str, lower: &str, tools: usize) -> (String, String) {
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let starts = |words: &[&str]| words.iter().any(|word| lower.trim_start().starts_with(word));
    if let Some(text) = attachments(ask) {
        return ("Something is attached; I will say what I can tell from its first bytes.".into(), text);
    }
    if let Some(wanted) = exactly(prompt, lower) {
        return ("The wording is given. I will repeat it and add nothing.".into(), wanted);
    }
    if let Some(text) = remembered(ask, lower) {
        return ("The answer is in the conversation so far.".into(), text);
    }
    if has(&["title"]) && has(&["conversation", "chat", "brief", "short"])
        || ask.instructions().to_lowercase().contains("write a title")
    {
        return ("The user wants a title: short, and nothing else.".into(), title(ask));
    }
    if let Some(text) = counting(lower) {
        return ("I only have to count.".into(), text);
    }
    if has(&["who are you", "what are you", "what can you do", "explain yourself", "introduce yourself"])
        || lower.trim() == "help"
    {
        return ("I am asked about myself.".into(), about_me(tools));
    }
    if has(&["function", "code", "snippet", "program"]) && has(&["write", "show", "give"]) {
        return ("A small example will do.".into(), CODE.into());
    }
    if starts(&["hi", "hello", "hey", "good morning", "good evening", "say hello"]) {
        let text = "Hello! I am the Sluice demo, a small assistant made of rules that runs on your own machine. \
            Ask me what I can do, or let me look at a file.";
        return ("This is a greeting. I will return it.".into(), text.into());
    }
    if has(&["thank"]) {
        return ("The user thanks me.".into(), "You're welcome!".into());
    }
    if has(&["story", "poem", "tell me something"]) {
        return ("I know one story.".into(), STORY.into());
    }
    ("I do not know this, and should say so instead of inventing something.".into(), honest_rest(prompt, tools))
}

const CODE: &str = "Here is a function that opens a gate a little further with every call:\n\n\
```rust\nfn open_further(gate: &mut u8) -> u8 {\n    *gate = gate.saturating_add(10).min(100);\n    *gate\n}\n```\n\n\
It never opens by more than 100 percent. I am only a demo, so every request for code gets this one.";

const STORY: &str = "Once there was a sluice that let everything through at once, and the mill below drowned every spring. \
Then somebody taught it to count: one measure of water, one turn of the wheel. Nothing was lost, nothing came twice, \
and when the river stopped, the sluice said so. The miller slept well from then on.";

fn about_me(tools: usize) -> String {
    let tools = match tools {
        0 => "No tools are on offer right now, so I can only talk.".to_owned(),
        1 => "One tool is on offer right now.".to_owned(),
        many => format!("{many} tools are on offer right now."),
    };
    format!(
        "I am the Sluice demo: rules, not a language model. I run inside the embedded gateway, need no account, and send \
        nothing anywhere. I can\n\n\
        - think aloud, if reasoning is switched on,\n\
        - call the tools I am offered when you ask me to read, list, search or run something, and quote what they return,\n\
        - name a source if you ask for one,\n\
        - refuse a few things,\n\
        - summarise this conversation.\n\n{tools}"
    )
}

fn honest_rest(prompt: &str, tools: usize) -> String {
    let asked = prompt.trim().lines().next().unwrap_or_default();
    let asked: String = asked.chars().take(100).collect();
    let hint = if tools == 0 { "Ask me what I can do" } else { "Ask me to read or list some files" };
    format!(
        "You said: “{asked}”. I am only a demo made of rules, so I have no good answer to that; a real model behind a real \
        gateway would. {hint}, and I will show you how tools, thinking and token counts come through."
    )
}

/// Handles "Reply with exactly: …" and "Say only: …".
fn exactly(prompt: &str, lower: &str) -> Option<String> {
    let at = ["exactly:", "reply with only:", "say only:"]
        .iter()
        .find_map(|words| lower.find(words).map(|at| at + words.len()));
    let wanted = match at {
        Some(at) if prompt.is_char_boundary(at) => prompt[at..].trim().trim_matches('"').to_owned(),
        _ if lower.contains("hello in exactly 3 words") => "Hello there, friend!".into(),
        _ if lower.contains("reply with ok") => "OK.".into(),
        _ => return None,
    };
    (!wanted.is_empty()).then_some(wanted)
}

fn remembered(ask: &Ask, lower: &str) -> Option<String> {
    let facts = [("my name", "my name is ", "Your name is"), ("code word", "code word: ", "The code word is")];
    let texts = ask.user_texts();
    for (topic, said, answer) in facts {
        if !lower.contains(topic) || !["what", "which", "repeat", "tell"].iter().any(|word| lower.contains(word)) {
            continue;
        }
        for text in texts.iter().rev() {
            let at = text.to_lowercase().find(said).map(|at| at + said.len());
            if let Some(rest) = at.and_then(|at| text.get(at..)) {
                let word = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                return Some(format!("{answer} {word}."));
            }
        }
    }
    None
}

fn counting(lower: &str) -> Option<String> {
    let (_, range) = lower.split_once("count")?;
    let mut numbers = range.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u32>().ok());
    let first = numbers.next()?;
    let (from, to) = numbers.next().map_or((1, first), |second| (first, second));
    let to = to.min(from.saturating_add(99));
    (from <= to).then(|| (from..=to).map(|number| number.to_string()).collect::<Vec<_>>().join(", "))
}

fn title(ask: &Ask) -> String {
    let texts = ask.user_texts();
    // A request for a title may contain the text to summarize after its first line.
    let brought = texts.last().and_then(|text| text.trim().split_once('\n')).map(|(_, rest)| rest.trim());
    let first = brought.or(texts.first().map(|text| text.trim())).unwrap_or_default();
    let words: Vec<&str> = first.split_whitespace().filter(|word| !word.starts_with('<')).take(6).collect();
    if words.is_empty() { "A conversation".into() } else { words.join(" ") }
}

fn attachments(ask: &Ask) -> Option<String> {
    let seen: Vec<String> = ask
        .attachments()
        .iter()
        .map(|part| match part["image_url"].as_str() {
            Some(url) => picture(url),
            None => format!("a file called {}", part["filename"].as_str().unwrap_or("nothing in particular")),
        })
        .collect();
    (!seen.is_empty()).then(|| {
        format!(
            "I see {}. I can only recognize the format: a real model would tell you what is in it.",
            seen.join(" and ")
        )
    })
}

fn picture(url: &str) -> String {
    let Some((_, data)) = url.split_once(";base64,") else { return format!("a picture at {url}") };
    let start = base64::decode_start(data);
    let kind = base64::image_type(&start).map_or("unknown", |kind| kind.trim_start_matches("image/"));
    match start.get(16..24) {
        Some(&[w0, w1, w2, w3, h0, h1, h2, h3]) if kind == "png" => {
            let (width, height) = (u32::from_be_bytes([w0, w1, w2, w3]), u32::from_be_bytes([h0, h1, h2, h3]));
            format!("a png picture of {width} × {height} pixels")
        }
        _ => format!("a {kind} picture"),
    }
}
