//! Tests the memory file with everything that can happen to a file: killed writers, concurrent writers, truncated and
//! altered bytes. The writers are real processes: this program again, started with `SLUICE_VICTIM` set.

use std::fmt::{self, Display};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sluice_client::Store;
use sluice_core::{
    ChatMessage, ChatPart, ChatRequest, FileState, InstallKey, Memory, Piece, Prompt, RequestEnd, RequestKind,
    RequestStart, RequestUsage, Role, Usage, UsageTracker,
};

pub struct Plan {
    pub kills: u32,
    pub flips: u32,
    pub writers: u32,
    /// The number of updates by each writer.
    pub updates: u32,
    /// The arguments that turn this program into a victim.
    pub victim_arguments: &'static [&'static str],
}

#[derive(Default)]
pub struct Report {
    kills: u32,
    in_the_middle: u32,
    truncations: u32,
    flips: u32,
    writers: u32,
    updates: u32,
    pub bad: Vec<String>,
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, in_the_middle, truncations, flips, writers, updates, bad } = self;
        for bad in bad.iter().take(20) {
            writeln!(f, "bad: {bad}")?;
        }
        write!(
            f,
            "{kills} kills ({in_the_middle} in the middle of a write), {truncations} truncations, {flips} flips, \
             {writers} writers with {updates} updates each: {} bad starts",
            bad.len()
        )
    }
}

/// Runs everything in a separate directory below `scratch`.
pub fn run(plan: &Plan, scratch: &Path, progress: &mut dyn FnMut(&str)) -> Report {
    let mut report = Report { writers: plan.writers, updates: plan.updates, ..Report::default() };
    let fresh = |name: &str| {
        let directory = scratch.join(name);
        let _ = std::fs::remove_dir_all(&directory);
        directory
    };
    kill(plan, &fresh("kills"), &mut report, progress);
    progress("writers at once");
    write_at_once(plan, &fresh("writers"), &mut report);
    damage(plan, &fresh("damage"), &mut report, progress);
    let _ = std::fs::remove_dir_all(scratch);
    report
}

/// A victim is killed at a random moment. Then the file contains everything that the victim reported as saved, and at
/// most one more update that it had no time to report.
fn kill(plan: &Plan, directory: &Path, report: &mut Report, progress: &mut dyn FnMut(&str)) {
    let mut longest = Duration::from_millis(1);
    let mut before = 0;
    for kill in 0..plan.kills {
        if kill % 100 == 0 {
            progress(&format!("kill {kill} of {}", plan.kills));
        }
        let name = format!("victim {kill}");
        let mut victim = Victim::start(plan, directory, &name, u32::MAX);
        let mut saved = 0;
        for _ in 0..fastrand::u32(1..4) {
            let started = Instant::now();
            saved += u64::from(victim.has_saved());
            longest = longest.max(started.elapsed().min(Duration::from_millis(50)));
        }
        // This is at some point during the next one or two saves.
        let moment = Instant::now() + longest.mul_f64(fastrand::f64() * 1.5);
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        saved += victim.kill();
        report.kills += 1;
        report.in_the_middle += u32::from(directory.join("memory.new").exists());

        let (_, memory, error) = Store::open(directory);
        let requests = requests(&memory);
        let last = saved.checked_sub(1).map(|last| prompt(&name, last));
        let is_known = last.is_none_or(|prompt| is_exact(&memory, &prompt));
        if error.is_some() || !is_known || !(before + saved..=before + saved + 1).contains(&requests) {
            report
                .bad
                .push(format!("{name}: {error:?}, {before} + {saved} saved, {requests} there, known: {is_known}"));
        }
        before = requests;
    }
}

/// No writer's update is lost.
fn write_at_once(plan: &Plan, directory: &Path, report: &mut Report) {
    let name = |writer: u32| format!("writer {writer}");
    let victims: Vec<Victim> =
        (0..plan.writers).map(|writer| Victim::start(plan, directory, &name(writer), plan.updates)).collect();
    for mut victim in victims {
        while victim.has_saved() {}
        let _ = victim.process.wait();
    }
    let (_, memory, note) = Store::open(directory);
    let (requests, expected) = (requests(&memory), u64::from(plan.writers) * u64::from(plan.updates));
    if note.is_some() || requests != expected {
        report.bad.push(format!("writers: {note:?}, {requests} updates of {expected}"));
    }
    for writer in 0..plan.writers {
        for update in 0..u64::from(plan.updates) {
            if !is_exact(&memory, &prompt(&name(writer), update)) {
                report.bad.push(format!("writers: update {update} of {} is not known", name(writer)));
            }
        }
    }
}

