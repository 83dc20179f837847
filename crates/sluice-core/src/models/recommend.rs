//! Chooses among many models: the default, and those that are worth seeing first.

use std::cmp::Ordering;

use crate::boundary::{ChatModel, ModelCategory};

/// Lines of models that suit most work, the most suitable first. `{}` is replaced by the version.
const LINES: [&str; 12] = [
    "claude-sonnet-{}",
    "gpt-{}",
    "gemini-{}-pro",
    "claude-opus-{}",
    "grok-{}",
    "glm-{}",
    "kimi-k{}",
    "deepseek-v{}",
    "qwen{}-coder",
    "minimax-m{}",
    "gemini-{}-flash",
    "claude-haiku-{}",
];
/// Lines of light models, the most suitable for small jobs first.
const SMALL_LINES: [&str; 5] =
    ["gpt-{}-mini", "gemini-{}-flash", "claude-haiku-{}", "gpt-{}-nano", "gemini-{}-flash-lite"];
/// How many models are worth seeing first.
const MOST_FEATURED: usize = 8;

/// Returns the index of the model that new chats start with: the newest of the most suitable line. If there is none, the
/// newest model that can call tools.
pub(super) fn default_model(models: &[ChatModel]) -> Option<usize> {
    let of_a_line = LINES.iter().find_map(|line| newest_of(line, models));
    let usable = |model: &ChatModel| model.capabilities.tool_calling && model.deprecated_at.is_none();
    let newest = || {
        let all = models.iter().enumerate().filter(|(_, model)| usable(model));
        // The first of several that are equally new.
        all.rev().max_by_key(|(_, model)| model.released).map(|(index, _)| index)
    };
    of_a_line.or_else(newest).or((!models.is_empty()).then_some(0))
}

/// Returns the index of the model for small jobs such as titles: a light one of a known line, or the cheapest that is light.
pub(super) fn small_model(models: &[ChatModel]) -> Option<usize> {
    let cheapest = || {
        let light = models.iter().enumerate().filter(|(_, model)| model.category == ModelCategory::Lightweight);
        let price = |model: &ChatModel| model.prices.as_ref().and_then(|prices| prices.output);
        let priced = light.filter_map(|(index, model)| Some((index, price(model)?)));
        priced.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
    };
    SMALL_LINES.iter().find_map(|line| newest_of(line, models)).or_else(cheapest)
}

/// Returns the indexes of the models that are worth seeing first, if the user has no favourites: the newest of each line.
pub(super) fn featured(models: &[ChatModel]) -> Vec<usize> {
    LINES.iter().filter_map(|line| newest_of(line, models)).take(MOST_FEATURED).collect()
}

fn newest_of(line: &str, models: &[ChatModel]) -> Option<usize> {
    let usable = |model: &ChatModel| model.capabilities.tool_calling && model.deprecated_at.is_none();
    let of_line = models.iter().enumerate().filter(|(_, model)| usable(model));
    let versions = of_line.filter_map(|(index, model)| Some((index, version_in(line, &model.family)?, model)));
    let newer = |a: &(usize, Vec<u32>, &ChatModel), b: &(usize, Vec<u32>, &ChatModel)| {
        // Of equal versions, the one with the shorter id has no date or stage in it.
        a.1.cmp(&b.1).then_with(|| b.2.id.len().cmp(&a.2.id.len())).then(Ordering::Greater)
    };
    versions.max_by(newer).map(|(index, ..)| index)
}

/// Returns the version of a family that belongs to a line: `[4, 5]` for `claude-sonnet-4.5`.
fn version_in(line: &str, family: &str) -> Option<Vec<u32>> {
    let (before, after) = line.split_once("{}")?;
    let version = family.strip_prefix(before)?.strip_suffix(after)?;
    version.split('.').map(|number| number.parse().ok()).collect()
}
