//! The request path: turns a chat into one HTTP request.

mod conversation;
mod endpoint;
mod extras;
mod http_request;
mod images;
mod kinds;
mod leave_out;
mod messages;
mod pairs;
mod parameter;
mod permission;
mod prompt;
mod stable;
mod tools;

pub use endpoint::{BadAddress, Consent, Endpoint, VERCEL};
pub use extras::header_problem;
pub(crate) use extras::{extra_fields, extra_headers, is_reserved_field};
pub use http_request::{BuiltRequest, build_request};
pub(crate) use http_request::{reasoning_options, too_many_tools};
pub use kinds::{Purpose, purpose};
pub use parameter::{Effort, Parameter};
pub use permission::{KeyUse, Permission};
pub use prompt::Prompt;
pub use stable::ToolOrder;
pub use tools::ToolNames;
