//! What the user sets for single models: limits, parameters, routing, effort, and whether they are shown.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Pattern;
use crate::boundary::{ModelOverride, ModelSettings, Routing};
use crate::message::{Message, MessageCode};
use crate::models::EFFORTS;
use crate::send::is_reserved_field;

/// All fields, in the order in which a form shows them, with their labels and an example of a value.
const FIELDS: [(&str, MessageCode, &str); 9] = [
    ("hidden", MessageCode::FieldHidden, FLAG),
    ("contextWindow", MessageCode::FieldContextWindow, TOKENS),
    ("maxInputTokens", MessageCode::FieldMaxInputTokens, TOKENS),
    ("maxOutputTokens", MessageCode::FieldMaxOutputTokens, TOKENS),
    ("effort", MessageCode::FieldEffort, "high"),
    ("imageInput", MessageCode::FieldImageInput, FLAG),
    ("toolCalling", MessageCode::FieldToolCalling, FLAG),
    ("body", MessageCode::FieldBody, BODY),
    ("routing", MessageCode::FieldRouting, ROUTING),
];
const FLAG: &str = "true";
const TOKENS: &str = "200000";
const BODY: &str = "{\"temperature\": 0.2}";
const ROUTING: &str = "{\"only\": [\"anthropic\"]}";
const ROUTING_FIELDS: [&str; 4] = ["order", "only", "fallbacks", "sort"];
const SORTS: [&str; 3] = ["cost", "ttft", "tps"];

/// A field of an override in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverrideField {
    /// Its name in the setting.
    pub name: &'static str,
    /// What the field is about.
    pub label: Message,
    /// What the user has set, as JSON, or `None` for the model's own value.
    pub value: Option<String>,
    /// The values to choose from, and how they are called. Empty if the user enters something.
    pub choices: Vec<(String, Message)>,
    /// What the user can enter.
    pub example: &'static str,
}

/// Returns a form with what the user has set for a model.
pub fn override_form(overrides: &Map<String, Value>, model: &str) -> Vec<OverrideField> {
    let set = overrides.get(model).and_then(Value::as_object);
    let flags = [("true", MessageCode::Yes), ("false", MessageCode::No)];
    let field = |(name, label, example): (&'static str, MessageCode, &'static str)| OverrideField {
        name,
        label: label.into(),
        value: set.and_then(|set| set.get(name)).map(ToString::to_string),
        choices: match example {
            FLAG => flags.map(|(value, name)| (value.to_owned(), name.into())).into(),
            _ if label == MessageCode::FieldEffort => {
                EFFORTS.map(|effort| (effort.to_owned(), Message::new(MessageCode::Plain, [&effort]))).into()
            }
            _ => Vec::new(),
        },
        example,
    };
    FIELDS.map(field).into()
}

/// Returns the overrides after the user has filled in a field of that form, or what is wrong with the input. If it is empty,
/// the model's own value applies again.
pub fn edit_override(
    mut overrides: Map<String, Value>,
    model: &str,
    field: &str,
    input: &str,
) -> Result<Map<String, Value>, Message> {
    let mut fields = match overrides.remove(model) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    fields.remove(field);
    if !input.is_empty() {
        let value = serde_json::from_str(input).unwrap_or_else(|_| Value::String(input.to_owned()));
        let entered = Map::from_iter([(field.to_owned(), value)]);
        let mut problems = Vec::new();
        read(model, &entered, &mut problems);
        if let Some(problem) = problems.pop() {
            return Err(problem);
        }
        fields.extend(entered);
    }
    if !fields.is_empty() {
        overrides.insert(model.to_owned(), Value::Object(fields));
    }
    Ok(overrides)
}

/// The overrides of all patterns, from the least to the most specific.
pub(crate) struct Overrides<'a>(Vec<(&'a str, Pattern, ModelOverride)>);

impl<'a> Overrides<'a> {
    /// Reads the setting. What doesn't work as written is left out, and becomes a problem.
    pub(crate) fn parse(settings: &'a ModelSettings, problems: &mut Vec<Message>) -> Self {
        let mut parsed: Vec<(&str, Pattern, ModelOverride)> = Vec::new();
        for (text, fields) in &settings.overrides {
            let pattern = match Pattern::parse(text) {
                Ok(pattern) if !text.trim_start().starts_with('!') => pattern,
                Ok(_) => {
                    problems.push(Message::new(MessageCode::OverrideNegative, [text]));
                    continue;
                }
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            };
            let Value::Object(fields) = fields else {
                let example = "{\"maxOutputTokens\": 8000}";
                problems.push(Message::new(MessageCode::OverrideWrongType, [text, &example]));
                continue;
            };
            parsed.push((text, pattern, read(text, fields, problems)));
        }
        // A JSON object has no order, so the more specific pattern wins.
        parsed.sort_by_key(|(text, ..)| text.chars().filter(|c| !matches!(c, '*' | '?')).count());
        Self(parsed)
    }

