//! Token counts and the ledger for JavaScript, with the vocabularies.
//!
//! It is a separate module because the vocabularies are megabytes and streaming must start immediately. JavaScript
//! loads it when there is time, and uses the core's estimate until then. How questions and answers cross is documented
//! in `sluice-bridge`. Counts of text, which VS Code requests thousands of times in a turn, cross as plain numbers.

use std::cell::RefCell;

use sluice_bridge::{ANSWER, to_json};
use sluice_core::{Calibration, Counter, InstallKey, Ledger, Records, RecordsQuestion, RequestRecord, TokensQuestion};

#[derive(Debug)]
struct State {
    ledger: Ledger,
    /// The scopes of correction factors that JavaScript knows by a number; see [`scope`].
    scopes: Vec<String>,
    /// What an inspector shows.
    records: Records,
}

thread_local! {
    /// Until a shell loads the memory of its installation, everything is hashed with a placeholder key.
    static STATE: RefCell<State> = RefCell::new(State {
        ledger: Ledger::new(Counter::exact(), InstallKey([0; 16])),
        scopes: Vec::new(),
        records: Records::default(),
    });
}

/// Answers the [`TokensQuestion`] in the first `length` bytes of the window.
#[unsafe(no_mangle)]
pub extern "C" fn ask(length: u32) {
    sluice_bridge::answer(length, |question| STATE.with_borrow_mut(|state| answer(state, question)));
}

fn answer(State { ledger, records, .. }: &mut State, question: TokensQuestion) -> Result<String, String> {
    match question {
        TokensQuestion::Begin { id, conversation, chat, model, now } => {
            to_json(&ledger.begin(&id, &conversation, *chat, model, now))
        }
        TokensQuestion::Part { id, is_thinking, now } => {
            ledger.part(&id, is_thinking, now);
            to_json(&())
        }
        TokensQuestion::End { id, entry, now, today } => to_json(&ledger.end(&id, &entry, now, today)),
        TokensQuestion::Reserve { id, today } => to_json(&ledger.reserve(&id, today)),
        TokensQuestion::CheckSpending { id, limits, others, today } => {
            to_json(&ledger.check_spending(&id, &limits, &others, today))
        }
        TokensQuestion::ChooseSpending { id, choice, limit } => {
            ledger.choose_spending(&id, choice, limit);
            to_json(&())
        }
        TokensQuestion::Release { id } => to_json(&ledger.release(&id)),
        TokensQuestion::Saved {} => to_json(&ledger.saved()),
        TokensQuestion::LimitStates { limits, others, today } => to_json(&ledger.limit_states(&limits, &others, today)),
        TokensQuestion::Recall { record } => {
            if let Some(record) = RequestRecord::read(&record) {
                ledger.recall(record);
            }
            to_json(&())
        }
        TokensQuestion::History(period) => to_json(&ledger.history().listed(period)),
        TokensQuestion::Records(RecordsQuestion::Tree {}) => to_json(&records.tree()),
        TokensQuestion::Records(RecordsQuestion::Request(id)) => to_json(&records.request(&id)),
        TokensQuestion::Records(RecordsQuestion::Compare(before, after)) => to_json(&records.compare(&before, &after)),
        TokensQuestion::Message { model, origin, message } => {
            to_json(&ledger.message_tokens(&model, &origin, &message))
        }
    }
}

/// Returns the number of the tokenizer family of the model whose id is in the window. Models of one family count alike.
#[unsafe(no_mangle)]
pub extern "C" fn tokenizer(length: u32) -> u32 {
    with_text(length, |model| u32::try_from(Counter::tokenizer_index(model)).unwrap_or(0))
}

/// Returns the tokens of the text in the window.
#[unsafe(no_mangle)]
pub extern "C" fn count_text(tokenizer: u32, length: u32) -> u32 {
    with_text(length, |text| Counter::exact().text_with_tokenizer(tokenizer as usize, text))
}

