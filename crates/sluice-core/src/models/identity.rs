//! Reads creator, family and version from a model's id.
//!
//! Copilot chooses prompts and edit tools by the family: it checks whether the family starts with `claude`, `gpt-5` or
//! `gemini`, whether it contains `claude-3.5-sonnet`, and whether it *is* `gpt-5.2` or `o4-mini`. So the family is the
//! creator's own name for the model in lower case, with a dot in the version, and without hosts and dates.

/// The parts of an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Empty if the id doesn't name the creator.
    pub creator: String,
    pub family: String,
    pub version: String,
}

/// Hosts of models that others created, in ids such as `bedrock/us.anthropic.claude-…`.
const HOSTS: [&str; 22] = [
    "accounts",
    "azure",
    "azure_ai",
    "baseten",
    "bedrock",
    "cerebras",
    "databricks",
    "deepinfra",
    "fireworks",
    "fireworks_ai",
    "github",
    "groq",
    "models",
    "openrouter",
    "projects",
    "publishers",
    "replicate",
    "sambanova",
    "together",
    "together_ai",
    "vertex",
    "vertex_ai",
];
/// Regions at the start of a name: `us.anthropic.claude-…`.
const REGIONS: [&str; 10] = ["us", "eu", "apac", "ap", "au", "jp", "ca", "sa", "us-gov", "global"];
/// Words after a name that say how finished the model is.
const STAGES: [&str; 7] = ["preview", "latest", "exp", "experimental", "beta", "stable", "ga"];
/// Words for the precision of a model's weights.
const PRECISIONS: [&str; 12] =
    ["fp4", "fp8", "fp16", "bf16", "int4", "int8", "nvfp4", "mxfp4", "awq", "gptq", "gguf", "4bit"];
/// Names that some hosts prefix with their own: `databricks-claude-…`.
const BRANDS: [&str; 3] = ["claude", "gemini", "gpt"];

