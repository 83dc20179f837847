//! Adding, checking, changing, renaming and removing keys, and what the user sees before and after.

use serde_json::json;

use super::models::NEW_CHATS;
use super::{Checked, Editor, Entered, plain, sluice, text};
use crate::boundary::{DialogConnection, DialogInput, DialogLevel, DialogRow, DialogStep, ServerCheck};
use crate::environment::KEY_VARIABLES;
use crate::keys::{KeptKey, free_name, is_sendable_key, put_key, read_keys, remove_key};
use crate::message::{Message, MessageCode};
use crate::send::{BadAddress, Consent, Endpoint};

/// Says that only the demo is there, and how to add more.
pub(super) async fn none_yet(editor: &Editor) -> Option<()> {
    let buttons = [MessageCode::AddKey, MessageCode::UseLocalServer, MessageCode::SignInWithVercel];
    let commands = ["sluice.addKey", "sluice.addServer", "sluice.signInWithVercelCli"];
    editor.offer(DialogLevel::Information, text(MessageCode::NoKeyYet), buttons, commands).await
}

/// Shows the next step after Sluice was installed.
pub(super) async fn greet(editor: &Editor) -> Option<()> {
    let buttons = [MessageCode::AddKey, MessageCode::UseLocalServer, MessageCode::ShowMeAround];
    let commands = ["sluice.addKey", "sluice.addServer", "sluice.openWalkthrough"];
    editor.offer(DialogLevel::Information, text(MessageCode::Greeting), buttons, commands).await
}

/// Makes new chats start with a model, unless the user has chosen one. Returns the one that they have chosen.
pub(super) async fn start_with(editor: &Editor, model: &str) -> Option<String> {
    let step = DialogStep::ReadSetting { name: NEW_CHATS.to_owned(), is_own: true };
    let chosen: Option<String> = editor.ask(step).await;
    let chosen = chosen.filter(|model| !model.is_empty());
    if chosen.is_none() {
        editor.set_if_known(NEW_CHATS, model.into()).await;
    }
    chosen
}

/// Offers to change a key that a server refused.
pub(super) async fn refused(editor: &Editor, connection: DialogConnection, reason: String) -> Option<()> {
    let says = sluice(plain(&format!("{}: {reason}", connection.label)));
    editor.show(DialogLevel::Error, says, [MessageCode::ChangeKey]).await?;
    change_connection(editor, connection).await
}

/// What the user can do with keys.
enum KeyChoice {
    Add,
    AddServer,
    Change(KeptKey),
    ChangeConnection(DialogConnection),
}

/// Lists the keys, or asks for the first one.
pub(super) async fn add(editor: &Editor) -> Option<()> {
    let connections = editor.connections().await;
    let kept: Vec<_> = editor.keys().await.into_iter().filter(|key| key.replaces.is_none()).collect();
    if connections.is_empty() && kept.is_empty() {
        return enter_key(editor, None, None).await;
    }
    // A key of our own is in the store even if it can't be used now.
    let is_other = |connection: &DialogConnection| {
        connection.base_url.is_some() && !connection.kept.as_ref().is_some_and(|key| kept.contains(key))
    };
    let others: Vec<_> = connections.into_iter().filter(is_other).collect();
    let action = |label, icon| DialogRow { label: text(label), icon: Some(icon), ..DialogRow::default() };
    let mut rows = vec![
        (action(MessageCode::AddKey, "add"), KeyChoice::Add),
        (action(MessageCode::UseLocalServer, "server"), KeyChoice::AddServer),
    ];
    rows.extend(kept.into_iter().map(|key| {
        let icon = Some(if key.key.is_none() { "server" } else { "key" });
        let (label, description) = (plain(&key.name), plain(&key.base_url));
        (DialogRow { label, icon, description, detail: Vec::new() }, KeyChoice::Change(key))
    }));
    rows.extend(others.into_iter().map(|connection| {
        let label = plain(&connection.label);
        let description = plain(connection.base_url.as_deref().unwrap_or_default());
        let detail = connection.kept.as_ref().map(|_| MessageCode::AddedInManageModels.into()).into_iter().collect();
        let row = DialogRow { label, icon: Some("key"), description, detail };
        (row, KeyChoice::ChangeConnection(connection))
    }));
    match editor.pick(text(MessageCode::AddOrChangeKey), Vec::new(), rows).await? {
        KeyChoice::Add => enter_key(editor, None, None).await,
        KeyChoice::AddServer => add_server(editor).await,
        KeyChoice::Change(key) => change(editor, key).await,
        KeyChoice::ChangeConnection(connection) => change_connection(editor, connection).await,
    }
}

