//! Where requests may go: https, or http on this very machine; one origin, no surprises in the address.

use serde::Serialize;

/// A base URL that was looked at, such as `https://ai-gateway.vercel.sh/v1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Endpoint {
    /// Scheme, host and port. A key belongs to one of these.
    pub origin: String,
    /// Without a slash at the end.
    pub base_url: String,
}

/// What is wrong with an address, in words that say what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadAddress(pub String);

pub const VERCEL: &str = "https://ai-gateway.vercel.sh/v1";

impl Endpoint {
    pub fn parse(address: &str) -> Result<Self, BadAddress> {
        let refuse = |what: &str| Err(BadAddress(format!("The base URL {what}. It should look like {VERCEL}")));
        let address = address.trim();
        if address.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
            return refuse("has white space, a backslash or control characters in it");
        }
        let Some((scheme, rest)) = address.split_once("://") else {
            return refuse("does not start with https://");
        };
        let scheme = scheme.to_ascii_lowercase();
        if scheme != "https" && scheme != "http" {
            return refuse("does not start with https://");
        }
        if rest.contains(['?', '#']) {
            return refuse("must have no query and no fragment");
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.contains('@') {
            return refuse("must not contain a user name or password");
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (authority, None),
        };
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let is_ip6 = host.starts_with('[') && host.ends_with(']');
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        if host.is_empty() || !(is_ip6 || host.chars().all(plain)) {
            return refuse("has no proper host name");
        }
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return refuse("has no proper port");
        }
        if scheme == "http" && !is_loopback(&host) {
            return refuse("must be https, except on this machine (127.0.0.1, localhost)");
        }
        if path.split('/').any(|segment| segment == ".." || segment == ".") {
            return refuse("must not contain . or .. as a path segment");
        }
        let default_port = if scheme == "https" { "443" } else { "80" };
        let port = port.filter(|port| *port != default_port).map(|port| format!(":{port}")).unwrap_or_default();
        let origin = format!("{scheme}://{host}{port}");
        let path: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let base_url = std::iter::once(origin.as_str()).chain(path).collect::<Vec<_>>().join("/");
        Ok(Self { origin, base_url })
    }

    /// Whether requests stay on this machine. A shell must not send them to a proxy: it would see them in clear text.
    pub fn is_loopback(&self) -> bool {
        let authority = self.origin.split_once("://").map_or(self.origin.as_str(), |(_, authority)| authority);
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => host,
            _ => authority,
        };
        is_loopback(host) || host.ends_with(".localhost")
    }
}

/// By its spelling: a name other than `localhost` could resolve to anywhere.
fn is_loopback(host: &str) -> bool {
    let is_ip4 = host.split('.').count() == 4 && host.split('.').all(|part| part.parse::<u8>().is_ok());
    host == "localhost" || host == "[::1]" || (is_ip4 && host.starts_with("127."))
}
