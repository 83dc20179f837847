//! Reads lines that the user types: questions, and results of tools without a command. Both use the same reader,
//! because a second one would miss what the first has buffered.

use std::io::BufRead;
use std::sync::mpsc as blocking;
use std::thread;

use tokio::sync::mpsc;

#[derive(Debug)]
pub struct Keyboard {
    wanted: blocking::Sender<()>,
    lines: mpsc::UnboundedReceiver<String>,
    /// Whether a requested line has not arrived yet. The request for it may have been cancelled.
    waiting: bool,
}

impl Keyboard {
    /// Starts a reader that reads only when a line is requested: input that is never requested belongs to the shell.
    pub fn new(input: impl BufRead + Send + 'static) -> Self {
        let (wanted, requests) = blocking::channel();
        let (typed, lines) = mpsc::unbounded_channel();
        // With the runtime's own reader, the program could not exit before Enter is pressed.
        thread::spawn(move || {
            let mut input = input.lines();
            while requests.recv().is_ok()
                && let Some(Ok(line)) = input.next()
                && typed.send(line).is_ok()
            {}
        });
        Self { wanted, lines, waiting: false }
    }

    /// Returns the next line, or `None` at the end of the input. If this is cancelled, the next call returns the line.
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
    use crate::tools::{Call, Tools};

    #[tokio::test]
    async fn an_interrupted_wait_loses_no_line() {
        let (input, mut typing) = pipe().unwrap();
        let mut keyboard = Keyboard::new(BufReader::new(input));
        tokio::select! {
            biased;
            line = keyboard.line() => panic!("{line:?} was never typed"),
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
        assert_eq!(
            result.map(crate::tools::Answered::into_part),
            Some(ChatPart::ToolResult { call_id: "gw-1".into(), content, is_error: false })
        );
    }

    #[test]
    fn nothing_is_read_before_it_is_requested() {
        let (mut input, mut typing) = pipe().unwrap();
        let keyboard = Keyboard::new(BufReader::new(input.try_clone().unwrap()));
        typing.write_all(b"ls\n").unwrap();
        drop((keyboard, typing));
        let mut left = String::new();
        input.read_to_string(&mut left).unwrap();
        assert_eq!(left, "ls\n");
    }
}
