//! Asking before a request would pass a limit, and raising limits.

use serde_json::{Map, Value, json};

use super::{Checked, Editor, Entered, text};
use crate::boundary::{DialogInput, DialogLevel, Dollars, LimitState, SpendChoice};
use crate::message::{Message, MessageCode};

/// Asks what to do about a request that would pass a limit. Returns `None` if the user has raised the limit.
pub(super) async fn ask(editor: &Editor, says: Vec<Message>, limit: LimitState) -> Option<SpendChoice> {
    let buttons = [MessageCode::ContinueConversation, MessageCode::RaiseTheLimit, MessageCode::Stop];
    match editor.show(DialogLevel::Question, says, buttons).await {
        Some(0) => Some(SpendChoice::Continue),
        Some(1) if raise(editor, limit).await.is_some() => None,
        _ => Some(SpendChoice::Stop),
    }
}

/// Asks for a higher limit.
pub(super) async fn raise(editor: &Editor, limit: LimitState) -> Option<()> {
    let LimitState { period, model, limit, .. } = limit;
    let input = DialogInput {
        title: text(MessageCode::RaiseSpendLimit),
        prompt: text(MessageCode::NewLimit),
        value: (limit.as_f64() * 2.0).to_string(),
        ..DialogInput::default()
    };
    let check = async |entered: String| match Dollars::parse(&entered) {
        Some(dollars) if dollars > limit => Checked::Good(json!(dollars)),
        _ => Checked::Bad(vec![Message::new(MessageCode::LimitTooLow, [&limit.as_f64()])]),
    };
    let Entered::Value(dollars) = editor.input(input, check).await? else { return None };
    let period = json!(period).as_str().unwrap_or_default().to_owned();
    let Some(model) = model else {
        editor.set(&format!("sluice.spend.{period}"), dollars).await;
        return Some(());
    };
    let name = "sluice.spend.models";
    let mut models = object(editor.setting(name).await);
    let mut limits = object(models.remove(&model).unwrap_or_default());
    limits.insert(period, dollars);
    models.insert(model, limits.into());
    editor.set(name, models.into()).await;
    Some(())
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
