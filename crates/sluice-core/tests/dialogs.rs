//! Dialogs with the user of an editor: what is asked next, and what is done with the answers.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{Dialog, DialogStep, DialogWork, Message, join_messages};

/// An editor with settings, keys and connections.
#[derive(Default)]
struct World {
    settings: BTreeMap<String, Value>,
    state: BTreeMap<String, Value>,
    keys: String,
    models: Value,
    connections: Value,
    /// What servers say, by their keys.
    servers: BTreeMap<String, Value>,
    /// What Vercel says, one answer after the other.
    vercel: Vec<Value>,
}

impl World {
    /// Has a dialog with a user who chooses these labels, enters these texts or presses these buttons, and cancels where there is
    /// `-`. Checks what they see and what is changed.
    fn check(&mut self, dialog: Value, answers: &[&str], expected: Expect) {
        let mut dialog = DialogWork::new(serde_json::from_value::<Dialog>(dialog).unwrap());
        let mut answers = answers.iter();
        let mut lines = Vec::new();
        let mut step = dialog.next(None);
        loop {
            lines.extend(shown(&step));
            if let DialogStep::Done { choice } = &step {
                lines.extend(choice.map(|choice| format!("done: {choice:?}")));
                break;
            }
            let is_question = match &step {
                DialogStep::Pick { .. } | DialogStep::Input { .. } => true,
                DialogStep::Show { buttons, .. } => !buttons.is_empty(),
                _ => false,
            };
            let answer =
                if is_question { answered(&step, answers.next().expect("an answer")) } else { self.perform(&step) };
            step = dialog.next(Some(answer));
        }
        assert_eq!(answers.next(), None, "every answer is asked for");
        expected.assert_eq(&(lines.join("\n") + "\n"));
    }

    fn perform(&mut self, step: &DialogStep) -> Value {
        match step {
            DialogStep::ReadSetting { name, .. } => self.settings.get(name).cloned().unwrap_or_default(),
            DialogStep::WriteSetting { name, value, .. } => {
                self.settings.insert(name.clone(), value.clone());
                Value::Null
            }
            DialogStep::ReadState { name } => self.state.get(name).cloned().unwrap_or_default(),
            DialogStep::WriteState { name, value, .. } => {
                self.state.insert(name.clone(), value.clone());
                Value::Null
            }
            DialogStep::ListModels => self.models.clone(),
            DialogStep::ListConnections => self.connections.clone(),
            DialogStep::ReadKeys => self.keys.clone().into(),
            DialogStep::WriteKeys { stored } => {
                self.keys.clone_from(stored);
                Value::Null
            }
            DialogStep::CheckServer { server } => {
                let answer = self.servers.get(server.key.as_deref().unwrap_or_default());
                answer.cloned().unwrap_or_else(|| json!({"models": 0, "refusal": "Wrong key."}))
            }
            DialogStep::AskVercel { .. } => self.vercel.remove(0),
            DialogStep::CloseInput | DialogStep::SignOut | DialogStep::ConfirmAddress { .. } => true.into(),
            DialogStep::RefreshModels { .. } => json!([{"label": "Work", "models": 3, "problems": []}]),
            DialogStep::TestConnection { .. } => json!({"verdict": "It works.", "isFailed": false, "details": "Card"}),
            _ => Value::Null,
        }
    }
}

fn english(text: &[Message]) -> String {
    join_messages(text, " ")
}

