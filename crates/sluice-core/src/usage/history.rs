//! What was used on which day with which model, for a year and a bit.

use std::collections::BTreeMap;

use crate::boundary::{RequestUsage, Totals};

/// So many days on which something was used; not by date, because a clock that was wrong once must not cost the rest.
const MAX_DAYS: usize = 400;
/// Days times models; past it the oldest are forgotten.
const MAX_ROWS: usize = 3000;
/// A longer name is cut.
const MAX_MODEL: usize = 120;

/// Days are numbered from 1970-01-01 on, in whatever time zone the shell counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    rows: BTreeMap<(u32, String), Totals>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    Day,
    Month,
}

impl History {
    pub fn add(&mut self, day: u32, usage: &RequestUsage) {
        let mut one = Totals::default();
        one.add(usage);
        self.add_totals(day, &usage.model, &one);
        self.evict();
    }

    /// Adds another's sums. Not a union: what was added twice counts twice.
    pub fn merge(&mut self, other: &Self) {
        for ((day, model), totals) in &other.rows {
            self.add_totals(*day, model, totals);
        }
        self.evict();
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Every day and model, oldest first.
    pub fn rows(&self) -> impl Iterator<Item = (u32, &str, &Totals)> {
        self.rows.iter().map(|((day, model), totals)| (*day, model.as_str(), totals))
    }

    /// Sums by day or month (`2026-03-01`, `2026-03`) and by model, oldest first.
    pub fn by(&self, period: Period) -> BTreeMap<String, BTreeMap<String, Totals>> {
        let mut sums: BTreeMap<String, BTreeMap<String, Totals>> = BTreeMap::new();
        for ((day, model), totals) in &self.rows {
            let mut name = date(*day);
            if period == Period::Month {
                name.truncate(name.len() - "-01".len());
            }
            sums.entry(name).or_default().entry(model.clone()).or_default().merge(totals);
        }
        sums
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

/// A day's number as a date, such as `2026-03-01`.
pub fn date(day: u32) -> String {
    // Howard Hinnant's algorithm: years begin in March, so that the leap day comes last.
    let shifted = u64::from(day) + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day_of_month:02}")
}
