//! Commands within a conversation, such as `/model` and `/undo`.

use std::io::Write;
use std::path::{Path, PathBuf};

use sluice_client::private_file;
use sluice_core::{ChatPart, Role};

use crate::attach;
use crate::output::tell;
use crate::session::Session;

/// The commands: name, argument and purpose.
pub const NAMES: [(&str, &str, &str); 11] = [
    ("/model", "[ID]", "show the model, or use another one"),
    ("/system", "[TEXT]", "show the instructions, or set them"),
    ("/file", "FILE", "send a file with the next question: text, an image or a PDF"),
    ("/image", "FILE", "send an image with the next question"),
    ("/edit", "", "write the question in your editor"),
    ("/undo", "", "forget the last question and its answer"),
    ("/clear", "", "forget the whole conversation"),
    ("/save", "FILE", "write the conversation to a file"),
    ("/cost", "", "show what the conversation has used"),
    ("/help", "", "show this list"),
    ("/quit", "", "leave"),
];

/// What follows a command.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// The user is asked again.
    Prompt,
    /// The next question gets this as well.
    Attach(Vec<ChatPart>),
    /// The user writes the question in an editor.
    Edit,
    Quit,
}

/// Returns the command and its argument, if a text is one. Paths such as `/usr/bin` aren't.
pub fn parse(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_end();
    let (name, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let word = name.strip_prefix('/')?;
    let is_command = !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase()) && !text.contains('\n');
    is_command.then(|| (name, argument.trim()))
}

/// Runs a command.
pub fn run(name: &str, argument: &str, session: &mut Session) -> Next {
    match (name, argument) {
        ("/model", "") => tell!("{}", session.model()),
        ("/model", model) => {
            session.set_model(model);
            tell!("Talking with {model}.");
            if let Some(similar) = session.unlisted() {
                let advice = if similar.is_empty() { String::new() } else { format!("; did you mean {similar}?") };
                tell!("sluice: {model} is not in the list of models{advice}");
            }
        }
        ("/system", "") => match session.system() {
            Some(text) => tell!("{text}"),
            None => tell!("There are no instructions."),
        },
        ("/system", text) => session.set_system(text),
        ("/file" | "/image", "") => tell!("sluice: name a file: {name} FILE"),
        ("/file" | "/image", path) => {
            let path = expand(path);
            let read =
                if name == "/file" { attach::files(&path) } else { attach::image(&path).map(|image| vec![image]) };
            match read {
                Ok(parts) => {
                    tell!("{} goes with the next question.", path.display());
                    return Next::Attach(parts);
                }
                Err(message) => tell!("sluice: {message}"),
            }
        }
        ("/edit", _) => return Next::Edit,
        ("/undo", _) => match session.undo() {
            Some(question) => tell!("Forgotten: {}", question.chars().take(60).collect::<String>()),
            None => tell!("There is nothing to undo."),
        },
        ("/clear", _) => {
            session.clear();
            tell!("The conversation starts again.");
        }
        ("/save", "") => tell!("sluice: name a file: /save FILE"),
        ("/save", path) => match save(&expand(path), session) {
            Ok(()) => tell!("Saved."),
            Err(message) => tell!("sluice: {message}"),
        },
        ("/cost", _) => match session.spent().words() {
            words if words.is_empty() => tell!("Nothing yet."),
            words => tell!("{}", words.trim_start_matches(" · ")),
        },
        ("/help", _) => {
            for (name, argument, purpose) in NAMES {
                tell!("{:<16}{purpose}", format!("{name} {argument}"));
            }
            tell!("Alt-Enter or a backslash at the end of a line starts another line. Ctrl-C stops an answer.");
        }
        ("/quit" | "/exit" | "/bye", _) => return Next::Quit,
        (other, _) => tell!("sluice: there is no command {other}; /help lists them. Start with a space to ask this."),
    }
    Next::Prompt
}

/// Replaces `~` at the start of a path.
fn expand(path: &str) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => std::env::home_dir().unwrap_or_default().join(rest),
        None => PathBuf::from(path),
    }
}

/// Writes the conversation as Markdown. An existing file is not overwritten.
fn save(path: &Path, session: &Session) -> Result<(), String> {
    if path.exists() {
        return Err(format!("{} exists already; name another file", path.display()));
    }
    let problem = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let mut file = private_file::create_named(path).map_err(problem)?;
    file.write_all(transcript(session.messages()).as_bytes()).map_err(problem)
}

/// Returns a conversation as Markdown.
pub fn transcript(messages: &[sluice_core::ChatMessage]) -> String {
    let mut text = String::new();
    for message in messages {
        let title = match message.role {
            Role::System => "Instructions",
            Role::User => "Question",
            Role::Assistant => "Answer",
        };
        let mut body = String::new();
        let mut is_result = false;
        for part in &message.content {
            match part {
                ChatPart::Text { value } => body.push_str(value),
                ChatPart::Data { mime_type, .. } => body.push_str(&format!("[{mime_type}]\n\n")),
                ChatPart::ToolCall { name, input_json, .. } => body.push_str(&format!("\n`{name} {input_json}`\n")),
                ChatPart::ToolResult { content, .. } => {
                    is_result = true;
                    for part in content {
                        if let ChatPart::Text { value } = part {
                            body.push_str(&format!("~~~\n{}\n~~~\n", value.trim_end()));
                        }
                    }
                }
                ChatPart::Thinking { .. } => {}
            }
        }
        if !body.trim().is_empty() {
            let title = if is_result { "Result" } else { title };
            text.push_str(&format!("## {title}\n\n{}\n\n", body.trim()));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_single_words_are_commands() {
        assert_eq!(parse("/model openai/gpt-5 "), Some(("/model", "openai/gpt-5")));

        assert_eq!(parse("/nonsense"), Some(("/nonsense", "")));
        for text in
            ["What is /model?", "/usr/bin/env is missing", "/", "// a comment", " /quit", "/file a\nb", "/Model"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
