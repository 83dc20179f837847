//! Windows that use the same files at the same time.

use std::collections::BTreeMap;

use serde_json::Value;
use sluice_core::{FileEntry, ShellWork, WorkResult, WorkStep, WorkTask};

use super::spending::TODAY;

pub const NOW_MS: u64 = TODAY as u64 * 86_400_000 + 1_000;
pub const DAY_MS: u64 = 86_400_000;

/// Files, and when they were written.
#[derive(Clone, Default)]
pub struct Disk {
    pub files: BTreeMap<String, (Vec<u8>, u64)>,
    pub is_full: bool,
}

impl Disk {
    pub fn with(files: &[(&str, &[u8], u64)]) -> Self {
        let files = files.iter().map(|(name, content, time)| ((*name).to_owned(), (content.to_vec(), *time)));
        Self { files: files.collect(), is_full: false }
    }

    pub fn names(&self) -> String {
        let random = |name: &String| name.replace(&"1".repeat(32), "A").replace(&"2".repeat(32), "B");
        self.files.keys().map(random).collect::<Vec<_>>().join(" ")
    }

    pub fn list(&self, folder: &str) -> WorkResult {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let entry = |(name, (content, time)): (&String, &(Vec<u8>, u64))| {
            let name = name.strip_prefix(&prefix)?.to_owned();
            Some(FileEntry { name, size: content.len() as u64, modified_ms: *time })
        };
        WorkResult::Listed(self.files.iter().filter_map(entry).collect())
    }
}

/// A task of a window that is under way.
pub struct Window {
    pub work: ShellWork,
    pub step: WorkStep,
}

impl Window {
    pub fn new(mut work: ShellWork) -> Self {
        let step = work.next(None);
        Self { work, step }
    }

    /// Does one thing. Returns false if there is nothing left to do.
    pub fn advance(&mut self, disk: &mut Disk) -> bool {
        let result = match &self.step {
            WorkStep::Done { .. } => return false,
            WorkStep::List { folder, .. } => disk.list(folder),
            WorkStep::Read { names } => {
                let found = names.iter().find_map(|name| disk.files.get(name));
                found.map_or(WorkResult::Missing, |(content, _)| WorkResult::Content(content.clone()))
            }
            WorkStep::Write { name, content } => {
                if !disk.is_full {
                    disk.files.insert(name.clone(), (content.clone(), NOW_MS));
                }
                WorkResult::Done(!disk.is_full)
            }
            // VS Code deletes the old file first, and others see that it is gone.
            WorkStep::Rename { to, may_replace: true, .. } if disk.files.remove(to).is_some() => return true,
            WorkStep::Rename { to, .. } if disk.files.contains_key(to) => WorkResult::Done(false),
            WorkStep::Rename { from, to, .. } => {
                let file = disk.files.remove(from);
                let is_renamed = file.is_some();
                disk.files.extend(file.map(|file| (to.clone(), file)));
                WorkResult::Done(is_renamed)
            }
            WorkStep::Delete { name } => WorkResult::Done(disk.files.remove(name).is_some()),
            step => panic!("{step:?}"),
        };
        self.step = self.work.next(Some(result));
        true
    }

    pub fn finish(mut self, disk: &mut Disk) -> Value {
        while self.advance(disk) {}
        let WorkStep::Done { result } = self.step else { panic!("{:?}", self.step) };
        result
    }
}

/// Runs two windows to their ends.
pub type RunBoth<'a> = &'a mut dyn FnMut(&mut Window, &mut Window, &mut Disk);

/// Calls `test` once for every order of the steps of two windows, with a function that runs them in that order. Returns the
/// number of orders.
pub fn in_every_order(test: impl Fn(RunBoth<'_>)) -> usize {
    let mut orders = 0;
    let mut order: Vec<bool> = Vec::new();
    loop {
        orders += 1;
        let mut taken = Vec::new();
        test(&mut |one, other, disk| {
            loop {
                let is_first = order.get(taken.len()).copied().unwrap_or(true);
                let has_advanced = if is_first { one.advance(disk) } else { other.advance(disk) };
                if has_advanced {
                    taken.push(is_first);
                    continue;
                }
                // The window whose turn it is has nothing left to do, so the rest needs no order.
                while one.advance(disk) {
                    taken.push(true);
                }
                while other.advance(disk) {
                    taken.push(false);
                }
                return;
            }
        });
        // In the next order, the first window waits once more, as late as possible.
        order = taken;
        let Some(last) = next_order(&mut order) else { return orders };
        order.truncate(last);
    }
}

/// Turns an order into the next one, as one counts in binary. Returns how many of its steps are fixed.
pub fn next_order(order: &mut [bool]) -> Option<usize> {
    // The last step of the first window before which the other window can go first.
    let at = (0..order.len()).rev().find(|at| order[*at] && order[*at..].contains(&false))?;
    order[at] = false;
    Some(at + 1)
}

pub fn task<T>(task: T, random: u8) -> WorkTask<T> {
    WorkTask { task, now_ms: NOW_MS, random: [random; 16] }
}
