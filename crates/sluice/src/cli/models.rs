//! `sluice models`: what the endpoint offers.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use serde_json::Value;

use super::complain;
use super::connection::Connection;

/// List the models of the endpoint.
#[derive(Debug, Args)]
pub struct Models {
    /// The server's own list, as JSON
    #[arg(long)]
    json: bool,
}

impl Models {
    pub async fn run(self) -> ExitCode {
        let connection = match Connection::open() {
            Ok(connection) => connection,
            Err(message) => return complain(&message),
        };
        let list = match connection.client.models().await {
            Ok(list) => list,
            Err(failure) => {
                eprintln!("sluice: {}", failure.sentence());
                return ExitCode::FAILURE;
            }
        };
        let mut out = anstream::stdout();
        if self.json {
            let _ = writeln!(out, "{list}");
            return ExitCode::SUCCESS;
        }
        let models = list["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        let chats = |model: &&Value| model["type"].as_str().is_none_or(|kind| kind == "language");
        let id = |model: &Value| model["id"].as_str().unwrap_or_default().to_owned();
        let width = models.iter().map(|model| id(model).chars().count()).max().unwrap_or(0);
        for model in models.iter().filter(chats) {
            let name = model["name"].as_str().unwrap_or_default();
            // Whoever closed the pipe has seen enough.
            if writeln!(out, "{:<width$}  {name}", id(model)).is_err() {
                break;
            }
        }
        ExitCode::SUCCESS
    }
}
