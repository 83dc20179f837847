//! Decides whether a key is valid, by the response to a request for the credit that is left.

use serde::Serialize;
use serde_json::Value;

use crate::boundary::{Dollars, Failure, FailureKind};
use crate::failure::HttpResponse;
use crate::message::{Message, MessageCode};
use crate::receive::plain_line;

/// What a response says about a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct KeyCheck {
    /// Whether the key is valid.
    pub state: KeyState,
    /// The same for the user, sentence by sentence.
    pub text: Vec<Message>,
    /// How much credit is left, if the server says so in dollars.
    pub credit: Option<Credit>,
}

/// The credit of an account, as its server reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Credit {
    /// How much is left, in US dollars.
    #[cfg_attr(test, ts(type = "number"))]
    pub left: Dollars,
    /// How much was used in total, by everybody who uses the account.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub used: Option<Dollars>,
    /// The same for the user.
    pub text: Message,
}

impl Credit {
    fn read(body: &Value) -> Option<Self> {
        let amount = |name: &str| match body.get(name)? {
            Value::String(text) => Dollars::parse(text),
            Value::Number(number) => Dollars::from_f64(number.as_f64()?),
            _ => None,
        };
        let (left, used) = (amount("balance")?, amount("total_used"));
        let text = match used {
            Some(used) => Message::new(MessageCode::CreditLeftAndUsed, [&left, &used]),
            None => Message::new(MessageCode::CreditLeft, [&left]),
        };
        Some(Self { left, used, text })
    }
}

/// Whether a key is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum KeyState {
    /// The server accepts the key.
    Accepted,
    /// The server refuses the key.
    Refused,
    /// The server doesn't say.
    Unknown,
}

/// Reads the response to [`ModelCatalog::credits_request`](crate::ModelCatalog::credits_request). Not every server has
/// that address.
pub fn check_key(response: &HttpResponse, now: u64) -> KeyCheck {
    match response.status {
        200 => {
            let body: Value = serde_json::from_str(&response.body).unwrap_or_default();
            let credit = match body.get("balance") {
                Some(Value::String(credit)) => Some(plain_line(credit, 20)),
                Some(Value::Number(credit)) => Some(plain_line(&credit.to_string(), 20)),
                _ => None,
            };
            let text = match credit {
                Some(credit) => Message::new(MessageCode::KeyAcceptedCredit, [&credit]),
                None => MessageCode::KeyAccepted.into(),
            };
            KeyCheck { state: KeyState::Accepted, text: vec![text], credit: Credit::read(&body) }
        }
        status => {
            let failure = Failure::from_http(response, now);
            let (state, text) = match (failure.kind, status) {
                // Not every server says so with status 401.
                (FailureKind::SignIn, _) => (KeyState::Refused, failure.text),
                // These are about the credit, or about this request.
                (_, 402 | 403) => (KeyState::Unknown, failure.text),
                _ => (KeyState::Unknown, vec![Message::new(MessageCode::KeyNotChecked, [&status])]),
            };
            KeyCheck { state, text, credit: None }
        }
    }
}