fn damage(plan: &Plan, directory: &Path, report: &mut Report, progress: &mut dyn FnMut(&str)) {
    let key = InstallKey(*b"of this machine.");
    let mut memory = Memory::new(key);
    for index in 0..30_u64 {
        update(&mut memory, "damaged", index);
    }
    let good = memory.save(None).0.unwrap_or_default();
    let is_empty = |memory: &Memory| memory.known().is_empty() && memory.history().is_empty();

    progress("every truncation");
    for length in 0..good.len() {
        let (memory, state) = Memory::read(key, Some(&good[..length]));
        report.truncations += 1;
        if state != FileState::Damaged || !is_empty(&memory) {
            report.bad.push(format!("{length} bytes of the file: {state:?}"));
        }
    }
    progress("flips");
    for flip in 0..plan.flips {
        let mut bytes = good.clone();
        for _ in 0..fastrand::u32(1..9) {
            let at = fastrand::usize(..bytes.len());
            bytes[at] ^= 1 << fastrand::u32(..8);
        }
        report.flips += 1;
        let (memory, state) = Memory::read(key, Some(&bytes));
        if bytes != good && (state != FileState::Damaged || !is_empty(&memory)) {
            report.bad.push(format!("flip {flip}: {state:?}"));
        }
        // Sometimes the test goes through the disk: the damage is reported once, the file is set aside, and the memory
        // starts empty.
        if flip % 1000 == 0 && bytes != good {
            let _ = Store::open(directory);
            let _ = std::fs::write(directory.join("memory"), &bytes);
            let (store, mut memory, note) = Store::open(directory);
            update(&mut memory, "after", 0);
            let saved = store.save(&mut memory);
            let (_, again, no_note) = Store::open(directory);
            let aside = std::fs::read(directory.join("memory.corrupt")).unwrap_or_default();
            if note.is_none() || saved.is_err() || no_note.is_some() || requests(&again) != 1 || aside != bytes {
                report.bad.push(format!("flip {flip} on disk: {note:?}, {saved:?}, {no_note:?}"));
            }
        }
    }
}

/// Starts this program again as a writer.
struct Victim {
    process: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl Victim {
    fn start(plan: &Plan, directory: &Path, name: &str, updates: u32) -> Self {
        let mut process = Command::new(std::env::current_exe().expect("this program has a path"))
            .args(plan.victim_arguments)
            .env("SLUICE_VICTIM", name)
            .env("SLUICE_VICTIM_DIRECTORY", directory)
            .env("SLUICE_VICTIM_UPDATES", updates.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started again");
        let said = BufReader::new(process.stdout.take().expect("its output is a pipe"));
        Self { process, said }
    }

    /// Waits until the victim reports another save. Returns false at the end.
    fn has_saved(&mut self) -> bool {
        loop {
            let mut line = String::new();
            match self.said.read_line(&mut line) {
                Ok(0) | Err(_) => return false,
                Ok(_) if line.ends_with("saved\n") => return true,
                Ok(_) => {}
            }
        }
    }

    /// Kills the victim, and returns how many more saves it had reported.
    fn kill(mut self) -> u64 {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let mut saved = 0;
        while self.has_saved() {
            saved += 1;
        }
        saved
    }
}

/// Runs the victim. Returns false if this process isn't one.
pub fn live_as_victim() -> bool {
    let set = |name: &str| std::env::var(name).ok();
    let (Some(name), Some(directory)) = (set("SLUICE_VICTIM"), set("SLUICE_VICTIM_DIRECTORY")) else { return false };
    let updates: u32 = set("SLUICE_VICTIM_UPDATES").and_then(|updates| updates.parse().ok()).unwrap_or(0);
    let (store, mut memory, error) = Store::open(PathBuf::from(directory));
    assert!(error.is_none(), "{error:?}");
    for number in 0..updates {
        update(&mut memory, &name, number.into());
        // Others may hold the lock for a long time. The data stays in memory.
        while store.save(&mut memory).is_err() {}
        println!("saved");
        let _ = std::io::stdout().flush();
    }
    true
}

fn update(memory: &mut Memory, name: &str, number: u64) {
    let usage = Usage { input_tokens: Some(200 + number), output_tokens: Some(7), ..Usage::default() };
    memory.learn(&prompt(name, number), None, &usage, &raw, 20_000);
    memory.record(&used(), 20_000);
}

fn requests(memory: &Memory) -> u64 {
    memory.history().rows().map(|(_, _, totals)| totals.requests).sum()
}

fn prompt(name: &str, number: u64) -> Prompt {
    let value = format!("{name} {number} {}", "and so on, ".repeat(10));
    let messages = vec![ChatMessage { role: Role::User, content: vec![ChatPart::Text { value }] }];
    Prompt::of(&ChatRequest { model: "acme/one".to_owned(), messages, ..ChatRequest::default() })
}

fn is_exact(memory: &Memory, prompt: &Prompt) -> bool {
    let estimate = memory.estimate(prompt, &raw);
    estimate.tokens == estimate.known
}

pub fn used() -> RequestUsage {
    let start = RequestStart {
        id: String::new(),
        conversation: String::new(),
        model: "acme/one".to_owned(),
        kind: RequestKind::Main,
        effort: None,
        estimate: None,
        context_window: None,
    };
    let mut tracker = UsageTracker::default();
    tracker.open(start, 0);
    tracker.finish("", &RequestEnd::default(), 1).expect("it was opened")
}

fn raw(_: Piece<'_>) -> u32 {
    100
}
