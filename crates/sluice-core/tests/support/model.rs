//! Random answers: a model of what the server means, and the events that express it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::events::*;
use super::{Call, Summary};

/// What an answer says, independent of its events.
#[derive(Clone, Debug)]
pub struct Answer {
    pub items: Vec<Item>,
    pub end: End,
    /// Input and output tokens.
    pub usage: Option<(u64, u64)>,
}

#[derive(Clone, Debug)]
pub enum Item {
    Message(Vec<Content>),
    /// The parts of a summary or of raw reasoning, and whether there is encrypted content.
    Thinking {
        spelling: &'static str,
        parts: Vec<String>,
        secret: bool,
    },
    Call {
        name: String,
        arguments: String,
    },
    Image,
}

#[derive(Clone, Debug)]
pub enum Content {
    Text { text: String, cites: bool },
    Refusal(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Completed,
    Incomplete,
    Failed,
}

/// An error message that must not appear in any text.
pub const ERROR_MESSAGE: &str = "E\u{F8FF}RROR";

pub fn answers() -> impl Strategy<Value = Answer> {
    let items = prop::collection::vec(item(), 0..6);
    let end = prop_oneof![6 => Just(End::Completed), 1 => Just(End::Incomplete), 1 => Just(End::Failed)];
    let usage = prop::option::of((0_u64..1 << 50, 0_u64..1 << 50));
    (items, end, usage).prop_map(|(items, end, usage)| Answer { items, end, usage })
}

fn item() -> impl Strategy<Value = Item> {
    let content = prop_oneof![
        4 => (text(), any::<bool>()).prop_map(|(text, cites)| Content::Text { text, cites }),
        1 => text().prop_map(Content::Refusal),
    ];
    let spellings = vec!["reasoning", "reasoning_text", "reasoning_summary_text", "reasoning_summary"];
    let thinking = (prop::sample::select(spellings), prop::collection::vec(thought(), 0..3), any::<bool>());
    prop_oneof![
        4 => prop::collection::vec(content, 1..3).prop_map(Item::Message),
        2 => thinking.prop_map(|(spelling, parts, secret)| Item::Thinking { spelling, parts, secret }),
        4 => ("[a-z_]{1,9}", arguments()).prop_map(|(name, arguments)| Item::Call { name, arguments }),
        1 => Just(Item::Image),
    ]
}

/// Any text without Greek letters, which are reserved for thinking so that the two can be told apart.
fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![8 => prop::char::range(' ', '~'), 2 => Just('\n'), 4 => any::<char>()];
    prop::collection::vec(character, 0..24).prop_map(|all| all.into_iter().filter(|c| !is_greek(*c)).collect())
}

fn thought() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::char::range('α', 'ω'), 0..12).prop_map(|all| all.into_iter().collect())
}

pub fn is_greek(c: char) -> bool {
    ('α'..='ω').contains(&c)
}

/// A JSON object as a model might write it, or nothing.
fn arguments() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    });
    let object = prop::collection::btree_map(text(), value, 0..4).prop_map(|map| map.into_iter().collect::<Value>());
    (object, 0..10).prop_map(|(object, spelling)| match spelling {
        0 => String::new(),
        1 => " ".to_owned(),
        2 => format!(" {object:#}\n"),
        _ => object.to_string(),
    })
}

/// A source of random choices that depend only on the seed.
#[derive(Clone, Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// Returns a number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap_or(0)
    }

    pub fn one_in(&mut self, limit: usize) -> bool {
        self.below(limit) == 0
    }

    /// Splits a text into a few pieces, some of them empty.
    fn pieces(&mut self, text: &str) -> Vec<String> {
        let mut pieces = vec![String::new()];
        for c in text.chars() {
            while self.one_in(4) {
                pieces.push(String::new());
            }
            pieces.last_mut().expect("there is one").push(c);
        }
        pieces
    }
}

impl Answer {
    /// Returns the final output.
    pub fn output(&self) -> Vec<Value> {
        self.items.iter().zip(0..).map(|(item, index)| item.whole(index)).collect()
    }

    /// Returns the events. Those of different items are interleaved; only messages, and thinking, keep their order
    /// among themselves.
    pub fn events(&self, dice: &mut Dice) -> Vec<Value> {
        let mut lanes: Vec<Vec<Value>> = vec![Vec::new(), Vec::new()];
        for (item, index) in self.items.iter().zip(0..) {
            let events = item.events(index, dice);
            match item {
                Item::Message(_) => lanes[0].extend(events),
                Item::Thinking { .. } => lanes[1].extend(events),
                Item::Call { .. } | Item::Image => lanes.push(events),
            }
        }
        let mut lanes: Vec<_> = lanes.into_iter().map(Vec::into_iter).collect();
        let mut events = vec![created(), in_progress()];
        while !lanes.is_empty() {
            let lane = dice.below(lanes.len());
            match lanes[lane].next() {
                Some(event) => events.push(event),
                None => drop(lanes.swap_remove(lane)),
            }
        }
        events
    }

