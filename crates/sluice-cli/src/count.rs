//! `sluice count`: counts the tokens of a text or a whole request.

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};
use sluice_core::{Counter, TokenBreakdown, grouped};

use crate::complain;
use crate::output::tell;
use crate::text::{self, one_line};

/// Count the tokens of a text or of a whole request.
///
/// Models of GPT and Gemini are counted with their own vocabulary; others are estimated. The result says how far off
/// nine of ten such counts are at most, and why. Exits with 2 if the file cannot be read or is not a request.
#[derive(Debug, Args)]
pub struct Count {
    /// The file to count; `-`, or no file in a pipe, reads standard input
    file: Option<PathBuf>,
    /// Count like this model [default: the request's own, or openai/gpt-5]
    #[arg(short, long)]
    model: Option<String>,
    /// The file is the JSON body of an Open Responses request
    #[arg(long)]
    request: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const DEFAULT_MODEL: &str = "openai/gpt-5";

/// Gemini's vocabulary. It is read only if one of its models is counted.
static GEMMA: &[u8] = include_bytes!("../../sluice-core/data/gemma.vocabulary");

impl Count {
    pub fn run(self) -> io::Result<ExitCode> {
        let from_pipe = self.file.as_deref().is_none_or(|file| file == Path::new("-"));
        if self.file.is_none() && io::stdin().is_terminal() {
            return Ok(complain("nothing to count. Give the path of a file, or pipe text into `sluice count`."));
        }
        let source = self.file.as_deref().filter(|_| !from_pipe);
        let shown = source.map_or_else(|| "standard input".to_owned(), |file| file.display().to_string());
        let mut bytes = Vec::new();
        let read = match source {
            Some(file) => fs::read(file).map(|read| bytes = read),
            None => io::stdin().lock().read_to_end(&mut bytes).map(|_| ()),
        };
        if let Err(error) = read {
            return Ok(complain(&format!(
                "cannot read {shown}: {error}. Give the path of a file, or - for standard input."
            )));
        }
        // The byte order mark that editors write isn't part of the text.
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        let line = if self.request { self.of_request(bytes, &shown) } else { Ok(self.of_text(bytes, &shown)) };
        match line {
            Ok(line) => {
                writeln!(io::stdout(), "{}", if self.json { text::json(&line) } else { line.into() })?;
                Ok(ExitCode::SUCCESS)
            }
            Err(message) => Ok(complain(&message)),
        }
    }

    fn of_text(&self, bytes: &[u8], shown: &str) -> String {
        let text = String::from_utf8_lossy(bytes);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            tell!("sluice: {shown} is not UTF-8; invalid bytes are counted as \u{FFFD}");
        }
        let model = self.model.as_deref().unwrap_or(DEFAULT_MODEL);
        if Counter::lacks_vocabulary(model) {
            Counter::load_vocabulary(GEMMA);
        }
        let tokens = Counter::exact().text(model, &text);
        let about = Counter::about(model);
        let characters = text.chars().count();
        if self.json {
            return json!({
                "tokens": tokens,
                "model": model,
                "tokenizer": about.tokenizer,
                "own_vocabulary": about.own_vocabulary,
                "uncertainty": about.uncertainty,
                "basis": about.basis,
                "characters": characters,
                "bytes": bytes.len(),
            })
            .to_string();
        }
        let how = if about.own_vocabulary { "" } else { ", estimated" };
        let model = one_line(model);
        format!(
            "{} tokens ± {} % ({model}{how}; {} characters)\n  {}",
            grouped(tokens.into()),
            about.uncertainty,
            grouped(characters as u64),
            about.basis
        )
    }

    fn of_request(&self, bytes: &[u8], shown: &str) -> Result<String, String> {
        // Google's own server counts tools in another way than the gateway.
        let server = std::env::var("SLUICE_BASE_URL").unwrap_or_default();
        let count = |body: &[u8]| {
            let counter = Counter::exact().for_server(&server);
            let counted = counter.request_body(body)?;
            let reads = Counter::lacks_vocabulary(&counted.model) && Counter::load_vocabulary(GEMMA);
            if reads { counter.request_body(body) } else { Ok(counted) }
        };
        let counted = match &self.model {
            None => count(bytes),
            Some(model) => {
                let mut body: Value = serde_json::from_slice(bytes)
                    .map_err(|error| format!("{shown}: the request is not JSON: {error}"))?;
                if let Value::Object(fields) = &mut body {
                    fields.insert("model".to_owned(), Value::from(model.as_str()));
                }
                count(body.to_string().as_bytes())
            }
        };
        let counted = counted.map_err(|error| format!("{shown}: {error}. For plain text, leave out --request."))?;
        if self.json {
            return serde_json::to_string(&counted).map_err(|error| error.to_string());
        }
        Ok(table(&counted))
    }
}

fn table(counted: &TokenBreakdown) -> String {
    let how = if counted.own_vocabulary { "" } else { ", estimated" };
    let model = if counted.model.is_empty() { "no model named".into() } else { one_line(&counted.model) };
    let tokens = grouped(counted.input_tokens.into());
    let mut lines = vec![format!("{tokens} input tokens ± {} % ({model}{how})", counted.uncertainty)];
    let parts = [
        ("instructions", counted.instructions),
        ("messages", counted.messages),
        ("tool calls", counted.tool_calls),
        ("tool results", counted.tool_results),
        ("reasoning", counted.reasoning),
        ("tools", counted.tools),
        ("answer format", counted.format),
        ("images", counted.images),
        ("framing", counted.framing),
    ];
    for (name, tokens) in parts.into_iter().filter(|(_, tokens)| *tokens > 0) {
        lines.push(format!("  {name:<14}{:>10}", grouped(tokens.into())));
    }
    lines.push(format!("  {}", counted.basis));
    lines.extend(counted.notes.iter().map(|note| format!("  not all is known: {}", one_line(note))));
    lines.join("\n")
}
