//! Faults in the answer itself: its content and its events.

use serde_json::{Value, json};

use super::Faults;
use crate::perform::Event;
use crate::script::{Citation, Content, Ending, Item, Script};
use crate::seed::Seed;

/// Changes the script before it is performed.
pub fn rewrite(faults: &Faults, script: &mut Script) {
    if let Some(count) = faults.number("many-items") {
        script.items = (0..count).map(|nth| Item::text(format!("Item {nth}. "))).collect();
    }
    if let Some(reason) = faults.value("incomplete") {
        script.ending = Ending::Incomplete(reason.to_owned());
    }
    if let Some(code) = faults.value("failed") {
        script.ending = Ending::Failed(code.to_owned(), "The response has failed, as it was asked to.".into());
    }
    let quoted = faults.credentials.as_str();
    if let Some(ending) = faults.value("quote-key-event") {
        let message = format!("The provider refused the key {quoted}");
        script.ending = match ending {
            "error" => Ending::Error(quoted.to_owned(), message),
            _ => Ending::Failed(quoted.to_owned(), message),
        };
    }
    if let Some(place) = faults.value("quote-key-answer") {
        let url = format!("https://example.com/?key={}", quoted.replace(' ', "%20"));
        let citations = vec![Citation { start: 0, end: 4, url, title: quoted.to_owned() }];
        script.items = vec![match place {
            "thinking" => Item::thought(format!("The key is {quoted}.")),
            "citation" => Item::Message(vec![Content::Text { text: "Here it is.".into(), citations }]),
            "call" => Item::Call { name: "open_gate".into(), arguments: json!({ "key": quoted }).to_string() },
            _ => Item::text(format!("The key is {quoted}.")),
        }];
    }
    if faults.has("mid-call-truncation")
        && let Some(at) = script.items.iter().position(|item| matches!(item, Item::Call { .. }))
    {
        script.items.truncate(at + 1);
        if let Some(Item::Call { arguments, .. }) = script.items.last_mut() {
            let middle = (0..=arguments.len() / 2).rev().find(|at| arguments.is_char_boundary(*at));
            arguments.truncate(middle.unwrap_or(0));
        }
        script.ending = Ending::Incomplete("max_output_tokens".into());
    }
}

/// Changes the events of an answer.
pub fn apply(faults: &Faults, events: &mut Vec<Event>, seed: &mut Seed) {
    add(faults, events);
    remove(faults, events);
    if faults.has("interleave") {
        interleave(events);
    }
    if ["queued", "unknown-event", "unknown-item", "interleave"].iter().any(|name| faults.has(name)) {
        for (at, event) in events.iter_mut().enumerate() {
            if let Some(number) = event.get_mut("sequence_number") {
                *number = at.into();
            }
        }
    }
    change_fields(faults, events);
    for (name, act) in [
        ("duplicate-event", duplicate as fn(&mut Vec<Event>, usize)),
        ("drop-event", |events, at| drop(events.remove(at))),
        ("swap-events", |events, at| swap(events, at)),
    ] {
        if let Some(which) = faults.value(name)
            && let Some(at) = choose(events, which, seed)
        {
            act(events, at);
        }
    }
    if let Some(shape) = faults.value("error-event") {
        break_off(events, shape);
    }
    if let Some(delay) = faults.number("first-event-late")
        && let Some(first) = events.first_mut()
    {
        first.delay_ms = delay;
    }
    if let Some(terminal) = events.iter().find(|event| event.is_terminal()).cloned() {
        if faults.has("completed-twice") {
            events.push(terminal);
        }
        if faults.has("ping-after-end") {
            events.push(Event::new("ping", vec![("cost", "0".into())]));
        }
    }
}

fn add(faults: &Faults, events: &mut Vec<Event>) {
    if faults.has("queued")
        && let Some(mut queued) = events.first().cloned()
    {
        queued.kind = "response.queued".into();
        if let Some(response) = queued.get_mut("response") {
            response["status"] = "queued".into();
        }
        events.insert(1, queued);
    }
    let middle = events.len() / 2;
    if faults.has("unknown-item") {
        let item =
            json!({ "type": "web_search_call", "id": "ws_1", "status": "completed", "action": { "type": "search" } });
        for (kind, at) in [("added", middle), ("done", middle + 1)] {
            let fields = vec![("sequence_number", 0.into()), ("output_index", 100.into()), ("item", item.clone())];
            events.insert(at, Event::new(&format!("response.output_item.{kind}"), fields));
        }
    }
    if faults.has("unknown-event") {
        for (kind, text) in [("acme:trace_event", "not for the reader"), ("response.daydream.delta", "nor is this")] {
            let fields = vec![("sequence_number", 0.into()), ("output_index", 0.into()), ("delta", text.into())];
            events.insert(middle, Event::new(kind, fields));
        }
    }
    if let Some(bytes) = faults.number("huge-event").or(faults.number("large-event"))
        && let Some(last) = events.iter().rposition(|event| event.kind == "response.output_text.delta")
    {
        let mut huge = events[last].clone();
        if let Some(delta) = huge.get_mut("delta") {
            *delta = "x".repeat(usize::try_from(bytes).unwrap_or(0)).into();
        }
        events.insert(last + 1, huge);
        // Events that repeat the text would contradict the changed deltas.
        repeat_nothing(events);
    }
    if faults.has("null-deltas") {
        let old = std::mem::take(events);
        for event in old {
            if event.is_delta() {
                let mut null = event.clone();
                null.get_mut("delta").into_iter().for_each(|delta| *delta = Value::Null);
                events.push(null);
            }
            events.push(event);
        }
    }
}

