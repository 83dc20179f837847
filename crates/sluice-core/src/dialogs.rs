//! Dialogs with the user of an editor: what is asked next, what is done with the answers, and what is shown at the end.
//!
//! They are `async` functions that use an [`Editor`]. Each use becomes a [`DialogStep`] for the shell (`steps.rs`).

mod connections;
mod keys;
mod models;
mod settings;
mod sign_in;
mod spending;

use std::fmt;
use std::ops::ControlFlow;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::boundary::{
    Dialog, DialogConnection, DialogInput, DialogLevel, DialogModel, DialogRow, DialogStep, InputAnswer, SpendChoice,
};
use crate::message::{Message, MessageCode};
use crate::steps::{Steps, Work};

/// A dialog that has been started. A shell calls [`next`](Self::next) until the dialog is [done](DialogStep::Done).
pub struct DialogWork(Work<DialogStep, Value, Option<SpendChoice>>);

impl fmt::Debug for DialogWork {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DialogWork").field("is_done", &self.0.is_done()).finish_non_exhaustive()
    }
}

impl DialogWork {
    /// Starts a dialog.
    pub fn new(dialog: Dialog) -> Self {
        Self(Work::new(async move |steps| {
            let editor = Editor(steps);
            let completed = match dialog {
                Dialog::AskAboutLimit { text, limit } => return spending::ask(&editor, text, limit).await,
                Dialog::RaiseLimit(Some(limit)) => spending::raise(&editor, limit).await,
                Dialog::RaiseLimit(None) => editor.open_setting("spend").await,
                Dialog::RefreshModels => connections::refresh_models(&editor).await,
                Dialog::TestConnection => connections::test(&editor).await,
                Dialog::ConnectionProblem(problem) => connections::show_problem(&editor, plain(&problem)).await,
                Dialog::SettingProblem { setting, message, others } => {
                    settings::show_problem(&editor, &setting, message, others).await
                }
                Dialog::SignIn => sign_in::sign_in(&editor).await,
                Dialog::SignOut => sign_in::sign_out(&editor).await,
                Dialog::ToggleRecording { now_ms, has_workspace } => {
                    settings::toggle_recording(&editor, now_ms, has_workspace).await
                }
                Dialog::ExportRecording(id) => settings::export_recording(&editor, id).await,
                Dialog::SmoothStreaming => settings::smooth_streaming(&editor).await,
                Dialog::ChooseDefaultModel => models::choose_default(&editor).await,
                Dialog::EditModel => models::edit(&editor).await,
                Dialog::SetUpModels => models::set_up(&editor).await,
                Dialog::NoKeyYet => keys::none_yet(&editor).await,
                Dialog::Greet => keys::greet(&editor).await,
                Dialog::StartWith(model) => keys::start_with(&editor, &model).await.map(|_| ()),
                Dialog::AddKey => keys::add(&editor).await,
                Dialog::KeyRefused { connection, reason } => keys::refused(&editor, connection, reason).await,
                Dialog::AddServer => keys::add_server(&editor).await,
            };
            completed.and(None)
        }))
    }

    /// Returns what to do next. `answer` is the answer to the last step; there is none at the beginning.
    pub fn next(&mut self, answer: Option<Value>) -> DialogStep {
        match self.0.next(answer) {
            Some(ControlFlow::Continue(step)) => step,
            Some(ControlFlow::Break(choice)) => DialogStep::Done { choice },
            None => DialogStep::Done { choice: None },
        }
    }
}

/// The editor and its user. Functions that use it return `None` if the user cancels, which ends the dialog.
struct Editor(Steps<DialogStep, Value>);

impl Editor {
    /// Lets the user choose a row, and returns what comes with it.
    async fn pick<T>(&self, title: Vec<Message>, placeholder: Vec<Message>, rows: Vec<(DialogRow, T)>) -> Option<T> {
        let (rows, mut values): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let index: usize = self.ask(DialogStep::Pick { title, placeholder, rows }).await?;
        (index < values.len()).then(|| values.swap_remove(index))
    }

