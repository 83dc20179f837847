//! What the user types, line by line: questions, and results of tools that nobody else answers for. One reader for both,
//! because a second one would miss what the first has taken already.

use std::io::BufRead;
use std::sync::mpsc as blocking;
use std::thread;

use tokio::sync::mpsc;

#[derive(Debug)]
pub struct Keyboard {
    wanted: blocking::Sender<()>,
    lines: mpsc::UnboundedReceiver<String>,
    /// A line was asked for and has not come yet; whoever asked may have been interrupted.
    waiting: bool,
}

impl Keyboard {
    /// Reads only when a line is wanted: what is typed ahead and never asked for belongs to the shell.
    pub fn new(input: impl BufRead + Send + 'static) -> Self {
        let (wanted, wishes) = blocking::channel();
        let (typed, lines) = mpsc::unbounded_channel();
        // Not the runtime's own reader: with that one the program could not end before Enter is pressed.
        thread::spawn(move || {
            let mut input = input.lines();
            while wishes.recv().is_ok()
                && let Some(Ok(line)) = input.next()
                && typed.send(line).is_ok()
            {}
        });
        Self { wanted, lines, waiting: false }
    }

    /// The next line, or `None` at the end of the input. If this is dropped half-way, the line comes with the next call.
    pub async fn line(&mut self) -> Option<String> {
        if !self.waiting {
            self.wanted.send(()).ok()?;
            self.waiting = true;
        }
        let line = self.lines.recv().await;
        self.waiting = false;
        line
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read, Write, pipe};
    use std::time::Duration;

    use sluice_core::ChatPart;

    use super::Keyboard;
    use crate::cli::tools::{Call, Tools};

    #[tokio::test]
    async fn an_interrupted_wait_loses_no_line() {
        let (input, mut typing) = pipe().unwrap();
        let mut keyboard = Keyboard::new(BufReader::new(input));
        tokio::select! {
            biased;
            line = keyboard.line() => panic!("{line:?} came from nowhere"),
            () = std::future::ready(()) => {}
        }
        typing.write_all(b"first\nsecond\n").unwrap();
        drop(typing);
        assert_eq!(keyboard.line().await.as_deref(), Some("first"));
        assert_eq!(keyboard.line().await.as_deref(), Some("second"));
        assert_eq!((keyboard.line().await, keyboard.line().await), (None, None));
    }

    #[tokio::test]
    async fn a_tool_and_the_conversation_read_from_the_same_lines() {
        let tools: Tools = serde_json::from_str(r#"{"tools": [{"name": "level", "description": ""}]}"#).unwrap();
        let mut keyboard = Some(Keyboard::new("What is the level?\n3 metres\nThank you\n".as_bytes()));
        let question = keyboard.as_mut().unwrap().line().await;
        let call = Call { id: "gw-1", name: "level", input_json: "{}" };
        let result = tools.answer(&call, Duration::MAX, keyboard.as_mut(), std::future::pending()).await;
        let next = keyboard.as_mut().unwrap().line().await;
        assert_eq!((question.as_deref(), next.as_deref()), (Some("What is the level?"), Some("Thank you")));
        let content = vec![ChatPart::Text { value: "3 metres".into() }];
        assert_eq!(result, Some(ChatPart::ToolResult { call_id: "gw-1".into(), content, is_error: false }));
    }

    #[test]
    fn nothing_is_read_before_it_is_wanted() {
        let (mut input, mut typing) = pipe().unwrap();
        let keyboard = Keyboard::new(BufReader::new(input.try_clone().unwrap()));
        typing.write_all(b"ls\n").unwrap();
        drop((keyboard, typing));
        let mut left = String::new();
        input.read_to_string(&mut left).unwrap();
        assert_eq!(left, "ls\n");
    }
}
