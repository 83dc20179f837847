//! One table for each section: what was measured, its goal, and whether the goal is met. A missed goal is reported but
//! isn't an error: a benchmark on a busy machine must not fail a build.

/// The goal for a figure.
#[derive(Clone, Copy)]
pub enum Aim {
    AtMost(f64),
    AtLeast(f64),
}

#[derive(Default)]
pub struct Table {
    rows: Vec<[String; 5]>,
}

impl Table {
    /// A row for comparison only.
    pub fn info(&mut self, what: &str, measured: String, ratio: Option<f64>) {
        let ratio = ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
        self.rows.push([what.into(), measured, ratio, String::new(), String::new()]);
    }

    /// A row whose `figure` has a goal.
    pub fn aim(&mut self, what: &str, measured: String, figure: f64, aim: Aim) {
        // The rounded figure is judged: one buffer that doubles among ten thousand deltas doesn't count as a miss.
        let figure = (figure * 100.0).round() / 100.0;
        let (text, met) = match aim {
            Aim::AtMost(limit) => (format!("<= {limit}"), figure <= limit),
            Aim::AtLeast(limit) => (format!(">= {limit}"), figure >= limit),
        };
        let mark = if met { "ok" } else { "MISSED" };
        self.rows.push([what.into(), measured, format!("{figure:.2}"), text, mark.into()]);
    }

    pub fn print(self, title: &str) {
        let head = [title, "measured", "figure", "aim", ""].map(String::from);
        let rows: Vec<_> = std::iter::once(head).chain(self.rows).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths = [0, 1, 2, 3, 4].map(width);
        println!();
        for (index, [what, measured, figure, aim, mark]) in rows.iter().enumerate() {
            let [a, b, c, d, _] = widths;
            let line = format!("{what:<a$}  {measured:>b$}  {figure:>c$}  {aim:>d$}  {mark}");
            println!("{}", line.trim_end());
            if index == 0 {
                println!("{}", "-".repeat(widths.iter().sum::<usize>() + 8));
            }
        }
    }
}
