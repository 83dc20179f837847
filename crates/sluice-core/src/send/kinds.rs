//! What a request is for. VS Code's chat makes many small requests of its own, for titles, commit messages and the like.
//! They are recognized by the tools that they offer, or by how their prompts state the task.

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
    /// At the beginning of a part of the only question, if there are neither tools nor a system prompt with a task.
    OnlyQuestion,
    /// At the beginning of a part of the last question, if there are answers to summarize.
    LastQuestion,
    /// The name of the only tool.
    OnlyTool,
    /// The name of the agent whose instructions come before the question.
    Agent,
}
use Place::{Agent, LastQuestion, OnlyQuestion, OnlyTool, System, SystemWithTools};

/// The purposes that are recognized, with the words that identify them. `*` is any word. The first match counts.
const RULES: [(&str, RequestKind, Place, &str); 81] = [
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
    // Users can't choose this agent, only other agents can.
    ("exploration sub-agent", SubAgent, Agent, "Explore"),
    ("code search sub-agent", SubAgent, SystemWithTools, "You are a code search expert. A developer needs to find"),
    ("to-do list", Utility, OnlyTool, "manage_todo_list"),
    ("to-do list", Utility, SystemWithTools, "You are a background task tracker"),
    ("prompt category", Utility, OnlyTool, "categorize_prompt"),
    ("prompt category", Utility, SystemWithTools, "You are an expert classifier for AI coding assistant prompts"),
    ("chat title", Utility, System, "You are an expert in crafting ultra-compact titles"),
    ("chat title", Utility, System, "You are an expert in crafting pithy titles"),
    ("chat title", Utility, OnlyQuestion, "Please write a brief title for the following request:"),
    ("chat title", Utility, OnlyQuestion, "Please write a brief title for the following conversation:"),
    ("thinking title", Utility, OnlyQuestion, "Summarize the following content in a SINGLE sentence (under"),
    ("branch name", Utility, System, "You are an expert in crafting pithy branch names"),
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
        "You are an expert in writing short, catchy, and encouraging progress messages",
    ),
    ("rename suggestions", Utility, System, "You are a distinguished software engineer."),
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
    ("intent detection", Utility, OnlyQuestion, "A software developer is using an AI chatbot in a code editor"),
    (
        "settings search",
        Utility,
        System,
        "You are a Visual Studio Code assistant. Your job is to assist users in using Visual Studio Code by returning",
    ),
    ("goal", Utility, System, "You summarize a user's coding request"),
    ("goal check", Utility, System, "You are an evaluator inside an autonomous coding agent loop"),
    ("goal check", Utility, OnlyQuestion, "You are an evaluator inside an autonomous coding agent loop"),
    (
        "user's intent",
        Utility,
        OnlyQuestion,
        "You are a helpful assistant that summarizes conversations. Given a chat conversation",
    ),
    ("command risk", Utility, System, "You assess what one terminal command does"),
    ("command risk", Utility, OnlyQuestion, "You assess what one terminal command does for"),
    ("tool risk", Utility, System, "You assess what one tool call does"),
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
    ("edit repair", Utility, System, "You are an expert at analyzing files and patterns."),
    ("next edit", Utility, System, "Your task is to predict the line number where the developer is most likely"),
    ("next edit", Utility, System, "Your role as an AI assistant is to help developers complete their code tasks by"),
    ("next edit", Utility, System, "Predict next code edit based on"),
    ("next edit", Utility, System, "Predict the next code edit based on"),
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
    ("test request", Utility, System, "You are a helpful assistant that parses user queries."),
    ("launch configuration", Utility, System, "You are a Visual Studio Code assistant who specializes in debugging"),
    ("debug type", Utility, System, "You are a debugging expert. Your job is to return the debug type"),
    ("dev container", Utility, System, "You are helping a software developer to configure a Dev Container"),
    (
        "tool server configuration",
        Utility,
        SystemWithTools,
        "You are an expert in reading documentation and extracting relevant results",
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
    ("project file", Utility, System, "You are a VS Code assistant. Your job is to generate the "),
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
    ("notebook cell", Utility, System, "You are an AI that improves Python code"),
    ("judgement", Utility, System, "You are a world class examiner and must decide"),
    (
        "inline edit",
        Inline,
        SystemWithTools,
        "You are an AI coding assistant that is used for quick, inline code changes",
    ),
    ("inline edit", Inline, System, "You are a world class expert in programming, and especially good at "),
    ("inline edit", Inline, System, "You are a world class markdown editor, very well versed in programming"),
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
        "You are a programmer who specializes in using the command line. Your task is to help",
    ),
    (
        "command-line tool",
        Inline,
        System,
        "You are an AI programming assistant that is specialized for usage of command-line tools",
    ),
    ("search query", Inline, System, "You are a VS Code search expert who helps to write search queries"),
    (
        "VS Code question",
        Inline,
        SystemWithTools,
        "You are a Visual Studio Code assistant. Your job is to assist users in using Visual Studio Code by providing knowledge",
    ),
    ("explanation", Inline, System, "You are a world-class coding tutor. Your code explanations"),
    ("code review", Inline, System, "You are a world-class software engineer and the author and maintainer"),
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
        _ => prompts.iter().flat_map(|text| possible_tasks(text)).collect(),
    };
    let has_no_task = prompts.iter().all(|text| GENERAL_RULES.iter().any(|rule| begins_with(text, rule)));
    let question = chat.messages.iter().rev().find(|message| message.role == Role::User);
    let asks = |words: &str| question.is_some_and(|question| texts(question).any(|text| begins_with(text, words)));
    // What the user has written is in the last message before the first answer, and may quote anything.
    let first_question =
        before.iter().rposition(|message| message.role == Role::User && texts(message).next().is_some());
    let instructions = before.get(..first_question.unwrap_or_default()).unwrap_or_default();
    let matches = |place: Place, words: &str| match place {
        System => chat.tools.is_empty() && tasks.iter().any(|task| begins_with(task, words)),
        SystemWithTools => tasks.iter().any(|task| begins_with(task, words)),
        // A user may quote such a prompt in a chat.
        OnlyQuestion => chat.tools.is_empty() && has_no_task && first_answer.is_none() && asks(words),
        LastQuestion => first_answer.is_some() && asks(words),
        OnlyTool => matches!(chat.tools.as_slice(), [only] if only.name == words),
        Agent => instructions.iter().flat_map(texts).any(|text| is_of_agent(text, words)),
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
    tasks.extend(prompt.split_once(INSTRUCTIONS).map(|(_, instructions)| instructions));
    tasks
}

/// Returns whether a text has the instructions of the agent with this name.
fn is_of_agent(text: &str, name: &str) -> bool {
    text.split_once(AGENT_INSTRUCTIONS).is_some_and(|(_, instructions)| {
        begins_with(instructions, &format!("You are currently running in \"{name}\" mode"))
    })
}

/// Compares word by word, because versions of VS Code break lines in different places.
fn begins_with(text: &str, opening: &str) -> bool {
    let mut words = text.split_whitespace();
    let mut expected = opening.split_whitespace().peekable();
    while let Some(word) = expected.next() {
        let Some(found) = words.next() else { return false };
        // The last word of an opening may be followed by punctuation.
        let is_last = expected.peek().is_none();
        let bare = || found.trim_end_matches(|c: char| !c.is_alphanumeric());
        if word != "*" && found != word && (!is_last || bare() != word) {
            return false;
        }
    }
    true
}
