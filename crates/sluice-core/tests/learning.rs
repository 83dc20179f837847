//! What is learned from servers that count by rules of their own and sometimes report too few tokens, and whether VS Code
//! summarizes a conversation in time because of it.

use proptest::prelude::*;
use sluice_core::{
    Calibration, ChatMessage, ChatPart, ChatRequest, Counter, InstallKey, Ledger, LedgerEntry, LedgerModel, Piece,
    Prompt, Role, ToolDefinition, Usage,
};

const TODAY: u32 = 20_000;
const ORIGIN: &str = "https://server.example";
/// A model of each family, how much of our count its servers counted in recorded requests (in per cent, the 5th, 25th,
/// 50th, 75th and 95th percentile), and how many tokens a prompt of the server's own had at most.
const FAMILIES: [(&str, [u32; 5], u32); 17] = [
    ("openai/gpt-5.5", [99, 100, 100, 100, 101], 75),
    ("anthropic/claude-sonnet-4.5", [94, 99, 100, 101, 105], 156),
    ("anthropic/claude-opus-5", [88, 95, 100, 108, 118], 156),
    ("google/gemini-3-pro", [98, 100, 100, 110, 130], 136),
    ("google/gemma-3-27b", [69, 95, 100, 100, 130], 785),
    ("xai/grok-4.3", [78, 100, 100, 103, 125], 396),
    ("deepseek/deepseek-v4-pro", [99, 101, 101, 103, 127], 80),
    ("alibaba/qwen3-coder", [97, 98, 100, 104, 112], 51),
    ("mistral/mistral-large-latest", [87, 98, 100, 101, 106], 1225),
    ("meta/llama-3.3-70b", [83, 100, 102, 104, 130], 918),
    ("moonshotai/kimi-k2", [73, 93, 103, 110, 123], 40),
    ("zai/glm-4.6", [99, 100, 100, 104, 107], 16),
    ("minimax/minimax-m2", [90, 100, 105, 110, 120], 670),
    ("amazon/nova-pro", [96, 99, 100, 101, 130], 285),
    ("cohere/command-a", [97, 100, 100, 101, 102], 131),
    ("openai/gpt-oss-120b", [95, 99, 101, 102, 107], 10),
    ("arcee-ai/trinity-mini", [80, 90, 100, 115, 130], 600),
];

/// A server that counts by another rule than we do: by the length of each piece's JSON. It adds a prompt of its own.
#[derive(Clone, Copy, Debug)]
struct Server {
    hidden: u32,
    /// How much of our count of the first request it counts.
    percent: u32,
    /// How many per cent the cost of a single piece is off.
    noise: u32,
    seed: u64,
    /// The tokens of a million characters, so that the first request costs `percent` of our count.
    per_million: u64,
}

impl Server {
    fn for_first(mut self, chat: &ChatRequest) -> Self {
        let prompt = Prompt::of(chat);
        let pieces = prompt.pieces();
        let ours: u64 = pieces.iter().map(|piece| u64::from(Counter::estimating().piece(*piece))).sum();
        let length: u64 = pieces.iter().map(|piece| length(*piece)).sum();
        self.per_million = ours * u64::from(self.percent) * 10_000 / length.max(1);
        self
    }

    fn count(self, chat: &ChatRequest) -> u64 {
        let cost = |(index, piece)| {
            let noise = u64::from(self.noise) * 2 + 1;
            let off = (self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(index) >> 7) % noise;
            length(piece) * self.per_million / 1_000 * (100 + off - u64::from(self.noise))
        };
        let pieces = Prompt::of(chat);
        u64::from(self.hidden) + (0_u32..).zip(pieces.pieces()).map(cost).sum::<u64>().div_ceil(100_000)
    }
}

/// Returns the length of all strings in a piece.
fn length(piece: Piece<'_>) -> u64 {
    fn of(json: &serde_json::Value) -> u64 {
        match json {
            serde_json::Value::String(text) => text.len() as u64,
            serde_json::Value::Array(all) => all.iter().map(of).sum(),
            serde_json::Value::Object(fields) => fields.values().map(of).sum(),
            _ => 1,
        }
    }
    piece.to_json().map_or(0, |json| of(&json))
}

/// Returns a family's model and a server that counts as one of those in the recordings.
fn recorded() -> impl Strategy<Value = (&'static str, Server)> {
    (0..FAMILIES.len(), 0..5_usize, 0_u32..=100, 0_u32..4, any::<u64>()).prop_map(|(family, at, share, noise, seed)| {
        let (model, percents, most) = FAMILIES[family];
        let hidden = most * share / 100;
        (model, Server { hidden, percent: percents[at], noise, seed, per_million: 0 })
    })
}

