//! Windows that use the same files at the same time, in every order of their steps, and windows that die after any step.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{
    ChatRequest, Counter, KeptLedger, Ledger, LedgerTask, Memory, Recording, RecordingTask, Shared, Vault, VaultTask,
    WorkStep, WorkTask,
};

use crate::support;
use crate::support::spending::{KEY, TODAY, chat, cost, model};
use crate::support::windows::{DAY_MS, Disk, NOW_MS, Window, in_every_order, task};

fn ledger() -> Shared<KeptLedger> {
    Shared::new(KeptLedger::new(Ledger::new(Counter::estimating(), KEY)))
}

/// A request begins and ends.
fn request(kept: &Shared<KeptLedger>, id: &str) {
    let chat = ChatRequest { model: "acme/m".to_owned(), ..ChatRequest::default() };
    kept.with(|kept| {
        kept.ledger.begin(id, "talk", chat, model(), NOW_MS);
        let ended = kept.ledger.end(id, &cost(1.0), NOW_MS, TODAY);
        assert!(ended.is_some());
    });
}

fn run(kept: &Shared<KeptLedger>, what: LedgerTask, random: u8, disk: &mut Disk) -> Value {
    Window::new(task(what, random).start(kept)).finish(disk)
}

/// Returns how many requests a new window knows of.
fn requests(disk: &Disk) -> u64 {
    let kept = ledger();
    run(&kept, LedgerTask::Load, 0x99, &mut disk.clone());
    kept.with(|kept| kept.ledger.history().rows().map(|(_, _, totals)| totals.requests).sum())
}

/// A disk with the key and a file in which there is one request.
fn used_disk() -> Disk {
    let mut disk = Disk::with(&[("key", &KEY.0, 0)]);
    let kept = ledger();
    request(&kept, "earlier");
    run(&kept, LedgerTask::Save, 0x77, &mut disk);
    disk
}

/// Invariant L6.
#[test]
fn windows_that_save_at_the_same_time_lose_nothing() {
    let start = used_disk();
    let orders = in_every_order(|both| {
        let mut disk = start.clone();
        let windows = [ledger(), ledger()];
        request(&windows[0], "a");
        request(&windows[1], "b");
        let [mut one, mut other] = [0, 1].map(|at| {
            let random = if at == 0 { 0x11 } else { 0x22 };
            Window::new(task(LedgerTask::Save, random).start(&windows[at]))
        });
        both(&mut one, &mut other, &mut disk);
        assert_eq!(requests(&disk), 3, "{}", disk.names());
        assert!(!disk.names().contains(".t"), "{}", disk.names());
    });
    assert!(orders > 1_000, "{orders} orders");
}

/// Invariant L6.
#[test]
fn a_window_that_dies_while_it_saves_loses_at_most_what_is_its_own() {
    let start = used_disk();
    for steps in 0.. {
        let mut disk = start.clone();
        let kept = ledger();
        request(&kept, "lost");
        let mut dying = Window::new(task(LedgerTask::Save, 0x11).start(&kept));
        let is_over = !(0..steps).all(|_| dying.advance(&mut disk));
        let found = requests(&disk);
        assert!(found == 1 || found == 2, "{found} requests after {steps} steps: {}", disk.names());
        let survivor = ledger();
        request(&survivor, "kept");
        run(&survivor, LedgerTask::Save, 0x22, &mut disk);
        assert_eq!(requests(&disk), found + 1, "after {steps} steps: {}", disk.names());
        if is_over {
            assert_eq!(found, 2);
            break;
        }
    }
}

#[test]
fn a_reader_sees_every_file_while_another_window_saves() {
    let start = used_disk();
    in_every_order(|both| {
        let mut disk = start.clone();
        let [saver, reader] = [ledger(), ledger()];
        request(&saver, "a");
        let mut saving = Window::new(task(LedgerTask::Save, 0x11).start(&saver));
        let mut reading = Window::new(task(LedgerTask::Load, 0x22).start(&reader));
        both(&mut saving, &mut reading, &mut disk);
        let seen: u64 = reader.with(|kept| kept.ledger.history().rows().map(|(_, _, totals)| totals.requests).sum());
        assert!(seen == 1 || seen == 2, "{seen} requests: {}", disk.names());
    });
}

