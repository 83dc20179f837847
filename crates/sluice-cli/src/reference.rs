//! Writes `docs/cli-reference.md`, and checks that the documents mention only commands and options that exist.

use std::fmt::Write;

use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory};

/// Appends what a command does and accepts, then the same for its subcommands.
fn describe(command: &Command, path: &str, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n## `{path}`\n")?;
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    writeln!(out, "{}\n", sentence(&about))?;
    let mut usage = path.to_owned();
    let own: Vec<&Arg> = command.get_arguments().filter(|argument| is_listed(argument, path)).collect();
    if own.iter().any(|argument| !argument.is_positional()) {
        usage.push_str(" [OPTIONS]");
    }
    for argument in own.iter().filter(|argument| argument.is_positional()) {
        write!(usage, " {argument}")?;
    }
    if command.has_subcommands() {
        usage.push_str(" COMMAND");
    }
    writeln!(out, "```text\n{usage}\n```")?;
    if !own.is_empty() {
        out.push('\n');
    }
    let (positional, named): (Vec<&Arg>, Vec<&Arg>) = own.into_iter().partition(|argument| argument.is_positional());
    for argument in positional.into_iter().chain(named) {
        writeln!(out, "- {}", line(argument))?;
    }
    command
        .get_subcommands()
        .filter(|command| command.get_name() != "help")
        .try_for_each(|subcommand| describe(subcommand, &format!("{path} {}", subcommand.get_name()), out))
}

/// What every command has is described once.
fn is_listed(argument: &Arg, path: &str) -> bool {
    let is_everywhere = ["help", "version"].contains(&argument.get_id().as_str());
    !argument.is_hide_set() && !is_everywhere && (path == "sluice" || !argument.is_global_set())
}

/// Adds the full stop that clap's style leaves out.
fn sentence(help: &str) -> String {
    let help = help.trim_end();
    if help.ends_with(['.', '…', ':']) { help.to_owned() } else { format!("{help}.") }
}

fn line(argument: &Arg) -> String {
    let short = argument.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    // A help text of several paragraphs is one entry of the list.
    let help = sentence(&help.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut line = format!("`{short}{}`: {help}", argument.to_string().trim());
    let values: Vec<String> =
        argument.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    if argument.get_action().takes_values() && !values.is_empty() {
        line.push_str(&format!(" One of {}.", values.join(", ")));
    }
    let defaults: Vec<String> = argument
        .get_default_values()
        .iter()
        .filter(|value| !value.is_empty())
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        line.push_str(&format!(" By default {}.", defaults.join(", ")));
    }
    if let Some(variable) = argument.get_env() {
        line.push_str(&format!(" The variable `{}` sets it too.", variable.to_string_lossy()));
    }
    line
}

#[test]
fn the_reference_is_fresh() {
    let mut command = crate::Arguments::command();
    // Without this, the arguments don't have their final names and help texts yet.
    command.build();
    let mut text = "# All commands and options of `sluice`\n\nThis page is generated from the program: `UPDATE_EXPECT=1 cargo test -p \
                    sluice-cli reference` writes it. [The command line](command-line.md) explains how to use it. Every \
                    command has `-h` for a summary and `--help` for the whole text; `sluice --version` prints the version. `--profile` can be given after any command.\n"
        .to_owned();
    describe(&command, "sluice", &mut text).unwrap();
    expect_test::expect_file!["../../../docs/cli-reference.md"].assert_eq(&text);
}

/// Splits a command into words. Quotes hold words together.
fn words(command: &str) -> Vec<String> {
    let pieces = command.split(['"', '\'']).enumerate();
    pieces
        .flat_map(|(index, piece)| {
            let is_quoted = index % 2 == 1;
            if is_quoted { vec![piece.to_owned()] } else { piece.split_whitespace().map(str::to_owned).collect() }
        })
        .collect()
}

#[test]
fn every_command_that_a_document_mentions_exists() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["", "docs", "extension", "packages/stream-adapter"];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap().flatten());
    let (mut checked, mut wrong) = (0, Vec::new());
    for file in files.map(|file| file.path()).filter(|file| file.extension().is_some_and(|kind| kind == "md")) {
        let text = std::fs::read_to_string(&file).unwrap();
        for command in text.split('`').filter(|span| span.starts_with("sluice ") && !span.contains('\n')) {
            // What follows a pipe belongs to another program, and brackets contain what can be left out.
            let command = command.split(['|', '>', '[', '\\']).next().unwrap_or_default().replace(" …", "");
            // `chat` can be left out. In general, that would hide commands that don't exist.
            let is_question = ["sluice -", "sluice what "].iter().any(|start| command.starts_with(start));
            let parsed = if is_question {
                crate::parse(words(&command).into_iter().map(Into::into).collect(), crate::Input::Terminal).map(drop)
            } else {
                crate::Arguments::command().try_get_matches_from(words(&command)).map(drop)
            };
            let is_unknown = |error: &clap::Error| {
                [ErrorKind::UnknownArgument, ErrorKind::InvalidSubcommand].contains(&error.kind())
            };
            let problem = parsed.err().filter(is_unknown);
            wrong.extend(problem.map(|error| format!("{}: `{command}`: {error}", file.display())));
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
