//! Where requests go: to a profile's endpoint, to the one that the environment names, or to the embedded gateway.

use std::collections::BTreeMap;
use std::env;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use sluice_client::{ApiKey, Client, Timeouts};
use sluice_core::{
    Consent, Endpoint, Environment, EnvironmentEndpoint, KEY_VARIABLES, ModelCatalog, ModelSettings, Parameter,
    Refresh, header_problem,
};
use sluice_simulator::server::{Config, Simulator};

use crate::model_cache::ModelCache;
use crate::output::tell;
use crate::profile::{self, Profile, Profiles};

/// What the arguments say about the endpoint.
pub struct Selection {
    pub profile: Option<String>,
    /// Headers to send in this run, to the endpoint that is selected.
    pub headers: BTreeMap<String, String>,
}

impl Selection {
    /// Reads headers such as `x-team: blue`. A value may be a secret, so no message contains one.
    pub fn new(profile: Option<&str>, headers: &[String]) -> Result<Self, String> {
        let mut read = BTreeMap::new();
        for header in headers {
            let (name, value) = header.split_once(':').ok_or("a header is written as --header 'NAME: VALUE'")?;
            let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
            if let Some(problem) = header_problem(&name, value) {
                return Err(problem.to_string());
            }
            read.insert(name, value.to_owned());
        }
        Ok(Self { profile: profile.map(str::to_owned), headers: read })
    }
}

/// A client, and the embedded gateway if the client talks to it.
pub struct Connection {
    pub client: Client,
    embedded: Option<Simulator>,
    /// The model of the profile.
    model: Option<String>,
}

impl Connection {
    /// Opens the connection of a profile. Without one, the environment decides, then the default profile.
    pub fn open(selection: &Selection) -> Result<Self, String> {
        let connection = Self::open_quietly(selection)?;
        if connection.is_embedded() {
            tell!("No AI_GATEWAY_API_KEY is set, so the embedded gateway answers: a demo on this machine.");
        }
        Ok(connection)
    }

    /// Does the same without saying that the embedded gateway answers.
    pub fn open_quietly(selection: &Selection) -> Result<Self, String> {
        Ok(Self::find(selection.profile.as_deref())?.with_headers(&selection.headers))
    }

    fn find(profile: Option<&str>) -> Result<Self, String> {
        if let Some(name) = profile {
            let profiles = Profiles::load()?.profiles;
            let missing = || format!("there is no profile {name:?}; `sluice profiles` lists them");
            return Self::of_profile(profiles.get(name).ok_or_else(missing)?);
        }
        if let Some(connection) = Self::of_environment(variable("SLUICE_BASE_URL")?, |_| true)? {
            return Ok(connection);
        }
        if let Some(profile) = Profiles::load()?.profiles.get(profile::DEFAULT) {
            return Self::of_profile(profile);
        }
        let simulator = Simulator::start(Config::default());
        let simulator = simulator.map_err(|error| format!("cannot start the embedded gateway: {error}"))?;
        let endpoint = Endpoint::parse(&simulator.url()).map_err(|error| error.to_string())?;
        Ok(Self { client: client(endpoint, None)?, embedded: Some(simulator), model: None })
    }

    /// Opens a connection to an address. A key goes to the origin that it was entered or set for only.
    pub fn open_at(address: &str, selection: &Selection) -> Result<Self, String> {
        Ok(Self::find_at(address)?.with_headers(&selection.headers))
    }

    fn find_at(address: &str) -> Result<Self, String> {
        let confirmed = Endpoint::parse_confirmed(address).map_err(|error| error.to_string())?;
        let is_here = |profile: &Profile| profile.endpoint().is_ok_and(|endpoint| endpoint.origin == confirmed.origin);
        if let Some(profile) = Profiles::load()?.profiles.into_values().find(is_here) {
            return Self::of_profile(&Profile { base_url: address.to_owned(), ..profile });
        }
        let usual = Environment { base_url: variable("SLUICE_BASE_URL")?, keys: Vec::new(), default_base_url: None };
        let usual = usual.endpoint().ok().flatten().map(|found| found.endpoint.origin);
        // `SLUICE_API_KEY` is meant for the endpoint in `SLUICE_BASE_URL`.
        let may_use = |name: &str| name != "SLUICE_API_KEY" || usual.as_ref() == Some(&confirmed.origin);
        let connection = Self::of_environment(Some(address.to_owned()), may_use)?;
        connection.ok_or_else(|| format!("{address} can't be used"))
    }

    /// Headers of the arguments take precedence over those of the profile.
    fn with_headers(self, headers: &BTreeMap<String, String>) -> Self {
        Self { client: self.client.with_headers(headers.clone()), ..self }
    }

