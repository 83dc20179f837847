//! Measures how soon after its start the command line has sent a request, compared with `curl` and the same body.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::Done;
use crate::shell::{cargo, root, run};

const RUNS: usize = 41;
/// What we want to stay within.
const AIM_MS: f64 = 15.0;
/// The answer to every chat.
const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
    data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[]}}\n\n";
const NOTHING: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// A chat that has arrived.
struct Arrival {
    at: Instant,
    body: Vec<u8>,
}

pub fn start() -> Done {
    run(cargo().args(["build", "--quiet", "--locked", "--release", "--package", "sluice-cli"]))?;
    let failed = |error: std::io::Error| format!("the server for the benchmark of the start: {error}");
    let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    let url = format!("http://{}/v1", listener.local_addr().map_err(failed)?);
    let (sender, arrivals) = mpsc::channel();
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let sender = sender.clone();
            thread::spawn(move || serve(connection, &sender));
        }
    });

    let home = root().join("target/bench-start");
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(&home).map_err(|error| format!("cannot create {}: {error}", home.display()))?;
    let sluice = || {
        let mut command = Command::new(root().join("target/release/sluice"));
        command.args(["chat", "-m", "openai/gpt-5", "--no-log", "Why is the sky blue?"]);
        command.env_clear().env("HOME", &home).env("XDG_CONFIG_HOME", &home).env("SLUICE_BASE_URL", &url);
        command
    };
    let first = measure(sluice(), &arrivals)?;
    let body = home.join("body.json");
    fs::write(&body, &first.1).map_err(|error| format!("cannot write {}: {error}", body.display()))?;
    let (mut ours, mut peers) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        ours.push(measure(sluice(), &arrivals)?.0);
        peers.push(measure(curl(&url, &body), &arrivals)?.0);
    }
    let (ours, peers) = (median(&mut ours), median(&mut peers));
    println!();
    println!("from the start of the program to the last byte of a chat at the server, median of {RUNS} runs:");
    println!("   sluice chat {ours:.1} ms (aim: <= {AIM_MS}), curl {peers:.1} ms, ratio {:.2}", ours / peers);
    Ok(())
}

fn curl(url: &str, body: &Path) -> Command {
    let mut command = Command::new("curl");
    command.args(["--silent", "--no-buffer", "--header", "content-type: application/json", "--data-binary"]);
    command.arg(format!("@{}", body.display())).arg(format!("{url}/responses"));
    command
}

/// Runs a program that sends one chat. Returns the milliseconds until it had arrived, and its body.
fn measure(mut program: Command, arrivals: &Receiver<Arrival>) -> Done<(f64, Vec<u8>)> {
    let started = Instant::now();
    let child = program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.map_err(|error| format!("{program:?} cannot be started: {error}"))?;
    let arrival = arrivals.recv_timeout(Duration::from_mins(1)).map_err(|_| format!("{program:?} sent nothing"))?;
    let _ = child.wait();
    Ok((arrival.at.duration_since(started).as_secs_f64() * 1000.0, arrival.body))
}

/// Reads one request and replies.
fn serve(mut connection: TcpStream, arrivals: &Sender<Arrival>) {
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 << 10];
    while let Ok(length @ 1..) = connection.read(&mut chunk) {
        bytes.extend_from_slice(&chunk[..length]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        if bytes.len() < end + 4 + length.unwrap_or(0) {
            continue;
        }
        let is_chat = head.starts_with("post ");
        if is_chat {
            let _ = arrivals.send(Arrival { at: Instant::now(), body: bytes.split_off(end + 4) });
        }
        let _ = connection.write_all(if is_chat { ANSWER } else { NOTHING }.as_bytes());
        return;
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
