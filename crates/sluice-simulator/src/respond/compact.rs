//! `POST /v1/responses/compact`: replaces a conversation with one item.

use serde_json::{Value, json};

use super::{Responder, parse};
use crate::ask::Ask;
use crate::faults::Faults;
use crate::http::Request;
use crate::models;
use crate::personalities::tell;
use crate::problem::Problem;
use crate::resource::Usage;
use crate::seed::Seed;
use crate::{seal, tokens, validate};

impl Responder {
    pub(super) fn compact(&self, request: &Request, now_ms: u64, seed: &mut Seed) -> Result<Value, Problem> {
        let mut body = parse(&request.body)?;
        validate::compact(&body)?;
        let name = body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (id, suffix) = name.split_once('+').unwrap_or((&name, ""));
        let model = models::find(id).ok_or_else(|| Problem::model_not_found(id))?;
        let items = self.conversation(&mut body, None)?;
        if items.is_empty() {
            return Err(Problem::invalid("input", "There is nothing to compact."));
        }
        let key = self.seal_key(model.id);
        seal::check(&key, &items)?;
        let told = tell(&items);
        let faults = Faults::parse(suffix).map_err(|message| Problem::invalid("model", message))?;
        let token_percent = self.options.faults.clone().and(faults).token_percent();
        let mut ask = Ask { model: model.id, key, body, items, cached: 0, token_percent };
        ask.cached = ask.counted(self.memory().cache().read(model.id, now_ms, |token| ask.visit(token)));
        let output = ask.counted(tokens::count(&told));
        let usage = Usage { input: ask.input_tokens(), cached: ask.cached, output, reasoning: 0 };
        let item = json!({
            "type": "compaction",
            "id": seed.id("cmp_"),
            "encrypted_content": seal::with_content(&ask.key, &told),
        });
        Ok(json!({
            "id": seed.generation_id(now_ms),
            "object": "response.compaction",
            "created_at": now_ms / 1000,
            "output": [item],
            "usage": usage.json(),
        }))
    }
}
