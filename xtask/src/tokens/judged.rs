//! Compares our counts with recorded requests in `*.jsonl`: one object a line, with `family`, `kind`, `provider`, `api`,
//! `core`, `source` (`repository:path`), `input_tokens` and `request`.
//!
//! The simple rules beside ours, and our own factors in the column `refitted`, are fitted to the requests of all other
//! repositories, so that no rule has seen the request that it is judged by.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use sluice_core::Counter;

use super::refit::{self, Parts};
use super::{learned, ratio, text_of};
use crate::Done;

/// The shares that were reached, by family and kind. They are compared only if the same requests are judged.
const BASELINE: &str = "xtask/src/tokens/baseline.txt";
const VOCABULARY: &str = "crates/sluice-core/data/gemma.vocabulary";
/// The npm package that is compared, and where it is installed.
const PEER: &str = "ai-tokenizer@1.0.6";
const PEER_DIRECTORY: &str = "target/ai-tokenizer";
const PEER_SCRIPT: &str = "xtask/src/tokens/ai-tokenizer.mjs";

/// What we want to reach: the families and the kind, how far a count may be off (in tokens, or as a share), and in which share
/// of the requests.
const AIMS: [(&[&str], &str, f64, f64, f64); 14] = [
    (&["openai"], "text", 3.0, 0.01, 0.97),
    (&["openai"], "tools", 8.0, 0.03, 0.93),
    (&["claude"], "text", 15.0, 0.05, 0.90),
    (&["claude"], "tools", 0.0, 0.05, 0.85),
    (&["claude", "openai"], "image", 0.0, 0.05, 0.50),
    (&["claude new"], "text", 15.0, 0.10, 0.90),
    (&["claude new"], "tools", 0.0, 0.05, 0.50),
    (&["gemini", "gemini studio"], "text", 2.0, 0.01, 0.95),
    (&["gemini", "gemini studio"], "tools", 0.0, 0.05, 0.70),
    (&["gemini", "gemini studio"], "image", 0.0, 0.10, 0.90),
    (&["deepseek", "qwen", "mistral", "llama", "kimi", "glm"], "text", 5.0, 0.02, 0.90),
    (&["deepseek", "qwen", "mistral", "llama", "kimi", "glm"], "tools", 0.0, 0.10, 0.85),
    (&["nova", "grok", "cohere"], "text", 15.0, 0.10, 0.80),
    (&["nova", "grok", "cohere"], "tools", 0.0, 0.10, 0.80),
];
/// The share of requests that may be too low by more than 30 tokens and 10 %.
const MOST_UNDER: f64 = 0.03;

/// What a family has reached.
pub struct Reached {
    pub name: String,
    pub requests: usize,
    /// The share of counts that are close.
    pub near: f64,
    /// The share of counts that are far too low.
    pub under: f64,
}

pub struct Judged {
    pub family: String,
    pub kind: String,
    pub provider: String,
    /// The address of the server that counted it.
    pub server: &'static str,
    repository: String,
    pub body: Value,
    pub actual: f64,
    ours: f64,
    parts: Parts,
    length: f64,
    o200k: f64,
    /// What the npm package counts, if it knows the model.
    peer: Option<f64>,
}

