//! `sluice serve`: the embedded gateway for other programs.

use std::io::{self, Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use sluice_simulator::server::{Config, Server};
use sluice_simulator::{Faults, Imitated, Options, Request, TimedChunk, faults};

use crate::complain;
use crate::exchange_file::{Chunk, Exchange};
use crate::text::one_line;

/// Serve the embedded gateway on this machine.
///
/// Point any Open Responses client at the address that is printed. The models are `sluice/demo`, which really answers,
/// and one for each test scenario (`sluice models` lists them). Faults can also be selected in a model's id
/// (sluice/echo+crlf) or in the header x-sluice-fault.
#[derive(Debug, Args)]
pub struct Serve {
    /// The port; 0 takes a free one
    #[arg(long, default_value_t = 8787)]
    port: u16,
    /// Faults for every request, such as "crlf, cut-at=500"
    #[arg(long, value_name = "FAULTS", default_value = "")]
    fault: String,
    /// Imitate another server: its refusals, spellings, endings and lists
    #[arg(long = "as", value_name = "SERVER", value_parser = servers())]
    server: Option<String>,
    /// Answer every request with an exchange that `sluice capture --exchange` wrote
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// The seed of everything that looks random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// List the faults and stop
    #[arg(long)]
    list_faults: bool,
}

impl Serve {
    pub async fn run(self) -> io::Result<ExitCode> {
        if self.list_faults {
            let mut out = stdout();
            faults().iter().try_for_each(|fault| writeln!(out, "{:<24} {}", fault.name, fault.about))?;
            return Ok(ExitCode::SUCCESS);
        }
        let server = self.server.map(|server| format!(" as={server}")).unwrap_or_default();
        let faults = match Faults::parse(&format!("{}{server}", self.fault)) {
            Ok(faults) => faults,
            Err(message) => return Ok(complain(&message)),
        };
        let replay = match self.replay.as_deref().map(Exchange::read).transpose() {
            Ok(exchange) => exchange.map(|exchange| timed(&exchange.chunks)).unwrap_or_default(),
            Err(message) => return Ok(complain(&message)),
        };
        let options = Options { faults, seed: self.seed, replay, ..Options::default() };
        let config = Config { port: self.port, options, on_request: Some(log), ..Config::default() };
        let server = match Server::bind(config) {
            Ok(server) => server,
            Err(error) => return Ok(complain(&format!("cannot serve on port {}: {error}; try --port 0", self.port))),
        };
        let mut out = stdout();
        writeln!(out, "The embedded gateway serves {}", server.url())?;
        writeln!(out, "Stop it with Ctrl-C. Try: SLUICE_BASE_URL={} sluice chat -m sluice/demo hello", server.url())?;
        tokio::select! {
            served = server.run() => match served {
                Ok(()) => Ok(ExitCode::SUCCESS),
                Err(error) => Ok(complain(&format!("the gateway stopped: {error}"))),
            },
            _ = tokio::signal::ctrl_c() => Ok(ExitCode::SUCCESS),
        }
    }
}

/// Returns the chunks of an answer, each with the time since the one before.
fn timed(chunks: &[Chunk]) -> Vec<TimedChunk> {
    let mut before = 0;
    let next = |chunk: &Chunk| {
        let delay_ms = chunk.ms.saturating_sub(before);
        before = chunk.ms;
        TimedChunk { delay_ms, bytes: chunk.bytes() }
    };
    chunks.iter().map(next).collect()
}

fn servers() -> Vec<&'static str> {
    Imitated::ALL.into_iter().map(Imitated::name).collect()
}

fn log(request: &Request, status: u16) {
    // The gateway continues to serve if nothing reads its log.
    let _ = writeln!(stdout(), "{status} {} {}", one_line(&request.method), one_line(&request.path));
}
