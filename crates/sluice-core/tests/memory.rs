//! The memory survives every file, and no file damages the memory.

use std::hash::Hasher;

use proptest::prelude::*;
use siphasher::sip128::{Hasher128, SipHasher24};
use sluice_core::{
    ChatMessage, ChatPart, ChatRequest, FileState, InstallKey, MAX_FILE, Memory, MessageCode, Piece, Prompt,
    RequestEnd, RequestKind, RequestStart, RequestUsage, Role, Usage, UsageTracker,
};

const KEY: InstallKey = InstallKey(*b"of this machine.");

fn raw(piece: Piece<'_>) -> u32 {
    let text = piece.to_json().map(|item| item["content"][0]["text"].as_str().unwrap().len());
    text.map_or(3, |length| u32::try_from(length).unwrap())
}

/// The name of the factor for the chats below.
const SCOPE: &str = " acme/one";

fn chat(text: &str) -> Prompt {
    let content = vec![ChatPart::Text { value: format!("{text} {}", "and so on, ".repeat(20)) }];
    let messages = vec![ChatMessage { role: Role::User, content }];
    Prompt::of(&ChatRequest { model: "acme/one".to_owned(), messages, ..ChatRequest::default() })
}

/// The chat with an answer and another question, as long as the first one.
fn continued(text: &str) -> Prompt {
    let message = |role, text: &str| {
        let content = vec![ChatPart::Text { value: format!("{text} {}", "and so on, ".repeat(20)) }];
        ChatMessage { role, content }
    };
    let messages = vec![message(Role::User, text), message(Role::Assistant, "yes"), message(Role::User, "but")];
    Prompt::of(&ChatRequest { model: "acme/one".to_owned(), messages, ..ChatRequest::default() })
}

fn is_exact(memory: &Memory, text: &str) -> bool {
    let estimate = memory.estimate(&chat(text), &raw);
    estimate.tokens == estimate.known
}

fn counted(input: u64) -> Usage {
    Usage { input_tokens: Some(input), output_tokens: Some(7), ..Usage::default() }
}

fn used(model: &str, input: u64) -> RequestUsage {
    let mut tracker = UsageTracker::default();
    let start = RequestStart {
        id: "1".to_owned(),
        conversation: "chat".to_owned(),
        model: model.to_owned(),
        kind: RequestKind::Main,
        effort: None,
        estimate: None,
        context_window: None,
    };
    tracker.open(start, 0);
    let end = RequestEnd {
        usage: Some(counted(input)),
        cost: Some("0.01".to_owned()),
        is_answered: true,
        first_part_ms: Some(10),
        ..RequestEnd::default()
    };
    tracker.finish("1", &end, 1010).unwrap()
}

/// Returns a memory with something in every section, and its file.
fn filled() -> (Memory, Vec<u8>) {
    let mut memory = Memory::new(KEY);
    for index in 0..6_u32 {
        let text = format!("question {index}");
        memory.learn(&chat(&text), None, &counted(260 + u64::from(index)), &raw, 100 + index);
        memory.record(&used(&format!("acme/{}", index % 2), 10), 100 + index);
    }
    memory.learn(&continued("question 0"), None, &counted(730), &raw, 106);
    let (bytes, state) = memory.save(None);
    memory.saved();
    assert_eq!(state, FileState::Missing);
    (memory, bytes.unwrap())
}

fn same(one: &Memory, other: &Memory) -> bool {
    one.known() == other.known() && one.calibration() == other.calibration() && one.history() == other.history()
}

