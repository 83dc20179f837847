//! The connections of an editor and the rounds in which it lists their models, as they cross to a shell.

use serde::{Deserialize, Serialize};

use super::dialogs::{Dialog, DialogConnection, DialogLevel};
use super::questions::LogLevel;
use crate::keys::KeptKey;
use crate::message::Message;
use crate::send::Endpoint;
use crate::sources::{SourceKey, Sources};

/// Work on connections. A shell does one after the other, because each may change the origins that keys belong to.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ConnectionTask {
    /// Find the connections of these sources, and decide which of them can be used.
    Find(Box<Sources>),
    /// Return the gateway inside the editor.
    Demo,
    /// Return a connection with a key that isn't kept yet. The user has just entered the key for this address, and agreed to
    /// use it.
    Enter(KeptKey),
    /// The user has agreed to the [question](FoundConnection::question) of the connection with this id.
    Confirm(String),
    /// Return the origins that a key may be sent to, or those that may be used without a key.
    Origins(Option<String>),
}

/// What came of work on connections.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ConnectionResult {
    /// The connections in the order in which their models are listed.
    pub found: Vec<FoundConnection>,
    /// See [`ConnectionTask::Origins`].
    pub origins: Vec<String>,
    /// Lines for the log.
    pub log: Vec<(LogLevel, String)>,
}

/// A connection that can be used, unless it has a problem.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FoundConnection {
    /// What dialogs show of it.
    #[serde(flatten)]
    pub shown: DialogConnection,
    /// Identifies the server and the key. Empty if there is no such thing.
    pub id: String,
    /// Where it leads, unless there is a problem.
    pub endpoint: Option<Endpoint>,
    /// Which key belongs to it.
    pub key: SourceKey,
    /// Whether it is the gateway inside the editor.
    pub is_demo: bool,
    /// Whether the key isn't kept yet, because it is being checked.
    pub is_trial: bool,
    /// What the user has to agree to before it can be used.
    pub question: Option<AddressQuestion>,
    /// The same as a notification, when there was none yet.
    pub notice: Option<AddressQuestion>,
}

/// A question about an address. Its button agrees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AddressQuestion {
    /// How urgent it is.
    pub level: DialogLevel,
    /// What it says.
    pub text: Vec<Message>,
    /// The button.
    pub buttons: Vec<Message>,
}

/// Something that happens while an editor asks for models. It asks in rounds: once for all connections that belong to no group
/// in Manage Models, and then once for each group.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum RoundEvent {
    /// A round begins.
    Began,
    /// The connections that belong to no group have listed their models.
    Ungrouped(Vec<RoundList>),
    /// A group has listed its models.
    Group(RoundList),
    /// If there are groups, they have listed their models by now.
    GroupsDue,
}

/// The models of a connection.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RoundList {
    /// The name of the connection.
    pub label: String,
    /// Its models.
    pub models: Vec<RoundModel>,
}

/// A model of a connection.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RoundModel {
    /// The server's id.
    pub id: String,
    /// The name that the user sees.
    pub name: String,
    /// See [`ChatModel::is_default`](crate::ChatModel::is_default).
    pub is_default: bool,
}

/// What a shell does after a [`RoundEvent`].
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RoundView {
    /// VS Code's id and the name of each model, in the order of the event.
    pub names: Vec<(String, String)>,
    /// The model of the demo that is listed too, by its id.
    pub demo: Option<String>,
    /// Whether the user can choose the demo. A chat may be using it while it is hidden.
    pub is_demo_offered: bool,
    /// Whether to send [`RoundEvent::GroupsDue`] after a second.
    pub awaits_groups: bool,
    /// Whether another round is needed.
    pub must_repeat: bool,
    /// Dialogs that each user sees only once, with the names under which that is remembered.
    pub dialogs: Vec<(&'static str, Dialog)>,
}
