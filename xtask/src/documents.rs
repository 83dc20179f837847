//! `cargo xtask documents`: runs the commands in the documents, in an empty home directory and against the embedded
//! gateway.
//!
//! A command is a line that starts with `$ ` in a block of the kind `console`. It has to succeed, and print what the
//! lines below it show: numbers may differ, and `…` stands for anything. Two comments before a block change this:
//!
//! - `<!-- not run: REASON -->` for commands that need something else
//! - `<!-- sample output -->` for commands whose output depends on more than the command
//!
//! Commands within sentences, such as `sluice doctor URL`, aren't run, but they, their options and the tests that they
//! name must exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::gateway::{self, Gateway};
use crate::shell::{capture, command, root};
use crate::{Arguments, Done};

const NOT_RUN: &str = "<!-- not run: ";
const SAMPLE: &str = "<!-- sample output -->";

/// The image that examples send.
const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\nIDATx\x9cc\0\x01\0\0\x05\0\x01\r\n-\xb4\0\0\0\0IEND\xaeB`\x82";

/// One command, with what it should print.
struct Example<'a> {
    line: usize,
    command: &'a str,
    output: Vec<&'a str>,
}

pub fn check() -> Done {
    let sluice = gateway::build()?;
    let gateway = Gateway::start(&sluice)?;
    let home = root().join("target/documents");
    let mut help = Help { sluice: &sluice, pages: BTreeMap::new() };
    let (mut run, mut mentioned, mut problems) = (0, 0, Vec::new());
    for file in capture(command("git").args(["ls-files", "*.md"]))?.lines() {
        let text = fs::read_to_string(root().join(file)).map_err(|error| format!("{file}: {error}"))?;
        let Found { examples, skipped, unclear } = examples(&text);
        for reason in skipped {
            println!("   not run in {file}: {reason}");
        }
        problems.extend(unclear.iter().map(|line| format!("{file}:{line}: a command starts with `$ `")));
        for (line, command) in mentions(&text) {
            problems.extend(help.find(command).err().map(|problem| format!("{file}:{line}: `{command}`: {problem}")));
            mentioned += 1;
        }
        if !examples.is_empty() {
            prepare(&home).map_err(|error| format!("{}: {error}", home.display()))?;
        }
        for example in examples {
            let tried = try_out(&example, &sluice, &gateway.url, &home);
            problems.extend(
                tried.err().map(|problem| format!("{file}:{}: `{}`: {problem}", example.line, example.command)),
            );
            run += 1;
        }
    }
    problems.extend(unlisted_tasks(&fs::read_to_string(root().join("README.md")).unwrap_or_default()));
    println!("   {run} commands were run, and {mentioned} that are mentioned exist");
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Finds tasks of `cargo xtask` that the README doesn't list.
fn unlisted_tasks(readme: &str) -> Vec<String> {
    let command = Arguments::command();
    let tasks = command.get_subcommands().filter(|task| !task.is_hide_set()).map(clap::Command::get_name);
    let is_listed = |task: &&str| [" ", "`"].iter().any(|end| readme.contains(&format!("cargo xtask {task}{end}")));
    tasks.filter(|task| !is_listed(task)).map(|task| format!("README.md doesn't list `cargo xtask {task}`")).collect()
}

/// What the blocks of a document contain.
#[derive(Default)]
struct Found<'a> {
    examples: Vec<Example<'a>>,
    /// The reasons why other commands can't be run.
    skipped: Vec<&'a str>,
    /// The lines of blocks that should be run, but don't begin with a command.
    unclear: Vec<usize>,
}

fn examples(text: &str) -> Found<'_> {
    let mut found = Found::default();
    let (mut before, mut is_example, mut is_sample, mut is_first) = ("", false, false, false);
    for (index, line) in text.lines().map(str::trim_start).enumerate() {
        if let Some(kind) = line.strip_prefix("```") {
            let reason = before.strip_prefix(NOT_RUN).and_then(|rest| rest.strip_suffix(" -->"));
            let is_console = ["console", "sh", "shell", "bash", "zsh", "powershell"].contains(&kind);
            found.skipped.extend(reason.filter(|_| is_console));
            is_example = is_console && reason.is_none();
            is_sample = before == SAMPLE;
        } else if is_example && let Some(command) = line.strip_prefix("$ ") {
            let command = command.split("  #").next().unwrap_or(command).trim_end();
            found.examples.push(Example { line: index + 1, command, output: Vec::new() });
        } else if is_example && is_first {
            found.unclear.push(index + 1);
        } else if is_example
            && !is_sample
            && let Some(example) = found.examples.last_mut()
        {
            example.output.push(line);
        }
        is_first = line.starts_with("```");
        before = line;
    }
    found
}

