//! A conversation in the terminal.

use std::io;
use std::process::{Command, ExitCode};

use sluice_client::private_file;
use sluice_core::{ChatPart, Status};

use crate::commands::{self, Next};
use crate::complain;
use crate::editor::Typed;
use crate::ledger;
use crate::output::tell;
use crate::program;
use crate::session::Session;

/// Asks the user for questions until there are no more. `attached` goes with the first one.
pub async fn talk(mut session: Session, mut attached: Vec<ChatPart>) -> io::Result<ExitCode> {
    tell!("Talking with {}. /help lists the commands; Ctrl-D leaves.", session.model());
    // Whether Ctrl-C was the last thing that the user did. The second one leaves.
    let mut was_interrupted = false;
    loop {
        tell!("");
        let Some(typed) = session.question().await else {
            return Ok(complain("a conversation needs a terminal; give a prompt instead"));
        };
        let typed = match typed {
            Typed::Text(text) => text,
            Typed::Interrupted if was_interrupted => break,
            Typed::Interrupted => {
                was_interrupted = true;
                tell!("Ctrl-C again or Ctrl-D leaves.");
                continue;
            }
            Typed::End => break,
        };
        was_interrupted = false;
        let question = if let Some((name, argument)) = commands::parse(&typed) {
            match commands::run(name, argument, &mut session) {
                Next::Prompt => continue,
                Next::Attach(mut parts) => {
                    attached.append(&mut parts);
                    continue;
                }
                Next::Quit => break,
                Next::Edit => match edit("") {
                    Ok(text) => text,
                    Err(message) => {
                        tell!("sluice: {message}");
                        continue;
                    }
                },
            }
        } else {
            typed
        };
        if question.trim().is_empty() {
            continue;
        }
        let mut content = attached.clone();
        content.push(ChatPart::Text { value: question });
        let before = session.messages().len();
        let status = session.ask(content).await?;
        was_interrupted = status == Status::Cancelled;
        if session.messages().len() > before + 1 || status == Status::Completed {
            attached.clear();
        } else {
            // Nothing was answered. The user will ask again, and the files go with that question.
            session.undo();
        }
    }
    Ok(session.exit_code(ExitCode::SUCCESS))
}

/// Lets the user write a text in the editor that `VISUAL` or `EDITOR` names.
pub fn edit(start: &str) -> Result<String, String> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let fallback = if cfg!(windows) { "notepad" } else { "vi" };
    let program = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| fallback.to_owned());
    let directory = ledger::directory();
    let file = directory.join(format!("prompt-{}.md", std::process::id()));
    let write = || {
        private_file::create_directory(&directory)?;
        private_file::create_named(&file).and_then(|mut file| io::Write::write_all(&mut file, start.as_bytes()))
    };
    write().map_err(|error: io::Error| format!("cannot write {}: {error}", file.display()))?;
    // The variable may have arguments, such as `code --wait`.
    let Some(words) = program::words(&program) else {
        return Err(format!("{program:?} is not a command; check the quotation marks in EDITOR"));
    };
    let status = Command::new(program::file(&words[0])).args(&words[1..]).arg(&file).status();
    let text = std::fs::read_to_string(&file);
    let _ = std::fs::remove_file(&file);
    match status {
        Ok(status) if status.success() => text.map_err(|error| format!("cannot read the prompt: {error}")),
        Ok(status) => Err(format!("the editor {program} failed ({status})")),
        Err(error) => Err(format!("cannot run the editor {program}: {error}. Set EDITOR to another one")),
    }
}