#[test]
fn files_of_other_versions() {
    let check = |name: &str, content: &[u8], messages: Value, names: Expect| {
        let mut disk = Disk::with(&[("key", &KEY.0, 0), (name, content, 0)]);
        let kept = ledger();
        assert_eq!(run(&kept, LedgerTask::Load, 0x11, &mut disk), messages);
        request(&kept, "a");
        run(&kept, LedgerTask::Save, 0x11, &mut disk);
        names.assert_eq(&disk.names());
        assert_eq!(requests(&disk), 1);
    };
    check("memory", b"half a fi", json!(["memoryDamaged"]), expect!["key memory-A memory.corrupt"]);
    let old = Memory::new(KEY).save(None).0.unwrap();
    check("memory", &old, json!([]), expect!["key memory"]);
    check("memory.taken", &old, json!([]), expect!["key memory-A memory.taken"]);
    check("something else", b"", json!([]), expect!["key memory-A something else"]);
}

#[test]
fn what_cannot_be_saved_is_kept_for_the_next_time() {
    let mut disk = used_disk();
    let kept = ledger();
    request(&kept, "a");
    disk.is_full = true;
    run(&kept, LedgerTask::Save, 0x11, &mut disk);
    disk.is_full = false;
    assert_eq!((requests(&disk), disk.files.len()), (1, 2));
    run(&kept, LedgerTask::Save, 0x22, &mut disk);
    assert_eq!((requests(&disk), disk.files.len()), (2, 2));
}

#[test]
fn the_first_windows_agree_on_a_key() {
    in_every_order(|both| {
        let mut disk = Disk::default();
        let windows = [ledger(), ledger()];
        let [mut one, mut other] =
            [0, 1].map(|at| Window::new(task(LedgerTask::Load, at).start(&windows[at as usize])));
        both(&mut one, &mut other, &mut disk);
        assert_eq!(disk.names(), "key");
        let hashes = windows.each_ref().map(|kept| {
            kept.with(|kept| kept.ledger.begin("a", "talk", chat("acme/m"), model(), NOW_MS));
            kept.with(|kept| kept.ledger.end("a", &cost(1.0), NOW_MS, TODAY).unwrap().record.pieces)
        });
        assert_eq!(hashes[0], hashes[1]);
    });
    let mut disk = Disk::with(&[("key", b"short", 0)]);
    run(&ledger(), LedgerTask::Load, 0x11, &mut disk);
    assert_eq!(disk.files["key"].0, [0x11; 16]);
}

#[test]
fn what_a_window_has_reserved_is_never_out_of_sight() {
    let limits = support::spending::limits;
    let begin = |kept: &Shared<KeptLedger>, id: &str| {
        kept.with(|kept| kept.ledger.begin(id, "talk", chat("acme/m"), model(), NOW_MS));
        LedgerTask::CheckSpending { id: id.to_owned(), limits: limits(json!({"day": 1_000})) }
    };
    in_every_order(|both| {
        let mut disk = Disk::with(&[("key", &KEY.0, 0)]);
        let [writer, reader] = [ledger(), ledger()];
        for id in ["a", "b"] {
            let check = begin(&writer, id);
            assert_eq!(run(&writer, check, 0x11, &mut disk)["action"], "go");
        }
        // This request is stopped, so nothing is reserved for it any more.
        let stop =
            LedgerTask::CheckSpending { id: "b".to_owned(), limits: limits(json!({"day": 0.001, "isHard": true})) };
        let mut writing = Window::new(task(stop, 0x11).start(&writer));
        let mut reading =
            Window::new(task(LedgerTask::LimitStates(limits(json!({"day": 1_000}))), 0x22).start(&reader));
        both(&mut writing, &mut reading, &mut disk);
        let WorkStep::Done { result } = &reading.step else { panic!("{:?}", reading.step) };
        assert!(result[0]["used"].as_f64().is_some_and(|used| used > 0.0), "{result}");
    });
}