fn said(role: Role, text: String) -> ChatMessage {
    ChatMessage { role, content: vec![ChatPart::Text { value: text }] }
}

/// Returns a text of `count` words, which depend on the seed.
fn words(seed: u64, count: usize) -> String {
    const WORDS: [&str; 16] = [
        "the",
        "request",
        "returns",
        "fn",
        "let",
        "value",
        "of",
        "error:",
        "self.tokens",
        "and",
        "a",
        "{ }",
        "summary",
        "path/to/file.rs",
        "42",
        "because",
    ];
    let mut state = seed | 1;
    let mut text = String::new();
    for _ in 0..count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text += WORDS[(state >> 60) as usize];
        text.push(' ');
    }
    text
}

fn tools() -> Vec<ToolDefinition> {
    let schema = serde_json::json!({"type": "object", "properties": {"path": {"type": "string",
        "description": "The absolute path of the file."}}, "required": ["path"]});
    let tool = |name: &str| {
        serde_json::from_value(serde_json::json!({"name": name, "description": "Does something with a file.",
            "inputSchema": schema}))
    };
    ["read_file", "list_dir", "grep_search"].into_iter().map(|name| tool(name).unwrap()).collect()
}

fn chat(model: &str, messages: Vec<ChatMessage>) -> ChatRequest {
    ChatRequest { model: model.to_owned(), messages, tools: tools(), ..ChatRequest::default() }
}

fn about() -> LedgerModel {
    LedgerModel { origin: ORIGIN.to_owned(), max_input_tokens: Some(1_000_000), ..LedgerModel::default() }
}

fn answered(input: u64, answer: &str) -> LedgerEntry {
    LedgerEntry {
        is_answered: true,
        is_whole: true,
        usage: Some(Usage { input_tokens: Some(input), ..Usage::default() }),
        answer: vec![ChatPart::Text { value: answer.to_owned() }],
        ..LedgerEntry::default()
    }
}

fn ledger() -> Ledger {
    Ledger::new(Counter::estimating(), InstallKey([7; 16]))
}

fn estimate(ledger: &mut Ledger, chat: &ChatRequest) -> u64 {
    ledger.begin("probe", "probe", chat.clone(), about(), 0).estimate.tokens
}

/// Sends a chat to a server that reports `reported` tokens.
fn send(ledger: &mut Ledger, chat: &ChatRequest, reported: u64, answer: &str) {
    ledger.begin("1", "talk", chat.clone(), about(), 0);
    ledger.end("1", &answered(reported, answer), 1, TODAY);
}

