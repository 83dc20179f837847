//! The embedded gateway: first as a function (what it says, what it turns down, what faults change), then on real sockets.

mod arguments;
mod ask;
mod conformance;
mod demo;
mod dialects;
mod endpoints;
mod faults;
mod invalid_requests;
mod scenarios;
mod schema;
mod sockets;
mod web_sockets;
