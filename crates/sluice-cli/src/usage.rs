//! `sluice usage`: shows what was used, by day or month and by model.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, IsTerminal, Write, stdout};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde::Serialize;
use sluice_client::Store;
use sluice_core::{
    Credit, Dollars, History, HistoryPeriod, LimitState, SpendLimits, SpendPeriod, Totals, fixed_count, join_messages,
};

use crate::complain;
use crate::config::{Config, limit_name};
use crate::connection::{Connection, Selection};
use crate::ledger::{directory, tell_store_error, today};
use crate::spending::SpendingFiles;
use crate::text::{self, one_line};

/// The table shows at most this many days. Months are not limited.
const MAX_SHOWN: usize = 30;
const MAX_BAR: usize = 40;
const MIN_BAR: usize = 8;
/// No screen is wider, and the standard library's formatter panics above 65,535.
const MAX_WIDTH: usize = 1_000;
const HEAD: Style = Style::new().dimmed();
const BAR: Style = AnsiColor::Cyan.on_default();
const TOTAL: Style = Style::new().bold();

/// Show what `sluice chat` used: tokens and dollars by day and by model.
///
/// Days are in UTC. Costs are the gateway's own figures, or else computed from its prices.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct Usage {
    /// By day (the default)
    #[arg(long, conflicts_with = "month")]
    day: bool,
    /// By month
    #[arg(long)]
    month: bool,
    /// Print one JSON object: a row for each day or month and model, and the total
    #[arg(long)]
    json: bool,
    /// Also ask the gateway how much credit is left
    #[arg(long)]
    gateway: bool,
}