/// Removes everything that repeats the deltas.
fn repeat_nothing(events: &mut Vec<Event>) {
    events.retain(|event| !event.is_done());
    empty_output(events);
}

fn empty_output(events: &mut [Event]) {
    for response in events.iter_mut().filter_map(|event| event.get_mut("response")) {
        response["output"] = json!([]);
    }
}

fn remove(faults: &Faults, events: &mut Vec<Event>) {
    if faults.has("done-only") {
        events.retain(|event| !event.is_delta());
    }
    if faults.has("delta-only") {
        repeat_nothing(events);
    }
    if faults.has("no-added") {
        events.retain(|event| !(event.is_added() && event.kind != "response.output_text.annotation.added"));
    }
    if faults.has("terminal-only") {
        events.retain(Event::is_terminal);
    }
    if faults.has("sparse") {
        let kept = ["response.created", "response.output_text.delta"];
        events.retain(|event| kept.contains(&event.kind.as_str()) || event.is_terminal());
    }
    if faults.has("empty-final-output") {
        empty_output(events);
    }
}

/// Alternates the events of all items, by their `output_index`.
fn interleave(events: &mut Vec<Event>) {
    let index = |event: &Event| event.get("output_index").and_then(Value::as_u64);
    let (inside, outside): (Vec<Event>, Vec<Event>) =
        std::mem::take(events).into_iter().partition(|e| index(e).is_some());
    let mut items: Vec<std::collections::VecDeque<Event>> = Vec::new();
    for event in inside {
        let at = index(&event).and_then(|at| usize::try_from(at).ok()).unwrap_or(0).min(items.len());
        if at == items.len() {
            items.push(std::collections::VecDeque::new());
        }
        items[at].push_back(event);
    }
    let (terminal, opening): (Vec<Event>, Vec<Event>) = outside.into_iter().partition(Event::is_terminal);
    events.extend(opening);
    while items.iter().any(|item| !item.is_empty()) {
        events.extend(items.iter_mut().filter_map(std::collections::VecDeque::pop_front));
    }
    events.extend(terminal);
}

fn change_fields(faults: &Faults, events: &mut [Event]) {
    for (at, event) in events.iter_mut().enumerate() {
        if faults.has("openai-names") {
            event.kind = event.kind.replace("response.reasoning.", "response.reasoning_text.");
        }
        if faults.has("rotate-ids") {
            for id in ids(event) {
                *id = format!("{}_{at}", id.as_str().unwrap_or_default()).into();
            }
        }
        if faults.has("same-call-id") {
            for call in items(event).into_iter().filter(|item| item["type"] == "function_call") {
                call["call_id"] = "call_0".into();
            }
        }
        for (name, field, on_items) in [
            ("drop-output-index", "output_index", ""),
            ("drop-item-id", "item_id", "id"),
            ("drop-call-id", "", "call_id"),
            ("drop-sequence-number", "sequence_number", ""),
        ] {
            if faults.has(name) {
                event.fields.retain(|(key, _)| *key != field);
                for item in items(event) {
                    item.as_object_mut().map(|item| item.remove(on_items));
                }
            }
        }
        if faults.has("constant-sequence")
            && let Some(number) = event.get_mut("sequence_number")
        {
            *number = 0.into();
        }
        if faults.has("obfuscation") && event.is_delta() {
            event.fields.push(("obfuscation", "p4dd1ng".into()));
        }
        if faults.has("no-usage")
            && let Some(response) = event.get_mut("response")
        {
            response["usage"] = Value::Null;
        }
    }
}

/// Returns the items in an event: its own, and those of its response.
fn items(event: &mut Event) -> Vec<&mut Value> {
    let mut items = Vec::new();
    for (name, value) in &mut event.fields {
        match *name {
            "item" => items.push(value),
            "response" => items.extend(value["output"].as_array_mut().into_iter().flatten()),
            _ => {}
        }
    }
    items
}

fn ids(event: &mut Event) -> Vec<&mut Value> {
    let mut ids = Vec::new();
    for (name, value) in &mut event.fields {
        match *name {
            "item" => ids.push(&mut value["id"]),
            "item_id" => ids.push(value),
            _ => {}
        }
    }
    ids
}

/// Finds an event by number or by type, or chooses a delta at random.
fn choose(events: &[Event], which: &str, seed: &mut Seed) -> Option<usize> {
    if let Ok(at) = which.parse::<usize>() {
        return (at < events.len()).then_some(at);
    }
    let fits = |event: &Event| if which.is_empty() { event.is_delta() } else { event.kind == which };
    let places: Vec<usize> = (0..events.len()).filter(|at| fits(&events[*at])).collect();
    places.get(seed.below(places.len())).copied()
}

fn duplicate(events: &mut Vec<Event>, at: usize) {
    events.insert(at, events[at].clone());
}

/// Swaps an event with the next one. The last event is swapped with the previous one.
fn swap(events: &mut [Event], at: usize) {
    if events.len() > 1 {
        let at = at.min(events.len() - 2);
        events.swap(at, at + 1);
    }
}

/// Replaces the second half of the events with an error.
fn break_off(events: &mut Vec<Event>, shape: &str) {
    events.truncate(events.len() / 2);
    let number = ("sequence_number", events.len().into());
    let (code, message) = ("server_error", "The stream broke, as it was asked to.");
    let nested = json!({ "type": "server_error", "code": code, "message": message, "param": null });
    events.push(match shape {
        "flat" => {
            let fields = vec![number, ("code", code.into()), ("message", message.into()), ("param", Value::Null)];
            Event::new("error", fields)
        }
        "bare" => Event::new("", vec![("error", nested)]),
        "string" => Event::new("", vec![("error", message.into())]),
        _ => Event::new("error", vec![number, ("error", nested)]),
    });
}
