//! How a block of Markdown looks in a terminal.

use anstyle::{AnsiColor, Style};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::highlight::Highlighter;

const HEADING: Style = AnsiColor::Cyan.on_default().bold();
const CODE: Style = AnsiColor::Yellow.on_default();
const LINK: Style = Style::new().underline();
const QUIET: Style = Style::new().dimmed();

/// A column of a table that is narrower than this is hard to read.
const MIN_COLUMN: usize = 10;

/// Returns the rows of a block, none of them wider than `width` unless a single word or a line of code is.
pub fn render(block: &str, width: usize, has_colour: bool) -> Vec<String> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = Page { width, has_colour, ..Page::default() };
    for event in Parser::new_ext(block, options) {
        page.event(event);
    }
    page.end_paragraph();
    while page.rows.last().is_some_and(String::is_empty) {
        page.rows.pop();
    }
    page.rows
}

/// Returns a line of code, which is indented.
pub fn code_line(line: &str, highlighter: &mut Highlighter, has_colour: bool) -> String {
    let line = line.replace('\t', "    ");
    format!("  {}", if has_colour { highlighter.line(&line) } else { line })
}

/// A word with its style.
#[derive(Clone, Debug)]
struct Word {
    text: String,
    style: Style,
    /// Whether white space precedes it.
    is_spaced: bool,
}

#[derive(Debug, Default)]
struct Page {
    width: usize,
    has_colour: bool,
    rows: Vec<String>,
    words: Vec<Word>,
    ends_with_space: bool,
    styles: Vec<Style>,
    /// What every row of a quotation or list starts with, and how wide that is.
    margins: Vec<(String, usize)>,
    /// What the next row starts with instead of the last margin.
    bullet: Option<String>,
    /// The number of the next item of each open list, if it is numbered.
    lists: Vec<Option<u64>>,
    link: Option<(String, usize)>,
    code: Option<Highlighter>,
    table: Option<Table>,
}

#[derive(Debug, Default)]
struct Table {
    alignments: Vec<pulldown_cmark::Alignment>,
    rows: Vec<Vec<Vec<Word>>>,
}

