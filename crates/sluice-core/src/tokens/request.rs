//! Counts a whole request body item by item, as the server will read it.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::tokenizer::{Family, SchemaCost, ToolStyle, rounded};
use super::{Counter, images, schema};
use crate::boundary::TokenBreakdown;
use crate::surrogates::mend_surrogates;
use crate::wire::FunctionTool;
use schema::text_of;

/// The number of tokens assumed for a tool's name if a result doesn't say which tool it came from.
const USUAL_NAME: u32 = 3;

/// The reason why a request body can't be counted.
#[derive(Debug)]
pub enum BadRequestBody {
    /// It isn't JSON.
    NotJson(serde_json::Error),
    /// It is JSON, but not an object.
    NotAnObject,
}

impl fmt::Display for BadRequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(error) => write!(f, "the request is not JSON: {error}"),
            Self::NotAnObject => f.write_str("the request is not a JSON object with `model` and `input`"),
        }
    }
}

impl std::error::Error for BadRequestBody {}

impl Counter {
    /// Counts the tokens of an Open Responses request body.
    pub fn request_body(self, body: &[u8]) -> Result<TokenBreakdown, BadRequestBody> {
        let body: Value = serde_json::from_slice(body).or_else(|error| {
            let mended = mend_surrogates(&String::from_utf8_lossy(body));
            serde_json::from_str(&mended).map_err(|_| BadRequestBody::NotJson(error))
        })?;
        if !body.is_object() {
            return Err(BadRequestBody::NotAnObject);
        }
        let model = text_of(&body, "model");
        let mut tally = Tally::new(self, model);
        tally.request(&body);
        Ok(tally.finish())
    }
}

/// Adds up the tokens of a request while reading it.
pub(super) struct Tally<'a> {
    counter: Counter,
    family: &'static Family,
    model: &'a str,
    sum: TokenBreakdown,
}

/// Everything outside the items that the overhead of a request depends on.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each of them is a field of the request")]
pub(super) struct Frame<'a> {
    pub has_tools: bool,
    pub has_instructions: bool,
    /// Whether the model must call a tool.
    pub must_call: bool,
    /// The name of the tool, if only one is offered.
    pub only_tool: Option<&'a str>,
    pub thinks: bool,
    /// Whether only one call at a time is allowed.
    pub is_sequential: bool,
}

/// Everything outside an item that its cost depends on.
#[expect(clippy::struct_excessive_bools, reason = "each of them is a fact about the items around it")]
pub(super) struct Around<'a> {
    /// The name of the tool that was called, if the item is a result and its call is in the request.
    pub called: Option<&'a str>,
    /// Whether the item is a call without another call before or after it, in a request that offers several tools.
    pub is_lone_call: bool,
    /// Whether the item is a call without another call before it.
    pub is_first_call: bool,
    /// Whether the item is the first of some calls since the last question, and the request doesn't contain the
    /// reasoning that led to them.
    pub lacks_thought: bool,
    pub sees_reasoning: bool,
}

impl<'a> Tally<'a> {
    pub(super) fn new(counter: Counter, model: &'a str) -> Self {
        let family = Family::at_server(model, counter.server);
        Self { counter, family, model, sum: TokenBreakdown { basis: family.basis(), ..Counter::about(model) } }
    }

    fn request(&mut self, body: &Value) {
        let tools = body.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let items = body.get("input").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_system = |item: &Value| matches!(text_of(item, "role"), "system" | "developer");
        let functions = || tools.iter().filter(|tool| matches!(text_of(tool, "type"), "function" | "custom"));
        let effort = body.pointer("/reasoning/effort").and_then(Value::as_str);
        let choice = body.get("tool_choice").unwrap_or(&Value::Null);
        let forced = choice == "required" || matches!(text_of(choice, "type"), "function" | "allowed_tools");
        self.frame(Frame {
            has_tools: functions().next().is_some(),
            has_instructions: !text_of(body, "instructions").is_empty() || items.iter().any(is_system),
            must_call: forced && functions().next().is_some() && text_of(choice, "mode") != "auto",
            only_tool: if functions().count() == 1 {
                functions().next().map(|tool| text_of(tool.get("function").unwrap_or(tool), "name"))
            } else {
                None
            },
            thinks: effort.is_some_and(|effort| !matches!(effort, "none" | "minimal")),
            is_sequential: body.get("parallel_tool_calls") == Some(&Value::Bool(false)),
        });
        self.instructions(text_of(body, "instructions"));
        match body.get("input") {
            Some(Value::String(text)) => self.sum.messages += self.text(text) + self.family.message,
            _ => self.items(items, tools.len()),
        }
        self.tools(tools);
        if let Some(format) = body.pointer("/text/format").filter(|format| text_of(format, "type") == "json_schema") {
            // Some clients nest it the way chat completions do.
            let format = format.get("json_schema").unwrap_or(format);
            self.format(format);
        }
        for (field, what) in [
            ("previous_response_id", "the earlier conversation it refers to"),
            ("conversation", "the conversation it refers to"),
            ("prompt", "the stored prompt it refers to"),
        ] {
            if body.get(field).is_some_and(|value| !value.is_null()) {
                self.note(format!("`{field}`: only the server knows {what}"));
            }
        }
    }

