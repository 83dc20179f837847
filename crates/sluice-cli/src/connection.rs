//! Where requests go: the gateway with a key, another endpoint, or, without either, the embedded gateway.

use std::collections::BTreeMap;
use std::env;

use sluice_client::{ApiKey, Client, Timeouts};
use sluice_core::{Endpoint, Environment, EnvironmentEndpoint, KEY_VARIABLES};
use sluice_simulator::server::{Config, Simulator};

use crate::model_cache::ModelCache;
use crate::output::tell;

/// A client, and the embedded gateway if the client talks to it.
pub struct Connection {
    pub client: Client,
    embedded: Option<Simulator>,
}

impl Connection {
    pub fn open() -> Result<Self, String> {
        let base_url = variable("SLUICE_BASE_URL")?;
        let mut keys = BTreeMap::new();
        for name in KEY_VARIABLES {
            keys.extend(variable(name)?.map(|key| (name.to_owned(), key)));
        }
        let environment = Environment { base_url, keys: keys.keys().cloned().collect(), default_base_url: None };
        let found = environment.endpoint().map_err(|error| error.to_string())?;
        let (endpoint, key, embedded) = match found {
            Some(EnvironmentEndpoint { endpoint, key, withheld, .. }) => {
                if let Some(message) = withheld {
                    tell!("sluice: {message}");
                }
                (endpoint, key.and_then(|name| keys.get_key_value(name)), None)
            }
            None => {
                let simulator = Simulator::start(Config::default());
                let simulator = simulator.map_err(|error| format!("cannot start the embedded gateway: {error}"))?;
                (Endpoint::parse(&simulator.url()).map_err(|error| error.to_string())?, None, Some(simulator))
            }
        };
        let key = key
            .map(|(name, key)| ApiKey::for_origin(key, &endpoint.origin).map_err(|error| format!("{name}: {error}")));
        let client = Client::new(endpoint, key.transpose()?, Timeouts::default());
        let client = client.map_err(|error| error.to_string())?;
        if embedded.is_some() {
            tell!("No AI_GATEWAY_API_KEY is set, so the embedded gateway answers: a demo on this machine.");
        }
        Ok(Self { client, embedded })
    }

    /// The embedded gateway has another address every time and responds immediately.
    pub fn model_cache(&self) -> ModelCache {
        if self.embedded.is_some() { ModelCache::none() } else { ModelCache::of(self.client.endpoint()) }
    }

    /// The model to use if none is specified.
    pub fn default_model(&self) -> Option<&'static str> {
        self.embedded.as_ref().map(|_| "sluice/demo")
    }
}

/// The value of an environment variable, unless it is unset or blank.
fn variable(name: &str) -> Result<Option<String>, String> {
    match env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.trim().is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => Err(format!("{name} is not valid UTF-8; set it again")),
    }
}
