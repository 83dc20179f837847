//! The list of all faults.

use super::Outcome::{
    Completed, Endless, FailedByNetwork, FailedByServer, FailedByStatus, HeadersTimeout, IdleTimeout, Incomplete,
    NotAnAnswer, RedirectRefused, Same, SameAfterRetries, TooLarge, Truncated,
};
use super::{Fault, Outcome};

const fn fault(name: &'static str, default: &'static str, outcome: Outcome, about: &'static str) -> Fault {
    Fault { name, default, values: &[], about, model: "sluice/echo", outcome }
}

const fn also(values: &'static [&'static str], fault: Fault) -> Fault {
    Fault { values, ..fault }
}

const fn shown_by(model: &'static str, fault: Fault) -> Fault {
    Fault { model, ..fault }
}

const CALLS: &str = "sluice/parallel-tools";

/// Every fault there is.
pub fn faults() -> &'static [Fault] {
    &FAULTS
}

static FAULTS: [Fault; 85] = [
    // Before and instead of the answer.
    fault("delay-headers", "1000", Same, "waits that many milliseconds before the status line"),
    fault("never-headers", "", HeadersTimeout, "takes the request and says nothing"),
    fault("reset-before-headers", "", FailedByNetwork, "resets the connection instead of answering"),
    also(
        &["400", "401", "402", "403", "404", "408", "409", "413", "422", "424", "429", "500", "502", "504", "529"],
        fault("status", "503", FailedByStatus, "answers with that HTTP status and the error that belongs to it"),
    ),
    also(
        &["0", "-5", "0.5", "86400", "soon"],
        fault(
            "retry-after",
            "2",
            FailedByStatus,
            "429, or the status chosen, with Retry-After in seconds; any number, also negative",
        ),
    ),
    also(
        &["0", "-1", "86400000"],
        fault("retry-after-ms", "1500", FailedByStatus, "429, or the status chosen, with retry-after-ms"),
    ),
    also(
        &["0", "86400"],
        fault(
            "retry-after-date",
            "30",
            FailedByStatus,
            "429, or the status chosen, with Retry-After as a date so many seconds ahead",
        ),
    ),
    also(
        &["flat", "string", "code", "html", "empty"],
        fault(
            "error-body",
            "nested",
            FailedByStatus,
            "500, or the status chosen, with a body that is nested, flat, string, code, html or empty",
        ),
    ),
    also(
        &["1"],
        fault(
            "fail-times",
            "2",
            SameAfterRetries,
            "the other faults, or else status 503, for so many requests with the same body; then none",
        ),
    ),
    also(
        &["code", "request-id", "escaped"],
        fault(
            "quote-key",
            "message",
            FailedByStatus,
            "401, or the status chosen, that repeats the Authorization header in its message, code, request-id or escaped",
        ),
    ),
    fault("html-200", "", NotAnAnswer, "200 with a web page"),
    fault("json-error-200", "", NotAnAnswer, "200 with an error object"),
    fault("html-404", "", FailedByStatus, "404 with a web page"),
    fault("empty-405", "", FailedByStatus, "405 with an empty body"),
    fault("redirect", "http://127.0.0.1:9/v1/responses", RedirectRefused, "307 to another origin"),
    fault("content-type", "text/plain", Same, "says its event stream is of another type"),
    // How other servers answer.
    also(
        &[
            "aimock",
            "anthropic",
            "codex-proxy",
            "deepseek",
            "huggingface",
            "litellm",
            "llama.cpp",
            "ollama",
            "openai",
            "responses-proxy",
            "smg",
            "transformers",
        ],
        fault("as", "vllm", Same, "imitates that server: its refusals, spellings, endings and lists"),
    ),
    // How the bytes are sent.
    fault("pace", "0", Same, "so many milliseconds between two writes, whatever the model wants"),
    fault("dribble", "1", Same, "one byte every so many milliseconds"),
    also(&["1", "1460", "65536"], fault("chunk", "7", Same, "writes of exactly that many bytes")),
    fault("chunk-random", "", Same, "writes of random sizes, by the seed"),
    fault("split-frames", "", Same, "the blank line after an event comes in a write of its own"),
    also(
        &["0", "1", "100"],
        fault(
            "cut-at",
            "",
            Truncated,
            "closes the connection after that many bytes of the body, by default half of them",
        ),
    ),
    also(
        &["0", "1", "100"],
        fault("reset-at", "", Truncated, "resets the connection after that many bytes of the body"),
    ),
    also(
        &["0", "1", "100"],
        fault(
            "stall-at",
            "",
            IdleTimeout,
            "says nothing any more after that many bytes of the body, and keeps the connection",
        ),
    ),
    fault("early-eof", "", Truncated, "ends the body properly, but before the last event"),
    fault("comments-forever", "20", Endless, "nothing but comments, every so many milliseconds"),
    fault("keep-alive", "5", Same, "a comment before every event, which then waits so many milliseconds"),
    fault("gzip", "", Same, "compresses the body, if the client accepts that"),
    fault("content-length-long", "100", Same, "says the body is that much longer than it is, then closes"),
    fault("content-length-short", "2000", Truncated, "says the body is that much shorter than it is"),
    fault(
        "close-after-completed",
        "",
        Same,
        "closes the connection after the last event, without [DONE] or the end of the body",
    ),
    fault("never-close", "", Same, "keeps the connection after [DONE], in silence"),
    fault("stall-after-completed", "", Same, "keeps the connection after the last event, without [DONE]"),
    // The framing of events.
    fault("split-surrogates", "", Same, "a delta ends between the two halves of a character beyond U+FFFF"),
    fault("crlf", "", Same, "lines end with CR LF"),
    fault("cr", "", Same, "lines end with CR"),
    fault("mixed-lines", "", Same, "every line ends in another way, by the seed"),
    fault("bom", "", Same, "a byte order mark comes first"),
    fault("invalid-utf8", "", Completed, "a delta has bytes that are not UTF-8"),
    fault("multi-line-data", "", Same, "the JSON of an event is spread over several data lines"),
    fault("no-space", "", Same, "no space after the colon"),
    fault("id-and-retry", "", Same, "every event also has an id and a retry line"),
    fault("no-event-lines", "", Same, "no event lines, as OpenRouter does; a comment first"),
    fault("type-in-event-line", "", Same, "the type is only in the event line, not in the JSON"),
    fault("no-final-blank-line", "", Same, "no blank line after the last event, and no [DONE]"),
    fault("no-done", "", Same, "no [DONE]"),
    fault(
        "done-early",
        "",
        Truncated,
        "[DONE] comes before the last event, which a client that stops there never sees",
    ),
    // The events.
    also(
        &["response.output_item.done", "response.created"],
        fault("duplicate-event", "", Completed, "sends an event twice: by number, by type, or a delta by the seed"),
    ),
    also(
        &["response.created", "response.output_item.added"],
        fault("drop-event", "", Completed, "leaves out an event: by number, by type, or a delta by the seed"),
    ),
    also(
        &["2"],
        fault("swap-events", "", Completed, "swaps an event with the next: by number, by type, or a delta by the seed"),
    ),
    shown_by(CALLS, fault("rotate-ids", "", Same, "another item id in every event, as Copilot does")),
    shown_by(CALLS, fault("drop-output-index", "", Same, "no output_index anywhere")),
    shown_by(CALLS, fault("drop-item-id", "", Same, "no item_id, and no id on items")),
    shown_by(CALLS, fault("drop-call-id", "", Completed, "no call_id on calls")),
    fault("drop-sequence-number", "", Same, "no sequence_number"),
    fault("constant-sequence", "", Same, "every sequence_number is 0"),
    fault("null-deltas", "", Same, "a delta that is null before every one that is not"),
    shown_by(CALLS, fault("done-only", "", Same, "no deltas, as LM Studio does with calls")),
    fault("delta-only", "", Same, "deltas, but nothing that repeats them"),
    fault("terminal-only", "", Same, "only the last event"),
    fault("sparse", "", Same, "only created, text deltas and completed"),
    shown_by(CALLS, fault("no-added", "", Same, "items and parts are never announced")),
    shown_by(CALLS, fault("empty-final-output", "", Same, "the last event has no output, as with Codex")),
    shown_by(CALLS, fault("same-call-id", "", Same, "all calls have the same call_id")),
    shown_by(CALLS, fault("interleave", "", Same, "the events of all items alternate")),
    shown_by(
        "sluice/tools",
        fault("mid-call-truncation", "", Incomplete, "the budget ends in the middle of a call's arguments"),
    ),
    shown_by("sluice/reasoning", fault("openai-names", "", Same, "OpenAI's spelling of the reasoning events")),
    fault("obfuscation", "", Same, "padding on every delta"),
    fault("queued", "", Same, "the response waits in a queue first"),
    fault("unknown-event", "", Same, "events that no specification has"),
    fault("unknown-item", "", Same, "an item of a type that no client has to know"),
    fault("ping-after-end", "", Same, "another event after the last"),
    fault("completed-twice", "", Same, "the last event comes twice"),
    fault("no-usage", "", Same, "the last event has no usage"),
    also(
        &["60", "1000"],
        fault(
            "tokens",
            "140",
            Same,
            "counts that many tokens for a hundred of the usual ones: input, output and limits",
        ),
    ),
    also(
        &["flat", "bare", "string"],
        fault(
            "error-event",
            "nested",
            FailedByServer,
            "an error in the middle of the stream: nested, flat, bare or string",
        ),
    ),
    also(
        &["rate_limit_exceeded", "context_length_exceeded", "insufficient_quota"],
        fault("failed", "server_error", FailedByServer, "the response fails with that code"),
    ),
    also(
        &["content_filter", "max_messages"],
        fault("incomplete", "max_output_tokens", Incomplete, "the response is incomplete for that reason"),
    ),
    also(
        &["error"],
        fault(
            "quote-key-event",
            "failed",
            FailedByServer,
            "the response fails, or ends with an error event, and its code and message repeat the Authorization header",
        ),
    ),
    also(
        &["thinking", "citation", "call"],
        fault(
            "quote-key-answer",
            "text",
            Completed,
            "the answer repeats the Authorization header as text, thinking, citation or call; a list of models as a name",
        ),
    ),
    fault("large-event", "1048576", Completed, "a delta of that many bytes, as an image may have"),
    fault(
        "huge-event",
        "67108864",
        TooLarge,
        "a delta of that many bytes, more than any reader should accept in one event",
    ),
    also(&["100"], fault("many-items", "4000", Completed, "so many messages in one answer")),
    fault("first-event-late", "1000", Same, "so many milliseconds between the headers and the first event"),
];