    /// Counts the overhead of a request, including the one that all tools share.
    pub(super) fn frame(&mut self, frame: Frame<'_>) {
        let family = self.family;
        self.sum.framing += family.request;
        if frame.thinks {
            self.sum.framing += family.thinking;
        }
        if !frame.has_instructions {
            self.sum.framing += family.default_prompt;
        }
        if !frame.has_tools {
            return;
        }
        self.sum.tools += match family.tools {
            ToolStyle::Namespace { around, names_forced, sequential } => {
                let head = self.text(schema::NAMESPACE_HEAD) + self.text(schema::NAMESPACE_TAIL);
                // A call that can only be to one tool is written into the prompt.
                let named = frame.only_tool.filter(|_| names_forced && frame.must_call);
                let named = named.map_or(0, |name| self.text(name) + 4);
                head.saturating_add_signed(around) + named + if frame.is_sequential { sequential } else { 0 }
            }
            ToolStyle::Json { around, forced, .. } => {
                if frame.must_call {
                    forced
                } else {
                    around
                }
            }
            ToolStyle::Words(_) => 0,
        };
    }

    pub(super) fn instructions(&mut self, text: &str) {
        if !text.is_empty() {
            self.sum.instructions += self.text(text) + self.family.system;
        }
    }

    fn items(&mut self, items: &[Value], offered_tools: usize) {
        // The model doesn't see the items that a compaction replaces.
        let compacted = items.iter().rposition(|item| text_of(item, "type") == "compaction").unwrap_or(0);
        let items = items.get(compacted..).unwrap_or_default();
        let last_question = items.iter().rposition(|item| text_of(item, "role") == "user");
        let mut names = BTreeMap::new();
        for (index, item) in items.iter().enumerate() {
            let is_call = |index: Option<usize>| {
                index.and_then(|index| items.get(index)).is_some_and(|item| text_of(item, "type") == "function_call")
            };
            let before = index.checked_sub(1);
            let is_lone = is_call(Some(index)) && !is_call(before) && !is_call(Some(index + 1));
            let has_thought =
                before.and_then(|before| items.get(before)).is_some_and(|item| text_of(item, "type") == "reasoning");
            let (call_id, name) = (text_of(item, "call_id"), text_of(item, "name"));
            if !name.is_empty() {
                names.insert(call_id, name);
            }
            let around = Around {
                called: names.get(call_id).copied(),
                is_lone_call: is_lone && offered_tools > 1,
                is_first_call: is_call(Some(index)) && !is_call(before),
                lacks_thought: last_question.is_some_and(|last| index > last) && !is_call(before) && !has_thought,
                sees_reasoning: self.family.sees_reasoning(index, last_question),
            };
            self.item(item, &around);
        }
    }