    fn of_profile(profile: &Profile) -> Result<Self, String> {
        let endpoint = profile.endpoint()?;
        let key = profile.key_for(&endpoint)?;
        let headers = profile.headers_for(&endpoint);
        let client = client(endpoint, key)?.with_headers(headers);
        Ok(Self { client, embedded: None, model: profile.model.clone() })
    }

    /// Returns nothing if no variable is set. `may_use` says which variables count.
    fn of_environment(base_url: Option<String>, may_use: impl Fn(&str) -> bool) -> Result<Option<Self>, String> {
        let mut keys = BTreeMap::new();
        for name in KEY_VARIABLES.into_iter().filter(|name| may_use(name)) {
            keys.extend(variable(name)?.map(|key| (name.to_owned(), key)));
        }
        let address = base_url.clone().unwrap_or_default();
        let environment = Environment { base_url, keys: keys.keys().cloned().collect(), default_base_url: None };
        let found = environment.endpoint().map_err(|error| error.to_string())?;
        let Some(EnvironmentEndpoint { endpoint, key, withheld, .. }) = found else { return Ok(None) };
        if let Consent::Needed(message) = endpoint.consent(true) {
            return Err(format!("{message} Use https, or agree to that with `sluice login --profile NAME {address}`."));
        }
        if let Some(message) = withheld {
            tell!("sluice: {message}");
        }
        let key = key
            .and_then(|name| keys.get_key_value(name))
            .map(|(name, key)| ApiKey::for_origin(key, &endpoint.origin).map_err(|error| format!("{name}: {error}")));
        Ok(Some(Self { client: client(endpoint, key.transpose()?)?, embedded: None, model: None }))
    }

    /// Returns whether the embedded gateway answers. It has another address every time.
    pub fn is_embedded(&self) -> bool {
        self.embedded.is_some()
    }

    /// The embedded gateway responds immediately, so its models aren't cached.
    pub fn model_cache(&self) -> ModelCache {
        if self.is_embedded() { ModelCache::none() } else { ModelCache::of(self.client.endpoint()) }
    }

    /// Returns the ids of the endpoint's models. If no list is stored, it is fetched in the background, and there are no
    /// ids until it has arrived.
    pub fn known_models(&self) -> Arc<Mutex<Vec<String>>> {
        let cache = self.model_cache();
        let (catalog, _) = cache.load(self.client.endpoint());
        let known = Arc::new(Mutex::new(ids(&catalog)));
        let (client, fetched) = (self.client.clone(), Arc::clone(&known));
        if ids(&catalog).is_empty() {
            tokio::spawn(async move {
                let ids = fetched_models(&client, &cache).await;
                *fetched.lock().unwrap_or_else(PoisonError::into_inner) = ids;
            });
        }
        known
    }

    /// Remembers what an answer or a test has shown about a model, so that the next run knows it.
    pub fn learn(&self, model: &str, refused: &[Parameter], overflow: Option<&str>) {
        if refused.is_empty() && overflow.is_none() {
            return;
        }
        let cache = self.model_cache();
        let (mut catalog, _) = cache.load(self.client.endpoint());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if catalog.learn_from(model, refused, overflow, now)
            && let Err(problem) = cache.save(&catalog)
        {
            tell!("sluice: {problem}");
        }
    }

    /// The model to use if none is specified.
    pub fn default_model(&self) -> Option<String> {
        self.model.clone().or_else(|| self.embedded.as_ref().map(|_| "sluice/demo".to_owned()))
    }
}

/// Returns the ids of an endpoint's models. The list is stored if it had to be fetched.
pub async fn fetched_models(client: &Client, cache: &ModelCache) -> Vec<String> {
    let (mut catalog, _) = cache.load(client.endpoint());
    if ids(&catalog).is_empty() && !matches!(client.refresh_models(&mut catalog).await, Refresh::Kept(_)) {
        // A list that can't be stored is fetched again the next time.
        let _ = cache.save(&catalog);
    }
    ids(&catalog)
}

fn ids(catalog: &ModelCatalog) -> Vec<String> {
    catalog.models(&ModelSettings::default(), 0).models.into_iter().map(|model| model.id).collect()
}

fn client(endpoint: Endpoint, key: Option<ApiKey>) -> Result<Client, String> {
    Client::new(endpoint, key, Timeouts::default()).map_err(|error| error.to_string())
}

/// The value of an environment variable, unless it is unset or blank.
fn variable(name: &str) -> Result<Option<String>, String> {
    match env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.trim().is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => Err(format!("{name} is not valid UTF-8; set it again")),
    }
}
