//! Decides when the demo calls tools, which ones, and with which arguments.

use crate::ask::{Ask, Calling, Tool, ToolResult};
use crate::personalities::arguments;
use crate::script::Item;

/// The calls to make now.
pub struct Calls {
    pub items: Vec<Item>,
    /// The reasoning about the calls.
    pub plan: String,
    /// The text before the calls.
    pub remark: String,
}

/// Something that users ask for: the words they use, and the words in the names and descriptions of tools for it.
struct Intent {
    asked: &'static [&'static str],
    named: &'static [&'static str],
}

const INTENTS: [Intent; 5] = [
    Intent {
        asked: &[
            "read",
            "open",
            "look at",
            "look into",
            "show me",
            "what is in",
            "what's in",
            "explain",
            "check",
            "view",
        ],
        named: &["read", "view", "open", "cat", "get_file", "file_content", "fetch_file", "show"],
    },
    Intent {
        asked: &[
            "list",
            "which files",
            "what files",
            "look around",
            "folder",
            "directory",
            "explore",
            "project",
            "workspace",
        ],
        named: &["list", "ls", "dir", "tree", "glob", "find_file", "file_search"],
    },
    Intent {
        asked: &["search", "find", "grep", "where is", "look for", "occurrences", "usages"],
        named: &["search", "grep", "find", "usages", "query"],
    },
    Intent {
        asked: &["run", "execute", "test", "build", "command", "terminal"],
        named: &["run", "exec", "terminal", "command", "shell", "bash", "test"],
    },
    Intent {
        asked: &["edit", "change", "replace", "write", "create a file", "fix"],
        named: &["edit", "write", "replace", "patch", "create", "insert"],
    },
];
const READ: usize = 0;
const LIST: usize = 1;
/// Words that are too common to identify a tool.
const COMMON: [&str; 16] = [
    "the", "get", "set", "for", "and", "tool", "vscode", "copilot", "with", "from", "file", "files", "use", "make",
    "data", "new",
];

/// Returns the calls that this turn needs, if any.
pub fn choose(ask: &Ask, prompt: &str, tools: &[Tool], calling: Calling, results: &[ToolResult]) -> Option<Calls> {
    if tools.is_empty() || calling == Calling::Never {
        return None;
    }
    let lower = prompt.to_lowercase();
    if !results.is_empty() {
        return match follow_up(&lower, tools, results) {
            None if calling == Calling::Always => Some(one_call(&tools[0], prompt, 0)),
            calls => calls,
        };
    }
    let paths = arguments::paths(prompt);
    let mut chosen: Vec<(&Tool, usize)> = Vec::new();
    for (nth, intent) in INTENTS.iter().enumerate() {
        let asked = intent.asked.iter().any(|words| mentions(&lower, words));
        // "Explain how" is only a question; reading needs a path.
        let possible = nth != READ || !paths.is_empty();
        // If the prompt has a path, its folder isn't listed as well.
        let listed = nth != LIST || paths.is_empty() || mentions(&lower, "list");
        if asked
            && possible
            && listed
            && let Some(tool) = best(tools, intent.named)
            && !chosen.iter().any(|(other, _)| other.name == tool.name)
        {
            chosen.push((tool, nth));
        }
    }
    if chosen.is_empty() {
        let named = tools.iter().find(|tool| named_in(&lower, tool));
        chosen.extend(named.map(|tool| (tool, usize::MAX)));
    }
    if chosen.is_empty() {
        return (calling == Calling::Always).then(|| one_call(best_overlap(tools, &lower), prompt, 0));
    }
    let mut items = Vec::new();
    let mut names = Vec::new();
    for (tool, intent) in chosen {
        // Each file that the prompt names gets its own call.
        let times = if intent == READ { paths.len().max(1) } else { 1 };
        for nth in 0..times {
            items.push(call(tool, prompt, nth));
            names.push(format!("`{}`", tool.name));
        }
    }
    let most = ask.most_calls().min(4);
    items.truncate(most);
    names.truncate(most);
    names.dedup();
    let plan = match items.len() {
        1 => format!("I can find out with {}. One call will do.", names.join(" and ")),
        many => format!("I need {many} calls ({}), and they do not depend on each other.", names.join(" and ")),
    };
    let remark = if items.len() == 1 { "Let me look." } else { "Let me look at both at once." };
    Some(Calls { items, plan, remark: remark.into() })
}

/// After a listing, and if the question is about the whole project, reads the most informative file.
fn follow_up(lower: &str, tools: &[Tool], results: &[ToolResult]) -> Option<Calls> {
    let about_all =
        ["project", "workspace", "repository", "codebase", "explore"].iter().any(|word| lower.contains(word));
    let [only] = results else { return None };
    let listing = INTENTS[LIST].named.iter().any(|word| words_of(&only.tool).iter().any(|part| part == word));
    let reader = best(tools, INTENTS[READ].named)?;
    if !about_all || !listing || reader.name == only.tool {
        return None;
    }
    let names = arguments::paths(&only.text);
    let path = names.iter().find(|name| name.to_lowercase().contains("readme")).or(names.first())?;
    Some(Calls {
        plan: format!("The listing contains {path}, which says the most about the project. I will read it."),
        remark: format!("Next I'll read `{path}`."),
        items: vec![call(reader, path, 0)],
    })
}

fn one_call(tool: &Tool, prompt: &str, nth: usize) -> Calls {
    let plan = format!("I have to call a tool; `{}` comes closest.", tool.name);
    Calls { items: vec![call(tool, prompt, nth)], plan, remark: String::new() }
}

fn call(tool: &Tool, prompt: &str, nth: usize) -> Item {
    let arguments = arguments::fill(&tool.parameters, prompt, nth);
    Item::Call { name: tool.name.clone(), arguments: arguments.to_string() }
}

/// Returns whether the text contains these words, but not as part of other words.
fn mentions(lower: &str, words: &str) -> bool {
    lower.match_indices(words).any(|(at, _)| {
        let before = lower[..at].chars().next_back();
        let after = lower[at + words.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// Splits a name into words: `readFile`, `read_file` and `read-file` have two words each.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && small) {
            words.push(String::new());
        }
        small = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the tool whose name fits, or else the one whose description fits.
fn best<'t>(tools: &'t [Tool], named: &[&str]) -> Option<&'t Tool> {
    let by_name = |tool: &&Tool| {
        let words = words_of(&tool.name);
        named.iter().any(|name| {
            words.iter().any(|word| word == name) || (name.contains('_') && tool.name.to_lowercase().contains(name))
        })
    };
    let by_description = |tool: &&Tool| {
        let first = tool.description.split_whitespace().next().unwrap_or_default().to_lowercase();
        named.iter().any(|name| first.trim_end_matches('s') == *name)
    };
    tools.iter().find(by_name).or_else(|| tools.iter().find(by_description))
}

fn named_in(lower: &str, tool: &Tool) -> bool {
    mentions(lower, &tool.name.to_lowercase())
        || words_of(&tool.name)
            .iter()
            .any(|word| word.len() > 3 && !COMMON.contains(&word.as_str()) && mentions(lower, word))
}

/// Returns the tool that shares the most words with the prompt.
fn best_overlap<'t>(tools: &'t [Tool], lower: &str) -> &'t Tool {
    let score = |tool: &Tool| {
        let text = format!("{} {}", tool.name, tool.description);
        words_of(&text).iter().filter(|word| word.len() > 3 && mentions(lower, word)).count()
    };
    tools.iter().rev().max_by_key(|tool| score(tool)).unwrap_or(&tools[0])
}