    pub(super) fn item(&mut self, item: &Value, around: &Around<'_>) {
        match text_of(item, "type") {
            "message" | "" => {
                let role = text_of(item, "role");
                let content = self.content(item.get("content").unwrap_or(&Value::Null));
                let name = text_of(item, "name");
                let name = if name.is_empty() { 0 } else { self.text(name) + 1 };
                let channel = if role == "assistant" { self.family.assistant } else { 0 };
                let cost = content + name + channel;
                match role {
                    "system" | "developer" => self.sum.instructions += cost + self.family.system,
                    _ => self.sum.messages += cost + self.family.message,
                }
            }
            "function_call" | "custom_tool_call" => {
                let name = self.text(text_of(item, "name"));
                let input = self.arguments(text_of(item, "arguments")) + self.text(text_of(item, "input"));
                let lone = if around.is_lone_call { self.family.lone_call } else { 0 };
                let thought = if around.lacks_thought { self.family.unseen_thought } else { 0 };
                let first = if around.is_first_call { self.family.first_call } else { 0 };
                let call = (self.family.call + lone + thought).saturating_sub(first);
                let arguments = match self.family.argument {
                    0 => 0,
                    each => each.saturating_mul(number_of_fields(text_of(item, "arguments"))),
                };
                self.sum.tool_calls += name + input + call + arguments;
            }
            "function_call_output" | "custom_tool_call_output" => {
                let name = match around.called {
                    _ if !self.family.repeats_name => 0,
                    Some(name) => self.text(name),
                    None => USUAL_NAME,
                };
                let output = match item.get("output").unwrap_or(&Value::Null) {
                    text @ Value::String(_) if self.family.quotes_results => self.text(&text.to_string()),
                    Value::String(text) => self.arguments(text),
                    other => self.content(other),
                };
                self.sum.tool_results += name + output + self.family.result;
            }
            "reasoning" => {
                if around.sees_reasoning {
                    let encrypted = text_of(item, "encrypted_content");
                    self.sum.reasoning += if encrypted.is_empty() {
                        self.content(item.get("content").unwrap_or(&Value::Null)) + self.family.message
                    } else {
                        self.family.reasoning(encrypted.len())
                    };
                }
            }
            "compaction" => self.sum.messages += self.family.reasoning(text_of(item, "encrypted_content").len()),
            "item_reference" => self.note("`item_reference`: only the server knows the item it refers to".to_owned()),
            other => {
                self.note(format!("`{other}`: counted as its JSON; the server may show the model more or less of it"));
                let mut shown = item.clone();
                if let Value::Object(fields) = &mut shown {
                    for hidden in ["id", "type", "status", "call_id", "encrypted_content"] {
                        fields.remove(hidden);
                    }
                    // The model sees a generated picture as an image, or not at all.
                    if fields.get("result").and_then(Value::as_str).is_some_and(|text| text.len() > 4096) {
                        fields.remove("result");
                    }
                }
                self.sum.messages += self.text(&shown.to_string()) + self.family.message;
            }
        }
    }

    /// Counts the text of a message or a result. Images are added to their own sum.
    fn content(&mut self, content: &Value) -> u32 {
        match content {
            Value::String(text) => self.text(text),
            Value::Array(parts) => parts.iter().map(|part| self.part(part)).sum(),
            Value::Null => 0,
            other => self.text(&other.to_string()),
        }
    }

    fn part(&mut self, part: &Value) -> u32 {
        match text_of(part, "type") {
            "input_image" | "image_url" | "image" => {
                self.image(part);
                0
            }
            "input_file" | "file" => {
                self.file(part);
                0
            }
            "input_audio" | "audio" => {
                self.note("audio is not counted".to_owned());
                0
            }
            _ => match part {
                Value::String(text) => self.text(text),
                part => self.text(text_of(part, "text")) + self.text(text_of(part, "refusal")),
            },
        }
    }

    fn image(&mut self, part: &Value) {
        // Chat completions nest the address one level deeper.
        let address = part.get("image_url").map_or("", |url| url.as_str().unwrap_or_else(|| text_of(url, "url")));
        let size = address.split_once(";base64,").and_then(|(_, base64)| images::size_in_base64(base64));
        if size.is_none() {
            let why = if address.starts_with("data:") { "its header has no size" } else { "it is not in the request" };
            self.note(format!("an image is counted as 1024 x 1024 pixels: {why}"));
        }
        self.sum.images += images::tokens(self.model, size, text_of(part, "detail"));
    }

    fn file(&mut self, part: &Value) {
        use base64::Engine;
        let data = text_of(part, "file_data");
        let base64 = data.split_once(";base64,").map_or(data, |(_, base64)| base64).trim_end_matches('=');
        let bytes = base64::engine::general_purpose::STANDARD_NO_PAD.decode(base64).unwrap_or_default();
        match String::from_utf8(bytes) {
            Ok(text) if !text.is_empty() && !text.starts_with("%PDF") => self.sum.messages += self.text(&text),
            _ => self.note("a file is not counted: the server turns it into text and pictures".to_owned()),
        }
        self.sum.messages += self.text(text_of(part, "filename")) + self.family.message;
    }

