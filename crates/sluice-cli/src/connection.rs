//! Where requests go: the gateway with a key, another endpoint, or, without either, the embedded gateway.

use std::env;

use sluice_client::{ApiKey, Client, Timeouts};
use sluice_core::{Endpoint, VERCEL};
use sluice_simulator::server::{Config, Simulator};

use crate::model_cache::ModelCache;
use crate::output::tell;

/// The key for whatever endpoint `SLUICE_BASE_URL` names.
const OWN_KEY: &str = "SLUICE_API_KEY";
/// Keys for the Vercel AI Gateway, in order of preference. They are sent nowhere else: other programs use these
/// variables too, and a user who sets `SLUICE_BASE_URL` may not think of them.
const GATEWAY_KEYS: [&str; 2] = ["AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN"];

/// A client, and the embedded gateway if the client talks to it.
pub struct Connection {
    pub client: Client,
    embedded: Option<Simulator>,
}

impl Connection {
    pub fn open() -> Result<Self, String> {
        let base_url = variable("SLUICE_BASE_URL")?;
        let own_key = variable(OWN_KEY)?.map(|key| (OWN_KEY, key));
        let mut gateway_key = None;
        for name in GATEWAY_KEYS {
            gateway_key = gateway_key.or(variable(name)?.map(|key| (name, key)));
        }
        let embedded = if base_url.is_none() && own_key.is_none() && gateway_key.is_none() {
            let simulator = Simulator::start(Config::default());
            Some(simulator.map_err(|error| format!("cannot start the embedded gateway: {error}"))?)
        } else {
            None
        };
        let address = match &embedded {
            Some(simulator) => simulator.url(),
            None => base_url.unwrap_or_else(|| VERCEL.to_owned()),
        };
        let parse = |address: &str| Endpoint::parse(address).map_err(|error| error.to_string());
        let (endpoint, gateway) = (parse(&address)?, parse(VERCEL)?);
        let key = match (own_key, gateway_key) {
            (Some(key), _) => Some(key),
            (None, Some((name, _))) if endpoint.origin != gateway.origin => {
                tell!(
                    "sluice: {name} is not sent to {}, only to {}. To send a key, set {OWN_KEY}.",
                    endpoint.origin,
                    gateway.origin
                );
                None
            }
            (None, key) => key,
        };
        let key = key
            .map(|(name, key)| ApiKey::for_origin(&key, &endpoint.origin).map_err(|error| format!("{name}: {error}")));
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
