//! Dialogs with the user of an editor, as they cross to a shell. [`DialogWork`](crate::DialogWork) describes them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::spending::{LimitState, SpendChoice};
use crate::keys::KeptKey;
use crate::message::{Message, MessageCode};
use crate::vercel::{VercelProject, VercelTask, VercelTeam};

/// A dialog that a shell can start.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Dialog {
    /// The user wants to refresh the lists of models.
    RefreshModels,
    /// The user wants to test a connection.
    TestConnection,
    /// A connection can't be used. This says why, in the user's language.
    ConnectionProblem(String),
    /// A setting can't work.
    SettingProblem {
        /// Its name, without `sluice.`.
        setting: String,
        /// What is wrong with it.
        message: Message,
        /// How many other problems there are.
        others: usize,
    },
    /// The user wants to sign in with the Vercel CLI.
    SignIn,
    /// The user wants to sign out.
    SignOut,
    /// The user wants to record exchanges in this workspace, or no longer.
    ToggleRecording {
        /// Milliseconds since 1970.
        #[cfg_attr(test, ts(type = "number"))]
        now_ms: u64,
        /// Whether a folder or a workspace is open.
        has_workspace: bool,
    },
    /// The user wants to see the recording of the request with this id.
    ExportRecording(String),
    /// The user wants to know more about smoother streaming.
    SmoothStreaming,
    /// The user wants to change the model that new chats start with.
    ChooseDefaultModel,
    /// The user wants to change what is set for a model.
    EditModel,
    /// The user wants to choose the models that VS Code uses for its own jobs.
    SetUpModels,
    /// A command needs a model, and only the demo is there.
    NoKeyYet,
    /// Sluice was installed.
    Greet,
    /// There is a model that new chats should start with, unless the user has chosen one. This is VS Code's id of it.
    StartWith(String),
    /// The user wants to add, change or remove a key.
    AddKey,
    /// A server has refused its key.
    KeyRefused {
        /// The server and the key.
        connection: DialogConnection,
        /// What the server said, in the user's language.
        reason: String,
    },
    /// The user wants to add a server that needs no key.
    AddServer,
    /// A request would pass a limit. What the user decides is in [`DialogStep::Done`]; there is nothing if they raised the limit.
    AskAboutLimit {
        /// The text of the [`Verdict`](crate::Verdict).
        text: Vec<Message>,
        /// The limit of the [`Verdict`](crate::Verdict).
        limit: LimitState,
    },
    /// The user wants to raise the limit that stopped a request last, if there is one.
    RaiseLimit(Option<LimitState>),
}

/// What a shell does next for a dialog. Unless the documentation says otherwise, there is no answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum DialogStep {
    /// Let the user choose a row. The answer is its index, or `null` if they cancel.
    Pick {
        /// The title of the list.
        title: Vec<Message>,
        /// What the empty search field says.
        placeholder: Vec<Message>,
        /// The rows.
        rows: Vec<DialogRow>,
    },
    /// Ask for a text in an input box. The answer is an [`InputAnswer`], or `null` if the user cancels. After an input, the box
    /// stays open while the core checks it, and waits.
    Input {
        /// What the box looks like.
        input: DialogInput,
        /// What is wrong with the last input. If there was one, its box is still open.
        problem: Option<Vec<Message>>,
    },
    /// Close the input box, because the input is valid. The answer is whether the user hasn't closed it already.
    CloseInput,
    /// Show a message. If it has buttons, the answer is the index of the one that is pressed, or `null`.
    Show {
        /// How urgent it is.
        level: DialogLevel,
        /// What it says.
        text: Vec<Message>,
        /// What the user can do about it.
        buttons: Vec<Message>,
    },
    /// Read a setting of VS Code. The answer is its value.
    ReadSetting {
        /// Its full name.
        name: String,
        /// Whether only the user's own value counts, not a default or the value of a workspace.
        is_own: bool,
    },
    /// Change a setting of the user.
    WriteSetting {
        /// Its full name.
        name: String,
        /// The new value, or `null` to remove it.
        #[cfg_attr(test, ts(type = "unknown"))]
        value: Value,
        /// Whether this version of VS Code may not have the setting. Nothing happens then.
        may_be_unknown: bool,
    },
    /// Run a command of VS Code.
    Run {
        /// Its name.
        command: String,
        /// Its arguments.
        #[cfg_attr(test, ts(type = "unknown[]"))]
        arguments: Vec<Value>,
    },
    /// Have all connections list their models. The answer is all models except the demo, as a list of [`DialogModel`].
    ListModels,
    /// Have all connections listed. The answer is all of them except the demo, as a list of [`DialogConnection`].
    ListConnections,
    /// Ask the user whether an address may be used that needs it. The answer is whether it may.
    ConfirmAddress {
        /// Which connection of the last [`ListConnections`](Self::ListConnections).
        index: usize,
    },
    /// Request the lists of models of all connections, except the demo. The answer is a list of their
    /// names, each with a [`ServerCheck`].
    RefreshModels {
        /// What to show until then.
        title: Message,
    },
    /// Test a connection, remember what the test found, and show its card. The answer is a [`ConnectionTest`], or `null` if the
    /// user cancels.
    TestConnection {
        /// Which connection of the last [`ListConnections`](Self::ListConnections).
        index: usize,
        /// What to show until then.
        title: Message,
    },
    /// Ask Vercel, and keep the session if there is one. The answer is a [`VercelAnswer`].
    AskVercel {
        /// What to ask.
        task: VercelTask,
        /// What to show until then.
        title: Option<Message>,
    },
    /// Sign out. The answer is whether the user was signed in.
    SignOut,
    /// Run a command in a terminal.
    RunInTerminal {
        /// The command.
        command: String,
    },
    /// Copy a text to the clipboard.
    Copy {
        /// The text.
        text: String,
    },
    /// Open a recording as a document, which the user can save.
    OpenRecording {
        /// The id of the request.
        id: String,
        /// Whether it has the texts of the request.
        with_texts: bool,
    },
    /// Read a value that the extension keeps for this workspace.
    ReadState {
        /// Its name.
        name: String,
    },
    /// Keep a value.
    WriteState {
        /// Its name.
        name: String,
        /// The value, or `null` to remove it.
        #[cfg_attr(test, ts(type = "unknown"))]
        value: Value,
        /// Whether it is only for this workspace.
        is_of_workspace: bool,
    },
    /// Read the stored keys. The answer is the text that the last [`WriteKeys`](Self::WriteKeys) has stored, or `null`.
    ReadKeys,
    /// Store the keys.
    WriteKeys {
        /// What to store. If it is empty, there is nothing to store any more.
        stored: String,
    },
    /// Return the origins that a key may be sent to, or those that may be used without a key, as a list of strings.
    ReadOrigins {
        /// The key.
        key: Option<String>,
    },
    /// Ask a server for its models, and whether it accepts the key. The user has agreed to that. The answer is a [`ServerCheck`].
    CheckServer {
        /// The server and its key.
        server: KeptKey,
    },
    /// Delete what is kept about a server.
    ForgetServer {
        /// The server and its key.
        server: KeptKey,
    },
    /// Open a page in the browser.
    Open {
        /// Its address.
        url: String,
    },
    /// The dialog is over.
    Done {
        /// What the user decided about a limit. `None` in all other dialogs.
        choice: Option<SpendChoice>,
    },
}

