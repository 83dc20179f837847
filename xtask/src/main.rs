//! Development tasks that plain cargo can't do. `cargo xtask --help` lists them.

mod adapter;
mod bench;
mod demo;
mod dist;
mod documents;
mod extension;
mod fuzz;
mod gateway;
mod javascript;
mod meter;
mod notices;
mod platforms;
mod quality;
mod recordings;
mod servers;
mod shell;
mod test;
mod tidy;
mod tokens;
mod trial;
mod vocabulary;
mod vscode;
mod wasm;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Start the embedded gateway, and VS Code with the extension
    Demo(demo::Options),
    /// The tool that the demo offers
    #[command(hide = true)]
    ReadFileTool,
    /// Run every test
    Test,
    /// Check only the house rules: file lengths, documents, the core's dependencies, licences, JavaScript style
    Tidy,
    /// Build the core as WebAssembly; print its size and startup time
    Wasm,
    /// Build and test the npm package for authors of other providers
    Adapter,
    /// Build the VS Code extension and pack it: target/sluice.vsix
    Vsix,
    /// Make everything that a release consists of, compare it with a second build, and try it out: target/dist
    Dist {
        /// Only make it
        #[arg(long)]
        once: bool,
        /// Only make the command line for this machine
        #[arg(long, conflicts_with = "once")]
        program: bool,
    },
    /// Print how much of the core the tests execute, and which changes of it they don't notice
    Quality {
        /// Also change the core, in this part of all places: 0/50 is the first of fifty parts
        #[arg(long)]
        shard: Option<String>,
        /// Only change this file or folder of the core, such as receive/calls.rs, and print no coverage
        #[arg(long)]
        file: Option<String>,
    },
    /// Compile and lint the programs for macOS and Windows
    Platforms,
    /// Run the commands in the documents, against the embedded gateway
    Documents,
    /// Use the npm package in Node 18 to 24, Bun and Deno, and with esbuild, webpack and Vite
    Everywhere,
    /// Check the core against a directory of recorded streams (*.sse)
    Recordings { directory: PathBuf },
    /// Compare our token counts with the servers' counts in recorded requests (*.jsonl, or *.req.json next to *.sse)
    Tokens { directory: PathBuf },
    /// Build Gemini's vocabulary from a `tokenizer.json` of Gemma 3
    Vocabulary { tokenizer: PathBuf },
    /// Measure speed against similar libraries, as ratios within one run
    Bench {
        /// Run fewer rounds for a quick overview
        #[arg(long)]
        quick: bool,
        /// Measure an older commit as well and print both
        #[arg(long, value_name = "COMMIT")]
        compare: Option<String>,
        /// Count instead the instructions that the native core spends on one event, with Valgrind
        #[arg(long, conflicts_with_all = ["quick", "extension"])]
        instructions: bool,
        /// Measure instead how soon the command line sends a request, compared with `curl`
        #[arg(long, conflicts_with_all = ["quick", "compare", "extension", "instructions", "screen"])]
        start: bool,
        /// Measure instead when words are on the screen of a real VS Code, compared with its own provider
        #[arg(long, conflicts_with_all = ["compare", "extension", "instructions"])]
        screen: bool,
        /// Measure on the screen only answers with a word after this many milliseconds
        #[arg(long, value_name = "MS", requires = "screen")]
        spacing: Option<u32>,
        /// Measure instead what the extension costs a real VS Code
        #[arg(long, conflicts_with_all = ["quick", "compare"])]
        extension: bool,
    },
    /// Count what hostile input costs, in instructions and bytes
    Meter {
        /// Read every pair of events (many of one, then many of the other) instead of the generators' input
        #[arg(long, conflicts_with = "large")]
        pairs: bool,
        /// Read four times as much, which takes minutes
        #[arg(long)]
        large: bool,
    },
    /// Run the client against every fault of the embedded gateway and print the outcomes
    Faults,
    /// Print how accurate forecasts of costs are, with the simulator
    Forecast,
    /// Run a thousand streams at once through one client
    Load,
    /// Stress the memory file: killed writers, concurrent writers, truncated and altered bytes
    Persist,
    /// Run other SDKs against the embedded gateway; they are installed from npm
    Sdks,
    /// Use servers that others wrote, which are installed from the registry of Python packages
    Servers {
        /// Use only this server
        #[arg(long)]
        only: Option<String>,
    },
    /// Run only the tests in a real VS Code
    Vscode {
        /// Run only this suite
        #[arg(long)]
        only: Option<String>,
        /// Use this packed extension, or a folder with one, instead of the project's own
        #[arg(long)]
        extension: Option<PathBuf>,
        /// Leave VS Code open after the suite
        #[arg(long, requires = "only")]
        keep: bool,
    },
    /// Run every fuzz target (needs the nightly toolchain)
    Fuzz {
        /// Only the target of this name
        #[arg(long)]
        only: Option<String>,
        /// Seconds for each target
        #[arg(long, default_value_t = 60)]
        seconds: u32,
    },
}

/// The result of a task. The error is a message that says what to do.
type Done<T = ()> = Result<T, String>;

/// Runs one of the programs in the client's `tests/programs` in release mode.
fn program(name: &str) -> Done {
    shell::run(shell::cargo().args([
        "run",
        "--quiet",
        "--locked",
        "--release",
        "--package",
        "sluice-client",
        "--example",
        name,
    ]))
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Demo(options) => demo::play(options),
        Task::ReadFileTool => demo::read_file_tool(),
        Task::Test => test::all(),
        Task::Tidy => tidy::check().and_then(|()| javascript::check_style()),
        Task::Wasm => wasm::build_and_report(),
        Task::Adapter => adapter::build().and_then(|()| adapter::test()),
        Task::Vsix => extension::report(),
        Task::Quality { shard, file } => quality::check(shard.as_deref(), file.as_deref()),
        Task::Platforms => platforms::check(),
        Task::Documents => documents::check(),
        Task::Dist { program: true, .. } => dist::for_this_machine(),
        Task::Dist { once, .. } => dist::all(once),
        Task::Everywhere => adapter::check_everywhere(),
        Task::Recordings { directory } => recordings::check(&directory),
        Task::Tokens { directory } => tokens::check(&directory),
        Task::Vocabulary { tokenizer } => vocabulary::build(&tokenizer),
        Task::Bench { extension: true, .. } => bench::extension(),
        Task::Bench { start: true, .. } => bench::start(),
        Task::Bench { quick, screen: true, spacing, .. } => bench::screen(quick, spacing),
        Task::Bench { quick, instructions, compare: Some(commit), .. } => bench::compare(&commit, quick, instructions),
        Task::Bench { instructions: true, .. } => bench::instructions(),
        Task::Bench { quick, .. } => bench::all(quick),
        Task::Meter { pairs, large } => meter::all(pairs, large),
        Task::Faults => program("faults"),
        Task::Forecast => program("forecast"),
        Task::Load => program("load"),
        Task::Persist => program("persist"),
        Task::Sdks => gateway::check_with_sdks(),
        Task::Servers { only } => servers::check(only.as_deref()),
        Task::Vscode { only, extension, keep } => vscode::run(extension, only.as_deref(), keep),
        Task::Fuzz { only, seconds } => fuzz::all(only.as_deref(), seconds),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
