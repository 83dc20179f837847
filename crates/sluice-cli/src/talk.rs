//! A conversation in the terminal.

use std::io::{self, Write, stdout};
use std::process::ExitCode;

use sluice_core::ChatPart;

use crate::output::{self, tell};
use crate::session::Session;

/// Asks the user for questions until there are no more. `attached` goes with the first one.
pub async fn talk(mut session: Session, mut attached: Vec<ChatPart>) -> io::Result<ExitCode> {
    tell!("Talking with {}. An empty line or Ctrl-D ends.", session.model());
    loop {
        stdout().flush()?;
        tell!("");
        output::prompt(">");
        match session.line().await {
            Some(line) if !line.trim().is_empty() => {
                let mut content = std::mem::take(&mut attached);
                content.push(ChatPart::Text { value: line });
                session.ask(content).await?;
            }
            _ => break,
        }
    }
    Ok(session.exit_code(ExitCode::SUCCESS))
}