    /// Asks for a text until `check` accepts it, and returns what `check` made of it.
    async fn input<T>(
        &self,
        input: DialogInput,
        mut check: impl AsyncFnMut(String) -> Checked<T>,
    ) -> Option<Entered<T>> {
        let mut problem = None;
        let mut doubtful: Option<(String, T)> = None;
        loop {
            let step = DialogStep::Input { input: input.clone(), problem: problem.take() };
            let text = match self.ask(step).await? {
                InputAnswer::Button(index) => return Some(Entered::Button(index)),
                InputAnswer::Entered(text) => text,
            };
            let value = match doubtful.take() {
                Some((before, value)) if before == text => value,
                _ => match check(text.clone()).await {
                    Checked::Good(value) => value,
                    Checked::Doubtful(value, mut text_of_problem) => {
                        text_of_problem.push(MessageCode::EnterAgain.into());
                        problem = Some(text_of_problem);
                        doubtful = Some((text, value));
                        continue;
                    }
                    Checked::Bad(text_of_problem) => {
                        problem = Some(text_of_problem);
                        continue;
                    }
                },
            };
            let is_open: bool = self.ask(DialogStep::CloseInput).await?;
            return is_open.then_some(Entered::Value(value));
        }
    }

    /// Shows a message. If it has buttons, returns the index of the one that is pressed.
    async fn show<const N: usize>(
        &self,
        level: DialogLevel,
        text: Vec<Message>,
        buttons: [MessageCode; N],
    ) -> Option<usize> {
        self.ask(DialogStep::Show { level, text, buttons: buttons.map(Message::from).into() }).await
    }

    /// Shows a message whose buttons run commands.
    async fn offer<const N: usize>(
        &self,
        level: DialogLevel,
        text: Vec<Message>,
        buttons: [MessageCode; N],
        commands: [&str; N],
    ) -> Option<()> {
        let chosen = self.show(level, text, buttons).await?;
        self.run(commands.get(chosen)?, Vec::new()).await;
        Some(())
    }

    async fn setting(&self, name: &str) -> Value {
        self.ask(DialogStep::ReadSetting { name: name.to_owned(), is_own: false }).await.unwrap_or_default()
    }

    /// Returns a setting that is a text, unless it is empty.
    async fn text_setting(&self, name: &str) -> Option<String> {
        self.setting(name).await.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Changes a setting of Sluice.
    async fn set(&self, name: &str, value: Value) {
        self.write(name, value, false).await;
    }

    /// Changes a setting of VS Code, which other versions may not have.
    async fn set_if_known(&self, name: &str, value: Value) {
        self.write(name, value, true).await;
    }

    async fn write(&self, name: &str, value: Value, may_be_unknown: bool) {
        self.0.ask(DialogStep::WriteSetting { name: name.to_owned(), value, may_be_unknown }).await;
    }

    async fn run(&self, command: &str, arguments: Vec<Value>) {
        self.0.ask(DialogStep::Run { command: command.to_owned(), arguments }).await;
    }

    /// Returns all connections except the demo.
    async fn connections(&self) -> Vec<DialogConnection> {
        self.ask(DialogStep::ListConnections).await.unwrap_or_default()
    }

    /// Shows a setting of Sluice.
    async fn open_setting(&self, name: &str) -> Option<()> {
        self.run("workbench.action.openSettings", vec![format!("@id:sluice.{name}").into()]).await;
        Some(())
    }

    async fn models(&self) -> Vec<DialogModel> {
        self.ask(DialogStep::ListModels).await.unwrap_or_default()
    }

    async fn ask<T: DeserializeOwned>(&self, step: DialogStep) -> Option<T> {
        serde_json::from_value(self.0.ask(step).await).ok().flatten()
    }
}

/// What a check says about an input.
enum Checked<T> {
    Good(T),
    /// There is a problem, but the user may know better: entering it again is enough.
    Doubtful(T, Vec<Message>),
    Bad(Vec<Message>),
}

/// How the user answered in an input box.
enum Entered<T> {
    Value(T),
    /// The index of the button that was pressed.
    Button(usize),
}

/// Returns a text that is the same in every language.
fn plain(text: &str) -> Vec<Message> {
    vec![Message::new(MessageCode::Plain, [&text])]
}

/// Returns a text that says who is speaking.
fn sluice(text: Vec<Message>) -> Vec<Message> {
    plain("Sluice:").into_iter().chain(text).collect()
}

/// Returns a text with one sentence or label.
fn text(code: MessageCode) -> Vec<Message> {
    vec![code.into()]
}
