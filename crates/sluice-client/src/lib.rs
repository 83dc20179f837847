//! An async client for any Open Responses endpoint. The core decides what to send and what the answer means; here is only
//! what the core may not touch: sockets, files, time and chance.

// These macros panic when the output cannot be written.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod client;
mod key;
pub mod private_file;
mod store;

pub use client::{Client, Event, Timeouts};
pub use key::{ApiKey, BadKey};
pub use store::Store;
