//! Describes a model: the text next to its name, and its tooltip.

use crate::boundary::{ChatModel, LimitsFrom};
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
    let words = creator.split(['-', '_']).filter(|word| !word.is_empty()).map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    });
    words.collect::<Vec<_>>().join(" ")
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
    paragraphs.push([limits].into_iter().chain(origin.map(Message::from)).collect());
    let mut pricing = model.pricing.clone();
    pricing.iter_mut().flat_map(|message| &mut message.args).for_each(|text| *text = escaped(text));
    paragraphs.push(pricing);
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
    paragraphs.push(abilities.into_iter().filter(|(can, _)| *can).map(|(_, code)| code.into()).collect());
    let active = || model.providers.iter().filter(|provider| provider.is_active);
    if active().next().is_some() {
        let names = active().map(|provider| escaped(&provider.name)).collect::<Vec<_>>().join(", ");
        let windows = || active().filter_map(|provider| provider.context_window);
        paragraphs.push(vec![match (windows().min(), windows().max()) {
            (Some(least), Some(most)) if least < most => {
                Message::new(MessageCode::ServedByWindows, [&names, &count(least), &count(most)])
            }
            _ => Message::new(MessageCode::ServedBy, [&names]),
        }]);
    }
    let deprecated = model.deprecated_at.and_then(|at| u32::try_from(at / 86_400).ok());
    paragraphs.extend(deprecated.map(|day| vec![Message::new(MessageCode::Deprecated, [&date(day)])]));
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
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
