//! The cases of the fault matrix: every fault of the catalogue, and combinations that the catalogue doesn't have.

use serde::Serialize;
use sluice_simulator::{Imitated, Outcome, faults};

/// One request to a faulty server.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Case {
    /// The faults, as they are written in a model's id.
    pub fault: String,
    /// A model whose answer shows the fault.
    #[serde(skip)]
    pub base: &'static str,
    pub model: String,
    pub prompt: String,
    pub cancel: Option<CancelAt>,
    /// How many bytes of the body arrive before the server falls silent. Then the time is up.
    pub silent_after: Option<usize>,
    #[serde(skip)]
    pub expected: Expected,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CancelAt {
    Start,
    FirstPart,
    FirstWait,
    /// When three pieces of the body have arrived.
    ThirdPiece,
}

/// What a case has to come to.
#[derive(Clone, Debug)]
pub enum Expected {
    /// What the catalogue demands.
    Catalogue(Outcome),
    /// Exactly the same as in another case.
    LikeCase(String),
    /// The answer without the fault, after one failure.
    SecondAttempt,
    /// The beginning of the answer without the fault, and an error unless that is all of it.
    Beginning,
    Cancelled,
}

const PROMPT: &str =
    "Wasser, 水, 🚰: \"open_gate {\"gate\": 12345678901234567890, \"by\": 0.5} then \\ read_level {\"place\": \"a b\"}";

/// Faults that hit a random event by default. The tests choose the event with the number below, which is a delta.
const RANDOM_PLACE: [&str; 3] = ["duplicate-event", "drop-event", "swap-events"];
const A_DELTA: usize = 6;
/// By default, a server falls silent in the middle of its body; this is after the first parts.
const MIDDLE: usize = 6_000;
/// Faults that send megabytes.
const LARGE: [&str; 3] = ["huge-event", "large-event", "many-items"];
/// Faults that another chunking would replace, and faults that would be slow with it.
const FIXED_CHUNKS: [&str; 9] = [
    "chunk",
    "chunk-random",
    "dribble",
    "split-frames",
    "comments-forever",
    "pace",
    "keep-alive",
    "gzip",
    "fail-times",
];

impl Case {
    pub fn new(base: &'static str, fault: impl Into<String>, expected: Expected) -> Self {
        let fault = fault.into();
        let model = if fault.is_empty() { base.to_owned() } else { format!("{base}+{fault}") };
        let silent_after = if fault.starts_with("never-headers") {
            Some(0)
        } else {
            let stall = fault.split('+').find_map(|each| each.strip_prefix("stall-at="));
            stall.and_then(|at| at.parse().ok())
        };
        let cancel = fault.starts_with("comments-forever").then_some(CancelAt::ThirdPiece);
        Self { fault, base, model, prompt: PROMPT.to_owned(), cancel, silent_after, expected }
    }

    /// The same, cancelled at some point. The prompt differs, because `fail-times` counts requests with the same body.
    fn cancelled(&self, at: CancelAt) -> Self {
        let prompt = format!("{PROMPT} ({at:?})");
        Self { cancel: Some(at), prompt, expected: Expected::Cancelled, ..self.clone() }
    }

    fn name(&self) -> &str {
        self.fault.split(['=', '+']).next().unwrap_or_default()
    }

    /// Whether the result isn't always the same: a reset may overtake bytes that were sent before it, and the time until
    /// a date depends on the clock.
    fn varies(&self) -> bool {
        ["reset-at", "retry-after-date"].contains(&self.name())
    }

    fn is_large(&self) -> bool {
        LARGE.contains(&self.name())
    }
}

/// Every fault of the catalogue, with each value that is worth testing.
pub fn catalogue() -> Vec<Case> {
    let variants = faults().iter().flat_map(|fault| fault.variants().map(move |variant| (fault, variant)));
    let case = |(fault, variant): (&sluice_simulator::Fault, String)| {
        let variant = match variant.as_str() {
            name if RANDOM_PLACE.contains(&name) => format!("{name}={A_DELTA}"),
            "stall-at" => format!("stall-at={MIDDLE}"),
            // One byte per millisecond is slow even for the last event alone; `chunk=1` sends all of them like this.
            "dribble" => "dribble+terminal-only".to_owned(),
            _ => variant,
        };
        Case::new(fault.model, variant, Expected::Catalogue(fault.outcome))
    };
    variants.map(case).collect()
}