#[test]
fn files_of_several_windows_add_up() {
    let file = |text: &str| {
        let mut memory = Memory::new(KEY);
        memory.learn(&chat(text), None, &counted(260), &raw, 100);
        memory.record(&used("acme/one", 10), 100);
        memory.save(None).0.unwrap()
    };
    let mut memory = Memory::new(KEY);
    let states = [file("one"), file("two"), vec![0; 40]].map(|file| memory.add(&file));
    assert_eq!(states, [FileState::Good, FileState::Good, FileState::Damaged]);
    assert!(is_exact(&memory, "one") && is_exact(&memory, "two"));
    assert_eq!(memory.history().rows().map(|(_, _, totals)| totals.requests).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_written_memory_is_read_back() {
    let (memory, bytes) = filled();
    let (read, state) = Memory::read(KEY, Some(&bytes));
    assert_eq!(state, FileState::Good);
    assert!(same(&read, &memory));
    assert_eq!(read.estimate(&chat("question 3"), &raw).tokens, 263);
    assert!(is_exact(&read, "question 3"));
    assert!((read.calibration().factor(SCOPE) - memory.calibration().factor(SCOPE)).abs() < 1e-12);
    assert_eq!(read.history().rows().map(|(_, _, totals)| totals.requests).sum::<u64>(), 6);
}

/// Checks invariant L8.
#[test]
fn the_file_contains_no_prompt_and_no_key() {
    let (_, bytes) = filled();
    for secret in [b"question".as_slice(), b"and so on", &KEY.0] {
        assert!(!bytes.windows(secret.len()).any(|window| window == secret));
    }
    assert!(!format!("{:?}", Memory::new(KEY)).contains(&format!("{:?}", KEY.0)), "the key is in the debug output");
}

/// Checks invariant L7.
#[test]
fn every_truncation_starts_empty() {
    let (_, bytes) = filled();
    for length in 0..bytes.len() {
        let (memory, state) = Memory::read(KEY, Some(&bytes[..length]));
        assert_eq!(state, FileState::Damaged, "{length} bytes");
        assert!(same(&memory, &Memory::new(KEY)));
    }
    let mut longer = bytes;
    longer.push(0);
    assert_eq!(Memory::read(KEY, Some(&longer)).1, FileState::Damaged);
}

/// Checks invariant L7.
#[test]
fn every_single_bit_flip_starts_empty() {
    let (_, mut bytes) = filled();
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        let (memory, state) = Memory::read(KEY, Some(&bytes));
        assert_eq!(state, FileState::Damaged, "bit {bit}");
        assert!(same(&memory, &Memory::new(KEY)));
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Appends a valid checksum to the contents.
fn sealed(body: &[u8]) -> Vec<u8> {
    let word = u64::from_le_bytes(*b"SLUICE\x1A\n");
    let mut hasher = SipHasher24::new_with_keys(word, word);
    hasher.write(body);
    [body, &hasher.finish128().as_u128().to_le_bytes()].concat()
}

/// Checks invariant L7.
#[test]
fn a_newer_file_is_left_alone() {
    let (_, bytes) = filled();
    let mut body = bytes[..bytes.len() - 16].to_vec();
    assert_eq!(sealed(&body), bytes);
    body[8] = 2;
    body.truncate(40);
    let newer = sealed(&body);
    let (mut memory, state) = Memory::read(KEY, Some(&newer));
    assert_eq!(state, FileState::Newer);
    assert_eq!(state.message(), Some(MessageCode::MemoryNewer));
    memory.record(&used("acme/one", 5), 7);
    assert_eq!(memory.save(Some(&newer)), (None, FileState::Newer));
    // The usage is still available in this window.
    assert_eq!(memory.history().rows().count(), 1);
}

#[test]
fn invalid_contents_with_a_valid_checksum_start_empty() {
    let (_, bytes) = filled();
    let body = &bytes[..bytes.len() - 16];
    let version_zero = [&body[..8], &[0; 4], &body[12..]].concat();
    let too_many = [&body[..16], &u32::MAX.to_le_bytes(), &body[20..]].concat();
    let trailing = [body, b"more"].concat();
    for body in [&version_zero[..], &too_many, &trailing, b"", b"SLUICE\x1A\n", b"{\"version\":1}"] {
        let (memory, state) = Memory::read(KEY, Some(&sealed(body)));
        assert_eq!(state, FileState::Damaged);
        assert!(same(&memory, &Memory::new(KEY)));
    }
    // The factor is out of range.
    let name = body.windows(SCOPE.len()).position(|window| window == SCOPE.as_bytes()).unwrap();
    for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0, 2.1] {
        let mut altered = body.to_vec();
        altered[name + SCOPE.len() + 8..name + SCOPE.len() + 16].copy_from_slice(&bad.to_le_bytes());
        assert_eq!(Memory::read(KEY, Some(&sealed(&altered))).1, FileState::Damaged, "{bad}");
    }
}

#[test]
fn counts_with_other_hashes_are_dropped_and_usage_is_kept() {
    let (memory, bytes) = filled();
    let mut body = bytes[..bytes.len() - 16].to_vec();
    body[12] = 99;
    let (read, state) = Memory::read(KEY, Some(&sealed(&body)));
    assert_eq!(state, FileState::Good);
    assert!(read.known().is_empty());
    assert_eq!(read.history(), memory.history());
}

/// Checks invariant L6.
#[test]
fn windows_that_take_turns_lose_nothing() {
    let (mut file, mut windows) = (None, [Memory::new(KEY), Memory::new(KEY), Memory::new(KEY)]);
    for turn in 0..30_u32 {
        let memory = &mut windows[turn as usize % 3];
        memory.learn(&chat(&format!("q {turn}")), None, &counted(250), &raw, 5);
        memory.record(&used("acme/one", 10), 5);
        if turn % 4 == 3 {
            // The write failed: nothing is marked as saved, and nothing is lost.
            let _ = memory.save(file.as_deref());
            continue;
        }
        file = memory.save(file.as_deref()).0;
        memory.saved();
    }
    for memory in &mut windows {
        file = memory.save(file.as_deref()).0;
        memory.saved();
    }
    let (read, _) = Memory::read(KEY, file.as_deref());
    assert_eq!(read.history().rows().map(|(_, _, totals)| totals.requests).collect::<Vec<_>>(), [30]);
    for turn in 0..30 {
        assert!(is_exact(&read, &format!("q {turn}")), "q {turn}");
    }
}

#[test]
fn a_damaged_file_loses_only_its_own_contents() {
    let (mut memory, _) = filled();
    memory.record(&used("acme/one", 10), 106);
    let (bytes, state) = memory.save(Some(b"junk"));
    assert_eq!(state, FileState::Damaged);
    let (read, _) = Memory::read(KEY, Some(&bytes.unwrap()));
    assert_eq!(read.history().rows().map(|(_, _, totals)| totals.requests).sum::<u64>(), 7);
    // If the user deletes the file, the history starts again.
    memory.saved();
    let (bytes, _) = memory.save(None);
    assert!(Memory::read(KEY, Some(&bytes.unwrap())).0.history().is_empty());
}

#[test]
fn a_full_memory_fits_into_the_file() {
    let long = |number: u32| format!("{number} {}", "x".repeat(200));
    let mut memory = Memory::new(KEY);
    for index in 0..24_990_u32 {
        memory.learn(&chat(&index.to_string()).at(&long(index)), None, &counted(255), &raw, index);
    }
    for model in 0..3000_u32 {
        memory.record(&used(&long(model), u64::MAX), model % 400);
    }
    let bytes = memory.save(None).0.unwrap();
    assert!((1_500_000..MAX_FILE).contains(&bytes.len()), "{} bytes", bytes.len());
    assert_eq!(Memory::read(KEY, Some(&bytes)).1, FileState::Good);
    let padded = [bytes, vec![0; MAX_FILE]].concat();
    assert_eq!(Memory::read(KEY, Some(&padded)).1, FileState::Damaged);
}

/// What a window may have learned: conversation, count, day.
fn learned() -> impl Strategy<Value = Memory> {
    prop::collection::vec((0..6_u8, 200_u64..500, 0..4_u32, 0..3_u8), 0..12).prop_map(|lessons| {
        let mut memory = Memory::new(KEY);
        for (text, count, day, origin) in lessons {
            let origin = origin.to_string();
            memory.learn(&chat(&text.to_string()).at(&origin), None, &counted(count), &raw, day);
            let more = counted(count * 3 + u64::from(day) * 20);
            memory.learn(&continued(&text.to_string()).at(&origin), None, &more, &raw, day);
        }
        memory
    })
}

fn union(one: &Memory, other: &Memory) -> Memory {
    let mut both = one.clone();
    both.save(Some(&other.clone().save(None).0.unwrap()));
    both
}

proptest! {
    /// Checks invariant L5.
    #[test]
    fn the_union_is_commutative_associative_and_idempotent(a in learned(), b in learned(), c in learned()) {
        prop_assert!(same(&union(&a, &b), &union(&b, &a)));
        prop_assert!(same(&union(&union(&a, &b), &c), &union(&a, &union(&b, &c))));
        prop_assert!(same(&union(&a, &a), &a));
        prop_assert!(same(&union(&union(&a, &b), &b), &union(&a, &b)));
    }

    #[test]
    fn random_bytes_are_a_damaged_file(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (_, state) = Memory::read(KEY, Some(&bytes));
        prop_assert_eq!(state, FileState::Damaged);
        // A valid checksum lets the reader reach the inner fields.
        let inner = [b"SLUICE\x1A\n".as_slice(), &1_u32.to_le_bytes(), &1_u32.to_le_bytes(), &bytes].concat();
        let _ = Memory::read(KEY, Some(&sealed(&inner)));
    }
}

/// One file of each version of the format, in hexadecimal, with the contents of `filled`.
const OLDER: [&str; 1] = [include_str!("data/upgrade/memory-1.hex")];

#[test]
fn files_of_every_version_are_read() {
    let version = |bytes: &[u8]| u32::from_le_bytes(bytes[8..12].try_into().unwrap());
    let (expected, now) = filled();
    for (number, hex) in (1..).zip(OLDER) {
        let digits: Vec<char> = hex.chars().filter(|digit| !digit.is_whitespace()).collect();
        let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
        let bytes: Vec<u8> = digits.chunks(2).map(byte).collect();
        assert_eq!(version(&bytes), number);
        let (read, state) = Memory::read(KEY, Some(&bytes));
        assert_eq!(state, FileState::Good, "version {number}");
        assert_eq!(read.history(), expected.history(), "version {number}");
        assert!(is_exact(&read, "question 3"), "version {number}");
    }
    assert_eq!(usize::try_from(version(&now)).unwrap(), OLDER.len(), "add a file of the new version");
}
