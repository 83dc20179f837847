//! `cargo xtask tokens DIR`: compares our counts with the servers' counts in recorded requests (`NAME.req.json` next to
//! `NAME.sse`, or lines of `*.jsonl`).
//!
//! What a server adds itself (prompts, tools, stored conversations) isn't in the request. Such requests are listed
//! separately with the reason; all others must stay within the bounds that are printed.

mod anchored;
mod judged;
mod learned;
mod refit;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sluice_core::{Counter, TokenBreakdown};

use crate::Done;

/// A request that a server has counted.
struct Recorded {
    name: String,
    body: Value,
    text: String,
    actual: u32,
    usage: Value,
    counted: TokenBreakdown,
}

pub fn check(directory: &Path) -> Done {
    let counter = Counter::exact();
    let recorded = read(directory, counter)?;
    if recorded.is_empty() {
        let judged = judged::files(directory);
        if judged.is_empty() {
            let directory = directory.display();
            return Err(format!("neither *.req.json with a counted answer (*.sse) nor *.jsonl under {directory}"));
        }
        return judged::check(&judged);
    }
    let hidden: Vec<HiddenPrompt> = recorded.iter().filter_map(|one| HiddenPrompt::find(one, counter)).collect();
    let (explained, comparable): (Vec<_>, Vec<_>) =
        recorded.iter().partition(|one| explanation(one, &hidden).is_some());
    table(&comparable, counter);
    println!("\nOpenAI tokenizers, where the request contains everything that the server counts:");
    let openai: Vec<&Recorded> = comparable.iter().copied().filter(|one| one.counted.own_vocabulary).collect();
    let (with_tools, text_only): (Vec<&Recorded>, Vec<&Recorded>) =
        openai.iter().partition(|one| one.counted.tools > 0);
    let mut broken = Vec::new();
    for (what, group, tokens, share, bound) in
        [("text only", text_only, 3, 0.01, 0.95), ("with function tools", with_tools, 8, 0.03, 0.90)]
    {
        let within = group.iter().filter(|one| one.is_within(tokens, share)).count();
        let reached = ratio(within, group.len());
        println!(
            "  {what}: {within} of {} within max({tokens} tokens, {} %): {:.1} %, at least {} % required",
            group.len(),
            share * 100.0,
            reached * 100.0,
            bound * 100.0
        );
        if reached < bound {
            broken.push(format!("{what}: only {:.1} % are within the bounds", reached * 100.0));
        }
        for one in group.iter().filter(|one| !one.is_within(tokens, share)) {
            println!("    {} counted as {}: {}", one.actual, one.counted.input_tokens, one.name);
        }
    }
    let under = openai.iter().filter(|one| one.is_far_under());
    for one in under {
        broken.push(format!("{} counted as {}: {}", one.actual, one.counted.input_tokens, one.name));
    }
    println!("  never too low by more than 3 % + 8 tokens: {}", if broken.is_empty() { "yes" } else { "no" });

    if let Some(message) = costs(&openai) {
        broken.push(message);
    }
    if let Err(message) = anchored::print(&recorded, counter) {
        broken.push(message);
    }

    println!("\nNot counted, because it isn't in the request ({} requests):", explained.len());
    for one in &explained {
        let why = explanation(one, &hidden).unwrap_or_default();
        println!("  {:>6} counted as {:>5}  {why}\n{:26}{}", one.actual, one.counted.input_tokens, "", one.name);
    }
    if broken.is_empty() { Ok(()) } else { Err(format!("some counts are out of bounds\n  {}", broken.join("\n  "))) }
}

/// Prints the errors for each tokenizer, next to those of two simple rules.
fn table(recorded: &[&Recorded], counter: Counter) {
    let mut tokenizers: BTreeMap<&str, Vec<&Recorded>> = BTreeMap::new();
    for one in recorded {
        tokenizers.entry(&one.counted.tokenizer).or_default().push(one);
    }
    println!("Relative errors, median and worst:\n");
    println!("{:<12}{:>5}{:>18}{:>18}{:>18}", "tokenizer", "n", "sluice", "length / 3.5", "o200k of the JSON");
    for (tokenizer, group) in tokenizers {
        let errors =
            |count: &dyn Fn(&Recorded) -> f64| errors(group.iter().map(|one| (count(one), f64::from(one.actual))));
        println!(
            "{tokenizer:<12}{:>5}{:>18}{:>18}{:>18}",
            group.len(),
            errors(&|one| f64::from(one.counted.input_tokens)),
            errors(&|one| f64::from(u32::try_from(one.text.chars().count()).unwrap_or(u32::MAX)) / 3.5),
            errors(&|one| f64::from(counter.text("gpt-4o", &one.body.to_string()))),
        );
    }
}

/// Prints how far off a forecast of the cost is if the length of the answer and the cached tokens are known. The prices are
/// those of a usual model: output costs five times as much as input, and cached input a tenth.
fn costs(recorded: &[&Recorded]) -> Option<String> {
    let cost = |input: f64, one: &Recorded| {
        let count = |pointer: &str| one.usage.pointer(pointer).and_then(Value::as_f64).unwrap_or(0.0);
        let cached = count("/input_tokens_details/cached_tokens").min(input);
        input - cached * 0.9 + count("/output_tokens") * 5.0
    };
    let errors: Vec<f64> = recorded
        .iter()
        .map(|one| {
            let actual = cost(f64::from(one.actual), one);
            (cost(f64::from(one.counted.input_tokens), one) - actual).abs() / actual.max(1.0) * 100.0
        })
        .collect();
    let within = errors.iter().filter(|error| **error <= 10.0).count();
    let worst = errors.iter().copied().fold(0.0, f64::max);
    println!("  forecasts of costs: {within} of {} within 10 %, the worst {worst:.1} % off", errors.len());
    (within < errors.len()).then(|| format!("a cost is {worst:.1} % off"))
}

