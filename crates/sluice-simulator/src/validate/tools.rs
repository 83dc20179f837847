//! Validates the tools of a request and the tool choice.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Checked, Field};
use crate::problem::Problem;

/// The providers' limit for nested schemas. It also bounds the recursion below.
const DEEPEST: usize = 32;

pub(super) fn offered(field: &Field) -> Checked {
    let mut names = BTreeSet::new();
    for tool in field.list_or_null()?.into_iter().flatten() {
        tool.key("type").word(&["function"])?;
        let name = tool.key("name").name()?;
        if !names.insert(name) {
            return Err(Problem::invalid(&tool.path, format!("Duplicate tool name '{name}'.")));
        }
        tool.key("description").string_or_null(usize::MAX)?;
        if !tool.key("strict").value.is_null() {
            tool.key("strict").boolean()?;
        }
        if let Some(parameters) = tool.key("parameters").object_or_null()? {
            top_level(name, &parameters)?;
            schema(name, &parameters, 0)?;
        }
    }
    Ok(())
}

fn refuse(tool: &str, field: &Field, why: &str) -> Problem {
    let message = format!("Invalid schema for function '{tool}': {why} ({}).", field.path);
    Problem::invalid(&field.path, message).code("invalid_function_parameters")
}

/// Checks that the arguments are an object at the top level, as providers require.
fn top_level(tool: &str, field: &Field) -> Checked {
    if field.value["type"] != "object" {
        return Err(refuse(tool, field, "schema must be of type \"object\""));
    }
    let combinator = ["oneOf", "anyOf", "allOf", "not", "enum"].iter().find(|key| field.value.get(**key).is_some());
    combinator.map_or(Ok(()), |key| Err(refuse(tool, field, &format!("'{key}' is not allowed at the top level"))))
}

fn schema(tool: &str, field: &Field, depth: usize) -> Checked {
    if depth > DEEPEST {
        return Err(refuse(tool, field, "it is nested too deeply"));
    }
    if field.value.is_boolean() {
        return Ok(());
    }
    if !field.value.is_object() {
        return Err(refuse(tool, field, "a schema must be an object"));
    }
    let is = |kind: &str| match &field.value["type"] {
        Value::String(one) => one == kind,
        Value::Array(many) => many.iter().any(|one| one == kind),
        _ => false,
    };
    if is("array") && field.value.get("items").is_none() && field.value.get("prefixItems").is_none() {
        return Err(refuse(tool, field, "array schema missing items"));
    }
    if depth == 0 && field.value.get("properties").is_none() {
        return Err(refuse(tool, field, "object schema missing properties"));
    }
    if let Some(properties) = field.key("properties").object_or_null()? {
        for (_, property) in properties.entries() {
            schema(tool, &property, depth + 1)?;
        }
    }
    if field.value["items"].is_object() {
        schema(tool, &field.key("items"), depth + 1)?;
    }
    for required in field.key("required").list_or_null()?.into_iter().flatten() {
        required.string(0, usize::MAX)?;
    }
    Ok(())
}

pub(super) fn choice(field: &Field, tools: Option<&Value>) -> Checked {
    let offered: Vec<&str> =
        tools.and_then(Value::as_array).into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
    let known = |choice: &Field| {
        choice.key("type").word(&["function"])?;
        let name = choice.key("name").name()?;
        if offered.contains(&name) {
            return Ok(());
        }
        Err(Problem::invalid(&choice.path, format!("Tool choice '{name}' not found in 'tools' parameter.")))
    };
    match field.value {
        Value::Null => Ok(()),
        Value::String(mode) if mode == "required" && offered.is_empty() => {
            let message = "Tool choice 'required' must be specified with 'tools' parameter.";
            Err(Problem::invalid(&field.path, message))
        }
        Value::String(_) => field.word(&["none", "auto", "required"]),
        Value::Object(object) if object.get("type").is_some_and(|kind| kind == "allowed_tools") => {
            field.key("mode").word_or_null(&["none", "auto", "required"])?;
            field.key("tools").list()?.iter().try_for_each(known)
        }
        _ => known(field),
    }
}
