//! Keeps the beginning of prompts the same, because servers read only an unchanged beginning from their prompt caches.

use std::collections::{BTreeMap, BTreeSet};

use crate::boundary::ToolDefinition;

/// The maximum number of models whose tools are remembered, and of tools of each model. Beyond that, all are forgotten.
const MAX_MODELS: usize = 100;
const MAX_TOOLS: usize = 1_000;

/// The order in which tools were sent before. Their order has no meaning, but tools come first in a prompt: one that moves
/// makes the server read everything after it again. MCP servers, for example, list their tools in the order in which
/// they start.
#[derive(Debug, Default)]
pub struct ToolOrder {
    /// The names of tools, by model. One that isn't offered for a while keeps its place.
    names: BTreeMap<String, Vec<String>>,
}

impl ToolOrder {
    /// Puts tools into the order in which they were sent to this model before, and new ones at the end. Returns whether that
    /// changed their order.
    pub fn restore(&mut self, model: &str, tools: &mut [ToolDefinition]) -> bool {
        if self.names.len() >= MAX_MODELS && !self.names.contains_key(model) {
            self.names.clear();
        }
        let known = self.names.entry(model.to_owned()).or_default();
        if known.len() > MAX_TOOLS {
            known.clear();
        }
        let places: BTreeMap<&str, usize> = known.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let place = |tool: &ToolDefinition| places.get(tool.name.as_str()).copied().unwrap_or(usize::MAX);
        let is_changed = !tools.is_sorted_by_key(place);
        tools.sort_by_key(place);
        // A name may be offered twice.
        let new: BTreeSet<&str> =
            tools.iter().filter(|tool| place(tool) == usize::MAX).map(|tool| tool.name.as_str()).collect();
        let mut new: Vec<String> = new.into_iter().map(str::to_owned).collect();
        let first = |name: &String| tools.iter().position(|tool| tool.name == *name);
        new.sort_by_key(first);
        known.append(&mut new);
        is_changed
    }
}

/// What marks a line of VS Code's instructions that is different in every chat.
const VOLATILE: [&str; 1] = ["VSCODE_TARGET_SESSION_LOG"];

/// Moves lines that are different in every chat to the end of the instructions, so that all chats begin with the same
/// instructions.
pub(super) fn with_volatile_lines_last(instructions: &str) -> String {
    let is_volatile = |line: &&str| VOLATILE.iter().any(|mark| line.contains(mark));
    let (volatile, stable): (Vec<&str>, Vec<&str>) = instructions.split('\n').partition(is_volatile);
    stable.into_iter().chain(volatile).collect::<Vec<_>>().join("\n")
}
