//! `cargo xtask quality`: how much of the core the tests execute, and which mutations of it they don't notice.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Done;
use crate::shell::{capture, cargo, command, root, run};

/// The share of lines, in per cent, that the tests of the core must execute.
const LEAST: f64 = 90.0;
const SOURCES: &str = "crates/sluice-core/src/";
/// What is mutated: where a mistake would lose or double parts, or miscount.
const MUTATED: [&str; 7] = ["receive.rs", "receive", "send", "exchange.rs", "exchange", "ledger.rs", "ledger"];

/// Explains the mutants that no test can notice.
const EXPLAINED: &str = "docs/quality.md";

/// Lines that are executed, and all lines.
type Lines = (u64, u64);

/// Prints the coverage of the core. With `shard`, such as `0/50`, it also tries a part of all mutants, and prints those that
/// survive. With `file`, a file or folder such as `receive/calls.rs`, it tries only the mutants there and prints no coverage.
pub fn check(shard: Option<&str>, file: Option<&str>) -> Done {
    if let Some(file) = file {
        let exists = root().join(SOURCES).join(file).exists();
        return if exists {
            mutants(shard.unwrap_or("0/1"), &[file])
        } else {
            Err(format!("there is no {SOURCES}{file}"))
        };
    }
    let covered = coverage()?;
    if let Some(shard) = shard {
        mutants(shard, &MUTATED)?;
    }
    if covered < LEAST {
        return Err(format!("the tests execute {covered:.1} % of the core's lines, and should {LEAST} %"));
    }
    Ok(())
}

/// Runs the core's tests with counters, and prints a table of its modules. Returns the share of all lines in per cent.
fn coverage() -> Done<f64> {
    let folder = root().join("target/coverage");
    let profiles = folder.join("profiles");
    let _ = fs::remove_dir_all(&profiles);
    let tools = llvm_tools()?;
    let tests = || {
        let mut tests = cargo();
        tests
            .args(["test", "--quiet", "--locked", "--package", "sluice-core", "--target-dir"])
            .arg(&folder)
            .env("RUSTFLAGS", "-C instrument-coverage")
            .env("CARGO_PROFILE_TEST_DEBUG", "0")
            .env("LLVM_PROFILE_FILE", profiles.join("%m-%p.profraw"));
        tests
    };
    let built = capture(tests().args(["--tests", "--no-run", "--message-format", "json"]))?;
    let programs: Vec<String> = built
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok()?["executable"].as_str().map(str::to_owned))
        .collect();
    run(tests().arg("--tests"))?;
    let merged = folder.join("all.profdata");
    let raw: Vec<PathBuf> = fs::read_dir(&profiles)
        .map_err(|error| format!("{}: {error}", profiles.display()))?
        .flatten()
        .map(|file| file.path())
        .collect();
    let mut merge = command(&tools.join("llvm-profdata").to_string_lossy());
    run(merge.args(["merge", "-sparse"]).args(raw).arg("-o").arg(&merged))?;
    let mut export = command(&tools.join("llvm-cov").to_string_lossy());
    export.args(["export", "-summary-only", "-instr-profile"]).arg(&merged);
    for program in &programs {
        export.args(["-object", program]);
    }
    let report: Value = serde_json::from_str(&capture(&mut export)?).map_err(|error| format!("llvm-cov: {error}"))?;
    Ok(table(&report))
}

