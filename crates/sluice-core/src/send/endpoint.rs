//! Decides where requests may go: to one origin over https, over http on this machine, or, if the user agrees, over http
//! in a private network.
//!
//! The rules are stricter than the URL standard. Unusual addresses are refused, and the result is exactly what a standard
//! URL parser would make of it. So no shell can be led to another host than the one that was checked.

use std::error::Error;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde::Serialize;

use crate::failure::keys_page;
use crate::message::{Message, MessageCode};

/// A base URL that was checked, such as `https://ai-gateway.vercel.sh/v1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Endpoint {
    /// Scheme, host and port. A key belongs to one origin.
    pub origin: String,
    /// The base URL without a slash at the end.
    pub base_url: String,
    /// Whether the address is on this machine: `127.0.0.0/8`, `[::1]`, `localhost` and names that end in `.localhost`.
    /// Requests to it never go through a proxy.
    pub is_loopback: bool,
    /// Whether everybody on the way can read what is sent, because the address is http and not on this machine. A shell
    /// uses such an address only if the user agreed to that.
    pub is_unencrypted: bool,
    /// Whether it is Vercel's gateway.
    pub is_vercel: bool,
    /// The page on which users create keys for it, if that is known.
    pub keys_page: Option<&'static str>,
}

/// An address that is refused. The message says why and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadAddress(pub Message);

impl fmt::Display for BadAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl Error for BadAddress {}

/// Whether the user has to agree before anything is sent to an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// They don't have to.
    NotNeeded,
    /// They have to agree to this once, for this origin.
    Needed(Message),
    /// Nothing can be sent there. The message says why.
    Refused(Message),
}

/// The base URL of the Vercel AI Gateway, which is used unless another one is set.
pub const VERCEL: &str = "https://ai-gateway.vercel.sh/v1";

/// The ends of addresses that users paste although they aren't part of a base URL.
const OPERATIONS: [&str; 4] = ["/responses", "/chat/completions", "/completions", "/models"];

impl Endpoint {
    /// Returns the base URL that the user may have meant if there is no API at this one: with `/v1`, or without it. It has
    /// the same origin.
    pub(crate) fn other_base_url(base_url: &str) -> String {
        let base_url = base_url.trim_end_matches('/');
        let operation = OPERATIONS.iter().find_map(|operation| base_url.strip_suffix(operation));
        match operation.or_else(|| base_url.strip_suffix("/v1")) {
            Some(shorter) => shorter.to_owned(),
            None => format!("{base_url}/v1"),
        }
    }

    /// Returns the host and the port, if there is one.
    pub(crate) fn host(&self) -> &str {
        self.origin.split_once("://").map_or(self.origin.as_str(), |(_, host)| host)
    }

    /// Decides whether the user has to agree before anything is sent here, with a key or without one. A server on this
    /// machine is used without a question.
    pub fn consent(&self, has_key: bool) -> Consent {
        let code = match (self.is_unencrypted, has_key) {
            (true, true) => MessageCode::ConfirmUnencrypted,
            (true, false) => MessageCode::ConfirmUnencryptedWithoutKey,
            (false, true) => return Consent::NotNeeded,
            (false, false) if self.is_loopback => return Consent::NotNeeded,
            // A service with a page for keys needs one.
            (false, false) if self.keys_page.is_some() => {
                return Consent::Refused(Message::new(MessageCode::KeyNeeded, [&self.origin]));
            }
            (false, false) => MessageCode::ConfirmWithoutKey,
        };
        Consent::Needed(Message::new(code, [&self.origin]))
    }

    /// Checks a base URL. The error says what is wrong with it.
    pub fn parse(address: &str) -> Result<Self, BadAddress> {
        let endpoint = Self::parse_confirmed(address)?;
        if endpoint.is_unencrypted {
            return Err(BadAddress(Message::new(MessageCode::AddressUnencrypted, [&endpoint.origin])));
        }
        Ok(endpoint)
    }

