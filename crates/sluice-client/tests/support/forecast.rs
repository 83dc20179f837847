//! Measures forecasts against the simulator: whole conversations, without sockets and with a clock of their own.

use serde_json::{Value, json};
use sluice_core::{
    Action, ChatMessage, ChatPart, ChatRequest, Counter, Endpoint, Exchange, ExchangeOptions, InstallKey, Ledger,
    LedgerEntry, LedgerModel, Prices, RequestRecord, Role, TokenDetails, ToolDefinition, Usage, build_request,
};
use sluice_simulator::{Options, Request, Responder};

const MODEL: &str = "sluice/echo";
const TODAY: u32 = 20_000;

/// What was expected of a request, and what it used.
pub struct Measured {
    pub conversation: &'static str,
    /// Whether it is the first request of its conversation, so that the server has counted nothing of it yet.
    pub is_first: bool,
    pub record: RequestRecord,
    /// The cost that was expected if the length of the answer had been known.
    pub cost_by_forecast: f64,
}

impl Measured {
    /// Returns how far off the cost was, in per cent.
    pub fn cost_error(&self) -> f64 {
        let cost = self.record.cost.map_or(0.0, |cost| cost.usd.as_f64());
        (self.cost_by_forecast - cost).abs() / cost * 100.0
    }

    /// Returns how far off the cached share was, in percentage points.
    pub fn cached_error(&self) -> f64 {
        let (forecast, usage) = (self.record.forecast.expect("a forecast"), &self.record.usage);
        let number = |tokens: u64| f64::from(u32::try_from(tokens).expect("counts are small"));
        let share = |cached: u64, input: u64| number(cached) / number(input.max(1)) * 100.0;
        let actual = share(usage.cached.unwrap_or(0), usage.input.unwrap_or(0));
        (share(forecast.cached, forecast.input) - actual).abs()
    }
}

struct Run {
    responder: Responder,
    ledger: Ledger,
    model: LedgerModel,
    now_ms: u64,
    number: usize,
}

impl Run {
    fn new() -> Self {
        let responder = Responder::new(Options::default());
        let list =
            Request { method: "GET".to_owned(), path: "/v1/models".to_owned(), headers: Vec::new(), body: Vec::new() };
        let list: Value = serde_json::from_slice(&responder.respond(&list, 0).body()).expect("a list");
        let listed = list["data"].as_array().expect("models").iter().find(|model| model["id"] == MODEL);
        let pricing = &listed.expect("the model")["pricing"];
        let price = |name: &str| pricing[name].as_str().map(|price| price.parse::<f64>().expect("a price") * 1e6);
        let prices: Prices = serde_json::from_value(json!({
            "input": price("input"), "output": price("output"), "cachedInput": price("input_cache_read"), "tiers": [],
        }))
        .expect("prices");
        let model = LedgerModel { prices: Some(prices), ..LedgerModel::default() };
        let ledger = Ledger::new(Counter::exact(), InstallKey([7; 16]));
        Self { responder, ledger, model, now_ms: 1_700_000_000_000, number: 0 }
    }

    /// Sends a chat and adds its answer to it.
    fn ask(&mut self, conversation: &'static str, chat: &mut ChatRequest) -> Measured {
        self.number += 1;
        let id = self.number.to_string();
        let is_first = chat.messages.iter().all(|message| message.role != Role::Assistant);
        self.ledger.begin(&id, conversation, chat.clone(), self.model.clone(), self.now_ms);
        let endpoint = Endpoint::parse("http://127.0.0.1:1/v1").expect("an address");
        let body = build_request(chat, &endpoint).request.body.into_bytes();
        let request =
            Request { method: "POST".to_owned(), path: "/v1/responses".to_owned(), headers: Vec::new(), body };
        let reply = self.responder.respond(&request, self.now_ms);
        let mut exchange = Exchange::new(ExchangeOptions::default());
        exchange.handle_head(reply.status, reply.headers.clone(), 0);
        exchange.handle_bytes(&reply.body());
        exchange.handle_end();
        let report = loop {
            match exchange.poll(0) {
                Action::Output(_) => {}
                Action::End(report) => break report,
                other => panic!("{other:?}"),
            }
        };
        // The prices are those of the list, as for any other server.
        let entry: LedgerEntry = report.entry.clone();
        self.now_ms += 2_000;
        let record = self.ledger.end(&id, &entry, self.now_ms, TODAY).expect("it has begun").record;
        chat.messages.push(ChatMessage { role: Role::Assistant, content: entry.answer });
        self.now_ms += 8_000;
        let forecast = record.forecast.expect("a forecast");
        let details = json!({"cached_tokens": forecast.cached});
        let usage = Usage {
            input_tokens: Some(forecast.input),
            output_tokens: record.usage.output,
            input_tokens_details: details.as_object().cloned().map(TokenDetails),
            ..Usage::default()
        };
        let cost_by_forecast = self.model.prices.as_ref().and_then(|prices| prices.cost(&usage)).expect("prices");
        Measured { conversation, is_first, record, cost_by_forecast }
    }
}

