//! A validated request as a model sees it: the conversation, the tools, and the options.

use serde_json::{Map, Value, json};

use crate::tokens;

/// One request to a model. `items` is the whole conversation, including earlier turns.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The model's id without the faults.
    pub model: &'static str,
    /// Identifies the model at this server, see [`seal`](crate::seal).
    pub key: String,
    pub body: Map<String, Value>,
    pub items: Vec<Value>,
    /// How many tokens of the prompt were in the cache.
    pub cached: usize,
    /// How many tokens the server counts for a hundred of the usual ones, see [`tokens`].
    pub token_percent: usize,
}

/// A function that the model may call.
#[derive(Clone, Debug)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// A JSON Schema. It is an object without properties if the request had none.
    pub parameters: Value,
}

/// Whether the model may or must call tools.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Calling {
    Never,
    IfUseful,
    Always,
}

/// The result of a tool call since the last user message.
#[derive(Clone, Debug)]
pub struct ToolResult {
    pub tool: String,
    pub arguments: Value,
    pub text: String,
}

impl Ask {
    pub fn flag(&self, key: &str, default: bool) -> bool {
        self.body.get(key).and_then(Value::as_bool).unwrap_or(default)
    }

    pub fn limit(&self, key: &str) -> Option<usize> {
        self.body.get(key).and_then(Value::as_u64).map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
    }

    /// Returns the requested reasoning effort, or `None` if there should be no reasoning.
    pub fn effort(&self) -> Option<&str> {
        let reasoning = self.body.get("reasoning").filter(|reasoning| reasoning.is_object())?;
        match reasoning["effort"].as_str() {
            Some("none") => None,
            Some(effort) => Some(effort),
            None => Some("medium"),
        }
    }

    /// Returns whether the client lets the model decide whether to think.
    pub fn may_think(&self) -> bool {
        self.body.get("reasoning").is_none_or(|reasoning| reasoning["effort"] != "none")
    }

    pub fn wants_summary(&self) -> bool {
        self.body.get("reasoning").is_some_and(|reasoning| reasoning["summary"].is_string())
    }

    pub fn wants_sealed_reasoning(&self) -> bool {
        let include = self.body.get("include").and_then(Value::as_array);
        include.is_some_and(|include| include.iter().any(|entry| entry == "reasoning.encrypted_content"))
    }

    /// Returns `instructions` and the text of system and developer messages.
    pub fn instructions(&self) -> String {
        let own = self.body.get("instructions").and_then(Value::as_str).map(str::to_owned);
        let others = self.items.iter().filter(|item| item["role"] == "system" || item["role"] == "developer");
        own.into_iter().chain(others.map(|item| text_of(&item["content"]))).collect::<Vec<_>>().join("\n")
    }

    /// Returns the user's messages.
    pub fn user_texts(&self) -> Vec<String> {
        let messages = self.items.iter().filter(|item| item["role"] == "user");
        messages.map(|item| request_in(&text_of(&item["content"])).to_owned()).collect()
    }

    /// Returns the user's last message.
    pub fn prompt(&self) -> String {
        self.user_texts().pop().unwrap_or_default()
    }

    /// Returns the tool results since the user's last message, in order.
    pub fn results(&self) -> Vec<ToolResult> {
        let since = self.items.iter().rposition(|item| item["role"] == "user").map_or(0, |at| at + 1);
        let result = |item: &Value| {
            let call =
                self.items.iter().rfind(|call| call["type"] == "function_call" && call["call_id"] == item["call_id"]);
            let field = |key: &str| call.and_then(|call| call[key].as_str()).unwrap_or_default();
            ToolResult {
                tool: field("name").to_owned(),
                arguments: serde_json::from_str(field("arguments")).unwrap_or_else(|_| json!({})),
                text: text_of(&item["output"]),
            }
        };
        self.items[since..].iter().filter(|item| item["type"] == "function_call_output").map(result).collect()
    }

    /// Returns the tools that may be called now, and whether one must be called.
    pub fn tools(&self) -> (Vec<Tool>, Calling) {
        let offered = self.body.get("tools").and_then(Value::as_array).into_iter().flatten();
        let all = offered.map(|tool| Tool {
            name: tool["name"].as_str().unwrap_or_default().to_owned(),
            description: tool["description"].as_str().unwrap_or_default().to_owned(),
            parameters: if tool["parameters"].is_object() {
                tool["parameters"].clone()
            } else {
                json!({ "type": "object", "properties": {} })
            },
        });
        let choice = self.body.get("tool_choice").unwrap_or(&Value::Null);
        let by_mode = |mode: &Value| match mode.as_str() {
            Some("none") => Calling::Never,
            Some("required") => Calling::Always,
            _ => Calling::IfUseful,
        };
        match choice["type"].as_str() {
            Some("function") => (all.filter(|tool| choice["name"] == tool.name.as_str()).collect(), Calling::Always),
            Some("allowed_tools") => {
                let allowed = choice["tools"].as_array().cloned().unwrap_or_default();
                let tools = all.filter(|tool| allowed.iter().any(|one| one["name"] == tool.name.as_str()));
                (tools.collect(), by_mode(&choice["mode"]))
            }
            _ => (all.collect(), by_mode(choice)),
        }
    }

    /// Returns the maximum number of calls in one answer.
    pub fn most_calls(&self) -> usize {
        let parallel = if self.flag("parallel_tool_calls", true) { usize::MAX } else { 1 };
        parallel.min(self.limit("max_tool_calls").unwrap_or(usize::MAX))
    }

    pub fn input_tokens(&self) -> usize {
        let mut tokens = 0;
        self.visit(&mut |_| tokens += 1);
        self.counted(tokens)
    }

    /// Converts usual tokens to the tokens that this server counts.
    pub fn counted(&self, tokens: usize) -> usize {
        tokens.saturating_mul(self.token_percent).div_ceil(100)
    }

    /// Returns the maximum number of usual tokens in the answer.
    pub fn output_budget(&self) -> usize {
        let limit = self.limit("max_output_tokens");
        limit.map_or(usize::MAX, |limit| limit.saturating_mul(100) / self.token_percent)
    }

    /// Passes every token of the prompt to a function, in the order in which the model sees them.
    pub fn visit(&self, token: &mut dyn FnMut(&[u8])) {
        let tools = self.body.get("tools").and_then(Value::as_array).into_iter().flatten();
        tools.for_each(|tool| tokens::visit_tool(tool, token));
        let instructions = self.body.get("instructions").and_then(Value::as_str);
        tokens::visit(instructions.unwrap_or_default(), token);
        self.items.iter().for_each(|item| tokens::visit_item(item, token));
    }

    /// Returns the images and files in the user's last message.
    pub fn attachments(&self) -> Vec<&Value> {
        let last = self.items.iter().rfind(|item| item["role"] == "user");
        let parts = last.and_then(|item| item["content"].as_array()).into_iter().flatten();
        parts.filter(|part| part["type"] == "input_image" || part["type"] == "input_file").collect()
    }
}

/// Returns the text of a message's content or of a tool's output.
pub fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str().or(part["refusal"].as_str()));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Returns the part that the user typed. Editors add context of their own and mark the user's part with a tag.
fn request_in(text: &str) -> &str {
    for (open, close) in [("<userRequest>", "</userRequest>"), ("<user_query>", "</user_query>")] {
        if let Some((_, rest)) = text.split_once(open) {
            return rest.split(close).next().unwrap_or(rest).trim();
        }
    }
    text
}
