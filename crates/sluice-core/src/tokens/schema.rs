//! Renders tools and response formats as models see them.
//!
//! To OpenAI's models, function tools are shown as TypeScript types in a namespace, with titles, descriptions and
//! examples as comments.
//! Whatever TypeScript can't express (patterns, ranges, `additionalProperties`) isn't shown. The schema of an answer is
//! shown as JSON without the fields that are the same in every strict schema.

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value};

use super::tokenizer::Layout;

/// The maximum depth of a schema. Anything deeper is shown as `any`.
const MAX_DEPTH: usize = 24;
/// The maximum length of the text, because references can expand a schema to far more than its own size.
const MAX_TEXT: usize = 1 << 20;
/// The maximum number of names, descriptions and values in an outline, for the same reason.
const MAX_WORDS: usize = 1 << 16;

pub(super) const NAMESPACE_HEAD: &str = "# Tools\n\n## functions\n\nnamespace functions {\n\n";
pub(super) const NAMESPACE_TAIL: &str = "} // namespace functions";

/// Renders one tool inside the namespace.
pub(super) fn function_type(name: &str, description: &str, parameters: Option<&Value>) -> String {
    let root = parameters.unwrap_or(&Value::Null);
    let mut types = Types { root, text: String::new(), open: Vec::new() };
    types.comment(description);
    let is_empty = root.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
    if is_empty {
        types.text += &format!("type {name} = () => any;\n\n");
    } else {
        types.text += &format!("type {name} = (_: ");
        types.write(root, 0);
        types.text += ") => any;\n\n";
    }
    types.text
}

/// Renders one tool as JSON.
pub(super) fn tool_json(name: &str, description: &str, parameters: Option<&Value>, layout: Layout) -> String {
    let mut tool = Map::new();
    tool.insert("name".to_owned(), Value::from(name));
    if !description.is_empty() {
        tool.insert("description".to_owned(), Value::from(description));
    }
    tool.insert("parameters".to_owned(), parameters.cloned().unwrap_or_else(|| Value::Object(Map::new())));
    let tool = Value::Object(tool);
    match layout {
        Layout::Compact => tool.to_string(),
        Layout::Spaced => {
            let mut text = String::new();
            write_spaced(&tool, 0, &mut text);
            text
        }
        Layout::Indented => {
            let mut text = Vec::new();
            let mut writer = Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b"    "));
            let written = tool.serialize(&mut writer);
            written.ok().and_then(|()| String::from_utf8(text).ok()).unwrap_or_else(|| tool.to_string())
        }
    }
}

fn write_spaced(value: &Value, depth: usize, text: &mut String) {
    if depth > MAX_DEPTH * 2 || text.len() > MAX_TEXT {
        *text += &value.to_string();
        return;
    }
    match value {
        Value::Object(fields) => {
            text.push('{');
            for (index, (name, field)) in fields.iter().enumerate() {
                *text += if index > 0 { ", " } else { "" };
                *text += &Value::from(name.as_str()).to_string();
                *text += ": ";
                write_spaced(field, depth + 1, text);
            }
            text.push('}');
        }
        Value::Array(all) => {
            text.push('[');
            for (index, one) in all.iter().enumerate() {
                *text += if index > 0 { ", " } else { "" };
                write_spaced(one, depth + 1, text);
            }
            text.push(']');
        }
        value => *text += &value.to_string(),
    }
}

/// Everything in a tool's schema that some servers count.
#[derive(Default)]
pub(super) struct Outline<'a> {
    /// The names of properties, descriptions, listed values and names of required properties.
    pub words: Vec<&'a str>,
    pub typed: u32,
    pub properties: u32,
    pub explained: u32,
    pub values: u32,
    pub nested: u32,
}

impl<'a> Outline<'a> {
    pub(super) fn of(schema: &'a Value) -> Self {
        let mut outline = Self::default();
        outline.add(schema, schema, &mut Vec::new(), 0);
        outline
    }

