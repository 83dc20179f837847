//! Removes parameters from a request that is already JSON. Everything else keeps its position, so that prompt caches still
//! match.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::Parameter;
use crate::boundary::HttpRequest;

impl HttpRequest {
    /// Returns the same request without some parameters, or with other values for them.
    #[must_use]
    pub fn without(&self, parameters: &[Parameter]) -> Self {
        let mut request = self.clone();
        for parameter in parameters {
            let body = match parameter {
                Parameter::ReasoningItems => edit_input(&request.body, |item| {
                    if item.starts_with(r#"{"type":"reasoning""#) { Edit::Remove } else { Edit::Keep }
                }),
                // In JSON text, this is never part of a string, because the quotes would be escaped.
                Parameter::ImageDetail => edit_input(&request.body, |item| {
                    let shorter = item.replace(r#","detail":"auto""#, "");
                    if shorter == item { Edit::Keep } else { Edit::Replace(shorter) }
                }),
                Parameter::MostTools(most) => keep_first_tools(&request.body, *most as usize),
                Parameter::ToolOutputParts => edit_input(&request.body, output_as_text),
                Parameter::Effort(sent, instead) => {
                    let is_sent = |value: &str| value.trim_matches('"') == sent.word();
                    let instead = instead.map(|effort| format!("\"{}\"", effort.word()));
                    change(&request.body, parameter.path(), &|value| is_sent(value).then(|| instead.clone()))
                }
                Parameter::MostOutputTokens(most) => {
                    let is_more = |value: &str| value.parse::<u64>().is_ok_and(|value| value > u64::from(*most));
                    change(&request.body, parameter.path(), &|value| is_more(value).then(|| Some(most.to_string())))
                }
                Parameter::Caching => {
                    let without = |body: Option<String>, path: &&str| {
                        let shorter = change(body.as_deref().unwrap_or(&request.body), path, &|_| Some(None));
                        shorter.or(body)
                    };
                    [parameter.path()].iter().chain(Parameter::WITH_CACHING).fold(None, without)
                }
                _ => change(&request.body, parameter.path(), &|_| Some(None)),
            };
            if let Some(body) = body {
                request.body = body;
            }
        }
        request
    }
}

/// What to do with an item of the input.
enum Edit {
    Keep,
    Remove,
    Replace(String),
}

/// Edits the items of the input.
fn edit_input(json: &str, edit: impl Fn(&str) -> Edit) -> Option<String> {
    let mut object: Object<'_> = serde_json::from_str(json).ok()?;
    let at = object.0.iter().position(|(field, _)| field == "input")?;
    let items: Vec<&RawValue> = serde_json::from_str(object.0.get(at)?.1.get()).ok()?;
    let mut edited = Vec::with_capacity(items.len());
    for item in items {
        match edit(item.get()) {
            Edit::Keep => edited.push(item.to_owned()),
            Edit::Remove => {}
            Edit::Replace(json) => edited.push(RawValue::from_string(json).ok()?),
        }
    }
    let items = to_raw_value(&edited).ok()?;
    object.0.get_mut(at)?.1 = &items;
    Some(to_raw_value(&object).ok()?.get().to_owned())
}

/// Keeps the first tools, and the one that the model must call.
fn keep_first_tools(json: &str, most: usize) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let mut object: Object<'_> = serde_json::from_str(json).ok()?;
    let field = |name: &str| object.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.get());
    let required = field("tool_choice").and_then(|choice| serde_json::from_str::<Named>(choice).ok());
    let tools: Vec<&RawValue> = serde_json::from_str(field("tools")?).ok()?;
    let is_required = |tool: &RawValue| {
        let required = required.as_ref().map(|Named { name }| name);
        required.is_some() && serde_json::from_str(tool.get()).ok().map(|Named { name }| name).as_ref() == required
    };
    let mut others = most.saturating_sub(usize::from(tools.iter().any(|tool| is_required(tool))));
    let mut kept = Vec::new();
    for tool in tools {
        let is_required = is_required(tool);
        if is_required || others > 0 {
            others -= usize::from(!is_required);
            kept.push(tool);
        }
    }
    let kept = to_raw_value(&kept).ok()?;
    object.0.iter_mut().find(|(field, _)| field == "tools")?.1 = &kept;
    Some(to_raw_value(&object).ok()?.get().to_owned())
}

/// Replaces the parts of a tool's output by their text.
fn output_as_text(item: &str) -> Edit {
    let edited = || {
        let mut object: Object<'_> = serde_json::from_str(item).ok()?;
        let at = object.0.iter().position(|(field, _)| field == "output")?;
        let parts: Vec<Value> = serde_json::from_str(object.0.get(at)?.1.get()).ok()?;
        let text = |part: &Value| match part.get("text").and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None if part.get("image_url").is_some() => "[image]".to_owned(),
            None => "[file]".to_owned(),
        };
        let text = to_raw_value(&parts.iter().map(text).collect::<Vec<_>>().join("\n")).ok()?;
        object.0.get_mut(at)?.1 = &text;
        Some(to_raw_value(&object).ok()?.get().to_owned())
    };
    let is_output = item.starts_with(r#"{"type":"function_call_output""#);
    is_output.then(edited).flatten().map_or(Edit::Keep, Edit::Replace)
}

