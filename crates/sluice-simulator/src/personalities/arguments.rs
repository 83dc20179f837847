//! Generates arguments that a tool's JSON Schema accepts. Values are taken from the prompt if a property's name
//! suggests it.

use serde_json::{Map, Value, json};

/// The maximum depth, because schemas can be recursive.
const DEEPEST: usize = 6;

/// Returns arguments for a tool with this schema. `nth` is the call's index among several: the second call gets the
/// second path.
pub fn fill(schema: &Value, prompt: &str, nth: usize) -> Value {
    let filler = Filler { root: schema, prompt, nth };
    let value = filler.value("", schema, 0);
    if value.is_object() { value } else { json!({}) }
}

/// Returns the words of a prompt that look like paths, in order and without duplicates: they contain a slash or end
/// like a file name.
pub fn paths(prompt: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let outside = |c: char| c.is_whitespace() || "`'\"()<>[]{},;*".contains(c);
    for word in prompt.split(outside) {
        let word = word.trim_start_matches('#').trim_end_matches(['.', ':', '?', '!']);
        let word = word.strip_prefix("file:").unwrap_or(word);
        let ending = word.rsplit_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty()
                && (1..=5).contains(&end.len())
                && end.starts_with(|c: char| c.is_ascii_alphabetic())
                && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        let slashed = word.contains('/') && word.len() > 1 && !word.contains("//") && !word.ends_with("/or");
        let known = ["Makefile", "Dockerfile", "LICENSE", "README"].contains(&word);
        if (ending || slashed || known) && !word.contains('@') && !paths.iter().any(|path| path == word) {
            paths.push(word.to_owned());
        }
    }
    paths
}

/// Returns what to search for: a quoted phrase, or the text after the verb.
pub fn subject(prompt: &str) -> String {
    quoted(prompt)
        .or_else(|| after(prompt, &[" for ", "grep ", "find ", "search "]))
        .unwrap_or_else(|| first_line(prompt))
}

struct Filler<'a> {
    root: &'a Value,
    prompt: &'a str,
    nth: usize,
}

