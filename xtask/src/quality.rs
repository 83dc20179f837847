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
const MUTATED: [&str; 7] =
    ["receive.rs", "receive/**", "send/**", "exchange.rs", "exchange/**", "ledger.rs", "ledger/**"];

/// Explains the mutants that no test can notice.
const EXPLAINED: &str = "docs/quality.md";

/// Lines that are executed, and all lines.
type Lines = (u64, u64);

/// Prints the coverage of the core, and the mutants that survive. `shard` chooses a part of them, such as `0/50`.
pub fn check(shard: Option<&str>) -> Done {
    let covered = coverage()?;
    if let Some(shard) = shard {
        mutants(shard)?;
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
fn mutants(shard: &str) -> Done {
    let tools = root().join("target/tools");
    let program = tools.join("bin").join(format!("cargo-mutants{}", std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        run(cargo().args(["install", "--quiet", "--locked", "cargo-mutants", "--root"]).arg(&tools))?;
    }
    let files = MUTATED.iter().flat_map(|file| ["--file".to_owned(), format!("{SOURCES}{file}")]);
    let mut mutants = command(&program.to_string_lossy());
    mutants.args(["mutants", "--package", "sluice-core", "--no-shuffle", "--shard", shard]).args(files);
    mutants.arg("--output").arg(root().join("target/mutants"));
    // The core has no examples in its documentation that could notice a mutant.
    mutants.args(["--", "--tests"]);
    // Most of the time goes into building: every mutant needs all test programs again.
    mutants.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_PROFILE_TEST_DEBUG", "0");
    // The same mutants survive every time, and nobody reads the smallest case that notices one.
    mutants.env("PROPTEST_RNG_SEED", "1").env("PROPTEST_MAX_SHRINK_ITERS", "0");
    // Survivors make it fail. They are listed, and a person judges them.
    let _ = run(&mut mutants);
    let list = |name: &str| {
        let file = root().join("target/mutants/mutants.out").join(name);
        fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))
    };
    let [missed, caught, timeout, unviable] =
        ["missed", "caught", "timeout", "unviable"].map(|name| list(&format!("{name}.txt")));
    let missed = missed?;
    let number = |list: Done<String>| list.map(|list| list.lines().count());
    println!(
        "{} mutants were noticed, {} of them because the tests no longer ended; {} can't be compiled",
        number(caught)? + number(timeout.clone())?,
        number(timeout)?,
        number(unviable)?
    );
    let page = root().join(EXPLAINED);
    let page = fs::read_to_string(&page).map_err(|error| format!("{}: {error}", page.display()))?;
    let (explained, new): (Vec<&str>, Vec<&str>) = missed.lines().partition(|mutant| page.contains(&name(mutant)));
    println!("{} mutants survive that {EXPLAINED} explains:\n{}", explained.len(), explained.join("\n"));
    println!("{} others survive:\n{}", new.len(), new.join("\n"));
    Ok(())
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
