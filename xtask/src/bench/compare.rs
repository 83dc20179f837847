//! `cargo xtask bench --compare COMMIT`: runs the benchmarks of an older commit and ours, and prints their figures side by
//! side. Each figure is a ratio within its own run, and the commits take turns, so a busy machine affects both alike. With
//! `--instructions`, only those are counted, which takes minutes instead of hours.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::Done;
use crate::shell::{capture, cargo, command, root, run};

/// How often each commit is measured. The medians are printed.
const ROUNDS: usize = 3;

/// The figures of one run in the order they were printed. A row is named by its table and its label.
type Figures = Vec<(String, f64)>;

pub fn compare(commit: &str, quick: bool, instructions: bool) -> Done {
    let option = if instructions { Some("--instructions") } else { quick.then_some("--quick") };
    // Every run has the same number of instructions.
    let rounds = if instructions { 1 } else { ROUNDS };
    let trees = [check_out(commit)?, root()];
    let mut runs = [Vec::new(), Vec::new()];
    for round in 1..=rounds {
        for (name, (directory, runs)) in [commit, "this tree"].into_iter().zip(trees.iter().zip(&mut runs)) {
            println!("measuring {name}, {round} of {rounds} …");
            let mut bench = cargo();
            // Otherwise, the other checkout would build into our target directory.
            bench.current_dir(directory).env_remove("CARGO_TARGET_DIR").args(["xtask", "bench"]);
            runs.push(figures(&capture(bench.args(option))?));
        }
    }
    let [before, after] = runs.each_ref().map(|runs| medians(runs));
    let width = before.iter().chain(&after).map(|(row, _)| row.chars().count()).max().unwrap_or(0);
    println!("\n{:<width$}  {commit:>12}  {:>12}  {:>6}", "figure", "this tree", "change");
    for (row, new) in &after {
        match before.iter().find(|(other, _)| other == row) {
            Some((_, old)) => println!("{row:<width$}  {old:>12.2}  {new:>12.2}  {:>+5.0}%", (new / old - 1.0) * 100.0),
            None => println!("{row:<width$}  {:>12}  {new:>12.2}", "-"),
        }
    }
    for (row, old) in before.iter().filter(|(row, _)| after.iter().all(|(other, _)| other != row)) {
        println!("{row:<width$}  {old:>12.2}  {:>12}", "-");
    }
    Ok(())
}

/// Returns the median of each figure.
fn medians(runs: &[Figures]) -> Figures {
    let rows = runs.first().into_iter().flatten().map(|(row, _)| {
        let all = runs.iter().flatten().filter(|(other, _)| other == row);
        let mut all: Vec<f64> = all.map(|(_, figure)| *figure).collect();
        all.sort_by(f64::total_cmp);
        (row.clone(), all[all.len() / 2])
    });
    rows.collect()
}

/// Checks out a commit under `target/`, or returns the checkout of an earlier run.
fn check_out(commit: &str) -> Done<PathBuf> {
    let id = capture(command("git").args(["rev-parse", "--verify", &format!("{commit}^{{commit}}")]))?;
    let directory = root().join("target/against").join(id.trim());
    if !directory.join(".git").exists() {
        let _ = fs::remove_dir_all(&directory);
        run(command("git").args(["clone", "--quiet", "--shared", "--no-checkout", "."]).arg(&directory))?;
    }
    run(Command::new("git").current_dir(&directory).args(["checkout", "--quiet", "--detach", id.trim()]))?;
    Ok(directory)
}

/// Reads the tables that the benchmarks print: a title, a rule of dashes, and rows whose columns are at least two spaces
/// apart.
fn figures(output: &str) -> Figures {
    let mut title = "";
    let mut figures = Figures::new();
    for line in output.lines() {
        let columns: Vec<&str> = line.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect();
        match columns.as_slice() {
            [table, "measured", "figure", ..] => title = table,
            [label, figures_and_aim @ ..] => {
                // Some rows have only a figure, others also say what was measured.
                if let Some(figure) = figures_and_aim.iter().take(2).find_map(|column| column.parse().ok()) {
                    let name = format!("{title}: {label}");
                    // A table can have several rows with the same label.
                    let again = format!("{name} (");
                    let same = figures.iter().filter(|(other, _)| *other == name || other.starts_with(&again)).count();
                    figures.push((if same == 0 { name } else { format!("{name} ({})", same + 1) }, figure));
                }
            }
            [] => {}
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::figures;

    #[test]
    fn rows_are_named_by_their_table() {
        let output = "\
corpus text: 10 events

text, 16 KiB chunks  measured  figure     aim
---------------------------------------------
sluice               750 MB/s    0.14  <= 0.5  ok
sluice / peer                       2.5
sluice / peer                       3.5  <= 4  ok
peer                  90 MB/s
";
        let row = |label: &str, figure| (format!("text, 16 KiB chunks: {label}"), figure);
        assert_eq!(figures(output), [row("sluice", 0.14), row("sluice / peer", 2.5), row("sluice / peer (2)", 3.5)]);
    }
}