impl Usage {
    pub async fn run(self, selection: &Selection) -> io::Result<ExitCode> {
        let mut asked = None;
        if self.gateway {
            match credit(selection).await {
                Ok(credit) => asked = Some(credit),
                Err(message) => return Ok(complain(&message)),
            }
        }
        let directory = directory();
        // Showing the usage must not create the directory.
        let history = if directory.exists() {
            let (_, memory, error) = Store::open(&directory);
            if let Some(error) = error {
                tell_store_error(&error);
            }
            memory.history()
        } else {
            History::default()
        };
        let period = if self.month { HistoryPeriod::Month } else { HistoryPeriod::Day };
        let limits = match Config::load() {
            Ok(config) => config.limit,
            Err(message) => return Ok(complain(&message)),
        };
        let states = limit_states(&history, &limits);
        if self.json {
            print_json(&history, period, &states, asked)?;
        } else {
            print_tables(&history, period, width())?;
            print_limits(&history, &states)?;
            if let Some((origin, credit)) = asked {
                writeln!(anstream::stdout(), "\n{}: {}", one_line(&origin), credit.text)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Asks the gateway how much credit is left. Returns its origin, too.
async fn credit(selection: &Selection) -> Result<(String, Credit), String> {
    let connection = Connection::open(selection)?;
    let origin = connection.client.endpoint().origin.clone();
    if connection.is_embedded() {
        return Err("there is no gateway to ask; `sluice login` keeps a key".to_owned());
    }
    let check = connection.client.check_key().await.map_err(|failure| failure.sentence())?;
    let said = join_messages(&check.text, " ");
    check.credit.map(|credit| (origin.clone(), credit)).ok_or(format!("{origin} does not report credit. {said}"))
}

/// This is a public format: fields may be added, never renamed or removed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    day: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    month: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(flatten)]
    totals: Totals,
    first_part_after_ms: Option<u64>,
    tokens_per_second: Option<f64>,
}

impl Row {
    fn of(totals: Totals) -> Self {
        Self {
            day: None,
            month: None,
            model: None,
            totals,
            first_part_after_ms: totals.first_part_after_ms(),
            tokens_per_second: totals.tokens_per_second(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    rows: Vec<Row>,
    total: Row,
    limits: &'a [LimitState],
    /// What this month will cost if it goes on like this, in dollars.
    expected_this_month: Option<f64>,
    /// What the gateway says, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    gateway: Option<GatewayCredit>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GatewayCredit {
    origin: String,
    credit_left: Dollars,
    used_in_total: Option<Dollars>,
}

fn print_json(
    history: &History,
    period: HistoryPeriod,
    limits: &[LimitState],
    credit: Option<(String, Credit)>,
) -> io::Result<()> {
    let mut total = Totals::default();
    let mut rows = Vec::new();
    for (when, models) in history.by(period) {
        for (model, totals) in models {
            total.merge(&totals);
            let (day, month) = match period {
                HistoryPeriod::Day => (Some(when.clone()), None),
                HistoryPeriod::Month => (None, Some(when.clone())),
            };
            rows.push(Row { day, month, model: Some(model), ..Row::of(totals) });
        }
    }
    let expected_this_month = history.expected_this_month(today()).map(Dollars::as_f64);
    let gateway =
        credit.map(|(origin, credit)| GatewayCredit { origin, credit_left: credit.left, used_in_total: credit.used });
    let report = serde_json::to_string(&Report { rows, total: Row::of(total), limits, expected_this_month, gateway })?;
    writeln!(stdout(), "{}", text::json(&report))
}

/// Returns how much of each limit is used, by all processes.
fn limit_states(history: &History, limits: &SpendLimits) -> Vec<LimitState> {
    let others: Vec<String> = SpendingFiles::new(0).others().into_iter().map(|(_, file)| file).collect();
    history.limit_states(limits, &others, today())
}

fn print_limits(history: &History, limits: &[LimitState]) -> io::Result<()> {
    let mut out = anstream::stdout();
    if let Some(expected) = history.expected_this_month(today()) {
        writeln!(out, "\nIf it goes on like this, this month will cost about {expected}.")?;
    }
    let limits = limits.iter().filter(|limit| matches!(limit.period, SpendPeriod::Day | SpendPeriod::Month));
    for (number, limit) in limits.enumerate() {
        if number == 0 {
            writeln!(out)?;
        }
        let percent = limit.used.0.saturating_mul(100).checked_div(limit.limit.0).unwrap_or(100);
        let (name, used) = (limit_name(limit), limit.used);
        writeln!(out, "{}: {used} of {} ({percent} %)", one_line(&name), limit.limit)?;
    }
    Ok(())
}

fn print_tables(history: &History, period: HistoryPeriod, width: usize) -> io::Result<()> {
    let mut out = anstream::stdout();
    if history.is_empty() {
        return writeln!(
            out,
            "Nothing was used yet. Ask something: sluice chat \"Hello\" (without a key the embedded gateway answers)."
        );
    }
    let periods = history.by(period);
    let earlier = if period == HistoryPeriod::Day { periods.len().saturating_sub(MAX_SHOWN) } else { 0 };
    let (mut by_period, mut by_model) = (Vec::new(), BTreeMap::<String, Totals>::new());
    let mut total = Totals::default();
    for (when, models) in periods.into_iter().skip(earlier) {
        let mut sum = Totals::default();
        for (model, totals) in models {
            sum.merge(&totals);
            by_model.entry(one_line(&model).into_owned()).or_default().merge(&totals);
        }
        total.merge(&sum);
        by_period.push((when, sum));
    }
    let mut by_model: Vec<(String, Totals)> = by_model.into_iter().collect();
    by_model.sort_by_key(|(_, totals)| std::cmp::Reverse(tokens(totals)));

    let title = if period == HistoryPeriod::Month { "Month" } else { "Day" };
    write_table(&mut out, title, &by_period, &total, width)?;
    writeln!(out)?;
    write_table(&mut out, "Model", &by_model, &total, width)?;
    let mut notes = Vec::new();
    if earlier > 0 {
        notes.push(format!("{earlier} earlier days are not shown; --month sums them up."));
    }
    if total.unpriced > 0 {
        notes.push(format!("{} not in the cost: no price is known.", requests(total.unpriced)));
    }
    if total.uncounted > 0 {
        notes.push(format!("{} not in the tokens: failed, or not counted by the server.", requests(total.uncounted)));
    }
    if !notes.is_empty() {
        writeln!(out)?;
    }
    notes.iter().try_for_each(|note| writeln!(out, "{HEAD}{note}{HEAD:#}"))
}

fn requests(number: u64) -> String {
    if number == 1 { "1 request is".to_owned() } else { format!("{number} requests are") }
}

/// The title, the priority of removal if there is no room, and the function that formats a cell.
type Column = (&'static str, u8, fn(&Totals) -> String);

const COLUMNS: [Column; 7] = [
    ("Requests", 4, |totals| totals.requests.to_string()),
    ("Input", 1, |totals| fixed_count(totals.input_tokens)),
    ("Cached", 5, |totals| match totals.input_tokens {
        0 => "–".to_owned(),
        input => {
            let (cached, input) = (u128::from(totals.cached_tokens.min(input)), u128::from(input));
            format!("{} %", (cached * 100 + input / 2) / input)
        }
    }),
    ("Output", 2, |totals| fixed_count(totals.output_tokens)),
    ("Cost", 0, |totals| match (totals.unpriced, totals.requests - totals.uncounted.min(totals.requests)) {
        (0, 1..) => totals.cost.to_string(),
        (unpriced, counted) if unpriced < counted => format!("{}+", totals.cost),
        _ => "–".to_owned(),
    }),
    ("1st part", 7, |totals| {
        #[allow(clippy::cast_precision_loss, reason = "for display")]
        totals.first_part_after_ms().map_or_else(|| "–".to_owned(), |ms| format!("{:.1} s", ms as f64 / 1000.0))
    }),
    ("Tokens/s", 6, |totals| totals.tokens_per_second().map_or_else(|| "–".to_owned(), |rate| format!("{rate:.0}"))),
];

/// Writes a table with a row for each entry and a bar for its tokens. It has as many columns as there is room for.
fn write_table(
    out: &mut dyn Write,
    title: &str,
    rows: &[(String, Totals)],
    total: &Totals,
    width: usize,
) -> io::Result<()> {
    let length = |text: &str| text.chars().count();
    let names = rows.iter().map(|(name, _)| length(name)).chain([length(title), "Total".len()]);
    let name_width = names.max().unwrap_or(0).min((width / 2).max(10));
    let mut columns: Vec<(&Column, Vec<String>, usize)> = COLUMNS
        .iter()
        .map(|column| {
            let cells: Vec<String> = rows.iter().map(|(_, row)| row).chain([total]).map(column.2).collect();
            let width = cells.iter().map(|cell| length(cell)).chain([length(column.0)]).max().unwrap_or(0);
            (column, cells, width + 2)
        })
        .collect();
    let room = |columns: &[(&Column, Vec<String>, usize)]| {
        width.saturating_sub(name_width + columns.iter().map(|(_, _, width)| width).sum::<usize>() + 2)
    };
    while columns.len() > 1 && room(&columns) < MIN_BAR {
        let last = columns.iter().map(|(column, ..)| column.1).max().unwrap_or(0);
        columns.retain(|(column, ..)| column.1 != last);
    }
    let bar_width = Some(room(&columns).min(MAX_BAR)).filter(|room| *room >= MIN_BAR).unwrap_or(0);
    let most = rows.iter().map(|(_, row)| tokens(row)).max().unwrap_or(0);

    let line = |name: &str, cells: &dyn Fn(usize) -> String| {
        let mut line = format!("{:<name_width$}", clipped(name, name_width));
        for (index, (_, _, width)) in columns.iter().enumerate() {
            line.push_str(&format!("{:>width$}", cells(index), width = *width));
        }
        line
    };
    let titles = |index: usize| columns.get(index).map(|(column, ..)| column.0.to_owned()).unwrap_or_default();
    writeln!(out, "{HEAD}{}{HEAD:#}", line(title, &titles))?;
    let cell = |row: usize| {
        let columns = &columns;
        move |index: usize| columns.get(index).and_then(|(_, cells, _)| cells.get(row)).cloned().unwrap_or_default()
    };
    for (number, (name, row)) in rows.iter().enumerate() {
        let bar = bar(tokens(row), most, bar_width);
        let gap = if bar.is_empty() { "" } else { "  " };
        writeln!(out, "{}{gap}{BAR}{bar}{BAR:#}", line(name, &cell(number)))?;
    }
    if rows.len() > 1 {
        writeln!(out, "{TOTAL}{}{TOTAL:#}", line("Total", &cell(rows.len())))?;
    }
    Ok(())
}

fn tokens(totals: &Totals) -> u64 {
    totals.input_tokens.saturating_add(totals.output_tokens)
}

/// Draws a bar in eighths of a character. Anything above zero is visible.
fn bar(part: u64, whole: u64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = u128::from(part) * (width as u128) * 8;
    let eighths = eighths.checked_div(u128::from(whole)).unwrap_or(0);
    let eighths = usize::try_from(eighths).unwrap_or(0).max(usize::from(part > 0 && width > 0));
    "█".repeat(eighths / 8) + EIGHTHS.get(eighths % 8).copied().unwrap_or_default()
}

fn clipped(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    // The ends of model names differ more than their beginnings.
    let skipped = text.chars().count() + 1 - width;
    std::iter::once('…').chain(text.chars().skip(skipped)).collect()
}

/// Returns `COLUMNS`, or else the terminal's width, or else 80 for files and pipes.
fn width() -> usize {
    let told = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size_of(stdout()).filter(|_| stdout().is_terminal());
    told.or_else(|| terminal().map(|(width, _)| usize::from(width.0))).unwrap_or(80).clamp(20, MAX_WIDTH)
}
