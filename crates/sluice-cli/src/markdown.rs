//! Shows Markdown in a terminal while it streams. The block that is still growing is drawn again whenever it changes; what
//! is complete stays as it is. How a block looks is decided in `render.rs`.

use unicode_width::UnicodeWidthStr;

use crate::render::{code_line, render};

/// A block that grows beyond this is ended, so that drawing it again stays cheap.
const MAX_BLOCK: usize = 8 << 10;

#[derive(Debug)]
pub struct Markdown {
    width: usize,
    /// The rows of the screen. What has left it can't be drawn again.
    height: usize,
    has_colour: bool,
    /// The text of the block that is growing.
    block: String,
    /// The rows of it that are on the screen.
    rows: Vec<String>,
    /// The fence of the code block that is open, and the language in it.
    fence: Option<(String, String)>,
    /// Whether a block is complete, so that the next one is separated from it.
    is_first: bool,
}

impl Markdown {
    pub fn new(width: usize, height: usize, has_colour: bool) -> Self {
        let (width, height) = (width.max(10), height.max(2));
        let (block, rows) = (String::new(), Vec::new());
        Self { width, height, has_colour, block, rows, fence: None, is_first: true }
    }

    /// Adds text. Returns what to write to the terminal.
    pub fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        for piece in text.split_inclusive('\n') {
            self.block.push_str(piece);
            if piece.ends_with('\n') {
                self.end_line(&mut out);
            }
        }
        self.draw(&mut out);
        out
    }

    /// Ends the last block. Returns what to write to the terminal.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        if self.fence.is_some() && !self.block.is_empty() {
            self.end_code_line(&mut out);
        }
        self.end_block(&mut out);
        self.fence = None;
        out
    }

    /// Whether a row is on the screen that isn't complete.
    pub fn is_open(&self) -> bool {
        !self.rows.is_empty()
    }

    fn end_line(&mut self, out: &mut String) {
        let last =
            self.block.strip_suffix('\n').unwrap_or(&self.block).rsplit('\n').next().unwrap_or_default().to_owned();
        if let Some((fence, _)) = &self.fence {
            let text = last.trim();
            if text.starts_with(fence.as_str()) && text.chars().all(|c| fence.contains(c)) {
                self.fence = None;
                self.block.clear();
                self.erase(out);
            } else {
                self.end_code_line(out);
            }
            return;
        }
        let fence: String = last.trim_start().chars().take_while(|c| *c == '`' || *c == '~').collect();
        if fence.len() >= 3 && !last.trim_start()[fence.len()..].contains('`') {
            // What precedes the fence is a block of its own.
            let before = self.block.len() - last.len() - 1;
            self.block.truncate(before);
            self.draw(out);
            self.end_block(out);
            self.separate(out);
            self.fence = Some((fence.clone(), last.trim_start()[fence.len()..].trim().to_lowercase()));
        } else if last.trim().is_empty() || self.block.len() > MAX_BLOCK {
            self.draw(out);
            self.end_block(out);
        }
    }

    /// Ends a line of code, which is drawn for the last time.
    fn end_code_line(&mut self, out: &mut String) {
        self.draw(out);
        out.push('\n');
        self.block.clear();
        self.rows.clear();
        self.is_first = false;
    }

    fn end_block(&mut self, out: &mut String) {
        self.draw(out);
        if !self.rows.is_empty() {
            out.push('\n');
            self.is_first = false;
        }
        self.block.clear();
        self.rows.clear();
    }

    /// Separates a block from the one before it.
    fn separate(&mut self, out: &mut String) {
        if !self.is_first {
            out.push('\n');
        }
        self.is_first = true;
    }

    /// Removes the growing block from the screen.
    fn erase(&mut self, out: &mut String) {
        if !self.rows.is_empty() {
            self.move_to(0, out);
            self.rows.clear();
        }
    }

    /// Moves to the start of a row of the growing block and clears the screen from there.
    fn move_to(&self, row: usize, out: &mut String) {
        // A line of code that is wider than the screen takes several of its rows.
        let up = self.rows[row..].iter().map(|row| self.screen_rows(row)).sum::<usize>() - 1;
        out.push('\r');
        if up > 0 {
            out.push_str(&format!("\u{1b}[{up}A"));
        }
        out.push_str("\u{1b}[J");
    }

    fn screen_rows(&self, row: &str) -> usize {
        anstream::adapter::strip_str(row).to_string().width().div_ceil(self.width).max(1)
    }

    /// Draws the rows that have changed.
    fn draw(&mut self, out: &mut String) {
        let rows = match &self.fence {
            Some(_) if self.block.is_empty() => Vec::new(),
            Some((_, language)) => vec![code_line(self.block.trim_end_matches('\n'), language, self.has_colour)],
            None => render(&self.block, self.width, self.has_colour),
        };
        if rows.is_empty() {
            // The start of a fence looked like text before.
            self.erase(out);
            return;
        }
        if self.rows.is_empty() {
            if self.fence.is_none() {
                self.separate(out);
            }
            out.push_str(&rows.join("\n"));
            self.rows = rows;
            return;
        }
        let same = self.rows.iter().zip(&rows).take_while(|(a, b)| a == b).count();
        if same == self.rows.len() && same == rows.len() {
            return;
        }
        // Rows above the screen can't be reached.
        let mut reachable = 0;
        let is_reachable = |row: &&String| {
            reachable += self.screen_rows(row);
            reachable < self.height
        };
        let first = same.max(self.rows.len() - self.rows.iter().rev().take_while(is_reachable).count());
        // If the block has become shorter, its new last row is drawn again, so that the cursor is at its end.
        let first = if rows.len() < self.rows.len() { first.min(rows.len() - 1) } else { first };
        let is_last = first + 1 == self.rows.len() && self.rows.len() == rows.len();
        if let Some(grown) = is_last.then(|| rows[first].strip_prefix(&self.rows[first])).flatten() {
            out.push_str(grown);
        } else if first < self.rows.len() {
            self.move_to(first, out);
            out.push_str(&rows.get(first..).unwrap_or_default().join("\n"));
        } else {
            out.push('\n');
            out.push_str(&rows[first..].join("\n"));
        }
        self.rows = rows;
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::Markdown;

    /// Draws a text that arrives in pieces of `size` characters, and returns the screen.
    fn screen(text: &str, size: usize, (height, width): (u16, u16)) -> String {
        let mut markdown = Markdown::new(width.into(), height.into(), true);
        let mut parser = vt100::Parser::new(height.try_into().unwrap(), width.try_into().unwrap(), 0);
        let characters: Vec<char> = text.chars().collect();
        let mut write = |text: &str| parser.process(text.replace('\n', "\r\n").as_bytes());
        for piece in characters.chunks(size) {
            write(&markdown.push(&piece.iter().collect::<String>()));
        }
        write(&markdown.finish());
        let contents = parser.screen().contents();
        contents.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned() + "\n"
    }

    const SAMPLE: &str = "# Rivers of the *north*\n\nThe **Elbe** flows through `Hamburg` and is [navigable](https://example.com/elbe) for most of its way.\n\n\
        - one item\n- another item that is long enough to need a second row on a narrow terminal\n  - nested\n\n1. first\n2. second\n\n\
        > A quotation.\n\n```rust\nfn main() {\n    println!(\"Hi\"); // say it\n}\n```\n\n| River | Length in km |\n|---|---:|\n| Elbe | 1094 |\n| Weser | 744 |\n\n---\n\nEnd.\n";

    #[expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]
    fn check(columns: u16, expected: Expect) {
        let whole = screen(SAMPLE, usize::MAX, (60, columns));
        expected.assert_eq(&whole);
        for size in [1, 2, 7] {
            assert_eq!(screen(SAMPLE, size, (60, columns)), whole, "in pieces of {size}");
        }
    }

    #[test]
    fn a_sample_at_40_columns() {
        check(
            40,
            expect![[r#"
                Rivers of the north

                The Elbe flows through Hamburg and is
                navigable (https://example.com/elbe) for
                most of its way.

                • one item
                • another item that is long enough to
                  need a second row on a narrow terminal
                  • nested

                1. first
                2. second

                │ A quotation.

                  fn main() {
                      println!("Hi"); // say it
                  }

                River │ Length in km
                ──────┼─────────────
                Elbe  │         1094
                Weser │          744

                ────────────────────────────────────────

                End.
            "#]],
        );
    }

    #[test]
    fn a_sample_at_80_columns() {
        check(
            80,
            expect![[r#"
                Rivers of the north

                The Elbe flows through Hamburg and is navigable (https://example.com/elbe) for
                most of its way.

                • one item
                • another item that is long enough to need a second row on a narrow terminal
                  • nested

                1. first
                2. second

                │ A quotation.

                  fn main() {
                      println!("Hi"); // say it
                  }

                River │ Length in km
                ──────┼─────────────
                Elbe  │         1094
                Weser │          744

                ────────────────────────────────────────

                End.
            "#]],
        );
    }

    #[test]
    fn a_sample_at_200_columns() {
        check(
            200,
            expect![[r#"
                Rivers of the north

                The Elbe flows through Hamburg and is navigable (https://example.com/elbe) for most of its way.

                • one item
                • another item that is long enough to need a second row on a narrow terminal
                  • nested

                1. first
                2. second

                │ A quotation.

                  fn main() {
                      println!("Hi"); // say it
                  }

                River │ Length in km
                ──────┼─────────────
                Elbe  │         1094
                Weser │          744

                ────────────────────────────────────────

                End.
            "#]],
        );
    }

    #[test]
    fn a_small_screen_keeps_what_has_left_it() {
        let text = (1..30).map(|number| format!("- item {number}\n")).collect::<String>();
        let shown = screen(&text, 3, (8, 40));
        assert!(shown.ends_with("• item 28\n• item 29\n"), "{shown}");
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            text in prop::collection::vec(prop::sample::select(vec![
                "a", " ", "\n", "\n\n", "**", "`", "```", "```\n", "- ", "# ", "|", "|-|\n", "> ", "word ", "1. ", "[x](y)", "é漢",
            ]), 0..40),
            size in 1_usize..5,
        ) {
            let text = text.concat();
            prop_assert_eq!(screen(&text, size, (200, 30)), screen(&text, usize::MAX, (200, 30)));
        }
    }
}
