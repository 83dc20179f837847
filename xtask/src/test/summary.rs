//! What was run or skipped, and how long it took.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::{Done, shell};

pub struct Summary {
    started: Instant,
    has_failed: AtomicBool,
    lines: Mutex<Vec<String>>,
}

impl Summary {
    pub fn new() -> Self {
        Self { started: Instant::now(), has_failed: AtomicBool::new(false), lines: Mutex::default() }
    }

    /// Runs one check, and prints what it printed when it is over, because another one may be running at the same time. Does
    /// nothing if a check has failed.
    pub fn step<T>(&self, name: &str, check: impl FnOnce() -> Done<T>) -> Done<T> {
        if self.has_failed.load(Ordering::Relaxed) {
            return Err("another check failed".to_owned());
        }
        println!("   {name} …");
        let started = Instant::now();
        let (done, output) = shell::gather(check)?;
        let seconds = started.elapsed().as_secs_f64();
        let failed = if done.is_ok() { "" } else { "FAILED: " };
        let result = match &done {
            Ok(_) => "ok",
            // The other thread may return an error that says less.
            Err(error) => &format!("FAILED: {error}\n  "),
        };
        println!("\n── {name}\n{output}   {result}, {seconds:.1} s\n");
        self.add(format!("{seconds:8.1} s  {failed}{name}"));
        self.has_failed.fetch_or(done.is_err(), Ordering::Relaxed);
        done.map_err(|error| format!("{name}: {error}"))
    }

    pub fn skip(&self, name: &str, reason: &str) {
        println!("\n── {name}\n   SKIPPED: {reason}\n");
        self.add(format!("   SKIPPED: {name}, because {reason}"));
    }

    pub fn add(&self, line: String) {
        self.lines().push(line);
    }

    pub fn print(&self, passed: bool) {
        println!("── summary");
        let lines = self.lines();
        lines.iter().for_each(|line| println!("{line}"));
        let skipped = lines.iter().filter(|line| line.contains("SKIPPED: ")).count();
        let result = match (passed, skipped) {
            (false, _) => "Stopped at the first failure,".to_owned(),
            (true, 0) => "All tests passed".to_owned(),
            (true, _) => format!("The other tests passed, but {skipped} SKIPPED,"),
        };
        println!("{result} after {:.0} s.", self.started.elapsed().as_secs_f64());
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
