//! `cargo xtask servers`: uses servers that others wrote through the real command line, and one of them in a real VS Code.
//!
//! They are installed from `PyPI` into `target/`, which takes minutes the first time. `LiteLLM` is small enough that
//! `cargo xtask test` uses it, too.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Done;
use crate::gateway;
use crate::shell::{capture, command, root, run};

mod litellm;
mod transformers;

/// How long a server may take to start.
const START: Duration = Duration::from_mins(5);
/// A file in an environment whose installation is complete.
const INSTALLED: &str = "installed";

type Check = fn(&Path, PathBuf) -> Done;

/// Runs the scenarios of all servers, or of one.
pub fn check(only: Option<&str>) -> Done {
    let folder = folder();
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let sluice = gateway::build()?;
    let all: [(&str, Check); 2] = [("litellm", litellm::check), ("transformers", transformers::check)];
    if let Some(only) = only.filter(|only| !all.iter().any(|(name, _)| name == only)) {
        return Err(format!("there is no server called {only}; there are {}", all.map(|(name, _)| name).join(", ")));
    }
    for (_, check) in all.iter().filter(|(name, _)| only.is_none_or(|only| only == *name)) {
        check(&folder, sluice.clone())?;
    }
    Ok(())
}

/// Installs `LiteLLM`, unless it is there already.
pub fn prepare_litellm() -> Done {
    install(&folder(), &litellm::PACKAGES).map(drop)
}

/// Returns the folder for everything that is installed.
fn folder() -> PathBuf {
    root().join("target/servers")
}

/// Returns the folder of an environment with these packages.
fn environment(folder: &Path, packages: &[&str]) -> PathBuf {
    let is_usual = |c: &char| c.is_ascii_alphanumeric() || "-.".contains(*c);
    folder.join(packages.join("-").chars().filter(is_usual).collect::<String>())
}

