//! The request body. Servers are strict, so this is too. Fields have a fixed order and absent ones are left out, so that
//! the same conversation always gives the same bytes and matches the prompt cache.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::boundary::Routing;

#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct CreateResponse {
    pub model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    pub input: Vec<InputItem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<FunctionTool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    pub stream: bool,
    pub store: bool,
    pub include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_cache_key: Option<String>,
    /// A field of the gateway, not of the protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caching: Option<&'static str>,
    /// How many items at the beginning will be the same in the next request, so that the gateway can mark their end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_anchor_items: Option<usize>,
    /// How long providers should keep what is cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_ttl: Option<&'static str>,
    #[serde(rename = "providerOptions", skip_serializing_if = "ProviderOptions::is_empty")]
    pub provider_options: ProviderOptions,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum InputItem {
    Message {
        role: &'static str,
        content: Vec<Content>,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
    },
    FunctionCall {
        call_id: String,
        name: String,
        arguments: String,
    },
    FunctionCallOutput {
        call_id: String,
        output: Output,
    },
    Reasoning {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Required, even if it is empty.
        summary: Vec<Content>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        content: Vec<Content>,
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Content {
    InputText {
        text: String,
    },
    OutputText {
        text: String,
    },
    InputImage {
        image_url: String,
        /// Optional in the protocol, but vLLM insists on it in the outputs of tools.
        detail: &'static str,
    },
    InputFile {
        filename: String,
        file_data: String,
    },
    SummaryText {
        text: String,
    },
    ReasoningText {
        text: String,
    },
}

/// The output of a tool. Plain text is sent as a string, because some providers behind the gateway accept nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Output {
    Text(String),
    Parts(Vec<Content>),
}

#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct FunctionTool {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub parameters: Value,
    pub strict: bool,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum ToolChoice {
    Mode(&'static str),
    Function {
        #[serde(rename = "type")]
        kind: &'static str,
        name: String,
    },
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct ProviderOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<Routing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anthropic: Option<Value>,
}

impl ProviderOptions {
    pub(crate) fn is_empty(&self) -> bool {
        self.gateway.is_none() && self.anthropic.is_none()
    }
}