/// Every fault of the catalogue at every server that the simulator can imitate, and every kind of answer without a fault.
pub fn servers() -> Vec<Case> {
    let mut cases = Vec::new();
    for server in Imitated::ALL {
        for model in ["sluice/reasoning", "sluice/parallel-tools", "sluice/refusal", "sluice/citations", "sluice/image"]
        {
            cases.push(Case::new(model, format!("as={}", server.name()), Expected::Catalogue(Outcome::Same)));
        }
        let faults = catalogue().into_iter().filter(|case| {
            let is_default = faults().iter().any(|fault| case.fault.split('=').next() == Some(fault.name))
                && (!case.fault.contains('=') || RANDOM_PLACE.contains(&case.name()));
            is_default && !case.is_large() && case.silent_after.is_none() && !is_pointless(server, case)
        });
        for case in faults {
            let fault = format!("{}+as={}", case.fault, server.name());
            cases.push(Case { cancel: case.cancel, ..Case::new(case.base, fault, case.expected) });
        }
    }
    cases
}

/// Whether a case shows nothing, because the server can't have this fault or can't report its outcome.
fn is_pointless(server: Imitated, case: &Case) -> bool {
    let has_event_lines = matches!(
        server,
        Imitated::Aimock | Imitated::LlamaCpp | Imitated::Ollama | Imitated::OpenAi | Imitated::Smg | Imitated::Vllm
    );
    let says_incomplete = !matches!(
        server,
        Imitated::CodexProxy
            | Imitated::HuggingFace
            | Imitated::LlamaCpp
            | Imitated::Ollama
            | Imitated::ResponsesProxy
            | Imitated::Transformers
    );
    match case.name() {
        "as" | "reset-before-headers" | "retry-after-date" => true,
        // For other servers, nothing else names the type of an event.
        "type-in-event-line" => !has_event_lines,
        "incomplete" | "mid-call-truncation" => !says_incomplete,
        // Without an index, only the id tells which call an event belongs to.
        "rotate-ids" | "drop-item-id" | "interleave" => server == Imitated::LlamaCpp,
        // Without an index, nothing shows that the call that is finished last comes first.
        "drop-output-index" => server == Imitated::HuggingFace,
        _ => false,
    }
}

/// Combinations, given how many parts and how many attempts each case of the catalogue had.
pub fn combinations(plain: &[(Case, usize, u32)]) -> Vec<Case> {
    let mut cases = Vec::new();
    for (case, parts, attempts) in plain.iter().filter(|(case, ..)| !case.is_large() && !case.varies()) {
        let Case { base, fault, .. } = case;
        if !FIXED_CHUNKS.contains(&case.name()) && case.silent_after.is_none() {
            cases.push(Case::new(base, format!("{fault}+chunk-random"), Expected::LikeCase(fault.clone())));
        }
        if *attempts > 1 && case.name() != "fail-times" && case.silent_after.is_none() {
            cases.push(Case::new(base, format!("{fault}+fail-times=1"), Expected::SecondAttempt));
        }
        if case.cancel.is_none() {
            if *attempts > 1 {
                cases.push(case.cancelled(CancelAt::FirstWait));
            } else if *parts > 1 {
                // An answer of which everything has been seen may complete before it can be cancelled.
                cases.push(case.cancelled(CancelAt::FirstPart));
            }
        }
    }
    for model in ["sluice/echo", "sluice/reasoning", "sluice/parallel-tools"] {
        // Before, in and after each part, and up to the last event.
        for at in (500..12_000).step_by(767) {
            for fault in ["cut-at", "stall-at"] {
                cases.push(Case::new(model, format!("{fault}={at}"), Expected::Beginning));
            }
        }
        cases.push(Case::new(model, "", Expected::Catalogue(Outcome::Same)).cancelled(CancelAt::Start));
    }
    cases
}
