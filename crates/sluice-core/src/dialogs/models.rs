//! Forms for models: the default, what is set for single models, and which models VS Code uses for its own jobs.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Checked, Editor, Entered, keys, plain, text};
use crate::boundary::{DialogInput, DialogLevel, DialogModel, DialogRow};
use crate::message::{Message, MessageCode};
use crate::models::{edit_override, override_form};

const DEFAULT: &str = "sluice.models.default";
const OVERRIDES: &str = "sluice.models.overrides";
/// VS Code's own setting.
pub(super) const NEW_CHATS: &str = "chat.defaultModel";

fn row(model: &DialogModel) -> DialogRow {
    let details: Vec<_> =
        [&model.detail, &model.pricing].into_iter().filter(|text| !text.is_empty()).cloned().collect();
    DialogRow {
        label: plain(&model.name),
        icon: None,
        description: plain(&model.id),
        detail: plain(&details.join(" · ")),
    }
}

pub(super) async fn choose_default(editor: &Editor) -> Option<()> {
    let mut models = editor.models().await;
    // Several keys may have the same model.
    let mut seen = BTreeSet::new();
    models.retain(|model| seen.insert(model.server_id.clone()));
    if models.is_empty() {
        return keys::none_yet(editor).await;
    }
    let now = editor.text_setting(DEFAULT).await;
    let mut rows = Vec::new();
    if now.is_some() {
        rows.push((DialogRow { label: text(MessageCode::NoDefaultModel), ..DialogRow::default() }, Value::Null));
    }
    for model in &models {
        let is_default = model.is_default || now.as_ref() == Some(&model.server_id);
        let icon = is_default.then_some("check");
        rows.push((DialogRow { icon, ..row(model) }, Value::String(model.server_id.clone())));
    }
    let title = text(MessageCode::ChooseDefaultModel);
    let chosen = editor.pick(title, text(MessageCode::OfferedFirst), rows).await?;
    editor.set(DEFAULT, chosen.clone()).await;
    editor.set_if_known(NEW_CHATS, chosen).await;
    Some(())
}

/// Edits the overrides of a model field by field, until the user leaves the list of fields.
pub(super) async fn edit(editor: &Editor) -> Option<()> {
    let models = editor.models().await;
    if models.is_empty() {
        return keys::none_yet(editor).await;
    }
    let rows = models.into_iter().map(|model| (row(&model), model)).collect();
    let model = editor.pick(text(MessageCode::ChangeModel), text(MessageCode::WhichModel), rows).await?;
    loop {
        let overrides = match editor.setting(OVERRIDES).await {
            Value::Object(overrides) => overrides,
            _ => Map::new(),
        };
        let fields = override_form(&overrides, &model.server_id).into_iter().map(|field| {
            let description = field.value.as_ref().map_or_else(|| text(MessageCode::ModelsOwn), |value| plain(value));
            (DialogRow { label: vec![field.label.clone()], description, ..DialogRow::default() }, field)
        });
        let field = editor.pick(plain(&model.name), text(MessageCode::WhatDiffers), fields.collect()).await?;
        let edit = |input: &str| edit_override(overrides.clone(), &model.server_id, field.name, input);
        let title = vec![field.label.clone()];
        let edited = if field.choices.is_empty() {
            let prompt = vec![Message::new(MessageCode::EnterValue, [&field.example])];
            let input = DialogInput { title, prompt, ..DialogInput::default() };
            let check = async |entered: String| match edit(&entered) {
                Ok(edited) => Checked::Good(edited),
                Err(problem) => Checked::Bad(vec![problem]),
            };
            match editor.input(input, check).await? {
                Entered::Value(edited) => edited,
                Entered::Button(_) => return None,
            }
        } else {
            let own = (text(MessageCode::ModelsOwn), String::new());
            let choices = field.choices.iter().map(|(value, label)| (vec![label.clone()], value.clone()));
            let rows = std::iter::once(own).chain(choices);
            let rows = rows.map(|(label, value)| (DialogRow { label, ..DialogRow::default() }, value)).collect();
            edit(&editor.pick(title, Vec::new(), rows).await?).ok()?
        };
        editor.set(OVERRIDES, if edited.is_empty() { Value::Null } else { edited.into() }).await;
    }
}

