//! What requests are for: a table of the requests that VS Code's chat makes on its own, and ordinary prompts.

use expect_test::expect;
use serde_json::{Value, json};
use sluice_core::{ChatMessage, ChatPart, ChatRequest, RequestKind, Role, purpose};

/// How VS Code's system prompts begin, and then go on in our own words.
const SYSTEM_PROMPTS: [&str; 62] = [
    "Your task is to create a comprehensive, detailed summary of the entire conversation. Leave nothing out.",
    "You are a helpful AI assistant tasked with summarizing conversations. Be short.",
    "You are an AI coding research assistant that uses search tools to gather information. Search well.",
    "You are an AI coding research assistant that runs a series of terminal commands. Run them.",
    "You are an exploration agent specialized in rapid codebase analysis. Explore.",
    "You are a code search expert.\nA developer needs to find some code in their codebase. Find it.",
    "You are a background task tracker for the main coding agent. Track.",
    "You are an expert classifier for AI coding assistant prompts. Classify.",
    "You are an expert in crafting ultra-compact titles for chatbot conversations. Be compact.",
    "You are an expert in crafting pithy titles for chatbot conversations. Be pithy.",
    "You are an expert in crafting pithy branch names for Git Repos. Name it.",
    "You are an AI programming assistant, helping a software developer to come with the best git commit message.",
    "You are an AI assistant for a software developer who is about to make a pull request. Describe it.",
    "You are an expert in writing short, catchy, and encouraging progress messages for a coding assistant. Cheer.",
    "You are a distinguished software engineer.\nYou must reply with a JSON array of strings.",
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
    "You are a software engineer with expert knowledge of the codebase the user has open in their workspace. Find words.",
    "You are a software engineer with expert knowledge around software testing frameworks. Name one.",
    "You are a Visual Studio Code assistant who specializes in debugging. Configure it.",
    "You are a debugging expert. Your job is to return the debug type.",
    "You are helping a software developer to configure a Dev Container. Pick one.",
    "You are an expert in reading documentation and extracting relevant results.\nA developer is setting up a server.",
    "You are a programmer who specializes in using the command line. Your task is to respond with a list of files.",
    "You are a VS Code assistant. Your job is to suggest a filetree directory structure for a project.",
    "You are a VS Code assistant. Your job is to generate the project specification.",
    "You are a Visual Studio Code assistant. Your job is to generate the contents of a new file.",
    "You are an AI that creates a detailed content outline for a Jupyter notebook. Outline it.",
    "You are an AI coding assistant that is used for quick, inline code changes. Be quick.",
    "You are a world class expert in programming, and especially good at Rust.\nFollow Microsoft content policies.",
    "You are a programmer who specializes in using the command line. Your task is to help the Developer.",
    "You are an AI programming assistant that is specialized for usage of command-line tools. Use them.",
    "You are a VS Code search expert who helps to write search queries for text. Write one.",
    "You are a world-class coding tutor. Your code explanations perfectly balance two things.",
    "You are a world-class software engineer and the author and maintainer of the discussed code. Review it.",
    "You generate concise Git commit messages. Generate one.",
    "You write clear, concise GitHub pull request titles and descriptions. Write them.",
    "You assess what one tool call does for an agent.",
    "You clean up raw speech-to-text (dictation) output. Clean it.",
    "Context: You are given multiple groups of tools. Name them.",
    "Your role as an AI assistant is to help developers complete their code tasks by assisting in editing specific lines.",
    "Predict next code edit based on the context given by the user. Do it.",
    "Predict the next code edit based on user context, and do it.",
    "You are a helpful assistant that parses user queries.\nThe user is a software developer that is asking an AI for tests.",
    "You are a programmer who specializes in using the command line. Your task is to help the user fix a command.",
    "You are a Visual Studio Code assistant. The user has identified a project URL. Confirm it.",
    "You are a Visual Studio Code assistant focused on aiding users in crafting clear and specific texts.",
    "You are an AI that writes Python code for a single section of a Jupyter notebook. Write.",
    "You are an AI that improves Python code a lot for a single section of a Jupyter notebook. Improve.",
    "You are a world class examiner and must decide whether a response fulfills a given criteria. Decide.",
    "You are a world class markdown editor, very well versed in programming.\nFollow Microsoft content policies.",
    "You are a Visual Studio Code assistant. Your job is to assist users in using Visual Studio Code by providing knowledge. Help.",
];