/// Returns what the user sees, or what the editor does without asking.
fn shown(step: &DialogStep) -> Option<String> {
    Some(match step {
        DialogStep::Pick { title, placeholder, rows } => {
            let rows: Vec<_> = rows.iter().map(|row| row_text(&row.label, row.icon, &row.description)).collect();
            format!("pick {} ({}): {}", english(title), english(placeholder), rows.join(" | "))
        }
        DialogStep::Input { problem: Some(problem), .. } => format!("  invalid: {}", english(problem)),
        DialogStep::Input { input, .. } => format!("input {}: {}", english(&input.title), english(&input.prompt)),
        DialogStep::Show { level, text, buttons } => {
            let buttons: Vec<_> = buttons.iter().map(|button| format!("[{button}]")).collect();
            format!("show {level:?}: {} {}", english(text), buttons.join(" ")).trim_end().to_owned()
        }
        DialogStep::WriteSetting { name, value, .. } => format!("set {name} = {value}"),
        DialogStep::WriteState { name, value, .. } => format!("keep {name} = {value}"),
        DialogStep::WriteKeys { stored } => format!("keys {stored}"),
        DialogStep::Run { command, arguments } => format!("run {command} {}", Value::from(arguments.clone())),
        DialogStep::RunInTerminal { command } => format!("terminal {command}"),
        DialogStep::Open { url } => format!("open {url}"),
        DialogStep::Copy { text } => format!("copy {text}"),
        DialogStep::ForgetServer { server } => format!("forget {}", server.name),
        DialogStep::AskVercel { task, .. } => format!("vercel {}", json!(task)),
        _ => return None,
    })
}

fn row_text(label: &[Message], icon: Option<&str>, description: &[Message]) -> String {
    let icon = icon.map(|icon| format!("${icon} ")).unwrap_or_default();
    let description = english(description);
    let description = if description.is_empty() { description } else { format!(" ({description})") };
    format!("{icon}{}{description}", english(label))
}

fn answered(step: &DialogStep, answer: &str) -> Value {
    let index_of = |labels: Vec<String>| labels.iter().position(|label| label == answer);
    let index = match step {
        _ if answer == "-" => return Value::Null,
        DialogStep::Pick { rows, .. } => index_of(rows.iter().map(|row| english(&row.label)).collect()),
        DialogStep::Show { buttons, .. } => index_of(buttons.iter().map(Message::to_string).collect()),
        DialogStep::Input { input, .. } => {
            match index_of(input.buttons.iter().map(|(_, label)| label.to_string()).collect()) {
                Some(button) => return json!({ "button": button }),
                None => return json!({ "entered": answer }),
            }
        }
        _ => None,
    };
    json!(index.unwrap_or_else(|| panic!("{answer} is not offered by {step:?}")))
}

fn model(id: &str, pricing: &str, is_default: bool) -> Value {
    json!({
        "id": id, "serverId": id, "name": id.to_uppercase(), "detail": "", "pricing": pricing,
        "isDefault": is_default, "isSmallDefault": !is_default,
    })
}

fn two_models() -> World {
    World { models: json!([model("big", "$3", true), model("mini", "", false)]), ..World::default() }
}

const GATEWAY: &str = "https://ai-gateway.vercel.sh/v1";

fn with_server(key: &str, answer: Value) -> World {
    World {
        settings: BTreeMap::from([("sluice.baseUrl".to_owned(), GATEWAY.into())]),
        servers: BTreeMap::from([(key.to_owned(), answer)]),
        connections: json!([]),
        ..World::default()
    }
}

fn works() -> Value {
    json!({"models": 2, "defaultModel": ["acme/one", "One"]})
}

