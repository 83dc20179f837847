//! Correction factors for raw counts, one for each model family (see [`ChatModel::family`](crate::ChatModel::family)).
//!
//! A measurement that is far from the factor moves it only if others agree with it: two of them upwards, four downwards,
//! one after the other. A server that now and then reports too few tokens therefore changes nothing.
//!
//! A factor is applied when a count is read and is never stored in the count. Counts therefore stay comparable, and no
//! correction is applied twice.

use std::collections::BTreeMap;

use super::known::Measured;

/// The maximum number of families. When it is exceeded, the oldest are removed until four fifths are left.
const MAX_FAMILIES: usize = 500;
/// The maximum length of a family's name in bytes. Longer names are cut; they are only used as keys.
const MAX_NAME: usize = 120;
const MIN_FACTOR: f64 = 0.5;
const MAX_FACTOR: f64 = 2.0;
/// The weight of the old factor when a new measurement arrives that is close to it.
const INERTIA: f64 = 0.7;
/// How far a measurement may be from the factor to be close to it, and from others to agree with them.
const CLOSE: f64 = 0.12;
/// How many measurements must agree before the factor follows them.
const UPWARDS: usize = 2;
const DOWNWARDS: usize = 4;

/// The correction factors that were learned from servers' counts, by family.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    pub(crate) families: BTreeMap<String, Factor>,
    /// The latest measurements that were far from the factor, for each family. They are not saved.
    doubtful: BTreeMap<String, Vec<f64>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Factor {
    pub measurements: u32,
    pub day: u32,
    pub value: f64,
}

/// Compares what is saved.
impl PartialEq for Calibration {
    fn eq(&self, other: &Self) -> bool {
        self.families == other.families
    }
}

impl Calibration {
    /// Returns the number to multiply a raw count by. It is 1 for a family without measurements.
    pub fn factor(&self, family: &str) -> f64 {
        self.families.get(cut(family)).map_or(1.0, |known| known.value)
    }

    /// Moves the family's factor towards a new measurement.
    pub fn learn(&mut self, family: &str, measured: Measured, today: u32) {
        if measured.raw == 0 || measured.actual == 0 {
            return;
        }
        let seen = (f64::from(measured.actual) / f64::from(measured.raw)).clamp(MIN_FACTOR, MAX_FACTOR);
        let before = self.families.get(cut(family));
        let value = before.map_or(1.0, |known| known.value);
        let measurements = before.map_or(0, |known| known.measurements).saturating_add(1);
        let is_close = |one: f64, other: f64| (one / other - 1.0).abs() <= CLOSE;
        let factor = if is_close(seen, value) {
            self.doubtful.remove(cut(family));
            value * INERTIA + seen * (1.0 - INERTIA)
        } else {
            let doubtful = self.doubtful.entry(cut(family).to_owned()).or_default();
            doubtful.retain(|other| is_close(*other, seen));
            doubtful.push(seen);
            if doubtful.len() < if seen > value { UPWARDS } else { DOWNWARDS } {
                return;
            }
            // Those that agree are within a few per cent of each other.
            let sum: f64 = doubtful.iter().sum();
            let agreed = sum / f64::from(u32::try_from(doubtful.len()).unwrap_or(1));
            self.doubtful.remove(cut(family));
            agreed
        };
        let factor = Factor { measurements, day: today, value: factor.clamp(MIN_FACTOR, MAX_FACTOR) };
        self.families.insert(cut(family).to_owned(), factor);
        self.evict();
    }

    /// Merges `other` into this one. For each family, the factor with more measurements is kept.
    pub fn merge(&mut self, other: &Self) {
        for (family, factor) in &other.families {
            self.keep(family, *factor);
        }
        self.evict();
    }

    /// Keeps the better of the known factor and `factor`. Returns `None` if `factor` is out of range.
    pub(crate) fn keep(&mut self, family: &str, factor: Factor) -> Option<()> {
        if !(MIN_FACTOR..=MAX_FACTOR).contains(&factor.value) {
            return None;
        }
        // The bits of positive floats sort in the same order as the floats.
        let rank = |f: &Factor| (f.measurements, f.day, f.value.to_bits());
        match self.families.get_mut(family) {
            Some(known) if rank(known) >= rank(&factor) => {}
            Some(known) => *known = factor,
            None => {
                self.families.insert(family.to_owned(), factor);
            }
        }
        Some(())
    }

    fn evict(&mut self) {
        if self.families.len() > MAX_FAMILIES {
            let mut by_age: Vec<(u32, String)> = self.families.iter().map(|(name, f)| (f.day, name.clone())).collect();
            by_age.sort_unstable();
            for (_, name) in by_age.iter().take(self.families.len() - MAX_FAMILIES / 5 * 4) {
                self.families.remove(name);
            }
        }
        if self.doubtful.len() > MAX_FAMILIES {
            self.doubtful.clear();
        }
    }
}

fn cut(family: &str) -> &str {
    family.get(..family.floor_char_boundary(MAX_NAME)).unwrap_or(family)
}
