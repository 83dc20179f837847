//! Error responses in the gateway's formats.

use serde_json::{Value, json};

use crate::http::Reply;

/// A request that is refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub status: u16,
    /// The gateway's error type.
    pub kind: &'static str,
    pub code: Option<&'static str>,
    pub message: String,
    /// The path of the invalid field, or what the error is about.
    pub param: Value,
}

impl Problem {
    /// Returns a problem for a request that violates the schema or another rule at `param`.
    pub fn invalid(param: &str, message: impl Into<String>) -> Self {
        let param = if param.is_empty() { Value::Null } else { param.into() };
        Self { status: 400, kind: "invalid_request_error", code: None, message: message.into(), param }
    }

    pub fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    pub fn unauthorized(message: impl Into<String>) -> Self {
        let code = Some("invalid_api_key");
        Self { status: 401, kind: "authentication_error", code, message: message.into(), param: Value::Null }
    }

    pub fn model_not_found(model: &str) -> Self {
        Self {
            status: 404,
            kind: "model_not_found",
            code: Some("model_not_found"),
            message: format!("Model '{model}' not found"),
            param: json!({ "modelId": model }),
        }
    }

    pub fn previous_response_not_found(id: &str) -> Self {
        Self::invalid("previous_response_id", format!("Previous response with id '{id}' not found."))
            .code("previous_response_not_found")
    }

    /// Returns the gateway's error for a status that doesn't depend on the request. It is used by faults.
    pub fn of_status(status: u16) -> Self {
        let (kind, message) = match status {
            400 => ("invalid_request_error", "The request is not valid"),
            401 => ("authentication_error", "Authentication failed"),
            402 => ("insufficient_funds", "The balance is used up; add credit to continue"),
            403 => ("forbidden", "This is not allowed"),
            404 => ("not_found", "Not found"),
            408 => ("timeout_error", "The request took too long"),
            409 => ("conflict", "The request conflicts with another one"),
            413 => ("request_too_large", "The request is too large"),
            422 => ("invalid_request_error", "The request cannot be processed"),
            424 => ("failed_dependency", "A service this one depends on has failed"),
            429 => ("rate_limit_exceeded", "Too many requests; slow down"),
            500.. => ("internal_server_error", "The service has failed"),
            _ => ("invalid_request_error", "The request was refused"),
        };
        Self { status, kind, code: None, message: message.into(), param: Value::Null }
    }

    pub fn body(&self) -> Value {
        let Self { kind, code, message, param, .. } = self;
        json!({ "error": { "message": message, "type": kind, "param": param, "code": code } })
    }

    pub fn reply(&self) -> Reply {
        Reply::json(self.status, &self.body())
    }

    /// Returns the message for a WebSocket, which has no status line.
    pub fn socket_message(&self) -> Value {
        let Self { status, kind, code, message, param } = self;
        let param = param.as_str();
        let error = json!({ "type": kind, "code": code.unwrap_or(kind), "message": message, "param": param });
        json!({ "type": "error", "status": status, "error": error })
    }
}

/// Returns the web server's own page for a path that doesn't exist.
pub fn not_found_page() -> Reply {
    let page = "<!DOCTYPE html><html><head><title>404: This page could not be found</title></head>\
        <body><h1>404</h1><h2>This page could not be found.</h2></body></html>";
    Reply::whole(404, "text/html; charset=utf-8", page.into())
}

pub fn wrong_method(allowed: &str) -> Reply {
    let mut reply = Reply::whole(405, "text/plain", Vec::new());
    reply.headers = vec![("allow".into(), allowed.into()), ("content-length".into(), "0".into())];
    reply
}
