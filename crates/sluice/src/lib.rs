//! An async client for any Open Responses endpoint. The core decides what to send and what the answer means; here is only
//! what the core may not touch: sockets, time and chance.

mod client;
mod key;

pub use client::{Answer, Client, Event, Timeouts};
pub use key::ApiKey;
