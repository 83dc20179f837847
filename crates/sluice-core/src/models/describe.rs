//! A model in words: beside its name, and when the pointer rests on it.

use crate::boundary::{ChatModel, LimitsFrom};

/// What people call the creators; all others get a capital letter.
const CREATORS: [(&str, &str); 16] = [
    ("ai21", "AI21"),
    ("arcee-ai", "Arcee AI"),
    ("bytedance", "ByteDance"),
    ("deepseek", "DeepSeek"),
    ("deepseek-ai", "DeepSeek"),
    ("meta-llama", "Meta"),
    ("minimax", "MiniMax"),
    ("mistralai", "Mistral"),
    ("moonshotai", "Moonshot AI"),
    ("nvidia", "NVIDIA"),
    ("openai", "OpenAI"),
    ("x-ai", "xAI"),
    ("xai", "xAI"),
    ("z-ai", "Z.ai"),
    ("zai", "Z.ai"),
    ("zai-org", "Z.ai"),
];

pub(crate) fn creator_name(creator: &str) -> String {
    let known = CREATORS.iter().find(|(id, _)| creator.eq_ignore_ascii_case(id));
    if let Some((_, name)) = known {
        return (*name).to_owned();
    }
    let words = creator.split(['-', '_']).filter(|word| !word.is_empty()).map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    });
    words.collect::<Vec<_>>().join(" ")
}

/// `512`, `8.2k`, `128k`, `1M`, `1.05M`: three digits are enough to compare.
pub fn short_count(tokens: u64) -> String {
    let (whole, unit) = match tokens {
        0..1_000 => return tokens.to_string(),
        // 999,500 and more would round to 1000k.
        1_000..999_500 => (1_000, "k"),
        999_500..999_500_000 => (1_000_000, "M"),
        _ => (1_000_000_000, "G"),
    };
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let value = tokens as f64 / f64::from(whole);
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    let text = format!("{value:.decimals$}");
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

/// Markdown. What the server wrote is text in it, and nothing else.
pub(crate) fn tooltip(model: &ChatModel) -> String {
    let mut paragraphs = vec![format!("**{}** · `{}`", escaped(&model.name), model.id.replace('`', "'"))];
    paragraphs.extend(model.description.as_deref().map(|description| {
        let mut short: String = description.chars().take(400).collect();
        if short.len() < description.len() {
            short.push('…');
        }
        escaped(&short)
    }));
    let origin = match model.limits_from {
        LimitsFrom::Assumed => " (assumed: the server does not say)",
        LimitsFrom::List => "",
        LimitsFrom::Providers => " (by its providers)",
        LimitsFrom::Learned => " (learned from an error)",
        LimitsFrom::Setting => " (by your settings)",
    };
    let count = |tokens: u32| short_count(u64::from(tokens));
    let (window, input, output) =
        (count(model.context_window), count(model.max_input_tokens), count(model.max_output_tokens));
    paragraphs.push(format!("{window} tokens: {input} in, {output} out{origin}"));
    paragraphs.extend(model.pricing.as_ref().map(|pricing| pricing.replace('$', "\\$")));
    let can = model.capabilities;
    let abilities = [
        (can.tool_calling && !can.tool_calling_assumed, "tools"),
        (can.image_input, "images"),
        (can.file_input, "files"),
        (can.thinking, "thinking"),
        (can.web_search, "web search"),
        (can.image_output, "draws"),
        (can.prompt_caching, "prompt cache"),
    ];
    let abilities: Vec<&str> = abilities.into_iter().filter_map(|(can, word)| can.then_some(word)).collect();
    if !abilities.is_empty() {
        paragraphs.push(abilities.join(", "));
    }
    let active = || model.providers.iter().filter(|provider| provider.is_active);
    if active().next().is_some() {
        let names: Vec<String> = active().map(|provider| escaped(&provider.name)).collect();
        let windows = || active().filter_map(|provider| provider.context_window);
        let spread = match (windows().min(), windows().max()) {
            (Some(least), Some(most)) if least < most => format!(" ({} to {})", count(least), count(most)),
            _ => String::new(),
        };
        paragraphs.push(format!("Served by {}{spread}", names.join(", ")));
    }
    paragraphs.extend(model.deprecated_at.map(|at| format!("Deprecated: {}", date(at))));
    paragraphs.join("\n\n")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\`*_{}[]<>#|!$&~".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// The day of a time in seconds since 1970, as 2026-04-24.
fn date(seconds: u64) -> String {
    // Days since the first of March of year 0, so that leap days come last; a cycle of the calendar has 146097.
    let days = seconds / 86_400 + 719_468;
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (cycle * 400 + year + u64::from(month >= 10), if month < 10 { month + 3 } else { month - 9 });
    format!("{year}-{month:02}-{day:02}")
}