    /// Returns the patterns that match none of these ids.
    pub(super) fn unused(&self, ids: &BTreeSet<String>) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(|(_, pattern, _)| !ids.iter().any(|id| pattern.matches(id))).map(|(text, ..)| *text)
    }

    /// Merges everything that is set for a model. For each field, the most specific pattern wins.
    pub(super) fn of(&self, id: &str) -> ModelOverride {
        let mut merged = ModelOverride::default();
        for (_, _, next) in self.0.iter().filter(|(_, pattern, _)| pattern.matches(id)) {
            let next = next.clone();
            merged.context_window = next.context_window.or(merged.context_window);
            merged.max_input_tokens = next.max_input_tokens.or(merged.max_input_tokens);
            merged.max_output_tokens = next.max_output_tokens.or(merged.max_output_tokens);
            merged.effort = next.effort.or(merged.effort);
            merged.image_input = next.image_input.or(merged.image_input);
            merged.tool_calling = next.tool_calling.or(merged.tool_calling);
            merged.hidden = next.hidden.or(merged.hidden);
            merged.routing = next.routing.or(merged.routing);
            merged.body.extend(next.body);
        }
        merged
    }
}

fn read(pattern: &str, fields: &Map<String, Value>, problems: &mut Vec<Message>) -> ModelOverride {
    let mut read = ModelOverride::default();
    for (name, value) in fields {
        let mut wrong =
            |code, wanted: &str| problems.push(Message::new(code, [&format!("{pattern}: {name}"), &wanted]));
        let tokens = || value.as_u64().and_then(|tokens| u32::try_from(tokens).ok()).filter(|tokens| *tokens > 0);
        match name.as_str() {
            "contextWindow" | "maxInputTokens" | "maxOutputTokens" => match tokens() {
                None => wrong(MessageCode::OverrideWrongType, TOKENS),
                tokens if name == "contextWindow" => read.context_window = tokens,
                tokens if name == "maxInputTokens" => read.max_input_tokens = tokens,
                tokens => read.max_output_tokens = tokens,
            },
            "effort" => match value.as_str().filter(|effort| EFFORTS.contains(effort)) {
                Some(effort) => read.effort = Some(effort.to_owned()),
                None => wrong(MessageCode::OverrideOneOf, &EFFORTS.join(", ")),
            },
            "imageInput" | "toolCalling" | "hidden" => match value.as_bool() {
                None => wrong(MessageCode::OverrideWrongType, FLAG),
                flag if name == "hidden" => read.hidden = flag,
                flag if name == "toolCalling" => read.tool_calling = flag,
                flag => read.image_input = flag,
            },
            "body" => match value.as_object() {
                None => wrong(MessageCode::OverrideWrongType, BODY),
                Some(body) => {
                    for (field, value) in body {
                        if is_reserved_field(field) {
                            problems.push(Message::new(MessageCode::BodyFieldReserved, [field]));
                        } else {
                            read.body.insert(field.clone(), value.clone());
                        }
                    }
                }
            },
            "routing" => match value.as_object() {
                None => wrong(MessageCode::OverrideWrongType, ROUTING),
                Some(fields) => read.routing = Some(routing(pattern, fields, problems)),
            },
            _ => wrong(MessageCode::OverrideUnknown, &FIELDS.map(|(name, ..)| name).join(", ")),
        }
    }
    read
}

fn routing(pattern: &str, fields: &Map<String, Value>, problems: &mut Vec<Message>) -> Routing {
    let mut read = Routing::default();
    for (name, value) in fields {
        let mut wrong =
            |code, wanted: &str| problems.push(Message::new(code, [&format!("{pattern}: routing.{name}"), &wanted]));
        let list = || value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect();
        match name.as_str() {
            "sort" => match value.as_str().filter(|sort| SORTS.contains(sort)) {
                Some(sort) => read.sort = Some(sort.to_owned()),
                None => wrong(MessageCode::OverrideOneOf, &SORTS.join(", ")),
            },
            "order" | "only" | "fallbacks" => match list() {
                None => wrong(MessageCode::OverrideWrongType, "[\"anthropic\"]"),
                Some(list) if name == "order" => read.order = list,
                Some(list) if name == "only" => read.only = list,
                Some(list) => read.models = list,
            },
            _ => wrong(MessageCode::OverrideUnknown, &ROUTING_FIELDS.join(", ")),
        }
    }
    read
}
