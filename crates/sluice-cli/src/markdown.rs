//! Shows Markdown in a terminal while it streams. The block that is still growing is drawn again whenever it changes; what
//! is complete stays as it is. How a block looks is decided in `render.rs`.

use unicode_width::UnicodeWidthStr;

use crate::highlight::Highlighter;
use crate::list_items::{Indent, ListItems, leading_spaces, without_indent};
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
    /// The rows of that block that are on the screen.
    rows: Vec<String>,
    /// The code block that is open.
    fence: Option<Fence>,
    /// The list items that the next block may belong to.
    items: ListItems,
    /// Whether nothing separates the next block from the one before it.
    is_first: bool,
}

#[derive(Debug)]
struct Fence {
    marks: String,
    /// The code before the growing line.
    highlighter: Highlighter,
    indent: Indent,
}

impl Markdown {
    pub fn new(width: usize, height: usize, has_colour: bool) -> Self {
        let (width, height) = (width.max(10), height.max(2));
        let (block, rows) = (String::new(), Vec::new());
        Self { width, height, has_colour, block, rows, fence: None, items: ListItems::default(), is_first: true }
    }

    /// Adds text. Returns what to write to the terminal.
    pub fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        for piece in text.split_inclusive('\n') {
            self.block.push_str(piece);
            self.split_where_item_ends(&mut out);
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
        self.items = ListItems::default();
        out
    }

    /// Whether a row is on the screen that isn't complete.
    pub fn is_open(&self) -> bool {
        !self.rows.is_empty()
    }

    fn end_line(&mut self, out: &mut String) {
        let last =
            self.block.strip_suffix('\n').unwrap_or(&self.block).rsplit('\n').next().unwrap_or_default().to_owned();
        if let Some(Fence { marks, .. }) = &self.fence {
            let text = last.trim();
            if text.starts_with(marks.as_str()) && text.chars().all(|c| marks.contains(c)) {
                self.fence = None;
                self.block.clear();
                self.erase(out);
            } else {
                self.end_code_line(out);
            }
            return;
        }
        let marks: String = last.trim_start().chars().take_while(|c| *c == '`' || *c == '~').collect();
        let language = last.trim_start()[marks.len()..].trim();
        if marks.len() >= 3 && !language.contains('`') {
            // What precedes the fence is a block of its own.
            let before = self.block.len() - last.len() - 1;
            self.block.truncate(before);
            self.end_block(out);
            self.separate(out);
            self.items.end_before(&last);
            let indent = Indent { source: leading_spaces(&last), ..self.items.indent_of(&last) };
            self.fence = Some(Fence { marks, highlighter: Highlighter::new(language), indent });
        } else if last.trim().is_empty() {
            self.end_block(out);
        } else if self.block.len() > MAX_BLOCK {
            let header = table_header(&self.block).map(str::to_owned);
            self.end_block(out);
            self.block.push_str(&header.unwrap_or_default());
        }
    }

    /// Starts another block if the last line is not part of the list item that the growing block belongs to.
    fn split_where_item_ends(&mut self, out: &mut String) {
        let start = self.block.strip_suffix('\n').unwrap_or(&self.block).rfind('\n').map_or(0, |at| at + 1);
        let last = &self.block[start..];
        if start == 0 || self.fence.is_some() || last.trim().is_empty() {
            return;
        }
        if leading_spaces(last) < self.items.indent_of(&self.block).source {
            let last = self.block.split_off(start);
            self.end_block(out);
            self.block = last;
            self.is_first = true;
        }
    }

