//! How far raw counts are off, for each family of models.
//!
//! The factor is applied when a count is read and never stored inside one: counts stay comparable, and a correction cannot
//! be corrected again.

use std::collections::BTreeMap;

use super::known::Measured;

/// More families are never held; when it is reached the oldest go, down to four fifths.
const MAX_FAMILIES: usize = 500;
/// A name that is longer is cut: it is a key, nobody reads it.
const MAX_NAME: usize = 120;
const MIN_FACTOR: f64 = 0.5;
const MAX_FACTOR: f64 = 2.0;
/// So much of the old factor stays when a new one is measured.
const INERTIA: f64 = 0.7;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    pub(crate) families: BTreeMap<String, Factor>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Factor {
    pub measurements: u32,
    pub day: u32,
    pub value: f64,
}

impl Calibration {
    /// What to multiply a raw count with; 1 for a family nobody has asked yet.
    pub fn factor(&self, family: &str) -> f64 {
        self.families.get(cut(family)).map_or(1.0, |known| known.value)
    }

    pub fn learn(&mut self, family: &str, measured: Measured, today: u32) {
        if measured.raw == 0 || measured.actual == 0 {
            return;
        }
        let seen = (f64::from(measured.actual) / f64::from(measured.raw)).clamp(MIN_FACTOR, MAX_FACTOR);
        let before = self.families.get(cut(family));
        let factor = before.map_or(1.0, |known| known.value) * INERTIA + seen * (1.0 - INERTIA);
        let measurements = before.map_or(0, |known| known.measurements).saturating_add(1);
        let factor = Factor { measurements, day: today, value: factor.clamp(MIN_FACTOR, MAX_FACTOR) };
        self.families.insert(cut(family).to_owned(), factor);
        self.evict();
    }

    /// The union: for every family the factor that more measurements stand behind.
    pub fn merge(&mut self, other: &Self) {
        for (family, factor) in &other.families {
            self.keep(family, *factor);
        }
        self.evict();
    }

    /// `None` if it cannot be a factor.
    pub(crate) fn keep(&mut self, family: &str, factor: Factor) -> Option<()> {
        if !(MIN_FACTOR..=MAX_FACTOR).contains(&factor.value) {
            return None;
        }
        // Positive floats compare like their bits.
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
    }
}

fn cut(family: &str) -> &str {
    family.get(..family.floor_char_boundary(MAX_NAME)).unwrap_or(family)
}
