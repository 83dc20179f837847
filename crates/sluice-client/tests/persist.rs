//! Attacks the memory file on a small scale; `cargo xtask persist` does so in full.

use crate::support::persist;
use sluice_client::{Store, StoreError};
use sluice_core::{InstallKey, Memory};

#[test]
fn killed_writers_and_flipped_bits_never_break_the_memory() {
    let plan = persist::Plan {
        kills: 20,
        flips: 5000,
        writers: 4,
        updates: 25,
        victim_arguments: &["--exact", "persist::a_victim", "--ignored", "--nocapture"],
    };
    let report = persist::run(&plan, &scratch("attack"), &mut |_| {});
    assert!(report.bad.is_empty(), "{report}");
}

#[test]
#[ignore = "not a test, but the process that the test above kills"]
fn a_victim() {
    persist::live_as_victim();
}

fn scratch(name: &str) -> std::path::PathBuf {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("persist-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    directory
}

#[test]
fn without_a_directory_the_memory_lasts_for_this_run() {
    let file = scratch("file");
    std::fs::write(&file, "not a directory").unwrap();
    let (store, mut memory, error) = Store::open(file.join("below"));
    assert!(matches!(error, Some(StoreError::ChooseDirectory { .. })));
    assert!(matches!(store.save(&mut memory), Err(StoreError::ChooseDirectory { .. })));
    std::fs::remove_file(file).unwrap();
}

#[cfg(unix)]
#[test]
fn stored_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let directory = scratch("private");
    let (store, mut memory, error) = Store::open(&directory);
    assert!(error.is_none());
    store.save(&mut memory).unwrap();
    let mode = |name: &str| std::fs::metadata(directory.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(["", "key", "memory", "lock"].map(mode), [0o700, 0o600, 0o600, 0o600]);
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn the_installation_key_is_created_once() {
    let directory = scratch("key");
    let key = || std::fs::read(directory.join("key")).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| Store::open(&directory));
        }
    });
    let made = key();
    assert_eq!(made.len(), 16);
    assert_ne!(made, [0; 16]);
    let _ = Store::open(&directory);
    assert_eq!(key(), made);
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_newer_file_is_not_touched() {
    use std::hash::Hasher;

    use siphasher::sip128::{Hasher128, SipHasher24};
    let directory = scratch("newer");
    let _ = Store::open(&directory);
    let mut file = b"SLUICE\x1A\n\x02\0\0\0what the future holds".to_vec();
    let word = u64::from_le_bytes(*b"SLUICE\x1A\n");
    let mut hasher = SipHasher24::new_with_keys(word, word);
    hasher.write(&file);
    file.extend(hasher.finish128().as_u128().to_le_bytes());
    std::fs::write(directory.join("memory"), &file).unwrap();
    let (store, mut memory, error) = Store::open(&directory);
    assert!(matches!(error, Some(StoreError::Update)));
    store.save(&mut memory).unwrap();
    assert_eq!(std::fs::read(directory.join("memory")).unwrap(), file);
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_save_that_fails_loses_nothing() {
    let directory = scratch("fails");
    let (store, mut memory, _) = Store::open(&directory);
    // There is a directory where the temporary file should be, which has the same effect as a full disk.
    std::fs::create_dir_all(directory.join("memory.new")).unwrap();
    memory.record(&persist::used(), 20_000);
    store.save(&mut memory).unwrap_err();
    std::fs::remove_dir(directory.join("memory.new")).unwrap();
    store.save(&mut memory).unwrap();
    store.save(&mut memory).unwrap();
    let (_, read, _) = Store::open(&directory);
    assert_eq!(read.history().rows().map(|(_, _, totals)| totals.requests).sum::<u64>(), 1);
    // With another installation's key, usage can be read but counts can't.
    let bytes = std::fs::read(directory.join("memory")).unwrap();
    assert_eq!(Memory::read(InstallKey([7; 16]), Some(&bytes)).0.history(), read.history());
    std::fs::remove_dir_all(directory).unwrap();
}
