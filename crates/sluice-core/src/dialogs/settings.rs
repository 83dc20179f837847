//! Settings and switches: what can't work, recordings, and VS Code's smoother streaming.

use serde_json::{Value, json};

use super::{Editor, sluice, text};
use crate::boundary::{DialogLevel, DialogRow, DialogStep};
use crate::message::{Message, MessageCode};

/// When recording ends, in the state of the workspace.
const RECORDING_UNTIL: &str = "recordingUntil";
/// Recording ends after this time.
const RECORDING_MS: u64 = 8 * 3_600_000;

/// Says that a setting can't work, and leads to it.
pub(super) async fn show_problem(editor: &Editor, setting: &str, message: Message, others: usize) -> Option<()> {
    let more = (others > 0).then(|| Message::new(MessageCode::MoreInTheLog, [&others]));
    let says = sluice([message].into_iter().chain(more).collect());
    editor.show(DialogLevel::Warning, says, [MessageCode::OpenSetting]).await?;
    editor.open_setting(setting).await
}

/// Switches recording on or off for a workspace.
pub(super) async fn toggle_recording(editor: &Editor, now_ms: u64, has_workspace: bool) -> Option<()> {
    if !has_workspace {
        editor.show(DialogLevel::Information, text(MessageCode::OpenFolderFirst), []).await;
        return None;
    }
    let until: u64 = editor.ask(DialogStep::ReadState { name: RECORDING_UNTIL.to_owned() }).await.unwrap_or_default();
    let until = if until > now_ms {
        editor.show(DialogLevel::Information, text(MessageCode::RecordingIsOff), []).await;
        Value::Null
    } else {
        editor.show(DialogLevel::Question, text(MessageCode::RecordingQuestion), [MessageCode::Record]).await?;
        json!(now_ms.saturating_add(RECORDING_MS))
    };
    editor
        .0
        .ask(DialogStep::WriteState { name: RECORDING_UNTIL.to_owned(), value: until, is_of_workspace: true })
        .await;
    Some(())
}

/// Opens a recording, with the texts of the request or without them.
pub(super) async fn export_recording(editor: &Editor, id: String) -> Option<()> {
    let choices = [
        (MessageCode::WithoutMessages, MessageCode::WithoutMessagesDetail, false),
        (MessageCode::WithMessages, MessageCode::WithMessagesDetail, true),
    ];
    let rows = choices.map(|(label, detail, with_texts)| {
        (DialogRow { label: text(label), detail: text(detail), ..DialogRow::default() }, with_texts)
    });
    let with_texts = editor.pick(text(MessageCode::ExportAsFile), Vec::new(), rows.into()).await?;
    editor.0.ask(DialogStep::OpenRecording { id, with_texts }).await;
    Some(())
}

/// Offers an experiment of VS Code, in which the Chat view shows text when it arrives.
pub(super) async fn smooth_streaming(editor: &Editor) -> Option<()> {
    let buttons = [MessageCode::TurnOn, MessageCode::DontOfferAgain];
    if editor.show(DialogLevel::Information, text(MessageCode::SmoothStreaming), buttons).await? == 0 {
        editor.set("chat.experimental.incrementalRendering.enabled", true.into()).await;
        editor.set("chat.experimental.incrementalRendering.buffering", "off".into()).await;
    }
    let (name, value) = ("smoothStreamingAnswered".to_owned(), true.into());
    editor.0.ask(DialogStep::WriteState { name, value, is_of_workspace: false }).await;
    Some(())
}
