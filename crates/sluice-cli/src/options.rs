//! Options of a request by name, such as `-o temperature=0.2`, and the format of the answer.

use serde_json::{Map, Value, json};

use crate::list_items::{leading_spaces, without_indent};

/// Reads `NAME=VALUE`.
pub fn option(text: &str) -> Result<(String, Value), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), option_value(value))),
        _ => Err("not NAME=VALUE".to_owned()),
    }
}

/// Returns a value as JSON if it is JSON, or else as text.
pub fn option_value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// Reads a JSON schema: a file, the JSON itself, or a list such as `name, age int, tags [str]: words about it`.
pub fn schema(text: &str) -> Result<Value, String> {
    let text = text.trim();
    if text.starts_with('{') {
        return serde_json::from_str(text).map_err(|error| format!("the schema is not JSON: {error}"));
    }
    match std::fs::read_to_string(text) {
        Ok(content) => serde_json::from_str(&content).map_err(|error| format!("{text} is not a JSON schema: {error}")),
        Err(_) if text.contains(['.', '/', '\\']) && !text.contains([' ', ',', '\n']) => {
            Err(format!("cannot read the schema {text}"))
        }
        Err(_) => short_schema(text),
    }
}

/// Reads the short form: fields separated by commas or line breaks, each a name, an optional type and an optional
/// description after a colon. `int`, `float`, `bool` and `str` are types, and `[type]` is a list.
fn short_schema(text: &str) -> Result<Value, String> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in text.split([',', '\n']).map(str::trim).filter(|field| !field.is_empty()) {
        let (field, description) = field.split_once(':').map_or((field, None), |(field, words)| (field, Some(words)));
        let mut words = field.split_whitespace();
        let name = words.next().ok_or("a field of the schema has no name")?;
        let kind = words.next().unwrap_or("str");
        if let Some(word) = words.next() {
            return Err(format!(
                "{word:?} is one word too many in the schema's field {name:?}: write NAME TYPE: DESCRIPTION"
            ));
        }
        let mut schema = match kind.strip_prefix('[').and_then(|kind| kind.strip_suffix(']')) {
            Some(kind) => json!({"type": "array", "items": type_of(kind)?}),
            None => type_of(kind)?,
        };
        if let Some(description) = description {
            schema["description"] = description.trim().into();
        }
        properties.insert(name.to_owned(), schema);
        required.push(Value::from(name));
    }
    if properties.is_empty() {
        return Err("the schema is empty".to_owned());
    }
    Ok(json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}))
}

fn type_of(kind: &str) -> Result<Value, String> {
    let name = match kind {
        "str" | "string" => "string",
        "int" | "integer" => "integer",
        "float" | "number" => "number",
        "bool" | "boolean" => "boolean",
        other => return Err(format!("{other:?} is not a type; use str, int, float, bool or a list such as [str]")),
    };
    Ok(json!({"type": name}))
}

/// Returns the field of a request that asks for an answer with this schema.
pub fn answer_format(schema: &Value) -> Value {
    json!({"format": {"type": "json_schema", "name": "answer", "schema": schema, "strict": true}})
}

/// Checks an answer against the parts of a schema that structured output supports. Returns where it differs.
pub fn check(answer: &Value, schema: &Value) -> Result<(), String> {
    Check { root: schema }.value(answer, schema, "it", 0)
}

/// References in a schema may be circular; the answer isn't deeper than this.
const MAX_DEPTH: usize = 200;

struct Check<'a> {
    /// The whole schema, for references.
    root: &'a Value,
}

impl Check<'_> {
    fn value(&self, answer: &Value, schema: &Value, path: &str, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("{path} is too deep to be checked"));
        }
        if let Some(reference) = schema["$ref"].as_str() {
            let found = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            let found = found.ok_or_else(|| format!("the schema has no {reference}"))?;
            self.value(answer, found, path, depth + 1)?;
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.value(answer, part, path, depth + 1)?;
        }
        for (name, is_exclusive) in [("anyOf", false), ("oneOf", true)] {
            let Some(choices) = schema[name].as_array() else { continue };
            let fitting = choices.iter().filter(|choice| self.value(answer, choice, path, depth + 1).is_ok()).count();
            if fitting == 0 || (is_exclusive && fitting > 1) {
                return Err(format!("{path} fits {fitting} of the schemas in {name}"));
            }
        }
        kind(answer, schema, path)?;
        limits(answer, schema, path)?;
        if let Some(fields) = answer.as_object() {
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                if !fields.contains_key(name) {
                    return Err(format!("{path} has no {name}"));
                }
            }
            for (name, value) in fields {
                match (schema["properties"].get(name), &schema["additionalProperties"]) {
                    (Some(schema), _) => self.value(value, schema, &format!("{path}.{name}"), depth + 1)?,
                    (None, Value::Bool(false)) => return Err(format!("{path} must not have {name}")),
                    (None, other @ Value::Object(_)) => {
                        self.value(value, other, &format!("{path}.{name}"), depth + 1)?;
                    }
                    (None, _) => {}
                }
            }
        }
        if let (Some(elements), Some(schema)) = (answer.as_array(), schema.get("items")) {
            for (number, element) in elements.iter().enumerate() {
                self.value(element, schema, &format!("{path}[{number}]"), depth + 1)?;
            }
        }
        Ok(())
    }
}

