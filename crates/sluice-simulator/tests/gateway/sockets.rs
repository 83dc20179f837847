//! The server on real sockets of this machine.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::time::Duration;

use serde_json::json;
use sluice_simulator::Options;
use sluice_simulator::server::{Config, Simulator};

/// Long enough that a timeout is an error and not a race.
const TIMEOUT: Duration = Duration::from_mins(1);

pub fn start() -> Simulator {
    Simulator::start(Config { options: Options { seed: 7, ..Options::default() }, ..Config::recording() })
        .expect("a server")
}

pub fn connect(simulator: &Simulator) -> TcpStream {
    TcpStream::connect((Ipv4Addr::LOCALHOST, simulator.port())).expect("a connection")
}

fn send(simulator: &Simulator, head: &str, body: &str) -> TcpStream {
    let mut stream = connect(simulator);
    let head = head.replace("HOST", &format!("127.0.0.1:{}", simulator.port()));
    let length = body.len();
    let request = format!("{head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).expect("sent");
    stream
}

fn post(simulator: &Simulator, model: &str, prompt: &str) -> TcpStream {
    let body = json!({ "model": model, "input": prompt, "stream": true }).to_string();
    send(simulator, "POST /v1/responses HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json", &body)
}

fn read_all(mut stream: TcpStream) -> (String, Option<ErrorKind>) {
    let mut bytes = Vec::new();
    let error = stream.read_to_end(&mut bytes).err().map(|error| error.kind());
    (String::from_utf8_lossy(&bytes).into_owned(), error)
}

/// Returns the chunks of a chunked body, and whether it ended properly.
fn chunks(reply: &str) -> (Vec<String>, bool) {
    let (_, mut rest) = reply.split_once("\r\n\r\n").expect("a head");
    let mut chunks = Vec::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a size");
        if size == 0 {
            return (chunks, true);
        }
        let Some(chunk) = after.get(..size) else { break };
        chunks.push(chunk.to_owned());
        rest = &after[size + 2..];
    }
    (chunks, false)
}

#[test]
fn an_answer_is_sent_over_http() {
    let simulator = start();
    let (reply, error) = read_all(post(&simulator, "sluice/echo", "Hello there"));
    assert!(reply.starts_with("HTTP/1.1 200 OK\r\n") && error.is_none());
    assert!(!reply.to_lowercase().contains("access-control"));
    let (chunks, ended) = chunks(&reply);
    assert!(ended && chunks.iter().all(|chunk| chunk.ends_with("\n\n")));
    assert!(chunks.concat().ends_with("data: [DONE]\n\n"));
    let requests = simulator.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!((requests[0].method.as_str(), requests[0].path.as_str()), ("POST", "/v1/responses"));
    assert_eq!(requests[0].header("Content-Type"), Some("application/json"));
    assert!(requests[0].body.ends_with(b"\"stream\":true}"));
    assert!(simulator.wait_until(TIMEOUT, |streams| streams.open == 0));
    assert_eq!((simulator.streams().finished, simulator.streams().abandoned), (1, 0));
}

#[test]
fn only_local_host_names_are_accepted() {
    let simulator = start();
    let status = |host: &str, more: &str| {
        let host = host.replace("PORT", &simulator.port().to_string());
        let (reply, _) = read_all(send(&simulator, &format!("GET /v1/models HTTP/1.1\r\nHost: {host}{more}"), ""));
        reply.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok()).expect("a status")
    };
    for host in ["127.0.0.1:PORT", "localhost:PORT", "[::1]:PORT"] {
        assert_eq!(status(host, ""), 200, "{host}");
    }
    for host in
        ["evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:PORT", "127.0.0.1.nip.io:PORT", ""]
    {
        assert_eq!(status(host, ""), 421, "{host}");
    }
    assert_eq!(status("localhost:PORT", "\r\nOrigin: https://evil.example"), 403);
    assert_eq!(status("localhost:PORT", "\r\nAuthorization: Bearer vck_real"), 401);
    assert!(simulator.url().starts_with("http://127.0.0.1:"));
}

