//! The readers that are compared, each of which gets the same chunks: Sluice, and what a Rust program would otherwise
//! use, `eventsource-stream` and serde_json with `async-openai`'s types. The latter only decodes, while Sluice also
//! assembles the answer, so the comparison favours the other side.

use std::convert::Infallible;

use async_openai::types::responses::{OutputItem, ResponseStreamEvent};
use eventsource_stream::Eventsource;
use futures::{StreamExt, executor::block_on, stream};
use sluice_core::{BodyEnd, Output, Part, ResponseStream, StreamOptions};

use crate::corpus::{Answer, Call, Corpus};

/// Reads a whole body and passes every output to `each`.
pub fn sluice(chunks: &[&[u8]], mut each: impl FnMut(Output)) {
    let mut stream = ResponseStream::new(StreamOptions::default());
    for chunk in chunks {
        for output in stream.push(chunk) {
            each(output);
        }
    }
    let (outputs, _outcome) = stream.finish(BodyEnd::Eof);
    outputs.into_iter().for_each(each);
}

/// Reads a whole body and passes every typed event to `each`.
pub fn async_openai(chunks: &[&[u8]], mut each: impl FnMut(ResponseStreamEvent)) {
    let body = stream::iter(chunks.iter().map(Ok::<_, Infallible>));
    block_on(body.eventsource().for_each(|event| {
        let event = event.expect("a well-formed stream");
        each(serde_json::from_str(&event.data).expect("an event of the schema"));
        std::future::ready(())
    }));
}

/// Returns which reader doesn't get the expected contents out of the corpus.
pub fn check(corpus: &Corpus, chunks: &[&[u8]]) -> Result<(), String> {
    check_sluice(corpus, chunks)?;
    let mut answer = Answer::default();
    async_openai(chunks, |event| match event {
        ResponseStreamEvent::ResponseOutputTextDelta(event) => answer.text.push_str(&event.delta),
        ResponseStreamEvent::ResponseOutputItemDone(event) => {
            if let OutputItem::FunctionCall(call) = event.item {
                answer.calls.push(Call { call_id: call.call_id, name: call.name, arguments: call.arguments });
            }
        }
        _ => {}
    });
    compare("async-openai", &answer, corpus)
}

pub fn check_sluice(corpus: &Corpus, chunks: &[&[u8]]) -> Result<(), String> {
    let mut answer = Answer::default();
    sluice(chunks, |output| match output {
        Output::Part(Part::Text { value }) => answer.text.push_str(&value),
        Output::Part(Part::ToolCall { call_id, name, input_json }) => {
            // Our ids have a prefix; see the core's call_id.rs.
            let call_id = call_id.trim_start_matches("gw-").to_owned();
            answer.calls.push(Call { call_id, name, arguments: input_json });
        }
        _ => {}
    });
    compare("sluice", &answer, corpus)
}

fn compare(reader: &str, answer: &Answer, corpus: &Corpus) -> Result<(), String> {
    if *answer == corpus.truth {
        return Ok(());
    }
    Err(format!(
        "{reader} reads the {} corpus wrongly: {} bytes of text and {} calls instead of {} and {}",
        corpus.name,
        answer.text.len(),
        answer.calls.len(),
        corpus.truth.text.len(),
        corpus.truth.calls.len()
    ))
}
