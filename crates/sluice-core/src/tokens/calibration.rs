//! Correction factors for raw counts, one for each model of each server.
//!
//! A measurement that is far from the factor moves it only if enough requests agree: two of them upwards, four downwards,
//! one after the other. A server that now and then reports too few tokens therefore changes nothing.
//!
//! A factor is applied when a count is read and is never stored in the count. Counts therefore stay comparable, and no
//! correction is applied twice.

use std::collections::BTreeMap;

use super::known::Measured;

/// The maximum number of factors. When it is exceeded, the oldest are removed until four fifths are left.
const MAX_FACTORS: usize = 500;
/// The maximum length of a scope in bytes. Longer ones are cut; they are only used as keys.
const MAX_NAME: usize = 200;
const MIN_FACTOR: f64 = 0.5;
const MAX_FACTOR: f64 = 2.0;
/// The weight of the old factor when a new measurement arrives that is close to it.
const INERTIA: f64 = 0.7;
/// How far a measurement may be from the factor to be close to it, and from others to agree with them.
const CLOSE: f64 = 0.12;
/// How many requests must agree before the factor follows them.
const UPWARDS: usize = 2;
const DOWNWARDS: usize = 4;

/// The correction factors that were learned from servers' counts, by [scope](Calibration::scope).
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    pub(crate) factors: BTreeMap<String, Factor>,
    /// The latest measurements that were far from the factor, for each scope. They are not saved.
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
        self.factors == other.factors
    }
}

impl Calibration {
    /// Returns the name under which the factor of a model at a server is kept.
    pub fn scope(origin: &str, model: &str) -> String {
        format!("{origin} {model}")
    }

    /// Returns the number to multiply a raw count by. It is 1 for a scope without measurements.
    pub fn factor(&self, scope: &str) -> f64 {
        self.factors.get(cut(scope)).map_or(1.0, |known| known.value)
    }

    /// Moves a factor towards a new measurement.
    pub fn learn(&mut self, scope: &str, measured: Measured, today: u32) {
        if measured.raw == 0 || measured.actual == 0 {
            return;
        }
        let seen = (f64::from(measured.actual) / f64::from(measured.raw)).clamp(MIN_FACTOR, MAX_FACTOR);
        let before = self.factors.get(cut(scope));
        let value = before.map_or(1.0, |known| known.value);
        let measurements = before.map_or(0, |known| known.measurements).saturating_add(1);
        let is_close = |one: f64, other: f64| (one / other - 1.0).abs() <= CLOSE;
        let factor = if is_close(seen, value) {
            self.doubtful.remove(cut(scope));
            let inertia = INERTIA.powi(i32::try_from(measured.requests).unwrap_or(1));
            value * inertia + seen * (1.0 - inertia)
        } else {
            let doubtful = self.doubtful.entry(cut(scope).to_owned()).or_default();
            doubtful.retain(|other| is_close(*other, seen));
            let requests = usize::try_from(measured.requests).unwrap_or(1).min(DOWNWARDS);
            doubtful.extend(std::iter::repeat_n(seen, requests));
            if doubtful.len() < if seen > value { UPWARDS } else { DOWNWARDS } {
                return;
            }
            // Those that agree are within a few per cent of each other.
            let sum: f64 = doubtful.iter().sum();
            let agreed = sum / f64::from(u32::try_from(doubtful.len()).unwrap_or(1));
            self.doubtful.remove(cut(scope));
            agreed
        };
        let factor = Factor { measurements, day: today, value: factor.clamp(MIN_FACTOR, MAX_FACTOR) };
        self.factors.insert(cut(scope).to_owned(), factor);
        self.evict();
    }

    /// Merges `other` into this one. For each scope, the factor with more measurements is kept.
    pub fn merge(&mut self, other: &Self) {
        for (scope, factor) in &other.factors {
            self.keep(scope, *factor);
        }
        self.evict();
    }

    /// Keeps the better of the known factor and `factor`. Returns `None` if `factor` is out of range.
    pub(crate) fn keep(&mut self, scope: &str, factor: Factor) -> Option<()> {
        if !(MIN_FACTOR..=MAX_FACTOR).contains(&factor.value) {
            return None;
        }
        // The bits of positive floats sort in the same order as the floats.
        let rank = |f: &Factor| (f.measurements, f.day, f.value.to_bits());
        match self.factors.get_mut(scope) {
            Some(known) if rank(known) >= rank(&factor) => {}
            Some(known) => *known = factor,
            None => {
                self.factors.insert(scope.to_owned(), factor);
            }
        }
        Some(())
    }

    fn evict(&mut self) {
        if self.factors.len() > MAX_FACTORS {
            let mut by_age: Vec<(u32, String)> = self.factors.iter().map(|(name, f)| (f.day, name.clone())).collect();
            by_age.sort_unstable();
            for (_, name) in by_age.iter().take(self.factors.len() - MAX_FACTORS / 5 * 4) {
                self.factors.remove(name);
            }
        }
        if self.doubtful.len() > MAX_FACTORS {
            self.doubtful.clear();
        }
    }
}

fn cut(scope: &str) -> &str {
    scope.get(..scope.floor_char_boundary(MAX_NAME)).unwrap_or(scope)
}