/// Returns the commands of ours that are mentioned within sentences, with their lines.
fn mentions(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_block = false;
    for (index, line) in text.lines().enumerate() {
        is_block ^= line.trim_start().starts_with("```");
        if !is_block {
            let spans = line.split('`').skip(1).step_by(2);
            let spans = spans.map(|span| span.strip_prefix("UPDATE_EXPECT=1 ").unwrap_or(span));
            let names = ["sluice ", "cargo xtask ", "cargo test ", "npm run "];
            let ours = spans.filter(|span| names.iter().any(|name| span.starts_with(name)));
            found.extend(ours.map(|command| (index + 1, command)));
        }
    }
    found
}

/// What commands and options there are, according to the programs themselves.
struct Help<'a> {
    sluice: &'a Path,
    pages: BTreeMap<String, String>,
}

impl Help<'_> {
    /// Checks that a command and its options exist. `…`, brackets and pipes end a command.
    fn find(&mut self, command: &str) -> Done {
        if let Some(arguments) = command.strip_prefix("cargo test ") {
            return find_tests(arguments);
        }
        if let Some(script) = command.strip_prefix("npm run ") {
            let manifest = fs::read_to_string(root().join("package.json")).unwrap_or_default();
            return if manifest.contains(&format!("\"{script}\": ")) {
                Ok(())
            } else {
                Err("no such script".to_owned())
            };
        }
        let mut words = command.split_whitespace().take_while(|word| !word.starts_with(['…', '[', '|', '\\']));
        if words.next() == Some("cargo") {
            return match Arguments::try_parse_from(words) {
                Err(error) if error.kind() != ErrorKind::MissingRequiredArgument => Err(error.to_string()),
                _ => Ok(()),
            };
        }
        let words: Vec<&str> = words.collect();
        let all = self.page("")?.to_owned();
        let is_subcommand = |word: &&str| all.lines().any(|line| line.starts_with(&format!("  {word} ")));
        // Before the subcommand, there may be options with values.
        let name = match words.iter().copied().find(is_subcommand) {
            Some(name) => name,
            // `chat` can be left out. One or two words and nothing else are rather a subcommand that is gone.
            None if words.is_empty() || words.len() > 2 || words.iter().any(|word| word.starts_with('-')) => "chat",
            None => return Err("there is no such subcommand".to_owned()),
        };
        let pages = [self.page(name)?, &all];
        let options = words.iter().filter_map(|word| word.split('=').next()).filter(|word| word.starts_with('-'));
        let is_known =
            |option: &str| pages.iter().any(|page| page.split([' ', ',', '\n', '[', '=']).any(|word| word == option));
        match options.into_iter().find(|option| !is_known(option)) {
            Some(option) => Err(format!("there is no {option}")),
            None => Ok(()),
        }
    }

    fn page(&mut self, subcommand: &str) -> Done<&str> {
        if !self.pages.contains_key(subcommand) {
            let words = [subcommand, "--help"].into_iter().filter(|word| !word.is_empty());
            let page = capture(Command::new(self.sluice).args(words))?;
            self.pages.insert(subcommand.to_owned(), page);
        }
        Ok(&self.pages[subcommand])
    }
}

/// Checks that the packages and tests in the arguments of `cargo test` exist.
fn find_tests(arguments: &str) -> Done {
    let (mut packages, mut before) = (Vec::new(), "");
    for word in arguments.split_whitespace() {
        let has = |pattern: &str, files: Vec<String>| {
            let found =
                Command::new("git").args(["grep", "--quiet", pattern, "--"]).args(files).current_dir(root()).output();
            found.is_ok_and(|output| output.status.success())
        };
        let exists = match before {
            "-p" | "--package" => {
                packages.push(word);
                has(&format!("^name = \"{word}\"$"), vec!["*Cargo.toml".to_owned()])
            }
            "--test" => {
                packages.iter().any(|package| root().join(format!("crates/{package}/tests/{word}.rs")).is_file())
            }
            _ if word.starts_with('-') => true,
            _ => has(&format!("fn .*{word}"), packages.iter().map(|package| format!("crates/{package}/")).collect()),
        };
        if !exists {
            return Err(format!("there is no {word}"));
        }
        before = word;
    }
    Ok(())
}

/// Makes an empty home directory with the files that examples mention.
fn prepare(home: &Path) -> std::io::Result<()> {
    let _ = fs::remove_dir_all(home);
    fs::create_dir_all(home)?;
    fs::write(home.join("main.rs"), "fn main() {}\n")?;
    fs::write(home.join("error.png"), PIXEL)?;
    let body = r#"{"model": "openai/gpt-4o", "instructions": "Be brief.", "input": "Name three rivers."}"#;
    fs::write(home.join("body.json"), body)
}

