//! A small JSON file in the directory for settings, which only its owner can read.

use std::fmt::Display;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sluice_client::private_file;

/// A longer file isn't ours.
const MAX_FILE: u64 = 1 << 20;

/// The version of these files, in their field `version`. The first ones had none.
pub const VERSION: u64 = 1;

/// Returns an error for a file that a newer version of the program has written. Saving it again would lose the fields that
/// only the newer version has.
pub fn check_version(json: &Value) -> Result<(), String> {
    match json["version"].as_u64() {
        Some(version) if version > VERSION => {
            Err("a newer version of sluice has written it; update this one".to_owned())
        }
        _ => Ok(()),
    }
}

/// Reads a file. One that doesn't exist has the default value.
pub fn load<T: DeserializeOwned + Default>(file: &Path) -> Result<T, String> {
    let problem = |error: &dyn Display| format!("cannot read {}: {error}", file.display());
    match private_file::read(file, MAX_FILE) {
        Ok(Some(bytes)) => {
            let mut json: Value = serde_json::from_slice(&bytes).map_err(|error| problem(&error))?;
            check_version(&json).map_err(|error| problem(&error))?;
            json.as_object_mut().map(|fields| fields.remove("version"));
            serde_json::from_value(json).map_err(|error| problem(&error))
        }
        Ok(None) => Ok(T::default()),
        // If the directory can't exist, there are no settings. A chat works without them, and its own message names the problem.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(T::default()),
        Err(error) => Err(problem(&error)),
    }
}

/// Replaces a file at once, so that no reader finds half of it.
pub fn save(file: &Path, value: &impl Serialize) -> Result<(), String> {
    let write = || -> io::Result<()> {
        private_file::create_directory(file.parent().unwrap_or(file))?;
        let mut json = serde_json::to_value(value)?;
        json.as_object_mut().map(|fields| fields.insert("version".to_owned(), VERSION.into()));
        let json = serde_json::to_string_pretty(&json)? + "\n";
        private_file::replace(file, &file.with_extension("new"), json.as_bytes())
    };
    write().map_err(|error| format!("cannot write {}: {error}", file.display()))
}
