//! An editor with a user, for dialogs.

use std::collections::BTreeMap;

use expect_test::Expect;
use serde_json::{Value, json};
use sluice_core::{Dialog, DialogStep, DialogWork, Message, join_messages};

/// An editor with settings, keys and connections.
#[derive(Default)]
pub struct World {
    pub settings: BTreeMap<String, Value>,
    pub state: BTreeMap<String, Value>,
    pub keys: String,
    pub models: Value,
    pub connections: Value,
    /// What servers say, by their keys.
    pub servers: BTreeMap<String, Value>,
    /// Whether the user closes input boxes while an input is checked.
    pub is_impatient: bool,
    /// What Vercel says, one answer after the other.
    pub vercel: Vec<Value>,
}

impl World {
    /// Has a dialog with a user who chooses these labels, enters these texts or presses these buttons, and cancels where there is
    /// `-`. Checks what they see and what is changed.
    #[expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]
    pub fn check(&mut self, dialog: Value, answers: &[&str], expected: Expect) {
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
                answer
                    .cloned()
                    .unwrap_or_else(|| json!({"models": 0, "problems": [], "refusal": [plain("Wrong key.")]}))
            }
            DialogStep::AskVercel { .. } => self.vercel.remove(0),
            DialogStep::CloseInput => (!self.is_impatient).into(),
            DialogStep::SignOut | DialogStep::ConfirmAddress { .. } => true.into(),
            DialogStep::RefreshModels { .. } => json!([["Work", {"models": 3, "problems": []}]]),
            DialogStep::TestConnection { .. } => json!({"verdict": "It works.", "isFailed": false, "details": "Card"}),
            _ => Value::Null,
        }
    }
}

/// Returns a message that is the same in every language.
pub fn plain(text: &str) -> Value {
    json!({"code": "plain", "args": [text]})
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
        DialogStep::OpenRecording { id, with_texts } => format!("open {id}, with texts: {with_texts}"),
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

pub const GATEWAY: &str = "https://ai-gateway.vercel.sh/v1";

pub fn with_server(key: &str, answer: Value) -> World {
    World {
        settings: BTreeMap::from([("sluice.baseUrl".to_owned(), GATEWAY.into())]),
        servers: BTreeMap::from([(key.to_owned(), answer)]),
        connections: json!([]),
        ..World::default()
    }
}

pub fn works() -> Value {
    json!({"models": 2, "problems": [], "defaultModel": ["acme/one", "One"]})
}