/// How the requests for summaries begin that keep the agent's system prompt.
const SUMMARIES: [&str; 3] = [
    "Summarize the conversation history so far, paying special attention to the most recent agent commands and tool results \
    that triggered this summarization. Be thorough.\nFocus particularly on:\n- the tools",
    "The conversation has grown too large for the context window and must be compacted now.\n\nYour task is to create a \
    comprehensive, detailed summary of the entire conversation that is complete.\n\nIMPORTANT: Do NOT call any tools.",
    "Your task is to create a comprehensive, detailed summary of the entire conversation that captures all essential \
    information.\n\nIMPORTANT: Do NOT call any tools.",
];

fn chat(system: Option<&str>, question: &str, tools: &[&str]) -> ChatRequest {
    let message = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "value": text}]});
    let system = system.map(|text| message("system", text));
    let messages: Vec<Value> = system.into_iter().chain([message("user", question)]).collect();
    let tools: Vec<Value> = tools.iter().map(|name| json!({"name": name})).collect();
    serde_json::from_value(json!({"model": "m", "messages": messages, "tools": tools})).unwrap()
}

/// Rules for every answer that VS Code puts before or between the sentences of many prompts. They begin as the real ones do.
const RULES: &str = "When asked for your name, you must say it. When asked about the model, name it.\n\
    Follow the user's requirements carefully & to the letter.\n\
    Follow Microsoft content policies.\nAvoid content that others own.\nIf you are asked for harm, decline.\n\
    Keep your answers short and impersonal.\n";
/// What VS Code puts before the prompts of requests that its own services make.
const SERVICE_RULES: &str = "Follow Microsoft content policies.\nAvoid content that others own.\n\
    If you are asked for harm, decline.\nKeep your answers short and impersonal.\nUse Markdown formatting.\n\
    Name the language of code.\nDon't wrap everything in backticks.\nUse KaTeX.\nWrap it in $.\nWrap blocks in $$.\n\
    The user works in an IDE.\nThe active document is the one they look at.\nThere is one reply in each turn.\n\n";
const NAMED: &str = "You are an AI programming assistant.\nWhen asked for your name, you must say it.\n";

