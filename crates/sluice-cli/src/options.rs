//! Options of a request by name, such as `-o temperature=0.2`, and the format of the answer.

use serde_json::{Map, Value, json};

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
pub fn check(answer: &Value, schema: &Value, path: &str) -> Result<(), String> {
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
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(answer)
    {
        return Err(format!("{path} is none of the allowed values"));
    }
    if let Some(fields) = answer.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                return Err(format!("{path} has no {name}"));
            }
        }
        for (name, value) in fields {
            match schema["properties"].get(name) {
                Some(schema) => check(value, schema, &format!("{path}.{name}"))?,
                None if schema["additionalProperties"] == false => return Err(format!("{path} must not have {name}")),
                None => {}
            }
        }
    }
    if let (Some(elements), Some(schema)) = (answer.as_array(), schema.get("items")) {
        for (number, element) in elements.iter().enumerate() {
            check(element, schema, &format!("{path}[{number}]"))?;
        }
    }
    Ok(())
}

/// Returns the contents of the last fenced code block of an answer, or the whole answer if there is none.
pub fn last_code_block(answer: &str) -> String {
    let (mut last, mut open): (Option<String>, Option<(&str, String)>) = (None, None);
    for line in answer.lines() {
        let text = line.trim_start();
        let fence_length = text.chars().take_while(|c| *c == '`' || *c == '~').count();
        let fence = text.get(..fence_length).filter(|fence| fence.len() >= 3);
        match (&mut open, fence) {
            (None, Some(fence)) => open = Some((fence, String::new())),
            (Some((opening, _)), Some(fence))
                if fence.starts_with(*opening) && text.trim_end().len() == fence.len() =>
            {
                last = open.take().map(|(_, block)| block);
            }
            (Some((_, block)), _) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, None) => {}
        }
    }
    // An answer that was cut off may have opened a block without closing it.
    open.map(|(_, block)| block).or(last).unwrap_or_else(|| answer.to_owned())
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
            assert_eq!(super::check(&answer, &schema, "answer"), expected.map_err(str::to_owned));
        };
        check(json!({"name": "Ada", "age": 36, "tags": ["x"]}), Ok(()));
        check(json!({"name": "Ada", "age": 36.5, "tags": []}), Err("answer.age is not of type integer"));
        check(json!({"name": "Ada", "tags": []}), Err("answer has no age"));
        check(json!({"name": "Ada", "age": 1, "tags": [1]}), Err("answer.tags[0] is not of type string"));
        check(json!({"name": "Ada", "age": 1, "tags": [], "x": 1}), Err("answer must not have x"));
        check(json!([]), Err("answer is not of type object"));
    }

    #[test]
    fn the_last_block_is_found() {
        let check = |answer: &str, expected: &str| assert_eq!(last_code_block(answer), expected);
        check("Run:\n```sh\nls\n```\nor\n```sh\nls -l\n```\nDone.", "ls -l\n");
        check("~~~~\n```\nnested\n```\n~~~~\n", "```\nnested\n```\n");
        check("```rust\nfn main() {}\n", "fn main() {}\n");
        check("no code", "no code");
    }
}
