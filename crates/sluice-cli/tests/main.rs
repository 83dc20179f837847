//! The tests of the command line. They are one program, because linking each of them takes longer than most of them run.

mod support;

mod canary;
mod chat;
mod connection;
mod conversations;
mod costs;
mod count;
mod decode;
mod hostile_text;
mod json_formats;
mod mcp;
mod models;
mod profiles;
mod proxy;
mod servers;
mod terminal;
mod tools;
mod upgrade;
mod usage;
mod write_errors;