pub fn check(files: &[PathBuf]) -> Done {
    let vocabulary = fs::read(VOCABULARY).map_err(|error| format!("cannot read {VOCABULARY}: {error}"))?;
    if !Counter::load_vocabulary(&vocabulary) {
        return Err(format!("{VOCABULARY} is damaged"));
    }
    let mut all = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).map_err(|error| format!("{}: {error}", file.display()))?;
            all.extend(Judged::of(&line));
        }
    }
    if let Err(why) = count_with_peer(&mut all) {
        println!("{PEER} can't be compared: {why}\n");
    }
    let mut groups: BTreeMap<String, Vec<Judged>> = BTreeMap::new();
    for judged in all {
        groups.entry(format!("{} {}", judged.family, judged.kind)).or_default().push(judged);
    }
    println!(
        "{:<20}{:>5}{:>9}{:>9}{:>7}{:>7}{:>9}{:>8}{:>7} | |median| of {:>10}{:>12}{:>12}{:>14} | aim",
        "",
        "n",
        "median",
        "|median|",
        "p90",
        "<=5%",
        "<=15|5%",
        "under",
        "repos",
        "refitted",
        "length / k",
        "o200k x k",
        "ai-tokenizer"
    );
    let known = fs::read_to_string(BASELINE).unwrap_or_default();
    let mut reached = Vec::new();
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
        let repositories: BTreeSet<&str> = group.iter().map(|one| one.repository.as_str()).collect();
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let error = |counts: Vec<f64>| {
            middle(&sorted(counts.into_iter())).map_or("–".to_owned(), |error| format!("{:.1} %", error * 100.0))
        };
        // What the requests of each repository cost with factors that were fitted to all others.
        let refitted = repositories.iter().filter(|_| repositories.len() > 1).flat_map(|left_out| {
            let others = group.iter().filter(|one| one.repository != *left_out).map(|one| one.parts);
            let factors = refit::fit(&others.collect::<Vec<_>>());
            let own = group.iter().filter(|one| one.repository == *left_out);
            own.map(move |one| ((one.parts.counted_with(factors) - one.actual).abs(), one.actual))
        });
        let refitted: Vec<(f64, f64)> = refitted.collect();
        let refitted_error = error(refitted.iter().map(|(off, actual)| off / actual).collect());
        let peer = group.iter().filter_map(|one| Some((one.peer? - one.actual).abs() / one.actual));
        let peer = error(peer.collect());
        let aim = AIMS.iter().find(|(families, kind, ..)| {
            group.first().is_some_and(|one| families.contains(&one.family.as_str()) && one.kind == *kind)
        });
        let aim = aim.map_or(String::new(), |(_, _, tokens, rel, wanted)| {
            let hit = share(&|one| (one.ours - one.actual).abs() <= (one.actual * rel).max(*tokens));
            let verdict = if hit >= *wanted && under <= MOST_UNDER { "" } else { ", missed" };
            let near = refitted.iter().filter(|(off, actual)| *off <= (actual * rel).max(*tokens)).count();
            let near = if refitted.is_empty() { "–".to_owned() } else { percent(ratio(near, refitted.len())) };
            let tokens = if *tokens > 0.0 { format!("{tokens} or ") } else { String::new() };
            let within = format!("within {tokens}{}", percent(*rel));
            format!("{} {within} (refitted {near}) of {}{verdict}", percent(hit), percent(*wanted))
        });
        println!(
            "{name:<20}{:>5}{:>9}{:>9}{:>7}{:>7}{:>9}{:>8}{:>7} |             {refitted_error:>10}{:>12}{:>12}{peer:>14} | {aim}",
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
        reached.push(Reached { name: name.clone(), requests: group.len(), near, under });
    }
    reached.extend(learned::print(&groups.values().flatten().collect::<Vec<_>>()));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let line = |one: &Reached| one.line() + &format!("near {:.3}, under {:.3}\n", one.near, one.under);
        let reached: String = reached.iter().map(line).collect();
        return fs::write(BASELINE, reached).map_err(|error| format!("cannot write {BASELINE}: {error}"));
    }
    let worse: Vec<String> = reached.iter().filter_map(|one| one.worse_than(&known)).collect();
    if worse.is_empty() { Ok(()) } else { Err(format!("families got worse\n  {}", worse.join("\n  "))) }
}

impl Reached {
    /// Returns how its line in the baseline begins. It is different if other requests are judged.
    fn line(&self) -> String {
        format!("{}: {} requests, ", self.name, self.requests)
    }

