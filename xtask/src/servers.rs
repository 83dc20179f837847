//! `cargo xtask servers`: uses a server that others wrote through the real command line.
//!
//! `LiteLLM` is installed from `PyPI` into `target/`, which takes minutes the first time. Behind it is `servers/upstream.py`, a
//! small chat-completions server that can be asked for every kind of answer.

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

const LITELLM: &str = "1.106.2";
/// `LiteLLM` refuses to start without a key that looks random.
const KEY: &str = "sk-0f3b6a1d9c7e5248b1a6d4e3f2c10987";
/// How long `LiteLLM` may take to start.
const START: Duration = Duration::from_mins(5);

pub fn check() -> Done {
    let folder = root().join("target/servers");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let sluice = gateway::build()?;
    let litellm = install(&folder)?;
    let mut upstream = Server::start(command("python3").arg("xtask/servers/upstream.py"))?;
    let port = upstream.line()?;
    let (mut server, base_url) = start_litellm(&litellm, &folder, &port)?;
    let user = User { sluice, home: folder.join("home"), base_url };
    let _ = fs::remove_dir_all(&user.home);
    for (name, scenario) in SCENARIOS {
        scenario(&user).map_err(|problem| format!("LiteLLM, {name}: {problem}"))?;
        println!("   ok: LiteLLM, {name}");
    }
    cancellation(&user, &mut upstream).map_err(|problem| format!("LiteLLM, cancellation: {problem}"))?;
    println!("   ok: LiteLLM, cancellation");
    server.stop();
    Ok(())
}

/// Installs `LiteLLM`, unless it is there already, and returns the program.
fn install(folder: &Path) -> Done<PathBuf> {
    let environment = folder.join(format!("litellm-{LITELLM}"));
    let program = environment.join("bin/litellm");
    let marker = environment.join("installed");
    if !marker.exists() {
        println!("   installing LiteLLM {LITELLM} from PyPI");
        run(command("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
        let package = format!("litellm[proxy]=={LITELLM}");
        run(Command::new(environment.join("bin/pip")).args(["install", "--quiet", &package]))?;
        fs::write(&marker, "").map_err(|error| format!("{}: {error}", marker.display()))?;
    }
    Ok(program)
}

fn start_litellm(program: &Path, folder: &Path, upstream: &str) -> Done<(Server, String)> {
    let config = folder.join("litellm.json");
    let model = json!({
        "model_name": "fake",
        "litellm_params": {
            // This provider has no Responses API of its own, so LiteLLM translates.
            "model": "deepseek/fake",
            "api_base": format!("http://127.0.0.1:{upstream}/v1"),
            "api_key": "none",
        },
    });
    let settings = json!({ "model_list": [model], "general_settings": { "master_key": KEY } });
    fs::write(&config, settings.to_string()).map_err(|error| format!("{}: {error}", config.display()))?;
    // The system chooses a free port. Another program could take it before LiteLLM does, which would be an error below.
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = free.map_err(|error| error.to_string())?.port().to_string();
    let mut litellm = Command::new(program);
    litellm.arg("--config").arg(&config).args(["--host", "127.0.0.1", "--port", &port]);
    litellm.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").stderr(Stdio::null());
    let mut server = Server::start(&mut litellm)?;
    server.discard_output();
    let started = Instant::now();
    while !answers(&port) {
        if server.has_ended() || started.elapsed() > START {
            return Err(format!("LiteLLM did not start; try `{} --config {}`", program.display(), config.display()));
        }
        std::thread::sleep(Duration::from_millis(250));
    }
    Ok((server, format!("http://127.0.0.1:{port}/v1")))
}

fn answers(port: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(format!("127.0.0.1:{port}")) else { return false };
    let request = "GET /health/liveliness HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
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
}

impl User {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.sluice);
        command.args(arguments).stdin(Stdio::null());
        command.env("SLUICE_HOME", &self.home).env("XDG_CACHE_HOME", &self.home);
        command.env("SLUICE_BASE_URL", &self.base_url).env("SLUICE_API_KEY", KEY).env("SLUICE_MODEL", "fake");
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

const SCENARIOS: [(&str, Scenario); 9] = [
    ("list of models", |user| user.expect(&["models"], 0, &["fake"])),
    ("chat", |user| user.expect(&["chat", "Hello"], 0, &["Yes, I am the upstream.", "completed", "20 tokens in"])),
    ("tool loop", |user| with_tools(user, "What is the weather?", &["→ weather", "The tools say", "sunny"])),
    ("parallel calls", |user| with_tools(user, "The weather, in parallel", &["Paris", "Rome", "sunny", "completed"])),
    ("thinking", |user| user.expect(&["chat", "Think first"], 0, &["Let me see.", "Yes, I am the upstream."])),
    ("length limit", |user| user.expect(&["chat", "--max-output", "16", "Count"], 0, &["incomplete"])),
    ("an engine that dies", |user| user.expect(&["chat", "Count until you die"], 1, &["failed", "not completed"])),
    ("a refusal", |user| user.expect(&["chat", "refuse"], 1, &["I refuse this request"])),
    ("sluice doctor", doctor),
];

fn with_tools(user: &User, prompt: &str, texts: &[&str]) -> Done {
    fs::create_dir_all(&user.home).map_err(|error| error.to_string())?;
    let file = user.home.join("tools.json");
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let tool =
        json!({ "name": "weather", "description": "The weather", "inputSchema": schema, "command": ["echo", "sunny"] });
    fs::write(&file, json!({ "tools": [tool] }).to_string()).map_err(|error| error.to_string())?;
    user.expect(&["chat", "--tools", &file.to_string_lossy(), prompt], 0, texts)
}

/// The card says what is known about `LiteLLM`.
fn doctor(user: &User) -> Done {
    let card = capture(user.command(&["doctor", "--json"]).stderr(Stdio::null()))?;
    let card: Value = serde_json::from_str(&card).map_err(|error| format!("{error}: {card}"))?;
    for topic in
        ["models", "key", "answer", "streaming", "usage", "tools", "parallelCalls", "toolResults", "cancellation"]
    {
        let check = card["checks"].as_array().into_iter().flatten().find(|check| check["topic"] == topic);
        if check.is_none_or(|check| check["result"] != "works") {
            return Err(format!("{topic} should work, but the card says {card:#}"));
        }
    }
    Ok(())
}

/// Ctrl-C ends the answer, and the upstream notices.
fn cancellation(user: &User, upstream: &mut Server) -> Done {
    let mut chat = user.command(&["chat", "Count slowly"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let chat = chat.as_mut().map_err(|error| error.to_string())?;
    let mut first = [0];
    let output = chat.stdout.as_mut().ok_or("no output")?;
    output.read_exact(&mut first).map_err(|error| format!("no answer: {error}"))?;
    run(Command::new("kill").args(["-INT", &chat.id().to_string()]))?;
    let status = chat.wait().map_err(|error| error.to_string())?;
    if status.code() != Some(130) {
        return Err(format!("the chat ended with {status} instead of 130"));
    }
    // This blocks until the upstream has noticed.
    match upstream.line()?.as_str() {
        "cancelled" => Ok(()),
        other => Err(format!("the upstream said {other:?}")),
    }
}

/// A process that is stopped when this is dropped.
struct Server {
    process: Child,
    /// `None` if nobody is interested in it.
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
