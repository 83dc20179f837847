//! `sluice count`: counts the tokens of a text or a whole request.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap_complete::ArgValueCandidates;
use serde_json::{Value, json};
use sluice_core::{Counter, TokenBreakdown, grouped};

use crate::complain;
use crate::model_cache;
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
    #[arg(short, long, add = ArgValueCandidates::new(model_cache::candidates))]
    model: Option<String>,
    /// The file is the JSON body of an Open Responses request
    #[arg(long)]
    request: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const DEFAULT_MODEL: &str = "openai/gpt-5";
/// How much text is counted at once. Counting takes about thirty times as much memory.
const PIECE: usize = 1 << 20;
/// Editors write it at the start of a file; it isn't part of the text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

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
        let opened: io::Result<Box<dyn Read>> = match source {
            Some(file) => File::open(file).map(|file| Box::new(file) as Box<dyn Read>),
            None => Ok(Box::new(io::stdin().lock())),
        };
        let line = opened.and_then(|mut input| {
            if !self.request {
                return self.of_text(&mut input, &shown).map(Ok);
            }
            let mut bytes = Vec::new();
            input.read_to_end(&mut bytes)?;
            Ok(self.of_request(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes), &shown))
        });
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                let advice = "Give the path of a file, or - for standard input.";
                return Ok(complain(&format!("cannot read {shown}: {error}. {advice}")));
            }
        };
        match line {
            Ok(line) => {
                writeln!(io::stdout(), "{}", if self.json { text::json(&line) } else { line.into() })?;
                Ok(ExitCode::SUCCESS)
            }
            Err(message) => Ok(complain(&message)),
        }
    }

    /// Counts a text of any length, one piece after the other. Each cut changes the count by a token at most.
    fn of_text(&self, input: &mut dyn Read, shown: &str) -> io::Result<String> {
        let model = self.model.as_deref().unwrap_or(DEFAULT_MODEL);
        if Counter::lacks_vocabulary(model) {
            Counter::load_vocabulary(GEMMA);
        }
        let counter = Counter::exact();
        let (mut tokens, mut characters, mut length, mut is_damaged) = (0_u64, 0_u64, 0, false);
        let mut waiting = Vec::new();
        loop {
            let room = u64::try_from(PIECE - waiting.len()).unwrap_or_default();
            let is_last = input.take(room).read_to_end(&mut waiting)? == 0 || waiting.len() < PIECE;
            if length == 0 && waiting.starts_with(BYTE_ORDER_MARK) {
                waiting.drain(..BYTE_ORDER_MARK.len());
            }
            let end = if is_last { waiting.len() } else { cut(&waiting) };
            let text = String::from_utf8_lossy(&waiting[..end]);
            is_damaged |= matches!(text, std::borrow::Cow::Owned(_));
            tokens += u64::from(counter.text(model, &text));
            characters += text.chars().count() as u64;
            length += end;
            waiting.drain(..end);
            if is_last {
                break;
            }
        }
        if is_damaged {
            tell!("sluice: {shown} is not UTF-8; invalid bytes are counted as \u{FFFD}");
        }
        let about = Counter::about(model);
        if self.json {
            return Ok(json!({
                "tokens": tokens,
                "model": model,
                "tokenizer": about.tokenizer,
                "own_vocabulary": about.own_vocabulary,
                "uncertainty": about.uncertainty,
                "basis": about.basis,
                "characters": characters,
                "bytes": length,
            })
            .to_string());
        }
        let how = if about.own_vocabulary { "" } else { ", estimated" };
        let model = one_line(model);
        Ok(format!(
            "{} tokens ± {} % ({model}{how}; {} characters)\n  {}",
            grouped(tokens),
            about.uncertainty,
            grouped(characters),
            about.basis
        ))
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

/// Returns where to cut a piece of a longer text: after its last line, else after its last word, else between two
/// characters.
fn cut(piece: &[u8]) -> usize {
    let after = |is_end: fn(&u8) -> bool| piece.iter().rposition(is_end).map(|at| at + 1);
    let whole = piece.iter().rposition(|byte| byte & 0xC0 != 0x80).filter(|at| *at > 0);
    after(|byte| *byte == b'\n').or_else(|| after(u8::is_ascii_whitespace)).or(whole).unwrap_or(piece.len())
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
