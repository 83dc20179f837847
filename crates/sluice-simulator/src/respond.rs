//! Turns a request into a reply: validates it, lets the model answer, and applies faults.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use crate::ask::Ask;
use crate::faults::{self, Faults};
use crate::http::{Chunks, End, Opening, Reply, Request, TimedChunk};
use crate::imitate::Imitated;
use crate::memory::{Conversations, Generation, Memory};
use crate::models::{self, Kind, Model};
use crate::perform::{Performance, StreamElement, perform};
use crate::problem::{Problem, not_found_page, wrong_method};
use crate::providers::Provider;
use crate::resource::Resource;
use crate::script::{Ending, Script};
use crate::seed::{Seed, fingerprint};
use crate::{personalities, seal, validate};

mod compact;
mod socket;

pub use socket::{Socket, SocketReply};

/// The behaviour of a gateway.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Faults for every answer.
    pub faults: Faults,
    /// Faults for everything else: the list of models, the balance.
    pub list_faults: Faults,
    /// The same seed and the same requests give the same replies.
    pub seed: u64,
    /// The only key that is accepted. If it isn't set, a request may have any key or none, but not one that looks real.
    pub key: Option<String>,
    /// A recorded stream that answers every request to `/v1/responses`, if there is one.
    pub replay: Vec<TimedChunk>,
}

/// The embedded gateway without sockets. It uses no clock, no randomness and no I/O except its arguments and results.
#[derive(Debug, Default)]
pub struct Responder {
    options: Options,
    memory: Mutex<Memory>,
}

/// A validated request to a model.
struct Turn {
    ask: Ask,
    model: &'static Model,
    faults: Faults,
}

impl Responder {
    pub fn new(options: Options) -> Self {
        Self { options, memory: Mutex::default() }
    }

