//! Files that only their owner may read, in directories that others may be able to write to.
//!
//! These files are read automatically, so anything at their paths must be harmless: a symbolic link is not followed, a
//! pipe or a device is not waited for, and a huge file is not read to its end.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

/// Reads up to `limit` bytes of a file that belongs to this user. To find out whether there is more, ask for one byte
/// more. Returns `None` if there is no such file. Anything that isn't a regular file, or that another user owns, is an
/// error.
pub fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match open(path, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Replaces a file atomically: a concurrent reader sees the old one or the new one, never half of one. It is first
/// written to `temporary`, in the same directory; a file that a crash left there is removed.
pub fn replace(path: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let write = || {
        // A file or link that another user has created since then is an error.
        let mut file = open(temporary, OpenOptions::new().write(true).create_new(true))?;
        file.write_all(bytes)?;
        file.sync_all()?;
        drop(file);
        fs::rename(temporary, path)
    };
    let written = write();
    if written.is_err() {
        let _ = fs::remove_file(temporary);
    }
    written
}

/// Opens a file of this user for locking, and creates it if necessary.
pub fn open_lock(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().write(true).create(true).truncate(false))
}

/// Creates a directory that is private to this user, with its parents. An existing one must belong to this user.
pub fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)?;
    check_owner(&fs::metadata(path)?)
}

/// Creates a file that the user has named, or empties an existing one. It may be a link or a device, because the user
/// chose it. A regular file is made private before anything is written to it.
pub fn create_named(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    if file.metadata()?.is_file() {
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    }
    Ok(file)
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::OFlags;

        // Opening a pipe doesn't wait for the other end.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        options.mode(0o600).custom_flags(flags.cast_signed());
    }
    let is_something_else = || fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file());
    if cfg!(not(unix)) && is_something_else() {
        return Err(not_a_file(path));
    }
    let file = options.open(path).map_err(|error| if is_something_else() { not_a_file(path) } else { error })?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(not_a_file(path));
    }
    check_owner(&metadata)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        // The file was left by an older version or restored from a backup. On a read-only disk, it stays as it is.
        if metadata.permissions().mode() & 0o077 != 0 {
            let _ = file.set_permissions(PermissionsExt::from_mode(0o600));
        }
    }
    Ok(file)
}

fn not_a_file(path: &Path) -> io::Error {
    let name = path.file_name().unwrap_or(path.as_os_str()).display();
    io::Error::new(ErrorKind::InvalidInput, format!("{name} is not a regular file"))
}

#[cfg(unix)]
fn check_owner(metadata: &Metadata) -> io::Result<()> {
    if std::os::unix::fs::MetadataExt::uid(metadata) == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::PermissionDenied, "it belongs to another user"))
}

/// On other systems, others can't read a user's directories by default.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "as on Unix")]
fn check_owner(_: &Metadata) -> io::Result<()> {
    Ok(())
}