/// Asks for the new key of a connection, unless it is in the environment or comes from a sign-in.
async fn change_connection(editor: &Editor, connection: DialogConnection) -> Option<()> {
    if let Some(key) = connection.kept {
        return enter_key(editor, Some(key), None).await;
    }
    if connection.is_sign_in {
        editor.run("sluice.signInWithVercelCli", Vec::new()).await;
    } else {
        let where_it_is = Message::new(MessageCode::KeyInEnvironment, [&KEY_VARIABLES.join(", ")]);
        editor.show(DialogLevel::Information, vec![where_it_is], []).await;
    }
    Some(())
}

async fn change(editor: &Editor, key: KeptKey) -> Option<()> {
    let actions = [(MessageCode::ChangeKey, "key"), (MessageCode::Rename, "edit"), (MessageCode::Remove, "trash")];
    let rows = actions
        .map(|(action, icon)| (DialogRow { label: text(action), icon: Some(icon), ..DialogRow::default() }, action));
    match editor.pick(plain(&key.name), plain(&key.base_url), rows.into()).await? {
        MessageCode::ChangeKey => enter_key(editor, Some(key), None).await,
        MessageCode::Rename => rename(editor, key).await,
        _ => remove(editor, key).await,
    }
}

async fn rename(editor: &Editor, key: KeptKey) -> Option<()> {
    let taken: Vec<_> = editor.keys().await.into_iter().map(|key| key.name).collect();
    let input = DialogInput {
        title: text(MessageCode::Rename),
        prompt: text(MessageCode::NameIsShown),
        value: key.name.clone(),
        ..DialogInput::default()
    };
    let check = async |name: String| {
        if name.is_empty() || (name != key.name && taken.contains(&name)) {
            Checked::Bad(text(MessageCode::NameTaken))
        } else {
            Checked::Good(name)
        }
    };
    let Entered::Value(name) = editor.input(input, check).await? else { return None };
    put(editor, KeptKey { name, ..key.clone() }, Some(&key)).await
}

async fn remove(editor: &Editor, key: KeptKey) -> Option<()> {
    let question = vec![Message::new(MessageCode::KeyIsDeleted, [&key.name])];
    editor.show(DialogLevel::Question, question, [MessageCode::Remove]).await?;
    editor.0.ask(DialogStep::ForgetServer { server: key.clone() }).await;
    store(editor, remove_key(&editor.stored_keys().await, &key)).await
}

/// Asks for the address of a server that needs no key, and for a key if it does need one.
pub(super) async fn add_server(editor: &Editor) -> Option<()> {
    let input = DialogInput {
        title: text(MessageCode::UseLocalServer),
        prompt: vec![Message::new(MessageCode::TypeAddress, [&"localhost:11434"])],
        ..DialogInput::default()
    };
    let check = async |address: String| {
        let endpoint = match Endpoint::parse_confirmed(&address) {
            Ok(endpoint) => endpoint,
            Err(BadAddress(problem)) => return Checked::Bad(vec![problem]),
        };
        if let Err(problem) = agree(editor, &endpoint, None).await {
            return Checked::Bad(vec![problem]);
        }
        let keys = editor.keys().await;
        let mut server =
            KeptKey { name: free_name(&keys, &endpoint), base_url: endpoint.base_url, key: None, replaces: None };
        let found = editor.check_server(&server).await;
        server.base_url = found.elsewhere.clone().unwrap_or(server.base_url);
        let known = keys.into_iter().find(|key| key.base_url == server.base_url && key.key.is_none());
        let problem = found.problem();
        let needs_key = found.refusal.is_some();
        let checked = (known.unwrap_or(server), found);
        match problem {
            Some(problem) if !needs_key => Checked::Doubtful(checked, problem),
            _ => Checked::Good(checked),
        }
    };
    let Entered::Value((server, found)) = editor.input(input, check).await? else { return None };
    if found.refusal.is_some() {
        return enter_key(editor, None, Some(server.base_url)).await;
    }
    put(editor, server.clone(), None).await?;
    ready(editor, &server, found).await
}

