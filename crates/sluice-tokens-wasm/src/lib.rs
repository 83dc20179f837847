//! Token counts and the ledger for JavaScript, with the vocabularies.
//!
//! It is a separate module because the vocabularies are megabytes and streaming must start immediately. JavaScript
//! loads it when there is time, and uses the core's estimate until then. How questions and answers cross is documented
//! in `sluice-bridge`. Counts of text, which VS Code requests thousands of times in a turn, cross as plain numbers.

use std::cell::RefCell;

use sluice_bridge::to_json;
use sluice_core::{
    Calibration, Counter, InstallKey, KeptLedger, Ledger, LedgerTask, RecordsQuestion, Shared, TokensQuestion, WorkTask,
};

thread_local! {
    /// Until a shell loads the memory of its installation, everything is hashed with a placeholder key.
    static LEDGER: Shared<KeptLedger> =
        Shared::new(KeptLedger::new(Ledger::new(Counter::exact(), InstallKey([0; 16]))));
    /// The scopes of correction factors that JavaScript knows by a number; see [`scope`].
    static SCOPES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn with_ledger<R>(use_ledger: impl FnOnce(&mut KeptLedger) -> R) -> R {
    LEDGER.with(|ledger| ledger.with(use_ledger))
}

/// Answers the [`TokensQuestion`] in the first `length` bytes of the window.
#[unsafe(no_mangle)]
pub extern "C" fn ask(length: u32) {
    sluice_bridge::answer(length, |question| with_ledger(|kept| answer(kept, question)));
}

/// Works on the files of the ledger; the task is a [`WorkTask`]. The bridge's function explains the numbers.
#[unsafe(no_mangle)]
pub extern "C" fn work(length: u32, number: u32, is_content: u32) {
    sluice_bridge::work(length, number, is_content, |task: WorkTask<LedgerTask>| {
        LEDGER.with(|ledger| task.start(ledger))
    });
}

fn answer(kept: &mut KeptLedger, question: TokensQuestion) -> Result<String, String> {
    let KeptLedger { ledger, shown: records, .. } = kept;
    match question {
        TokensQuestion::Begin { id, conversation, chat, model, now } => {
            to_json(&ledger.begin(&id, &conversation, *chat, model, now))
        }
        TokensQuestion::End { id, entry, now, today } => {
            let ended = ledger.end(&id, &entry, now, today);
            to_json(&kept.keep(ended))
        }
        TokensQuestion::ChooseSpending { id, choice, limit } => {
            ledger.choose_spending(&id, choice, limit);
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
        SCOPES.with_borrow_mut(|scopes| {
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
    SCOPES.with_borrow(|scopes| {
        scopes.get(scope as usize).map_or(count, |scope| with_ledger(|kept| kept.ledger.corrected(scope, count)))
    })
}

/// Adds the records in the window, one on each line.
#[unsafe(no_mangle)]
pub extern "C" fn records_add(length: u32) {
    with_text(length, |lines| {
        with_ledger(|kept| kept.shown.add_lines(lines));
        0
    });
}

fn with_text(length: u32, count: impl FnOnce(&str) -> u32) -> u32 {
    sluice_bridge::with(|bridge| {
        let (bytes, _) = bridge.parts(length);
        // JavaScript's encoder writes valid UTF-8, so the copy is never made.
        count(&String::from_utf8_lossy(bytes))
    })
}
