//! What requests are for: a table of the requests that VS Code's chat makes on its own, and ordinary prompts.

use expect_test::expect;
use serde_json::{Value, json};
use sluice_core::{ChatMessage, ChatPart, ChatRequest, RequestKind, Role, purpose};

/// How VS Code's system prompts begin, and then go on in our own words.
const SYSTEM_PROMPTS: [&str; 45] = [
    "Your task is to create a comprehensive, detailed summary of the entire conversation. Leave nothing out.",
    "You are a helpful AI assistant tasked with summarizing conversations. Be short.",
    "You are an AI coding research assistant that uses search tools to gather information. Search well.",
    "You are an AI coding research assistant that runs a series of terminal commands. Run them.",
    "You are an exploration agent specialized in rapid codebase analysis. Explore.",
    "You are a code search expert.\nA developer needs to find a function.",
    "You are a background task tracker for the main coding agent. Track.",
    "You are an expert classifier for AI coding assistant prompts. Classify.",
    "You are an expert in crafting ultra-compact titles for chatbot conversations. Be compact.",
    "You are an expert in crafting pithy titles for chatbot conversations. Be pithy.",
    "You are an expert in crafting pithy branch names for Git Repos. Name it.",
    "You are an AI programming assistant, helping a software developer to come with the best git commit message.",
    "You are an AI assistant for a software developer who is about to make a pull request. Describe it.",
    "You are an expert in writing short, catchy, and encouraging progress messages. Cheer.",
    "You are a distinguished software engineer.\nYou must reply with a JSON array of names.",
    "You are a helpful AI programming assistant to a user who is a software engineer, acting on behalf of an editor.",
    "You are a helpful AI programming assistant. Your task is to choose one category of these.",
    "You are a Visual Studio Code assistant. Your job is to assist users in using Visual Studio Code by returning settings.",
    "You summarize a user's coding request into a single short phrase. Short.",
    "You are an evaluator inside an autonomous coding agent loop. Judge.",
    "You assess what one terminal command does for an agent.",
    "You are an AI programming assistant that is specialized in applying code changes to a document.",
    "You are an AI programming assistant that is specialized in generating code for a new document.",
    "You are an expert in file editing. The user has provided a patch that failed to apply.",
    "You are an expert at analyzing files and patterns.",
    "Your task is to predict the line number where the developer is most likely to go.",
    "You are a Visual Studio Code assistant who helps the user create well-formed and unambiguous queries.",
    "You are a software engineer with expert knowledge of the codebase the user has open. Find words.",
    "You are a software engineer with expert knowledge around software testing frameworks. Name one.",
    "You are a Visual Studio Code assistant who specializes in debugging. Configure it.",
    "You are a debugging expert. Your job is to return the debug type.",
    "You are helping a software developer to configure a Dev Container. Pick one.",
    "You are an expert in reading documentation and extracting relevant results. Extract.",
    "You are a programmer who specializes in using the command line. Your task is to respond with a list of files.",
    "You are a VS Code assistant. Your job is to suggest a filetree directory structure for a project.",
    "You are a VS Code assistant. Your job is to generate the project specification.",
    "You are a Visual Studio Code assistant. Your job is to generate the contents of a new file.",
    "You are an AI that creates a detailed content outline for a Jupyter notebook. Outline it.",
    "You are an AI coding assistant that is used for quick, inline code changes. Be quick.",
    "You are a world class expert in programming, and especially good at Rust.",
    "You are a programmer who specializes in using the command line. Your task is to help the Developer.",
    "You are an AI programming assistant that is specialized for usage of command-line tools. Use them.",
    "You are a VS Code search expert who helps to write search queries for text. Write one.",
    "You are a world-class coding tutor. Your code explanations are good.",
    "You are a world-class software engineer and the author and maintainer of the discussed code. Review it.",
];

fn chat(system: Option<&str>, question: &str, tools: &[&str]) -> ChatRequest {
    let message = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "value": text}]});
    let system = system.map(|text| message("system", text));
    let messages: Vec<Value> = system.into_iter().chain([message("user", question)]).collect();
    let tools: Vec<Value> = tools.iter().map(|name| json!({"name": name})).collect();
    serde_json::from_value(json!({"model": "m", "messages": messages, "tools": tools})).unwrap()
}

