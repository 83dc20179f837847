//! Stores the list of models between runs, in one small file for each endpoint.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

use clap_complete::CompletionCandidate;
use serde::Deserialize;
use sluice_client::private_file;
use sluice_core::{Endpoint, ModelCatalog, ModelSettings, Note};

/// The maximum size of a stored list. A longer file is treated as damaged.
const MAX_FILE: u64 = 64 << 20;

pub struct ModelCache {
    /// `None` if there is no directory for it.
    file: Option<PathBuf>,
}

impl ModelCache {
    pub fn of(endpoint: &Endpoint) -> Self {
        // The name is readable but not unique, because everything except letters, digits and dots becomes a dash. The
        // core therefore compares the address inside the file.
        let name = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        let name: String = endpoint.base_url.chars().map(name).take(100).collect();
        Self { file: directory().map(|directory| directory.join("sluice").join(format!("models-{name}.json"))) }
    }

    pub fn none() -> Self {
        Self { file: None }
    }

    pub fn load(&self, endpoint: &Endpoint) -> (ModelCatalog, Option<Note>) {
        match self.file.as_ref().map(|file| private_file::read(file, MAX_FILE)) {
            Some(Ok(Some(bytes))) => ModelCatalog::restore(&String::from_utf8_lossy(&bytes), endpoint),
            _ => (ModelCatalog::new(endpoint), None),
        }
    }

    /// Writes a temporary file and renames it, so that a concurrent reader sees either the old or the new list, never
    /// half of one.
    pub fn save(&self, catalog: &ModelCatalog) -> Result<(), String> {
        let Some(file) = &self.file else { return Ok(()) };
        let write = |file: &Path| -> io::Result<()> {
            fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
            let temporary = file.with_extension(format!("{}.tmp", process::id()));
            private_file::replace(file, &temporary, catalog.snapshot().as_bytes())
        };
        write(file).map_err(|error| format!("cannot save the list of models in {}: {error}", file.display()))
    }
}

/// Returns the ids of all models in stored lists, for completions in a shell.
pub fn candidates() -> Vec<CompletionCandidate> {
    let files = directory().and_then(|directory| fs::read_dir(directory.join("sluice")).ok());
    let mut ids = BTreeSet::new();
    for file in files.into_iter().flatten().flatten() {
        let Ok(Some(bytes)) = private_file::read(&file.path(), MAX_FILE) else { continue };
        let snapshot = String::from_utf8_lossy(&bytes);
        let Ok(Stored { base_url }) = serde_json::from_str(&snapshot) else { continue };
        let Ok(endpoint) = Endpoint::parse_confirmed(&base_url) else { continue };
        let (catalog, _) = ModelCatalog::restore(&snapshot, &endpoint);
        ids.extend(catalog.models(&ModelSettings::default(), 0).models.into_iter().map(|model| model.id));
    }
    ids.into_iter().map(CompletionCandidate::new).collect()
}

/// The part of a stored list that says where it is from.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    base_url: String,
}

/// Returns the system's directory for data that can be fetched again.
fn directory() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("XDG_CACHE_HOME").or_else(|| {
        if cfg!(windows) {
            set("LOCALAPPDATA")
        } else {
            let home = env::home_dir().filter(|home| home.is_absolute())?;
            Some(if cfg!(target_os = "macos") { home.join("Library/Caches") } else { home.join(".cache") })
        }
    })
}