impl Page {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match self.code.take() {
                Some(mut code) => {
                    for line in text.trim_end_matches('\n').split('\n') {
                        let line = code_line(line, &mut code, self.has_colour);
                        self.row(&line);
                    }
                    self.code = Some(code);
                }
                None => self.text(&text, Style::new()),
            },
            Event::Code(text) => {
                self.mark("`");
                self.text(&text, CODE);
                self.mark("`");
            }
            // Models write `<br>` into the cells of tables, because those can't contain line breaks.
            Event::InlineHtml(text) if matches!(&*text, "<br>" | "<br/>" | "<br />") => self.ends_with_space = true,
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text, Style::new()),
            Event::SoftBreak => self.ends_with_space = true,
            Event::HardBreak => self.end_row(),
            Event::Rule => {
                let rule = self.styled(&"─".repeat(self.room().min(40)), QUIET);
                self.row(&rule);
            }
            Event::TaskListMarker(is_done) => self.bullet = Some(if is_done { "☑ " } else { "☐ " }.to_owned()),
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.mark(&format!("{} ", "#".repeat(level as usize)));
                self.styles.push(if level <= HeadingLevel::H2 { HEADING } else { Style::new().bold() });
            }
            Tag::Emphasis => {
                self.mark("*");
                self.styles.push(Style::new().italic());
            }
            Tag::Strong => {
                self.mark("**");
                self.styles.push(Style::new().bold());
            }
            Tag::Strikethrough => {
                self.mark("~~");
                self.styles.push(Style::new().strikethrough());
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.into_string(), self.words.len()));
                self.styles.push(LINK);
            }
            Tag::BlockQuote(_) => {
                self.end_paragraph();
                let bar = self.styled("│ ", QUIET);
                self.margins.push((bar, 2));
            }
            Tag::List(start) => {
                self.end_paragraph();
                self.lists.push(start);
            }
            Tag::Item => {
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                };
                self.margins.push((" ".repeat(mark.width()), mark.width()));
                self.bullet = Some(mark);
            }
            Tag::CodeBlock(kind) => {
                self.end_paragraph();
                self.code = Some(match kind {
                    CodeBlockKind::Fenced(info) => Highlighter::new(&info),
                    CodeBlockKind::Indented => Highlighter::default(),
                });
            }
            Tag::Table(alignments) => self.table = Some(Table { alignments, rows: Vec::new() }),
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.end_paragraph();
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
                self.mark(match tag {
                    TagEnd::Emphasis => "*",
                    TagEnd::Strong => "**",
                    _ => "~~",
                });
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                if let Some((url, start)) = self.link.take() {
                    let shown: String = self.words[start..].iter().map(|word| word.text.as_str()).collect();
                    if shown != url && !url.is_empty() {
                        self.ends_with_space = true;
                        self.text(&format!("({url})"), QUIET);
                    }
                }
            }
            TagEnd::BlockQuote(_) => {
                self.end_paragraph();
                self.margins.pop();
            }
            TagEnd::Item => {
                self.end_paragraph();
                if let Some(mark) = self.bullet.take() {
                    // The item is still empty.
                    self.margins.pop();
                    self.row(mark.trim_end());
                } else {
                    self.margins.pop();
                }
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::CodeBlock => self.code = None,
            TagEnd::TableCell => {
                let words = std::mem::take(&mut self.words);
                self.ends_with_space = false;
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(words);
                }
            }
            TagEnd::Table => self.end_table(),
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_paragraph(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str, style: Style) {
        let style = self.styles.iter().fold(style, |sum, style| merged(sum, *style));
        let mut is_spaced = std::mem::take(&mut self.ends_with_space) || text.starts_with(char::is_whitespace);
        for word in text.split_whitespace() {
            self.words.push(Word { text: word.to_owned(), style, is_spaced });
            is_spaced = true;
        }
        self.ends_with_space = text.ends_with(char::is_whitespace) || (is_spaced && text.trim().is_empty());
    }

    /// Adds what Markdown has in place of a style, if there are no styles.
    fn mark(&mut self, mark: &str) {
        if !self.has_colour {
            self.text(mark, Style::new());
        }
    }

    fn styled(&self, text: &str, style: Style) -> String {
        if self.has_colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Adds a row after the margins.
    fn row(&mut self, text: &str) {
        let mut row = String::new();
        if let Some(mark) = self.bullet.take() {
            let outer = self.margins.len().saturating_sub(1);
            row.extend(self.margins[..outer].iter().map(|(margin, _)| margin.as_str()));
            row.push_str(&mark);
        } else {
            row.extend(self.margins.iter().map(|(margin, _)| margin.as_str()));
        }
        row.push_str(text);
        self.rows.push(row);
    }

    fn end_paragraph(&mut self) {
        if !self.words.is_empty() {
            self.end_row();
        }
        self.ends_with_space = false;
    }

    /// Breaks the words into rows.
    fn end_row(&mut self) {
        let room = self.room();
        let words = std::mem::take(&mut self.words);
        for row in wrapped(&words, room) {
            let row = self.line(&row);
            self.row(&row);
        }
        self.ends_with_space = false;
    }

    /// Returns how wide a row may be behind the margins.
    fn room(&self) -> usize {
        self.width.saturating_sub(self.margins.iter().map(|(_, width)| width).sum()).max(8)
    }

    fn line(&self, words: &[Word]) -> String {
        let mut line = String::new();
        for (number, word) in words.iter().enumerate() {
            if word.is_spaced && number > 0 {
                line.push(' ');
            }
            line.push_str(&if word.style == Style::new() {
                word.text.clone()
            } else {
                self.styled(&word.text, word.style)
            });
        }
        line
    }

    /// Adds a table. If it is too wide, the text in its cells is wrapped; if there is no room for that, each row becomes a
    /// list of its cells.
    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let columns = table.rows.iter().map(Vec::len).max().unwrap_or_default();
        let cell_width = |row: &Vec<Vec<Word>>, column: usize| row.get(column).map_or(0, |words| width_of(words));
        let natural: Vec<usize> = (0..columns)
            .map(|column| table.rows.iter().map(|row| cell_width(row, column)).max().unwrap_or_default().max(1))
            .collect();
        let room = self.room().saturating_sub(3 * columns.saturating_sub(1));
        let Some(widths) = column_widths(&natural, room) else {
            self.table_as_list(&table);
            return;
        };
        let is_wrapped = widths != natural;
        let rule = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join("─┼─");
        let quiet_rule = self.styled(&rule, QUIET);
        for (number, row) in table.rows.iter().enumerate() {
            let cells: Vec<Vec<Vec<Word>>> = widths
                .iter()
                .enumerate()
                .map(|(column, width)| row.get(column).map(|words| wrapped(words, *width)).unwrap_or_default())
                .collect();
            for line in 0..cells.iter().map(Vec::len).max().unwrap_or_default().max(1) {
                let mut texts = Vec::new();
                for (column, width) in widths.iter().enumerate() {
                    let words = cells[column].get(line).map(Vec::as_slice).unwrap_or_default();
                    let pad = width.saturating_sub(width_of(words));
                    let text = self.line(words);
                    let text = if number == 0 { self.styled(&text, HEADING) } else { text };
                    texts.push(match table.alignments.get(column) {
                        Some(pulldown_cmark::Alignment::Right) => format!("{}{text}", " ".repeat(pad)),
                        Some(pulldown_cmark::Alignment::Center) => {
                            format!("{}{text}{}", " ".repeat(pad / 2), " ".repeat(pad - pad / 2))
                        }
                        _ => format!("{text}{}", " ".repeat(pad)),
                    });
                }
                self.row(texts.join(" │ ").trim_end());
            }
            if number == 0 {
                self.row(&rule);
            } else if is_wrapped && number + 1 < table.rows.len() {
                self.row(&quiet_rule);
            }
        }
    }

    fn table_as_list(&mut self, table: &Table) {
        let plain = Self::default();
        let names: Vec<String> = table.rows.first().into_iter().flatten().map(|words| plain.line(words)).collect();
        for (number, row) in table.rows.iter().skip(1).enumerate() {
            if number > 0 {
                self.row("");
            }
            for (name, words) in names.iter().zip(row) {
                let mut labelled = vec![Word { text: format!("{name}:"), style: HEADING, is_spaced: false }];
                labelled.extend(words.iter().cloned().map(|word| Word { is_spaced: true, ..word }));
                self.words = labelled;
                self.end_row();
            }
        }
    }
}

