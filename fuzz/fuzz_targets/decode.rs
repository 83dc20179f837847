//! Reads any text as the data of one event with any name. There is no panic, and nothing but that event can end the
//! stream.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice_core::{BodyEnd, ResponseStream, Status, StreamOptions};

fuzz_target!(|input: (String, String)| {
    let (name, data) = input;
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    let mut body = format!("event: {name}\n");
    data.split(['\n', '\r']).for_each(|line| body.push_str(&format!("data: {line}\n")));
    body.push('\n');
    let mut stream = ResponseStream::new(StreamOptions { trace: true, ..StreamOptions::default() });
    stream.push(body.as_bytes());
    let ended = stream.is_terminal();
    let (_, outcome) = stream.finish(BodyEnd::Eof);
    assert!(ended || outcome.status == Status::Truncated);
    assert!(outcome.status != Status::Completed || body.contains("response.completed"));
});