/// Checks the type, and whether the value is one of those that are allowed.
fn kind(answer: &Value, schema: &Value, path: &str) -> Result<(), String> {
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is_kind = |kind: &&str| match *kind {
        "object" => answer.is_object(),
        "array" => answer.is_array(),
        "string" => answer.is_string(),
        "boolean" => answer.is_boolean(),
        "null" => answer.is_null(),
        "integer" => answer.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => answer.is_number(),
        _ => true,
    };
    if !kinds.is_empty() && !kinds.iter().any(is_kind) {
        return Err(format!("{path} is not of type {}", kinds.join(" or ")));
    }
    let constant = schema.get("const").map(std::slice::from_ref);
    if let Some(values) = schema["enum"].as_array().map(Vec::as_slice).or(constant)
        && !values.contains(answer)
    {
        return Err(format!("{path} is none of the allowed values"));
    }
    Ok(())
}

/// Checks how large a number, a text or a list is.
fn limits(answer: &Value, schema: &Value, path: &str) -> Result<(), String> {
    #[expect(clippy::cast_precision_loss, reason = "no text or list is that long")]
    let length = |length: usize| length as f64;
    let sizes = [
        (answer.as_f64(), "minimum", "maximum"),
        (answer.as_str().map(|text| length(text.chars().count())), "minLength", "maxLength"),
        (answer.as_array().map(|list| length(list.len())), "minItems", "maxItems"),
    ];
    for (size, least, most) in sizes {
        let Some(size) = size else { continue };
        if schema[least].as_f64().is_some_and(|least| size < least) {
            return Err(format!("{path} is below the {least} of {}", schema[least]));
        }
        if schema[most].as_f64().is_some_and(|most| size > most) {
            return Err(format!("{path} is above the {most} of {}", schema[most]));
        }
    }
    let number = answer.as_f64();
    let is_outside = |name: &str, is_wrong: fn(f64, f64) -> bool| {
        number.zip(schema[name].as_f64()).is_some_and(|(number, limit)| is_wrong(number, limit))
    };
    if is_outside("exclusiveMinimum", |number, limit| number <= limit)
        || is_outside("exclusiveMaximum", |number, limit| number >= limit)
    {
        return Err(format!("{path} is outside of its limits"));
    }
    Ok(())
}

