//! Switching recordings and VS Code's smoother streaming on and off.

use serde_json::{Value, json};

use super::{Editor, text};
use crate::boundary::{DialogLevel, DialogStep};
use crate::message::MessageCode;

/// When recording ends, in the state of the workspace.
const RECORDING_UNTIL: &str = "recordingUntil";
/// Recording ends after this time.
const RECORDING_MS: u64 = 8 * 3_600_000;

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