/// Installs packages into an environment of their own, unless they are there already. Returns the environment's programs.
fn install(folder: &Path, packages: &[&str]) -> Done<PathBuf> {
    let environment = environment(folder, packages);
    let marker = environment.join(INSTALLED);
    if !marker.exists() {
        println!("   installing {} from PyPI", packages.join(", "));
        let started = Instant::now();
        run(command("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
        run(Command::new(environment.join("bin/pip")).args(["install", "--quiet"]).args(packages))?;
        fs::write(&marker, "").map_err(|error| format!("{}: {error}", marker.display()))?;
        println!("   installed in {} s", started.elapsed().as_secs());
    }
    Ok(environment.join("bin"))
}

/// Returns a free port. Another program could take it before the server does, which would be an error then.
fn free_port() -> Done<String> {
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    Ok(free.map_err(|error| error.to_string())?.port().to_string())
}

/// Starts a server and waits until it answers at `path`.
fn start(program: &mut Command, port: &str, path: &str) -> Done<Server> {
    let mut server = Server::start(program.stderr(Stdio::null()))?;
    server.discard_output();
    let started = Instant::now();
    while !answers(port, path) {
        if server.has_ended() || started.elapsed() > START {
            return Err(format!("the server did not start; try `{program:?}`"));
        }
        std::thread::sleep(Duration::from_millis(250));
    }
    Ok(server)
}

fn answers(port: &str, path: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(format!("127.0.0.1:{port}")) else { return false };
    let request = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
    let mut answer = String::new();
    stream.write_all(request.as_bytes()).is_ok()
        && stream.read_to_string(&mut answer).is_ok()
        && answer.starts_with("HTTP/1.1 200")
}

/// Somebody who uses the command line.
struct User {
    sluice: PathBuf,
    home: PathBuf,
    base_url: String,
    key: Option<&'static str>,
    model: &'static str,
}

impl User {
    /// A user who has never used Sluice.
    fn new(sluice: PathBuf, folder: &Path, port: &str, key: Option<&'static str>, model: &'static str) -> Self {
        let home = folder.join("home");
        let _ = fs::remove_dir_all(&home);
        Self { sluice, home, base_url: format!("http://127.0.0.1:{port}/v1"), key, model }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.sluice);
        command.args(arguments).stdin(Stdio::null());
        command.env("SLUICE_HOME", &self.home).env("XDG_CACHE_HOME", &self.home);
        command.env("SLUICE_BASE_URL", &self.base_url).env("SLUICE_MODEL", self.model);
        match self.key {
            Some(key) => command.env("SLUICE_API_KEY", key),
            None => command.env_remove("SLUICE_API_KEY"),
        };
        command
    }

    /// Returns the exit code and everything that was printed.
    fn run(&self, arguments: &[&str]) -> Done<(Option<i32>, String)> {
        let output = self.command(arguments).output().map_err(|error| error.to_string())?;
        let said = [output.stdout, output.stderr].concat();
        Ok((output.status.code(), String::from_utf8_lossy(&said).into_owned()))
    }

    /// Runs the program and checks its exit code and what it printed.
    fn expect(&self, arguments: &[&str], code: i32, texts: &[&str]) -> Done {
        let (exit, said) = self.run(arguments)?;
        let missing: Vec<_> = texts.iter().filter(|text| !said.contains(**text)).collect();
        if exit == Some(code) && missing.is_empty() {
            return Ok(());
        }
        Err(format!("expected exit code {code} and {texts:?}, but got {exit:?} and\n{said}"))
    }
}

type Scenario = fn(&User) -> Done;

/// Runs the scenarios of a server.
fn run_all(server: &str, scenarios: &[(&str, Scenario)], user: &User) -> Done {
    for (name, scenario) in scenarios {
        scenario(user).map_err(|problem| format!("{server}, {name}: {problem}"))?;
        println!("   ok: {server}, {name}");
    }
    Ok(())
}

fn with_tools(user: &User, prompt: &str, texts: &[&str]) -> Done {
    fs::create_dir_all(&user.home).map_err(|error| error.to_string())?;
    let file = user.home.join("tools.json");
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let tool =
        json!({ "name": "weather", "description": "The weather", "inputSchema": schema, "command": ["echo", "sunny"] });
    fs::write(&file, json!({ "tools": [tool] }).to_string()).map_err(|error| error.to_string())?;
    user.expect(&["chat", "--yes", "--tools", &file.to_string_lossy(), prompt], 0, texts)
}

/// The card says that all of this works.
fn doctor(user: &User, topics: &[&str]) -> Done {
    let card = capture(user.command(&["doctor", "--json"]).stderr(Stdio::null()))?;
    let card: Value = serde_json::from_str(&card).map_err(|error| format!("{error}: {card}"))?;
    for topic in topics {
        let check = card["checks"].as_array().into_iter().flatten().find(|check| check["topic"] == *topic);
        if check.is_none_or(|check| check["result"] != "works") {
            return Err(format!("{topic} should work, but the card says {card:#}"));
        }
    }
    Ok(())
}

/// Starts an answer that doesn't end by itself, and waits for its first byte.
fn begin(user: &User, prompt: &str) -> Done<Child> {
    let chat = user.command(&["chat", prompt]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut chat = chat.map_err(|error| error.to_string())?;
    let mut first = [0];
    let output = chat.stdout.as_mut().ok_or("no output")?;
    output.read_exact(&mut first).map_err(|error| format!("no answer: {error}"))?;
    Ok(chat)
}

/// Ctrl-C ends an answer.
fn cancel(user: &User, prompt: &str) -> Done {
    let chat = begin(user, prompt)?;
    run(Command::new("kill").args(["-INT", &chat.id().to_string()]))?;
    let status = chat.wait_with_output().map_err(|error| error.to_string())?.status;
    if status.code() == Some(130) { Ok(()) } else { Err(format!("the chat ended with {status} instead of 130")) }
}

/// A process that is stopped when this is dropped.
struct Server {
    process: Child,
    /// `None` if the output isn't read.
    output: Option<BufReader<ChildStdout>>,
}

impl Server {
    fn start(command: &mut Command) -> Done<Self> {
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut process = spawned.map_err(|error| format!("cannot run {command:?}: {error}"))?;
        let output = process.stdout.take().map(BufReader::new);
        Ok(Self { process, output })
    }

    fn line(&mut self) -> Done<String> {
        let mut line = String::new();
        let output = self.output.as_mut().ok_or("nobody reads this output")?;
        output.read_line(&mut line).map_err(|error| error.to_string())?;
        Ok(line.trim().to_owned())
    }

    /// Reads the output in the background, so that the server doesn't block on a full pipe.
    fn discard_output(&mut self) {
        if let Some(output) = self.output.take() {
            std::thread::spawn(move || output.lines().for_each(drop));
        }
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }

    fn stop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
