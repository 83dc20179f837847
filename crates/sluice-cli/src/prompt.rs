//! The first question: the words of the command line, standard input and files.

use std::io::{IsTerminal, stdin};
use std::path::{Path, PathBuf};

use clap::Args;
use sluice_core::ChatPart;

use crate::attach;
use crate::output::tell;
use crate::talk::edit;

#[derive(Debug, Default, Args)]
pub struct PromptArguments {
    /// What to ask. Quotes are optional; standard input is added if it isn't a terminal
    #[arg(value_name = "PROMPT")]
    words: Vec<String>,
    /// A file, a directory or a web address to send with the question: text, an image or a PDF
    #[arg(short, long = "file", value_name = "FILE")]
    files: Vec<String>,
    /// Write the prompt in the editor that VISUAL or EDITOR names
    #[arg(short, long)]
    edit: bool,
    /// An image to send with the question
    #[arg(long = "image", value_name = "FILE")]
    images: Vec<PathBuf>,
}

/// What to ask first.
#[derive(Debug, PartialEq)]
pub enum FirstQuestion {
    /// Ask this and end.
    Ask(Vec<ChatPart>),
    /// Ask the user what to ask. The files go with the first question.
    Talk(Vec<ChatPart>),
}

impl PromptArguments {
    /// Whether the user will be asked what to ask.
    pub fn is_conversation(&self) -> bool {
        self.words.is_empty() && !self.edit && stdin().is_terminal()
    }

    /// Reads everything that the first question consists of.
    pub async fn read(&self, template: Option<&str>, is_quiet: bool) -> Result<FirstQuestion, String> {
        let is_terminal = stdin().is_terminal();
        let is_wanted = self.words.iter().any(|word| word == "-");
        let piped = if !is_terminal || is_wanted {
            Some(attach::read_limited(&mut stdin().lock(), "standard input")?)
        } else {
            None
        };
        if piped.as_ref().is_some_and(Vec::is_empty) && !is_quiet && is_pipe() {
            tell!("sluice: standard input is an empty pipe.");
        }
        let mut parts = Vec::new();
        for file in &self.files {
            if file.starts_with("https://") || file.starts_with("http://") {
                parts.push(attach::page(file).await?);
            } else {
                parts.append(&mut attach::files(Path::new(file))?);
            }
        }
        for path in &self.images {
            parts.push(attach::image(path)?);
        }
        if self.edit {
            let text = edit(&self.words.join(" "))?;
            return combine(parts, &[text], piped, template, false);
        }
        combine(parts, &self.words, piped, template, is_terminal && !is_wanted)
    }
}

/// `parts` are the attachments. `piped` is what standard input had, if it was read.
fn combine(
    mut parts: Vec<ChatPart>,
    words: &[String],
    piped: Option<Vec<u8>>,
    template: Option<&str>,
    can_talk: bool,
) -> Result<FirstQuestion, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "-").collect();
    let mut text = words.join(" ");
    let was_given = !words.is_empty();
    match piped.filter(|bytes| !bytes.is_empty()).map(|bytes| attach::part(bytes, "standard input")) {
        Some(Ok(ChatPart::Text { value })) if text.trim().is_empty() => text = value,
        Some(Ok(ChatPart::Text { value })) => text = format!("{text}\n\n{value}"),
        Some(Ok(attached)) => parts.push(attached),
        Some(Err(message)) => return Err(message),
        None => {}
    }
    if let Some(template) = template {
        text = if template.contains("$input") {
            template.replace("$input", &text)
        } else {
            format!("{template}\n\n{text}")
        };
    }
    if text.trim().is_empty() {
        if was_given && parts.is_empty() {
            return Err("the prompt is empty".to_owned());
        }
        if can_talk && !was_given {
            return Ok(FirstQuestion::Talk(parts));
        }
        if parts.is_empty() {
            return Err("there is no prompt: none was given, and standard input is empty".to_owned());
        }
        return Ok(FirstQuestion::Ask(parts));
    }
    parts.push(ChatPart::Text { value: text });
    Ok(FirstQuestion::Ask(parts))
}

/// Returns whether standard input is a pipe. Only then does the user want to send what it contains; `/dev/null`, for example,
/// is no reason to read it.
pub fn is_pipe() -> bool {
    #[cfg(unix)]
    {
        rustix::fs::fstat(stdin())
            .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Fifo)
    }
    #[cfg(not(unix))]
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `piped` is `None` if standard input is a terminal.
    fn check(words: &[&str], piped: Option<&str>, expected: &str) {
        let all: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let bytes = piped.map(|text| text.as_bytes().to_vec());
        let question = combine(Vec::new(), &all, bytes, None, piped.is_none());
        let shown = match question {
            Ok(FirstQuestion::Ask(parts)) => match parts.as_slice() {
                [ChatPart::Text { value }] => value.clone(),
                other => format!("{other:?}"),
            },
            Ok(FirstQuestion::Talk(_)) => "(talk)".to_owned(),
            Err(message) => format!("refused: {message}"),
        };
        assert_eq!(shown, expected, "{words:?} {piped:?}");
    }

    #[test]
    fn words_and_standard_input_become_one_question() {
        check(&["what", "is", "this?"], None, "what is this?");
        check(&["explain"], Some("PIPED\n"), "explain\n\nPIPED\n");
        check(&[], Some("Hello\n"), "Hello\n");
        check(&["-"], Some("Hello\n"), "Hello\n");
        check(&["explain", "-"], Some("PIPED"), "explain\n\nPIPED");
        check(&["explain"], Some(""), "explain");
        check(&[], None, "(talk)");
    }

    #[test]
    fn an_empty_question_is_refused() {
        check(&[""], None, "refused: the prompt is empty");
        check(&[" ", "\t"], Some(""), "refused: the prompt is empty");
        check(&["-"], Some(" \n"), "refused: there is no prompt: none was given, and standard input is empty");
        check(&[], Some(""), "refused: there is no prompt: none was given, and standard input is empty");
    }
}
