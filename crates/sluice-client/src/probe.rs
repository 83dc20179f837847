//! Tests a server: the I/O of the core's [`Probe`].

use std::sync::atomic::{AtomicBool, Ordering};

use sluice_core::{
    Card, Output, Part, Probe, ProbeAnswer, ProbeEvent, ProbeFailure, ProbeOptions, ProbeStep, join_messages,
};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::client::{milliseconds, now};
use crate::{Client, Event};

impl Client {
    /// Finds out what the server can do. `on_step` gets each step before it is carried out, and the card so far.
    ///
    /// Dropping the future ends the test.
    pub async fn probe(
        &self,
        model: Option<String>,
        proxy: Option<String>,
        on_step: &mut (dyn FnMut(&ProbeStep, &Card) + Send),
    ) -> Card {
        let base_url = self.endpoint().base_url.clone();
        let has_key = self.has_key();
        let options = ProbeOptions { base_url, model, has_key, proxy, now: now(), ..ProbeOptions::default() };
        let mut probe = Probe::new(options);
        loop {
            let step = probe.poll();
            on_step(&step, probe.card());
            let event = match step {
                ProbeStep::Get { request, with_key, .. } => match self.fetch(request, with_key).await {
                    Ok(response) => ProbeEvent::Received(response),
                    Err((transport, code)) => ProbeEvent::Unreachable(transport, code.map(str::to_owned)),
                },
                ProbeStep::Ask { chat, stops_early, .. } => {
                    let started = Instant::now();
                    let (stop, is_stopped) = (Notify::new(), AtomicBool::default());
                    let (mut parts, mut is_thinking_shown) = (0, false);
                    let report = self
                        .respond(&chat, stop.notified(), &mut |event| {
                            let Event::Output(Output::Part(part)) = event else { return };
                            // An empty part only carries what the next request sends back.
                            if matches!(&part, Part::Thinking { value, .. } if value.is_empty()) {
                                return;
                            }
                            parts += 1;
                            is_thinking_shown |= matches!(part, Part::Thinking { .. });
                            if stops_early && !is_stopped.swap(true, Ordering::Relaxed) {
                                stop.notify_one();
                            }
                        })
                        .await;
                    let failure = report.outcome.error.map(|failure| ProbeFailure {
                        kind: failure.kind,
                        text: join_messages(&failure.text, " "),
                        message: failure.message,
                        status: failure.status,
                    });
                    ProbeEvent::Answered(Box::new(ProbeAnswer {
                        status: report.outcome.status,
                        entry: report.entry,
                        failure,
                        parts,
                        is_thinking_shown,
                        refused: report.refused,
                        is_reasoning_refused: report.reasoning_refused,
                        elsewhere: report.elsewhere.map(|elsewhere| elsewhere.base_url),
                        milliseconds: milliseconds(started.elapsed()),
                    }))
                }
                ProbeStep::Done(card) => return *card,
            };
            probe.handle(&event);
        }
    }
}