/// Returns 1 if the model in the window needs the file `gemma.vocabulary` and it isn't loaded.
#[unsafe(no_mangle)]
pub extern "C" fn lacks_vocabulary(length: u32) -> u32 {
    with_text(length, |model| u32::from(Counter::lacks_vocabulary(model)))
}

/// Loads the vocabulary in the window. Returns 1 if it is valid.
#[unsafe(no_mangle)]
pub extern "C" fn load_vocabulary(length: u32) -> u32 {
    sluice_bridge::with(|bridge| {
        let (file, _) = bridge.parts(length);
        u32::from(Counter::load_vocabulary(file))
    })
}

/// Returns a number for the server's origin and the model, two lines in the window, for [`corrected`].
#[unsafe(no_mangle)]
pub extern "C" fn scope(length: u32) -> u32 {
    with_text(length, |lines| {
        let (origin, model) = lines.split_once('\n').unwrap_or(("", lines));
        let scope = Calibration::scope(origin, model);
        STATE.with_borrow_mut(|State { scopes, .. }| {
            let known = scopes.iter().position(|known| *known == scope).unwrap_or_else(|| {
                scopes.push(scope);
                scopes.len() - 1
            });
            u32::try_from(known).unwrap_or(0)
        })
    })
}

/// Multiplies a raw count by the correction factor of a [`scope`].
#[unsafe(no_mangle)]
pub extern "C" fn corrected(scope: u32, count: u32) -> u32 {
    STATE.with_borrow(|State { ledger, scopes, .. }| {
        scopes.get(scope as usize).map_or(count, |scope| ledger.corrected(scope, count))
    })
}

/// Adds the records in the window, one on each line.
#[unsafe(no_mangle)]
pub extern "C" fn records_add(length: u32) {
    with_text(length, |lines| {
        STATE.with_borrow_mut(|state| state.records.add_lines(lines));
        0
    });
}

/// Forgets what was read from files, but not the usage that isn't in a file yet. The first `length` bytes of the window are the installation's key of 16 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn memory_open(length: u32) {
    sluice_bridge::with(|bridge| {
        let (key, _) = bridge.parts(length);
        let key = InstallKey(key.try_into().unwrap_or_default());
        STATE.with_borrow_mut(|state| state.ledger.memory().reopen(key));
    });
}

/// Adds the file in the window to the memory. Answers with its [`FileState`](sluice_core::FileState), and what to tell
/// the user about it.
#[unsafe(no_mangle)]
pub extern "C" fn memory_add(length: u32) {
    sluice_bridge::with(|bridge| {
        let (file, answer) = bridge.parts(length);
        let state = STATE.with_borrow_mut(|state| state.ledger.memory().add(file));
        answer.clear();
        answer.json_row(ANSWER, &(state, state.message()));
        answer.publish([0; 2]);
    });
}

/// Answers with the bytes that replace the file in the window, or with nothing if the file must be left alone.
#[unsafe(no_mangle)]
pub extern "C" fn memory_save(length: u32, has_file: u32) {
    sluice_bridge::with(|bridge| {
        let (file, answer) = bridge.parts(length);
        let file = (has_file != 0).then_some(file);
        let (bytes, _) = STATE.with_borrow_mut(|state| state.ledger.memory().save(file));
        answer.clear();
        if let Some(bytes) = bytes {
            answer.bytes_row(&bytes);
        }
        answer.publish([0; 2]);
    });
}

/// The bytes have been written to the file.
#[unsafe(no_mangle)]
pub extern "C" fn memory_saved() {
    STATE.with_borrow_mut(|state| state.ledger.memory().saved());
}

fn with_text(length: u32, count: impl FnOnce(&str) -> u32) -> u32 {
    sluice_bridge::with(|bridge| {
        let (bytes, _) = bridge.parts(length);
        // JavaScript's encoder writes valid UTF-8, so the copy is never made.
        count(&String::from_utf8_lossy(bytes))
    })
}
