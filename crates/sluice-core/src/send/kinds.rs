//! What a request is for. VS Code's chat makes many small requests of its own, for titles, commit messages and the like.
//! They are recognized by the tools that they offer, or by how their prompts begin.

use crate::boundary::{ChatMessage, ChatPart, ChatRequest, RequestKind, Role};
use RequestKind::{Inline, SubAgent, Summary, Utility};

/// What a request is for, in a few words, and what kind of request that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purpose {
    /// For example `chat title`.
    pub name: &'static str,
    /// What kind of request it is, which decides how much the model thinks.
    pub kind: RequestKind,
}

/// Where a rule looks for its opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the beginning of the system prompt, if the request offers no tools.
    System,
    /// At the beginning of the system prompt, with or without tools.
    SystemWithTools,
    /// At the beginning of a part of the only question, if there is neither a system prompt nor a tool.
    OnlyQuestion,
    /// At the beginning of a part of the last question, if there are answers to summarize.
    LastQuestion,
    /// The name of the only tool.
    OnlyTool,
}
use Place::{LastQuestion, OnlyQuestion, OnlyTool, System, SystemWithTools};

/// The purposes that are recognized, with the words that identify them. The first match counts.
const RULES: [(&str, RequestKind, Place, &str); 53] = [
    // Summaries of the conversation offer the tools of the conversation, because the prompt cache depends on them.
    (
        "conversation summary",
        Summary,
        LastQuestion,
        "Summarize the conversation history so far, paying special attention to the most recent agent commands",
    ),
    (
        "conversation summary",
        Summary,
        LastQuestion,
        "The conversation has grown too large for the context window and must be compacted",
    ),
    ("conversation summary", Summary, LastQuestion, "Your task is to create a comprehensive, detailed summary of the"),
    (
        "conversation summary",
        Summary,
        SystemWithTools,
        "Your task is to create a comprehensive, detailed summary of the",
    ),
    ("conversation summary", Summary, System, "You are a helpful AI assistant tasked with summarizing conversations"),
    ("search sub-agent", SubAgent, SystemWithTools, "You are an AI coding research assistant that uses search tools"),
    ("execution sub-agent", SubAgent, SystemWithTools, "You are an AI coding research assistant that runs a series of"),
    ("exploration sub-agent", SubAgent, SystemWithTools, "You are an exploration agent specialized in rapid codebase"),
    ("code search sub-agent", SubAgent, SystemWithTools, "You are a code search expert.\nA developer needs to find"),
    ("to-do list", Utility, OnlyTool, "manage_todo_list"),
    ("to-do list", Utility, SystemWithTools, "You are a background task tracker for the main coding agent"),
    ("prompt category", Utility, OnlyTool, "categorize_prompt"),
    ("prompt category", Utility, SystemWithTools, "You are an expert classifier for AI coding assistant prompts"),
    ("chat title", Utility, System, "You are an expert in crafting ultra-compact titles for chatbot"),
    ("chat title", Utility, System, "You are an expert in crafting pithy titles for chatbot"),
    ("chat title", Utility, OnlyQuestion, "Please write a brief title for the following request:"),
    ("branch name", Utility, System, "You are an expert in crafting pithy branch names for Git"),
    ("branch name", Utility, OnlyQuestion, "Please write a brief branch name for the following request:"),
    (
        "commit message",
        Utility,
        System,
        "You are an AI programming assistant, helping a software developer to come with the best git",
    ),
    (
        "pull request",
        Utility,
        System,
        "You are an AI assistant for a software developer who is about to make a pull request",
    ),
    (
        "progress message",
        Utility,
        System,
        "You are an expert in writing short, catchy, and encouraging progress messages",
    ),
    (
        "rename suggestions",
        Utility,
        System,
        "You are a distinguished software engineer.\nYou must reply with a JSON array",
    ),
    (
        "intent detection",
        Utility,
        System,
        "You are a helpful AI programming assistant to a user who is a software engineer, acting on",
    ),
    (
        "intent detection",
        Utility,
        System,
        "You are a helpful AI programming assistant. Your task is to choose one category",
    ),
    (
        "settings search",
        Utility,
        System,
        "You are a Visual Studio Code assistant. Your job is to assist users in using Visual Studio Code by returning",
    ),
    ("goal", Utility, System, "You summarize a user's coding request into a single short phrase"),
    ("goal check", Utility, System, "You are an evaluator inside an autonomous coding agent loop"),
    (
        "user's intent",
        Utility,
        OnlyQuestion,
        "You are a helpful assistant that summarizes conversations. Given a chat conversation",
    ),
    ("command risk", Utility, System, "You assess what one terminal command does"),
    (
        "code mapper",
        Utility,
        System,
        "You are an AI programming assistant that is specialized in applying code changes to",
    ),
    (
        "new file",
        Utility,
        System,
        "You are an AI programming assistant that is specialized in generating code for a new",
    ),
    ("patch repair", Utility, System, "You are an expert in file editing. The user has provided a patch that failed"),
    ("edit repair", Utility, System, "You are an expert at analyzing files and patterns."),
    ("next edit", Utility, System, "Your task is to predict the line number where the developer is most likely"),
    (
        "question rewrite",
        Utility,
        System,
        "You are a Visual Studio Code assistant who helps the user create well-formed and unambiguous",
    ),
    (
        "search keywords",
        Utility,
        System,
        "You are a software engineer with expert knowledge of the codebase the user has open",
    ),
    (
        "test framework",
        Utility,
        System,
        "You are a software engineer with expert knowledge around software testing frameworks",
    ),
    ("launch configuration", Utility, System, "You are a Visual Studio Code assistant who specializes in debugging"),
    ("debug type", Utility, System, "You are a debugging expert. Your job is to return the debug type"),
    ("dev container", Utility, System, "You are helping a software developer to configure a Dev Container"),
    (
        "tool server configuration",
        Utility,
        System,
        "You are an expert in reading documentation and extracting relevant results",
    ),
    (
        "files for a fix",
        Utility,
        System,
        "You are a programmer who specializes in using the command line. Your task is to respond with a list",
    ),
    (
        "project structure",
        Utility,
        System,
        "You are a VS Code assistant. Your job is to suggest a filetree directory structure",
    ),
    ("project file", Utility, System, "You are a VS Code assistant. Your job is to generate the "),
    (
        "project file",
        Utility,
        System,
        "You are a Visual Studio Code assistant. Your job is to generate the contents of a new file",
    ),
    (
        "notebook outline",
        Utility,
        System,
        "You are an AI that creates a detailed content outline for a Jupyter notebook",
    ),
    (
        "inline edit",
        Inline,
        SystemWithTools,
        "You are an AI coding assistant that is used for quick, inline code changes",
    ),
    ("inline edit", Inline, System, "You are a world class expert in programming, and especially good at "),
    (
        "terminal command",
        Inline,
        System,
        "You are a programmer who specializes in using the command line. Your task is to help",
    ),
    (
        "command-line tool",
        Inline,
        System,
        "You are an AI programming assistant that is specialized for usage of command-line tools",
    ),
    ("search query", Inline, System, "You are a VS Code search expert who helps to write search queries"),
    ("explanation", Inline, System, "You are a world-class coding tutor. Your code explanations"),
    (
        "code review",
        Inline,
        System,
        "You are a world-class software engineer and the author and maintainer of the discussed code",
    ),
];

