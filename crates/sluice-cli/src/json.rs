//! Prints one JSON object per line. This is a public format: fields may be added, never renamed or removed.

use std::io::{self, BufWriter, Stdout, Write};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use sluice_core::{Note, Outcome, Output, Part};

use crate::Printer;
use crate::text;
use crate::tools::Answered;

pub struct JsonLines {
    out: BufWriter<Stdout>,
}

impl JsonLines {
    pub fn new() -> Self {
        Self { out: BufWriter::new(io::stdout()) }
    }
}

/// The lines that aren't parts.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Line<'a> {
    Note(&'a Note),
    /// A request is over, and the next one gets the results of its calls.
    Round(&'a Outcome),
    /// The last line.
    Outcome(&'a Outcome),
    #[serde(rename_all = "camelCase")]
    ToolResult {
        call_id: &'a str,
        name: &'a str,
        value: &'a str,
        is_error: bool,
    },
}

impl JsonLines {
    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        writeln!(self.out, "{}", text::json(&serde_json::to_string(line)?))
    }
}

impl Printer for JsonLines {
    fn output(&mut self, output: &Output) -> io::Result<()> {
        match output {
            Output::Part(Part::ToolCall { call_id, name, input_json }) => {
                // The input is printed as the model wrote it, because no number type could represent all of its
                // numbers.
                let (call_id, name) = (Value::from(call_id.as_str()), Value::from(name.as_str()));
                let input = without_white_space(input_json);
                let line = format!(r#"{{"type":"toolCall","callId":{call_id},"name":{name},"input":{input}}}"#);
                writeln!(self.out, "{}", text::json(&line))
            }
            Output::Part(part) => self.line(part),
            Output::Note(note) => self.line(&Line::Note(note)),
        }
    }

    fn tool_result(&mut self, answered: &Answered) -> io::Result<()> {
        let Answered { call_id, name, text: value, is_error, .. } = answered;
        self.line(&Line::ToolResult { call_id, name, value, is_error: *is_error })?;
        self.out.flush()
    }

    fn round(&mut self, outcome: &Outcome, _elapsed: Duration) -> io::Result<()> {
        self.line(&Line::Round(outcome))?;
        self.out.flush()
    }

    fn outcome(&mut self, outcome: &Outcome, _elapsed: Duration) -> io::Result<()> {
        self.line(&Line::Outcome(outcome))?;
        self.out.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Drops the white space between the tokens of a JSON text.
pub fn without_white_space(json: &str) -> String {
    let mut compact = String::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in json.chars() {
        if in_string || !c.is_ascii_whitespace() {
            compact.push(c);
        }
        if in_string {
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
        } else {
            in_string = c == '"';
        }
    }
    compact
}

#[cfg(test)]
mod tests {
    use super::without_white_space;

    #[test]
    fn white_space_is_dropped_only_between_tokens() {
        let check = |json, expected| assert_eq!(without_white_space(json), expected);
        check("{ \"a\" :\n [ 1 , 2 ] }", r#"{"a":[1,2]}"#);
        check(r#"{"a b" : "c \" d  e\\" , "f":" "}"#, r#"{"a b":"c \" d  e\\","f":" "}"#);
        check(r#"{"n":123456789012345678901234567890}"#, r#"{"n":123456789012345678901234567890}"#);
    }
}
