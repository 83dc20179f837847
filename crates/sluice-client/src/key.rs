//! An API key and the one origin it belongs to.

use std::fmt;

use sluice_core::Secrets;
use zeroize::Zeroizing;

use crate::KeyError;

/// A key for one origin.
///
/// It is wiped from memory when it is dropped, except for the copies that HTTP and masking need. Its `Debug` output shows
/// only the origin.
#[derive(Clone)]
pub struct ApiKey {
    secret: Zeroizing<String>,
    origin: String,
}

impl ApiKey {
    /// Returns a key that is sent to one origin only: the scheme, host and port of the endpoint it was given for.
    ///
    /// White space around the key is ignored. An empty key, or one with anything but visible ASCII characters in it, is an
    /// error: an HTTP header can't carry it, and a request without it would fail for no visible reason.
    pub fn for_origin(secret: &str, origin: &str) -> Result<Self, KeyError> {
        let secret = secret.trim();
        let problem = match secret.chars().find(|c| !c.is_ascii_graphic()) {
            None if secret.is_empty() => KeyError::Empty,
            None => return Ok(Self { secret: Zeroizing::new(secret.to_owned()), origin: origin.to_owned() }),
            Some('\n' | '\r') => KeyError::LineBreak,
            Some(c) if c.is_whitespace() => KeyError::WhiteSpace,
            Some(c) if c.is_control() => KeyError::ControlCharacter,
            Some(_) => KeyError::NotAscii,
        };
        Err(problem)
    }

    /// Returns the value of the `Authorization` header, or `None` for any origin but its own.
    pub(crate) fn bearer_for(&self, origin: &str) -> Option<Zeroizing<String>> {
        (origin == self.origin).then(|| Zeroizing::new(format!("Bearer {}", *self.secret)))
    }

    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    /// Returns what masks the key in texts that a server wrote.
    pub fn secrets(&self) -> Secrets {
        Secrets::new([&*self.secret])
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ApiKey(… for {})", self.origin)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::ApiKey;

    #[test]
    fn a_key_is_only_for_its_origin_and_never_printed() {
        let key = ApiKey::for_origin(" secret-key\n", "https://a.example").unwrap();
        assert_eq!(key.bearer_for("https://a.example").as_deref().map(String::as_str), Some("Bearer secret-key"));
        for other in ["https://b.example", "http://a.example", "https://a.example:8443", "https://a.example.b.example"]
        {
            assert!(key.bearer_for(other).is_none(), "{other}");
        }
        assert_eq!(format!("{key:?}"), "ApiKey(… for https://a.example)");
    }

    #[expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]
    fn check(key: &str, expected: Expect) {
        expected.assert_eq(&ApiKey::for_origin(key, "https://a.example").unwrap_err().to_string());
    }

    #[test]
    fn a_key_that_is_not_valid_in_a_header_is_an_error() {
        check(" \t\n", expect!["the key is empty; copy it again, as one word"]);
        check("first\nsecond", expect!["the key contains a line break; copy it again, as one word"]);
        check("first\r\nx-injected: 1", expect!["the key contains a line break; copy it again, as one word"]);
        check("first second", expect!["the key contains white space; copy it again, as one word"]);
        check("first\tsecond", expect!["the key contains white space; copy it again, as one word"]);
        check("first\u{a0}second", expect!["the key contains white space; copy it again, as one word"]);
        check("first\0second", expect!["the key contains a control character; copy it again, as one word"]);
        check("first\u{7f}", expect!["the key contains a control character; copy it again, as one word"]);
        check("clé", expect!["the key contains a character that isn't ASCII; copy it again, as one word"]);
        check("\u{feff}key", expect!["the key contains a character that isn't ASCII; copy it again, as one word"]);
    }
}