    fn tools(&mut self, tools: &[Value]) {
        let mut shown = 0;
        for tool in tools {
            match text_of(tool, "type") {
                "function" => {
                    // Chat completions nest the function.
                    let function = tool.get("function").unwrap_or(tool);
                    shown += self.function(
                        text_of(function, "name"),
                        text_of(function, "description"),
                        function.get("parameters"),
                    );
                }
                "custom" => {
                    let grammar = tool.pointer("/format/definition").and_then(Value::as_str).unwrap_or_default();
                    shown += self.function(text_of(tool, "name"), text_of(tool, "description"), None);
                    shown += self.text(grammar) + 16;
                }
                "namespace" => {
                    shown += self.text(text_of(tool, "name")) + self.text(text_of(tool, "description")) + 8;
                    if let Some(inner) = tool.get("tools").and_then(Value::as_array) {
                        self.tools(inner);
                    }
                }
                hosted => {
                    self.note(format!(
                        "`{hosted}`: the server's description of its own tool and the tool's results are not counted"
                    ));
                    shown += self.text(text_of(tool, "description"));
                    if let Some(parameters) = tool.get("parameters") {
                        shown += self.text(&parameters.to_string());
                    }
                }
            }
        }
        self.sum.tools += shown;
    }

    /// Counts one of our own tools, without the overhead that all tools share.
    pub(super) fn function_tool(&mut self, tool: &FunctionTool) {
        self.sum.tools += self.function(&tool.name, &tool.description, Some(&tool.parameters));
    }

    /// Counts one function, without the overhead that all tools share.
    fn function(&self, name: &str, description: &str, parameters: Option<&Value>) -> u32 {
        match &self.family.tools {
            ToolStyle::Namespace { .. } => self.text(&schema::function_type(name, description, parameters)),
            ToolStyle::Json { layout, scale, each, .. } => {
                let shown = schema::tool_json(name, description, parameters, *layout);
                rounded(self.counter.raw(self.family, &shown) * scale) + each
            }
            ToolStyle::Words(SchemaCost { tool, described, typed, property, explained, value, nested }) => {
                let outline = schema::Outline::of(parameters.unwrap_or(&Value::Null));
                let words = [name, description].into_iter().chain(outline.words.iter().copied());
                let parts = [
                    (*tool, 1),
                    (*described, u32::from(!description.is_empty())),
                    (*typed, outline.typed),
                    (*property, outline.properties),
                    (*explained, outline.explained),
                    (*value, outline.values),
                    (*nested, outline.nested),
                ];
                let parts = parts.into_iter().map(|(cost, count)| cost.saturating_mul(count));
                words.map(|word| self.text(word)).chain(parts).fold(0, u32::saturating_add)
            }
        }
    }

    /// Counts the arguments of a call, or its result. Where only the words of tools are counted, the same is true of them.
    fn arguments(&self, text: &str) -> u32 {
        let has_words = matches!(self.family.tools, ToolStyle::Words(_)) && text.starts_with('{');
        let fields = if has_words { serde_json::from_str(text).ok() } else { None };
        fields.map_or_else(|| self.text(text), |fields| self.words(&fields))
    }

    fn words(&self, value: &Value) -> u32 {
        match value {
            Value::Object(fields) => fields.iter().map(|(name, value)| self.text(name) + self.words(value)).sum(),
            Value::Array(all) => all.iter().map(|one| self.words(one)).sum(),
            Value::String(text) => self.text(text),
            other => self.text(&other.to_string()),
        }
    }

    fn format(&mut self, format: &Value) {
        let shown = schema::answer_format(
            text_of(format, "name"),
            text_of(format, "description"),
            format.get("schema").unwrap_or(&Value::Null),
        );
        self.sum.format += self.text(&shown) + 1;
    }

    fn text(&self, text: &str) -> u32 {
        self.counter.text_of(self.family, text)
    }

    fn note(&mut self, note: String) {
        if !self.sum.notes.contains(&note) {
            self.sum.notes.push(note);
        }
    }

    pub(super) fn finish(self) -> TokenBreakdown {
        let mut sum = self.sum;
        if sum.tools > 0 {
            sum.uncertainty = self.family.error.1;
        }
        sum.input_tokens = [
            sum.instructions,
            sum.messages,
            sum.tool_calls,
            sum.tool_results,
            sum.reasoning,
            sum.tools,
            sum.format,
            sum.images,
            sum.framing,
        ]
        .into_iter()
        .fold(0, u32::saturating_add);
        sum
    }
}

/// Returns the number of fields of a JSON object.
fn number_of_fields(json: &str) -> u32 {
    let fields: Option<serde_json::Map<String, Value>> = serde_json::from_str(json).ok();
    fields.map_or(0, |fields| u32::try_from(fields.len()).unwrap_or(u32::MAX))
}