/// Prints the coverage of each module, and returns that of all of them.
fn table(report: &Value) -> f64 {
    let mut modules: BTreeMap<String, Lines> = BTreeMap::new();
    for file in report["data"][0]["files"].as_array().into_iter().flatten() {
        let name = file["filename"].as_str().and_then(|name| name.split_once(SOURCES));
        let Some((_, name)) = name else { continue };
        let module = name.split_once('/').map_or_else(|| name.trim_end_matches(".rs"), |(folder, _)| folder);
        let lines = modules.entry(module.to_owned()).or_default();
        lines.0 += file["summary"]["lines"]["covered"].as_u64().unwrap_or_default();
        lines.1 += file["summary"]["lines"]["count"].as_u64().unwrap_or_default();
    }
    let all = modules.values().fold((0, 0), |sum, lines| (sum.0 + lines.0, sum.1 + lines.1));
    println!("{:20} {:>7} {:>7}", "module", "lines", "covered");
    for (module, lines) in modules.iter().map(|(module, lines)| (module.as_str(), *lines)).chain([("all", all)]) {
        println!("{module:20} {:>7} {:>5.1} %", lines.1, share(lines));
    }
    share(all)
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^52 lines")]
fn share((covered, all): Lines) -> f64 {
    covered as f64 * 100.0 / all.max(1) as f64
}

/// Returns the folder of the tools that belong to this compiler, and installs them if necessary.
fn llvm_tools() -> Done<PathBuf> {
    let folder = capture(command("rustc").args(["--print", "target-libdir"]))?;
    let folder = Path::new(folder.trim()).parent().map(|parent| parent.join("bin")).unwrap_or_default();
    if !folder.join("llvm-cov").is_file() {
        run(command("rustup").args(["component", "add", "llvm-tools"]))?;
    }
    Ok(folder)
}

/// Changes the core in one place after the other, and prints the changes that no test notices.
fn mutants(shard: &str, files: &[&str]) -> Done {
    let tools = root().join("target/tools");
    let program = tools.join("bin").join(format!("cargo-mutants{}", std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        run(cargo().args(["install", "--quiet", "--locked", "cargo-mutants", "--root"]).arg(&tools))?;
    }
    let folder = root().join("target/mutants");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let is_folder = |file: &str| root().join(SOURCES).join(file).is_dir();
    let files = files.iter().map(|file| if is_folder(file) { format!("{file}/**") } else { (*file).to_owned() });
    let files = files.flat_map(|file| ["--file".to_owned(), format!("{SOURCES}{file}")]);
    let mut mutants = command(&program.to_string_lossy());
    mutants.args(["mutants", "--package", "sluice-core", "--no-shuffle", "--shard", shard]).args(files);
    mutants.arg("--output").arg(&folder);
    // The core has no examples in its documentation that could notice a mutant.
    mutants.args(["--", "--tests"]);
    // Most of the time goes into building: every mutant needs all test programs again.
    mutants.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_PROFILE_TEST_DEBUG", "0");
    // The same mutants survive every time, and nobody reads the smallest case that notices one.
    mutants.env("PROPTEST_RNG_SEED", "1").env("PROPTEST_MAX_SHRINK_ITERS", "0");
    // Survivors make it fail. They are listed, and a person judges them.
    let failed = run(&mut mutants).err().unwrap_or_default();
    let folder = folder.join("mutants.out");
    let read = |file: &Path| fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()));
    let outcomes = read(&folder.join("outcomes.json")).map_err(|error| format!("{failed} {error}"))?;
    let outcomes: Value = serde_json::from_str(&outcomes).map_err(|error| format!("cargo-mutants: {error}"))?;
    let page = read(&root().join(EXPLAINED))?;
    let diff = |path: &str| read(&folder.join(path)).unwrap_or_default();
    println!("{}", report(&outcomes, &page, diff)?);
    Ok(())
}

/// Returns the table of [`EXPLAINED`] for these outcomes, then the survivors: those that it explains, and the others with what
/// they change.
fn report(outcomes: &Value, page: &str, diff: impl Fn(&str) -> String) -> Done<String> {
    // Tried, noticed, explained, not explained, can't be compiled.
    let mut modules: BTreeMap<String, [u32; 5]> = BTreeMap::new();
    let (mut explained, mut others) = (Vec::new(), Vec::new());
    for outcome in outcomes["outcomes"].as_array().into_iter().flatten() {
        let mutant = &outcome["scenario"]["Mutant"];
        let (Some(mutant), Some(file)) = (mutant["name"].as_str(), mutant["file"].as_str()) else {
            if outcome["summary"] != "Success" {
                return Err("the tests fail even if nothing is changed".to_owned());
            }
            continue;
        };
        let file = file.strip_prefix(SOURCES).unwrap_or(file);
        let module = file.split_once('/').map_or_else(|| file.trim_end_matches(".rs"), |(folder, _)| folder);
        let column = match outcome["summary"].as_str().unwrap_or_default() {
            // Tests that no longer end notice a mutant, too.
            "CaughtMutant" | "Timeout" => 1,
            "MissedMutant" if page.contains(&name(mutant)) => {
                explained.push(mutant.to_owned());
                2
            }
            "MissedMutant" => {
                let changed = diff(outcome["diff_path"].as_str().unwrap_or_default());
                let is_change =
                    |line: &&str| line.starts_with(['-', '+']) && !line.starts_with("---") && !line.starts_with("+++");
                others.extend(
                    [mutant.to_owned()].into_iter().chain(changed.lines().filter(is_change).map(str::to_owned)),
                );
                3
            }
            _ => 4,
        };
        for module in [module, "all"] {
            let sums = modules.entry(module.to_owned()).or_default();
            sums[0] += u32::from(column != 4);
            sums[column] += 1;
        }
    }
    let mut text =
        "| | tried | noticed | survive, explained | survive | can't be compiled |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for (module, sums) in modules {
        let sums = sums.map(|sum| sum.to_string()).join(" | ");
        text.push_str(&format!("| `{module}` | {sums} |\n"));
    }
    let lists = [("that docs/quality.md explains", explained), ("that need a test or an explanation", others)];
    for (what, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        text.push_str(&format!("\nSurvivors {what}:\n{}\n", list.join("\n")));
    }
    Ok(text)
}