/// A row of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DialogRow {
    /// What it is.
    pub label: Vec<Message>,
    /// The name of an icon of VS Code, to show before the label.
    pub icon: Option<&'static str>,
    /// What is shown after the label.
    pub description: Vec<Message>,
    /// What is shown below the label.
    pub detail: Vec<Message>,
}

/// An input box.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DialogInput {
    /// The title of the box.
    pub title: Vec<Message>,
    /// What to enter.
    pub prompt: Vec<Message>,
    /// What the box contains at the beginning.
    pub value: String,
    /// Whether nobody may read it from the screen.
    pub is_secret: bool,
    /// Other things to do: the names of icons of VS Code, and what they do. A button closes the box.
    pub buttons: Vec<(&'static str, Message)>,
}

/// What the user did with an input box.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum InputAnswer {
    /// They entered this, without white space around it.
    Entered(String),
    /// They pressed the button with this index.
    Button(usize),
}

/// How urgent a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum DialogLevel {
    /// It is good to know.
    Information,
    /// Something needs attention.
    Warning,
    /// Something failed.
    Error,
    /// It has to be answered before anything else happens.
    Question,
}

/// A model as VS Code lists it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DialogModel {
    /// VS Code's id.
    pub id: String,
    /// The server's id. Several connections may have a model with the same one.
    pub server_id: String,
    /// The name that the user sees.
    pub name: String,
    /// What is shown below the name.
    pub detail: String,
    /// What it costs, in the user's language. Empty if that isn't known.
    pub pricing: String,
    /// See [`ChatModel::is_default`](crate::ChatModel::is_default).
    pub is_default: bool,
    /// See [`ChatModel::is_small_default`](crate::ChatModel::is_small_default).
    pub is_small_default: bool,
}

/// A connection that the extension has tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DialogConnection {
    /// The name that the user sees.
    pub label: String,
    /// Its address. `None` if it can't be used.
    pub base_url: Option<String>,
    /// Why it can't be used, in the user's language.
    pub problem: Option<String>,
    /// Whether it can be used when the user has confirmed its address.
    pub must_confirm: bool,
    /// Where a new key goes. `None` if the key can't be changed here, because it is in the environment or a sign-in.
    pub kept: Option<KeptKey>,
    /// Whether the key comes from a sign-in.
    pub is_sign_in: bool,
}

/// What a server says about its models and a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ServerCheck {
    /// How many models can chat.
    pub models: usize,
    /// The id and the name of the model that suits new chats best.
    pub default_model: Option<(String, String)>,
    /// The last note about the list.
    pub note: Option<Vec<Message>>,
    /// Why the list couldn't be refreshed. The models known before are still there.
    pub problems: Vec<Message>,
    /// See [`ModelList::elsewhere`](crate::ModelList::elsewhere).
    pub elsewhere: Option<String>,
    /// Why the server doesn't accept the key, or needs one, if it was asked.
    pub refusal: Option<Vec<Message>>,
}

/// What a test of a connection found, in the user's language and without secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ConnectionTest {
    /// One sentence about it.
    pub verdict: String,
    /// Whether something doesn't work.
    pub is_failed: bool,
    /// The whole card as a text.
    pub details: String,
}

/// What Vercel said.
#[derive(Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct VercelAnswer {
    /// The user's teams.
    pub teams: Vec<VercelTeam>,
    /// The projects of a team.
    pub projects: Vec<VercelProject>,
    /// What the user can do if it failed.
    pub problem: Option<MessageCode>,
    /// A command for a terminal that would help.
    pub command: Option<String>,
}
