//! A key that is easy to recognize wherever it leaks, and a server that accepts it.

use sluice_simulator::Options;
use sluice_simulator::server::{Config, Simulator};

/// The key.
pub const CANARY: &str = "canary-6f1d2a9e-Tweet-tweet";

/// A server that accepts the canary as the key, and nothing else.
pub fn simulator() -> Simulator {
    let options = Options { key: Some(CANARY.into()), ..Options::default() };
    Simulator::start(Config { options, ..Config::recording() }).unwrap()
}

/// Checks that a text contains neither the key nor a distinctive part of it.
pub fn silent(what: &str, said: impl AsRef<[u8]>) {
    let said = String::from_utf8_lossy(said.as_ref());
    for trace in [CANARY, "6f1d2a9e", "Tweet-tweet"] {
        assert!(!said.contains(trace), "the key is in {what}: {said}");
    }
}

/// Checks that every request had the key in its header and only there. Returns the number of requests.
pub fn only_in_the_header(simulator: &Simulator) -> usize {
    let requests = simulator.requests();
    for request in &requests {
        assert_eq!(request.header("authorization"), Some(format!("Bearer {CANARY}").as_str()), "{}", request.path);
        silent("the path", &request.path);
        silent("the body", &request.body);
        for (name, value) in request.headers.iter().filter(|(name, _)| name != "authorization") {
            silent("a header", format!("{name}: {value}"));
        }
    }
    requests.len()
}
