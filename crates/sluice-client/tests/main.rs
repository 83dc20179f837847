//! The tests of the client. They are one program, because linking each of them takes longer than most of them run.

mod support;

mod canary;
mod client;
mod faults;
mod forecast;
mod hostile_home;
mod persist;
mod probe;
mod reasoning;
mod servers;