impl Identity {
    pub(super) fn of(id: &str) -> Self {
        let whole = id.trim().to_ascii_lowercase();
        // A fine-tuned model is named after its base: `ft:gpt-4o-mini-2024-07-18:team::id`.
        let id = whole.strip_prefix("ft:").unwrap_or(&whole);
        let segments: Vec<&str> = id.split('/').filter(|segment| !segment.is_empty()).collect();
        let Some((last, before)) = segments.split_last() else {
            return Self { creator: String::new(), family: whole.clone(), version: "latest".to_owned() };
        };
        let before: Vec<&str> = before.iter().map(|segment| segment.trim_start_matches(['@', '~'])).collect();
        let named = before.iter().rev().find(|segment| !HOSTS.contains(segment) && !segment.contains(':'));

        // In `name:free`, `name-v1:0`, `name@20250929` and `name[1m]`, the name ends at the punctuation mark.
        let (name, mark) = match last.find([':', '@', '[', '#']) {
            Some(at) if at > 0 => last.split_at(at),
            _ => (last.trim_start_matches(['@', '~']), ""),
        };
        let (dotted, name) = without_dotted_creator(name);
        let mut parts: Vec<&str> = name.split(['-', '_', ' ']).filter(|part| !part.is_empty()).collect();
        let mut release = String::new();
        let stamp = mark.trim_start_matches([':', '@']);
        if mark.starts_with('@') && stamp.chars().all(|c| c.is_ascii_digit() || c == '-') {
            stamp.clone_into(&mut release);
        }
        // Bedrock adds its own revision numbers: `-v1:0`, `-1:0`.
        if mark.starts_with(':') && stamp.split(':').next().is_some_and(is_number) {
            let is_revision = |part: &str| is_number(part.trim_start_matches('v')) && part.len() <= 2;
            let is_named = |rest: &[&str]| rest.len() > 1 || rest.iter().any(|part| part.contains(char::is_numeric));
            if matches!(parts.as_slice(), [rest @ .., last] if is_revision(last) && is_named(rest)) {
                parts.pop();
            }
        }
        strip_endings(&mut parts, &mut release);
        skip_to_brand(&mut parts);
        let mut family = claude_order(with_dots(&parts));
        // In Bedrock's `deepseek.r1`, the name is too short without its creator.
        if let Some(creator) = dotted.filter(|_| family.len() < 4) {
            family = format!("{creator}-{family}");
        }
        let version = if release.is_empty() { number_in(&family) } else { Some(release) };
        Self {
            creator: dotted.or(named.copied()).unwrap_or_default().to_owned(),
            family: if family.is_empty() { (*last).to_owned() } else { family },
            version: version.unwrap_or_else(|| "latest".to_owned()),
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Splits off a creator that is followed by a dot, as in `us.anthropic.claude-…`. Versions have digits before a dot.
fn without_dotted_creator(name: &str) -> (Option<&str>, &str) {
    let mut rest = name;
    let mut creator = None;
    while let Some((first, after)) = rest.split_once('.') {
        let is_name = first.chars().all(|c| c.is_ascii_alphabetic() || c == '-') && !first.is_empty()
            || matches!(first, "ai21" | "01-ai" | "us-gov");
        if !is_name || !after.starts_with(|c: char| c.is_ascii_alphabetic()) {
            break;
        }
        if !REGIONS.contains(&first) {
            creator = Some(first);
        }
        rest = after;
    }
    (creator, rest)
}

/// Moves dates, revisions and stages from the end of the name to `release`, in any order.
fn strip_endings(parts: &mut Vec<&str>, release: &mut String) {
    while parts.len() > 1 {
        let length = parts.len();
        let at = |back: usize| length.checked_sub(back).and_then(|at| parts.get(at)).copied().unwrap_or_default();
        let taken = match (at(3), at(2), at(1)) {
            (year, month, day) if length > 3 && is_date(year, month, day) => 3,
            // 05-06, 09-2025, 2025-09
            (_, a, b) if length > 2 && is_month(a) && (is_day(b) || is_year(b)) || is_year(a) && is_month(b) => 2,
            (_, _, last)
                if STAGES.contains(&last) || PRECISIONS.contains(&last) || is_stamp(last) || is_revision(last) =>
            {
                1
            }
            // Claude with thinking is the same model, and hosts have their own release numbers for it.
            (_, _, "thinking" | "thought" | "v1" | "v2") if length > 2 && parts.contains(&"claude") => 1,
            _ => return,
        };
        let ending = parts.split_off(length - taken);
        if release.is_empty() && ending.iter().all(|part| is_number(part)) {
            *release = ending.join("-");
        }
    }
}

fn is_date(year: &str, month: &str, day: &str) -> bool {
    is_year(year) && is_month(month) && is_day(day)
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && text.parse().is_ok_and(|year| (2019..=2099).contains(&year))
}

fn is_month(text: &str) -> bool {
    text.len() == 2 && text.parse().is_ok_and(|month| (1..=12).contains(&month))
}

fn is_day(text: &str) -> bool {
    text.len() == 2 && text.parse().is_ok_and(|day| (1..=31).contains(&day))
}

/// Returns whether a number is a date: 20250929, 250929, 0905 (month and day), 2411 (year and month).
fn is_stamp(text: &str) -> bool {
    if !is_number(text) {
        return false;
    }
    let (head, tail) = text.split_at(text.len().saturating_sub(4));
    let (first, second) = tail.split_at(tail.len().min(2));
    match text.len() {
        8 => is_year(head) && is_month(first) && is_day(second),
        6 => is_month(first) && is_day(second),
        4 => is_month(first) && is_day(second) || is_month(second) && ("23".."60").contains(&first),
        _ => false,
    }
}

/// Returns whether this is one of Google's release numbers: 001, 002.
fn is_revision(text: &str) -> bool {
    text.len() == 3 && is_number(text) && text.starts_with('0')
}

fn skip_to_brand(parts: &mut Vec<&str>) {
    let brand = parts.iter().position(|part| BRANDS.contains(part)).unwrap_or(0);
    // A distilled model isn't the model that it was distilled from.
    let is_hosted = parts.iter().take(brand).all(|part| part.chars().all(|c| c.is_ascii_alphabetic()))
        && !parts.contains(&"distill");
    if is_hosted {
        parts.drain(..brand);
    }
}

/// Puts a dot into versions: `claude-3-5-sonnet` becomes `claude-3.5-sonnet`, `llama3-1-70b` becomes `llama3.1-70b`,
/// `v3p1` becomes `v3.1`, `gpt-35` becomes `gpt-3.5`.
fn with_dots(parts: &[&str]) -> String {
    let mut family = String::new();
    let mut open = false;
    for (index, part) in parts.iter().enumerate() {
        let is_digit = part.len() == 1 && is_number(part);
        if open && is_digit {
            family.push('.');
            family.push_str(part);
            open = false;
            continue;
        }
        if index > 0 {
            family.push('-');
        }
        if index == 1 && *part == "35" && family == "gpt-" {
            family.push_str("3.5");
        } else {
            family.push_str(&point_for_p(part));
        }
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = part.len() - letters.len();
        let is_version = is_digit || digits == 1 && letters.chars().all(|c| c.is_ascii_alphabetic());
        // A short first part is a name (`o3`, `v0`); a longer one ends with its version (`llama3`).
        open = is_version && (index > 0 || letters.len() > 1);
    }
    family
}

fn point_for_p(part: &str) -> String {
    let characters: Vec<char> = part.chars().collect();
    let is_point = |window: &[char]| matches!(window, [a, 'p', b] if a.is_ascii_digit() && b.is_ascii_digit());
    let at = characters.windows(3).position(is_point).map(|at| at + 1);
    characters.iter().enumerate().map(|(index, c)| if Some(index) == at { '.' } else { *c }).collect()
}

/// Up to Claude 3, the version comes before the size; since Claude 4, it comes after it. Not every host follows this.
fn claude_order(family: String) -> String {
    let parts: Vec<&str> = family.split('-').collect();
    let [claude @ "claude", first, second, rest @ ..] = parts.as_slice() else { return family };
    let is_size = |part: &str| matches!(part, "haiku" | "sonnet" | "opus");
    let number = |part: &str| part.parse::<f32>().ok();
    let swapped = match (number(first), number(second)) {
        (Some(version), None) => version >= 4.0 && is_size(second),
        (None, Some(version)) => version < 4.0 && is_size(first),
        _ => false,
    };
    if swapped { [&[*claude, *second, *first], rest].concat().join("-") } else { family }
}

/// Returns the first number that is a version (`4.5`, `5.2`, `v3.1`, `k2`, `4o`) and not a size (`70b`, `8x22b`). A
/// number with a dot is preferred: `v0-1.5`.
fn number_in(family: &str) -> Option<String> {
    let versions = || {
        family.split('-').filter_map(|part| {
            let number = part.trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_end_matches('v');
            let digits = number.trim_end_matches('o');
            let is_version = digits.starts_with(|c: char| c.is_ascii_digit())
                && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
            is_version.then(|| number.to_owned())
        })
    };
    versions().find(|version| version.contains('.')).or_else(|| versions().next())
}
