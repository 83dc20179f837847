//! Decides whether an editor may use an address with a key, or has to ask its user first.

use super::{Consent, Endpoint};
use crate::message::{Message, MessageCode};

/// What is known about a key, or about using an address without one. The key itself stays in the shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyUse {
    /// Whether there is a key.
    pub has_key: bool,
    /// The origins that it may be sent to, because it was entered for them or the user agreed.
    pub origins: Vec<String>,
    /// Whether the environment names the address ([`EnvironmentEndpoint::must_confirm`](crate::EnvironmentEndpoint)).
    pub is_from_environment: bool,
}

/// Whether anything may be sent to an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Permission {
    /// It may be used.
    Granted,
    /// It may be used, and from now on the key belongs to its origin.
    FirstUse,
    /// The user has to agree first.
    MustAsk {
        /// What they have to agree to.
        question: Vec<Message>,
        /// The button that agrees.
        button: Message,
        /// What to say about the address until then.
        problem: Message,
    },
    /// Nothing can be sent there. The message says why.
    Refused(Message),
}

impl Endpoint {
    /// Decides whether a key may be sent here that wasn't just entered for this address.
    pub fn permission(&self, key: &KeyUse) -> Permission {
        let needed = match self.consent(key.has_key) {
            Consent::Refused(reason) => return Permission::Refused(reason),
            Consent::Needed(question) => Some(question),
            Consent::NotNeeded => None,
        };
        if self.is_loopback || key.origins.contains(&self.origin) {
            return Permission::Granted;
        }
        let about_key = if !key.has_key {
            None
        } else if !key.origins.is_empty() {
            Some(Message::new(MessageCode::KeyUsedElsewhere, [&key.origins.join(", "), &self.origin]))
        } else if key.is_from_environment {
            Some(Message::new(MessageCode::KeyForEnvironment, [&self.origin]))
        } else {
            None
        };
        if about_key.is_none() && needed.is_none() {
            return Permission::FirstUse;
        }
        let button = if key.has_key { MessageCode::SendKeyThere } else { MessageCode::UseThisAddress };
        Permission::MustAsk {
            question: about_key.into_iter().chain(needed).collect(),
            button: button.into(),
            problem: Message::new(MessageCode::AddressNotConfirmed, [&self.origin]),
        }
    }
}
