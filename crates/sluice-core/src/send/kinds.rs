//! What a request is for. VS Code's chat makes many small requests of its own, for titles, commit messages and the like.
//! They are recognized by the tools that they offer, or by how their prompts state the task.

use std::str::SplitWhitespace;

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

/// Where a rule looks for its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Where a system prompt states its task, if the request offers no tools.
    System,
    /// Where a system prompt states its task, with or without tools.
    SystemWithTools,
    /// All of the system prompt, if the request offers no tools.
    WholeSystem,
    /// At the beginning of a part of the only question, if there are neither tools nor a system prompt with a task.
    OnlyQuestion,
    /// At the beginning of a part of the last question, if there are answers to summarize.
    LastQuestion,
    /// The name of the only tool.
    OnlyTool,
    /// At the beginning of an agent's instructions, which come before the question.
    Agent,
}
use Place::{Agent, LastQuestion, OnlyQuestion, OnlyTool, System, SystemWithTools, WholeSystem};

/// The purposes that are recognized, with the words that identify them. `*` is any word, and `…` any number of words. The first
/// match counts.
///
/// The words are long, because other extensions and users write prompts that begin like VS Code's.
const RULES: [(&str, RequestKind, Place, &str); 81] = [
    // Summaries of the conversation offer the tools of the conversation, because the prompt cache depends on them. The model may
    // not call any, so an ordinary question must not be mistaken for one.
    (
        "conversation summary",
        Summary,
        LastQuestion,
        "Summarize the conversation history so far, paying special attention to the most recent agent commands and tool \
        results that triggered this summarization. … Focus particularly on",
    ),
    (
        "conversation summary",
        Summary,
        LastQuestion,
        "The conversation has grown too large for the context window and must be compacted now. Your task is to create a \
        comprehensive, detailed summary of the entire conversation … Do NOT call any tools",
    ),
    (
        "conversation summary",
        Summary,
        LastQuestion,
        "Your task is to create a comprehensive, detailed summary of the entire conversation that captures all essential \
        information … Do NOT call any tools",
    ),
    (
        "conversation summary",
        Summary,
        SystemWithTools,
        "Your task is to create a comprehensive, detailed summary of the entire conversation",
    ),
    ("conversation summary", Summary, System, "You are a helpful AI assistant tasked with summarizing conversations."),
    ("search sub-agent", SubAgent, SystemWithTools, "You are an AI coding research assistant that uses search tools"),
    ("execution sub-agent", SubAgent, SystemWithTools, "You are an AI coding research assistant that runs a series of"),
    ("exploration sub-agent", SubAgent, SystemWithTools, "You are an exploration agent specialized in rapid codebase"),
    // Users can't choose VS Code's own agent of this name, only other agents can.
    (
        "exploration sub-agent",
        SubAgent,
        Agent,
        "You are currently running in \"Explore\" mode … You are an exploration agent specialized in rapid codebase",
    ),
    (
        "code search sub-agent",
        SubAgent,
        SystemWithTools,
        "You are a code search expert. A developer needs to find some code in their codebase",
    ),
    ("to-do list", Utility, SystemWithTools, "You are a background task tracker for the main coding agent"),
    ("prompt category", Utility, OnlyTool, "categorize_prompt"),
    ("prompt category", Utility, SystemWithTools, "You are an expert classifier for AI coding assistant prompts"),
    ("chat title", Utility, System, "You are an expert in crafting ultra-compact titles for chatbot conversations"),
    ("chat title", Utility, System, "You are an expert in crafting pithy titles for chatbot conversations"),
    ("chat title", Utility, OnlyQuestion, "Please write a brief title for the following request:"),
    ("chat title", Utility, OnlyQuestion, "Please write a brief title for the following conversation:"),
    ("thinking title", Utility, OnlyQuestion, "Summarize the following content in a SINGLE sentence (under"),
    ("branch name", Utility, System, "You are an expert in crafting pithy branch names for Git Repos"),
    ("branch name", Utility, OnlyQuestion, "Please write a brief branch name for the following request:"),
    (
        "commit message",
        Utility,
        System,
        "You are an AI programming assistant, helping a software developer to come with the best git",
    ),
    ("commit message", Utility, System, "You generate concise Git commit messages."),
    (
        "pull request",
        Utility,
        System,
        "You are an AI assistant for a software developer who is about to make a pull request",
    ),
    ("pull request", Utility, System, "You write clear, concise GitHub pull request titles"),
    (
        "progress message",
        Utility,
        System,
        "You are an expert in writing short, catchy, and encouraging progress messages for a coding assistant",
    ),
    (
        "rename suggestions",
        Utility,
        System,
        "You are a distinguished software engineer. … You must reply with a JSON array of strings",
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
        "intent detection",
        Utility,
        OnlyQuestion,
        "A software developer is using an AI chatbot in a code editor … The developer added the following request",
    ),
    (
        "settings search",
        Utility,
        System,
        "You are a Visual Studio Code assistant. Your job is to assist users in using Visual Studio Code by returning",
    ),
    ("goal", Utility, System, "You summarize a user's coding request into a single short phrase"),
    ("goal check", Utility, System, "You are an evaluator inside an autonomous coding agent loop"),
    ("goal check", Utility, OnlyQuestion, "You are an evaluator inside an autonomous coding agent loop"),
    (
        "user's intent",
        Utility,
        OnlyQuestion,
        "You are a helpful assistant that summarizes conversations. Given a chat conversation",
    ),
    ("command risk", Utility, System, "You assess what one terminal command does for"),
    ("command risk", Utility, OnlyQuestion, "You assess what one terminal command does for"),
    ("tool risk", Utility, System, "You assess what one tool call does for"),
    ("tool risk", Utility, OnlyQuestion, "You assess what one tool call does for"),
    (
        "change explanations",
        Utility,
        OnlyQuestion,
        "Analyze these * code changes across * * and provide a brief explanation for each one. These changes are part of",
    ),
    ("dictation", Utility, System, "You clean up raw speech-to-text (dictation) output"),
    ("tool groups", Utility, System, "Context: You are given multiple groups of tools"),
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
    ("edit repair", Utility, WholeSystem, "You are an expert at analyzing files and patterns."),
    ("next edit", Utility, System, "Your task is to predict the line number where the developer is most likely"),
    (
        "next edit",
        Utility,
        System,
        "Your role as an AI assistant is to help developers complete their code tasks by assisting in editing specific",
    ),
    ("next edit", Utility, System, "Predict next code edit based on the context given by the user"),
    ("next edit", Utility, System, "Predict the next code edit based on user context"),
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
        "You are a software engineer with expert knowledge of the codebase the user has open in their workspace",
    ),
    (
        "test framework",
        Utility,
        System,
        "You are a software engineer with expert knowledge around software testing frameworks",
    ),
    (
        "test request",
        Utility,
        System,
        "You are a helpful assistant that parses user queries. The user is a software developer that is asking an AI",
    ),
    ("launch configuration", Utility, System, "You are a Visual Studio Code assistant who specializes in debugging"),
    ("debug type", Utility, System, "You are a debugging expert. Your job is to return the debug type"),
    ("dev container", Utility, System, "You are helping a software developer to configure a Dev Container"),
    (
        "tool server configuration",
        Utility,
        SystemWithTools,
        "You are an expert in reading documentation and extracting relevant results. A developer is setting up",
    ),
    (
        "files for a fix",
        Utility,
        System,
        "You are a programmer who specializes in using the command line. Your task is to respond with a list",
    ),
    (
        "command fix",
        Utility,
        System,
        "You are a programmer who specializes in using the command line. Your task is to help the user fix",
    ),
    (
        "project structure",
        Utility,
        System,
        "You are a VS Code assistant. Your job is to suggest a filetree directory structure",
    ),
    (
        "project file",
        Utility,
        System,
        "You are a VS Code assistant. Your job is to generate the contents of a file in a project",
    ),
    (
        "project specification",
        Utility,
        System,
        "You are a VS Code assistant. Your job is to generate the project specification",
    ),
    (
        "project file",
        Utility,
        System,
        "You are a Visual Studio Code assistant. Your job is to generate the contents of a new file",
    ),
    (
        "project template",
        Utility,
        System,
        "You are a Visual Studio Code assistant. The user has identified a project URL",
    ),
    (
        "project specification",
        Utility,
        System,
        "You are a Visual Studio Code assistant focused on aiding users in crafting clear and specific",
    ),
    (
        "notebook outline",
        Utility,
        System,
        "You are an AI that creates a detailed content outline for a Jupyter notebook",
    ),
    (
        "notebook cell",
        Utility,
        System,
        "You are an AI that writes Python code for a single section of a Jupyter notebook",
    ),
    (
        "notebook cell",
        Utility,
        System,
        "You are an AI that improves Python code … for a single section of a Jupyter notebook",
    ),
    (
        "judgement",
        Utility,
        System,
        "You are a world class examiner and must decide whether a response fulfills a given criteria",
    ),
    (
        "inline edit",
        Inline,
        SystemWithTools,
        "You are an AI coding assistant that is used for quick, inline code changes",
    ),
    (
        "inline edit",
        Inline,
        System,
        "You are a world class expert in programming, and especially good at … Follow Microsoft content policies.",
    ),
    (
        "inline edit",
        Inline,
        System,
        "You are a world class markdown editor, very well versed in programming. … Follow Microsoft content policies.",
    ),
    (
        "inline fix",
        Inline,
        System,
        "The user has a * file opened in a code editor. The user expects you to propose a fix",
    ),
    (
        "inline edit",
        Inline,
        System,
        "The user has a * file opened in a code editor. The user includes some code snippets",
    ),
    ("documentation", Inline, System, "When user asks you to document something, you must answer in the form of"),
    (
        "terminal command",
        Inline,
        System,
        "You are a programmer who specializes in using the command line. Your task is to help the Developer",
    ),
    (
        "command-line tool",
        Inline,
        System,
        "You are an AI programming assistant that is specialized for usage of command-line tools",
    ),
    ("search query", Inline, System, "You are a VS Code search expert who helps to write search queries for"),
    (
        "VS Code question",
        Inline,
        SystemWithTools,
        "You are a Visual Studio Code assistant. Your job is to assist users in using Visual Studio Code by providing knowledge",
    ),
    ("explanation", Inline, System, "You are a world-class coding tutor. Your code explanations perfectly balance"),
    (
        "code review",
        Inline,
        System,
        "You are a world-class software engineer and the author and maintainer of the discussed code",
    ),
];

