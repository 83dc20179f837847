//! Lists the models of an endpoint: `cargo run -p sluice-client --example models -- https://ai-gateway.vercel.sh/v1`.
//!
//! Without an address, the embedded gateway lists its own.

use std::env;
use std::error::Error;
use std::time::{SystemTime, UNIX_EPOCH};

use sluice_client::core::{Endpoint, ModelCatalog, ModelSettings, Refresh};
use sluice_client::{Client, Timeouts};
use sluice_simulator::server::{Config, Simulator};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let demo = Simulator::start(Config::default())?;
    let endpoint = Endpoint::parse(&env::args().nth(1).unwrap_or_else(|| demo.url()))?;
    let client = Client::new(endpoint, None, Timeouts::default())?;
    let mut catalog = ModelCatalog::new(client.endpoint());
    if let Refresh::Kept(note) = client.refresh_models(&mut catalog).await {
        return Err(note.detail.into());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    for model in catalog.models(&ModelSettings::default(), now).models {
        println!("{:40} {}", model.id, model.detail);
    }
    Ok(())
}
