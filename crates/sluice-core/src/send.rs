//! The request path: turns a chat into one HTTP request.

mod conversation;
mod endpoint;
mod extras;
mod http_request;
mod images;
mod messages;
mod pairs;
mod parameter;
mod prompt;
mod tools;

pub use conversation::request_kind;
pub use endpoint::{BadAddress, Endpoint, VERCEL};
pub(crate) use extras::{extra_fields, extra_headers};
pub use http_request::{BuiltRequest, build_request};
pub use parameter::Parameter;
pub use prompt::Prompt;
pub use tools::ToolNames;
