//! The body of a response: a stream, a whole JSON response or a refusal. The status and the first byte decide which.

use std::collections::VecDeque;
use std::mem;

use super::ExchangeOptions;
use super::stream::Stream;
use crate::boundary::{Failure, FailureKind, Outcome, Output, Status};
use crate::failure::{HttpResponse, Transport};
use crate::message::{Message, MessageCode};
use crate::receive::BodyEnd;

/// The maximum number of bytes to read from a response that isn't an answer.
const MAX_REFUSAL_BYTES: usize = 64 << 10;

#[derive(Clone, Debug)]
pub(super) enum Body<S> {
    Stream(Box<S>),
    /// A stream or a whole response that has only sent white space so far.
    NotBegun {
        blank_bytes: usize,
        head: HttpResponse,
        now: u64,
        receiver: Box<S>,
        max_bytes: usize,
    },
    /// A whole JSON response, from a server that doesn't stream.
    Whole {
        head: HttpResponse,
        now: u64,
        bytes: Vec<u8>,
        receiver: Box<S>,
        max_bytes: usize,
    },
    /// An error, or something that isn't an answer.
    Refusal {
        head: HttpResponse,
        now: u64,
        bytes: Vec<u8>,
    },
}

pub(super) enum Progress {
    More,
    /// Whatever follows can't change the result.
    Over,
}

impl<S: Stream> Body<S> {
    pub(super) fn stream(options: &ExchangeOptions) -> Self {
        Self::Stream(Box::new(S::new(options.stream.clone())))
    }

    pub(super) fn with_head(status: u16, headers: Vec<(String, String)>, now: u64, options: &ExchangeOptions) -> Self {
        let header = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let content_type = header.map(|(_, value)| value.as_str()).unwrap_or_default();
        let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let head = HttpResponse { status, headers, body: String::new() };
        let is_success = (200..300).contains(&head.status);
        match media_type.as_str() {
            "text/html" => Self::Refusal { head, now, bytes: Vec::new() },
            _ if !is_success => Self::Refusal { head, now, bytes: Vec::new() },
            "application/json" if S::OF_WHOLE.is_none() => Self::Refusal { head, now, bytes: Vec::new() },
            // Servers label streams and whole responses in many ways. The first byte tells which this is.
            _ => Self::NotBegun {
                blank_bytes: 0,
                head,
                now,
                receiver: Box::new(S::new(options.stream.clone())),
                max_bytes: options.stream.limits.max_event_bytes,
            },
        }
    }

    /// How long the body may stay silent. There is no limit while a call is open, because some providers send nothing
    /// until the model has written all of its arguments.
    pub(super) fn idle_ms(&self, options: &ExchangeOptions) -> u64 {
        match self {
            Self::Stream(receiver) if receiver.has_open_call() => u64::MAX,
            _ => options.idle_timeout_ms,
        }
    }

    /// How long the whole body may take, or for a stream, how long until its next part.
    pub(super) fn patience_ms(&self, options: &ExchangeOptions) -> u64 {
        match self {
            Self::Stream(_) | Self::NotBegun { .. } | Self::Whole { .. } => options.output_timeout_ms,
            Self::Refusal { .. } => options.refusal_timeout_ms,
        }
    }

    pub(super) fn push(&mut self, more: &[u8], outputs: &mut VecDeque<Output>) -> Progress {
        let Self::Stream(receiver) = self else { return self.push_other(more, outputs) };
        outputs.extend(receiver.push(more));
        if receiver.is_terminal() { Progress::Over } else { Progress::More }
    }

