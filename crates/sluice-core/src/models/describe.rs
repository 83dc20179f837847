//! Describes a model: the text next to its name, and its tooltip.

use crate::boundary::{ChatModel, LimitsFrom};
use crate::numbers::{date, short_count};

/// The creators' names as people write them. All others get a capital letter.
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

/// Returns the tooltip as Markdown. Text from the server is escaped.
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
    paragraphs.extend(
        model
            .deprecated_at
            .and_then(|at| u32::try_from(at / 86_400).ok())
            .map(|day| format!("Deprecated: {}", date(day))),
    );
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