/// Returns the median and the worst relative error in per cent.
fn errors(pairs: impl Iterator<Item = (f64, f64)>) -> String {
    let mut all: Vec<f64> = pairs.map(|(count, actual)| (count - actual).abs() / actual.max(1.0) * 100.0).collect();
    all.sort_by(f64::total_cmp);
    format!("{:.1} {:>7.1} %", all[all.len() / 2], all[all.len() - 1])
}

impl Recorded {
    fn is_within(&self, tokens: u32, share: f64) -> bool {
        let off = f64::from(self.actual.abs_diff(self.counted.input_tokens));
        off <= f64::from(tokens).max(f64::from(self.actual) * share)
    }

    /// Returns how many more tokens the server counts.
    fn excess(&self) -> u32 {
        self.actual.saturating_sub(self.counted.input_tokens)
    }

    /// Returns the directory of the recording.
    fn directory(&self) -> String {
        Path::new(&self.name).parent().unwrap_or(Path::new("")).display().to_string()
    }

    fn is_far_under(&self) -> bool {
        f64::from(self.counted.input_tokens) < f64::from(self.actual) * 0.97 - 8.0
    }
}

/// Returns why the server's count can't be known from the request alone, if that is the case.
fn explanation(one: &Recorded, hidden: &[HiddenPrompt]) -> Option<String> {
    if let Some(note) = one.counted.notes.first() {
        return Some(note.clone());
    }
    let items = one.body["input"].as_array();
    if items.is_some_and(|items| items.iter().any(|item| item["type"] == "compaction")) {
        return Some("a compaction: its content is encrypted".to_owned());
    }
    hidden.iter().any(|prompt| prompt.explains(one)).then(|| {
        format!("the server adds a prompt, as to other requests in this directory: {} more tokens", one.excess())
    })
}

/// A prompt that a server adds to the requests of one model, within one directory of recordings.
struct HiddenPrompt {
    directory: String,
    model: String,
    tokens: u32,
}

impl HiddenPrompt {
    /// Detects a hidden prompt where no other explanation is possible: in short plain text, or where the server counts
    /// more than the whole JSON.
    fn find(one: &Recorded, counter: Counter) -> Option<Self> {
        let counted = &one.counted;
        let beside_text = counted.tool_calls + counted.reasoning + counted.images + counted.tools + counted.format;
        let is_plain = beside_text == 0 && one.text.len() < 400;
        let is_beyond = counted.images == 0 && one.actual > counter.text("gpt-4o", &one.body.to_string());
        let found = counted.own_vocabulary && counted.notes.is_empty() && one.excess() > 8 && (is_plain || is_beyond);
        found.then(|| Self { directory: one.directory(), model: counted.model.clone(), tokens: one.excess() })
    }

    fn explains(&self, one: &Recorded) -> bool {
        self.directory == one.directory() && self.model == one.counted.model && self.tokens.abs_diff(one.excess()) <= 3
    }
}

fn read(directory: &Path, counter: Counter) -> Done<Vec<Recorded>> {
    let mut requests = Vec::new();
    collect(directory, &mut requests)?;
    requests.sort();
    let mut recorded = Vec::new();
    for path in requests {
        let cannot = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
        let bytes = fs::read(&path).map_err(|error| cannot(&error))?;
        let body: Value = serde_json::from_slice(&bytes).map_err(|error| cannot(&error))?;
        let stream = path.with_extension("").with_extension("sse");
        let Some(usage) = fs::read(&stream).ok().and_then(|stream| usage_in(&stream)) else { continue };
        let Some(actual) = usage["input_tokens"].as_u64().and_then(|count| u32::try_from(count).ok()) else { continue };
        let counted = counter.request_body(&bytes).map_err(|error| cannot(&error))?;
        let name = path.strip_prefix(directory).unwrap_or(&path).display().to_string();
        recorded.push(Recorded { name, text: text_of(&body), body, actual, usage, counted });
    }
    Ok(recorded)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Done {
    let entries = fs::read_dir(directory).map_err(|error| format!("cannot read {}: {error}", directory.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.to_string_lossy().ends_with(".req.json") {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the usage in the last event of an answer.
fn usage_in(stream: &[u8]) -> Option<Value> {
    let stream = String::from_utf8_lossy(stream);
    let events = stream.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data:")?).ok());
    let mut usages = events.map(|mut event| event["response"]["usage"].take()).filter(Value::is_object);
    usages.next_back()
}

/// Returns the strings that a rule based on text length would measure: instructions, messages, arguments and results.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(text_of).collect(),
        Value::Object(fields) => ["instructions", "input", "content", "text", "arguments", "output"]
            .iter()
            .filter_map(|name| fields.get(*name))
            .map(text_of)
            .collect(),
        _ => String::new(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "small numbers of files")]
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}
