//! Masks the key and the values of headers in what a model says, before it is printed. What is sent back to the model and what tools get is
//! unchanged.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use sluice_core::{Citation, Outcome, Output, Part, Secrets};

use crate::Printer;
use crate::tools::Answered;

/// A printer that never prints the key, not even if it arrives in pieces.
pub struct Masked {
    printer: Box<dyn Printer>,
    secrets: Secrets,
    /// The end of the last text or thinking part, if the key may have started in it. It is not printed yet.
    held: Option<Part>,
}

impl Masked {
    pub fn new(printer: Box<dyn Printer>, secrets: Secrets) -> Self {
        Self { printer, secrets, held: None }
    }

    fn print(&mut self, mut part: Part) -> io::Result<()> {
        match &mut part {
            Part::Text { value } | Part::Thinking { value, .. } => self.mask(value),
            Part::ToolCall { call_id, name, input_json } => {
                for text in [call_id, name, input_json] {
                    self.mask(text);
                }
            }
            Part::Citations { citations, markdown } => {
                self.mask(markdown);
                for citation in citations {
                    let Citation { url, title, source_id, media_type, filename } = citation;
                    for text in [url, title, source_id, media_type, filename].into_iter().flatten() {
                        self.mask(text);
                    }
                }
            }
            Part::Data { mime_type, .. } => self.mask(mime_type),
        }
        self.printer.output(&Output::Part(part))
    }

    fn mask(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.secrets.mask_values(text) {
            *text = masked;
        }
    }

    /// Prints what was held back if this part doesn't continue it; otherwise puts it before this part.
    fn join(&mut self, part: Part) -> io::Result<Part> {
        Ok(match (self.held.take(), part) {
            (Some(Part::Text { value: held }), Part::Text { value }) => Part::Text { value: held + &value },
            (Some(Part::Thinking { value: held, id: held_id, .. }), Part::Thinking { value, id, replay })
                if held_id == id =>
            {
                Part::Thinking { value: held + &value, id, replay }
            }
            (held, part) => {
                held.map_or(Ok(()), |held| self.print(held))?;
                part
            }
        })
    }
}

impl Printer for Masked {
    fn output(&mut self, output: &Output) -> io::Result<()> {
        let Output::Part(part) = output else { return self.printer.output(output) };
        let mut part = self.join(part.clone())?;
        self.held = match &mut part {
            Part::Text { value } => self.hold_back(value).map(|value| Part::Text { value }),
            // The last part of a thinking block ends it.
            Part::Thinking { value, id, replay: None } => {
                let id = id.clone();
                self.hold_back(value).map(|value| Part::Thinking { value, id, replay: None })
            }
            _ => None,
        };
        match &part {
            Part::Text { value } if value.is_empty() && self.held.is_some() => Ok(()),
            Part::Thinking { value, .. } if value.is_empty() && self.held.is_some() => Ok(()),
            _ => self.print(part),
        }
    }

    fn tool_result(&mut self, answered: &Answered) -> io::Result<()> {
        let mut answered = answered.clone();
        for text in [&mut answered.call_id, &mut answered.name, &mut answered.text] {
            self.mask(text);
        }
        self.printer.tool_result(&answered)
    }

    fn round(&mut self, outcome: &Outcome, elapsed: Duration) -> io::Result<()> {
        self.held.take().map_or(Ok(()), |held| self.print(held))?;
        self.printer.round(outcome, elapsed)
    }

    fn outcome(&mut self, outcome: &Outcome, elapsed: Duration) -> io::Result<()> {
        self.held.take().map_or(Ok(()), |held| self.print(held))?;
        self.printer.outcome(outcome, elapsed)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.printer.flush()
    }
}

impl Masked {
    /// Splits off the end of a text if the key may have started there.
    fn hold_back(&self, text: &mut String) -> Option<String> {
        let held = self.secrets.begun_at_end(text);
        (held > 0).then(|| text.split_off(text.len() - held))
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use expect_test::{Expect, expect};
    use sluice_core::{BodyEnd, Outcome, Output, Part, ResponseStream, Secrets, StreamOptions};

    use super::{Answered, Masked, Printer};

    /// Renders parts in order, with a bar after each.
    struct Shown(Arc<Mutex<String>>);

    impl Printer for Shown {
        fn output(&mut self, output: &Output) -> io::Result<()> {
            let shown = match output {
                Output::Part(Part::Text { value }) => value.clone(),
                Output::Part(Part::Thinking { value, .. }) => format!("({value})"),
                Output::Part(Part::ToolCall { name, input_json, .. }) => format!("{name}{input_json}"),
                other => format!("{other:?}"),
            };
            *self.0.lock().unwrap() += &(shown + "|");
            Ok(())
        }

        fn tool_result(&mut self, answered: &Answered) -> io::Result<()> {
            *self.0.lock().unwrap() += &format!("={}|", answered.text);
            Ok(())
        }

        fn round(&mut self, _: &Outcome, _: Duration) -> io::Result<()> {
            Ok(())
        }

        fn outcome(&mut self, _: &Outcome, _: Duration) -> io::Result<()> {
            Ok(())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Parts in parentheses are thinking, those with braces are calls.
    #[expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]
    fn check(pieces: &[&str], expected: Expect) {
        let secrets = Secrets::new(["canary-0123456789", "header-value"]);
        let shown = Arc::default();
        let mut masked = Masked::new(Box::new(Shown(Arc::clone(&shown))), secrets);
        for piece in pieces {
            let thought = piece.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            let value = (*piece).to_owned();
            let part = match (thought, piece.split_once('{')) {
                (Some(thought), _) => Part::Thinking { value: thought.into(), id: "t".into(), replay: None },
                (None, Some((name, _))) => {
                    Part::ToolCall { call_id: "c".into(), name: name.into(), input_json: value[name.len()..].into() }
                }
                (None, None) => Part::Text { value },
            };
            masked.output(&Output::Part(part)).unwrap();
        }
        let (_, outcome) = ResponseStream::new(StreamOptions::default()).finish(BodyEnd::Eof);
        masked.outcome(&outcome, Duration::ZERO).unwrap();
        expected.assert_eq(&shown.lock().unwrap());
    }

    #[test]
    fn the_key_is_masked_however_it_is_split() {
        check(&["It is canary-0123456789."], expect!["It is [hidden].|"]);
        check(&["It is can", "ary-01", "23456789."], expect!["It is |[hidden].|"]);
        check(&["c", "a", "n", "ary-012345678", "9"], expect!["[hidden]|"]);
        check(&["(can)", "(ary-0123456789)", "canary-0123456789"], expect!["([hidden])|[hidden]|"]);
        check(&["It is head", "er-value."], expect!["It is |[hidden].|"]);
        check(&["call{\"key\":\"canary-0123456789\"}"], expect![[r#"call{"key":"[hidden]"}|"#]]);
    }

    #[test]
    fn everything_else_is_shown() {
        check(&["A can", " of beans."], expect!["A |can of beans.|"]);
        check(&["A can"], expect!["A |can|"]);
        check(&["can", "(can)", "can", "call{}"], expect!["can|(can)|can|call{}|"]);
        check(&["sk-0123456789abcdef is an example."], expect!["sk-0123456789abcdef is an example.|"]);
    }
}
