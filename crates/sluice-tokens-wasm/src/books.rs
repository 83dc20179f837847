//! What an editor's requests used, and what servers counted: the core's memory and books behind JSON questions. They live
//! here because an estimate needs the vocabularies for whatever no server has counted yet.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sluice_core::{
    ChatMessage, ChatPart, ChatRequest, Counter, FileState, InstallKey, Memory, Period, Piece, Prices, Prompt,
    RequestEnd, RequestStart, Role, Totals, Usage, UsageTracker, preflight, request_kind,
};

#[derive(Debug)]
pub struct Books {
    memory: Memory,
    tracker: UsageTracker,
    /// Requests that run: what was asked, and what its corrections are kept for.
    running: BTreeMap<String, (Prompt, String)>,
}

impl Default for Books {
    fn default() -> Self {
        // Until a shell gives its own key: comparable with itself, and never written.
        Self { memory: Memory::new(InstallKey([0; 16])), tracker: UsageTracker::default(), running: BTreeMap::new() }
    }
}

impl Books {
    /// Takes over the file of this installation. What was learned before that is lost; nothing much is, so early.
    pub fn read(&mut self, key: InstallKey, file: Option<&[u8]>) -> FileState {
        let (memory, state) = Memory::read(key, file);
        self.memory = memory;
        state
    }

    /// The bytes to put in the place of the file, unless it must be left alone.
    pub fn save(&mut self, file: Option<&[u8]>) -> Option<Vec<u8>> {
        self.memory.save(file).0
    }

    pub fn saved(&mut self) {
        self.memory.saved();
    }

    /// Answers the question with this number, as `js/src/tokens.ts` counts them.
    pub fn answer(&mut self, question: u32, json: &str) -> Result<String, String> {
        let answer = match question {
            0 => self.begin(json)?,
            1 => self.part(json)?,
            2 => self.end(json)?,
            3 => self.history(json)?,
            4 => self.message(json)?,
            5 => json!(self.memory.calibration().factor(&read::<String>(json)?)),
            _ => return Err(format!("no question has the number {question}")),
        };
        Ok(answer.to_string())
    }

    /// A request begins: how many tokens it has, as far as anybody knows, and what to show.
    fn begin(&mut self, json: &str) -> Result<Value, String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Question {
            id: String,
            conversation: String,
            chat: String,
            family: String,
            max_input_tokens: u64,
            now: u64,
        }
        let Question { id, conversation, chat, family, max_input_tokens, now } = read(json)?;
        let chat = ChatRequest::from_json(&chat).map_err(|error| format!("the chat cannot be read: {error}"))?;
        let prompt = Prompt::of(&chat);
        let estimate = self.memory.estimate(&prompt, &family, &|piece| Counter::exact().piece(piece));
        let warning = preflight(&chat.model, estimate.tokens, Some(max_input_tokens));
        let start = RequestStart {
            id: id.clone(),
            conversation: conversation.clone(),
            model: chat.model.clone(),
            kind: request_kind(&chat),
            estimate: Some(estimate.tokens),
            max_input_tokens: Some(max_input_tokens),
        };
        self.tracker.open(start, now);
        self.running.insert(id, (prompt, family));
        Ok(json!({"estimate": estimate, "warning": warning, "status": self.tracker.status(&conversation)}))
    }

    /// A part has come.
    fn part(&mut self, json: &str) -> Result<Value, String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Question {
            id: String,
            is_thinking: bool,
            now: u64,
        }
        let Question { id, is_thinking, now } = read(json)?;
        self.tracker.first_part(&id, is_thinking, now);
        Ok(Value::Null)
    }

    /// The request is over: what it used, and what to show. The next estimates know what the server counted.
    fn end(&mut self, json: &str) -> Result<Value, String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Question {
            id: String,
            conversation: String,
            /// The parts that were given.
            answer: Vec<ChatPart>,
            is_completed: bool,
            is_answered: bool,
            usage: Option<Usage>,
            cost: Option<String>,
            prices: Option<Prices>,
            now: u64,
            /// Days since 1970.
            today: u32,
        }
        let Question { id, conversation, answer, is_completed, is_answered, usage, cost, prices, now, today } =
            read(json)?;
        let cost_by_prices = prices.as_ref().zip(usage.as_ref()).and_then(|(prices, usage)| prices.cost(usage));
        let end = RequestEnd { usage: usage.clone(), cost, cost_by_prices, is_answered };
        let used = self.tracker.finish(&id, &end, now);
        if let Some(used) = &used {
            self.memory.record(used, today);
        }
        if let (Some((prompt, family)), Some(usage)) = (self.running.remove(&id), usage) {
            // Only a whole answer is what the server counted.
            let message = is_completed.then_some(ChatMessage { role: Role::Assistant, content: answer });
            let raw = |piece: Piece<'_>| Counter::exact().piece(piece);
            self.memory.learn(&prompt, &family, message.as_ref(), &usage, &raw, today);
        }
        Ok(json!({
            "used": used,
            "status": self.tracker.status(&conversation),
            "conversation": self.tracker.conversation(&conversation),
        }))
    }

    /// One message: what a server counted for it, else our count as far as servers agree with us.
    fn message(&self, json: &str) -> Result<Value, String> {
        #[derive(Deserialize)]
        struct Question {
            model: String,
            family: String,
            message: ChatMessage,
        }
        let Question { model, family, message } = read(json)?;
        let (prompt, factor) = (Prompt::of_message(&model, &message), self.memory.calibration().factor(&family));
        let estimate = self.memory.known().estimate_message(&prompt, factor, &|piece| Counter::exact().piece(piece));
        Ok(json!(estimate.tokens))
    }

    /// Sums by day or month and by model, the oldest first.
    fn history(&self, json: &str) -> Result<Value, String> {
        let period = match read::<String>(json)?.as_str() {
            "day" => Period::Day,
            "month" => Period::Month,
            other => return Err(format!("there is no sum by {other}")),
        };
        let rows = self.memory.history().by(period).into_iter().flat_map(|(when, models)| {
            models.into_iter().map(move |(model, totals): (String, Totals)| {
                json!({"when": when, "model": model, "totals": totals, "tokensPerSecond": totals.tokens_per_second()})
            })
        });
        Ok(rows.collect())
    }
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| format!("the question cannot be read: {error}"))
}
