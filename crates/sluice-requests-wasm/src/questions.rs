//! The questions, numbered as `packages/loader/src/requests.ts` numbers them: JSON in, JSON out.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sluice_core::{
    ChatMessage, ChatModel, ChatRequest, Counter, Endpoint, Failure, HttpAnswer, HttpRequest, ListState, ModelCatalog,
    ModelSettings, Note, OtherModel, Refresh, Secrets, Transport, build_request, request_kind,
};

/// What is wrong with a question comes as `Err`, in words fit to show.
pub fn answer(question: u32, json: &str) -> Result<String, String> {
    let answer = match question {
        // A list is the only long answer: it becomes text without a tree in between.
        2 => return catalog(json),
        0 => to_value(&Endpoint::parse(&read::<String>(json)?).map_err(|problem| problem.0)?),
        1 => request(json)?,
        3 => estimate(json)?,
        4 => mask(json)?,
        _ => return Err(format!("no question has the number {question}")),
    };
    serde_json::to_string(&answer).map_err(|error| error.to_string())
}

/// A chat to a request. The chat comes as text of its own, because half surrogate pairs in it are mended.
fn request(json: &str) -> Result<Value, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Question {
        chat: String,
        base_url: String,
    }
    let Question { chat, base_url } = read(json)?;
    let chat = ChatRequest::from_json(&chat).map_err(|error| format!("the chat cannot be read: {error}"))?;
    let endpoint = Endpoint::parse(&base_url).map_err(|problem| problem.0)?;
    let built = build_request(&chat, &endpoint);
    Ok(json!({
        "request": to_value(&built.request),
        "origin": endpoint.origin,
        "toolNames": to_value(&built.tool_names),
        "conversationId": built.conversation_id,
        "marker": built.marker,
        "kind": to_value(&request_kind(&chat)),
        "notes": to_value(&built.notes),
    }))
}

/// What is known about an endpoint's models, after something happened.
fn catalog(json: &str) -> Result<String, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Question {
        base_url: String,
        snapshot: Option<String>,
        settings: ModelSettings,
        /// Seconds since 1970.
        now: u64,
        event: Option<Event>,
        /// A model to know more about.
        about: Option<String>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    enum Event {
        /// The list was asked for.
        ListAnswered(HttpAnswer),
        ListFailed(Transport),
        /// Who serves a model was asked for.
        EndpointsAnswered(String, HttpAnswer),
        /// A request to a model ended with this message.
        Overflowed(String, String),
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        models: Vec<ChatModel>,
        others: Vec<OtherModel>,
        state: ListState,
        list_request: HttpRequest,
        endpoints_request: Option<HttpRequest>,
        changed: bool,
        notes: Vec<Note>,
        snapshot: String,
    }
    let Question { base_url, snapshot, settings, now, event, about } = read(json)?;
    let endpoint = Endpoint::parse(&base_url).map_err(|problem| problem.0)?;
    let (mut catalog, note) = match snapshot {
        Some(snapshot) => ModelCatalog::restore(&snapshot, &endpoint),
        None => (ModelCatalog::new(&endpoint), None),
    };
    let mut notes: Vec<_> = note.into_iter().collect();
    let refresh = match event {
        None => Refresh::Unchanged,
        Some(Event::ListAnswered(answer)) => catalog.list_answer(&answer, now),
        Some(Event::ListFailed(transport)) => {
            catalog.list_failed(&Failure::from_transport(transport, &endpoint.origin), now)
        }
        Some(Event::EndpointsAnswered(id, answer)) => catalog.endpoints_answer(&id, &answer, now),
        Some(Event::Overflowed(id, message)) => match catalog.learn(&id, &message, now) {
            Some(_) => Refresh::Changed,
            None => Refresh::Unchanged,
        },
    };
    let list = catalog.models(&settings, now);
    let changed = refresh == Refresh::Changed;
    if let Refresh::Kept(note) = refresh {
        notes.push(note);
    }
    notes.extend(list.notes);
    let answer = Answer {
        models: list.models,
        others: list.others,
        state: catalog.state(now),
        list_request: catalog.list_request(),
        endpoints_request: about.and_then(|id| catalog.endpoints_request(&id, now)),
        changed,
        notes,
        snapshot: catalog.snapshot(),
    };
    serde_json::to_string(&answer).map_err(|error| error.to_string())
}

/// Tokens without a vocabulary, for the moment before there is one.
fn estimate(json: &str) -> Result<Value, String> {
    #[derive(Deserialize)]
    struct Question {
        model: String,
        text: Option<String>,
        message: Option<ChatMessage>,
    }
    let Question { model, text, message } = read(json)?;
    let counter = Counter::estimating();
    let text = text.map_or(0, |text| counter.text(&model, &text));
    Ok(json!(text + message.map_or(0, |message| counter.message(&model, &message))))
}

/// Any value without secrets in its strings.
fn mask(json: &str) -> Result<Value, String> {
    #[derive(Deserialize)]
    struct Question {
        secrets: Vec<String>,
        value: Value,
    }
    let Question { secrets, mut value } = read(json)?;
    Secrets::new(secrets).mask_value(&mut value);
    Ok(value)
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| format!("the question cannot be read: {error}"))
}

fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