/// What the instructions, the questions and the descriptions of tools are made of: prose as people write it.
const PROSE: &str = "You help the people who run a lock on a river. Read the files they name before you answer, and say which \
    line you mean.\nThe water level above the gate is measured every ten minutes; compare it with the value of the day before.\n\
    If it has changed by more than twelve centimetres, close the lower gate first and tell the engineer on duty.\n\
    Never change a setting without being asked, and never repeat a command that has failed twice.\n\
    Keep answers short: one sentence for what happened, one for what to do next, and a list if there are several steps.\n";

/// Returns a text of about this many words.
fn words(subject: &str, number: usize) -> String {
    let words: Vec<&str> = PROSE.split(' ').cycle().take(number).collect();
    format!("{subject}: {}", words.join(" "))
}

fn said(role: Role, value: String) -> ChatMessage {
    ChatMessage { role, content: vec![ChatPart::Text { value }] }
}

fn tool(name: &str) -> ToolDefinition {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string", "description": "A path"}}});
    serde_json::from_value(json!({"name": name, "description": words(name, 20), "inputSchema": schema}))
        .expect("a tool")
}

fn chat(rules: usize, tools: &[&str]) -> ChatRequest {
    ChatRequest {
        model: MODEL.to_owned(),
        tools: tools.iter().map(|name| tool(name)).collect(),
        messages: vec![said(Role::System, words("Rules", rules))],
        ..ChatRequest::default()
    }
}

/// Runs conversations of different shapes with one server.
pub fn measure() -> Vec<Measured> {
    let mut run = Run::new();
    let mut measured = Vec::new();
    let mut talk = |run: &mut Run,
                    name: &'static str,
                    mut chat: ChatRequest,
                    change: &dyn Fn(&mut Run, &mut ChatRequest, usize)| {
        for turn in 0..10 {
            chat.messages.push(said(Role::User, words("ask", 10 + turn * 7)));
            change(run, &mut chat, turn);
            measured.push(run.ask(name, &mut chat));
        }
    };
    // VS Code's agent sends even longer instructions.
    talk(&mut run, "agent with tools", chat(4_000, &["read", "write", "search"]), &|_, _, _| {});
    talk(&mut run, "short chat", chat(20, &[]), &|_, _, _| {});
    talk(&mut run, "same rules again", chat(4_000, &["read", "write", "search"]), &|_, _, _| {});
    talk(&mut run, "a tool is added", chat(900, &["read"]), &|_, chat, turn| {
        if turn == 5 {
            chat.tools.push(tool("search"));
        }
    });
    talk(&mut run, "history is edited", chat(400, &[]), &|_, chat, turn| {
        if turn == 6 {
            chat.messages[3] = said(Role::User, words("edited", 40));
        }
    });
    talk(&mut run, "a pause of ten minutes", chat(1_200, &[]), &|run, _, turn| {
        if turn == 4 {
            run.now_ms += 600_000;
        }
    });
    talk(&mut run, "the time in the rules", chat(1_100, &[]), &|_, chat, turn| {
        let ChatPart::Text { value } = &mut chat.messages[0].content[0] else { return };
        *value = format!("{}\nIt is 12:{turn:02}.", value.split("\nIt is").next().unwrap_or_default());
    });
    measured
}
