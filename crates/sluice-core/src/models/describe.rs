//! Describes a model: the text next to its name, and its tooltip.

use crate::boundary::{ChatModel, LimitsFrom, ModelCategory};
use crate::message::{Message, MessageCode};
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
    let words = creator.split(['-', '_']).filter(|word| !word.is_empty()).map(capitalized);
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the word with a capital letter.
pub(crate) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Returns the paragraphs of the tooltip as Markdown. Text from the server is escaped.
pub(crate) fn tooltip(model: &ChatModel) -> Vec<Vec<Message>> {
    let plain = |text: String| vec![Message::new(MessageCode::Plain, [&text])];
    let mut paragraphs = vec![plain(format!("**{}** · `{}`", escaped(&model.name), model.id.replace('`', "'")))];
    paragraphs.extend(model.description.as_deref().map(|description| {
        let mut short: String = description.chars().take(400).collect();
        if short.len() < description.len() {
            short.push('…');
        }
        plain(escaped(&short))
    }));
    paragraphs.push(limits(model));
    let mut pricing = model.pricing.clone();
    pricing.iter_mut().flat_map(|message| &mut message.args).for_each(|text| *text = escaped(text));
    paragraphs.push(pricing);
    paragraphs.push(abilities(model));
    paragraphs.push(providers(model));
    let deprecated = model.deprecated_at.and_then(|at| u32::try_from(at / 86_400).ok());
    paragraphs.extend(deprecated.map(|day| vec![Message::new(MessageCode::Deprecated, [&date(day)])]));
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

/// Returns what VS Code shows when the mouse points at a model. Each entry fits on one line.
pub(crate) fn info(model: &ChatModel) -> Vec<Vec<Message>> {
    let description =
        model.description.as_deref().map(|text| Message::new(MessageCode::Plain, [&escaped(&short(text))]));
    // The price itself is shown elsewhere.
    let mut pricing: Vec<Message> = model.pricing.clone();
    pricing.iter_mut().flat_map(|message| &mut message.args).for_each(|text| *text = escaped(text));
    let retention = model.zero_data_retention.map(|retains_nothing| {
        Message::from(if retains_nothing { MessageCode::RetainsNothing } else { MessageCode::MayRetain })
    });
    let lines = [
        description.into_iter().collect(),
        abilities(model),
        limits(model),
        if pricing.len() > 1 { pricing } else { Vec::new() },
        providers(model),
        retention.into_iter().collect(),
    ];
    lines.into_iter().filter(|line: &Vec<Message>| !line.is_empty()).collect()
}

/// Returns a warning about a model that was or will be switched off.
pub(crate) fn warning(model: &ChatModel, now: u64) -> Option<Message> {
    let at = model.deprecated_at?;
    let code = if at > now { MessageCode::SwitchedOffOn } else { MessageCode::SwitchedOffSince };
    Some(Message::new(code, [&date(u32::try_from(at / 86_400).ok()?)]))
}

/// Guesses what a model is made for by the words that creators use for its size.
pub(crate) fn category(id: &str) -> ModelCategory {
    const LIGHT: [&str; 10] = ["mini", "nano", "flash", "haiku", "lite", "small", "tiny", "micro", "fast", "instant"];
    const POWERFUL: [&str; 6] = ["opus", "pro", "max", "ultra", "large", "heavy"];
    let id = id.to_ascii_lowercase();
    let name = id.rsplit('/').next().unwrap_or_default();
    let has = |words: &[&str]| name.split(['-', '_', '.', ':', '@']).any(|word| words.contains(&word));
    match (has(&LIGHT), has(&POWERFUL)) {
        (true, _) => ModelCategory::Lightweight,
        (false, true) => ModelCategory::Powerful,
        (false, false) => ModelCategory::Versatile,
    }
}

fn limits(model: &ChatModel) -> Vec<Message> {
    let count = |tokens: u32| short_count(u64::from(tokens));
    let (window, input, output) =
        (count(model.context_window), count(model.max_input_tokens), count(model.max_output_tokens));
    let origin = match model.limits_from {
        LimitsFrom::Assumed => Some(MessageCode::LimitsAssumed),
        LimitsFrom::List => None,
        LimitsFrom::Providers => Some(MessageCode::LimitsOfProviders),
        LimitsFrom::Learned => Some(MessageCode::LimitsLearned),
        LimitsFrom::Setting => Some(MessageCode::LimitsSet),
    };
    let limits = Message::new(MessageCode::TokenLimits, [&window, &input, &output]);
    [limits].into_iter().chain(origin.map(Message::from)).collect()
}

fn abilities(model: &ChatModel) -> Vec<Message> {
    let can = model.capabilities;
    let abilities = [
        (can.tool_calling && !can.tool_calling_assumed, MessageCode::AbilityTools),
        (can.image_input, MessageCode::AbilityImages),
        (can.file_input, MessageCode::AbilityFiles),
        (can.thinking, MessageCode::AbilityThinking),
        (can.web_search, MessageCode::AbilityWebSearch),
        (can.image_output, MessageCode::AbilityDrawing),
        (can.prompt_caching, MessageCode::AbilityCaching),
    ];
    abilities.into_iter().filter(|(can, _)| *can).map(|(_, code)| code.into()).collect()
}

fn providers(model: &ChatModel) -> Vec<Message> {
    let count = |tokens: u32| short_count(u64::from(tokens));
    let active = || model.providers.iter().filter(|provider| provider.is_active);
    if active().next().is_none() {
        return Vec::new();
    }
    let names = active().map(|provider| escaped(&provider.name)).collect::<Vec<_>>().join(", ");
    let windows = || active().filter_map(|provider| provider.context_window);
    vec![match (windows().min(), windows().max()) {
        (Some(least), Some(most)) if least < most => {
            Message::new(MessageCode::ServedByWindows, [&names, &count(least), &count(most)])
        }
        _ => Message::new(MessageCode::ServedBy, [&names]),
    }]
}

/// Returns the first sentence, or its beginning if it doesn't fit on a line.
fn short(description: &str) -> String {
    const LINE: usize = 90;
    let sentence = description.split_inclusive(". ").next().unwrap_or_default().trim();
    let mut short: String = sentence.chars().take(LINE).collect();
    if short.len() < sentence.len() {
        short.truncate(short.rfind(' ').unwrap_or(short.len()));
        short.push('…');
    }
    short
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
