//! Explains the codes with which operating systems, Node and browsers say why there is no connection.

use crate::message::{Message, MessageCode};

/// The longest code that is shown.
const LONGEST_CODE: usize = 60;

/// Returns whether a code says that a connection broke. `fetch` reports that like a connection that was never made.
pub(crate) fn is_broken_connection(code: &str) -> bool {
    ["RESET", "EPIPE", "UND_ERR_SOCKET", "CONNECTION_CLOSED", "EMPTY_RESPONSE"].iter().any(|word| code.contains(word))
}

/// Returns what a code such as `ENOTFOUND` or `ERR_NAME_NOT_RESOLVED` means, followed by the code. Returns nothing for
/// text that isn't a code.
pub fn connection_cause(code: &str) -> Vec<Message> {
    let is_code = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if code.is_empty() || code.len() > LONGEST_CODE || !code.bytes().all(is_code) {
        return Vec::new();
    }
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    let cause = if has(&["NOTFOUND", "EAI_AGAIN", "NAME_NOT_RESOLVED", "NAME_RESOLUTION"]) {
        MessageCode::NoSuchServer
    } else if has(&["REFUSED"]) {
        MessageCode::PortClosed
    } else if has(&["CERT", "SSL", "TLS", "SIGNATURE", "ALTNAME"]) {
        MessageCode::CertificateNotTrusted
    } else if has(&["PROXY", "TUNNEL"]) {
        MessageCode::ProxyRefuses
    } else if has(&["TIMEDOUT", "TIMEOUT", "TIMED_OUT"]) {
        MessageCode::NothingResponds
    } else if has(&["UNREACH", "INTERNET_DISCONNECTED", "NETWORK_CHANGED", "ENETDOWN"]) {
        MessageCode::NetworkUnreachable
    } else {
        MessageCode::ConnectionFailed
    };
    vec![cause.into(), Message::new(MessageCode::Plain, [&format!("({code})")])]
}