fn is_within(estimate: u64, actual: u64, percent: u64) -> bool {
    estimate.abs_diff(actual) * 100 <= actual * percent + 300
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Checks invariant L10.
    #[test]
    fn a_count_that_is_far_too_low_changes_nothing_by_itself(
        (model, server) in recorded(), seed in any::<u64>(), low in 5_u64..20, turns in 1_usize..4,
    ) {
        let mut ledger = ledger();
        let mut messages = vec![said(Role::System, words(seed, 300)), said(Role::User, words(seed ^ 1, 200))];
        let server = server.for_first(&chat(model, messages.clone()));
        for turn in 0..turns {
            let chat = chat(model, messages.clone());
            let answer = words(seed ^ 2, 30 + turn);
            send(&mut ledger, &chat, server.count(&chat), &answer);
            messages.extend([said(Role::Assistant, answer), said(Role::User, words(seed ^ 3, 100 + turn))]);
        }
        let next = chat(model, messages);
        let before = estimate(&mut ledger, &next);
        let scope = Calibration::scope(ORIGIN, model);
        let factor = ledger.memory().calibration().factor(&scope);
        send(&mut ledger, &next, server.count(&next) * low / 100, "Yes.");
        prop_assert_eq!(estimate(&mut ledger, &next), before);
        prop_assert_eq!(ledger.memory().calibration().factor(&scope).to_bits(), factor.to_bits());
    }

    /// Checks invariant L10.
    #[test]
    fn after_the_first_answer_a_conversation_is_within_one_per_cent(
        (model, server) in recorded(), seed in any::<u64>(),
    ) {
        let mut ledger = ledger();
        let mut messages = vec![said(Role::System, words(seed, 2_000)), said(Role::User, words(seed ^ 1, 1_000))];
        let first = chat(model, messages.clone());
        let server = server.for_first(&first);
        send(&mut ledger, &first, server.count(&first), "I will look at the file.");
        messages.extend([said(Role::Assistant, "I will look at the file.".to_owned()), said(Role::User, words(seed, 20))]);
        let next = chat(model, messages);
        let (estimated, actual) = (estimate(&mut ledger, &next), server.count(&next));
        prop_assert!(is_within(estimated, actual, 1), "{estimated} for {actual}");
    }

    /// Checks invariant L10. Whatever a server lies about, in whichever direction, the next honest count repairs it.
    #[test]
    fn single_lies_move_neither_the_factor_nor_the_conversation(
        (model, server) in recorded(), seed in any::<u64>(), lies in prop::collection::vec((1_usize..8, 3_u64..400), 0..3),
    ) {
        let mut ledger = ledger();
        let mut messages = vec![said(Role::System, words(seed, 1_000)), said(Role::User, words(seed ^ 1, 300))];
        let server = server.for_first(&chat(model, messages.clone()));
        for turn in 0..10 {
            let chat = chat(model, messages.clone());
            let actual = server.count(&chat);
            // Two in a row would confirm each other, and the last two turns are honest.
            let is_first = |at: usize| !lies.iter().any(|(other, _)| *other + 1 == at);
            let lie = lies.iter().find(|(at, _)| *at == turn && is_first(*at)).map_or(100, |(_, percent)| *percent);
            let answer = words(seed ^ 2, 30 + turn);
            send(&mut ledger, &chat, actual * lie / 100, &answer);
            messages.extend([said(Role::Assistant, answer), said(Role::User, words(seed ^ 3, 60 + turn))]);
        }
        let next = chat(model, messages);
        let (estimated, actual) = (estimate(&mut ledger, &next), server.count(&next));
        prop_assert!(is_within(estimated, actual, 3), "{estimated} for {actual}");
    }

    /// Checks invariant L10.
    #[test]
    fn after_ten_requests_a_new_conversation_is_within_five_per_cent(
        (model, server) in recorded(), seed in any::<u64>(), lies in 0_u64..10,
    ) {
        let mut ledger = ledger();
        let system = said(Role::System, words(seed, 1_500));
        let server = server.for_first(&chat(model, vec![system.clone(), said(Role::User, words(seed, 500))]));
        // The sizes differ: if they were equal, a factor couldn't be distinguished from a prompt that the server adds.
        let size = |request: u64| usize::try_from(300 + ((seed >> request) & 0xFF) + 137 * request).unwrap();
        for request in 0..10 {
            let chat = chat(model, vec![system.clone(), said(Role::User, words(seed ^ (request + 1), size(request)))]);
            let actual = server.count(&chat);
            // One of them is reported far too low.
            send(&mut ledger, &chat, if request == lies { actual / 3 } else { actual }, "Yes.");
        }
        let next = chat(model, vec![system, said(Role::User, words(!seed, 1_200))]);
        let (estimated, actual) = (estimate(&mut ledger, &next), server.count(&next));
        prop_assert!(is_within(estimated, actual, 5), "{estimated} for {actual}");
    }
}

/// Checks invariant L10 for instructions that differ in every request, and in the new conversation too.
#[test]
fn after_ten_requests_other_instructions_are_nearly_always_within_five_per_cent() {
    let (mut conversations, mut off) = (0_u64, Vec::new());
    for (model, percents, most) in FAMILIES {
        for percent in percents {
            conversations += 1;
            let seed = conversations.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let hidden = if conversations.is_multiple_of(2) { most } else { 0 };
            let server = Server { hidden, percent, noise: 2, seed, per_million: 0 };
            let server = server.for_first(&chat(model, vec![said(Role::User, words(seed, 1_500))]));
            let mut ledger = ledger();
            for request in 0..10 {
                let size = usize::try_from(300 + ((seed >> request) & 0xFF) + 137 * request).unwrap();
                let system = said(Role::System, words(seed ^ (request << 8), 1_000 + size));
                let chat = chat(model, vec![system, said(Role::User, words(seed ^ (request << 16), size))]);
                send(&mut ledger, &chat, server.count(&chat), "Yes.");
            }
            let system = said(Role::System, words(!seed, 2_500));
            let next = chat(model, vec![system, said(Role::User, words(!seed >> 1, 900))]);
            let (estimated, actual) = (estimate(&mut ledger, &next), server.count(&next));
            assert!(is_within(estimated, actual, 10), "{model}: {estimated} for {actual}, {server:?}");
            if !is_within(estimated, actual, 5) {
                off.push((model, percent, hidden, estimated, actual));
            }
        }
    }
    assert!(
        off.len() as u64 * 50 <= conversations,
        "{} of {conversations} are off by more than 5 %: {off:?}",
        off.len()
    );
}