/// Rules for all answers. Many system prompts begin with them, and some consist of nothing else.
const GENERAL_RULES: [&str; 3] =
    ["Follow Microsoft content policies.", "When asked for your name,", "Your name is GitHub Copilot."];
/// What other system prompts begin with before they state the task.
const ROLES: [&str; 2] = [
    "You are an AI programming assistant.",
    "You are a Visual Studio Code assistant. Your job is to assist users in using Visual Studio Code by providing knowledge",
];
/// A system prompt states its task within this many lines.
const LINES_BEFORE_TASK: usize = 24;
/// Begins the part of a long system prompt that states the task.
const INSTRUCTIONS: &str = "<instructions>";
/// How the system prompt of VS Code's agents begins. The user's own instructions may follow, and may say anything.
const AGENT: &str = "You are an expert AI programming assistant, working with a user";
/// Begins the instructions of an agent that has a name.
const AGENT_INSTRUCTIONS: &str = "<modeInstructions>";

/// Returns what a request is for. Anything that isn't recognized is a part of the conversation.
pub fn purpose(chat: &ChatRequest) -> Purpose {
    let first_answer = chat.messages.iter().position(|message| message.role == Role::Assistant);
    let before = chat.messages.get(..first_answer.unwrap_or(chat.messages.len())).unwrap_or_default();
    let prompts: Vec<&str> = before.iter().filter(|message| message.role == Role::System).flat_map(texts).collect();
    let tasks: Vec<&str> = match prompts.first() {
        Some(first) if begins_with(first, AGENT) => Vec::new(),
        first => {
            let instructions = first.and_then(|text| text.split_once(INSTRUCTIONS));
            let tasks = prompts.iter().flat_map(|text| possible_tasks(text));
            tasks.chain(instructions.map(|(_, instructions)| instructions)).collect()
        }
    };
    let has_no_task = prompts.iter().all(|text| GENERAL_RULES.iter().any(|rule| begins_with(text, rule)));
    let question = chat.messages.iter().rev().find(|message| message.role == Role::User);
    let asks = |words: &str| question.is_some_and(|question| texts(question).any(|text| begins_with(text, words)));
    // What the user has written is in the last message before the first answer, and may quote anything.
    let first_question =
        before.iter().rposition(|message| message.role == Role::User && texts(message).next().is_some());
    let instructions = before.get(..first_question.unwrap_or_default()).unwrap_or_default();
    let agents = instructions.iter().flat_map(texts).filter_map(|text| Some(text.split_once(AGENT_INSTRUCTIONS)?.1));
    let agents: Vec<&str> = agents.collect();
    let matches = |place: Place, words: &str| match place {
        System => chat.tools.is_empty() && tasks.iter().any(|task| begins_with(task, words)),
        SystemWithTools => tasks.iter().any(|task| begins_with(task, words)),
        WholeSystem => {
            let is_all = |prompt: &str| prompt.split_whitespace().eq(words.split_whitespace());
            chat.tools.is_empty() && matches!(prompts.as_slice(), [only] if is_all(only))
        }
        // A user may quote such a prompt in a chat.
        OnlyQuestion => chat.tools.is_empty() && has_no_task && first_answer.is_none() && asks(words),
        LastQuestion => first_answer.is_some() && asks(words),
        OnlyTool => matches!(chat.tools.as_slice(), [only] if only.name == words),
        Agent => agents.iter().any(|instructions| begins_with(instructions, words)),
    };
    let found = RULES.into_iter().find(|(_, _, place, words)| matches(*place, words));
    found.map_or(Purpose { name: "conversation", kind: RequestKind::Main }, |(name, kind, ..)| Purpose { name, kind })
}

