//! The table of models, as wide as the terminal. Columns that don't fit are left out, the least important first.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use sluice_core::{ChatModel, LimitsFrom, OtherModel, Prices, short_count};

use crate::text::one_line;

const HEAD: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const ID: Style = AnsiColor::Cyan.on_default();
const GAP: usize = 2;
/// The minimum number of characters that keep an id readable.
const SHORTEST_ID: usize = 28;
const ABILITIES: [(char, &str); 6] =
    [('t', "tools"), ('i', "images"), ('f', "files"), ('r', "thinking"), ('w', "web search"), ('d', "draws")];

pub struct Row {
    id: String,
    /// The kind of the model, if it isn't a chat model.
    kind: Option<String>,
    context: String,
    output: String,
    price: String,
    cached: String,
    abilities: Vec<usize>,
}

impl Row {
    pub fn of(model: &ChatModel) -> Self {
        let can = model.capabilities;
        let abilities = [
            can.tool_calling && !can.tool_calling_assumed,
            can.image_input,
            can.file_input,
            can.thinking,
            can.web_search,
            can.image_output,
        ];
        let count = |tokens: u32| {
            // Guesses are marked.
            let guess = if model.limits_from == LimitsFrom::Assumed { "~" } else { "" };
            format!("{guess}{}", short_count(u64::from(tokens)))
        };
        let prices = model.prices.as_ref();
        let price = prices.and_then(Prices::in_and_out).map_or("?".to_owned(), |price| price.to_string());
        let tiers = if prices.is_some_and(Prices::has_tiers) { "+" } else { "" };
        Self {
            id: one_line(&model.id).into_owned(),
            kind: None,
            context: count(model.context_window),
            output: count(model.max_output_tokens),
            price: format!("{price}{tiers}"),
            cached: prices.and_then(Prices::cached).unwrap_or_default(),
            abilities: (0..abilities.len()).filter(|at| abilities[*at]).collect(),
        }
    }

    pub fn of_other(model: &OtherModel) -> Self {
        let (none, id) = (String::new, one_line(&model.id).into_owned());
        let kind = Some(one_line(&model.kind).into_owned());
        let price =
            model.prices.as_ref().and_then(Prices::in_and_out).map(|price| price.to_string()).unwrap_or_default();
        Self { id, kind, context: none(), output: none(), price, cached: none(), abilities: Vec::new() }
    }