#[test]
fn the_requests_of_vscode_are_recognized() {
    let mut lines = String::new();
    let mut add = |what: &str, chat: &ChatRequest| {
        let found = purpose(chat);
        assert_ne!(found.kind, RequestKind::Main, "{what}");
        let kind = serde_json::to_value(found.kind).unwrap();
        lines.push_str(&format!(
            "{} {}: {}\n",
            kind.as_str().unwrap(),
            found.name,
            what.chars().take(60).collect::<String>()
        ));
    };
    for system in SYSTEM_PROMPTS {
        add(system, &chat(Some(system), "Go", &[]));
        // Line breaks differ between versions.
        let broken = system.replacen(' ', "\n ", 3);
        assert_eq!(purpose(&chat(Some(&broken), "Go", &[])), purpose(&chat(Some(system), "Go", &[])));
    }
    for question in [
        "Summarize the conversation history so far, paying special attention to the most recent agent commands. Go.",
        "The conversation has grown too large for the context window and must be compacted.",
    ] {
        let mut chat = chat(Some("You are an expert AI programming assistant"), question, &["read_file", "edit"]);
        chat.messages.insert(1, ChatMessage::user("Fix it"));
        let content = vec![ChatPart::Text { value: "It is fixed.".to_owned() }];
        chat.messages.insert(2, ChatMessage { role: Role::Assistant, content });
        add(question, &chat);
    }
    for question in [
        "Please write a brief title for the following request:\n\nFix it",
        "Please write a brief branch name for the following request:\n\nFix it",
        "You are a helpful assistant that summarizes conversations. Given a chat conversation between two.",
    ] {
        add(question, &chat(None, question, &[]));
    }
    for tool in ["manage_todo_list", "categorize_prompt"] {
        add(tool, &chat(Some("Anything"), "Go", &[tool]));
    }
    expect![[r#"
        summary conversation summary: Your task is to create a comprehensive, detailed summary of 
        summary conversation summary: You are a helpful AI assistant tasked with summarizing conve
        subAgent search sub-agent: You are an AI coding research assistant that uses search too
        subAgent execution sub-agent: You are an AI coding research assistant that runs a series o
        subAgent exploration sub-agent: You are an exploration agent specialized in rapid codebase a
        subAgent code search sub-agent: You are a code search expert.
        A developer needs to find a fu
        utility to-do list: You are a background task tracker for the main coding agent.
        utility prompt category: You are an expert classifier for AI coding assistant prompts
        utility chat title: You are an expert in crafting ultra-compact titles for chatb
        utility chat title: You are an expert in crafting pithy titles for chatbot conve
        utility branch name: You are an expert in crafting pithy branch names for Git Rep
        utility commit message: You are an AI programming assistant, helping a software deve
        utility pull request: You are an AI assistant for a software developer who is abou
        utility progress message: You are an expert in writing short, catchy, and encouraging 
        utility rename suggestions: You are a distinguished software engineer.
        You must reply wi
        utility intent detection: You are a helpful AI programming assistant to a user who is 
        utility intent detection: You are a helpful AI programming assistant. Your task is to 
        utility settings search: You are a Visual Studio Code assistant. Your job is to assis
        utility goal: You summarize a user's coding request into a single short ph
        utility goal check: You are an evaluator inside an autonomous coding agent loop.
        utility command risk: You assess what one terminal command does for an agent.
        utility code mapper: You are an AI programming assistant that is specialized in a
        utility new file: You are an AI programming assistant that is specialized in g
        utility patch repair: You are an expert in file editing. The user has provided a p
        utility edit repair: You are an expert at analyzing files and patterns.
        utility next edit: Your task is to predict the line number where the developer 
        utility question rewrite: You are a Visual Studio Code assistant who helps the user cr
        utility search keywords: You are a software engineer with expert knowledge of the cod
        utility test framework: You are a software engineer with expert knowledge around sof
        utility launch configuration: You are a Visual Studio Code assistant who specializes in de
        utility debug type: You are a debugging expert. Your job is to return the debug 
        utility dev container: You are helping a software developer to configure a Dev Cont
        utility tool server configuration: You are an expert in reading documentation and extracting re
        utility files for a fix: You are a programmer who specializes in using the command li
        utility project structure: You are a VS Code assistant. Your job is to suggest a filetr
        utility project file: You are a VS Code assistant. Your job is to generate the pro
        utility project file: You are a Visual Studio Code assistant. Your job is to gener
        utility notebook outline: You are an AI that creates a detailed content outline for a 
        inline inline edit: You are an AI coding assistant that is used for quick, inlin
        inline inline edit: You are a world class expert in programming, and especially 
        inline terminal command: You are a programmer who specializes in using the command li
        inline command-line tool: You are an AI programming assistant that is specialized for 
        inline search query: You are a VS Code search expert who helps to write search qu
        inline explanation: You are a world-class coding tutor. Your code explanations a
        inline code review: You are a world-class software engineer and the author and m
        summary conversation summary: Summarize the conversation history so far, paying special at
        summary conversation summary: The conversation has grown too large for the context window 
        utility chat title: Please write a brief title for the following request:

        Fix i
        utility branch name: Please write a brief branch name for the following request:

        utility user's intent: You are a helpful assistant that summarizes conversations. G
        utility to-do list: manage_todo_list
        utility prompt category: categorize_prompt
    "#]]
    .assert_eq(&lines);
}

/// The openings of prompts from VS Code and from other extensions, continued in our own words.
const ORDINARY_SYSTEMS: [&str; 14] = [
    "You are an expert AI programming assistant, working with a user in the VS Code editor. Help them.",
    "You are a coding agent running in VS Code. You are expected to be precise, safe, and helpful. Be so.",
    "You are an AI programming assistant.\nFollow the user's requirements to the letter.",
    "You are a highly sophisticated automated coding agent with expert-level knowledge. Use it.",
    "You are an interactive coding agent working inside VS Code. Interact.",
    "You are a PLANNING AGENT, pairing with the user to create a plan. Plan.",
    "You are an ASK AGENT, a knowledgeable assistant that answers questions. Answer.",
    "You are an agent - you must keep going until the query is resolved. Go on.",
    "You are an AI assistant using Copilot CLI runtime in VS Code. Assist.",
    "You are a helpful assistant.",
    "You are an expert in writing tests. Summarize the conversation in a title when asked.",
    "You are a VS Code assistant for a team that writes search queries. Search.",
    "You are a world class expert in cooking, and good at writing.",
    "Your task is to create a web page. A background task tracker runs beside you.",
];

/// What people ask for, often in the words of VS Code's own requests.
const VERBS: [&str; 20] = [
    "Summarize",
    "Summarize the conversation history so far and then look at",
    "Please write a brief title for",
    "Please write a brief title for the following request in",
    "Please write a brief branch name for",
    "Write a commit message for",
    "Create a comprehensive, detailed summary of",
    "The conversation has grown too large, so let us talk about",
    "Explain",
    "Fix",
    "Rename the variables in",
    "Search for the callers of",
    "You are a reviewer. Check",
    "You are an expert in crafting pithy titles. Name",
    "Act as a background task tracker and list the tasks in",
    "Predict the line number of the bug in",
    "Choose one category for",
    "Generate the contents of a new file from",
    "Which terminal command builds",
    "Describe a pull request for",
];
const OBJECTS: [&str; 8] = [
    "the conversation in README.md",
    "my essay about chatbot titles",
    "this function",
    "the failing test",
    "src/main.rs",
    "a Jupyter notebook outline",
    "the git commit messages of this branch",
    "the search queries",
];
const ENDS: [&str; 6] =
    ["", ".", " and explain why.", "\n```rust\nfn main() {}\n```", ", in one short phrase", "\n\nAnswer with JSON."];
/// How hosts wrap questions.
const WRAPPERS: [(&str, &str); 3] =
    [("", ""), ("<context>\nToday.\n</context>\n<userRequest>\n", "\n</userRequest>"), ("  ", "\n")];
/// Agents offer many tools, including one that other requests offer by itself.
const TOOLS: [&[&str]; 3] = [&[], &["read_file", "manage_todo_list"], &["open_gate"]];

#[test]
fn ordinary_prompts_are_not_misread() {
    let mut number = 0;
    for verb in VERBS {
        for object in OBJECTS {
            for end in ENDS {
                // Every question is asked in another way.
                number += 1;
                let (before, after) = WRAPPERS[number % WRAPPERS.len()];
                let system = ORDINARY_SYSTEMS.get(number % (ORDINARY_SYSTEMS.len() + 1)).copied();
                let tools = TOOLS[number / 2 % TOOLS.len()];
                let found = purpose(&chat(system, &format!("{before}{verb} {object}{end}{after}"), tools));
                assert_eq!(found.kind, RequestKind::Main, "{system:?} {verb} {object} is taken for {}", found.name);
            }
        }
    }
    assert!(number >= 500, "{number}");
}

/// People who write about VS Code's prompts quote them.
#[test]
fn quoted_prompts_are_not_misread() {
    let questions = [
        "Summarize the conversation history so far, paying special attention to the most recent agent commands.",
        "The conversation has grown too large for the context window and must be compacted.",
        "Please write a brief title for the following request:\n\nFix it",
        "Please write a brief branch name for the following request:\n\nFix it",
        "You are a helpful assistant that summarizes conversations. Given a chat conversation between two.",
    ];
    for quoted in SYSTEM_PROMPTS.iter().chain(&questions) {
        for (before, after) in [("", ""), ("", "\n\nWhat does this prompt do?"), ("Copilot says: \"", "\""), ("> ", "")]
        {
            for tools in TOOLS {
                let question = format!("{before}{quoted}{after}");
                let found = purpose(&chat(Some(ORDINARY_SYSTEMS[0]), &question, tools));
                assert_eq!(found.kind, RequestKind::Main, "{question} is taken for {}", found.name);
            }
        }
    }
}

#[test]
fn forty_purposes_are_told_apart() {
    let mut names: Vec<&str> =
        SYSTEM_PROMPTS.iter().map(|system| purpose(&chat(Some(system), "Go", &[])).name).collect();
    let title = "You are a helpful assistant that summarizes conversations. Given a chat conversation between two.";
    names.push(purpose(&chat(None, title, &[])).name);
    names.sort_unstable();
    names.dedup();
    assert!(names.len() >= 40, "{}: {names:?}", names.len());
}