/// Returns how wide the columns of a table are, if it fits into a row of `room`. Narrow columns keep their width; the others
/// share what is left.
fn column_widths(natural: &[usize], room: usize) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..natural.len()).collect();
    order.sort_by_key(|column| natural[*column]);
    let mut widths = natural.to_vec();
    let mut left = room;
    for (number, column) in order.into_iter().enumerate() {
        let share = left / (natural.len() - number);
        widths[column] = natural[column].min(share);
        if widths[column] < natural[column].min(MIN_COLUMN) {
            return None;
        }
        left -= widths[column];
    }
    Some(widths)
}

/// Returns a style with the effects of both.
fn merged(a: Style, b: Style) -> Style {
    let colour = a.get_fg_color().or(b.get_fg_color());
    a.fg_color(colour).effects(a.get_effects() | b.get_effects())
}

fn width_of(words: &[Word]) -> usize {
    let spaces = words.iter().skip(1).filter(|word| word.is_spaced).count();
    words.iter().map(|word| word.text.width()).sum::<usize>() + spaces
}

/// Breaks words into rows. A word that is wider than a row is broken, so that no row is too wide.
fn wrapped(words: &[Word], room: usize) -> Vec<Vec<Word>> {
    let mut rows: Vec<Vec<Word>> = vec![Vec::new()];
    let mut used = 0;
    let mut queue: std::collections::VecDeque<Word> = words.iter().cloned().collect();
    while let Some(word) = queue.pop_front() {
        // Words without space between them stay together, such as `**bold**,`.
        let glued: usize = queue.iter().take_while(|next| !next.is_spaced).map(|next| next.text.width()).sum();
        let width = word.text.width();
        let space = usize::from(word.is_spaced && used > 0);
        if used > 0 && word.is_spaced && used + space + width + glued > room && width + glued <= room {
            rows.push(vec![word]);
            used = width;
        } else if used + space + width <= room {
            used += space + width;
            rows.last_mut().map(|row| row.push(word)).unwrap_or_default();
        } else if used > 0 && width <= room {
            rows.push(vec![word]);
            used = width;
        } else {
            let limit = if used > 0 && used + space + 1 < room { room - used - space } else { room };
            let (mut taken, mut at) = (0, 0);
            for (index, c) in word.text.char_indices() {
                let next = taken + c.width().unwrap_or_default();
                if next > limit && index > 0 {
                    break;
                }
                (taken, at) = (next, index + c.len_utf8());
            }
            let (head, tail) = word.text.split_at(at);
            let head = Word { text: head.to_owned(), ..word.clone() };
            if used > 0 && used + space + 1 < room {
                rows.last_mut().map(|row| row.push(head)).unwrap_or_default();
            } else {
                rows.push(vec![head]);
            }
            used = room;
            if !tail.is_empty() {
                queue.push_front(Word { text: tail.to_owned(), is_spaced: false, ..word });
            }
        }
    }
    rows.retain(|row| !row.is_empty());
    rows
}
