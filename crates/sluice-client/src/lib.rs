//! An async client for every model behind an Open Responses endpoint, such as the Vercel AI Gateway.
//!
//! [`Client::respond`] sends a chat and reports the answer while it arrives: text, thinking, tool calls, images and
//! citations, each exactly once. It retries what may be retried, and never after the first part. At the end it returns a
//! [`Report`](core::Report): how the answer ended, what to tell the user, and the tokens that the server counted.
//!
//! All decisions are made in [`core`], which performs no I/O; this crate adds sockets, time, and a directory for what is
//! remembered between runs ([`Store`]).
//!
//! # Example
//!
//! The embedded gateway stands in for a server here. With a real one, parse its base URL instead, and pass an [`ApiKey`].
//!
//! ```
//! use std::future::pending;
//!
//! use sluice_client::core::{ChatMessage, ChatRequest, Ending, Endpoint, Output, Part};
//! use sluice_client::{Client, Event, Timeouts};
//! # use sluice_simulator::server::{Config, Simulator};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let gateway = Simulator::start(Config::default())?;
//! let endpoint = Endpoint::parse(&gateway.url())?;
//! let client = Client::new(endpoint, None, Timeouts::default())?;
//!
//! let chat = ChatRequest {
//!     model: "sluice/echo".to_owned(),
//!     messages: vec![ChatMessage::user("Hello there")],
//!     ..ChatRequest::default()
//! };
//! let mut answer = String::new();
//! let report = client
//!     .respond(&chat, pending(), &mut |event| {
//!         if let Event::Output(Output::Part(Part::Text { value })) = event {
//!             answer.push_str(&value);
//!         }
//!     })
//!     .await;
//!
//! assert_eq!(report.ending, Ending::Done);
//! assert_eq!(answer, "Hello there");
//! # Ok(())
//! # }
//! ```
//!
//! `examples/ask.rs` prints an answer as it arrives, and `examples/models.rs` lists the models of an endpoint.
//!
//! # Errors
//!
//! A request that fails is a normal result: the report's outcome has a [`Failure`](core::Failure) whose `kind` says what
//! to do next, and whose `Display` output is a sentence for the user. The other errors are about keys ([`KeyError`]),
//! addresses ([`BadAddress`](core::BadAddress)), the directory ([`StoreError`]) and the system ([`SetupError`]).

#![warn(missing_docs, unreachable_pub)]
// These macros panic if the output can't be written.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod cause;
mod client;
mod error;
mod key;
pub mod private_file;
mod probe;
mod store;

pub use client::{Client, Event, Timeouts};
pub use error::{KeyError, SetupError, StoreError};
pub use key::ApiKey;
pub use store::Store;

pub use sluice_core as core;
