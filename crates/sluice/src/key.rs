//! An API key and the one origin it belongs to.

use std::fmt;

use zeroize::Zeroizing;

/// A key for one origin. It is wiped from memory when dropped, and prints as dots wherever it is printed.
#[derive(Clone)]
pub struct ApiKey {
    secret: Zeroizing<String>,
    origin: String,
}

impl ApiKey {
    /// `origin` is scheme, host and port of the endpoint the key was given for.
    pub fn for_origin(secret: &str, origin: &str) -> Self {
        Self { secret: Zeroizing::new(secret.trim().to_owned()), origin: origin.to_owned() }
    }

    /// The value of the `Authorization` header, for its own origin and for no other.
    pub(crate) fn bearer_for(&self, origin: &str) -> Option<Zeroizing<String>> {
        (origin == self.origin).then(|| Zeroizing::new(format!("Bearer {}", *self.secret)))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ApiKey(… for {})", self.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::ApiKey;

    #[test]
    fn a_key_is_only_for_its_origin_and_never_printed() {
        let key = ApiKey::for_origin(" secret-key\n", "https://a.example");
        assert_eq!(key.bearer_for("https://a.example").as_deref().map(String::as_str), Some("Bearer secret-key"));
        for other in ["https://b.example", "http://a.example", "https://a.example:8443", "https://a.example.b.example"]
        {
            assert!(key.bearer_for(other).is_none(), "{other}");
        }
        assert_eq!(format!("{key:?}"), "ApiKey(… for https://a.example)");
    }
}