/// Changes the field at a path such as `reasoning.summary` in a JSON object, or removes it and an object that this leaves
/// empty. `change` returns `None` to keep a value, and otherwise its replacement.
fn change(json: &str, path: &str, change_value: &dyn Fn(&str) -> Option<Option<String>>) -> Option<String> {
    let mut object: Object<'_> = serde_json::from_str(json).ok()?;
    let (name, inner) = path.split_once('.').map_or((path, None), |(name, inner)| (name, Some(inner)));
    let at = object.0.iter().position(|(field, _)| field == name)?;
    let value = object.0.get(at)?.1.get();
    let changed = match inner {
        Some(inner) => Some(change(value, inner, change_value)?).filter(|changed| changed != "{}"),
        None => change_value(value)?,
    };
    let changed = changed.map(RawValue::from_string).transpose().ok()?;
    match &changed {
        Some(value) => object.0.get_mut(at)?.1 = value,
        None => drop(object.0.remove(at)),
    }
    Some(to_raw_value(&object).ok()?.get().to_owned())
}

/// A JSON object whose fields keep their order and their spelling.
struct Object<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Object(fields))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Effort;
    use super::*;

    fn remove(json: &str, path: &str) -> Option<String> {
        change(json, path, &|_| Some(None))
    }

    fn check(body: &str, parameter: Parameter, expected: &str) {
        let (method, url, headers) = ("POST".to_owned(), String::new(), Vec::new());
        let request = HttpRequest { method, url, headers, body: body.to_owned() };
        assert_eq!(request.without(&[parameter]).body, expected);
    }

    #[test]
    fn values_are_replaced() {
        let body = r#"{"model":"m","max_output_tokens":9000,"reasoning":{"effort":"minimal","summary":"auto"}}"#;
        check(body, Parameter::MostOutputTokens(4096), &body.replace("9000", "4096"));
        check(body, Parameter::MostOutputTokens(9000), body);
        check(body, Parameter::Effort(Effort::Minimal, Some(Effort::Low)), &body.replace("minimal", "low"));
        check(body, Parameter::Effort(Effort::Minimal, None), &body.replace(r#""effort":"minimal","#, ""));
        check(body, Parameter::Effort(Effort::Max, None), body);
    }

    #[test]
    fn reasoning_is_left_out() {
        let body = r#"{"input":[{"type":"reasoning","id":"rs_1"},{"type":"message","role":"user"}]}"#;
        check(body, Parameter::ReasoningItems, &body.replace(r#"{"type":"reasoning","id":"rs_1"},"#, ""));
    }

    #[test]
    fn parameters_have_other_names_and_values() {
        assert_eq!(Parameter::at("max_completion_tokens"), Some(Parameter::MaxOutputTokens));
        assert_eq!(Parameter::at("reasoning_effort"), Some(Parameter::ReasoningEffort));
        let effort = |refused: &[Parameter]| Parameter::effort_without(Some("max".to_owned()), refused);
        assert_eq!(effort(&[Parameter::Effort(Effort::Max, Some(Effort::High))]).as_deref(), Some("high"));
        assert_eq!(effort(&[Parameter::Effort(Effort::Low, None)]).as_deref(), Some("max"));
        assert_eq!(effort(&[Parameter::ReasoningEffort]), None);
    }

    #[test]
    fn parts_of_the_input_are_changed() {
        let image = r#"{"type":"input_image","image_url":"data:,","detail":"auto"}"#;
        let body = format!(
            r#"{{"input":[{{"type":"function_call_output","call_id":"c","output":[{{"type":"input_text","text":"\",\"detail\":\"auto\""}},{image}]}}]}}"#
        );
        check(&body, Parameter::ImageDetail, &body.replace(r#","detail":"auto""#, ""));
        check(
            &body,
            Parameter::ToolOutputParts,
            r#"{"input":[{"type":"function_call_output","call_id":"c","output":"\",\"detail\":\"auto\"\n[image]"}]}"#,
        );
    }

    #[test]
    fn a_parameter_is_removed_and_the_rest_is_unchanged() {
        let body =
            r#"{"model":"m","input":[{"b":1,"a":1e2}],"reasoning":{"effort":"low","summary":"auto"},"caching":"auto"}"#;
        assert_eq!(
            remove(body, "caching").as_deref(),
            Some(r#"{"model":"m","input":[{"b":1,"a":1e2}],"reasoning":{"effort":"low","summary":"auto"}}"#)
        );
        let without_summary = remove(body, "reasoning.summary").unwrap_or_default();
        assert_eq!(
            without_summary,
            r#"{"model":"m","input":[{"b":1,"a":1e2}],"reasoning":{"effort":"low"},"caching":"auto"}"#
        );
        assert_eq!(
            remove(&without_summary, "reasoning.effort").as_deref(),
            Some(r#"{"model":"m","input":[{"b":1,"a":1e2}],"caching":"auto"}"#)
        );
        assert_eq!(remove(body, "store"), None);
    }
}
