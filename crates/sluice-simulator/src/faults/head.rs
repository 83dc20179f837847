//! Faults in the status line and the headers, including replies that aren't answers.

use serde_json::{Value, json};

use super::Faults;
use crate::http::{Opening, Reply};
use crate::problem::{Problem, not_found_page, wrong_method};

/// Returns the reply that replaces the answer, if one of the faults asks for that.
pub fn instead(faults: &Faults, now_ms: u64) -> Option<Reply> {
    if faults.has("html-200") {
        let page = "<!DOCTYPE html><html><head><title>Sign in to the network</title></head>\
                    <body><h1>Welcome</h1></body></html>";
        return Some(Reply::whole(200, "text/html; charset=utf-8", page.into()));
    }
    if faults.has("json-error-200") {
        return Some(Reply::json(200, &Problem::of_status(500).body()));
    }
    if faults.has("html-404") {
        return Some(not_found_page());
    }
    if faults.has("empty-405") {
        return Some(wrong_method("GET"));
    }
    if let Some(target) = faults.value("redirect") {
        let mut reply = Reply::whole(307, "text/plain", Vec::new());
        reply.set_header("location", Some(target.to_owned()));
        return Some(reply);
    }
    let hints = ["retry-after", "retry-after-ms", "retry-after-date"];
    let implied = if hints.iter().any(|hint| faults.has(hint)) { Some(429) } else { None };
    let implied = implied.or(faults.has("error-body").then_some(500)).or(faults.has("quote-key").then_some(401));
    let status = faults.number("status").and_then(|status| u16::try_from(status).ok()).or(implied)?;
    // hyper accepts three digits, and a status below 200 isn't a final response.
    let status = status.clamp(200, 999);
    let mut reply = match faults.value("quote-key") {
        Some(place) => quoting_reply(status, place, &faults.credentials),
        None => error_reply(status, faults.value("error-body").unwrap_or("nested")),
    };
    if let Some(seconds) = faults.value("retry-after") {
        reply.set_header("retry-after", Some(seconds.to_owned()));
    }
    if let Some(milliseconds) = faults.value("retry-after-ms") {
        reply.set_header("retry-after-ms", Some(milliseconds.to_owned()));
    }
    if let Some(seconds) = faults.number("retry-after-date") {
        reply.set_header("retry-after", Some(http_date(now_ms / 1000 + seconds)));
    }
    Some(reply)
}

fn error_reply(status: u16, shape: &str) -> Reply {
    let problem = Problem::of_status(status);
    let (kind, message) = (problem.kind, &problem.message);
    let body: Value = match shape {
        "flat" => json!({ "type": kind, "message": message, "code": null, "param": null }),
        "string" => json!({ "error": message }),
        "code" => json!({ "code": kind, "error": message }),
        "html" => {
            let page =
                format!("<html><head><title>{status}</title></head><body><center>{message}</center></body></html>");
            return Reply::whole(status, "text/html", page.into());
        }
        "empty" => return Reply::whole(status, "application/json", Vec::new()),
        _ => problem.body(),
    };
    Reply::json(status, &body)
}

/// Returns an error that repeats the client's credentials.
fn quoting_reply(status: u16, place: &str, credentials: &str) -> Reply {
    let mut body = Problem::of_status(status).body();
    match place {
        "code" => body["error"]["code"] = credentials.into(),
        "request-id" => {}
        _ => body["error"]["message"] = format!("Incorrect API key provided: {credentials}").into(),
    }
    let mut body = body.to_string();
    if place == "escaped" {
        // Some servers escape every character except letters, and some escape letters too.
        let escaped: String = credentials.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
        body = body.replace(credentials, &escaped);
    }
    let mut reply = Reply::whole(status, "application/json", body.into_bytes());
    if place == "request-id" {
        reply.set_header("x-vercel-id", Some(credentials.to_owned()));
    }
    reply
}

/// Applies the faults that only change how the reply begins.
pub fn apply(faults: &Faults, reply: &mut Reply) {
    if let Some(delay) = faults.number("delay-headers") {
        reply.head_delay_ms = delay;
    }
    if faults.has("never-headers") {
        reply.opening = Opening::Silence;
    }
    if faults.has("reset-before-headers") {
        reply.opening = Opening::Reset;
    }
    if let Some(kind) = faults.value("content-type") {
        reply.set_header("content-type", Some(kind.to_owned()));
    }
}

/// Formats a date for HTTP: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(unix: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let weekday = DAYS[(unix / 86_400 % 7) as usize];
    let (mut day, mut year) = (unix / 86_400, 1970);
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    let (hour, minute, second) = (unix / 3600 % 24, unix / 60 % 60, unix % 60);
    format!("{weekday}, {:02} {} {year} {hour:02}:{minute:02}:{second:02} GMT", day + 1, MONTHS[month])
}

#[cfg(test)]
mod tests {
    use super::http_date;

    #[test]
    fn dates_are_those_of_http() {
        for (unix, expected) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_798_761_599, "Thu, 31 Dec 2026 23:59:59 GMT"),
        ] {
            assert_eq!(http_date(unix), expected);
        }
    }
}