    /// Ends a line of code, which is drawn for the last time.
    fn end_code_line(&mut self, out: &mut String) {
        self.draw(out);
        out.push('\n');
        if let Some(Fence { highlighter, .. }) = &mut self.fence {
            highlighter.line(self.block.trim_end_matches('\n'));
        }
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
        self.items.read(&self.block);
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
            Some(Fence { highlighter, indent, .. }) => {
                let code = without_indent(self.block.trim_end_matches('\n'), indent.source);
                let mut highlighter = *highlighter;
                vec![format!("{}{}", indent.margin(), code_line(code, &mut highlighter, self.has_colour))]
            }
            None => {
                let indent = self.items.indent_of(&self.block);
                let width = self.width.saturating_sub(indent.shown).max(10);
                let mut rows = render(&self.items.block(&self.block), width, self.has_colour);
                for row in &mut rows {
                    row.insert_str(0, &indent.margin());
                }
                rows
            }
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

/// Returns the first two lines of a block, with their line breaks, if it is a table.
fn table_header(block: &str) -> Option<&str> {
    let mut ends = block.match_indices('\n').map(|(at, _)| at + 1);
    let (first, second) = (ends.next()?, ends.next()?);
    let is_delimiter = |line: &str| line.contains('-') && line.trim().chars().all(|c| "|-: ".contains(c));
    (is_delimiter(&block[first..second]) && block[..first].contains('|') && second < MAX_BLOCK / 2)
        .then_some(&block[..second])
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

    const LISTS: &str = "1. Install it:\n\n   ```sh\n   cargo install sluice\n     --locked\n   ```\n\n   A paragraph of the first item, which is long.\n\n\
        1. Then\n\n   - nested after an empty line\n     - deeper\n\n       its paragraph\n   - again\n1. Last\n\n    still the last\n\n\
        No item.\n\n    code at the left\n\n- a\n  ~~~\n  x\n  ~~~\n- b\n";

    #[test]
    fn what_is_indented_belongs_to_its_item() {
        let expected = expect![[r#"
            1. Install it:

                 cargo install sluice
                   --locked

               A paragraph of the first item, which
               is long.

            2. Then

               • nested after an empty line
                 • deeper

                   its paragraph
               • again
            3. Last

               still the last

            No item.

              code at the left

            • a

                x

            • b
        "#]];
        let whole = screen(LISTS, usize::MAX, (60, 40));
        expected.assert_eq(&whole);
        for size in [1, 2, 7] {
            assert_eq!(screen(LISTS, size, (60, 40)), whole, "in pieces of {size}");
        }
    }

    #[test]
    fn wide_tables_are_wrapped() {
        let table = "| Command | What it does | **Since** |\n|---|---|---:|\n| `chat` | asks a question<br>or talks with you | 0.1 |\n| `count` | counts 漢字 | 0.2 |\n";
        let shown = |columns| screen(table, 3, (60, columns));
        expect![[r#"
            Command │ What it does                      │ Since
            ────────┼───────────────────────────────────┼──────
            chat    │ asks a question or talks with you │   0.1
            count   │ counts 漢字                       │   0.2
        "#]]
        .assert_eq(&shown(80));
        expect![[r#"
            Command │ What it does           │ Since
            ────────┼────────────────────────┼──────
            chat    │ asks a question or     │   0.1
                    │ talks with you         │
            ────────┼────────────────────────┼──────
            count   │ counts 漢字            │   0.2
        "#]]
        .assert_eq(&shown(40));
        expect![[r#"
            Command │ What it    │ Since
                    │ does       │
            ────────┼────────────┼──────
            chat    │ asks a     │   0.1
                    │ question   │
                    │ or talks   │
                    │ with you   │
            ────────┼────────────┼──────
            count   │ counts     │   0.2
                    │ 漢字       │
        "#]]
        .assert_eq(&shown(28));
        let long = table.to_owned() + &"| a | b | c |\n".repeat(1000);
        assert!(!screen(&long, 1000, (200, 40)).contains("| a |"));
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
                "a", " ", "  ", "    ", "\n", "\n\n", "**", "`", "```", "```\n", "- ", "# ", "|", "|-|\n", "> ", "word ", "1. ", "[x](y)", "é漢",
            ]), 0..40),
            size in 1_usize..5,
        ) {
            let text = text.concat();
            prop_assert_eq!(screen(&text, size, (200, 30)), screen(&text, usize::MAX, (200, 30)));
        }
    }
}
