//! What can go wrong outside of a request. Each variant says what to do next.

use std::error::Error;
use std::path::PathBuf;
use std::{fmt, io};

use sluice_core::MessageCode;

/// The HTTP client can't be set up on this system. Check its proxy settings and certificates.
#[derive(Debug)]
pub struct SetupError(pub(crate) reqwest::Error);

impl fmt::Display for SetupError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot set up HTTP: {}. Check the proxy settings and certificates of this system", self.0)
    }
}

impl Error for SetupError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// Why a text can't be used as a key: an HTTP header could not carry it. Copy the key again, as one word.
///
/// The text itself is never quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// It consists of white space only.
    Empty,
    /// It spans several lines.
    LineBreak,
    /// It contains white space.
    WhiteSpace,
    /// It contains a control character.
    ControlCharacter,
    /// It contains a character that isn't ASCII.
    NotAscii,
}

impl fmt::Display for KeyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self {
            Self::Empty => "is empty",
            Self::LineBreak => "contains a line break",
            Self::WhiteSpace => "contains white space",
            Self::ControlCharacter => "contains a control character",
            Self::NotAscii => "contains a character that isn't ASCII",
        };
        write!(formatter, "the key {problem}; copy it again, as one word")
    }
}

impl Error for KeyError {}

/// Why a [`Store`](crate::Store) can't keep anything, or has lost what it kept. A program can continue without it.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The directory can't be used. Choose another one.
    ChooseDirectory {
        /// The directory.
        directory: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// Other processes held the lock for too long. Save again later; nothing is lost until the program ends.
    SaveLater {
        /// The directory.
        directory: PathBuf,
    },
    /// The file was damaged. It has been set aside, and the store starts with an empty memory.
    StartedOver,
    /// A newer version keeps the file, and this one doesn't touch it. Update this program.
    Update,
}

impl fmt::Display for StoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ChooseDirectory { directory, source } => {
                write!(formatter, "token counts and usage are not kept: {}: {source}", directory.display())
            }
            Self::SaveLater { directory } => write!(
                formatter,
                "token counts and usage are not saved yet: another process holds the lock in {}",
                directory.display()
            ),
            Self::StartedOver => formatter.write_str(MessageCode::MemoryDamaged.english().trim_end_matches('.')),
            Self::Update => formatter.write_str(MessageCode::MemoryNewer.english().trim_end_matches('.')),
        }
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::ChooseDirectory { source, .. } => Some(source),
            _ => None,
        }
    }
}