/// A job for which VS Code uses a model, unless a setting names another one.
struct Job {
    setting: &'static str,
    label: MessageCode,
    /// Whether a cheap model is enough.
    is_small: bool,
    /// How the setting names a model.
    value: fn(&DialogModel) -> String,
}

const fn job(setting: &'static str, label: MessageCode, is_small: bool, value: fn(&DialogModel) -> String) -> Job {
    Job { setting, label, is_small, value }
}

fn by_id(model: &DialogModel) -> String {
    model.id.clone()
}

fn by_vendor(model: &DialogModel) -> String {
    format!("sluice/{}", model.id)
}

fn by_name(model: &DialogModel) -> String {
    format!("{} (sluice)", model.name)
}

const JOBS: [Job; 6] = [
    job(NEW_CHATS, MessageCode::JobNewChats, false, by_id),
    job("inlineChat.defaultModel", MessageCode::JobInlineChat, false, by_name),
    job("chat.planAgent.defaultModel", MessageCode::JobPlanAgent, false, by_name),
    job("chat.exploreAgent.defaultModel", MessageCode::JobExploreAgent, true, by_name),
    job("chat.utilityModel", MessageCode::JobSummaries, true, by_vendor),
    job("chat.utilitySmallModel", MessageCode::JobTitles, true, by_vendor),
];

/// What the user can do about all jobs, or about one.
enum JobChoice<'a> {
    UseSluice,
    Change(&'static Job),
    /// The settings that name one of our models.
    LeaveToVsCode(&'a [&'static Job]),
}

/// Lets VS Code use Sluice's models for its own jobs, or no longer.
pub(super) async fn set_up(editor: &Editor) -> Option<()> {
    let models = editor.models().await;
    let Some(main) = models.iter().find(|model| model.is_default).or(models.first()) else {
        return keys::none_yet(editor).await;
    };
    let small = models.iter().find(|model| model.is_small_default).unwrap_or(main);
    let with_price = |model: &DialogModel| match model.pricing.as_str() {
        "" => model.name.clone(),
        pricing => format!("{} ({pricing})", model.name),
    };
    loop {
        let mut ours = Vec::new();
        let mut rows = Vec::new();
        for job in &JOBS {
            let now = editor.text_setting(job.setting).await;
            let model = models.iter().find(|model| now.as_ref() == Some(&(job.value)(model)));
            ours.extend(model.map(|_| job));
            let description = match (model, now) {
                (Some(model), _) => plain(&with_price(model)),
                (None, Some(other)) => plain(&other),
                (None, None) => text(MessageCode::VsCodeDecides),
            };
            let icon = Some(if model.is_some() { "pass-filled" } else { "circle-large-outline" });
            let row = DialogRow { label: text(job.label), icon, description, detail: plain(job.setting) };
            rows.push((row, JobChoice::Change(job)));
        }
        let description = vec![Message::new(MessageCode::ModelsForJobs, [&with_price(main), &with_price(small)])];
        let label = text(MessageCode::UseSluiceForAll);
        let all = DialogRow { label, icon: Some("check-all"), description, detail: Vec::new() };
        rows.insert(0, (all, JobChoice::UseSluice));
        let label = text(MessageCode::LeaveAllToVsCode);
        let none = DialogRow { label, icon: Some("discard"), ..DialogRow::default() };
        rows.push((none, JobChoice::LeaveToVsCode(&ours)));
        match editor.pick(text(MessageCode::ModelsForOwnJobs), text(MessageCode::CopilotOtherwise), rows).await? {
            JobChoice::UseSluice => {
                for job in &JOBS {
                    let model = if job.is_small { small } else { main };
                    editor.set_if_known(job.setting, (job.value)(model).into()).await;
                }
                let done = Message::new(MessageCode::JobsAreSet, [&with_price(main), &with_price(small)]);
                editor.show(DialogLevel::Information, vec![done], []).await;
                return Some(());
            }
            JobChoice::Change(job) => {
                let rows = models.iter().map(|model| (row(model), model)).collect();
                if let Some(model) = editor.pick(text(job.label), Vec::new(), rows).await {
                    editor.set_if_known(job.setting, (job.value)(model).into()).await;
                }
            }
            JobChoice::LeaveToVsCode(jobs) => {
                for job in jobs {
                    editor.set_if_known(job.setting, Value::Null).await;
                }
                return Some(());
            }
        }
    }
}
