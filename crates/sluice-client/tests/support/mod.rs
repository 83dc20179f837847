//! Shared by the tests of the client.

#![allow(dead_code, reason = "the programs of `cargo xtask` use the rest")]

pub mod canary;
pub mod cases;
pub mod clock;
pub mod conversation;
pub mod exchange;
pub mod forecast;
pub mod matrix;
pub mod persist;
