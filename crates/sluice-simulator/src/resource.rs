//! The response object. It always has all 31 keys of the schema, and the gateway's own metadata at the end.

use serde_json::{Value, json};

use crate::ask::Ask;
use crate::models::{Model, dollars};

/// The data that doesn't change between the first and the last event of a response.
#[derive(Debug)]
pub struct Resource<'a> {
    pub id: &'a str,
    pub ask: &'a Ask,
    pub model: &'a Model,
    pub now_ms: u64,
}

/// Token counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub input: usize,
    pub cached: usize,
    pub output: usize,
    pub reasoning: usize,
}

impl Usage {
    pub fn json(self) -> Value {
        json!({
            "input_tokens": self.input,
            "input_tokens_details": { "cached_tokens": self.cached },
            "output_tokens": self.output,
            "output_tokens_details": { "reasoning_tokens": self.reasoning },
            "total_tokens": self.input + self.output,
        })
    }
}

impl Resource<'_> {
    /// Returns the response object while the response is in progress.
    pub fn running(&self, status: &str) -> Value {
        let body = |key: &str| self.ask.body.get(key).cloned().unwrap_or(Value::Null);
        let or = |key: &str, default: Value| match body(key) {
            Value::Null => default,
            value => value,
        };
        json!({
            "id": self.id,
            "object": "response",
            "created_at": self.now_ms / 1000,
            "completed_at": null,
            "status": status,
            "incomplete_details": null,
            "model": self.model.id,
            "previous_response_id": body("previous_response_id"),
            "instructions": body("instructions"),
            "output": [],
            "error": null,
            "tools": self.tools(),
            "tool_choice": self.tool_choice(),
            "truncation": or("truncation", "disabled".into()),
            "parallel_tool_calls": or("parallel_tool_calls", true.into()),
            "text": self.text(),
            "top_p": or("top_p", 1.0.into()),
            "presence_penalty": or("presence_penalty", 0.0.into()),
            "frequency_penalty": or("frequency_penalty", 0.0.into()),
            "top_logprobs": or("top_logprobs", 0.into()),
            "temperature": or("temperature", 1.0.into()),
            "reasoning": self.reasoning(),
            "usage": null,
            "max_output_tokens": body("max_output_tokens"),
            "max_tool_calls": body("max_tool_calls"),
            "store": or("store", true.into()),
            "background": or("background", false.into()),
            "service_tier": or("service_tier", "default".into()),
            "metadata": or("metadata", json!({})),
            "safety_identifier": body("safety_identifier"),
            "prompt_cache_key": body("prompt_cache_key"),
        })
    }

    /// Returns the final response object. The response took `took_ms`.
    pub fn ended(&self, status: &str, output: &[Value], usage: Usage, took_ms: u64) -> Value {
        let mut response = self.running(status);
        response["output"] = output.into();
        response["usage"] = usage.json();
        if status == "completed" {
            response["completed_at"] = ((self.now_ms + took_ms) / 1000).into();
        }
        response["provider_metadata"] = self.metadata(usage, took_ms, status != "failed");
        response
    }

    fn metadata(&self, usage: Usage, took_ms: u64, success: bool) -> Value {
        let cost = dollars(self.model.cost(usage));
        let attempt = json!({
            "provider": "sluice",
            "internalModelId": format!("sluice:{}", self.model.id),
            "providerApiModelId": self.model.id,
            "credentialType": "system",
            "success": success,
            "startTime": self.now_ms,
            "endTime": self.now_ms + took_ms,
            "statusCode": if success { 200 } else { 500 },
        });
        json!({
            "gateway": {
                "routing": {
                    "originalModelId": self.model.id,
                    "resolvedProvider": "sluice",
                    "resolvedProviderApiModelId": self.model.id,
                    "fallbacksAvailable": [],
                    "planningReasoning": "The embedded gateway has one provider.",
                    "canonicalSlug": self.model.id,
                    "finalProvider": "sluice",
                    "attempts": [attempt],
                    "modelAttemptCount": 1,
                    "totalProviderAttemptCount": 1,
                },
                "cost": cost,
                "marketCost": cost,
                "generationId": self.id,
            },
            "sluice": { "simulated": true },
        })
    }

    fn tools(&self) -> Value {
        let tools = self.ask.body.get("tools").and_then(Value::as_array).into_iter().flatten();
        let echo = |tool: &Value| {
            json!({
                "type": "function",
                "name": tool["name"],
                "description": tool["description"],
                "parameters": tool["parameters"],
                "strict": tool["strict"],
            })
        };
        tools.map(echo).collect()
    }

    fn tool_choice(&self) -> Value {
        match self.ask.body.get("tool_choice") {
            None | Some(Value::Null) => "auto".into(),
            Some(choice) if choice["type"] == "allowed_tools" && choice["mode"].is_null() => {
                json!({ "type": "allowed_tools", "tools": choice["tools"], "mode": "auto" })
            }
            Some(choice) => choice.clone(),
        }
    }

    fn text(&self) -> Value {
        let asked = self.ask.body.get("text").unwrap_or(&Value::Null);
        let format = &asked["format"];
        let mut text = match format["type"].as_str() {
            // The schema requires the echo of a JSON schema to be null.
            Some("json_schema") => json!({ "format": {
                "type": "json_schema",
                "name": format["name"],
                "description": format["description"],
                "schema": null,
                "strict": format["strict"].as_bool().unwrap_or(false),
            } }),
            Some(kind) => json!({ "format": { "type": kind } }),
            None => json!({ "format": { "type": "text" } }),
        };
        if asked["verbosity"].is_string() {
            text["verbosity"] = asked["verbosity"].clone();
        }
        text
    }

    /// Maps the efforts that the gateway accepts to those in the schema.
    fn reasoning(&self) -> Value {
        let asked = self.ask.body.get("reasoning").unwrap_or(&Value::Null);
        if !asked.is_object() {
            return Value::Null;
        }
        let effort = match asked["effort"].as_str() {
            Some("minimal") => "low".into(),
            Some("max") => "xhigh".into(),
            _ => asked["effort"].clone(),
        };
        json!({ "effort": effort, "summary": asked["summary"] })
    }
}