fn try_out(example: &Example<'_>, sluice: &Path, url: &str, home: &Path) -> Done {
    if let Some(task) = example.command.strip_prefix("cargo xtask ") {
        let words = std::iter::once("xtask").chain(task.split_whitespace());
        return Arguments::try_parse_from(words).map(drop).map_err(|error| error.to_string());
    }
    // The embedded gateway takes the place of every server, and its demo that of every model.
    let mut line = example.command.to_owned();
    if line == "sluice login" {
        line.push_str(" BASE_URL");
    }
    for (text, value) in [
        ("https://llm.example.com/v1", url),
        ("http://127.0.0.1:11434/v1", url),
        ("http://127.0.0.1:8000/v1", url),
        ("localhost:11434", url),
        ("BASE_URL", url),
        ("-m MODEL", "-m sluice/demo"),
        ("-m team-model", "-m sluice/demo"),
        ("-m anthropic/claude-sonnet-4.5", "-m sluice/demo"),
    ] {
        line = line.replace(text, value);
    }
    let path = std::env::join_paths(
        sluice
            .parent()
            .map(Path::to_owned)
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let output = Command::new("sh")
        .args(["-c", &line])
        .current_dir(home)
        .env_clear()
        .env("PATH", path.map_err(|error| error.to_string())?)
        .env("HOME", home)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("sh: {error}"))?;
    let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if !output.status.success() {
        return Err(format!("{}\n{printed}", output.status));
    }
    let shown = |line: &&&str| !shows(&printed, line);
    match example.output.iter().find(shown) {
        Some(missing) => Err(format!("doesn't print {missing:?}, but\n{printed}")),
        None => Ok(()),
    }
}

/// Whether a line was printed, apart from its numbers and from what `…` stands for.
fn shows(printed: &str, line: &str) -> bool {
    let wanted = without_numbers(line);
    printed.lines().map(without_numbers).any(|printed| {
        let mut rest = printed.as_str();
        wanted.split('…').all(|piece| {
            rest.find(piece.trim()).is_some_and(|at| {
                rest = rest.get(at + piece.trim().len()..).unwrap_or_default();
                true
            })
        })
    })
}

fn without_numbers(line: &str) -> String {
    let mut out = String::new();
    for character in line.trim().chars() {
        let is_number = character.is_ascii_digit() || (out.ends_with('0') && ['.', ','].contains(&character));
        if !is_number {
            out.push(character);
        } else if !out.ends_with('0') {
            out.push('0');
        }
    }
    // Columns are as wide as their numbers.
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Found, examples, find_tests, mentions, shows};

    #[test]
    fn commands_are_found_with_their_output() {
        let text = "```console\n$ a b   # why\none\ntwo …\n$ c\n```\n<!-- not run: needs x -->\n```sh\n$ x\n```\n<!-- sample output -->\n```console\n$ d\n1\n```\n```text\n$ e\n```\n";
        let Found { examples, skipped, unclear } = examples(text);
        let found: Vec<String> =
            examples.iter().map(|it| format!("{}: {} → {:?}", it.line, it.command, it.output)).collect();
        assert_eq!(found, ["2: a b → [\"one\", \"two …\"]", "5: c → []", "13: d → []"]);
        assert_eq!((skipped, unclear), (vec!["needs x"], Vec::new()));
        // In a list, and without the sign of a command.
        let Found { examples, unclear, .. } = super::examples("- a\n\n  ```console\n  $ b\n  ```\n```sh\nc\n```\n");
        assert_eq!((examples.len(), unclear), (1, vec![7]));
    }

    #[test]
    fn tasks_are_listed() {
        let unlisted = super::unlisted_tasks("Run `cargo xtask test`, or `cargo xtask vscode --only chat`.");
        let has = |task: &str| unlisted.iter().any(|problem| problem.ends_with(&format!("`cargo xtask {task}`")));
        assert!(has("tidy") && !has("test") && !has("vscode"), "{unlisted:?}");
    }

    #[test]
    fn tests_that_are_named_exist() {
        assert_eq!(find_tests("-p sluice-core --test invariants_random faulty"), Ok(()));
        let wrong = ["-p sluice-x", "-p sluice-core --test x", "-p sluice-core no_such_test_x"];
        assert!(wrong.iter().all(|arguments| find_tests(arguments).is_err()));
    }

    #[test]
    fn commands_are_found_within_sentences() {
        let text = "Run `sluice chat --json`, not `curl x`.\n```text\n`sluice x`\n```\n| `cargo xtask test` `UPDATE_EXPECT=1 cargo test -p x` |";
        let found = [(1, "sluice chat --json"), (5, "cargo xtask test"), (5, "cargo test -p x")];
        assert_eq!(mentions(text), found);
    }

    #[test]
    fn numbers_and_ellipses_match_anything() {
        assert!(shows("x\n391 tokens ± 1 % (a; 1,628 characters)\n", "6 tokens ± 2 % (…; 3 characters)"));
        assert!(shows("cost    $0.45", "cost $12.5") && shows("anything", "…"));
        assert!(!shows("6 tokens", "6 words") && !shows("", "a"));
    }
}
