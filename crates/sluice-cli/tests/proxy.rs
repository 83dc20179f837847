//! Proxy variables and endpoints on this machine: such an endpoint is reached directly, or not at all. A proxy would see the
//! key and the prompts in clear text.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::thread;

use sluice_simulator::server::{Config, Simulator};

const VARIABLES: [&str; 6] = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

/// Accepts connections and records the first bytes of each. It responds to everything with an error.
struct Proxy {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&seen);
        thread::spawn(move || {
            for socket in listener.incoming() {
                let mut socket = socket.unwrap();
                let mut first = [0; 8 << 10];
                let length = socket.read(&mut first).unwrap_or(0);
                record.lock().unwrap().push(String::from_utf8_lossy(&first[..length]).into_owned());
                let _ = socket.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            }
        });
        Self { address, seen }
    }

    /// Returns everything recorded so far. A marker is sent first: connections are accepted in order, so when the
    /// marker has arrived, so has everything that the program sent.
    fn seen(&self) -> Vec<String> {
        let mut socket = TcpStream::connect(self.address).unwrap();
        socket.write_all(b"marker").unwrap();
        let _ = socket.read_to_end(&mut Vec::new());
        let mut seen = std::mem::take(&mut *self.seen.lock().unwrap());
        assert_eq!(seen.pop().as_deref(), Some("marker"));
        seen
    }
}

/// Runs the real program without any settings in the environment. Its files go into a directory of the test.
fn sluice(test: &str, settings: &[(&str, &str)], arguments: &[&str]) -> Output {
    let directory: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("proxy").join(test);
    std::fs::create_dir_all(&directory).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
    for unset in VARIABLES {
        command.env_remove(unset);
    }
    for unset in
        ["no_proxy", "NO_PROXY", "AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN", "SLUICE_API_KEY", "SLUICE_BASE_URL"]
    {
        command.env_remove(unset);
    }
    command.args(arguments).env("SLUICE_HOME", &directory).env("XDG_CACHE_HOME", &directory);
    command.envs(settings.iter().copied()).output().unwrap()
}

#[test]
fn an_endpoint_on_this_machine_is_reached_directly() {
    let (simulator, proxy) = (Simulator::start(Config::recording()).unwrap(), Proxy::start());
    let proxy_url = format!("http://{}", proxy.address);
    let port = simulator.port();
    // There is no server at the other addresses, and none with TLS: those requests fail, and must fail directly.
    for (base_url, answers) in [
        (format!("http://127.0.0.1:{port}/v1"), true),
        (format!("http://localhost:{port}/v1"), true),
        (format!("http://LOCALHOST:{port}/v1"), true),
        (format!("http://127.45.6.7:{port}/v1"), false),
        (format!("http://[::1]:{port}/v1"), false),
        (format!("https://127.0.0.1:{port}/v1"), false),
        (format!("https://localhost:{port}/v1"), false),
        (format!("https://gateway.localhost:{port}/v1"), false),
        (format!("https://[::1]:{port}/v1"), false),
    ] {
        for variable in VARIABLES {
            let settings = [(variable, proxy_url.as_str()), ("SLUICE_BASE_URL", &base_url)];
            let output = sluice("direct", &settings, &["models", "--refresh"]);
            assert_eq!(proxy.seen(), Vec::<String>::new(), "{variable} {base_url}");
            if answers {
                assert_eq!(output.status.code(), Some(0), "{variable} {base_url}: {output:?}");
            }
        }
    }
}

#[test]
fn prompts_for_this_machine_do_not_reach_a_proxy() {
    let (simulator, proxy) = (Simulator::start(Config::recording()).unwrap(), Proxy::start());
    let (proxy_url, base_url) = (format!("http://{}", proxy.address), simulator.url());
    let mut settings: Vec<(&str, &str)> = VARIABLES.iter().map(|variable| (*variable, proxy_url.as_str())).collect();
    settings.extend([("SLUICE_BASE_URL", base_url.as_str()), ("SLUICE_API_KEY", "a-word")]);
    let output = sluice("prompt", &settings, &["chat", "-m", "sluice/echo", "my diary"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("my diary"));
    assert_eq!(proxy.seen(), Vec::<String>::new());
}

#[test]
fn the_demo_works_behind_a_dead_proxy() {
    // This port was bound and released, so nothing listens there now.
    let dead = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let proxy = Proxy::start();
    for address in [dead, proxy.address] {
        let url = format!("http://{address}");
        let settings: Vec<(&str, &str)> = VARIABLES.iter().map(|variable| (*variable, url.as_str())).collect();
        let output = sluice("demo", &settings, &["chat", "-m", "sluice/echo", "my diary"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("my diary"));
    }
    assert_eq!(proxy.seen(), Vec::<String>::new());
}

#[test]
fn an_endpoint_elsewhere_uses_the_proxy_without_telling_it_the_key() {
    let proxy = Proxy::start();
    let url = format!("http://{}", proxy.address);
    let settings = [
        ("HTTPS_PROXY", url.as_str()),
        ("SLUICE_BASE_URL", "https://gateway.invalid/v1"),
        ("SLUICE_API_KEY", "a-word"),
    ];
    let output = sluice("elsewhere", &settings, &["models", "--refresh"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let seen = proxy.seen();
    assert!(seen.len() == 1 && seen[0].starts_with("CONNECT gateway.invalid:443 "), "{seen:?}");
    assert!(!seen[0].contains("a-word"), "{seen:?}");
}
