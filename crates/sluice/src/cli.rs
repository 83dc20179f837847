//! One file for each subcommand, and the two ways of printing what the core gives.

pub mod decode;
mod human;
mod json;

/// Something that prints a stream's outputs as they come.
pub trait Printer {
    fn output(&mut self, output: &sluice_core::Output) -> std::io::Result<()>;
    fn outcome(&mut self, outcome: &sluice_core::Outcome, elapsed: std::time::Duration) -> std::io::Result<()>;
}
