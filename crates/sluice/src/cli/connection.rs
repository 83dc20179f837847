//! Where to: the gateway with a key, another endpoint, or, without either, the embedded gateway.

use std::env;

use sluice::{ApiKey, Client, Timeouts};
use sluice_core::{Endpoint, VERCEL};
use sluice_simulator::server::{Config, Simulator};

use super::model_cache::ModelCache;
use super::output::tell;

/// A client, and the embedded gateway behind it if that is what it talks to.
pub struct Connection {
    pub client: Client,
    embedded: Option<Simulator>,
}

impl Connection {
    pub fn open() -> Result<Self, String> {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let base_url = set("SLUICE_BASE_URL");
        let key = set("AI_GATEWAY_API_KEY").or_else(|| set("VERCEL_OIDC_TOKEN"));
        let embedded = match (&base_url, &key) {
            (None, None) => {
                let simulator = Simulator::start(Config::default());
                Some(simulator.map_err(|error| format!("cannot start the embedded gateway: {error}"))?)
            }
            _ => None,
        };
        let address = match &embedded {
            Some(simulator) => simulator.url(),
            None => base_url.unwrap_or_else(|| VERCEL.to_owned()),
        };
        let endpoint = Endpoint::parse(&address).map_err(|bad| bad.0)?;
        let key = key.map(|key| ApiKey::for_origin(&key, &endpoint.origin));
        let client = Client::new(endpoint, key, Timeouts::default())?;
        if embedded.is_some() {
            tell!("No AI_GATEWAY_API_KEY is set: the embedded gateway serves, a demo on this machine.");
        }
        Ok(Self { client, embedded })
    }

    /// The embedded gateway has another address every time, and answers at once.
    pub fn model_cache(&self) -> ModelCache {
        if self.embedded.is_some() { ModelCache::none() } else { ModelCache::of(self.client.endpoint()) }
    }

    /// The model to use when none was named.
    pub fn default_model(&self) -> Option<&'static str> {
        self.embedded.as_ref().map(|_| "sluice/demo")
    }
}