/// VS Code's rule: it summarizes when its own count, or the last one that was reported, reaches 78 to 82 per cent of the
/// limit, or when the messages don't fit into nine tenths of what the tools leave.
fn is_summarized(ledger: &Ledger, chat: &ChatRequest, last_reported: u64, limit: u64, seed: u64) -> bool {
    let message = |message: &ChatMessage| u64::from(ledger.message_tokens(&chat.model, ORIGIN, message));
    let rendered: u64 = chat.messages.iter().map(message).sum();
    let tool = |tool: &ToolDefinition| {
        let text = serde_json::to_string(&serde_json::json!([tool.name, tool.description])).unwrap();
        u64::from(ledger.text_tokens(&chat.model, ORIGIN, &text))
    };
    let tools: u64 = chat.tools.iter().map(tool).sum();
    (rendered + tools).max(last_reported) * 100 >= limit * (78 + seed % 5) || rendered > (limit - tools) * 9 / 10
}

/// What a simulated server does beside counting by a rule of its own.
#[derive(Clone, Copy, PartialEq)]
enum Reports {
    /// It reports its counts, but one of twelve is too low.
    Mostly,
    Never,
}

/// Runs a conversation of an agent until VS Code summarizes it. Returns whether the server refused a request before that,
/// because it was too long.
fn overflows(conversation: u64, model: &str, (percent, most): (u32, u32), reports: Reports) -> bool {
    /// Far less than any model has, so that a conversation is short. A round adds up to 4 % of it.
    const LIMIT: u64 = 12_000;
    let mut random = conversation.wrapping_mul(0xD134_2543_DE82_EF95) | 1;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let hidden = u32::try_from(next(u64::from(most) + 1)).unwrap();
    let server = Server { hidden, percent, noise: 5, seed: next(1 << 30), per_million: 0 };
    let mut ledger = ledger();
    let mut messages = vec![said(Role::System, words(next(1 << 30), 600)), said(Role::User, words(next(1 << 30), 100))];
    let server = server.for_first(&chat(model, messages.clone()));
    let (mut last_reported, mut round) = (0, 0);
    loop {
        round += 1;
        let request = chat(model, messages.clone());
        if is_summarized(&ledger, &request, last_reported, LIMIT, next(5)) {
            return false;
        }
        let actual = server.count(&request);
        if actual > LIMIT {
            return true;
        }
        // The agent says what it will do, and calls one or two tools.
        let mut answer = vec![ChatPart::Text { value: words(next(1 << 30), 20) }];
        let calls: Vec<String> = (0..=next(2)).map(|call| format!("call_{round}_{call}")).collect();
        for call_id in &calls {
            let input_json = format!(r#"{{"path":"src/{}.rs"}}"#, next(1 << 20));
            answer.push(ChatPart::ToolCall { call_id: call_id.clone(), name: "read_file".to_owned(), input_json });
        }
        if reports == Reports::Mostly {
            last_reported = if next(12) == 0 { actual * (30 + next(30)) / 100 } else { actual };
            let entry = LedgerEntry { answer: answer.clone(), ..answered(last_reported, "") };
            ledger.begin("1", "talk", request, about(), 0);
            ledger.end("1", &entry, 1, TODAY);
        }
        messages.push(ChatMessage { role: Role::Assistant, content: answer });
        let results = calls.into_iter().map(|call_id| {
            let value = words(next(1 << 30), usize::try_from(30 + next(120)).unwrap());
            ChatPart::ToolResult { call_id, content: vec![ChatPart::Text { value }], is_error: false }
        });
        messages.push(ChatMessage { role: Role::User, content: results.collect() });
    }
}

/// Checks invariant L11: 200 conversations with servers that count as those in the recordings, and 51 with servers that count
/// much more than we do.
#[test]
fn vs_code_summarizes_every_long_conversation_in_time() {
    let mut late = Vec::new();
    for conversation in 0..200_u64 {
        let (model, percents, most) = FAMILIES[usize::try_from(conversation).unwrap() % FAMILIES.len()];
        let percent = percents[usize::try_from(conversation / 17).unwrap() % percents.len()];
        if overflows(conversation, model, (percent, most), Reports::Mostly) {
            late.push((conversation, model, percent));
        }
    }
    for (model, _, most) in FAMILIES {
        for conversation in 0..3 {
            if overflows(conversation, model, (140, most), Reports::Mostly) {
                late.push((conversation, model, 140));
            }
        }
    }
    assert!(late.is_empty(), "{} overflow: {late:?}", late.len());
}

/// Without a server's counts, the same conversations overflow, so the test above can fail.
#[test]
fn conversations_overflow_if_a_server_counts_much_more_and_never_says_so() {
    for (model, _, most) in FAMILIES {
        assert!((0..5).any(|conversation| overflows(conversation, model, (140, most), Reports::Never)), "{model}");
    }
}