fn texts(message: &ChatMessage) -> impl Iterator<Item = &str> {
    message.content.iter().filter_map(|part| match part {
        ChatPart::Text { value } => Some(value.as_str()),
        _ => None,
    })
}

/// Returns the places of a system prompt at which it may state its task.
fn possible_tasks(prompt: &str) -> Vec<&str> {
    let mut tasks = vec![prompt];
    if GENERAL_RULES.iter().chain(&ROLES).any(|opening| begins_with(prompt, opening)) {
        let lines = prompt.match_indices('\n').take(LINES_BEFORE_TASK);
        tasks.extend(lines.filter_map(|(at, _)| prompt.get(at..)));
    }
    tasks
}

/// Compares word by word, because versions of VS Code break lines in different places.
fn begins_with(text: &str, opening: &str) -> bool {
    let mut pieces = opening.split('…');
    let mut words = text.split_whitespace();
    pieces.next().is_none_or(|piece| skip(&mut words, piece))
        && pieces.all(|piece| {
            while !skip(&mut words, piece) {
                if words.next().is_none() {
                    return false;
                }
            }
            true
        })
}

/// Skips the next words if they are these.
fn skip(words: &mut SplitWhitespace<'_>, expected: &str) -> bool {
    let mut rest = words.clone();
    let mut expected = expected.split_whitespace().peekable();
    while let Some(word) = expected.next() {
        let Some(found) = rest.next() else { return false };
        // The last word may be followed by punctuation.
        let is_last = expected.peek().is_none();
        let bare = || found.trim_end_matches(|c: char| !c.is_alphanumeric());
        if word != "*" && found != word && (!is_last || bare() != word) {
            return false;
        }
    }
    *words = rest;
    true
}
