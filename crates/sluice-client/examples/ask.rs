//! Prints an answer as it arrives: `cargo run -p sluice-client --example ask -- "How does a sluice work?"`.
//!
//! With `AI_GATEWAY_API_KEY` set, a model of the Vercel AI Gateway answers; without it, the embedded gateway's demo.

use std::env;
use std::error::Error;
use std::future::pending;
use std::io::{Write, stdout};

use sluice_client::core::{ChatMessage, ChatRequest, Ending, Endpoint, Output, Part, VERCEL};
use sluice_client::{ApiKey, Client, Event, Timeouts};
use sluice_simulator::server::{Config, Simulator};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let question = env::args().nth(1).unwrap_or_else(|| "Who are you?".to_owned());
    let key = env::var("AI_GATEWAY_API_KEY").ok();
    let demo = Simulator::start(Config::default())?;
    let (address, model) =
        if key.is_some() { (VERCEL.to_owned(), "openai/gpt-5-mini") } else { (demo.url(), "sluice/demo") };
    let endpoint = Endpoint::parse(&address)?;
    let key = key.map(|key| ApiKey::for_origin(&key, &endpoint.origin)).transpose()?;
    let client = Client::new(endpoint, key, Timeouts::default())?;

    let messages = vec![ChatMessage::user(question)];
    let chat = ChatRequest { model: model.to_owned(), messages, ..ChatRequest::default() };
    let report = client
        .respond(&chat, pending(), &mut |event| match event {
            Event::Output(Output::Part(Part::Text { value })) => {
                print!("{value}");
                let _ = stdout().flush();
            }
            Event::Retrying { failure, delay, .. } => eprintln!("{failure} Trying again in {delay:.1?}."),
            _ => {}
        })
        .await;
    println!();
    match report.ending {
        Ending::Rejected { message, .. } => Err(message.into()),
        _ => Ok(()),
    }
}
