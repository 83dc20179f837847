//! The names and formats of Open Responses, version 2026-04-24, with the variants of other servers as aliases. No other
//! module knows them, except `tokens/request.rs`, which counts the request bodies of any client.
//!
//! Servers differ from the schema in every possible way (fewer than two in three recorded streams validate). So every
//! field is optional, and a field of the wrong type counts as absent instead of invalidating its event.

mod event;
mod item;
mod json;
mod long_runs;
mod models;
mod request;
mod response;

pub use event::is_open_responses_event;
pub(crate) use event::{Address, Channel, StreamEvent};
pub(crate) use item::{Annotation, Base64, ContentPart, Item, ItemKind};
pub(crate) use json::{FieldName, Fields, MAX_ID_BYTES, Unreadable, string};
pub(crate) use long_runs::{LongRuns, is_base64};
pub(crate) use models::{
    MOST_WORDS, Model, Models, Pricing, ProviderEndpoint, ReasoningOption, Tier, is_model_list, read_endpoints,
    read_models, write_endpoints, write_models,
};
pub(crate) use request::{
    Content, CreateResponse, FunctionTool, InputItem, Output as ItemOutput, ProviderOptions,
    Reasoning as ReasoningOptions, ToolChoice,
};
pub(crate) use response::{ErrorField, Response, as_stream};