/// Returns the contents of the last fenced code block of an answer, or the whole answer if there is none.
pub fn last_code_block(answer: &str) -> String {
    // The fence of the block that is open, how far it is indented, and the code.
    let (mut last, mut open): (Option<String>, Option<(&str, usize, String)>) = (None, None);
    for line in answer.lines() {
        let text = line.trim_start();
        let fence_length = text.chars().take_while(|c| *c == '`' || *c == '~').count();
        let fence = text.get(..fence_length).filter(|fence| fence.len() >= 3);
        match (&mut open, fence) {
            (None, Some(fence)) => open = Some((fence, leading_spaces(line), String::new())),
            (Some((opening, ..)), Some(fence))
                if fence.starts_with(*opening) && text.trim_end().len() == fence.len() =>
            {
                last = open.take().map(|(.., block)| block);
            }
            (Some((_, indent, block)), _) => {
                block.push_str(without_indent(line, *indent));
                block.push('\n');
            }
            (None, None) => {}
        }
    }
    // An answer that was cut off may have opened a block without closing it.
    open.map(|(.., block)| block).or(last).unwrap_or_else(|| answer.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_json_or_text() {
        assert_eq!(option("temperature=0.2"), Ok(("temperature".to_owned(), json!(0.2))));
        assert_eq!(option("user=ada"), Ok(("user".to_owned(), json!("ada"))));
        assert_eq!(option("metadata={\"a\":\"b=c\"}"), Ok(("metadata".to_owned(), json!({"a": "b=c"}))));
        assert!(option("temperature").is_err() && option("=1").is_err());
    }

    #[test]
    fn a_short_schema_is_a_list_of_fields() {
        let expected = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "age": {"type": "integer", "description": "in years"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["name", "age", "tags"],
            "additionalProperties": false,
        });
        assert_eq!(schema("name, age int: in years, tags [str]"), Ok(expected));
        assert!(schema("name wrong").unwrap_err().contains("\"wrong\" is not a type"));
        assert!(schema("a b c").is_err() && schema("  ").is_err() && schema("{nonsense").is_err());
        assert!(schema("missing.json").unwrap_err().contains("cannot read"));
    }

    #[test]
    fn an_answer_is_checked_against_its_schema() {
        let schema = schema("name, age int, tags [str]").unwrap();
        let check = |answer: Value, expected: Result<(), &str>| {
            assert_eq!(super::check(&answer, &schema), expected.map_err(str::to_owned));
        };
        check(json!({"name": "Ada", "age": 36, "tags": ["x"]}), Ok(()));
        check(json!({"name": "Ada", "age": 36.5, "tags": []}), Err("it.age is not of type integer"));
        check(json!({"name": "Ada", "tags": []}), Err("it has no age"));
        check(json!({"name": "Ada", "age": 1, "tags": [1]}), Err("it.tags[0] is not of type string"));
        check(json!({"name": "Ada", "age": 1, "tags": [], "x": 1}), Err("it must not have x"));
        check(json!([]), Err("it is not of type object"));
    }

    #[test]
    fn schemas_in_files_can_do_more() {
        let check = |schema: &Value, answer: Value, expected: Result<(), &str>| {
            assert_eq!(super::check(&answer, schema), expected.map_err(str::to_owned), "{answer}");
        };
        let tree = json!({
            "$defs": {"node": {"type": "object", "required": ["value"], "properties": {
                "value": {"anyOf": [{"type": "integer", "minimum": 1, "exclusiveMaximum": 9}, {"type": "null"}]},
                "next": {"$ref": "#/$defs/node"},
                "kind": {"const": "leaf"},
                "name": {"allOf": [{"type": "string"}, {"maxLength": 3}]},
                "marks": {"type": "array", "minItems": 1, "items": {"oneOf": [{"type": "number"}, {"type": "integer"}]}},
            }, "additionalProperties": {"type": "boolean"}}},
            "$ref": "#/$defs/node",
        });
        check(&tree, json!({"value": 1, "next": {"value": null, "kind": "leaf", "name": "äöü", "more": true}}), Ok(()));
        check(&tree, json!({"value": 1, "next": {}}), Err("it.next has no value"));
        check(&tree, json!({"value": 0}), Err("it.value fits 0 of the schemas in anyOf"));
        check(&tree, json!({"value": 9}), Err("it.value fits 0 of the schemas in anyOf"));
        check(&tree, json!({"value": 1, "kind": "x"}), Err("it.kind is none of the allowed values"));
        check(&tree, json!({"value": 1, "name": "long"}), Err("it.name is above the maxLength of 3"));
        check(&tree, json!({"value": 1, "marks": []}), Err("it.marks is below the minItems of 1"));
        check(&tree, json!({"value": 1, "marks": [1.5]}), Ok(()));
        check(&tree, json!({"value": 1, "marks": [1]}), Err("it.marks[0] fits 2 of the schemas in oneOf"));
        check(&tree, json!({"value": 1, "more": 1}), Err("it.more is not of type boolean"));
        check(&json!({"$ref": "#/nowhere"}), json!(1), Err("the schema has no #/nowhere"));
        check(&json!({"$ref": "#"}), json!(1), Err("it is too deep to be checked"));
    }

    #[test]
    fn the_last_block_is_found() {
        let check = |answer: &str, expected: &str| assert_eq!(last_code_block(answer), expected);
        check("Run:\n```sh\nls\n```\nor\n```sh\nls -l\n```\nDone.", "ls -l\n");
        check("~~~~\n```\nnested\n```\n~~~~\n", "```\nnested\n```\n");
        check("```rust\nfn main() {}\n", "fn main() {}\n");
        check("1. Run\n\n   ```sh\n   if x\n     y\n   ```\n", "if x\n  y\n");
        check("no code", "no code");
    }
}