    /// Does the same for a body that isn't a stream, or not yet known to be one.
    #[inline(never)]
    fn push_other(&mut self, more: &[u8], outputs: &mut VecDeque<Output>) -> Progress {
        if let Self::NotBegun { .. } = self
            && let Some(first) = more.iter().find(|byte| !byte.is_ascii_whitespace())
        {
            let placeholder = Self::Refusal { head: HttpResponse::default(), now: 0, bytes: Vec::new() };
            *self = mem::replace(self, placeholder).begin(*first);
        }
        let is_over = match self {
            Self::NotBegun { blank_bytes, max_bytes, .. } => {
                *blank_bytes += more.len();
                *blank_bytes > *max_bytes
            }
            Self::Stream(_) => return self.push(more, outputs),
            Self::Whole { bytes, max_bytes, .. } => {
                bytes.extend_from_slice(more);
                bytes.len() > *max_bytes
            }
            Self::Refusal { bytes, .. } => {
                bytes.extend_from_slice(more);
                bytes.len() > MAX_REFUSAL_BYTES
            }
        };
        if is_over { Progress::Over } else { Progress::More }
    }

    /// A whole response begins with a bracket, and no line of a stream does.
    fn begin(self, first: u8) -> Self {
        match self {
            Self::NotBegun { head, now, receiver, max_bytes, .. } if first == b'{' && S::OF_WHOLE.is_some() => {
                Self::Whole { head, now, bytes: Vec::new(), receiver, max_bytes }
            }
            Self::NotBegun { receiver, .. } => Self::Stream(receiver),
            other => other,
        }
    }

    /// Returns the stream, if the body is one.
    pub(super) fn as_stream_mut(&mut self) -> Option<&mut S> {
        if let Self::Stream(stream) = self { Some(stream) } else { None }
    }

    /// Returns the remaining outputs and the outcome, now that the body has ended.
    pub(super) fn finish(self, end: BodyEnd, origin: &str) -> (Vec<Output>, Outcome) {
        match self {
            Self::Stream(receiver) => {
                let (outputs, outcome) = receiver.finish(end);
                (outputs, outcome.with_origin(end, origin))
            }
            _ => self.finish_other(end, origin),
        }
    }

    /// Does the same for a body that isn't a stream.
    #[inline(never)]
    fn finish_other(self, end: BodyEnd, origin: &str) -> (Vec<Output>, Outcome) {
        match self {
            Self::NotBegun { blank_bytes, max_bytes, .. } if blank_bytes > max_bytes => {
                (Vec::new(), Outcome::refused(too_large(max_bytes)))
            }
            Self::Stream(receiver) | Self::NotBegun { receiver, .. } => {
                let (outputs, outcome) = receiver.finish(end);
                (outputs, outcome.with_origin(end, origin))
            }
            Self::Whole { .. } | Self::Refusal { .. } if end == BodyEnd::Cancelled => {
                (Vec::new(), Outcome::new(Status::Cancelled))
            }
            Self::Whole { bytes, max_bytes, .. } if bytes.len() > max_bytes => {
                (Vec::new(), Outcome::refused(too_large(max_bytes)))
            }
            Self::Whole { .. } if end != BodyEnd::Eof => {
                let transport = if end == BodyEnd::IdleTimeout { Transport::Idle } else { Transport::Broken };
                (Vec::new(), Outcome::refused(Failure::from_transport(transport, origin)))
            }
            Self::Whole { head, now, bytes, mut receiver, .. } => {
                let body = into_text(bytes);
                let Some(stream) = S::OF_WHOLE.and_then(|of_whole| of_whole(&body)) else {
                    return (Vec::new(), Outcome::refused(Failure::from_http(&HttpResponse { body, ..head }, now)));
                };
                let mut outputs: Vec<Output> = receiver.push(stream.as_bytes()).collect();
                let (rest, outcome) = receiver.finish(end);
                outputs.extend(rest);
                (outputs, outcome.with_origin(end, origin))
            }
            // Even a body that was cut off explains more than none.
            Self::Refusal { head, now, mut bytes } => {
                bytes.truncate(MAX_REFUSAL_BYTES);
                let response = HttpResponse { body: into_text(bytes), ..head };
                (Vec::new(), Outcome::refused(Failure::from_http(&response, now)))
            }
        }
    }
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn too_large(max_bytes: usize) -> Failure {
    Failure::new(FailureKind::TooLarge, Message::new(MessageCode::AnswerLargerThan, [&max_bytes]))
}