/// Returns what a request is for. Anything that isn't recognized is a part of the conversation.
pub fn purpose(chat: &ChatRequest) -> Purpose {
    let system = chat.messages.iter().find(|message| message.role == Role::System);
    let question = chat.messages.iter().rev().find(|message| message.role == Role::User);
    let has_answers = chat.messages.iter().any(|message| message.role == Role::Assistant);
    let begins = |message: Option<&ChatMessage>, opening: &str| {
        message.is_some_and(|message| message.content.iter().filter_map(text_of).any(|text| begins_with(text, opening)))
    };
    let matches = |place: Place, words: &str| match place {
        System => chat.tools.is_empty() && begins(system, words),
        SystemWithTools => begins(system, words),
        // A user may quote such a prompt in a chat.
        OnlyQuestion => chat.tools.is_empty() && system.is_none() && !has_answers && begins(question, words),
        LastQuestion => has_answers && begins(question, words),
        OnlyTool => matches!(chat.tools.as_slice(), [only] if only.name == words),
    };
    let found = RULES.into_iter().find(|(_, _, place, words)| matches(*place, words));
    found.map_or(Purpose { name: "conversation", kind: RequestKind::Main }, |(name, kind, ..)| Purpose { name, kind })
}

fn text_of(part: &ChatPart) -> Option<&str> {
    match part {
        ChatPart::Text { value } => Some(value),
        _ => None,
    }
}

/// Compares word by word, because versions of VS Code break lines in different places.
fn begins_with(text: &str, opening: &str) -> bool {
    let mut words = text.split_whitespace();
    let mut expected = opening.split_whitespace().peekable();
    while let Some(word) = expected.next() {
        let Some(found) = words.next() else { return false };
        // The last word of an opening may be followed by punctuation.
        let is_last = expected.peek().is_none();
        if found != word && !(is_last && found.trim_end_matches(|c: char| !c.is_alphanumeric()) == word) {
            return false;
        }
    }
    true
}