    /// Returns what got worse, if the baseline has the same requests.
    fn worse_than(&self, baseline: &str) -> Option<String> {
        let Self { name, near, under, .. } = self;
        let known = baseline.lines().find_map(|line| line.strip_prefix(&*self.line())?.strip_prefix("near "))?;
        let (was_near, was_under) = known.split_once(", under ")?;
        let is_worse = *near < was_near.parse::<f64>().ok()? - 0.005 || *under > was_under.parse::<f64>().ok()? + 0.005;
        is_worse.then(|| format!("{name}: near {near:.3}, under {under:.3}, was {known}"))
    }
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
        // A few servers count in a way of their own.
        let server = match text("provider") {
            "google" => "https://generativelanguage.googleapis.com",
            "azure" => "https://resource.openai.azure.com",
            "bedrock" => "https://bedrock-runtime.us-east-1.amazonaws.com",
            "cerebras" => "https://api.cerebras.ai",
            "huggingface" => "https://router.huggingface.co",
            "groq" => "https://api.groq.com",
            "openrouter" => "https://openrouter.ai",
            "together" => "https://api.together.xyz",
            // With the older API, it doesn't think unless it is told to.
            "deepseek" if text("api").starts_with("responses") => "https://api.deepseek.com",
            _ => "",
        };
        let counted = Counter::exact().for_server(server).request_body(request.to_string().as_bytes()).ok()?;
        let shown = text_of(request) + &request["tools"].to_string();
        let family = match (text("family"), text("provider")) {
            ("gemini", "google") => "gemini studio",
            // The newer vocabulary.
            ("claude", _)
                if ["claude-4.7", "claude-4.8", "claude-5", "claude-opus-5"].contains(&&*counted.tokenizer) =>
            {
                "claude new"
            }
            (family, _) => family,
        };
        let actual = line["input_tokens"].as_f64().filter(|actual| *actual > 0.0)?;
        let parts = Parts {
            text: f64::from(counted.instructions + counted.messages + counted.reasoning + counted.format),
            calls: f64::from(counted.tool_calls + counted.tool_results),
            tools: f64::from(counted.tools),
            fixed: f64::from(counted.framing + counted.images),
            actual,
        };
        Some(Self {
            family: family.to_owned(),
            kind: text("kind").to_owned(),
            provider: text("provider").to_owned(),
            server,
            // A fork has the recordings of the original, so only the repository's own name counts.
            repository: text("source")
                .split(':')
                .next()
                .and_then(|name| name.rsplit('/').next())
                .unwrap_or_default()
                .to_owned(),
            body: request.clone(),
            actual,
            ours: f64::from(counted.input_tokens),
            parts,
            length: f64::from(u32::try_from(shown.chars().count()).ok()?),
            o200k: f64::from(Counter::exact().text("gpt-5", &shown)),
            peer: None,
        })
    }
}

/// Counts all requests with the npm package, which is installed first.
fn count_with_peer(all: &mut [Judged]) -> Done {
    let run = |command: &mut Command| command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    if !Path::new(PEER_DIRECTORY).join("node_modules").exists() {
        let install = ["install", "--no-audit", "--no-fund", "--silent", "--prefix", PEER_DIRECTORY, PEER];
        let done = Command::new("npm").args(install).status().map_err(|error| error.to_string())?;
        if !done.success() {
            return Err(format!("npm can't install it ({done})"));
        }
    }
    let directory = fs::canonicalize(PEER_DIRECTORY).map_err(|error| error.to_string())?;
    let mut child = run(Command::new("node").arg(PEER_SCRIPT).arg(directory)).map_err(|error| error.to_string())?;
    let mut input = child.stdin.take().ok_or("node has no input")?;
    let requests: String = all.iter().map(|one| format!("{}\n", one.body)).collect();
    let writer = std::thread::spawn(move || input.write_all(requests.as_bytes()));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    writer.join().map_err(|_| "the requests can't be written")?.map_err(|error| error.to_string())?;
    for (one, line) in all.iter_mut().zip(String::from_utf8_lossy(&output.stdout).lines()) {
        one.peer = line.parse().ok();
    }
    if output.status.success() { Ok(()) } else { Err(format!("{PEER_SCRIPT} failed")) }
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
