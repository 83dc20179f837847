//! `sluice chat --tools` as a user runs it: the real binary, real processes, and the embedded gateway's model that calls
//! the tools which the prompt names.

#![cfg(unix)]

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};

use serde_json::json;
use sluice_simulator::server::{Config, Simulator};

use crate::support;

/// A directory for one test, and the gateway.
struct Bench {
    directory: PathBuf,
    simulator: Simulator,
}

impl Bench {
    fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools").join(name);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        Self { directory, simulator: Simulator::start(Config::recording()).unwrap() }
    }

    /// Starts a chat with one tool, `run`, which is a shell script, and sends the prompt.
    fn start(&self, script: &str, prompt: &str, arguments: &[&str]) -> Child {
        let tools = json!({"tools": [
            {"name": "run", "description": "", "command": ["sh", "-c", script]},
            {"name": "missing", "description": "", "command": ["no-such-program-anywhere"]},
        ]});
        fs::write(self.directory.join("tools.json"), tools.to_string()).unwrap();
        let chat = ["chat", "-m", "sluice/tools", "--tools", "tools.json"];
        let mut command = support::sluice(&self.directory, &[&chat, arguments, &["--yes", "-"]].concat());
        command
            .env("SLUICE_BASE_URL", self.simulator.url())
            .env("AI_GATEWAY_API_KEY", "canary-gateway")
            .env("VERCEL_OIDC_TOKEN", "canary-vercel")
            .env("SLUICE_API_KEY", "canary-sluice")
            .env("ai_gateway_Api_Key", "canary-case")
            .env("BYSTANDER", "inherited");
        support::start(&mut command, prompt.as_bytes())
    }

    fn run(&self, script: &str, prompt: &str, arguments: &[&str]) -> Vec<String> {
        let output = self.start(script, prompt, arguments).wait_with_output().unwrap();
        // The gateway refuses more than the model's context window, but it has recorded the request.
        assert!(output.status.success() || told(&output).contains("exceeds the context window"), "{}", told(&output));
        self.results()
    }

    /// Returns the results that the model got, call by call.
    fn results(&self) -> Vec<String> {
        let bodies = support::bodies(&self.simulator);
        let items = bodies.last().unwrap()["input"].as_array().unwrap().iter();
        let results = items.filter(|item| item["type"] == "function_call_output");
        results.map(|result| result["output"].as_str().unwrap().to_owned()).collect()
    }

    fn fifo(&self, name: &str) -> Fifo {
        let path = self.directory.join(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        // Opening one end waits for the other, unless the same process has both.
        let writer = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        Fifo { reader: BufReader::new(File::open(&path).unwrap()), writer }
    }
}

/// Detects whether a process that was started with `> fifo` is still running.
struct Fifo {
    reader: BufReader<File>,
    writer: File,
}

impl Fifo {
    /// Waits until such a process has written a line.
    fn wait_for_line(&mut self) {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        assert_eq!(line, "up\n");
    }

