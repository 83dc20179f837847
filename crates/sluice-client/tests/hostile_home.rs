//! A state directory that another user has prepared: nothing outside of it is touched, nothing is waited for, and an
//! error says why nothing is saved.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::{Expect, expect};
use sluice_client::{Store, StoreError, private_file};

fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile-home").join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// Opens a store in this directory and saves it. Returns the error of each step, or `kept`.
fn errors_of(directory: &Path) -> String {
    let (store, mut memory, error) = Store::open(directory);
    let saved = store.save(&mut memory).err();
    let line = |error: Option<StoreError>| {
        error.map_or("kept".into(), |error| error.to_string()).replace(&directory.display().to_string(), "HOME")
    };
    format!("{}\n{}\n", line(error), line(saved))
}

#[test]
fn links_are_not_followed() {
    for name in ["memory", "memory.new", "key", "key.new", "lock"] {
        let (directory, victim) = (scratch("link"), scratch("victim").join("precious"));
        fs::write(&victim, "precious").unwrap();
        fs::set_permissions(&victim, PermissionsExt::from_mode(0o644)).unwrap();
        symlink(&victim, directory.join(name)).unwrap();
        let errors = errors_of(&directory);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{name}");
        assert_eq!(fs::metadata(&victim).unwrap().permissions().mode() & 0o777, 0o644, "{name}");
        // A temporary file that was left behind is replaced. For the other files, a link is a reason not to save
        // anything.
        let kept = "kept\nkept\n";
        assert!(
            if name.contains("new") { errors == kept } else { errors.contains("is not a regular file") },
            "{errors}"
        );
    }
}

#[test]
fn a_dangling_link_creates_no_file() {
    for name in ["memory", "memory.new", "key", "key.new", "lock"] {
        let (directory, target) = (scratch("dangling"), scratch("target").join("new"));
        symlink(&target, directory.join(name)).unwrap();
        errors_of(&directory);
        assert!(!target.exists(), "{name}");
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]
fn check(name: &str, make: impl Fn(&Path), expected: Expect) {
    let directory = scratch("things");
    make(&directory.join(name));
    expected.assert_eq(&errors_of(&directory));
}

#[test]
fn pipes_directories_and_devices_are_not_waited_for() {
    let pipe = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let directory = |path: &Path| fs::create_dir(path).unwrap();
    check(
        "memory",
        pipe,
        expect![[r#"
            token counts and usage are not kept: HOME: memory is not a regular file
            token counts and usage are not kept: HOME: memory is not a regular file
        "#]],
    );
    check(
        "key",
        pipe,
        expect![[r#"
            token counts and usage are not kept: HOME: key is not a regular file
            kept
        "#]],
    );
    check(
        "lock",
        pipe,
        expect![[r#"
            token counts and usage are not kept: HOME: lock is not a regular file
            token counts and usage are not kept: HOME: lock is not a regular file
        "#]],
    );
    check(
        "memory",
        directory,
        expect![[r#"
            token counts and usage are not kept: HOME: memory is not a regular file
            token counts and usage are not kept: HOME: memory is not a regular file
        "#]],
    );
    check(
        "key",
        directory,
        expect![[r#"
            token counts and usage are not kept: HOME: key is not a regular file
            kept
        "#]],
    );
    check(
        "memory",
        |path| symlink("/dev/zero", path).unwrap(),
        expect![[r#"
            token counts and usage are not kept: HOME: memory is not a regular file
            token counts and usage are not kept: HOME: memory is not a regular file
        "#]],
    );
}

#[test]
fn a_huge_file_is_not_read_to_its_end() {
    let directory = scratch("huge");
    let path = directory.join("key");
    // A sparse file: three gigabytes that take no space.
    fs::File::create(&path).unwrap().set_len(3 << 30).unwrap();
    assert_eq!(private_file::read(&path, 17).unwrap().unwrap().len(), 17);
    assert_eq!(errors_of(&directory), "kept\nkept\n");
    assert_eq!(fs::metadata(&path).unwrap().len(), 16, "a key that has another length is replaced");
}

#[test]
fn readable_files_are_made_private() {
    let directory = scratch("open");
    assert_eq!(errors_of(&directory), "kept\nkept\n");
    for name in ["memory", "key", "lock"] {
        fs::set_permissions(directory.join(name), PermissionsExt::from_mode(0o644)).unwrap();
    }
    assert_eq!(errors_of(&directory), "kept\nkept\n");
    for name in ["memory", "key", "lock"] {
        assert_eq!(fs::metadata(directory.join(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[test]
fn files_of_other_users_are_not_used() {
    let directory = scratch("theirs");
    // Only root can change a file's owner. For everyone else, a file of root belongs to another user.
    let given_away = std::os::unix::fs::chown(&directory, Some(12_345), None).is_ok();
    let theirs = if given_away { directory.as_path() } else { Path::new("/") };
    assert!(errors_of(theirs).contains("it belongs to another user"));
    if given_away {
        assert_eq!(fs::read_dir(theirs).unwrap().count(), 0);
        let directory = scratch("their-file");
        fs::write(directory.join("memory"), "").unwrap();
        std::os::unix::fs::chown(directory.join("memory"), Some(12_345), None).unwrap();
        assert!(errors_of(&directory).contains("it belongs to another user"));
    }
}

#[test]
fn a_new_file_is_private_before_it_is_written() {
    let directory = scratch("named");
    let path = directory.join("capture.txt");
    fs::write(&path, "from before").unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    drop(private_file::create_named(&path).unwrap());
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.len(), metadata.permissions().mode() & 0o777), (0, 0o600));
    // Devices are unchanged.
    let before = fs::metadata("/dev/null").unwrap().permissions().mode();
    drop(private_file::create_named(Path::new("/dev/null")).unwrap());
    assert_eq!(fs::metadata("/dev/null").unwrap().permissions().mode(), before);
}
