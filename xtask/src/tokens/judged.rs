//! Compares our counts with recorded requests in `*.jsonl`: one object a line, with `family`, `kind`, `provider`, `api`,
//! `core`, `source` (`repository:path`), `input_tokens` and `request`.
//!
//! The simple rules beside ours are fitted to the requests of all other repositories, so that no rule has seen the request
//! that it is judged by.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sluice_core::Counter;

use super::text_of;
use crate::Done;

/// The shares that were reached, by family and kind. They are compared only if the same requests are judged.
const BASELINE: &str = "xtask/src/tokens/baseline.txt";
const VOCABULARY: &str = "crates/sluice-core/data/gemma.vocabulary";

struct Judged {
    group: String,
    repository: String,
    actual: f64,
    ours: f64,
    length: f64,
    o200k: f64,
}

pub fn check(files: &[PathBuf]) -> Done {
    let vocabulary = fs::read(VOCABULARY).map_err(|error| format!("cannot read {VOCABULARY}: {error}"))?;
    if !Counter::load_vocabulary(&vocabulary) {
        return Err(format!("{VOCABULARY} is damaged"));
    }
    let mut groups: BTreeMap<String, Vec<Judged>> = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).map_err(|error| format!("{}: {error}", file.display()))?;
            if let Some(judged) = Judged::of(&line) {
                groups.entry(judged.group.clone()).or_default().push(judged);
            }
        }
    }
    println!(
        "{:<18}{:>5}{:>9}{:>9}{:>7}{:>7}{:>9}{:>8}{:>7} | |median| of {:>10}{:>14}",
        "", "n", "median", "|median|", "p90", "<=5%", "<=15|5%", "under", "repos", "length / k", "o200k x k"
    );
    let known = fs::read_to_string(BASELINE).unwrap_or_default();
    let mut reached = String::new();
    let mut worse = Vec::new();
    for (name, group) in &groups {
        let errors = sorted(group.iter().map(|one| (one.ours - one.actual) / one.actual));
        let distances = sorted(errors.iter().map(|error| error.abs()));
        let share = |is: &dyn Fn(&Judged) -> bool| ratio(group.iter().filter(|one| is(one)).count(), group.len());
        let near = share(&|one| (one.ours - one.actual).abs() <= (one.actual * 0.05).max(15.0));
        let under = share(&|one| one.ours < one.actual - (one.actual * 0.1).max(30.0));
        let by_others = |count: &dyn Fn(&Judged) -> f64| {
            let errors = group.iter().filter_map(|one| {
                let others = group.iter().filter(|other| other.repository != one.repository);
                let factor = middle(&sorted(others.map(|other| other.actual / count(other).max(1.0))))?;
                Some((count(one) * factor - one.actual).abs() / one.actual)
            });
            middle(&sorted(errors)).map_or("–".to_owned(), |error| format!("{:.1} %", error * 100.0))
        };
        let repositories: std::collections::BTreeSet<&str> = group.iter().map(|one| one.repository.as_str()).collect();
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        println!(
            "{name:<18}{:>5}{:>9}{:>9}{:>7}{:>7}{:>9}{:>8}{:>7} |             {:>10}{:>14}",
            group.len(),
            format!("{:+.1} %", middle(&errors).unwrap_or(0.0) * 100.0),
            format!("{:.1} %", middle(&distances).unwrap_or(0.0) * 100.0),
            percent(distances.get(distances.len() * 9 / 10).copied().unwrap_or(0.0)),
            percent(share(&|one| (one.ours - one.actual).abs() <= one.actual * 0.05)),
            percent(near),
            percent(under),
            repositories.len(),
            by_others(&|one| one.length),
            by_others(&|one| one.o200k),
        );
        reached += &format!("{name}: {} requests, near {near:.3}, under {under:.3}\n", group.len());
        let before = known.lines().find_map(|line| {
            let figures = line.strip_prefix(&format!("{name}: {} requests, near ", group.len()))?;
            let (near, under) = figures.split_once(", under ")?;
            Some((near.parse::<f64>().ok()?, under.parse::<f64>().ok()?))
        });
        if before.is_some_and(|(was_near, was_under)| near < was_near - 0.005 || under > was_under + 0.005) {
            worse.push(format!("{name}: near {near:.3}, under {under:.3}, was {before:?}"));
        }
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return fs::write(BASELINE, reached).map_err(|error| format!("cannot write {BASELINE}: {error}"));
    }
    if worse.is_empty() { Ok(()) } else { Err(format!("families got worse\n  {}", worse.join("\n  "))) }
}

impl Judged {
    /// Returns `None` for requests that a client can't know everything about, and for the other API of `openai`, which shows
    /// tools in another way.
    fn of(line: &Value) -> Option<Self> {
        let text = |name: &str| line[name].as_str().unwrap_or_default();
        let is_other_api = text("family") == "openai" && !text("api").starts_with("responses");
        if line["core"] != true || is_other_api {
            return None;
        }
        let request = &line["request"];
        // The address of Google's own server decides how tools are counted.
        let server = if text("provider") == "google" { "https://generativelanguage.googleapis.com/" } else { "" };
        let counted = Counter::exact().for_server(server).request_body(request.to_string().as_bytes()).ok()?;
        let provider = match (text("family"), text("provider")) {
            ("gemini", "google") => " studio",
            _ => "",
        };
        let shown = text_of(request) + &request["tools"].to_string();
        Some(Self {
            group: format!("{}{provider} {}", text("family"), text("kind")),
            repository: text("source").split(':').next().unwrap_or_default().to_owned(),
            actual: line["input_tokens"].as_f64().filter(|actual| *actual > 0.0)?,
            ours: f64::from(counted.input_tokens),
            length: f64::from(u32::try_from(shown.chars().count()).ok()?),
            o200k: f64::from(Counter::exact().text("gpt-5", &shown)),
        })
    }
}

/// Returns the `*.jsonl` files in a directory.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    files.sort();
    files
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn middle(sorted: &[f64]) -> Option<f64> {
    sorted.get(sorted.len() / 2).copied()
}

#[expect(clippy::cast_precision_loss, reason = "small numbers of requests")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}
