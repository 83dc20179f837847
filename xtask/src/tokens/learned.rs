//! Measures what is learned from servers' counts, on recorded requests: how close the next request of a conversation is after
//! the first answer, and how close a new conversation is after ten requests to the same model of the same server.

use std::collections::BTreeMap;

use sluice_core::{Counter, InstallKey, Ledger, LedgerEntry, LedgerModel, Role, Usage};

use super::anchored::Chat;
use super::judged::{Judged, Reached};
use super::ratio;

/// How many requests precede a new conversation.
const REQUESTS: usize = 10;
/// How many new conversations are tried with each model of each server.
const MOST: usize = 24;
/// What counts as close, as a share and in tokens, in the same conversation and in a new one.
const SAME: (f64, f64) = (0.01, 1.0);
const NEW: (f64, f64) = (0.05, 5.0);
const TODAY: u32 = 20_000;

/// A recorded request as a chat, with the server that counted it.
struct Talk<'a> {
    judged: &'a Judged,
    chat: Chat,
}

/// How many of some counts are close.
#[derive(Default)]
struct Hits {
    before: usize,
    after: usize,
    all: usize,
}

impl Hits {
    fn add(&mut self, (before, after, actual): (f64, f64, f64), (share, tokens): (f64, f64)) {
        let is_close = |count: f64| (count - actual).abs() <= (actual * share).max(tokens);
        self.all += 1;
        self.before += usize::from(is_close(before));
        self.after += usize::from(is_close(after));
    }

    fn shown(&self) -> String {
        if self.all == 0 {
            return format!("{:>6}{:>10}{:>10}", "–", "", "");
        }
        let percent = |part: usize| format!("{:.0} %", ratio(part, self.all) * 100.0);
        format!("{:>6}{:>10}{:>10}", self.all, percent(self.before), percent(self.after))
    }
}

/// Prints the shares. Returns a line for each family, to compare with later.
pub fn print(judged: &[&Judged]) -> Vec<Reached> {
    let mut servers: BTreeMap<(&str, &str, &str), Vec<Talk>> = BTreeMap::new();
    for one in judged.iter().filter(|one| matches!(one.kind.as_str(), "text" | "tools")) {
        let Some(chat) = Chat::of(&one.body) else { continue };
        let model = one.body["model"].as_str().unwrap_or_default();
        servers.entry((&one.family, &one.provider, model)).or_default().push(Talk { judged: one, chat });
    }
    let mut families: BTreeMap<&str, [Hits; 2]> = BTreeMap::new();
    for ((family, ..), talks) in &servers {
        let [same, new] = families.entry(family).or_default();
        for later in talks {
            let earlier = talks.iter().filter(|earlier| later.chat.continues(&earlier.chat));
            if let Some(earlier) = earlier.max_by_key(|earlier| earlier.chat.length()) {
                same.add(later.after(&[earlier]), SAME);
            }
        }
        for (index, one) in talks.iter().enumerate().take(MOST) {
            // Those that belong to the same conversation would make it too easy.
            let is_other = |other: &&Talk| {
                !one.chat.continues(&other.chat) && !other.chat.continues(&one.chat) && one.chat != other.chat
            };
            let before: Vec<&Talk> =
                talks.iter().cycle().skip(index + 1).take(talks.len() - 1).filter(is_other).collect();
            if let Some(before) = before.get(..REQUESTS) {
                new.add(one.after(before), NEW);
            }
        }
    }
    println!(
        "\nWhat is learned from servers' counts: the next request of a conversation within 1 % (or a token) after the first \
         answer, and a new\nconversation within 5 % (or five tokens) after {REQUESTS} requests to the same model of the same \
         server:\n"
    );
    println!("{:<20}{:>6}{:>10}{:>10}{:>10}{:>10}{:>10}", "", "n", "before", "after", "n", "before", "after");
    let mut reached = Vec::new();
    for (family, [same, new]) in &families {
        println!("{family:<20}{}    {}", same.shown(), new.shown());
        for (what, hits) in [("continued", same), ("new conversations", new)].iter().filter(|(_, hits)| hits.all > 0) {
            let share = ratio(hits.after, hits.all);
            reached.push(Reached { name: format!("{family} {what}"), requests: hits.all, near: share, under: 0.0 });
        }
    }
    reached
}

impl Talk<'_> {
    /// Returns our count of the request before and after learning from others, and the server's count.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "servers count whole tokens")]
    fn after(&self, others: &[&Self]) -> (f64, f64, f64) {
        let mut ledger = Ledger::new(Counter::exact(), InstallKey([7; 16]));
        let before = self.estimate(&mut ledger);
        for other in others {
            let answer = self.chat.request.messages.get(other.chat.length());
            let answer = answer.filter(|answer| answer.role == Role::Assistant && self.chat.continues(&other.chat));
            let entry = LedgerEntry {
                is_answered: true,
                is_whole: answer.is_some(),
                usage: Some(Usage { input_tokens: Some(other.judged.actual as u64), ..Usage::default() }),
                answer: answer.map(|answer| answer.content.clone()).unwrap_or_default(),
                ..LedgerEntry::default()
            };
            ledger.begin("1", "talk", other.chat.request.clone(), other.about(), 0);
            ledger.end("1", &entry, 1, TODAY);
        }
        (before, self.estimate(&mut ledger), self.judged.actual)
    }

    #[expect(clippy::cast_precision_loss, reason = "token counts are small")]
    fn estimate(&self, ledger: &mut Ledger) -> f64 {
        ledger.begin("probe", "probe", self.chat.request.clone(), self.about(), 0).estimate.tokens as f64
    }

    fn about(&self) -> LedgerModel {
        LedgerModel { origin: self.judged.server.to_owned(), ..LedgerModel::default() }
    }
}
