//! Reads a stream of one kind of event, for counting the instructions of the hot path: `cargo xtask bench --instructions`.
//!
//! `read_stream KIND EVENTS ROUNDS` reads the same stream several times, so that the cost of generating it can be subtracted.
//! KIND is `text`, `paced` or `arguments`. The events look like OpenAI's. Prints the time that one event took.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a tool for the command line that takes times"
)]

use std::env;
use std::fmt::Write as _;
use std::time::Instant;

use sluice_core::{Action, Exchange, ExchangeOptions, Output, Pace};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [kind, count, rounds] = arguments.as_slice() else { panic!("read_stream KIND EVENTS ROUNDS") };
    let [count, rounds]: [u32; 2] = [count, rounds].map(|number| number.parse().expect("a number"));
    let body = if kind == "arguments" { call(count) } else { text(count) };
    let pace = if kind == "paced" { Pace::ChatView } else { Pace::Immediate };
    let started = Instant::now();
    let mut parts = 0;
    for _ in 0..rounds {
        let mut exchange = Exchange::reading(ExchangeOptions { pace, ..ExchangeOptions::default() });
        for (now, chunk) in (0..).zip(body.as_bytes().chunks(16 << 10)) {
            exchange.handle_bytes(chunk);
            while let Action::Output(output) = exchange.poll(now) {
                parts += u32::from(matches!(output, Output::Part(_)));
            }
        }
    }
    println!("{parts} parts, {} ns for each event", started.elapsed().as_nanos() / u128::from(count * rounds));
}

fn text(count: u32) -> String {
    let mut body = String::new();
    for n in 0..count {
        let word = ["the", "gate", "keeps", "the", "water", "level"][n as usize % 6];
        let (name, id) = ("response.output_text.delta", "msg_68a3f1c2d4e88191a7b6c5d4e3f2a1b0");
        write!(
            body,
            "event: {name}\ndata: {{\"type\":\"{name}\",\"sequence_number\":{n},\"item_id\":\"{id}\",\
             \"output_index\":0,\"content_index\":0,\"delta\":\" {word}\",\"logprobs\":[],\"obfuscation\":\"aQx7Lm9\"}}\n\n"
        )
        .expect("memory");
    }
    body
}

fn call(count: u32) -> String {
    let item = "{\"id\":\"fc_1\",\"type\":\"function_call\",\"status\":\"in_progress\",\"arguments\":\"\",\"call_id\":\"call_1\",\"name\":\"write\"}";
    let mut body = format!(
        "data: {{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{item}}}\n\n\
         data: {{\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_1\",\"output_index\":0,\"delta\":\"{{\\\"text\\\":\\\"\"}}\n\n"
    );
    for n in 0..count {
        let word = ["the", "gate", "keeps", "the", "water", "level"][n as usize % 6];
        let name = "response.function_call_arguments.delta";
        write!(
            body,
            "event: {name}\ndata: {{\"type\":\"{name}\",\"sequence_number\":{n},\"item_id\":\"fc_1\",\
             \"output_index\":0,\"delta\":\" {word}\\n\",\"obfuscation\":\"aQx7Lm9\"}}\n\n"
        )
        .expect("memory");
    }
    body
}
