//! Recordings: exchanges word for word, if the user wants them. Each is a file that is written once.

use super::retention::RECORDINGS;
use super::{Folder, ShellWork, hex};
use crate::boundary::{RecordingTask, WorkTask};
use crate::recording::Recording;
use crate::secrets::Secrets;

const FOLDER: &str = "recordings";

impl WorkTask<RecordingTask> {
    /// Starts the task.
    pub fn start(self) -> ShellWork {
        let Self { task, now_ms, random } = self;
        match task {
            RecordingTask::Keep(recording) => ShellWork::new(async move |folder| {
                let file = file_of(&recording.record.id);
                let content = serde_json::to_vec(&recording).unwrap_or_default();
                folder.replace(&file, format!("{file}.{}.tmp", hex(random)), content).await;
                prune(&folder, now_ms).await;
            }),
            RecordingTask::Prune => ShellWork::new(async move |folder| prune(&folder, now_ms).await),
            RecordingTask::DeleteAll => ShellWork::new(async |folder| folder.delete(FOLDER.to_owned()).await),
            RecordingTask::Has(id) => ShellWork::new(async move |folder| {
                let files = folder.list(FOLDER, false).await;
                files.iter().any(|file| format!("{FOLDER}/{}", file.name) == file_of(&id))
            }),
            RecordingTask::Export { id, secrets, with_texts } => ShellWork::new(async move |folder| {
                let content = folder.read(&file_of(&id)).await?;
                let recording = Recording::read(&String::from_utf8_lossy(&content))?;
                let secrets = Secrets::new(secrets);
                let exported = if with_texts { recording } else { recording.redacted(&secrets) };
                Some(secrets.mask_values(&exported.to_exchange()).into_owned())
            }),
        }
    }
}

fn file_of(id: &str) -> String {
    format!("{FOLDER}/{id}.json")
}

/// Deletes old recordings.
async fn prune(folder: &Folder, now_ms: u64) {
    let files = folder.list(FOLDER, true).await.into_iter();
    let files = files.map(|file| (format!("{FOLDER}/{}", file.name), file.modified_ms, file.size));
    RECORDINGS.apply(folder, files.collect(), now_ms).await;
}