#[test]
fn a_window_whose_requests_are_saved_reserves_nothing() {
    let mut disk = Disk::with(&[("key", &KEY.0, 0)]);
    let kept = ledger();
    kept.with(|kept| kept.ledger.begin("a", "talk", chat("acme/m"), model(), NOW_MS));
    let limits = support::spending::limits(json!({"day": 1_000}));
    run(&kept, LedgerTask::CheckSpending { id: "a".to_owned(), limits }, 0x11, &mut disk);
    expect!["key memory-A spending/A.2.reserved"].assert_eq(&disk.names());
    kept.with(|kept| kept.ledger.end("a", &cost(1.0), NOW_MS, TODAY));
    run(&kept, LedgerTask::Save, 0x22, &mut disk);
    expect!["key memory-A"].assert_eq(&disk.names());
}

/// Checks invariant C1 for a user who decides after midnight.
#[test]
fn a_request_that_is_checked_again_stays_on_its_day() {
    let mut disk = Disk::with(&[("key", &KEY.0, 0)]);
    let kept = ledger();
    kept.with(|kept| kept.ledger.begin("a", "talk", chat("acme/m"), model(), NOW_MS));
    let limits = || support::spending::limits(json!({"day": 1_000}));
    let check = || LedgerTask::CheckSpending { id: "a".to_owned(), limits: limits() };
    run(&kept, check(), 0x11, &mut disk);
    let tomorrow = |task| WorkTask { task, now_ms: NOW_MS + DAY_MS, random: [0x22; 16] };
    Window::new(tomorrow(check()).start(&kept)).finish(&mut disk);
    let used = |task: WorkTask<LedgerTask>| {
        let states = Window::new(task.start(&ledger())).finish(&mut disk.clone());
        states[0]["used"].as_f64().unwrap()
    };
    assert!(used(task(LedgerTask::LimitStates(limits()), 0x33)) > 0.0);
    assert!(used(tomorrow(LedgerTask::LimitStates(limits()))) <= 0.0);
}

#[test]
fn the_limit_of_a_conversation_counts_what_closed_windows_have_spent() {
    let mut disk = Disk::with(&[("key", &KEY.0, 0)]);
    let closed = ledger();
    closed.with(|kept| {
        kept.ledger.begin("a", "talk", chat("acme/m"), model(), NOW_MS);
        let ended = kept.ledger.end("a", &cost(1.0), NOW_MS, TODAY);
        kept.keep(ended);
    });
    run(&closed, LedgerTask::Save, 0x11, &mut disk);
    let action = |conversation: &str| {
        let kept = ledger();
        kept.with(|kept| kept.ledger.begin("b", conversation, chat("acme/m"), model(), NOW_MS));
        let limits = support::spending::limits(json!({"conversation": 1.1}));
        run(&kept, LedgerTask::CheckSpending { id: "b".to_owned(), limits }, 0x22, &mut disk.clone())["action"].clone()
    };
    assert_eq!(action("talk"), "ask");
    assert_eq!(action("another talk"), "go");
}

#[test]
fn records_fill_files_and_old_files_are_deleted() {
    let mut disk = Disk::with(&[("key", &KEY.0, 0)]);
    let file = |days: u64| format!("records/{}-x.gz", NOW_MS - days * DAY_MS);
    for (days, size) in [(31, 10), (5, 4 << 20), (3, 3 << 20), (1, 3 << 20)] {
        disk.files.insert(file(days), (vec![b' '; size], 0));
    }
    disk.files.insert("records/something else".to_owned(), (Vec::new(), 0));
    let kept = ledger();
    let save = |number: usize, random: u8, disk: &mut Disk| {
        for at in 0..number {
            kept.with(|kept| {
                let id = format!("{random}-{at}");
                kept.ledger.begin(&id, "talk", chat("acme/m"), model(), NOW_MS);
                let ended = kept.ledger.end(&id, &cost(1.0), NOW_MS, TODAY);
                kept.keep(ended);
            });
        }
        run(&kept, LedgerTask::Save, random, disk);
    };
    let lines = |disk: &Disk| -> Vec<usize> {
        let own = disk.files.iter().filter(|(name, _)| name.contains(&format!("/{NOW_MS}-")));
        own.map(|(_, (content, _))| String::from_utf8_lossy(content).lines().count()).collect()
    };
    save(1, 0x11, &mut disk);
    assert_eq!([31, 5, 3, 1].map(|days| disk.files.contains_key(&file(days))), [false, false, true, true]);
    assert!(disk.files.contains_key("records/something else"));
    assert_eq!(lines(&disk), [1]);
    save(98, 0x22, &mut disk);
    assert_eq!(lines(&disk), [99]);
    disk.is_full = true;
    save(151, 0x33, &mut disk);
    assert_eq!(lines(&disk), [99]);
    disk.is_full = false;
    save(0, 0x44, &mut disk);
    assert_eq!(lines(&disk).iter().sum::<usize>(), 250);
    assert_eq!(lines(&disk).len(), 3);
    // A new window shows all of them.
    let shown = ledger();
    run(&shown, LedgerTask::ReadRecords, 0x55, &mut disk);
    let rows = shown.with(|kept| kept.shown.tree());
    assert_eq!(rows.iter().filter(|row| row.request.is_some()).count(), 250);
}