    fn cell(&self, column: Column) -> String {
        #[cfg(test)]
        tests::CELLS.set(tests::CELLS.get() + 1);
        match column {
            Column::Context => self.context.clone(),
            Column::Output => self.output.clone(),
            Column::Price => self.price.clone(),
            Column::Cached => self.cached.clone(),
            Column::Words => self.abilities.iter().map(|at| ABILITIES[*at].1).collect::<Vec<_>>().join(", "),
            Column::Letters => {
                let letter = |at: usize| if self.abilities.contains(&at) { ABILITIES[at].0 } else { '·' };
                if self.kind.is_some() { String::new() } else { (0..ABILITIES.len()).map(letter).collect() }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Context,
    Output,
    Price,
    Cached,
    Words,
    Letters,
}

/// In the order of their declaration.
const COLUMNS: [Column; 6] =
    [Column::Context, Column::Output, Column::Price, Column::Cached, Column::Words, Column::Letters];

impl Column {
    fn title(self) -> &'static str {
        match self {
            Self::Context => "CONTEXT",
            Self::Output => "OUTPUT",
            Self::Price => "$/M IN / OUT",
            Self::Cached => "CACHED",
            Self::Words | Self::Letters => "CAN",
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Self::Context | Self::Output | Self::Cached)
    }
}

/// The layouts, from the most detailed to the simplest. The first that fits is used.
const LAYOUTS: [&[Column]; 7] = [
    &[Column::Context, Column::Output, Column::Price, Column::Cached, Column::Words],
    &[Column::Context, Column::Output, Column::Price, Column::Words],
    &[Column::Context, Column::Output, Column::Price, Column::Letters],
    &[Column::Context, Column::Price, Column::Letters],
    &[Column::Context, Column::Price],
    &[Column::Context],
    &[],
];

/// `width` is the terminal's. Without it, every column is shown in full.
pub fn print_table(rows: &[Row], width: Option<usize>, out: &mut impl Write) -> io::Result<()> {
    let width = width.unwrap_or(usize::MAX);
    // This runs once for each column, not for each cell.
    let widths = COLUMNS.map(|column| {
        let cells = rows.iter().map(|row| row.cell(column).chars().count());
        cells.max().unwrap_or(0).max(column.title().chars().count())
    });
    let widest = |column: Column| widths[column as usize];
    let ids = rows.iter().map(|row| marked(row).chars().count()).max().unwrap_or(0).max("ID".len());
    let rest = |columns: &[Column]| columns.iter().map(|column| widest(*column) + GAP).sum::<usize>();
    let fits = |shortest: usize| LAYOUTS.iter().find(|columns| rest(columns) + shortest <= width);
    // Complete ids are more important than the cached price and the names of capabilities, but less important than the
    // output limit.
    let whole = fits(ids).filter(|columns| columns.contains(&Column::Output));
    let columns: &[Column] = whole.or_else(|| fits(SHORTEST_ID.min(ids))).copied().unwrap_or_default();
    let id_width = ids.min(width.saturating_sub(rest(columns)).max(1));

    let line = |out: &mut dyn Write, style: Style, id: &str, kind: &str, cell: &dyn Fn(Column) -> String| {
        let shown = id.chars().count() + kind.chars().count();
        write!(out, "{style}{id}{style:#}{FAINT}{kind}{FAINT:#}")?;
        let mut owed = id_width.saturating_sub(shown);
        for column in columns {
            let text = cell(*column);
            let space = widest(*column).saturating_sub(text.chars().count());
            let (before, after) = if column.is_number() { (space, 0) } else { (0, space) };
            // Spaces are only printed if something follows them.
            if text.is_empty() {
                owed += GAP + widest(*column);
            } else {
                write!(out, "{:1$}{text}", "", owed + GAP + before)?;
                owed = after;
            }
        }
        writeln!(out)
    };
    line(out, HEAD, "ID", "", &|column| column.title().to_owned())?;
    for row in rows {
        let id = shortened(&row.id, id_width);
        let room = id_width - id.chars().count();
        let kind = row.kind.as_ref().map(|kind| format!(" {kind}")).unwrap_or_default();
        line(out, ID, &id, &shortened(&kind, room), &|column| row.cell(column))?;
    }
    if columns.contains(&Column::Letters) {
        let legend: Vec<String> = ABILITIES.iter().map(|(letter, word)| format!("{letter} {word}")).collect();
        writeln!(out, "{FAINT}{}{FAINT:#}", shortened(&legend.join(", "), width))?;
    }
    Ok(())
}

fn marked(row: &Row) -> String {
    format!("{}{}", row.id, row.kind.as_ref().map(|kind| format!(" {kind}")).unwrap_or_default())
}

/// The end of an id says more than its middle: `anthropic/clau…-4.5`.
fn shortened(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let end = width.saturating_sub(1) / 3;
    let start = width.saturating_sub(end + 1);
    let head = text.chars().take(start);
    head.chain((width > 0).then_some('…')).chain(text.chars().skip(length - end)).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use expect_test::expect;

    use super::*;

    thread_local! {
        /// The number of cells that were made.
        pub static CELLS: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn the_time_for_a_long_table_is_linear() {
        let cells = |models: usize| {
            let rows: Vec<Row> = (0..models).map(|number| row(&format!("a/{number}"), "Free", &[])).collect();
            let before = CELLS.get();
            print_table(&rows, None, &mut io::sink()).unwrap();
            CELLS.get() - before
        };
        assert_eq!(cells(2_000), 2 * cells(1_000));
    }

    fn row(id: &str, price: &str, abilities: &[usize]) -> Row {
        let text = |text: &str| text.to_owned();
        Row {
            id: text(id),
            kind: None,
            context: text("200k"),
            output: text("64k"),
            price: text(price),
            cached: text("$0.30"),
            abilities: abilities.to_vec(),
        }
    }

    fn table(width: usize) -> String {
        let rows = [
            row("anthropic/claude-sonnet-4.5", "$3 / $15+", &[0, 1, 2, 3]),
            row("google/gemini-2.5-flash-lite-preview-09-2025", "$0.10 / $0.40", &[0, 1, 3, 4]),
            row("a/free", "Free", &[]),
            Row {
                kind: Some("embedding".to_owned()),
                context: String::new(),
                ..row("openai/text-embedding-3", "", &[])
            },
        ];
        let mut out = anstream::StripStream::new(Vec::new());
        print_table(&rows, Some(width), &mut out).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    #[test]
    fn the_table_fits_the_terminal() {
        expect![[r#"
            ID                                            CONTEXT  OUTPUT  $/M IN / OUT   CAN
            anthropic/claude-sonnet-4.5                      200k     64k  $3 / $15+      tools, images, files, thinking
            google/gemini-2.5-flash-lite-preview-09-2025     200k     64k  $0.10 / $0.40  tools, images, thinking, web search
            a/free                                           200k     64k  Free
            openai/text-embedding-3 embedding                         64k
        "#]].assert_eq(&table(120));
        expect![[r#"
            ID                                        CONTEXT  OUTPUT  $/M IN / OUT   CAN
            anthropic/claude-sonnet-4.5                  200k     64k  $3 / $15+      tifr··
            google/gemini-2.5-flash-li…eview-09-2025     200k     64k  $0.10 / $0.40  ti·rw·
            a/free                                       200k     64k  Free           ······
            openai/text-embedding-3 embedding                     64k
            t tools, i images, f files, r thinking, w web search, d draws
        "#]]
        .assert_eq(&table(80));
        expect![[r#"
            ID                               CONTEXT
            anthropic/claude-sonnet-4.5         200k
            google/gemini-2.5-fl…ew-09-2025     200k
            a/free                              200k
            openai/text-embedding-3 embe…ng
        "#]]
        .assert_eq(&table(40));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in 1..200 {
            for line in table(width).lines() {
                // A column title has at least two letters.
                assert!(line.chars().count() <= width.max(2), "{width}: {line}");
            }
        }
    }
}
