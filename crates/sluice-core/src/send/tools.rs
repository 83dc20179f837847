//! Converts tools to function tools whose names and schemas every provider accepts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::boundary::{ChatRequest, ToolDefinition, ToolMode};
use crate::fnv::fnv1a;
use crate::wire::{FunctionTool, ToolChoice};

const MAX_NAME: usize = 64;
/// The maximum depth at which schemas are completed. Anything deeper is passed on unchanged.
const MAX_DEPTH: usize = 32;

/// Tool names that servers accept, and the mapping back to VS Code's names. Only the mapping back is serialized,
/// because it is all that a stream needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolNames {
    #[serde(skip)]
    to_server: BTreeMap<String, String>,
    from_server: BTreeMap<String, String>,
}

impl ToolNames {
    /// Returns the name to send: 1 to 64 characters of `[A-Za-z0-9_-]`, unique among the tools.
    pub(super) fn name_for_server(&mut self, name: &str) -> String {
        if let Some(known) = self.to_server.get(name) {
            return known.clone();
        }
        let clean: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect();
        let fits = clean == name && (1..=MAX_NAME).contains(&name.len()) && !self.from_server.contains_key(name);
        let sent = if fits {
            clean
        } else {
            let hash = format!("_{:08x}", fnv1a(name.as_bytes()) & 0xFFFF_FFFF);
            let start: String = clean.chars().take(MAX_NAME - hash.len()).collect();
            start + &hash
        };
        self.to_server.insert(name.to_owned(), sent.clone());
        self.from_server.insert(sent.clone(), name.to_owned());
        sent
    }

    /// Returns VS Code's name for a tool, or `None` if this name wasn't sent. The model made it up then.
    pub fn from_server(&self, name: &str) -> Option<&str> {
        self.from_server.get(name).map(String::as_str)
    }
}

pub(super) fn function_tools(tools: &[ToolDefinition], names: &mut ToolNames) -> Vec<FunctionTool> {
    let mut functions: Vec<FunctionTool> = Vec::with_capacity(tools.len());
    for tool in tools {
        let name = names.name_for_server(&tool.name);
        if functions.iter().any(|function| function.name == name) {
            continue;
        }
        functions.push(FunctionTool {
            kind: "function",
            name,
            description: tool.description.clone(),
            parameters: parameters(tool.input_schema.as_ref()),
            strict: false,
        });
    }
    functions
}

pub(super) fn tool_choice(request: &ChatRequest, only_text: bool, names: &mut ToolNames) -> Option<ToolChoice> {
    if request.tools.is_empty() {
        return None;
    }
    if only_text {
        return Some(ToolChoice::Mode("none"));
    }
    Some(match request.tool_mode {
        ToolMode::Auto => ToolChoice::Mode("auto"),
        ToolMode::None => ToolChoice::Mode("none"),
        ToolMode::Required => match (&request.required_tool, request.tools.as_slice()) {
            (Some(name), tools) if tools.iter().any(|tool| tool.name == *name) => named(name, names),
            (None, [only]) => named(&only.name, names),
            _ => ToolChoice::Mode("required"),
        },
    })
}

fn named(name: &str, names: &mut ToolNames) -> ToolChoice {
    ToolChoice::Function { kind: "function", name: names.name_for_server(name) }
}

/// Returns a schema that all providers accept: the root is an object with properties.
fn parameters(schema: Option<&Value>) -> Value {
    let Some(Value::Object(schema)) = schema else {
        return json!({"type": "object", "properties": {}});
    };
    let mut root = schema.clone();
    let mut properties = match root.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    // Providers refuse alternatives at the root. Their properties are kept, and none of them is required.
    for combinator in ["allOf", "anyOf", "oneOf"] {
        if let Some(Value::Array(alternatives)) = root.remove(combinator) {
            for alternative in alternatives {
                if let Some(Value::Object(more)) = alternative.get("properties") {
                    for (name, property) in more {
                        properties.entry(name.clone()).or_insert_with(|| property.clone());
                    }
                }
            }
        }
    }
    for refused in ["not", "if", "then", "else", "enum", "const"] {
        root.remove(refused);
    }
    if let Some(Value::Array(required)) = root.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| properties.contains_key(name)));
    } else {
        root.remove("required");
    }
    root.insert("type".to_owned(), json!("object"));
    root.insert("properties".to_owned(), Value::Object(properties));
    let mut root = Value::Object(root);
    complete(&mut root, 0);
    root
}

/// Adds missing `properties` to objects and missing `items` to arrays at any depth, because providers refuse schemas
/// without them.
fn complete(schema: &mut Value, depth: usize) {
    let Value::Object(fields) = schema else { return };
    if depth > MAX_DEPTH {
        return;
    }
    let is = |kind: &str, fields: &Map<String, Value>| match fields.get("type") {
        Some(Value::String(named)) => named == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|named| named == kind),
        _ => false,
    };
    if is("object", fields) && !fields.get("properties").is_some_and(Value::is_object) {
        fields.insert("properties".to_owned(), json!({}));
    }
    if is("array", fields) && !fields.get("items").is_some_and(|items| items.is_object() || items.is_boolean()) {
        let items = match fields.get("items") {
            // An older way to describe tuples is a list with one schema for each element.
            Some(Value::Array(elements)) if !elements.is_empty() => json!({"anyOf": elements}),
            _ => json!({}),
        };
        fields.insert("items".to_owned(), items);
    }
    for (name, field) in fields {
        match (name.as_str(), field) {
            ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(schemas)) => {
                for schema in schemas.values_mut() {
                    complete(schema, depth + 1);
                }
            }
            ("items" | "additionalProperties", field) => complete(field, depth + 1),
            ("anyOf" | "oneOf" | "allOf", Value::Array(schemas)) => {
                for schema in schemas {
                    complete(schema, depth + 1);
                }
            }
            _ => {}
        }
    }
}