#[test]
fn a_body_can_be_cut_or_reset() {
    let simulator = start();
    let (reply, error) = read_all(post(&simulator, "sluice/echo+cut-at=300", "Hello"));
    let (cut, ended) = chunks(&reply);
    assert_eq!((cut.concat().len(), ended, error), (300, false, None));

    let (reply, error) = read_all(post(&simulator, "sluice/echo+reset-at=300", "Hello"));
    assert_eq!((chunks(&reply).0.concat().len(), error), (300, Some(ErrorKind::ConnectionReset)));

    let (reply, error) = read_all(post(&simulator, "sluice/echo+reset-before-headers", "Hello"));
    assert_eq!((reply.as_str(), error), ("", Some(ErrorKind::ConnectionReset)));

    let (reply, error) = read_all(post(&simulator, "sluice/echo+close-after-completed", "Hello"));
    let (whole, ended) = chunks(&reply);
    assert!(whole.concat().contains("event: response.completed") && !ended && error.is_none());
}

#[test]
fn the_content_length_can_be_wrong() {
    let simulator = start();
    let measure = |model: &str| {
        let (reply, _) = read_all(post(&simulator, model, "Hello"));
        let (head, body) = reply.split_once("\r\n\r\n").expect("a head");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        (length.parse::<usize>().expect("a number"), body.len())
    };
    let (announced, received) = measure("sluice/echo+content-length-long=100");
    assert_eq!(announced, received + 100);
    let (announced, received) = measure("sluice/echo+content-length-short=100");
    assert_eq!(announced, received);
}

#[test]
fn silence_lasts_until_the_client_leaves() {
    let simulator = start();
    for (fault, comes) in
        [("never-headers", 0), ("stall-at=200", 200), ("never-close", 1000), ("comments-forever=1", 40)]
    {
        let mut stream = post(&simulator, &format!("sluice/echo+{fault}"), "Hello");
        let mut bytes = vec![0; comes];
        stream.read_exact(&mut bytes).expect("the beginning");
        assert!(simulator.wait_until(TIMEOUT, |streams| streams.open == 1), "{fault}");
        let before = simulator.streams();
        stream.shutdown(Shutdown::Both).expect("closed");
        drop(stream);
        assert!(simulator.wait_until(TIMEOUT, |streams| streams.open == 0), "{fault}");
        assert_eq!(simulator.streams().abandoned, before.abandoned + 1, "{fault}");
    }
}

#[test]
fn every_chunk_is_written_separately() {
    let simulator = start();
    let (reply, _) = read_all(post(&simulator, "sluice/echo+chunk=7", "Hello"));
    let (chunks, ended) = chunks(&reply);
    assert!(ended && chunks.iter().rev().skip(1).all(|chunk| chunk.len() == 7));
}

#[test]
fn the_server_sends_what_the_responder_returns() {
    let simulator = start();
    let (reply, _) = read_all(post(&simulator, "sluice/reasoning", "Hello"));
    let over_http = chunks(&reply).0.concat();
    let direct = crate::ask::say("sluice/reasoning", "Hello").body();
    // Only the time differs: in dates, in ids, and in durations.
    let without_time = |text: &str| -> Vec<usize> { text.lines().map(|line| line.find(':').unwrap_or(0)).collect() };
    assert_eq!(without_time(&over_http), without_time(&String::from_utf8(direct).expect("UTF-8")));
}

#[test]
fn many_streams_run_at_once() {
    let simulator = start();
    let streams: Vec<TcpStream> = (0..50).map(|_| post(&simulator, "sluice/burst", "200")).collect();
    for stream in streams {
        let (reply, error) = read_all(stream);
        let text: String = chunks(&reply)
            .0
            .concat()
            .split("\n\n")
            .filter_map(|frame| frame.split_once("\"delta\":\"")?.1.split_once('"').map(|(delta, _)| delta.to_owned()))
            .collect();
        let expected: String = (0..200).map(|at| format!(" {at}")).collect();
        assert!(error.is_none() && text == expected);
    }
}

#[test]
fn a_stopped_server_closes_its_connections() {
    let simulator = start();
    let stream = post(&simulator, "sluice/echo+stall-at=200", "Hello");
    assert!(simulator.wait_until(TIMEOUT, |streams| streams.open == 1));
    let port = simulator.port();
    drop(simulator);
    read_all(stream);
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
}
