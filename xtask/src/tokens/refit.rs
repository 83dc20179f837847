//! Fits the factors of a family again, without one repository, and counts that repository's requests with them.
//!
//! If counts with refitted factors are about as good as ours, our figures don't depend on any single repository. If they are
//! much better, the figures are out of date; if they are much worse, the recordings are too few to tell.

/// The number of factors: for text, for calls and results, for tools, and a constant.
const FACTORS: usize = 4;
/// How strongly the factors are held at their present values, as a share of the evidence.
const HOLD: f64 = 0.02;
const ROUNDS: usize = 10;

/// A request whose parts we counted.
#[derive(Clone, Copy)]
pub struct Parts {
    pub text: f64,
    pub calls: f64,
    pub tools: f64,
    /// Everything whose cost doesn't depend on the vocabulary.
    pub fixed: f64,
    pub actual: f64,
}

impl Parts {
    fn features(&self) -> [f64; FACTORS] {
        [self.text, self.calls, self.tools, 1.0]
    }

    pub fn counted_with(&self, factors: [f64; FACTORS]) -> f64 {
        self.fixed + dot(self.features(), factors)
    }
}

/// Returns the factors that fit the requests best, with little weight for those that don't fit at all.
pub fn fit(requests: &[Parts]) -> [f64; FACTORS] {
    let present = [1.0, 1.0, 1.0, 0.0];
    let mut factors = present;
    for _ in 0..ROUNDS {
        let mut matrix = [[0.0; FACTORS + 1]; FACTORS];
        for one in requests {
            let features = one.features();
            let error = (one.counted_with(factors) - one.actual).abs() / one.actual;
            let weight = 1.0 / (one.actual * one.actual * error.max(0.01));
            for (row, feature) in matrix.iter_mut().zip(features) {
                for (cell, other) in row.iter_mut().zip(features) {
                    *cell += weight * feature * other;
                }
                row[FACTORS] += weight * feature * (one.actual - one.fixed);
            }
        }
        for (index, row) in matrix.iter_mut().enumerate() {
            let hold = row[index] * HOLD + 1e-9;
            row[index] += hold;
            row[FACTORS] += hold * present[index];
        }
        factors = solve(matrix);
    }
    factors
}

/// Solves linear equations by elimination. The diagonal is positive, because every factor is held.
fn solve(mut rows: [[f64; FACTORS + 1]; FACTORS]) -> [f64; FACTORS] {
    for pivot in 0..FACTORS {
        let above = rows[pivot];
        for row in &mut rows[pivot + 1..] {
            let share = row[pivot] / above[pivot];
            for (cell, other) in row.iter_mut().zip(above) {
                *cell -= share * other;
            }
        }
    }
    let mut solution = [0.0; FACTORS];
    for row in (0..FACTORS).rev() {
        let known: f64 = (row + 1..FACTORS).map(|column| rows[row][column] * solution[column]).sum();
        solution[row] = (rows[row][FACTORS] - known) / rows[row][row];
    }
    solution
}

fn dot(one: [f64; FACTORS], other: [f64; FACTORS]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}