    /// Does the same, but also accepts http in a private network, to which the user has to agree.
    pub fn parse_confirmed(address: &str) -> Result<Self, BadAddress> {
        let refuse = |problem| Err(BadAddress(Message::new(problem, [&VERCEL])));
        let address = address.trim_matches(|c: char| c <= ' ');
        if address.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
            return refuse(MessageCode::AddressCharacters);
        }
        // Servers on this machine are often written without a scheme: `localhost:11434`.
        let is_here = |host: &str| Host::parse(host).is_ok_and(|host| host.is_this_machine());
        let (scheme, rest) = match address.split_once("://") {
            Some(parts) => parts,
            None if address.split([':', '/']).next().is_some_and(is_here) => ("http", address),
            None => return refuse(MessageCode::AddressScheme),
        };
        let scheme = scheme.to_ascii_lowercase();
        if scheme != "https" && scheme != "http" {
            return refuse(MessageCode::AddressScheme);
        }
        if rest.contains(['?', '#']) {
            return refuse(MessageCode::AddressQuery);
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.contains('@') {
            return refuse(MessageCode::AddressCredentials);
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (authority, None),
        };
        let host = match Host::parse(host) {
            Ok(host) => host,
            Err(what) => return refuse(what),
        };
        let digits = |port: &&str| port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = match port.map(|port| Some(port).filter(digits).and_then(|port| port.parse::<u16>().ok())) {
            Some(None | Some(0)) => return refuse(MessageCode::AddressPort),
            Some(port) => port,
            None => None,
        };
        if scheme == "http" && !host.is_this_machine() && !host.is_private() {
            return refuse(MessageCode::AddressNotHttps);
        }
        let segments: Vec<&str> = path.trim_end_matches('/').split('/').collect();
        let is_dots = |segment: &&str| segment.to_ascii_lowercase().replace("%2e", ".").chars().all(|c| c == '.');
        if !path.trim_end_matches('/').is_empty() && segments.iter().any(is_dots) {
            return refuse(MessageCode::AddressSegments);
        }
        if !segments.iter().all(|segment| is_plain_segment(segment)) {
            return refuse(MessageCode::AddressEncoding);
        }
        let default_port = if scheme == "https" { 443 } else { 80 };
        let port = port.filter(|port| *port != default_port).map(|port| format!(":{port}")).unwrap_or_default();
        let origin = format!("{scheme}://{}{port}", host.text());
        let base_url = format!("{origin}/{}", segments.join("/"));
        Ok(Self {
            is_loopback: host.is_this_machine() || host.text().ends_with(".localhost"),
            is_unencrypted: scheme == "http" && !host.is_this_machine(),
            is_vercel: VERCEL.strip_suffix("/v1") == Some(&origin),
            keys_page: keys_page(&origin),
            base_url: base_url.trim_end_matches('/').to_owned(),
            origin,
        })
    }
}

enum Host {
    Name(String),
    V4(Ipv4Addr),
    V6(Ipv6Addr),
}

impl Host {
    /// Parses a host. The error says what is wrong with it.
    fn parse(host: &str) -> Result<Self, MessageCode> {
        if let Some(inside) = host.strip_prefix('[') {
            let address = inside.strip_suffix(']').and_then(|inside| inside.parse::<Ipv6Addr>().ok());
            let address = address.filter(|address| address.to_ipv4_mapped().is_none());
            return address.map(Self::V6).ok_or(MessageCode::AddressIpv6);
        }
        let host = host.to_ascii_lowercase();
        if !host.is_ascii() || host.split('.').any(|label| label.starts_with("xn--")) {
            return Err(MessageCode::AddressInternational);
        }
        let is_label = |label: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
            (1..=63).contains(&label.len()) && label.chars().all(plain) && !label.starts_with('-')
        };
        if host.len() > 253 || !host.split('.').all(is_label) {
            return Err(MessageCode::AddressHost);
        }
        // URL parsers read every host that ends in a number as an IPv4 address: `127.1`, `0x7f.1`, `2130706433`.
        let last = host.rsplit('.').next().unwrap_or_default();
        if last.starts_with(|c: char| c.is_ascii_digit()) {
            let address = host.parse().map(Self::V4);
            return address.map_err(|_| MessageCode::AddressNumber);
        }
        Ok(Self::Name(host))
    }

    /// Decides by the spelling, because a name other than `localhost` could resolve to any address.
    fn is_this_machine(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost",
            Self::V4(address) => address.is_loopback(),
            Self::V6(address) => address.is_loopback(),
        }
    }

    /// Returns whether the address can only be in the same network: a private IP address, or a name that no public
    /// server has.
    fn is_private(&self) -> bool {
        match self {
            Self::Name(name) => {
                let suffixes = [".local", ".lan", ".home.arpa", ".internal"];
                !name.contains('.') || suffixes.iter().any(|suffix| name.ends_with(suffix))
            }
            Self::V4(address) => {
                let [first, second, ..] = address.octets();
                // Networks of providers, and of VPNs such as Tailscale: 100.64.0.0/10.
                address.is_private() || address.is_link_local() || (first == 100 && (64..128).contains(&second))
            }
            Self::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Name(name) => name.clone(),
            Self::V4(address) => address.to_string(),
            Self::V6(address) => format!("[{address}]"),
        }
    }
}

/// Returns whether a path segment has only complete escapes and characters that URL parsers leave unchanged.
fn is_plain_segment(segment: &str) -> bool {
    let mut escapes = segment.split('%');
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@".contains(c));
    let is_escape = |text: &str| {
        text.get(..2).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            && text.get(2..).is_some_and(plain)
    };
    escapes.next().is_none_or(plain) && escapes.all(is_escape)
}