#[test]
fn without_models_the_user_learns_how_to_get_some() {
    let mut world = World { models: json!([]), ..World::default() };
    world.check(json!("editModel"), &["Use a Local Server"], expect![[r#"
        show Information: Sluice: there is no key yet, so only the demo model is available. It answers inside VS Code and needs no connection. [Add a Key] [Use a Local Server] [Sign In with the Vercel CLI]
        run sluice.addServer []
    "#]]);
}

#[test]
fn the_default_model_is_chosen_and_taken_back() {
    let mut world = two_models();
    world.check(
        json!("chooseDefaultModel"),
        &["MINI"],
        expect![[r#"
        pick Choose the Default Model (It is offered first in a new chat): $check BIG (big) | MINI (mini)
        set sluice.models.default = "mini"
        set chat.defaultModel = "mini"
    "#]],
    );
    world.check(json!("chooseDefaultModel"), &["None: leave it to Sluice"], expect![[r#"
        pick Choose the Default Model (It is offered first in a new chat): None: leave it to Sluice | $check BIG (big) | $check MINI (mini)
        set sluice.models.default = null
        set chat.defaultModel = null
    "#]]);
    world.check(
        json!("chooseDefaultModel"),
        &["-"],
        expect![[r#"
        pick Choose the Default Model (It is offered first in a new chat): $check BIG (big) | MINI (mini)
    "#]],
    );
}

#[test]
fn a_model_is_changed_field_by_field() {
    let answers = ["BIG", "Maximum output tokens", "many", "4000", "Hide the model", "Yes", "Hide the model", "-"];
    two_models().check(json!("editModel"), &answers, expect![[r#"
        pick Change a Model (Which model?): BIG (big) | MINI (mini)
        pick BIG (What should be different? Leave the list when you are done.): Hide the model (The model's own) | Context size (The model's own) | Maximum input tokens (The model's own) | Maximum output tokens (The model's own) | Thinking effort (The model's own) | Can see images (The model's own) | Can call tools (The model's own) | Extra fields of the request (The model's own) | Routing (The model's own)
        input Maximum output tokens: Enter a value such as 200000, or nothing for the model's own.
          invalid: `big: maxOutputTokens` in overrides must look like `200000`
        set sluice.models.overrides = {"big":{"maxOutputTokens":4000}}
        pick BIG (What should be different? Leave the list when you are done.): Hide the model (The model's own) | Context size (The model's own) | Maximum input tokens (The model's own) | Maximum output tokens (4000) | Thinking effort (The model's own) | Can see images (The model's own) | Can call tools (The model's own) | Extra fields of the request (The model's own) | Routing (The model's own)
        pick Hide the model (): The model's own | Yes | No
        set sluice.models.overrides = {"big":{"hidden":true,"maxOutputTokens":4000}}
        pick BIG (What should be different? Leave the list when you are done.): Hide the model (true) | Context size (The model's own) | Maximum input tokens (The model's own) | Maximum output tokens (4000) | Thinking effort (The model's own) | Can see images (The model's own) | Can call tools (The model's own) | Extra fields of the request (The model's own) | Routing (The model's own)
        pick Hide the model (): The model's own | Yes | No
    "#]]);
}

#[test]
fn models_for_the_jobs_of_the_editor() {
    let mut world = two_models();
    world.check(json!("setUpModels"), &["Use Sluice for all of them"], expect![[r#"
        pick Models for VS Code's Own Jobs (Without this, VS Code uses Copilot's models for some of them): $check-all Use Sluice for all of them (BIG ($3); for small jobs MINI) | $circle-large-outline New chats (VS Code decides) | $circle-large-outline Inline chat (VS Code decides) | $circle-large-outline Plan agent (VS Code decides) | $circle-large-outline Explore sub-agent (VS Code decides) | $circle-large-outline Summaries and commit messages (VS Code decides) | $circle-large-outline Titles and other small jobs (VS Code decides) | $discard Leave all of them to VS Code
        set chat.defaultModel = "big"
        set inlineChat.defaultModel = "BIG (sluice)"
        set chat.planAgent.defaultModel = "BIG (sluice)"
        set chat.exploreAgent.defaultModel = "MINI (sluice)"
        set chat.utilityModel = "sluice/mini"
        set chat.utilitySmallModel = "sluice/mini"
        show Information: Sluice: VS Code now uses BIG ($3), and MINI for small jobs.
    "#]]);
    world.settings.insert("chat.utilityModel".to_owned(), "other/model".into());
    let answers = ["Inline chat", "MINI", "Plan agent", "-", "Leave all of them to VS Code"];
    world.check(json!("setUpModels"), &answers, expect![[r#"
        pick Models for VS Code's Own Jobs (Without this, VS Code uses Copilot's models for some of them): $check-all Use Sluice for all of them (BIG ($3); for small jobs MINI) | $pass-filled New chats (BIG ($3)) | $pass-filled Inline chat (BIG ($3)) | $pass-filled Plan agent (BIG ($3)) | $pass-filled Explore sub-agent (MINI) | $circle-large-outline Summaries and commit messages (other/model) | $pass-filled Titles and other small jobs (MINI) | $discard Leave all of them to VS Code
        pick Inline chat (): BIG (big) | MINI (mini)
        set inlineChat.defaultModel = "MINI (sluice)"
        pick Models for VS Code's Own Jobs (Without this, VS Code uses Copilot's models for some of them): $check-all Use Sluice for all of them (BIG ($3); for small jobs MINI) | $pass-filled New chats (BIG ($3)) | $pass-filled Inline chat (MINI) | $pass-filled Plan agent (BIG ($3)) | $pass-filled Explore sub-agent (MINI) | $circle-large-outline Summaries and commit messages (other/model) | $pass-filled Titles and other small jobs (MINI) | $discard Leave all of them to VS Code
        pick Plan agent (): BIG (big) | MINI (mini)
        pick Models for VS Code's Own Jobs (Without this, VS Code uses Copilot's models for some of them): $check-all Use Sluice for all of them (BIG ($3); for small jobs MINI) | $pass-filled New chats (BIG ($3)) | $pass-filled Inline chat (MINI) | $pass-filled Plan agent (BIG ($3)) | $pass-filled Explore sub-agent (MINI) | $circle-large-outline Summaries and commit messages (other/model) | $pass-filled Titles and other small jobs (MINI) | $discard Leave all of them to VS Code
        set chat.defaultModel = null
        set inlineChat.defaultModel = null
        set chat.planAgent.defaultModel = null
        set chat.exploreAgent.defaultModel = null
        set chat.utilitySmallModel = null
    "#]]);
}

#[test]
fn a_key_is_checked_before_it_is_kept() {
    let mut world = with_server("good", works());
    world.check(json!("addKey"), &["two words", "bad", "good", "Start Chatting"], expect![[r#"
        input Add a Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
          invalid: The key contains a line break, a space or another character that is not allowed in a key, so nothing was sent. Copy the key again and enter it on one line.
          invalid: Wrong key.
        keys [{"name":"ai-gateway.vercel.sh","baseUrl":"https://ai-gateway.vercel.sh/v1","key":"good"}]
        set chat.defaultModel = "acme/one"
        show Information: Sluice: The connection "ai-gateway.vercel.sh" works; 2 of its models can chat. New chats start with One. [Start Chatting] [Choose Another Model]
        run workbench.action.chat.open [{"modelSelector":{"id":"acme/one","vendor":"sluice"},"query":""}]
    "#]]);
    // Another key gets another name.
    world.check(json!("addKey"), &["Add a Key", "good", "-"], expect![[r#"
        pick Add or Change a Key (): $add Add a Key | $server Use a Local Server | $key ai-gateway.vercel.sh (https://ai-gateway.vercel.sh/v1)
        input Add a Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
        keys [{"name":"ai-gateway.vercel.sh","baseUrl":"https://ai-gateway.vercel.sh/v1","key":"good"},{"name":"ai-gateway.vercel.sh 2","baseUrl":"https://ai-gateway.vercel.sh/v1","key":"good"}]
        show Information: Sluice: The connection "ai-gateway.vercel.sh 2" works; 2 of its models can chat. New chats start with One. [Start Chatting] [Choose Another Model]
    "#]]);
}

#[test]
fn a_key_that_cannot_be_checked_is_kept_if_the_user_insists() {
    let mut world = with_server("good", json!({"models": 0, "note": "No connection."}));
    world.check(
        json!("addKey"),
        &["good", "good"],
        expect![[r#"
        input Add a Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
          invalid: No connection. Press Enter again to keep it anyway.
        keys [{"name":"ai-gateway.vercel.sh","baseUrl":"https://ai-gateway.vercel.sh/v1","key":"good"}]
    "#]],
    );
}

#[test]
fn a_key_for_another_address() {
    let mut world = with_server("good", json!({"models": 0, "elsewhere": "https://a.example/v1"}));
    let answers = [
        "Open the page with your keys",
        "Use another address than https://ai-gateway.vercel.sh",
        "nonsense",
        "https://a.example",
        "good",
    ];
    world.check(
        json!("addKey"),
        &answers,
        expect![[r#"
        input Add a Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
        open https://vercel.com/d?to=%2F%5Bteam%5D%2F%7E%2Fai-gateway%2Fapi-keys
        input Add a Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
        input Add a Key: The base URL of an Open Responses endpoint, up to and including /v1.
          invalid: The base URL does not start with https://. It should look like https://ai-gateway.vercel.sh/v1
        input Add a Key: Paste a key for a.example and press Enter. It is checked before it is kept.
        keys [{"name":"a.example","baseUrl":"https://a.example/v1","key":"good"}]
    "#]],
    );
}

#[test]
fn keys_are_renamed_replaced_and_removed() {
    let mut world = with_server("new", works());
    world.keys = json!([
        {"name": "Work", "baseUrl": GATEWAY, "key": "old"},
        {"name": "Home", "baseUrl": "http://localhost:1/v1"},
    ])
    .to_string();
    world.check(json!("addKey"), &["Work", "Rename", "Home", "Office"], expect![[r#"
        pick Add or Change a Key (): $add Add a Key | $server Use a Local Server | $key Work (https://ai-gateway.vercel.sh/v1) | $server Home (http://localhost:1/v1)
        pick Work (https://ai-gateway.vercel.sh/v1): $key Change the Key | $edit Rename | $trash Remove
        input Rename: The name is shown next to models that several servers have.
          invalid: Enter a name that no other key has.
        keys [{"name":"Office","baseUrl":"https://ai-gateway.vercel.sh/v1","key":"old"},{"name":"Home","baseUrl":"http://localhost:1/v1"}]
    "#]]);
    world.check(json!("addKey"), &["Office", "Change the Key", "new", "-"], expect![[r#"
        pick Add or Change a Key (): $add Add a Key | $server Use a Local Server | $key Office (https://ai-gateway.vercel.sh/v1) | $server Home (http://localhost:1/v1)
        pick Office (https://ai-gateway.vercel.sh/v1): $key Change the Key | $edit Rename | $trash Remove
        input Change the Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
        keys [{"name":"Office","baseUrl":"https://ai-gateway.vercel.sh/v1","key":"new"},{"name":"Home","baseUrl":"http://localhost:1/v1"}]
        set chat.defaultModel = "acme/one"
        show Information: Sluice: The connection "Office" works; 2 of its models can chat. New chats start with One. [Start Chatting] [Choose Another Model]
    "#]]);
    world.check(json!("addKey"), &["Office", "Remove", "Remove"], expect![[r#"
        pick Add or Change a Key (): $add Add a Key | $server Use a Local Server | $key Office (https://ai-gateway.vercel.sh/v1) | $server Home (http://localhost:1/v1)
        pick Office (https://ai-gateway.vercel.sh/v1): $key Change the Key | $edit Rename | $trash Remove
        show Question: The key Office will be deleted from this machine. [Remove]
        forget Office
        keys [{"name":"Home","baseUrl":"http://localhost:1/v1"}]
    "#]]);
}

#[test]
fn keys_of_a_newer_version_are_left_alone() {
    let mut world = with_server("good", works());
    world.keys = json!({"version": 2}).to_string();
    world.check(json!("addKey"), &["good"], expect![[r#"
        input Add a Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
        show Error: Sluice: A newer version of Sluice keeps the keys, and this one leaves them alone. Update it to change them.
    "#]]);
}

#[test]
fn a_server_without_a_key() {
    let mut world = with_server("", works());
    world.check(json!("addServer"), &["localhost:11434", "-"], expect![[r#"
        input Use a Local Server: Type the address of a server, such as localhost:11434 for Ollama, and press Enter.
        keys [{"name":"localhost:11434","baseUrl":"http://localhost:11434"}]
        set chat.defaultModel = "acme/one"
        show Information: Sluice: The connection "localhost:11434" works; 2 of its models can chat. New chats start with One. [Start Chatting] [Choose Another Model]
    "#]]);
    // One that isn't on this machine is used after a question, and one that needs a key gets one.
    let mut world = with_server("good", works());
    let answers = ["https://a.example/v1", "-", "https://a.example/v1", "Use This Address", "good", "-"];
    world.check(json!("addServer"), &answers, expect![[r#"
        input Use a Local Server: Type the address of a server, such as localhost:11434 for Ollama, and press Enter.
        show Question: Chats will be sent to https://a.example without a key. [Use This Address]
          invalid: Nothing was sent. Use https, or another address.
        show Question: Chats will be sent to https://a.example without a key. [Use This Address]
        input Add a Key: Paste a key for a.example and press Enter. It is checked before it is kept.
        keys [{"name":"a.example","baseUrl":"https://a.example/v1","key":"good"}]
        set chat.defaultModel = "acme/one"
        show Information: Sluice: The connection "a.example" works; 2 of its models can chat. New chats start with One. [Start Chatting] [Choose Another Model]
    "#]]);
}

#[test]
fn a_refused_key_is_changed_where_it_is() {
    let refused = |connection: Value| json!({"keyRefused": {"connection": connection, "reason": "Wrong key."}});
    let connection = |kept: Value, is_sign_in: bool| {
        json!({
            "label": "Work", "baseUrl": GATEWAY, "problem": null, "mustConfirm": false,
            "kept": kept, "isSignIn": is_sign_in,
        })
    };
    let kept = json!({"name": "Work", "baseUrl": GATEWAY, "key": "old", "replaces": "fingerprint"});
    let mut world = with_server("new", works());
    world.check(refused(connection(kept, false)), &["Change the Key", "new", "-"], expect![[r#"
        show Error: Sluice: Work: Wrong key. [Change the Key]
        input Change the Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
        keys [{"name":"Work","baseUrl":"https://ai-gateway.vercel.sh/v1","key":"new","replaces":"fingerprint"}]
        set chat.defaultModel = "acme/one"
        show Information: Sluice: The connection "Work" works; 2 of its models can chat. New chats start with One. [Start Chatting] [Choose Another Model]
    "#]]);
    world.check(
        refused(connection(Value::Null, true)),
        &["Change the Key"],
        expect![[r#"
        show Error: Sluice: Work: Wrong key. [Change the Key]
        run sluice.signInWithVercelCli []
    "#]],
    );
    world.check(refused(connection(Value::Null, false)), &["Change the Key"], expect![[r#"
        show Error: Sluice: Work: Wrong key. [Change the Key]
        show Information: Sluice: this key is in VS Code's environment, in one of the variables SLUICE_API_KEY, AI_GATEWAY_API_KEY, VERCEL_OIDC_TOKEN. Change it there, then restart VS Code.
    "#]]);
}

#[test]
fn all_lists_are_refreshed() {
    let connection = |label: &str, problem: Value, must_confirm: bool| {
        json!({
            "label": label, "baseUrl": null, "problem": problem, "mustConfirm": must_confirm,
            "kept": null, "isSignIn": false,
        })
    };
    let mut world = World { connections: json!([connection("Work", Value::Null, false)]), ..World::default() };
    world.check(
        json!("refreshModels"),
        &[],
        expect![[r#"
        show Information: Sluice: 3 models can chat.
    "#]],
    );
    world.connections = json!([connection("Work", json!("Nobody confirmed it."), true)]);
    world.check(
        json!("refreshModels"),
        &["Test the Connection"],
        expect![[r#"
        show Warning: Sluice: Work: Nobody confirmed it. [Test the Connection]
        run sluice.testConnection []
    "#]],
    );
    world.check(
        json!("testConnection"),
        &[],
        expect![[r#"
        show Error: Sluice: Address: Nobody confirmed it.
    "#]],
    );
}

#[test]
fn a_user_signs_in_for_a_project() {
    let team = |name: &str| json!({"id": name, "name": name, "slug": "", "isCurrent": false});
    let answer =
        |teams: Value, projects: Value| json!({"teams": teams, "projects": projects, "problem": null, "command": null});
    let nothing = || answer(json!([]), json!([]));
    let projects = || answer(json!([]), json!([{"id": "p1", "name": "site"}]));
    let mut world = with_server("", works());
    world.vercel = vec![answer(json!([team("a"), team("b")]), json!([])), projects(), nothing()];
    world.check(json!("signIn"), &["b", "site"], expect![[r#"
        vercel "teams"
        pick Sign in with the Vercel CLI (Whose credits should be used?): a | b
        vercel {"projects":"b"}
        pick Sign in with the Vercel CLI (Which project of b should the requests belong to?): site
        vercel {"signIn":{"baseUrl":"https://ai-gateway.vercel.sh/v1","origin":"https://ai-gateway.vercel.sh","projectId":"p1","projectName":"site","teamId":"b","teamName":"b"}}
        show Information: Sluice: signed in for b / site. The models are in the model picker of the chat.
    "#]]);
    // With one team, there is nothing to choose, and another gateway has to be confirmed.
    world.settings.insert("sluice.baseUrl".to_owned(), "https://a.example/v1".into());
    world.vercel = vec![answer(json!([team("a")]), json!([])), projects()];
    world.check(json!("signIn"), &["Sign In for This Address", "-"], expect![[r#"
        show Question: Your settings specify https://a.example as the gateway. The token of your Vercel project will be sent there. [Sign In for This Address]
        vercel "teams"
        vercel {"projects":"a"}
        pick Sign in with the Vercel CLI (Which project of a should the requests belong to?): site
    "#]]);
    world.vercel = vec![json!({
        "teams": [], "projects": [], "problem": "vercelNotLoggedIn", "command": "vercel login",
    })];
    let answers = ["Sign In for This Address", "Run `vercel login` in a Terminal"];
    world.check(json!("signIn"), &answers, expect![[r#"
        show Question: Your settings specify https://a.example as the gateway. The token of your Vercel project will be sent there. [Sign In for This Address]
        vercel "teams"
        show Error: Sluice: The Vercel CLI isn't logged in. Run `vercel login` in a terminal, then try again. [Run `vercel login` in a Terminal]
        terminal vercel login
    "#]]);
    world.settings.insert("sluice.baseUrl".to_owned(), "nonsense".into());
    world.check(json!("signIn"), &["Open the Setting"], expect![[r#"
        show Error: Sluice: The base URL does not start with https://. It should look like https://ai-gateway.vercel.sh/v1 [Open the Setting]
        run workbench.action.openSettings ["@id:sluice.baseUrl"]
    "#]]);
    world.check(
        json!("signOut"),
        &[],
        expect![[r#"
        show Information: Sluice: signed out. The token is deleted; the Vercel CLI stays logged in.
    "#]],
    );
}

#[test]
fn recording_is_switched_on_and_off() {
    let toggle =
        |now_ms: u64, has_workspace: bool| json!({"toggleRecording": {"nowMs": now_ms, "hasWorkspace": has_workspace}});
    let mut world = World::default();
    world.check(
        toggle(5, false),
        &[],
        expect![[r#"
        show Information: Sluice: open a folder first. Recordings belong to a workspace.
    "#]],
    );
    world.check(toggle(5, true), &["-"], expect![[r#"
        show Question: Every message that is sent to Sluice's models from this workspace, and every answer, will be kept on this machine for seven days. Recording ends after eight hours. [Record]
    "#]]);
    world.check(toggle(5, true), &["Record"], expect![[r#"
        show Question: Every message that is sent to Sluice's models from this workspace, and every answer, will be kept on this machine for seven days. Recording ends after eight hours. [Record]
        keep recordingUntil = 28800005
    "#]]);
    world.check(
        toggle(6, true),
        &[],
        expect![[r#"
        show Information: Sluice: recording is off. What was recorded is deleted after seven days, or by a command.
        keep recordingUntil = null
    "#]],
    );
}

#[test]
fn a_limit_is_raised() {
    let limit = |model: Value| json!({"period": "month", "model": model, "limit": 0.5, "used": 0.4});
    let ask = |model: Value| json!({"askAboutLimit": {"text": [{"code": "plain", "args": ["Too much."]}], "limit": limit(model)}});
    let mut world = World::default();
    world.check(
        ask(Value::Null),
        &["Raise the Limit", "0.1", "NaN", "$2"],
        expect![[r#"
        show Question: Too much. [Continue This Conversation] [Raise the Limit] [Stop]
        input Raise a Spend Limit: The new limit in US dollars
          invalid: Enter an amount of more than $0.5.
          invalid: Enter an amount of more than $0.5.
        set sluice.spend.month = 2.0
    "#]],
    );
    world.check(
        ask(json!("acme/one")),
        &["Raise the Limit", "3"],
        expect![[r#"
        show Question: Too much. [Continue This Conversation] [Raise the Limit] [Stop]
        input Raise a Spend Limit: The new limit in US dollars
        set sluice.spend.models = {"acme/one":{"month":3.0}}
    "#]],
    );
    world.check(
        ask(Value::Null),
        &["Raise the Limit", "-"],
        expect![[r#"
        show Question: Too much. [Continue This Conversation] [Raise the Limit] [Stop]
        input Raise a Spend Limit: The new limit in US dollars
        done: Stop
    "#]],
    );
    world.check(
        ask(Value::Null),
        &["Continue This Conversation"],
        expect![[r#"
        show Question: Too much. [Continue This Conversation] [Raise the Limit] [Stop]
        done: Continue
    "#]],
    );
    world.check(
        json!({"raiseLimit": limit(Value::Null)}),
        &["1"],
        expect![[r#"
        input Raise a Spend Limit: The new limit in US dollars
        set sluice.spend.month = 1.0
    "#]],
    );
}

#[test]
fn smoother_streaming_is_offered_until_the_user_has_answered() {
    let mut world = World::default();
    world.check(json!("smoothStreaming"), &["-"], expect![[r#"
        show Information: Smoother streaming: VS Code shows text as it arrives instead of word by word. This is an experiment of VS Code (chat.experimental.incrementalRendering), which may change or remove it. It may need a restart of VS Code. [Turn On] [Don't Offer Again]
    "#]]);
    world.check(json!("smoothStreaming"), &["Turn On"], expect![[r#"
        show Information: Smoother streaming: VS Code shows text as it arrives instead of word by word. This is an experiment of VS Code (chat.experimental.incrementalRendering), which may change or remove it. It may need a restart of VS Code. [Turn On] [Don't Offer Again]
        set chat.experimental.incrementalRendering.enabled = true
        set chat.experimental.incrementalRendering.buffering = "off"
        keep smoothStreamingAnswered = true
    "#]]);
    world.check(json!("smoothStreaming"), &["Don't Offer Again"], expect![[r#"
        show Information: Smoother streaming: VS Code shows text as it arrives instead of word by word. This is an experiment of VS Code (chat.experimental.incrementalRendering), which may change or remove it. It may need a restart of VS Code. [Turn On] [Don't Offer Again]
        keep smoothStreamingAnswered = true
    "#]]);
}
