//! `cargo xtask bench --against COMMIT`: runs the benchmarks of an older commit and ours, and prints their figures side by
//! side. Each figure is a ratio within its own run, so a busy machine affects both commits alike.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::Done;
use crate::shell::{capture, cargo, command, root, run};

/// The figures of one run in the order they were printed. A row is named by its table and its label.
type Figures = Vec<(String, String)>;

pub fn compare(commit: &str, quick: bool) -> Done {
    let old = check_out(commit)?;
    let mut runs = Vec::new();
    for (name, directory) in [(commit, old), ("this tree", root())] {
        println!("measuring {name} …");
        let mut bench = cargo();
        // What a variable says about our target directory isn't meant for the other checkout.
        bench.current_dir(directory).env_remove("CARGO_TARGET_DIR").args(["xtask", "bench"]);
        let output = capture(bench.args(quick.then_some("--quick")))?;
        println!("{output}");
        runs.push(figures(&output));
    }
    let [before, after] = [&runs[0], &runs[1]];
    let width = before.iter().chain(after).map(|(row, _)| row.chars().count()).max().unwrap_or(0);
    println!("{:<width$}  {:>12}  {:>12}", "figure", commit, "this tree");
    for (row, new) in after {
        let old = before.iter().find(|(other, _)| other == row).map_or("-", |(_, figure)| figure);
        println!("{row:<width$}  {old:>12}  {new:>12}");
    }
    for (row, old) in before.iter().filter(|(row, _)| after.iter().all(|(other, _)| other != row)) {
        println!("{row:<width$}  {old:>12}  {:>12}", "-");
    }
    Ok(())
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
            [label, _, figure, ..] if figure.parse::<f64>().is_ok() => {
                figures.push((format!("{title}: {label}"), (*figure).to_owned()));
            }
            _ => {}
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
peer                  90 MB/s
";
        assert_eq!(figures(output), [("text, 16 KiB chunks: sluice".to_owned(), "0.14".to_owned())]);
    }
}
