//! Conversations that are kept, so that `sluice chat -c` can continue one and `sluice log` can find it. Each is a file
//! that only its owner can read. The oldest are deleted when there are too many.

use std::cmp::Reverse;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sluice_client::private_file;
use sluice_core::{ChatMessage, ChatPart, Role, Secrets};

use crate::ledger;
use crate::records;
use crate::settings_file::{VERSION, check_version};

/// How many conversations are kept, and how many bytes all of them may have.
const MAX_CONVERSATIONS: usize = 500;
const MAX_TOTAL: u64 = 200 << 20;
/// A longer file isn't ours.
const MAX_FILE: u64 = 64 << 20;

/// A conversation with everything that is needed to continue it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// The version of the file; the first ones had none.
    #[serde(default)]
    version: u64,
    pub id: String,
    /// Seconds since 1970.
    pub updated: u64,
    pub model: String,
    /// Where it took place. Reasoning is only sent back there.
    pub origin: String,
    pub messages: Vec<ChatMessage>,
}

impl Conversation {
    /// Starts a conversation. Its id grows with time. The last two digits differ if programs start at the same time.
    pub fn new(model: &str, origin: &str) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let milliseconds = u64::try_from(now.as_millis()).unwrap_or_default();
        let id = base36(milliseconds * 36 * 36 + u64::from(std::process::id()) % (36 * 36));
        Self {
            version: VERSION,
            id,
            updated: now.as_secs(),
            model: model.to_owned(),
            origin: origin.to_owned(),
            messages: Vec::new(),
        }
    }

    /// Returns the start of the first question.
    pub fn title(&self) -> String {
        let questions = self.messages.iter().filter(|message| message.role == Role::User);
        let is_attached = |text: &str| text.starts_with("<file ") || text.starts_with("<page ");
        let mut texts = questions.flat_map(|message| &message.content).filter_map(|part| match part {
            ChatPart::Text { value } if !is_attached(value) => Some(value.as_str()),
            _ => None,
        });
        let first = texts.next().unwrap_or_default();
        let words = first.split_whitespace().take(40).collect::<Vec<_>>().join(" ");
        words.chars().take(100).collect()
    }

    /// Returns whether the words are all in the conversation.
    pub fn contains(&self, words: &[String]) -> bool {
        let texts = self.messages.iter().flat_map(|message| &message.content).filter_map(|part| match part {
            ChatPart::Text { value } => Some(value.to_lowercase()),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n") + "\n" + &self.model.to_lowercase() + "\n" + &self.id;
        words.iter().all(|word| text.contains(&word.to_lowercase()))
    }

    /// Writes the conversation without secrets, and deletes those that were continued first if there are too many.
    pub fn save(&mut self, secrets: &Secrets) -> Result<(), String> {
        self.version = VERSION;
        self.updated = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let directory = directory();
        let file = directory.join(format!("{}.json", self.id));
        let write = || -> io::Result<()> {
            private_file::create_directory(&directory)?;
            let temporary = file.with_extension(format!("{}.new", std::process::id()));
            let json = serde_json::to_string(self)?;
            private_file::replace(&file, &temporary, secrets.mask_values(&json).as_bytes())
        };
        write().map_err(|error| format!("cannot keep the conversation in {}: {error}", file.display()))?;
        drop_old();
        Ok(())
    }

    /// Finds a conversation by the start of its id; without one, the conversation that was continued last.
    pub fn find(id: Option<&str>) -> Result<Self, String> {
        let ids = ids();
        let found: Vec<&String> = ids.iter().filter(|known| known.starts_with(id.unwrap_or_default())).collect();
        match (id, found.as_slice()) {
            (None, [latest, ..]) => Self::load(latest),
            (None, []) => Err("there is no conversation yet".to_owned()),
            (Some(id), []) => Err(format!("there is no conversation {id}; `sluice log` lists them")),
            (Some(_), [one]) => Self::load(one),
            (Some(id), _) => Err(format!("several conversations start with {id}; `sluice log` lists them")),
        }
    }

    pub fn load(id: &str) -> Result<Self, String> {
        let file = directory().join(format!("{id}.json"));
        let problem = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", file.display());
        let bytes = private_file::read(&file, MAX_FILE).map_err(|error| problem(&error))?;
        let bytes = bytes.ok_or_else(|| problem(&"it is gone"))?;
        let json: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| problem(&error))?;
        check_version(&json).map_err(|error| problem(&error))?;
        serde_json::from_value(json).map_err(|error| problem(&error))
    }

    /// Deletes the conversation's file.
    pub fn delete(&self) -> Result<(), String> {
        records::delete(&self.id);
        let file = directory().join(format!("{}.json", self.id));
        fs::remove_file(&file).map_err(|error| format!("cannot delete {}: {error}", file.display()))
    }
}

/// Returns the ids of all conversations, those that were continued last first. Their files have the exact time.
pub fn ids() -> Vec<String> {
    let entries = fs::read_dir(directory()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut ids: Vec<String> = names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect();
    let modified = |id: &str| fs::metadata(directory().join(format!("{id}.json"))).and_then(|file| file.modified());
    ids.sort_by_cached_key(|id| Reverse((modified(id).unwrap_or(UNIX_EPOCH), id.clone())));
    ids
}

fn drop_old() {
    let mut total = 0;
    for (number, id) in ids().into_iter().enumerate() {
        let file = directory().join(format!("{id}.json"));
        total += fs::metadata(&file).map_or(0, |file| file.len());
        if number >= MAX_CONVERSATIONS || total > MAX_TOTAL {
            // It may be gone already.
            let _ = fs::remove_file(file);
            records::delete(&id);
        }
    }
}

fn directory() -> PathBuf {
    ledger::directory().join("conversations")
}

fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    while number > 0 || digits.is_empty() {
        digits.push(char::from_digit(u32::try_from(number % 36).unwrap_or_default(), 36).unwrap_or('0'));
        number /= 36;
    }
    digits.iter().rev().collect()
}