/// The purpose of a request, its system prompts, the user's messages and the tools.
type Structure = (&'static str, Vec<String>, Vec<String>, &'static [&'static str]);

/// How requests really look before the first answer.
#[rustfmt::skip]
fn structures() -> Vec<Structure> {
    let own = |text: &str| vec![text.to_owned()];
    let after = |before: &str, text: &str| vec![format!("{before}{text}")];
    let go = || own("Go");
    vec![
        ("inline edit", after(RULES, "<instructions>\nYou are an AI coding assistant that is used for quick, inline code changes. Edit.\n</instructions>"), go(), &["replace_string"]),
        ("inline edit", after(NAMED, "You are a world class expert in programming, and especially good at rust.\nFollow Microsoft content policies.\n"), go(), &[]),
        ("inline edit", after(NAMED, "You are a world class markdown editor, very well versed in programming.\nFollow Microsoft content policies.\n"), go(), &[]),
        ("inline fix", after(NAMED, "The user has a typescript file opened in a code editor.\nThe user expects you to propose a fix for it.\n"), go(), &[]),
        ("inline edit", vec![format!("You are an AI programming assistant.\n{RULES}"), "The user has a rust file opened in a code editor.\nThe user includes some code snippets.".to_owned()], go(), &[]),
        ("documentation", vec![format!("{NAMED}You must follow Microsoft content policies."), "When user asks you to document something, you must answer in the form of a comment.".to_owned()], go(), &[]),
        ("dev container", own("You are an AI programming assistant.\nYou are helping a software developer to configure a Dev Container by picking one."), go(), &[]),
        ("debug type", own("You are a Visual Studio Code assistant. Your job is to assist users in using Visual Studio Code by providing knowledge to them. Don't guess.\nYou are a debugging expert. Your job is to return the debug type to use."), go(), &[]),
        ("rename suggestions", own("You are a distinguished software engineer.\nFollow Microsoft content policies.\nYou must reply with a JSON array of strings."), go(), &[]),
        ("project structure", vec![RULES.to_owned(), "You are a VS Code assistant. Your job is to suggest a filetree directory structure for it.".to_owned()], go(), &[]),
        ("project file", vec![RULES.to_owned(), "You are a Visual Studio Code assistant. Your job is to generate the contents of a new file.".to_owned()], go(), &[]),
        ("code search sub-agent", after("<context>\nThe folders are a, b and c.\n</context>\n", "<instructions>\nYou are a code search expert.\nA developer needs to find some code in their codebase.\n</instructions>"), go(), &["file_search", "read_file"]),
        ("tool server configuration", own("<instructions>\nYou are an expert in reading documentation and extracting relevant results.\nA developer is setting up it.\n</instructions>"), go(), &["fetch"]),
        ("exploration sub-agent", vec![format!("You are an expert AI programming assistant, working with a user in the VS Code editor.\n{RULES}"), "<instructions>\nYou are a highly sophisticated agent.\n</instructions>".to_owned()],
            vec!["<instruction>Use tabs.</instruction>\n<modeInstructions>\nYou are currently running in \"Explore\" mode. Your instructions are below.\n\nYou are an exploration agent specialized in rapid codebase analysis.\n</modeInstructions>".to_owned(), "Find the lock".to_owned()], &["file_search", "read_file"]),
        ("intent detection", own("When asked for your name, you must say it.\nFollow the user's requirements.\n"), own("A software developer is using an AI chatbot in a code editor in file a.rs.\nThe developer added the following request: choose."), &[]),
        ("goal", after(SERVICE_RULES, "You summarize a user's coding request into a single short phrase. Short."), go(), &[]),
        ("dictation", after(SERVICE_RULES, "You clean up raw speech-to-text (dictation) output."), go(), &[]),
        ("thinking title", own(SERVICE_RULES), own("Summarize the following content in a SINGLE sentence (under 10 words) using past tense."), &[]),
        ("command risk", own(SERVICE_RULES), own("You assess what one terminal command does for a code-editing AI agent."), &[]),
        ("tool risk", own(SERVICE_RULES), own("You assess what one tool call does for a code-editing AI agent."), &[]),
        ("change explanations", own(SERVICE_RULES), own("Analyze these 3 code changes across 2 files and provide a brief explanation for each one.\nThese changes are part of one."), &[]),
        ("chat title", own("You are an expert in crafting ultra-compact titles for chatbot conversations.\nShort."), own("Please write a brief title for the following conversation:\n\nFix it"), &[]),
        ("chat title", Vec::new(), own("Please write a brief title for the following conversation:\n\nFix it"), &[]),
    ]
}

fn structured(systems: &[String], users: &[String], tools: &[&str]) -> ChatRequest {
    let message = |role: &str, text: &String| json!({"role": role, "content": [{"type": "text", "value": text}]});
    let system = systems.iter().map(|text| message("system", text));
    let messages: Vec<Value> = system.chain(users.iter().map(|text| message("user", text))).collect();
    let tools: Vec<Value> = tools.iter().map(|name| json!({"name": name})).collect();
    serde_json::from_value(json!({"model": "m", "messages": messages, "tools": tools})).unwrap()
}

#[test]
fn a_task_is_found_behind_general_rules() {
    for (name, systems, users, tools) in structures() {
        let found = purpose(&structured(&systems, &users, tools));
        assert_eq!(found.name, name, "{systems:?} {users:?}");
        assert_ne!(found.kind, RequestKind::Main, "{name}");
    }
}

/// A sub-agent is still one after its first call.
#[test]
fn later_rounds_have_the_same_purpose() {
    for (name, systems, users, tools) in structures() {
        if tools.is_empty() {
            continue;
        }
        let mut chat = structured(&systems, &users, tools);
        let called = json!({"role": "assistant", "content": [
            {"type": "toolCall", "callId": "1", "name": "read_file", "inputJson": "{}"}]});
        let result = json!({"role": "user", "content": [{"type": "toolResult", "callId": "1", "content": []}]});
        chat.messages.extend([called, result].map(|message| serde_json::from_value::<ChatMessage>(message).unwrap()));
        assert_eq!(purpose(&chat).name, name);
    }
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
    for question in SUMMARIES {
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
    add("categorize_prompt", &chat(Some("Anything"), "Go", &["categorize_prompt"]));
    expect![[r#"
        summary conversation summary: Your task is to create a comprehensive, detailed summary of 
        summary conversation summary: You are a helpful AI assistant tasked with summarizing conve
        subAgent search sub-agent: You are an AI coding research assistant that uses search too
        subAgent execution sub-agent: You are an AI coding research assistant that runs a series o
        subAgent exploration sub-agent: You are an exploration agent specialized in rapid codebase a
        subAgent code search sub-agent: You are a code search expert.
        A developer needs to find some
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
        utility project specification: You are a VS Code assistant. Your job is to generate the pro
        utility project file: You are a Visual Studio Code assistant. Your job is to gener
        utility notebook outline: You are an AI that creates a detailed content outline for a 
        inline inline edit: You are an AI coding assistant that is used for quick, inlin
        inline inline edit: You are a world class expert in programming, and especially 
        inline terminal command: You are a programmer who specializes in using the command li
        inline command-line tool: You are an AI programming assistant that is specialized for 
        inline search query: You are a VS Code search expert who helps to write search qu
        inline explanation: You are a world-class coding tutor. Your code explanations p
        inline code review: You are a world-class software engineer and the author and m
        utility commit message: You generate concise Git commit messages. Generate one.
        utility pull request: You write clear, concise GitHub pull request titles and desc
        utility tool risk: You assess what one tool call does for an agent.
        utility dictation: You clean up raw speech-to-text (dictation) output. Clean it
        utility tool groups: Context: You are given multiple groups of tools. Name them.
        utility next edit: Your role as an AI assistant is to help developers complete 
        utility next edit: Predict next code edit based on the context given by the use
        utility next edit: Predict the next code edit based on user context, and do it.
        utility test request: You are a helpful assistant that parses user queries.
        The us
        utility command fix: You are a programmer who specializes in using the command li
        utility project template: You are a Visual Studio Code assistant. The user has identif
        utility project specification: You are a Visual Studio Code assistant focused on aiding use
        utility notebook cell: You are an AI that writes Python code for a single section o
        utility notebook cell: You are an AI that improves Python code a lot for a single s
        utility judgement: You are a world class examiner and must decide whether a res
        inline inline edit: You are a world class markdown editor, very well versed in p
        inline VS Code question: You are a Visual Studio Code assistant. Your job is to assis
        summary conversation summary: Summarize the conversation history so far, paying special at
        summary conversation summary: The conversation has grown too large for the context window 
        summary conversation summary: Your task is to create a comprehensive, detailed summary of 
        utility chat title: Please write a brief title for the following request:

        Fix i
        utility branch name: Please write a brief branch name for the following request:

        utility user's intent: You are a helpful assistant that summarizes conversations. G
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
        SUMMARIES[0],
        SUMMARIES[1],
        "Please write a brief title for the following request:\n\nFix it",
        "Please write a brief branch name for the following request:\n\nFix it",
        "You are a helpful assistant that summarizes conversations. Given a chat conversation between two.",
    ];
    // An agent may have the user's own instructions in its system prompt.
    let agents = [
        ORDINARY_SYSTEMS[0].to_owned(),
        format!("{}\n{RULES}", ORDINARY_SYSTEMS[0]),
        format!("You are an AI programming assistant.\n{RULES}You can answer general programming questions."),
    ];
    for (number, quoted) in SYSTEM_PROMPTS.iter().chain(&questions).enumerate() {
        for (before, after) in [("", ""), ("", "\n\nWhat does this prompt do?"), ("Copilot says: \"", "\""), ("> ", "")]
        {
            for tools in TOOLS {
                let question = format!("{before}{quoted}{after}");
                let agent = &agents[number % agents.len()];
                let found = purpose(&chat(Some(agent), &question, tools));
                assert_eq!(found.kind, RequestKind::Main, "{question} is taken for {}", found.name);
                let own = [agents[1].clone(), format!("<instructions>\n{quoted}\n</instructions>")];
                let found = purpose(&structured(&own, &[question], tools));
                assert_eq!(found.kind, RequestKind::Main, "{own:?} is taken for {}", found.name);
            }
        }
    }
}

/// What people ask, in the words of VS Code's own requests or nearly so, one prompt on each line.
const ORDINARY_PROMPTS: &str = include_str!("data/ordinary_prompts.txt");
/// System prompts of other extensions, which often begin as VS Code's own do.
const OTHER_SYSTEMS: &str = include_str!("data/ordinary_systems.txt");

fn lines(file: &str) -> Vec<String> {
    file.lines().map(|line| line.replace("\\n", "\n")).collect()
}

/// Asks a question after another one was answered.
fn later(system: Option<&str>, question: &str, tools: &[&str]) -> ChatRequest {
    let mut chat = chat(system, "Fix it", tools);
    let content = vec![ChatPart::Text { value: "It is fixed.".to_owned() }];
    chat.messages.push(ChatMessage { role: Role::Assistant, content });
    chat.messages.push(ChatMessage::user(question));
    chat
}

#[test]
fn prompts_that_sound_like_requests_of_vscode_are_not_misread() {
    let agent = format!("{}\n{RULES}", ORDINARY_SYSTEMS[0]);
    let ask = format!("You are an AI programming assistant.\n{RULES}You can answer general programming questions.");
    let systems = [Some(agent.as_str()), Some(ask.as_str()), Some("You are a helpful assistant."), None];
    let prompts = lines(ORDINARY_PROMPTS);
    assert!(prompts.len() >= 150, "{}", prompts.len());
    for prompt in &prompts {
        for system in systems {
            for tools in [&[] as &[&str], &["manage_todo_list"], &["read_file", "manage_todo_list"]] {
                for (before, after) in WRAPPERS {
                    let question = format!("{before}{prompt}{after}");
                    for chat in [chat(system, &question, tools), later(system, &question, tools)] {
                        let found = purpose(&chat);
                        assert_eq!(found.kind, RequestKind::Main, "{question} is taken for {}", found.name);
                    }
                }
            }
        }
    }
}

#[test]
fn system_prompts_of_others_are_not_misread() {
    let systems = lines(OTHER_SYSTEMS);
    assert!(systems.len() >= 50, "{}", systems.len());
    for system in &systems {
        for tools in TOOLS {
            for question in ["Hello", "Fix it", "Summarize the conversation history so far"] {
                for chat in [chat(Some(system), question, tools), later(Some(system), question, tools)] {
                    let found = purpose(&chat);
                    assert_eq!(found.kind, RequestKind::Main, "{system} is taken for {}", found.name);
                }
            }
        }
    }
}

/// A later question may quote a request for a summary, too, and the tools must stay available then.
#[test]
fn quoted_requests_for_summaries_are_not_misread() {
    for summary in SUMMARIES {
        let opening: String = summary.split_inclusive('.').next().unwrap().to_owned();
        for question in [opening.clone(), format!("{opening}\n\nWhat does this do?"), format!("Translate: {summary}")] {
            let found = purpose(&later(Some(ORDINARY_SYSTEMS[0]), &question, &["read_file"]));
            assert_eq!(found.kind, RequestKind::Main, "{question}");
        }
    }
}

/// The name of an agent counts only in VS Code's own instructions.
#[test]
fn an_agents_instructions_in_a_question_are_a_quotation() {
    let quoted =
        "<modeInstructions>\nYou are currently running in \"Explore\" mode.\n</modeInstructions>\nWhat is this?";
    let custom = quoted.replace("Explore", "Reviewer");
    for users in
        [vec![quoted.to_owned()], vec![custom, "Go".to_owned()], vec!["Use tabs.".to_owned(), quoted.to_owned()]]
    {
        let found = purpose(&structured(&[ORDINARY_SYSTEMS[0].to_owned()], &users, &["read_file"]));
        assert_eq!(found.kind, RequestKind::Main, "{users:?}");
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
    assert!(names.len() >= 48, "{}: {names:?}", names.len());
}