/// Returns how a mutant is called on the page that explains it: without its line and column, which change often.
fn name(mutant: &str) -> String {
    let (file, rest) = mutant.split_once(':').unwrap_or((mutant, ""));
    let what = rest.split_once(": ").map_or(rest, |(_, what)| what);
    format!("`{}`: `{what}`", file.strip_prefix(SOURCES).unwrap_or(file))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn a_mutant_is_known_by_its_file_and_change() {
        let mutant = "crates/sluice-core/src/receive/sse.rs:10:5: replace < with <= in Parser::push";
        assert_eq!(super::name(mutant), "`receive/sse.rs`: `replace < with <= in Parser::push`");
    }

    #[test]
    fn survivors_are_listed_with_what_they_change() {
        let outcome = |file: &str, change: &str, summary: &str| {
            let file = format!("crates/sluice-core/src/{file}");
            let name = format!("{file}:10:5: {change}");
            json!({"scenario": {"Mutant": {"name": name, "file": file}}, "summary": summary, "diff_path": "diff/1"})
        };
        let baseline = |summary: &str| json!({"scenario": "Baseline", "summary": summary});
        let outcomes = json!({"outcomes": [
            baseline("Success"),
            outcome("receive/sse.rs", "replace < with <= in Parser::push", "MissedMutant"),
            outcome("receive.rs", "replace f with ()", "CaughtMutant"),
            outcome("ledger.rs", "replace > with >= in end", "MissedMutant"),
            outcome("ledger.rs", "replace g with 1", "Timeout"),
            outcome("ledger.rs", "replace h with x", "Unviable"),
        ]});
        let page = "| `receive/sse.rs`: `replace < with <= in Parser::push` | why |";
        let diff = |_: &str| "--- a\n+++ b\n@@ -1 +1 @@\n same\n-a > b\n+a >= b\n".to_owned();
        let expected = "| | tried | noticed | survive, explained | survive | can't be compiled |
|---|---|---|---|---|---|
| `all` | 4 | 2 | 1 | 1 | 1 |
| `ledger` | 2 | 1 | 0 | 1 | 1 |
| `receive` | 2 | 1 | 1 | 0 | 0 |

Survivors that docs/quality.md explains:
crates/sluice-core/src/receive/sse.rs:10:5: replace < with <= in Parser::push

Survivors that need a test or an explanation:
crates/sluice-core/src/ledger.rs:10:5: replace > with >= in end
-a > b
+a >= b
";
        assert_eq!(super::report(&outcomes, page, diff).unwrap(), expected);
        let broken = json!({"outcomes": [baseline("Failure")]});
        assert!(super::report(&broken, page, diff).is_err());
    }

    #[test]
    fn files_are_added_up_by_module() {
        let file = |name: &str, covered: u64, count: u64| json!({"filename": name, "summary": {"lines": {"covered": covered, "count": count}}});
        let files = [
            file("/x/crates/sluice-core/src/receive/sse.rs", 8, 10),
            file("/x/crates/sluice-core/src/receive.rs", 10, 10),
            file("/x/crates/sluice-core/tests/receive.rs", 0, 100),
        ];
        let share = super::table(&json!({"data": [{"files": files}]}));
        assert!((share - 90.0).abs() < 0.01, "{share}");
    }
}