    pub fn terminal(&self, output: &[Value]) -> Value {
        let mut event = match self.end {
            End::Completed => completed(output),
            End::Incomplete => incomplete("max_output_tokens", output),
            End::Failed => return failed("server_error", ERROR_MESSAGE),
        };
        event["response"]["usage"] = self.usage.map_or(
            Value::Null,
            |(input, output)| json!({"input_tokens": input, "output_tokens": output, "total_tokens": input + output}),
        );
        event
    }

    /// Returns what the reader must get.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for (item, index) in self.items.iter().zip(0..) {
            match item {
                Item::Message(content) => {
                    summary.text.extend(content.iter().map(|part| part.text().replace('\n', "")));
                    let cites = content.iter().any(|part| matches!(part, Content::Text { cites: true, .. }));
                    summary.sources.extend(cites.then(|| source(index)));
                }
                Item::Thinking { parts, secret, .. } => {
                    summary.thinking.push((item_id(index), parts.concat().replace('\n', "")));
                    summary.replay.extend(secret.then(|| format!("secret{index}")));
                }
                // The answer may have been cut off before the arguments.
                Item::Call { arguments, .. } if arguments.trim().is_empty() && self.end != End::Completed => {}
                Item::Call { name, arguments } => {
                    let input = if arguments.trim().is_empty() { "{}" } else { arguments.trim() }.to_owned();
                    summary.calls.push(Call { id: format!("gw-call_{index}"), name: name.clone(), input });
                }
                Item::Image => summary.data.push(("image/png".to_owned(), picture(index))),
            }
        }
        summary
    }
}

impl Content {
    pub fn text(&self) -> &str {
        let (Self::Text { text, .. } | Self::Refusal(text)) = self;
        text
    }

    fn whole(&self, index: u64) -> Value {
        match self {
            Self::Text { text, cites: false } => output_text(text),
            Self::Text { text, cites: true } => {
                with(output_text(text), &json!({"annotations": [citation(&source(index), "A page")]}))
            }
            Self::Refusal(text) => refusal_part(text),
        }
    }
}

impl Item {
    fn whole(&self, index: u64) -> Value {
        match self {
            Self::Message(content) => {
                let content: Vec<Value> = content.iter().map(|part| part.whole(index)).collect();
                message_of(index, &content)
            }
            Self::Thinking { spelling, parts, secret } => {
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                let (summary, raw) =
                    if spelling.contains("summary") { (&parts[..], &[][..]) } else { (&[][..], &parts[..]) };
                let secret = if *secret { json!({"encrypted_content": format!("secret{index}")}) } else { json!({}) };
                with(reasoning_item(index, summary, raw), &secret)
            }
            Self::Call { name, arguments } => call(index, &format!("call_{index}"), name, arguments),
            Self::Image => with(image(index), &json!({"result": picture(index)})),
        }
    }

    fn events(&self, index: u64, dice: &mut Dice) -> Vec<Value> {
        let mut events = Vec::new();
        match self {
            Self::Message(content) => {
                events.push(message_added(index));
                for (part, place) in content.iter().zip(0_u64..) {
                    let at = json!({"content_index": place});
                    let is_text = matches!(part, Content::Text { .. });
                    let delta = if is_text { text_delta } else { refusal_delta };
                    let done = if is_text { text_done } else { refusal_done };
                    events.push(with(part_added(index, &output_text("")), &at));
                    events.extend(dice.pieces(part.text()).iter().map(|piece| with(delta(index, piece), &at)));
                    if matches!(part, Content::Text { cites: true, .. }) {
                        events.push(with(annotation_added(index, &citation(&source(index), "A page")), &at));
                    }
                    events.push(with(done(index, part.text()), &at));
                    events.push(with(part_done(index, &part.whole(index)), &at));
                }
            }
            Self::Thinking { spelling, parts, .. } => {
                events.push(reasoning_added(index));
                for (part, place) in parts.iter().zip(0..) {
                    let pieces = dice.pieces(part);
                    events.extend(pieces.iter().map(|piece| thinking_delta(spelling, index, place, piece)));
                    events.push(thinking_done(spelling, index, place, part));
                }
            }
            Self::Call { name, arguments } => {
                events.push(call_added(index, &format!("call_{index}"), name));
                events.extend(dice.pieces(arguments).iter().map(|piece| args_delta(index, piece)));
                events.push(args_done(index, arguments));
            }
            Self::Image => {}
        }
        events.push(done(index, &self.whole(index)));
        events
    }
}

/// Imitates a gateway that restarts its numbering: neighbouring calls share a call id.
pub fn share_call_ids(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let number = fields.get("call_id").and_then(Value::as_str).and_then(|id| id.strip_prefix("call_"));
            if let Some(number) = number.and_then(|number| number.parse::<u64>().ok()) {
                fields.insert("call_id".to_owned(), json!(format!("call_{}", number / 2)));
            }
            fields.values_mut().for_each(share_call_ids);
        }
        Value::Array(list) => list.iter_mut().for_each(share_call_ids),
        _ => {}
    }
}

fn source(index: u64) -> String {
    format!("https://example.org/page-{index}-of-the-answer")
}

fn picture(index: u64) -> String {
    format!("iVBORw0KGgo{index}")
}