    /// Responds to one HTTP request. `now_ms` is the time since the epoch, for dates and ids.
    pub fn respond(&self, request: &Request, now_ms: u64) -> Reply {
        let number = self.memory().next_request();
        let mut seed = Seed::new(self.options.seed, number);
        let request_id = seed.id("req_");
        let mut reply = match self.check_key(request) {
            Ok(()) => self.route(request, now_ms, &mut seed),
            Err(problem) => match Imitated::chosen(&self.options.faults) {
                Some(server) => server.refuse_key(request.header("authorization").is_some(), &problem),
                None => problem.reply(),
            },
        };
        reply.headers.push(("x-request-id".into(), request_id));
        reply
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses keys that look real, so that users don't send valuable keys to this gateway.
    pub(crate) fn check_key(&self, request: &Request) -> Result<(), Problem> {
        let key = request.header("authorization").unwrap_or_default();
        let key = key.strip_prefix("Bearer ").or(key.strip_prefix("bearer ")).unwrap_or(key);
        if let Some(wanted) = &self.options.key {
            let right = key == wanted;
            return if right { Ok(()) } else { Err(Problem::unauthorized("This key is not valid here")) };
        }
        if ["vck_", "sk-", "sk_", "eyJ", "ghp_", "AIza"].iter().any(|prefix| key.starts_with(prefix)) {
            let message = "This is Sluice's embedded gateway. It needs no key and must not be given a real one: \
                this key looks real. Use any word, or no key at all";
            return Err(Problem::unauthorized(message));
        }
        Ok(())
    }

    fn route(&self, request: &Request, now_ms: u64, seed: &mut Seed) -> Reply {
        let method = request.method.as_str();
        let model = |creator: &str, name: &str| models::find(&format!("{creator}/{name}"));
        let found = |value: Option<Value>, id: &str| match value {
            Some(value) => Reply::json(200, &value),
            None => Problem::model_not_found(id).reply(),
        };
        let server = Imitated::chosen(&self.options.faults);
        let resource = match server {
            Some(server) => server.resource(request.route()),
            None => request.route().strip_prefix("/v1/"),
        };
        let route: Vec<&str> = resource.unwrap_or_default().split('/').collect();
        let no_such_route =
            || server.map_or_else(not_found_page, |server| server.no_such_route(method, request.route()));
        match (route.as_slice(), method) {
            (["responses"], "POST") => self.create(request, now_ms, seed),
            (["responses", "compact"], "POST") => match self.compact(request, now_ms, seed) {
                Ok(compacted) => Reply::json(200, &compacted),
                Err(problem) => problem.reply(),
            },
            (["responses"] | ["responses", "compact"], _) => wrong_method("POST"),
            (["models"], "GET") if server.is_some() => match server.and_then(Imitated::list) {
                Some(list) => self.with_faults(request, Reply::json(200, &list), now_ms, seed),
                None => no_such_route(),
            },
            (["models"], "GET") => {
                let mut list = models::list();
                if self.options.list_faults.has("quote-key-answer") {
                    quote_key(&mut list, request.header("authorization").unwrap_or("no key"));
                }
                self.with_faults(request, tagged(request, &list), now_ms, seed)
            }
            (["models", creator, name], "GET") => {
                found(model(creator, name).map(Model::json), &format!("{creator}/{name}"))
            }
            (["models", creator, name, "endpoints"], "GET") => {
                found(model(creator, name).map(Model::endpoints), &format!("{creator}/{name}"))
            }
            (["credits"], "GET") => self.with_faults(request, Reply::json(200, &self.memory().credits()), now_ms, seed),
            (["generation"], "GET") => {
                let id = request.query("id").unwrap_or_default();
                match self.memory().generation(id) {
                    Some(generation) => Reply::json(200, &generation),
                    None => Reply::json(404, &json!({ "error": format!("Generation {id} not found") })),
                }
            }
            (["models" | "credits" | "generation"] | ["models", _, _] | ["models", _, _, "endpoints"], _) => {
                wrong_method("GET")
            }
            _ => no_such_route(),
        }
    }

    /// Applies faults to replies that aren't answers. They come from the header or from their own option.
    fn with_faults(&self, request: &Request, reply: Reply, now_ms: u64, seed: &mut Seed) -> Reply {
        let asked = Faults::parse(request.header(faults::HEADER).unwrap_or_default());
        match asked {
            Ok(faults) => {
                let faults = self.options.list_faults.clone().and(faults).for_request(request);
                let faults = self.this_time(faults, fingerprint(request.path.as_bytes()));
                let mut reply = faults::head::instead(&faults, now_ms).unwrap_or(reply);
                faults::head::apply(&faults, &mut reply);
                faults::body::apply(&faults, &mut reply, accepts_gzip(request), seed);
                reply
            }
            Err(message) => Problem::invalid(faults::HEADER, message).reply(),
        }
    }

    /// `POST /v1/responses`
    fn create(&self, request: &Request, now_ms: u64, seed: &mut Seed) -> Reply {
        if !self.options.replay.is_empty() {
            return event_stream(self.options.replay.clone().into());
        }
        let body = parse(&request.body);
        let server = body.as_ref().ok().and_then(|body| self.imitated(body, request));
        let turn = body.and_then(|body| {
            server.map_or(Ok(()), |server| server.check(&body))?;
            self.turn(body, request, None, now_ms)
        });
        let Turn { ask, model, faults } = match turn {
            Ok(turn) => turn,
            Err(problem) => return server.map_or_else(|| problem.reply(), |server| server.refuse(&problem)),
        };
        let faults = self.this_time(faults, fingerprint(&request.body));
        let faults = faults.and(server.map(Imitated::faults).unwrap_or_default());
        let mut reply = if let Some(reply) = faults::head::instead(&faults, now_ms) {
            reply
        } else {
            let streamed = ask.flag("stream", false);
            let script = script(&ask, &faults, server);
            let (performance, errored) = self.perform(&ask, model, &script, now_ms, streamed, seed);
            if streamed && faults.are_only(&["pace"]) {
                event_stream(faults::frames::by_the_book(performance.elements))
            } else if streamed {
                let mut events = StreamElement::events(performance.elements);
                if let Some(server) = server {
                    server.reshape(&mut events);
                }
                faults::events::apply(&faults, &mut events, seed);
                event_stream(faults::frames::render(&faults, &events, seed).into())
            } else if errored {
                Problem::of_status(500).reply()
            } else {
                let mut reply = Reply::json(200, &performance.response);
                if !faults.has("pace") {
                    reply.head_delay_ms = performance.elements.iter().map(StreamElement::duration_ms).sum();
                }
                reply
            }
        };
        faults::head::apply(&faults, &mut reply);
        faults::body::apply(&faults, &mut reply, accepts_gzip(request), seed);
        reply
    }

    /// Returns the server to imitate for a request.
    fn imitated(&self, body: &Map<String, Value>, request: &Request) -> Option<Imitated> {
        let (_, suffix) =
            body.get("model").and_then(Value::as_str).unwrap_or_default().split_once('+').unwrap_or_default();
        let chosen = [request.header(faults::HEADER).unwrap_or_default(), suffix].map(Faults::parse);
        let chosen = chosen.into_iter().filter_map(Result::ok);
        Imitated::chosen(&chosen.fold(self.options.faults.clone(), Faults::and))
    }

    /// Validates a request and collects the conversation that it continues, from `local` or from the gateway's memory.
    fn turn(
        &self,
        mut body: Map<String, Value>,
        request: &Request,
        local: Option<&Conversations>,
        now_ms: u64,
    ) -> Result<Turn, Problem> {
        validate::create(&body)?;
        if body.get("background").is_some_and(|background| background == true) {
            return Err(Problem::invalid("background", "Background responses are not supported here."));
        }
        let name = body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (id, suffix) = name.split_once('+').unwrap_or((&name, ""));
        let server = self.imitated(&body, request);
        let model = server.map_or_else(|| models::find(id), |server| server.model(id));
        let model = model.ok_or_else(|| Problem::model_not_found(id))?;
        if model.kind != Kind::Language {
            return Err(Problem::invalid("model", format!("Model '{id}' is not a language model")));
        }
        let from_header = Faults::parse(request.header(faults::HEADER).unwrap_or_default());
        let chosen = from_header.and_then(|faults| Ok(faults.and(Faults::parse(suffix)?)));
        let chosen = chosen.map_err(|message| Problem::invalid("model", message))?;
        let items = self.conversation(&mut body, local)?;
        validate::conversation(&items)?;
        let key = self.seal_key(model.id);
        let token_percent = self.options.faults.clone().and(chosen.clone()).token_percent();
        let mut ask = Ask { model: model.id, key, body, items, cached: 0, token_percent };
        let mut chosen = chosen;
        match Provider::of(model.id) {
            Some(provider) => {
                provider.check(&ask)?;
                if provider == Provider::Vllm {
                    chosen = chosen.and(Faults::parse("openai-names").unwrap_or_default());
                }
            }
            None if server.is_none_or(Imitated::checks_seals) => seal::check(&ask.key, &ask.items)?,
            None => {}
        }
        let tokens = ask.input_tokens() as u64;
        if tokens > model.context_window() {
            let limit = model.context_window();
            let message = format!(
                "Your input exceeds the context window of this model: its maximum context length is {limit} tokens, \
                but your input has {tokens} tokens."
            );
            return Err(Problem::invalid("input", message).code("context_length_exceeded"));
        }
        ask.cached = ask.counted(self.memory().cache().read(model.id, now_ms, |token| ask.visit(token)));
        Ok(Turn { ask, model, faults: self.options.faults.clone().and(chosen).for_request(request) })
    }

    /// Returns what identifies a model at this server. A server with another seed can't read what it seals.
    fn seal_key(&self, model: &str) -> String {
        format!("{}/{model}", self.options.seed)
    }

    /// Returns the whole conversation: the items up to the previous response, and the new input.
    fn conversation(
        &self,
        body: &mut Map<String, Value>,
        local: Option<&Conversations>,
    ) -> Result<Vec<Value>, Problem> {
        let memory = &mut self.memory();
        let stored = memory.conversations();
        let mut items = match body.get("previous_response_id").and_then(Value::as_str) {
            None => Vec::new(),
            Some(id) => local
                .and_then(|local| local.get(id))
                .or_else(|| stored.get(id))
                .cloned()
                .ok_or_else(|| Problem::previous_response_not_found(id))?,
        };
        match body.get("input") {
            Some(Value::String(text)) => items.push(json!({ "type": "message", "role": "user", "content": text })),
            Some(Value::Array(new)) => {
                for item in new {
                    let referred = item["type"] == "item_reference" || item.get("type").is_none_or(Value::is_null);
                    let id = item["id"].as_str().filter(|_| referred);
                    items.push(match id {
                        None => item.clone(),
                        Some(id) => stored
                            .item(id)
                            .cloned()
                            .ok_or_else(|| Problem::invalid("input", format!("Item with id '{id}' not found.")))?,
                    });
                }
            }
            _ => {}
        }
        Ok(items)
    }

    /// Returns the faults for this attempt: with `fail-times`, they stop after some attempts.
    fn this_time(&self, faults: Faults, fingerprint: u64) -> Faults {
        let Some(times) = faults.number("fail-times") else { return faults };
        if !self.memory().fails_again(fingerprint, times) {
            return Faults::default();
        }
        faults.or_unavailable()
    }

    /// Lets the model answer. Also returns whether the answer ended with an error event.
    fn perform(
        &self,
        ask: &Ask,
        model: &'static Model,
        script: &Script,
        now_ms: u64,
        streamed: bool,
        seed: &mut Seed,
    ) -> (Performance, bool) {
        let id = seed.generation_id(now_ms);
        let performance = perform(script, &Resource { id: &id, ask, model, now_ms }, seed);
        let status = performance.response["status"].as_str().unwrap_or_default().to_owned();
        let mut memory = self.memory();
        if ask.flag("store", true) && status != "failed" {
            memory.conversations().keep(&id, continued(ask, &performance));
        }
        memory.finished(Generation::new(id, model, performance.usage, now_ms, streamed, status));
        (performance, matches!(script.ending, Ending::Error(..)))
    }
}

/// Returns what a model answers, as a server passes it on and faults change it.
fn script(ask: &Ask, faults: &Faults, server: Option<Imitated>) -> Script {
    let mut script = personalities::script(ask);
    // The models of all other providers would no longer recognize their own reasoning.
    let may_rewrite = Provider::of(ask.model).is_none_or(|provider| provider == Provider::Anthropic);
    if let Some(server) = server.filter(|_| may_rewrite) {
        server.rewrite(&mut script);
    }
    faults::events::rewrite(faults, &mut script);
    script
}

/// Returns the conversation including the answer.
fn continued(ask: &Ask, performance: &Performance) -> Vec<Value> {
    let output = performance.response["output"].as_array().into_iter().flatten();
    ask.items.iter().chain(output).cloned().collect()
}

/// Adds an `ETag`, and omits the body if the client already has this version.
fn tagged(request: &Request, value: &Value) -> Reply {
    let mut reply = Reply::json(200, value);
    let etag = format!("W/\"{:x}\"", fingerprint(&reply.body()));
    let known = request.header("if-none-match").unwrap_or_default();
    // The comparison ignores whether an ETag is weak.
    let is_known = known.split(',').map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == &etag[2..]);
    if is_known {
        reply = Reply { status: 304, headers: Vec::new(), chunks: Vec::new().into(), ..reply };
    }
    reply.set_header("etag", Some(etag));
    reply.set_header("cache-control", Some("public, max-age=0, must-revalidate".into()));
    reply
}

/// Repeats the client's credentials in all texts of a list of models.
fn quote_key(list: &mut Value, credentials: &str) {
    for model in list["data"].as_array_mut().into_iter().flatten() {
        model["name"] = credentials.into();
        model["description"] = format!("The key is {credentials}").into();
        model["owned_by"] = credentials.into();
        if let Some(tags) = model["tags"].as_array_mut() {
            tags.push(credentials.into());
        }
    }
}

fn parse(body: &[u8]) -> Result<Map<String, Value>, Problem> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err(Problem::invalid("", "The request body must be a JSON object")),
        Err(error) => Err(Problem::invalid("", format!("The request body is not valid JSON: {error}"))),
    }
}

fn accepts_gzip(request: &Request) -> bool {
    request.header("accept-encoding").is_some_and(|accepted| accepted.contains("gzip"))
}

fn event_stream(chunks: Chunks) -> Reply {
    Reply {
        opening: Opening::Answer,
        head_delay_ms: 0,
        status: 200,
        headers: vec![
            ("content-type".into(), "text/event-stream".into()),
            ("cache-control".into(), "no-cache, no-transform".into()),
        ],
        chunks,
        end: End::Finish,
    }
}