fn vault(number: u64) -> Shared<Vault> {
    let file = json!({"version": 1, "entries": [], "rejected": [number], "deleted_ms": 0});
    Shared::new(Vault::read(file.to_string().as_bytes()))
}

/// Returns what a new window finds.
fn found(disk: &Disk) -> BTreeSet<u64> {
    let vault = Shared::new(Vault::default());
    Window::new(task(VaultTask::Open, 0x99).start(&vault)).finish(&mut disk.clone());
    let file: Value = vault.with(|vault| serde_json::from_slice(&vault.to_bytes()).unwrap());
    file["rejected"].as_array().unwrap().iter().filter_map(Value::as_u64).collect()
}

#[test]
fn vaults_that_are_saved_at_the_same_time_lose_nothing() {
    let start = || {
        let mut disk = Disk::default();
        Window::new(task(VaultTask::Save, 0x77).start(&vault(1))).finish(&mut disk);
        disk
    };
    in_every_order(|both| {
        let mut disk = start();
        let mut one = Window::new(task(VaultTask::Save, 0x11).start(&vault(2)));
        let mut other = Window::new(task(VaultTask::Save, 0x22).start(&vault(3)));
        both(&mut one, &mut other, &mut disk);
        assert_eq!(found(&disk), [1, 2, 3].into(), "{}", disk.names());
        assert!(disk.names().split(' ').all(|name| name.strip_suffix(".json").is_some()), "{}", disk.names());
    });
    for steps in 0.. {
        let mut disk = start();
        let mut dying = Window::new(task(VaultTask::Save, 0x11).start(&vault(2)));
        let is_over = !(0..steps).all(|_| dying.advance(&mut disk));
        assert!(found(&disk).contains(&1), "after {steps} steps: {}", disk.names());
        Window::new(task(VaultTask::Save, 0x22).start(&vault(3))).finish(&mut disk);
        assert!(found(&disk).is_superset(&[1, 3].into()), "after {steps} steps: {}", disk.names());
        if is_over {
            break;
        }
    }
}

#[test]
fn what_another_window_may_still_be_writing_is_left_alone() {
    let content = vault(1).with(|vault| vault.to_bytes());
    let check = |name: &str, age_ms: u64, names: Expect| {
        let mut disk = Disk::with(&[(name, &content, NOW_MS - age_ms)]);
        Window::new(task(VaultTask::Save, 0x11).start(&vault(2))).finish(&mut disk);
        names.assert_eq(&disk.names());
    };
    check("vault/c.tmp", 60_000, expect!["vault/A.json vault/c.tmp"]);
    check("vault/c.tmp", 7_200_000, expect!["vault/A.json"]);
    check("vault/c.taken", 0, expect!["vault/A.json"]);
    // A newer version wrote this.
    check("vault/c.v2.json", 7_200_000, expect!["vault/A.json vault/c.v2.json"]);
}

