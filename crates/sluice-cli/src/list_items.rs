//! The list items that a block of Markdown may belong to.
//!
//! Blocks are drawn one at a time, and an empty line ends a block. What follows it may still be part of a list item, if it
//! is indented far enough.

use std::borrow::Cow;

/// The items that are open, from the outside in.
#[derive(Debug, Default)]
pub struct ListItems(Vec<Item>);

#[derive(Debug)]
struct Item {
    indent: Indent,
    /// The number of an item in a numbered list.
    number: Option<u64>,
}

/// How far something is indented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Indent {
    /// In the text.
    pub source: usize,
    /// On the screen.
    pub shown: usize,
}

impl Indent {
    /// Returns what a row on the screen starts with.
    pub fn margin(self) -> String {
        " ".repeat(self.shown)
    }
}

impl ListItems {
    /// Returns the indentation of the item that a block belongs to.
    pub fn indent_of(&self, block: &str) -> Indent {
        let leading = leading_spaces(block);
        let item = self.0.iter().rev().find(|item| item.indent.source <= leading);
        item.map_or(Indent::default(), |item| item.indent)
    }

    /// Returns a block without the indentation of its item. If it continues a numbered list, it starts with the number that
    /// follows the last one, whatever the text says.
    pub fn block<'a>(&self, block: &'a str) -> Cow<'a, str> {
        let Indent { source, .. } = self.indent_of(block);
        let leading = leading_spaces(block);
        let number = Marker::of(block).and_then(|marker| marker.number).and_then(|_| self.number_at(leading));
        if source == 0 && number.is_none() {
            return Cow::Borrowed(block);
        }
        let mut text: String = block.split_inclusive('\n').map(|line| without_indent(line, source)).collect();
        if let Some(number) = number {
            let after = text.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
            text = format!("{}{number}{after}", " ".repeat(leading - source));
        }
        Cow::Owned(text)
    }

    /// Reads a complete block. Its last items may continue after it.
    pub fn read(&mut self, block: &str) {
        for (number, line) in block.lines().filter(|line| !line.trim().is_empty()).enumerate() {
            let marker = Marker::of(line);
            let leading = leading_spaces(line);
            let next = marker.as_ref().and_then(|marker| self.number_at(leading).filter(|_| marker.number.is_some()));
            if number == 0 || marker.is_some() {
                self.end_before(line);
            }
            if let Some(marker) = marker {
                let number = next.or(marker.number);
                let mark = number.map_or(2, |number| number.to_string().len() + 2);
                let shown = self.0.last().map_or(0, |item| item.indent.shown) + mark;
                self.0.push(Item { indent: Indent { source: leading + marker.width, shown }, number });
            }
        }
    }

    /// Ends the items that a line doesn't belong to.
    pub fn end_before(&mut self, line: &str) {
        let leading = leading_spaces(line);
        self.0.retain(|item| item.indent.source <= leading);
    }

    /// Returns the number of a new item with this indentation, if it continues a numbered list.
    fn number_at(&self, leading: usize) -> Option<u64> {
        let sibling = self.0.iter().find(|item| item.indent.source > leading)?;
        sibling.number.map(|number| number + 1)
    }
}

/// The start of a list item, such as `- ` or `12. `.
struct Marker {
    number: Option<u64>,
    /// How far behind the start of the marker the text is.
    width: usize,
}

impl Marker {
    fn of(line: &str) -> Option<Self> {
        let line = line.lines().next()?.trim_start();
        let digits = line.chars().take_while(char::is_ascii_digit).count();
        let sign = line[digits..].chars().next()?;
        let number = match (digits, sign) {
            (0, '-' | '*' | '+') => None,
            (1..=9, '.' | ')') => Some(line[..digits].parse().ok()?),
            _ => return None,
        };
        let rest = &line[digits + 1..];
        let spaces = leading_spaces(rest);
        let is_empty = rest.trim().is_empty();
        // With more spaces, the item starts with indented code.
        let spaces = if is_empty || spaces > 4 { 1 } else { spaces };
        (is_empty || rest.starts_with([' ', '\t'])).then_some(Self { number, width: digits + 1 + spaces })
    }
}

/// Returns how many spaces a text starts with. A tab counts as four.
pub fn leading_spaces(text: &str) -> usize {
    text.chars().map_while(|c| [' ', '\t'].contains(&c).then_some(if c == ' ' { 1 } else { 4 })).sum()
}

/// Returns a line without its first `width` spaces, or without all of them if it starts with fewer.
pub fn without_indent(line: &str, width: usize) -> &str {
    let mut left = width;
    line.trim_start_matches(|c: char| {
        let spaces = if c == '\t' { 4 } else { 1 };
        let is_indent = [' ', '\t'].contains(&c) && left > 0;
        left = left.saturating_sub(spaces);
        is_indent
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads blocks, and returns the indentation of the one that follows, and the block without it.
    fn check(blocks: &[&str], next: &str, (source, shown): (usize, usize), expected: &str) {
        let mut items = ListItems::default();
        for block in blocks {
            items.read(block);
        }
        assert_eq!(items.indent_of(next), Indent { source, shown }, "{blocks:?} {next:?}");
        assert_eq!(items.block(next), expected, "{blocks:?} {next:?}");
    }

    #[test]
    fn a_block_belongs_to_the_item_it_is_indented_under() {
        check(&[], "    code", (0, 0), "    code");
        check(&["- a\n"], "b", (0, 0), "b");
        check(&["- a\n"], "  b\n  c", (2, 2), "b\nc");
        check(&["- a\n"], "    b", (2, 2), "  b");
        check(&["- a\n  - b\n"], "    c", (4, 4), "c");
        check(&["- a\n  - b\n"], "  c", (2, 2), "c");
        check(&["- a\n", "  b\n"], "  - c", (2, 2), "- c");
        check(&["- a\n", "b\n"], "  c", (0, 0), "  c");
        check(&["-   a\n"], "    b", (4, 2), "b");
        check(&["- a\n"], "\tb", (2, 2), "b");
        check(&["-not an item\n", "1.5 is not one\n"], "  c", (0, 0), "  c");
    }

    #[test]
    fn numbers_continue() {
        check(&["1. a\n"], "1. b", (0, 0), "2. b");
        check(&["1. a\n2. b\n", "   more\n"], "3. c", (0, 0), "3. c");
        check(&["9. a\n", "9. b\n"], "   c", (3, 4), "c");
        check(&["1. a\n   1. b\n"], "   1. c", (3, 3), "2. c");
        check(&["1. a\n", "between\n"], "5. b", (0, 0), "5. b");
    }
}
