//! The arguments that the models generate satisfy the tool's schema.

use serde_json::{Value, json};

use crate::ask::{events, post};

/// Checks a value against the parts of JSON Schema that the cases below use.
fn fits(value: &Value, schema: &Value, root: &Value) -> bool {
    if let Some(reference) = schema["$ref"].as_str() {
        return fits(value, root.pointer(&reference[1..]).expect("a definition"), root);
    }
    for (key, all) in [("anyOf", false), ("oneOf", false), ("allOf", true)] {
        if let Some(ways) = schema[key].as_array() {
            let mut results = ways.iter().map(|way| fits(value, way, root));
            return if all { results.all(|fit| fit) } else { results.any(|fit| fit) };
        }
    }
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        _ => value.is_null(),
    };
    let kind = match &schema["type"] {
        Value::String(kind) => is(kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).any(is),
        _ => true,
    };
    let length = value.as_str().map_or(0, |text| text.chars().count() as u64);
    let at_least = |key: &str, number: u64| schema[key].as_u64().is_none_or(|low| number >= low);
    let at_most = |key: &str, number: u64| schema[key].as_u64().is_none_or(|high| number <= high);
    let number = value.as_f64().unwrap_or(0.0);
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut properties = value.as_object().into_iter().flatten();
    kind && schema["enum"].as_array().is_none_or(|choices| choices.contains(value))
        && schema.get("const").is_none_or(|only| value == only)
        && (!value.is_string() || at_least("minLength", length) && at_most("maxLength", length))
        && (!value.is_number()
            || schema["minimum"].as_f64().is_none_or(|low| number >= low)
                && schema["maximum"].as_f64().is_none_or(|high| number <= high)
                && schema["exclusiveMinimum"].as_f64().is_none_or(|low| number > low))
        && value.as_array().is_none_or(|list| {
            at_least("minItems", list.len() as u64) && list.iter().all(|one| fits(one, &schema["items"], root))
        })
        && (!value.is_object() || required.into_iter().all(|name| value.get(name).is_some()))
        && properties.all(|(name, property)| schema["properties"].get(name).is_some_and(|s| fits(property, s, root)))
}

#[test]
fn generated_arguments_satisfy_the_schema() {
    let object = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required });
    let word = json!({ "type": "string" });
    let mut recursive = object(json!({ "node": { "$ref": "#/$defs/node" } }), json!(["node"]));
    recursive["$defs"] = json!({ "node": object(json!({ "name": word, "next": { "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/node" }] } }), json!(["name"])) });
    for schema in [
        object(json!({}), json!([])),
        object(
            json!({ "path": word, "startLine": { "type": "integer", "minimum": 1 }, "endLine": { "type": "integer", "maximum": 50 } }),
            json!(["path", "startLine", "endLine"]),
        ),
        object(
            json!({ "mode": { "type": "string", "enum": ["fast", "slow"] }, "only": { "const": 7 } }),
            json!(["mode", "only"]),
        ),
        object(json!({ "files": { "type": "array", "items": word, "minItems": 3 } }), json!(["files"])),
        object(
            json!({ "edits": { "type": "array", "items": object(json!({ "old": word, "n": { "type": "number", "exclusiveMinimum": 4 } }), json!(["old", "n"])) } }),
            json!(["edits"]),
        ),
        object(
            json!({ "code": { "type": "string", "minLength": 40 }, "short": { "type": "string", "maxLength": 3 } }),
            json!(["code", "short"]),
        ),
        object(
            json!({ "maybe": { "type": ["string", "null"] }, "either": { "anyOf": [{ "type": "null" }, { "type": "integer" }] } }),
            json!(["maybe", "either"]),
        ),
        object(
            json!({ "nothing": { "type": "null" }, "flag": { "type": "boolean" }, "kept": { "type": "string", "default": "x" } }),
            json!(["nothing", "flag", "kept"]),
        ),
        recursive,
    ] {
        for prompt in ["Go", "Look at a/b.rs and \"this\" in Paris", ""] {
            for model in ["sluice/tools", "sluice/parallel-tools", "sluice/demo"] {
                let tool = json!({ "type": "function", "name": "t", "parameters": schema });
                let reply = post(
                    &json!({ "model": model, "input": prompt, "tools": [tool], "tool_choice": "required", "stream": true }),
                );
                let events = events(&reply);
                let calls = events.iter().filter(|event| event["type"] == "response.function_call_arguments.done");
                let mut count = 0;
                for call in calls {
                    let arguments = serde_json::from_str(call["arguments"].as_str().expect("text")).expect("JSON");
                    assert!(fits(&arguments, &schema, &schema), "{arguments} does not fit {schema}");
                    count += 1;
                }
                assert!(count > 0, "{model} made no call");
            }
        }
    }
}