/// A window that was closed while it saved leaves a temporary file.
#[test]
fn deleting_reasoning_also_deletes_what_a_closed_window_left_behind() {
    let content = vault(1).with(|vault| vault.to_bytes());
    let check = |age_ms: u64, names: Expect| {
        let mut disk =
            Disk::with(&[("vault/c.tmp", &content, NOW_MS - age_ms), ("vault/d.json", &content, NOW_MS - age_ms)]);
        let cleared = vault(2);
        cleared.with(|vault| vault.clear(NOW_MS - 10_000));
        Window::new(task(VaultTask::Save, 0x11).start(&cleared)).finish(&mut disk);
        names.assert_eq(&disk.names());
        assert!(cleared.with(|vault| vault.is_empty()));
    };
    check(60_000, expect!["vault/A.json"]);
    // This one was written after the deletion.
    check(5_000, expect!["vault/A.json vault/c.tmp"]);
}

#[test]
fn temporary_files_of_crashed_windows_are_deleted() {
    let (old, new) = (NOW_MS - 2 * 3_600_000, NOW_MS - 60_000);
    let mut disk = Disk::with(&[
        ("key", &KEY.0, 0),
        ("records/c.tmp.gz", b"", old),
        ("records/d.tmp.gz", b"", new),
        ("records/notes.txt", b"", old),
        ("spending/c.1.reserved.tmp", b"", old),
        ("spending/d.1.reserved.tmp", b"", new),
        ("models-a.json.c.tmp", b"", old),
        ("models-a.json.d.tmp", b"", new),
        ("key.c", b"", old),
        ("memory-c.tmp", b"", old),
    ]);
    let kept = ledger();
    kept.with(|kept| kept.ledger.begin("a", "talk", chat("acme/m"), model(), NOW_MS));
    kept.with(|kept| {
        let ended = kept.ledger.end("a", &cost(1.0), NOW_MS, TODAY);
        kept.keep(ended);
    });
    run(&kept, LedgerTask::Save, 0x11, &mut disk);
    let names = disk.names().replace(&NOW_MS.to_string(), "now");
    expect!["key memory-A memory-c.tmp models-a.json.d.tmp records/now-A-0.gz records/d.tmp.gz records/notes.txt spending/d.1.reserved.tmp"]
        .assert_eq(&names);
}

#[test]
fn recordings_are_kept_for_seven_days() {
    let mut disk = Disk::with(&[
        ("recordings/a.json", b"", NOW_MS - 8 * DAY_MS),
        ("recordings/b.json", &vec![b' '; 40 << 20], NOW_MS - 6 * DAY_MS),
        ("recordings/c.json", &vec![b' '; 40 << 20], NOW_MS - 5 * DAY_MS),
        ("recordings/d.json", b"", NOW_MS),
    ]);
    let run = |work: RecordingTask, disk: &mut Disk| Window::new(task(work, 0x11).start()).finish(disk);
    run(RecordingTask::Prune, &mut disk);
    expect!["recordings/c.json recordings/d.json"].assert_eq(&disk.names());
    let kept = ledger();
    kept.with(|kept| kept.ledger.begin("e", "talk", chat("acme/m"), model(), NOW_MS));
    let record = kept.with(|kept| kept.ledger.end("e", &cost(1.0), NOW_MS, TODAY).unwrap().record);
    let (url, response) = ("https://a.example".to_owned(), "data: x".to_owned());
    let recording =
        Recording { version: 1, record, url, request: json!("Hi"), chat: None, status: Some(200), response };
    run(RecordingTask::Keep(Box::new(recording)), &mut disk);
    expect!["recordings/c.json recordings/d.json recordings/e.json"].assert_eq(&disk.names());
    assert_eq!(run(RecordingTask::Has("e".to_owned()), &mut disk), true);
    assert_eq!(run(RecordingTask::Has("a".to_owned()), &mut disk), false);
    for (id, with_texts, found) in [("e", true, Some(true)), ("e", false, Some(false)), ("d", true, None)] {
        let secrets = vec!["a.example".to_owned()];
        let exported = run(RecordingTask::Export { id: id.to_owned(), secrets, with_texts }, &mut disk);
        assert_eq!(exported.as_str().map(|text| text.contains("\"Hi\"")), found);
        assert!(!exported.to_string().contains("a.example"));
    }
}