/// Asks for a key until the server accepts it. The key takes the place of `before`, or is for `address`.
async fn enter_key(editor: &Editor, before: Option<KeptKey>, address: Option<String>) -> Option<()> {
    let title = if before.is_none() { MessageCode::AddKey } else { MessageCode::ChangeKey };
    let mut base_url = match before.as_ref().map(|key| key.base_url.clone()).or(address) {
        Some(address) => address,
        None => editor.text_setting("sluice.baseUrl").await.unwrap_or_default(),
    };
    loop {
        let endpoint = match Endpoint::parse_confirmed(&base_url) {
            Ok(endpoint) => endpoint,
            Err(BadAddress(problem)) => return editor.fail(problem).await,
        };
        let mut server = if let Some(key) = &before {
            key.clone()
        } else {
            let name = free_name(&editor.keys().await, &endpoint);
            KeptKey { name, base_url: String::new(), key: None, replaces: None }
        };
        server.base_url = endpoint.base_url.clone();
        let page = endpoint
            .keys_page
            .map(|page| (KeyButton::OpenPage(page), ("link-external", MessageCode::OpenKeysPage.into())));
        let other = Message::new(MessageCode::OtherAddress, [&endpoint.origin]);
        let other = before.is_none().then_some((KeyButton::OtherAddress, ("globe", other)));
        let (meanings, buttons): (Vec<_>, Vec<_>) = page.into_iter().chain(other).unzip();
        let prompt = vec![Message::new(MessageCode::PasteKey, [&endpoint.host()])];
        let input = DialogInput { title: text(title), prompt, value: String::new(), is_secret: true, buttons };
        let check = async |entered: String| check_key(editor, &endpoint, server.clone(), entered).await;
        match editor.input(input, check).await? {
            Entered::Button(button) => match meanings.get(button)? {
                KeyButton::OpenPage(page) => {
                    editor.0.ask(DialogStep::Open { url: (*page).to_owned() }).await;
                }
                KeyButton::OtherAddress => base_url = enter_address(editor, &base_url).await.unwrap_or(base_url),
            },
            Entered::Value((key, found)) => {
                put(editor, key.clone(), before.as_ref()).await?;
                return ready(editor, &key, found).await;
            }
        }
    }
}

