//! Why a connection failed, as far as its errors say.

use std::error::Error;
use std::io;

/// Returns the code of the cause of a connection that failed, named as in Node.
pub(crate) fn cause_code(error: &reqwest::Error) -> Option<&'static str> {
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(error) = cause {
        if error.downcast_ref::<rustls::Error>().is_some() {
            return Some("CERT_NOT_TRUSTED");
        }
        let text = error.to_string();
        if text.starts_with("dns error") {
            return Some("ENOTFOUND");
        }
        if text.contains("tunnel") {
            return Some("PROXY_TUNNEL");
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            match error.kind() {
                io::ErrorKind::ConnectionRefused => return Some("ECONNREFUSED"),
                io::ErrorKind::TimedOut => return Some("ETIMEDOUT"),
                io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => return Some("ENETUNREACH"),
                _ => {}
            }
            // The source of such an error is what it contains, but `source` skips the outermost layer.
            if error.get_ref().is_some_and(|inner| inner.downcast_ref::<rustls::Error>().is_some()) {
                return Some("CERT_NOT_TRUSTED");
            }
        }
        cause = error.source();
    }
    None
}
