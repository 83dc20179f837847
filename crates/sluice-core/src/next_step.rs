//! After an attempt: is the answer done, is it asked for again, or is the user told why there is none? Decided here, so
//! that every shell does and says the same.

use serde::Serialize;

use crate::boundary::{Failure, FailureKind, Outcome, Status};
use crate::exchange::Ending;
use crate::failure::{Transport, retry_delay_ms};
use crate::receive::BodyEnd;

/// What a shell does now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum NextStep {
    Done,
    Cancelled,
    /// Wait, then send the same request again. The message says why.
    Retry {
        #[cfg_attr(test, ts(type = "number"))]
        delay_ms: u64,
        message: String,
    },
    /// Tell the user. What was given before stays.
    Reject {
        message: String,
        /// Absent where the server is content and the answer is not.
        kind: Option<FailureKind>,
    },
}

/// `attempt` counts from 1; `called_tool` is whether a tool call was given; `random` is from 0 to 1.
pub fn next_step(outcome: &Outcome, attempt: u32, called_tool: bool, random: f64) -> NextStep {
    if let Some(failure) = &outcome.error
        && let Some(delay_ms) = retry_delay_ms(failure, attempt, !outcome.retry_safe, random)
    {
        return NextStep::Retry { delay_ms, message: failure.message.clone() };
    }
    match Ending::of(outcome, called_tool) {
        Ending::Done => NextStep::Done,
        Ending::Cancelled => NextStep::Cancelled,
        Ending::Rejected { message, kind, .. } => NextStep::Reject { message, kind },
    }
}

impl Outcome {
    /// An attempt that never became a stream.
    pub fn refused(failure: Failure) -> Self {
        Self { error: Some(failure), retry_safe: true, ..Self::new(Status::Failed) }
    }

    /// An outcome about which nothing else is known.
    pub(crate) fn new(status: Status) -> Self {
        Self {
            status,
            reason: None,
            error: None,
            empty: None,
            response_id: None,
            model: None,
            usage: None,
            gateway: None,
            retry_safe: false,
        }
    }

    /// A stream cannot know whom it came from; with the host's name a broken one gets its error.
    #[must_use]
    pub fn with_host(mut self, end: BodyEnd, host: &str) -> Self {
        if self.status == Status::Truncated {
            let transport = if end == BodyEnd::IdleTimeout { Transport::Idle } else { Transport::Broken };
            self.error = Some(Failure::from_transport(transport, host));
        }
        self
    }
}
