//! Where the connections of an editor come from: a sign-in, the environment, the keys that the user entered, or a group in VS
//! Code's Manage Models. This decides which endpoint and which key belong together. [`Endpoint::permission`] then decides
//! whether anything may be sent there.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::environment::{Environment, EnvironmentEndpoint};
use crate::keys::{KeptKey, read_keys};
use crate::message::{Message, MessageCode};
use crate::send::{BadAddress, Endpoint};

/// What connections can come from. The only keys in here are the stored ones; all others stay in the shell.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Sources {
    /// The base URL in the user's settings.
    pub base_url: String,
    /// The keys that the user entered, as the shell has stored them.
    pub stored_keys: String,
    /// The sign-in, if the user is signed in.
    pub sign_in: Option<SignInSource>,
    /// The environment of the editor.
    pub environment: Environment,
    /// The group in Manage Models that the question is about. Without it, the question is about everything else.
    pub group: Option<GroupSource>,
}

/// A sign-in with the Vercel CLI.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SignInSource {
    /// For whom.
    pub label: String,
    /// The origin that the token is for.
    pub origin: String,
}

/// A group in Manage Models. VS Code also makes groups without an address and a key, to keep what the user chose in its picker.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct GroupSource {
    /// The address that the user entered.
    pub base_url: Option<String>,
    /// Whether the user entered a key, if they were asked for one.
    pub has_key: Option<bool>,
}

/// A connection before it is permitted.
#[derive(Debug, PartialEq, Eq)]
pub struct ConnectionSource {
    /// The name that the user sees.
    pub label: Message,
    /// Where it leads, or why it can't be used.
    pub endpoint: Result<Endpoint, Message>,
    /// Which key belongs to it.
    pub key: SourceKey,
    /// Where a new key goes, unless the key is in the environment or a sign-in.
    pub kept: Option<KeptKey>,
    /// Whether the user has entered the key for this address in a dialog of ours.
    pub is_confirmed: bool,
    /// Whether the environment has chosen the address, so that the user has to confirm it.
    pub is_from_environment: bool,
    /// A warning for the log.
    pub warning: Option<Message>,
}

/// Where a key is.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum SourceKey {
    /// There is none.
    #[default]
    None,
    /// It is the token of the sign-in.
    SignIn,
    /// It is this one.
    Text(String),
    /// It is the one of the group.
    Group,
    /// It is in this environment variable.
    #[cfg_attr(test, ts(type = "string"))]
    Variable(&'static str),
}

/// Leaves out the key.
impl fmt::Debug for SourceKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("None"),
            Self::SignIn => formatter.write_str("SignIn"),
            Self::Text(_) => formatter.write_str("Text"),
            Self::Group => formatter.write_str("Group"),
            Self::Variable(name) => formatter.debug_tuple("Variable").field(name).finish(),
        }
    }
}

impl ConnectionSource {
    fn new(label: Message, endpoint: Result<Endpoint, BadAddress>, key: SourceKey) -> Self {
        Self {
            label,
            endpoint: endpoint.map_err(|BadAddress(problem)| problem),
            key,
            kept: None,
            is_confirmed: false,
            is_from_environment: false,
            warning: None,
        }
    }
}

impl Sources {
    /// Returns the connections in the order in which their models are listed. `fingerprint` is that of the group's key, or of no
    /// key.
    pub fn connections(&self, fingerprint: &str) -> Vec<ConnectionSource> {
        let keys = read_keys(&self.stored_keys);
        match &self.group {
            Some(GroupSource { base_url: None, has_key: None }) => return Vec::new(),
            Some(group) => return vec![self.of_group(group, fingerprint, &keys)],
            None => {}
        }
        // A user who is signed in doesn't need a key in the environment.
        let first = match &self.sign_in {
            Some(sign_in) => Some(self.of_sign_in(sign_in)),
            None => self.of_environment(),
        };
        let kept = keys.into_iter().filter(|key| key.replaces.is_none()).map(|key| {
            let endpoint = Endpoint::parse_confirmed(&key.base_url);
            let source = ConnectionSource::new(named(&key.name), endpoint, text(&key));
            ConnectionSource { is_confirmed: true, kept: Some(key), ..source }
        });
        first.into_iter().chain(kept).collect()
    }

    /// A key that replaces the one of a group is kept with the fingerprint of the old one.
    fn of_group(&self, group: &GroupSource, fingerprint: &str, keys: &[KeptKey]) -> ConnectionSource {
        let address = group.base_url.as_deref().filter(|address| !address.trim().is_empty()).unwrap_or(&self.base_url);
        let endpoint = match Endpoint::parse_confirmed(address) {
            Ok(endpoint) => endpoint,
            Err(problem) => {
                return ConnectionSource::new(MessageCode::ManageModels.into(), Err(problem), SourceKey::None);
            }
        };
        let is_replacement =
            |key: &&KeptKey| key.replaces.as_deref() == Some(fingerprint) && key.base_url == endpoint.base_url;
        let replacement = keys.iter().find(is_replacement).cloned();
        let name = endpoint.host().to_owned();
        let entered = if group.has_key == Some(true) { SourceKey::Group } else { SourceKey::None };
        let key = replacement.as_ref().map(text).filter(|key| *key != SourceKey::None).unwrap_or(entered);
        let base_url = endpoint.base_url.clone();
        let replaces = Some(fingerprint.to_owned());
        let source = ConnectionSource::new(named(&name), Ok(endpoint), key);
        let is_confirmed = replacement.is_some();
        let kept = replacement.unwrap_or(KeptKey { name, base_url, key: None, replaces });
        ConnectionSource { is_confirmed, kept: Some(kept), ..source }
    }

    /// The token is for the address that it was created for.
    fn of_sign_in(&self, SignInSource { label, origin }: &SignInSource) -> ConnectionSource {
        let endpoint = Endpoint::parse_confirmed(&self.base_url).and_then(|endpoint| {
            if endpoint.origin == *origin {
                Ok(endpoint)
            } else {
                Err(BadAddress(Message::new(MessageCode::SignedInElsewhere, [origin, &endpoint.origin])))
            }
        });
        ConnectionSource::new(named(label), endpoint, SourceKey::SignIn)
    }

    /// A server on this machine may need no key. Elsewhere, a key that is set but isn't for that address is a problem.
    fn of_environment(&self) -> Option<ConnectionSource> {
        let label = MessageCode::EnvironmentLabel.into();
        let EnvironmentEndpoint { endpoint, key, withheld, must_confirm } = match self.environment.endpoint() {
            Ok(found) => found?,
            Err(problem) => return Some(ConnectionSource::new(label, Err(problem), SourceKey::None)),
        };
        let problem = withheld.clone().filter(|_| !endpoint.is_loopback);
        let endpoint = problem.map_or(Ok(endpoint), |problem| Err(BadAddress(problem)));
        let is_from_environment = must_confirm && key.is_some();
        let source = ConnectionSource::new(label, endpoint, key.map_or(SourceKey::None, SourceKey::Variable));
        Some(ConnectionSource { is_from_environment, warning: withheld, ..source })
    }
}

/// Returns the key that the user has entered for a server, if it needs one.
fn text(kept: &KeptKey) -> SourceKey {
    kept.key.clone().map_or(SourceKey::None, SourceKey::Text)
}

fn named(name: &str) -> Message {
    Message::new(MessageCode::Plain, [&name])
}
