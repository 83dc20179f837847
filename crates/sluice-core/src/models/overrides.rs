//! What the user sets for single models: limits, parameters, routing, effort, and whether they are shown.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Pattern;
use crate::boundary::{ModelOverride, ModelSettings, Routing};
use crate::message::{Message, MessageCode};
use crate::models::EFFORTS;
use crate::send::is_reserved_field;

/// The names of all fields, for a message about a mistyped one.
const FIELDS: [&str; 9] = [
    "contextWindow",
    "maxInputTokens",
    "maxOutputTokens",
    "effort",
    "imageInput",
    "toolCalling",
    "hidden",
    "body",
    "routing",
];
const ROUTING_FIELDS: [&str; 4] = ["order", "only", "fallbacks", "sort"];
const SORTS: [&str; 3] = ["cost", "ttft", "tps"];

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
                None => wrong(MessageCode::OverrideWrongType, "200000"),
                tokens if name == "contextWindow" => read.context_window = tokens,
                tokens if name == "maxInputTokens" => read.max_input_tokens = tokens,
                tokens => read.max_output_tokens = tokens,
            },
            "effort" => match value.as_str().filter(|effort| EFFORTS.contains(effort)) {
                Some(effort) => read.effort = Some(effort.to_owned()),
                None => wrong(MessageCode::OverrideOneOf, &EFFORTS.join(", ")),
            },
            "imageInput" | "toolCalling" | "hidden" => match value.as_bool() {
                None => wrong(MessageCode::OverrideWrongType, "true"),
                flag if name == "hidden" => read.hidden = flag,
                flag if name == "toolCalling" => read.tool_calling = flag,
                flag => read.image_input = flag,
            },
            "body" => match value.as_object() {
                None => wrong(MessageCode::OverrideWrongType, "{\"temperature\": 0.2}"),
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
                None => wrong(MessageCode::OverrideWrongType, "{\"only\": [\"anthropic\"]}"),
                Some(fields) => read.routing = Some(routing(pattern, fields, problems)),
            },
            _ => wrong(MessageCode::OverrideUnknown, &FIELDS.join(", ")),
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
