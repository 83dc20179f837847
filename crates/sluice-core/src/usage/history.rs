//! What was used on each day with each model, for a little more than a year.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::status;
use crate::boundary::{Dollars, HistoryPeriod, HistoryRow, LimitState, RequestUsage, SpendLimits, Totals};
use crate::limits::Spending;
use crate::numbers::date;

/// The maximum number of days with usage. Days are counted and not compared with today's date, so that a clock that was
/// wrong once doesn't delete the rest.
const MAX_DAYS: usize = 400;
/// The maximum number of rows (days times models). Beyond it, the oldest are forgotten.
const MAX_ROWS: usize = 3000;
/// The maximum length of a model's name in bytes. Longer names are cut.
const MAX_MODEL: usize = 120;

/// The usage of each day and model. Days are numbered from 1970-01-01, in whatever time zone the shell uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    rows: BTreeMap<(u32, String), Totals>,
}

impl History {
    /// Adds one request to its day and model.
    pub fn add(&mut self, day: u32, usage: &RequestUsage) {
        let mut one = Totals::default();
        one.add(usage);
        self.add_totals(day, &usage.model, &one);
        self.evict();
    }

    /// Adds the sums of `other`. This isn't a union: usage that is added twice is counted twice.
    pub fn merge(&mut self, other: &Self) {
        for ((day, model), totals) in &other.rows {
            self.add_totals(*day, model, totals);
        }
        self.evict();
    }

    /// Returns whether nothing was used.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns every day and model, oldest first.
    pub fn rows(&self) -> impl Iterator<Item = (u32, &str, &Totals)> {
        self.rows.iter().map(|((day, model), totals)| (*day, model.as_str(), totals))
    }

    /// Returns the sums by day or month (`2026-03-01`, `2026-03`) and by model, oldest first.
    pub fn by(&self, period: HistoryPeriod) -> BTreeMap<String, BTreeMap<String, Totals>> {
        let mut sums: BTreeMap<String, BTreeMap<String, Totals>> = BTreeMap::new();
        for ((day, model), totals) in &self.rows {
            let mut name = date(*day);
            if period == HistoryPeriod::Month {
                name.truncate(name.len() - "-01".len());
            }
            sums.entry(name).or_default().entry(model.clone()).or_default().merge(totals);
        }
        sums
    }

    /// Returns the same as a list: the newest first, and the busiest model of a day or month first.
    #[allow(clippy::cast_precision_loss, reason = "for display")]
    pub fn listed(&self, period: HistoryPeriod) -> Vec<HistoryRow> {
        let tokens = |totals: &Totals| totals.input_tokens.saturating_add(totals.output_tokens);
        let mut rows: Vec<HistoryRow> = Vec::new();
        for (when, models) in self.by(period).into_iter().rev() {
            let mut models: Vec<_> = models.into_iter().collect();
            models.sort_by_key(|(_, totals)| Reverse(tokens(totals)));
            rows.extend(models.into_iter().map(|(model, totals)| {
                let details = status::details(&totals);
                HistoryRow { when: when.clone(), model, totals, details, share: 0.0 }
            }));
        }
        let most = rows.iter().map(|row| tokens(&row.totals)).max().unwrap_or(0).max(1);
        for row in &mut rows {
            row.share = tokens(&row.totals) as f64 / most as f64;
        }
        rows
    }

    /// Returns what the month of `today` will cost if every day costs as much as the average of the days so far. `None` in
    /// the first two days, and if nothing was spent.
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    pub fn expected_this_month(&self, today: u32) -> Option<Dollars> {
        let month = |day: u32| date(day).get(..7).map(str::to_owned);
        let this = month(today);
        let first = (0..31).map_while(|back| today.checked_sub(back).filter(|day| month(*day) == this)).last()?;
        let days = (0..31).take_while(|more| month(first.saturating_add(*more)) == this).count();
        let spent = self.rows().filter(|(day, ..)| month(*day) == this).map(|(_, _, totals)| totals.cost.0);
        let spent = spent.fold(0, u64::saturating_add);
        let so_far = (today - first).saturating_add(1);
        let expected = Dollars(spent).as_f64() * days as f64 / f64::from(so_far);
        (so_far > 2 && spent > 0).then(|| Dollars::from_f64(expected)).flatten()
    }

    /// Returns how much of each limit for days and months is used. `others` are the files of all programs, see
    /// [`Ledger::reserve`](crate::Ledger::reserve).
    pub fn limit_states(&self, limits: &SpendLimits, others: &[String], today: u32) -> Vec<LimitState> {
        let mut spending = Spending::default();
        spending.read_others(others, today);
        spending.states(None, limits, self, None, today)
    }

    pub(crate) fn add_totals(&mut self, day: u32, model: &str, totals: &Totals) {
        let model = model.get(..model.floor_char_boundary(MAX_MODEL)).unwrap_or_default();
        self.rows.entry((day, model.to_owned())).or_default().merge(totals);
    }

    fn evict(&mut self) {
        let mut days: Vec<u32> = self.rows.keys().map(|(day, _)| *day).collect();
        days.dedup();
        if let Some(oldest) = days.len().checked_sub(MAX_DAYS).and_then(|gone| days.get(gone)) {
            self.rows = self.rows.split_off(&(*oldest, String::new()));
        }
        while self.rows.len() > MAX_ROWS {
            self.rows.pop_first();
        }
    }
}