    /// Adds a schema inside `root`. The references in `open` are being followed; one of them again would be a cycle.
    fn add(&mut self, schema: &'a Value, root: &'a Value, open: &mut Vec<&'a str>, depth: usize) {
        if depth > MAX_DEPTH || self.words.len() > MAX_WORDS {
            return;
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
            if let Some(target) = target.filter(|_| !open.contains(&reference)) {
                open.push(reference);
                self.add(target, root, open, depth + 1);
                open.pop();
            }
            return;
        }
        let list = |name: &str| schema.get(name).and_then(Value::as_array).into_iter().flatten();
        self.typed += u32::from(schema.get("type").is_some());
        let description = text_of(schema, "description");
        if !description.is_empty() {
            self.words.push(description);
            self.explained += 1;
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        self.nested += u32::from(depth > 0 && (properties.is_some() || text_of(schema, "type") == "object"));
        for (name, property) in properties.into_iter().flatten() {
            self.words.push(name);
            self.properties += 1;
            self.add(property, root, open, depth + 1);
        }
        for value in list("enum").filter_map(Value::as_str) {
            self.words.push(value);
            self.values += 1;
        }
        self.words.extend(list("required").filter_map(Value::as_str));
        if let Some(items) = schema.get("items") {
            self.add(items, root, open, depth + 1);
        }
        for member in ["anyOf", "oneOf", "allOf"].into_iter().flat_map(list) {
            self.add(member, root, open, depth + 1);
        }
    }
}

/// Renders the schema that an answer must follow.
pub(super) fn answer_format(name: &str, description: &str, schema: &Value) -> String {
    let mut schema = schema.clone();
    strip(&mut schema, 0);
    let comment = if description.is_empty() { String::new() } else { format!("// {description}\n") };
    format!("# Response Formats\n\n## {name}\n\n{comment}{schema}")
}

/// Removes `required` and `additionalProperties` where they are the same in every strict schema.
fn strip(schema: &mut Value, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match schema {
        Value::Object(fields) => {
            let all_required = match (fields.get("required"), fields.get("properties")) {
                (Some(Value::Array(required)), Some(Value::Object(properties))) => required.len() >= properties.len(),
                _ => false,
            };
            if all_required {
                fields.remove("required");
            }
            if fields.get("additionalProperties") == Some(&Value::Bool(false)) {
                fields.remove("additionalProperties");
            }
            for (name, field) in fields {
                match field {
                    // The names of properties are not keywords.
                    Value::Object(schemas) if matches!(name.as_str(), "properties" | "$defs" | "definitions") => {
                        schemas.values_mut().for_each(|schema| strip(schema, depth + 1));
                    }
                    field => strip(field, depth + 1),
                }
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| strip(schema, depth + 1)),
        _ => {}
    }
}

struct Types<'a> {
    root: &'a Value,
    text: String,
    /// The references that are being followed, to detect cycles.
    open: Vec<String>,
}

impl Types<'_> {
    fn write(&mut self, schema: &Value, depth: usize) {
        if depth > MAX_DEPTH || self.text.len() > MAX_TEXT {
            self.text += "any";
            return;
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            match target.filter(|_| !self.open.iter().any(|open| open == reference)) {
                Some(target) => {
                    self.open.push(reference.to_owned());
                    self.write(target, depth + 1);
                    self.open.pop();
                }
                None => self.text += "any",
            }
            return;
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
            self.alternatives(values, |types, value| types.text += &value.to_string());
            return;
        }
        if let Some(value) = schema.get("const") {
            self.text += &value.to_string();
            return;
        }
        for combinator in ["anyOf", "oneOf", "allOf"] {
            if let Some(schemas) = schema.get(combinator).and_then(Value::as_array).filter(|all| !all.is_empty()) {
                self.alternatives(schemas, |types, schema| {
                    let description = text_of(schema, "description");
                    if !description.is_empty() {
                        types.text += "\n";
                        types.comment(description);
                    }
                    types.write(schema, depth + 1);
                });
                return;
            }
        }
        match schema.get("type") {
            Some(Value::Array(kinds)) => {
                self.alternatives(kinds, |types, kind| types.kind(kind.as_str(), schema, depth));
            }
            kind => self.kind(kind.and_then(Value::as_str), schema, depth),
        }
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            self.text += " | null";
        }
    }

    fn kind(&mut self, kind: Option<&str>, schema: &Value, depth: usize) {
        match kind {
            Some("object") => self.object(schema, depth),
            None if schema.get("properties").is_some() => self.object(schema, depth),
            Some("array") => {
                match schema.get("items").or_else(|| schema.get("prefixItems")) {
                    Some(Value::Array(places)) => {
                        self.alternatives(places, |types, place| types.write(place, depth + 1));
                    }
                    Some(items) => self.write(items, depth + 1),
                    None => self.text += "any",
                }
                self.text += "[]";
            }
            Some("integer") => self.text += "number",
            Some(kind) => self.text += kind,
            None => self.text += "any",
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) {
        let values = schema.get("additionalProperties").filter(|values| values.is_object());
        let properties = schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty());
        match (properties, values) {
            (None, None) => self.text += "object",
            (None, Some(values)) => {
                self.text += "Record<string, ";
                self.write(values, depth + 1);
                self.text += ">";
            }
            (Some(properties), _) => {
                self.text += "{\n";
                self.comment(text_of(schema, "title"));
                // Only the root shows its description here; a property's description is already above it.
                if depth == 0 {
                    self.comment(text_of(schema, "description"));
                }
                let required = schema.get("required").and_then(Value::as_array);
                for (name, property) in properties {
                    self.property(name, property, depth, required.is_some_and(|all| all.iter().any(|one| one == name)));
                }
                self.text += "}";
            }
        }
    }

    fn property(&mut self, name: &str, property: &Value, depth: usize, required: bool) {
        // An object with properties shows its title inside the braces.
        if !property.get("properties").is_some_and(Value::is_object) {
            self.comment(text_of(property, "title"));
        }
        self.comment(text_of(property, "description"));
        if let Some(examples) = property.get("examples").and_then(Value::as_array).filter(|all| !all.is_empty()) {
            self.comment("Examples:");
            for example in examples {
                self.comment(&format!("- {example}"));
            }
        }
        self.text += name;
        self.text += if required { ": " } else { "?: " };
        self.write(property, depth + 1);
        self.text += ",";
        match property.get("default") {
            Some(Value::String(default)) => self.text += &format!(" // default: {default}"),
            Some(default) => self.text += &format!(" // default: {default}"),
            None => {}
        }
        self.text += "\n";
    }

    fn alternatives(&mut self, all: &[Value], write: impl Fn(&mut Self, &Value)) {
        for (index, one) in all.iter().enumerate() {
            if index > 0 {
                self.text += " | ";
            }
            write(self, one);
        }
    }

    fn comment(&mut self, text: &str) {
        // Lines are shown without their indentation, and empty lines aren't shown.
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            self.text += "// ";
            self.text += line;
            self.text += "\n";
        }
    }
}

pub(super) fn text_of<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}
