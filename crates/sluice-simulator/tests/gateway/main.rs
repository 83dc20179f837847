//! Tests of the embedded gateway: first as a function (its answers, refused requests, faults), then on real sockets.

mod arguments;
mod ask;
mod conformance;
mod demo;
mod dialects;
mod endpoints;
mod faults;
mod imitate;
mod invalid_requests;
mod providers;
mod scenarios;
mod schema;
mod sockets;
mod streams;
mod web_sockets;
