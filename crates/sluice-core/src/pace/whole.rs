//! Answers that are returned at their end, as VS Code's agent host reads them.

use crate::boundary::Part;

/// The parts of an answer that haven't been returned.
#[derive(Clone, Debug, Default)]
pub(super) struct Whole {
    /// In the order of their arrival until the first of them is returned, and then in reverse order.
    parts: Vec<Part>,
    /// Whether the first part has been returned.
    has_begun: bool,
}

impl Whole {
    pub(super) fn push(&mut self, part: Part) {
        match (self.parts.last_mut(), part) {
            (Some(Part::Text { value }), Part::Text { value: more }) => value.push_str(&more),
            (_, part) => self.parts.push(part),
        }
    }

    /// Returns the next part of an answer that is over, or hasn't begun.
    pub(super) fn next(&mut self) -> Option<Part> {
        if !self.has_begun && !self.parts.is_empty() {
            self.has_begun = true;
            self.put_replay_first();
            self.parts.reverse();
        }
        self.parts.pop()
    }

    /// Joins the thinking at the beginning of the answer and what the model needs back into one part, and puts it first. The
    /// agent host joins adjacent thinking parts with the same id, and expects such an item at the beginning of an answer.
    fn put_replay_first(&mut self) {
        let is_replay = |part: &Part| matches!(part, Part::Thinking { replay: Some(_), .. });
        let Some(at) = self.parts.iter().position(is_replay) else { return };
        let mut first = self.parts.remove(at);
        let Part::Thinking { value, id, .. } = &mut first else { return };
        let mut has_text = false;
        self.parts.retain(|part| match part {
            Part::Thinking { value: text, id: block, .. } if !has_text => {
                if value.is_empty() {
                    id.clone_from(block);
                }
                value.push_str(text);
                false
            }
            _ => {
                has_text = true;
                true
            }
        });
        self.parts.insert(0, first);
    }
}