impl Filler<'_> {
    fn value(&self, name: &str, schema: &Value, depth: usize) -> Value {
        let schema = self.resolved(schema);
        if let Some(fixed) = ["const", "default"].iter().find_map(|key| schema.get(*key)) {
            return fixed.clone();
        }
        if let Some(choices) = schema["enum"].as_array() {
            let mentioned = choices.iter().find(|one| one.as_str().is_some_and(|word| self.prompt.contains(word)));
            return mentioned.or(choices.first()).cloned().unwrap_or(Value::Null);
        }
        let kind = match &schema["type"] {
            Value::String(kind) => kind.as_str(),
            Value::Array(kinds) => {
                kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
            }
            _ if schema.get("properties").is_some() => "object",
            _ => "string",
        };
        match kind {
            "object" => self.object(&schema, depth),
            "array" => self.array(name, &schema, depth),
            "integer" | "number" => number(name, &schema),
            "boolean" => false.into(),
            "null" => Value::Null,
            _ => self.string(name, &schema).into(),
        }
    }

    /// Follows references inside the schema and takes the first alternative.
    fn resolved(&self, schema: &Value) -> Value {
        let mut schema = schema.clone();
        for _ in 0..DEEPEST {
            if let Some(pointer) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
                schema = self.root.pointer(pointer).cloned().unwrap_or_else(|| json!({}));
            } else if let Some(first) = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema[key].get(0)) {
                let not_null = |one: &&Value| one["type"] != "null";
                let ways = ["anyOf", "oneOf"].iter().find_map(|key| schema[key].as_array()?.iter().find(not_null));
                schema = ways.unwrap_or(first).clone();
            } else {
                break;
            }
        }
        schema
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut object = Map::new();
        for name in &required {
            let property = schema["properties"].get(*name).unwrap_or(&Value::Null);
            if depth < DEEPEST {
                object.insert((*name).to_owned(), self.value(name, property, depth + 1));
            }
        }
        // Optional properties are left out, except for what the user mentioned: the first path or the first query.
        let optional = schema["properties"].as_object().into_iter().flatten();
        for (name, property) in optional.filter(|(name, _)| !required.contains(&name.as_str())) {
            let is_string = self.resolved(property)["type"] == "string";
            let useful = is_path(name) && !paths(self.prompt).is_empty() && !object.keys().any(|key| is_path(key))
                || is_query(name) && object.is_empty() && depth == 0;
            if is_string && useful {
                object.insert(name.clone(), self.value(name, property, depth + 1));
            }
        }
        object.into()
    }

    fn array(&self, name: &str, schema: &Value, depth: usize) -> Value {
        let least = schema["minItems"].as_u64().unwrap_or(1).clamp(1, 8);
        if depth >= DEEPEST {
            return json!([]);
        }
        let element = schema.get("items").unwrap_or(&Value::Null);
        let singular = name.strip_suffix('s').unwrap_or(name);
        (0..least)
            .map(|at| {
                let nth = self.nth + usize::try_from(at).unwrap_or(0);
                Filler { root: self.root, prompt: self.prompt, nth }.value(singular, element, depth + 1)
            })
            .collect()
    }

    fn string(&self, name: &str, schema: &Value) -> String {
        if let Some(example) = schema["examples"].get(0).and_then(Value::as_str) {
            return example.to_owned();
        }
        let lower = name.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let text = if is_path(name) {
            let paths = paths(self.prompt);
            let last = paths.last().cloned().unwrap_or_else(|| ".".into());
            paths.get(self.nth).cloned().unwrap_or(last)
        } else if has(&["url", "uri", "href"]) {
            let word = self.prompt.split_whitespace().find(|word| word.starts_with("http"));
            word.unwrap_or("https://www.openresponses.org/").trim_end_matches(['.', ',', '?', ')']).to_owned()
        } else if has(&["command", "cmd", "script", "shell"]) {
            let ticked = self.prompt.split('`').nth(1).filter(|code| !code.is_empty()).map(str::to_owned);
            ticked.or_else(|| after(self.prompt, &["run ", "execute "])).unwrap_or_else(|| "ls".into())
        } else if has(&["pattern", "glob", "include"])
            && paths(self.prompt).is_empty()
            && !has(&["regex"])
            && !self.prompt.contains('"')
        {
            "**/*".into()
        } else if is_query(name) {
            subject(self.prompt)
        } else if has(&["location", "city", "place", "where"]) {
            after(self.prompt, &[" in ", " at ", " for "]).unwrap_or_else(|| first_line(self.prompt))
        } else if has(&["explanation", "reason", "purpose", "goal", "description"]) {
            "The user asked for it.".into()
        } else {
            first_line(self.prompt)
        };
        // Parallel calls should have different arguments.
        let text = if self.nth > 0 && paths(self.prompt).len() <= self.nth {
            format!("{text} {}", self.nth + 1)
        } else {
            text
        };
        let longest =
            schema["maxLength"].as_u64().map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let shortest = usize::try_from(schema["minLength"].as_u64().unwrap_or(0)).unwrap_or(0);
        let mut text: String = text.chars().take(longest).collect();
        while text.chars().count() < shortest.min(10_000) {
            text.push('.');
        }
        text
    }
}

fn number(name: &str, schema: &Value) -> Value {
    let lower = name.to_ascii_lowercase();
    let wish = match () {
        () if lower.contains("end") => 200,
        () if lower.contains("timeout") => 10_000,
        () if lower.contains("max") || lower.contains("limit") || lower.contains("count") => 20,
        () => 1,
    };
    let bound = |key: &str, step: i64| {
        let above = schema[format!("exclusive{key}")].as_i64().map(|bound| bound + step);
        above.or_else(|| schema[key.to_ascii_lowercase()].as_i64())
    };
    let low = bound("Minimum", 1).unwrap_or(i64::MIN);
    let high = bound("Maximum", -1).unwrap_or(i64::MAX);
    wish.min(high).max(low).into()
}

fn is_path(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["path", "file", "dir", "folder"].iter().any(|word| name.contains(word))
}

fn is_query(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["query", "search", "pattern", "regex", "term", "keyword"].iter().any(|word| name.contains(word))
}

fn quoted(prompt: &str) -> Option<String> {
    let mark = prompt.chars().find(|c| ['"', '`', '“'].contains(c))?;
    let close = if mark == '“' { '”' } else { mark };
    let (_, rest) = prompt.split_once(mark)?;
    rest.split_once(close).map(|(phrase, _)| phrase.to_owned()).filter(|phrase| !phrase.is_empty())
}

/// Returns the text after the first of these words, up to the end of the sentence.
fn after(prompt: &str, words: &[&str]) -> Option<String> {
    let lower = prompt.to_ascii_lowercase();
    let at = words.iter().find_map(|word| lower.find(word).map(|at| at + word.len()))?;
    let rest = prompt[at..].split(['\n', '?', '!']).next().unwrap_or_default();
    let rest = rest.split(". ").next().unwrap_or_default().trim().trim_end_matches('.');
    (!rest.is_empty()).then(|| rest.to_owned())
}

fn first_line(prompt: &str) -> String {
    prompt.trim().lines().next().unwrap_or_default().chars().take(120).collect()
}