/// A button of the input box for a key.
enum KeyButton {
    OpenPage(&'static str),
    OtherAddress,
}

/// Asks the server whether it accepts a key. Without one, the key that it had before stays, or it has none.
async fn check_key(
    editor: &Editor,
    endpoint: &Endpoint,
    mut server: KeptKey,
    entered: String,
) -> Checked<(KeptKey, ServerCheck)> {
    if !entered.is_empty() {
        if !is_sendable_key(&entered) {
            return Checked::Bad(text(MessageCode::KeyUnusable));
        }
        server.key = Some(entered);
    }
    if let Err(problem) = agree(editor, endpoint, server.key.clone()).await {
        return Checked::Bad(vec![problem]);
    }
    let found = editor.check_server(&server).await;
    server.base_url = found.elsewhere.clone().unwrap_or(server.base_url);
    match (&found.refusal, found.problem()) {
        (Some(refusal), _) => Checked::Bad(refusal.clone()),
        (None, Some(problem)) => Checked::Doubtful((server, found), problem),
        (None, None) => Checked::Good((server, found)),
    }
}

async fn enter_address(editor: &Editor, before: &str) -> Option<String> {
    let input = DialogInput {
        title: text(MessageCode::AddKey),
        prompt: text(MessageCode::EnterBaseUrl),
        value: before.to_owned(),
        ..DialogInput::default()
    };
    let check = async |address: String| match Endpoint::parse_confirmed(&address) {
        Ok(_) => Checked::Good(address),
        Err(BadAddress(problem)) => Checked::Bad(vec![problem]),
    };
    match editor.input(input, check).await? {
        Entered::Value(address) => Some(address),
        Entered::Button(_) => None,
    }
}

/// Asks the user whether an address may be used that they have just entered, if that is necessary. The error says why nothing is
/// sent there.
async fn agree(editor: &Editor, endpoint: &Endpoint, key: Option<String>) -> Result<(), Message> {
    let question = match endpoint.consent(key.is_some()) {
        Consent::NotNeeded => return Ok(()),
        Consent::Needed(question) => Ok(question),
        Consent::Refused(problem) => Err(problem),
    };
    let confirmed: Vec<String> = editor.ask(DialogStep::ReadOrigins { key }).await.unwrap_or_default();
    if confirmed.contains(&endpoint.origin) {
        return Ok(());
    }
    let answer = editor.show(DialogLevel::Question, vec![question?], [MessageCode::UseThisAddress]).await;
    answer.map(|_| ()).ok_or_else(|| MessageCode::NothingWasSent.into())
}

async fn put(editor: &Editor, key: KeptKey, before: Option<&KeptKey>) -> Option<()> {
    store(editor, put_key(&editor.stored_keys().await, key, before)).await
}

async fn store(editor: &Editor, stored: Result<String, Message>) -> Option<()> {
    match stored {
        Ok(stored) => {
            editor.0.ask(DialogStep::WriteKeys { stored }).await;
            Some(())
        }
        Err(problem) => {
            editor.fail(problem).await;
            None
        }
    }
}

/// Says that a key works, and leads to the first chat. New chats start with a suitable model from now on.
async fn ready(editor: &Editor, server: &KeptKey, found: ServerCheck) -> Option<()> {
    let (id, name) = found.default_model?;
    let chosen = start_with(editor, &id).await;
    let mut says = vec![Message::new(MessageCode::ConnectionReady, [&server.name, &found.models])];
    if chosen.is_none_or(|chosen| chosen == id) {
        says.push(Message::new(MessageCode::NewChatsStartWith, [&name]));
    }
    let buttons = [MessageCode::StartChatting, MessageCode::ChooseAnotherModel];
    if editor.show(DialogLevel::Information, sluice(says), buttons).await? == 0 {
        let chat = json!({ "query": "", "modelSelector": { "vendor": "sluice", "id": id } });
        editor.run("workbench.action.chat.open", vec![chat]).await;
    } else {
        editor.run("sluice.chooseDefaultModel", Vec::new()).await;
    }
    Some(())
}

impl ServerCheck {
    /// Returns what is wrong if the server lists no models.
    fn problem(&self) -> Option<Vec<Message>> {
        self.note.clone().filter(|_| self.models == 0)
    }
}

impl Editor {
    async fn keys(&self) -> Vec<KeptKey> {
        read_keys(&self.stored_keys().await)
    }

    async fn stored_keys(&self) -> String {
        self.ask(DialogStep::ReadKeys).await.unwrap_or_default()
    }

    async fn check_server(&self, server: &KeptKey) -> ServerCheck {
        self.ask(DialogStep::CheckServer { server: server.clone() }).await.unwrap_or_default()
    }

    /// Says that something failed.
    async fn fail(&self, problem: Message) -> Option<()> {
        self.show(DialogLevel::Error, sluice(vec![problem]), []).await;
        None
    }
}