    /// Waits until there is no such process.
    fn wait_for_end(mut self) {
        drop(self.writer);
        self.reader.read_to_end(&mut Vec::new()).unwrap();
    }
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Waits forever in the shell and in a child process, which holds the FIFO and, like the shell, standard output.
const FOREVER: &str = "(echo up > fifo; exec sleep 100000) 3> fifo & sleep 100000";

#[test]
fn no_command_inherits_a_key() {
    let results = Bench::new("keys").run("env", "run {}", &[]);
    assert!(results[0].contains("BYSTANDER=inherited") && results[0].contains("SLUICE_HOME="), "{results:?}");
    assert!(!results[0].contains("canary"), "{results:?}");
}

#[test]
fn large_input_and_output_can_overlap() {
    let input = json!({"text": "x".repeat(300_000)}).to_string();
    let results = Bench::new("large").run("cat; cat >&2", &format!("run {input}"), &[]);
    assert!(results == [input], "the result has {} bytes", results[0].len());
}

#[test]
fn input_that_is_not_read_does_no_harm() {
    let input = json!({"text": "x".repeat(300_000)}).to_string();
    assert_eq!(Bench::new("unread").run("echo done", &format!("run {input}"), &[]), ["done\n"]);
}

#[test]
fn output_is_cut_while_it_is_read() {
    let results = Bench::new("cut").run("yes | head -c 3000000", "run {}", &[]);
    assert!(results[0].starts_with("y\ny\n") && results[0].ends_with("\n[cut after 1048576 bytes]"));
    assert_eq!(results[0].len(), (1 << 20) + "\n[cut after 1048576 bytes]".len());
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_is_cut_takes_no_memory() {
    let script = "yes | head -c 300000000; grep VmHWM /proc/$PPID/status >&2; exit 1";
    let results = Bench::new("memory").run(script, "run {}", &[]);
    let peak = results[0].split_whitespace().skip_while(|word| *word != "VmHWM:").nth(1).unwrap();
    assert!(peak.parse::<usize>().unwrap() < 200_000, "{peak} kB for 300 MB of output");
}

#[test]
fn a_failing_command_tells_the_model_everything() {
    let results = Bench::new("failing").run("echo out; echo err >&2; exit 3", "run {} missing {}", &[]);
    assert!(
        results[0].ends_with("The command failed (exit status: 3).\nStandard error:\nerr\n\nStandard output:\nout\n"),
        "{results:?}"
    );
    assert!(results[1].contains("The command no-such-program-anywhere cannot be run: No such file"), "{results:?}");
    let results = Bench::new("killed").run("kill -KILL $$", "run {}", &[]);
    assert!(results[0].contains("The command failed (signal: 9 (SIGKILL))."), "{results:?}");
}

#[test]
fn a_command_that_takes_too_long_is_ended_with_all_its_processes() {
    // The second process ignores the request to end.
    for script in [FOREVER, &format!("trap '' TERM; {FOREVER}")] {
        let bench = Bench::new("too-long");
        let fifo = bench.fifo("fifo");
        let results = bench.run(script, "run {}", &["--tool-timeout", "0.3"]);
        assert!(results[0].contains("ended because it took longer than 0.3 s"), "{results:?}");
        fifo.wait_for_end();
    }
    let results = Bench::new("endless").run("exec yes", "run {}", &["--tool-timeout", "0.3"]);
    assert!(results[0].contains("longer than 0.3 s.\nStandard output:\ny\ny\n"), "{}", &results[0][..100]);
}

#[test]
fn a_process_in_the_background_is_not_waited_for() {
    let bench = Bench::new("background");
    let fifo = bench.fifo("fifo");
    let script = "exec 3> fifo; sleep 100000 & sleep 100000 > /dev/null 2>&1 & echo done";
    assert_eq!(bench.run(script, "run {}", &[]), ["done\n"]);
    fifo.wait_for_end();
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_left_the_group_is_not_waited_for() {
    let bench = Bench::new("left");
    // It holds standard output open until this test releases it.
    let (_ready, mut go) = (bench.fifo("ready"), bench.fifo("fifo"));
    let script = "setsid sh -c 'echo > ready; read line < fifo' & read line < ready; echo done";
    assert_eq!(bench.run(script, "run {}", &[]), ["done\n"]);
    std::io::Write::write_all(&mut go.writer, b"go\n").unwrap();
}

#[test]
fn a_signal_ends_all_processes() {
    for (signal, script) in [
        ("INT", FOREVER),
        ("TERM", FOREVER),
        ("HUP", FOREVER),
        ("QUIT", FOREVER),
        ("INT", &format!("trap '' TERM; {FOREVER}")),
    ] {
        let bench = Bench::new("signal");
        let mut fifo = bench.fifo("fifo");
        let child = bench.start(script, "run {}", &[]);
        fifo.wait_for_line();
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{signal}: {}", told(&output));
        fifo.wait_for_end();
    }
}

#[test]
fn excess_calls_of_an_answer_are_not_run() {
    let bench = Bench::new("many");
    let results = bench.run("echo x >> log; echo done", &"run {} ".repeat(150), &[]);
    let run = results.iter().take_while(|result| *result == "done\n").count();
    let refused = results.iter().filter(|result| result.contains("not run: at most 128 calls of one answer")).count();
    assert_eq!((run, refused), (128, 22));
    assert_eq!(fs::read_to_string(bench.directory.join("log")).unwrap().lines().count(), 128);
}

#[cfg(target_os = "linux")]
#[test]
fn no_zombie_process_remains() {
    let children = "grep -l \"^PPid:[[:space:]]*$PPID\\$\" /proc/[0-9]*/status 2> /dev/null | wc -l";
    assert_eq!(Bench::new("zombies").run(children, "run {} run {} run {}", &[]), ["1\n", "1\n", "1\n"]);
}

#[test]
fn an_invalid_time_limit_is_refused() {
    for limit in ["0", "-1", "NaN", "soon", "1e400"] {
        let argument = format!("--tool-timeout={limit}");
        let output = Command::new(env!("CARGO_BIN_EXE_sluice")).args(["chat", &argument, "x"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{limit}");
        assert!(told(&output).contains("not a number of seconds above 0"), "{}", told(&output));
    }
}

#[test]
fn a_long_call_is_cut_if_nobody_has_to_allow_it() {
    let bench = Bench::new("long-call");
    let prompt = format!("run {{\"a\":\"{}\"}}", "x".repeat(5000));
    let output = bench.start("echo done", &prompt, &[]).wait_with_output().unwrap();
    let told = told(&output);
    let line = told.lines().find(|line| line.starts_with("→ run ")).unwrap();
    assert!(line.chars().count() < 1200 && line.contains("… and 4008 more characters; -v shows all"), "{line}");
    let output = bench.start("echo done", &prompt, &["-v"]).wait_with_output().unwrap();
    assert!(self::told(&output).contains(&"x".repeat(5000)));
}
