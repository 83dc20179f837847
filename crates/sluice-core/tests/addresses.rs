//! Which base URLs are accepted, and how they are normalized: never more leniently than by a standard URL parser, and
//! always to its spelling.

use std::fmt::Write;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use sluice_core::{Consent, Endpoint, KeyUse, Permission, join_messages};
use url::Url;

#[test]
fn valid_base_urls_are_normalized() {
    let mut lines = String::new();
    for address in [
        "https://ai-gateway.vercel.sh/v1",
        " HTTPS://Example.COM:443/v1// ",
        "https://example.com:8443",
        "https://example.com:08443/a%20b/c:d@e",
        "http://127.0.0.1:8080/v1/",
        "http://127.9.9.9",
        "http://LOCALHOST:080/v1",
        "http://[::1]:9000",
        "https://[2001:DB8:0::0:1]/v1",
        "https://demo.localhost",
        "https://localhost.example.com",
        "https://128.0.0.1",
    ] {
        let endpoint = Endpoint::parse(address).unwrap();
        let machine = if endpoint.is_loopback { "this machine" } else { "elsewhere" };
        writeln!(lines, "{address} -> {} {} {machine}", endpoint.origin, endpoint.base_url).unwrap();
    }
    expect![[r#"
        https://ai-gateway.vercel.sh/v1 -> https://ai-gateway.vercel.sh https://ai-gateway.vercel.sh/v1 elsewhere
         HTTPS://Example.COM:443/v1//  -> https://example.com https://example.com/v1 elsewhere
        https://example.com:8443 -> https://example.com:8443 https://example.com:8443 elsewhere
        https://example.com:08443/a%20b/c:d@e -> https://example.com:8443 https://example.com:8443/a%20b/c:d@e elsewhere
        http://127.0.0.1:8080/v1/ -> http://127.0.0.1:8080 http://127.0.0.1:8080/v1 this machine
        http://127.9.9.9 -> http://127.9.9.9 http://127.9.9.9 this machine
        http://LOCALHOST:080/v1 -> http://localhost http://localhost/v1 this machine
        http://[::1]:9000 -> http://[::1]:9000 http://[::1]:9000 this machine
        https://[2001:DB8:0::0:1]/v1 -> https://[2001:db8::1] https://[2001:db8::1]/v1 elsewhere
        https://demo.localhost -> https://demo.localhost https://demo.localhost this machine
        https://localhost.example.com -> https://localhost.example.com https://localhost.example.com elsewhere
        https://128.0.0.1 -> https://128.0.0.1 https://128.0.0.1 elsewhere
    "#]]
    .assert_eq(&lines);
}

/// An http address on this machine is used without asking, one in a private network after asking, and no other.
#[test]
fn addresses_without_encryption_must_be_confirmed() {
    for address in [
        "http://10.1.2.3/v1",
        "http://172.31.0.1:8000/v1",
        "http://192.168.1.5:11434/v1",
        "http://169.254.1.1",
        "http://100.64.0.1",
        "http://[fd00::1]:8080",
        "http://[fe80::1]",
        "http://nas:11434/v1",
        "http://nas.local/v1",
        "http://llm.home.arpa",
    ] {
        assert!(Endpoint::parse(address).unwrap_err().to_string().contains("Nothing is encrypted"), "{address}");
        assert!(Endpoint::parse_confirmed(address).unwrap().is_unencrypted, "{address}");
    }
    for address in
        ["http://172.32.0.1", "http://100.128.0.1", "http://8.8.8.8", "http://[2001:db8::1]", "http://a.example"]
    {
        assert!(Endpoint::parse_confirmed(address).unwrap_err().to_string().contains("must be https"), "{address}");
    }
    for address in ["http://127.0.0.1:11434/v1", "http://localhost", "https://10.1.2.3"] {
        assert!(!Endpoint::parse(address).unwrap().is_unencrypted, "{address}");
    }
}

#[test]
fn the_user_agrees_to_addresses_without_encryption_and_to_those_without_a_key() {
    let mut lines = String::new();
    for address in [
        "http://127.0.0.1:11434/v1",
        "https://demo.localhost",
        "http://192.168.1.5:11434/v1",
        "http://nas/v1",
        "https://llm.example/v1",
        "https://ai-gateway.vercel.sh/v1",
    ] {
        let endpoint = Endpoint::parse_confirmed(address).unwrap();
        for (has_key, what) in [(true, "with a key"), (false, "without a key")] {
            let consent = match endpoint.consent(has_key) {
                Consent::NotNeeded => "used at once".to_owned(),
                Consent::Needed(question) => format!("asks: {question}"),
                Consent::Refused(reason) => format!("refused: {reason}"),
            };
            writeln!(lines, "{address} {what}: {consent}").unwrap();
        }
    }
    expect![[r#"
        http://127.0.0.1:11434/v1 with a key: used at once
        http://127.0.0.1:11434/v1 without a key: used at once
        https://demo.localhost with a key: used at once
        https://demo.localhost without a key: used at once
        http://192.168.1.5:11434/v1 with a key: asks: Nothing is encrypted on the way to http://192.168.1.5:11434: everybody in between can read the key and the chats.
        http://192.168.1.5:11434/v1 without a key: asks: Nothing is encrypted on the way to http://192.168.1.5:11434: everybody in between can read the chats.
        http://nas/v1 with a key: asks: Nothing is encrypted on the way to http://nas: everybody in between can read the key and the chats.
        http://nas/v1 without a key: asks: Nothing is encrypted on the way to http://nas: everybody in between can read the chats.
        https://llm.example/v1 with a key: used at once
        https://llm.example/v1 without a key: asks: Chats will be sent to https://llm.example without a key.
        https://ai-gateway.vercel.sh/v1 with a key: used at once
        https://ai-gateway.vercel.sh/v1 without a key: refused: https://ai-gateway.vercel.sh needs a key.
    "#]]
    .assert_eq(&lines);
}

#[test]
fn a_key_goes_to_another_origin_only_if_the_user_agrees() {
    let check = |address: &str, origins: &[&str], has_key: bool, is_from_environment: bool, expected: Expect| {
        let endpoint = Endpoint::parse_confirmed(address).unwrap();
        let origins = origins.iter().map(ToString::to_string).collect();
        let shown = match endpoint.permission(&KeyUse { has_key, origins, is_from_environment }) {
            Permission::MustAsk { question, .. } => format!("asks: {}", join_messages(&question, " ")),
            Permission::Refused(reason) => format!("refused: {reason}"),
            other => format!("{other:?}"),
        };
        expected.assert_eq(&shown);
    };
    let (one, two, nas) = ("https://one.example", "https://two.example", "http://nas");
    check(one, &[], true, false, expect!["FirstUse"]);
    check(one, &[two, one], true, false, expect!["Granted"]);
    check(one, &[one], true, true, expect!["Granted"]);
    check(
        one,
        &[two, nas],
        true,
        true,
        expect![
            "asks: So far, this key was used with https://two.example, http://nas. Now it would be sent to https://one.example."
        ],
    );
    check(
        one,
        &[],
        true,
        true,
        expect!["asks: VS Code's environment specifies https://one.example as the address for your key."],
    );
    check(
        nas,
        &[one],
        true,
        false,
        expect![
            "asks: So far, this key was used with https://one.example. Now it would be sent to http://nas. Nothing is encrypted on the way to http://nas: everybody in between can read the key and the chats."
        ],
    );
    check(nas, &[nas], true, false, expect!["Granted"]);
    check(one, &[two], false, false, expect!["asks: Chats will be sent to https://one.example without a key."]);
    check("http://127.0.0.1:1234", &[two], true, true, expect!["Granted"]);
    check(
        "https://ai-gateway.vercel.sh/v1",
        &["https://ai-gateway.vercel.sh"],
        false,
        false,
        expect!["refused: https://ai-gateway.vercel.sh needs a key."],
    );
}

#[test]
fn servers_on_this_machine_need_no_scheme() {
    for (address, base_url) in [
        ("localhost:11434", "http://localhost:11434"),
        ("LOCALHOST/v1/", "http://localhost/v1"),
        (" 127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
    ] {
        assert_eq!(Endpoint::parse(address).unwrap().base_url, base_url);
    }
    // Anything else could be meant for https.
    for address in
        ["192.168.1.5:11434", "nas:11434/v1", "localhost.example:1", "127.1:80", "localhost@evil.example", "::1"]
    {
        assert!(Endpoint::parse_confirmed(address).is_err(), "{address}");
    }
}

#[test]
fn invalid_base_urls_are_refused_with_a_reason() {
    let mut lines = String::new();
    for address in [
        "",
        "example.com",
        "ftp://example.com",
        "http://example.com",
        "http://demo.localhost",
        "http://127.0.0.1.example.com",
        "http://127.1.evil",
        "https://user:key@example.com",
        "https://example.com/v1?x=1",
        "https://example.com/#a",
        "https://",
        "https:///v1",
        "https://exa mple.com",
        "https://example.com\\@evil.com",
        "https://example.com:",
        "https://example.com:+80",
        "https://example.com:99999",
        "https://example.com:0",
        "https://example.com/../v1",
        "https://example.com/%2E%2e/v1",
        "https://example.com/%zz/v1",
        "https://example.com/%4",
        "https://example.com/%41<",
        "https://example.com//v1",
        "https://example.com/a|b",
        "https://example.com/100%",
        "https://example.com./v1",
        "https://a..b",
        "https://ex\u{e4}mple.com",
        "https://xn--exmple-cua.com",
        "https://[evil]",
        "https://[::1",
        "https://[::ffff:127.0.0.1]",
        "https://[fe80::1%25eth0]",
        "https://127.1",
        "https://0x7f.1",
        "https://2130706433",
        "https://127.0.0.01",
        "https://1.2.3.4.5",
    ] {
        let problem = Endpoint::parse(address).unwrap_err().to_string();
        let problem = problem.strip_suffix(". It should look like https://ai-gateway.vercel.sh/v1").unwrap();
        writeln!(lines, "{address:?}: {problem}").unwrap();
    }
    expect![[r#"
        "": The base URL does not start with https://
        "example.com": The base URL does not start with https://
        "ftp://example.com": The base URL does not start with https://
        "http://example.com": The base URL must be https, except on this machine (127.0.0.1, localhost) and in private networks
        "http://demo.localhost": The base URL must be https, except on this machine (127.0.0.1, localhost) and in private networks
        "http://127.0.0.1.example.com": The base URL must be https, except on this machine (127.0.0.1, localhost) and in private networks
        "http://127.1.evil": The base URL must be https, except on this machine (127.0.0.1, localhost) and in private networks
        "https://user:key@example.com": The base URL must not contain a user name or password
        "https://example.com/v1?x=1": The base URL must have no query and no fragment
        "https://example.com/#a": The base URL must have no query and no fragment
        "https://": The base URL has no proper host name
        "https:///v1": The base URL has no proper host name
        "https://exa mple.com": The base URL has white space, a backslash or control characters in it
        "https://example.com\\@evil.com": The base URL has white space, a backslash or control characters in it
        "https://example.com:": The base URL has no proper port
        "https://example.com:+80": The base URL has no proper port
        "https://example.com:99999": The base URL has no proper port
        "https://example.com:0": The base URL has no proper port
        "https://example.com/../v1": The base URL must not have a path with empty segments or with dots for a segment
        "https://example.com/%2E%2e/v1": The base URL must not have a path with empty segments or with dots for a segment
        "https://example.com/%zz/v1": The base URL has characters in its path that have to be percent-encoded
        "https://example.com/%4": The base URL has characters in its path that have to be percent-encoded
        "https://example.com/%41<": The base URL has characters in its path that have to be percent-encoded
        "https://example.com//v1": The base URL must not have a path with empty segments or with dots for a segment
        "https://example.com/a|b": The base URL has characters in its path that have to be percent-encoded
        "https://example.com/100%": The base URL has characters in its path that have to be percent-encoded
        "https://example.com./v1": The base URL has no proper host name
        "https://a..b": The base URL has no proper host name
        "https://exämple.com": The base URL has an international host name, which is not supported; use one in ASCII
        "https://xn--exmple-cua.com": The base URL has an international host name, which is not supported; use one in ASCII
        "https://[evil]": The base URL has no proper IPv6 address
        "https://[::1": The base URL has no proper IPv6 address
        "https://[::ffff:127.0.0.1]": The base URL has no proper IPv6 address
        "https://[fe80::1%25eth0]": The base URL has no proper IPv6 address
        "https://127.1": The base URL has a host that ends in a number but is not an IPv4 address, which has four numbers, such as 127.0.0.1
        "https://0x7f.1": The base URL has a host that ends in a number but is not an IPv4 address, which has four numbers, such as 127.0.0.1
        "https://2130706433": The base URL has a host that ends in a number but is not an IPv4 address, which has four numbers, such as 127.0.0.1
        "https://127.0.0.01": The base URL has a host that ends in a number but is not an IPv4 address, which has four numbers, such as 127.0.0.1
        "https://1.2.3.4.5": The base URL has a host that ends in a number but is not an IPv4 address, which has four numbers, such as 127.0.0.1
    "#]].assert_eq(&lines);
}

#[test]
fn a_host_has_at_most_253_characters() {
    let label = "a".repeat(63);
    let parse = |last: usize| Endpoint::parse(&format!("https://{label}.{label}.{label}.{}", "a".repeat(last)));
    assert!(parse(61).is_ok());
    assert!(parse(62).is_err());
}

fn host() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9.-]{1,12}",
        "([a-z]{1,3}[.]){0,3}(com|localhost|1|0x1|07|a1|xn--a)[.]?",
        "([0-9]{1,3}[.]){0,4}[0-9]{1,3}",
        "\\[[0-9a-fA-F:.]{0,20}\\]",
        any::<std::net::Ipv6Addr>().prop_map(|address| format!("[{address}]")),
        any::<[u16; 8]>().prop_map(|groups| {
            let group = |group: u16| format!("{:x}", if group.is_multiple_of(3) { 0 } else { group });
            format!("[{}]", groups.map(group).join(":"))
        }),
        "\\PC{1,6}",
        Just("localhost".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, ..ProptestConfig::default() })]

    /// Whatever we accept, a standard parser accepts too, with the same origin and the same spelling.
    #[test]
    fn an_accepted_base_url_is_what_a_standard_parser_makes_of_it(
        scheme in "(https|http|HTTPS|Http|httpss|ws)", slashes in "(://|://|://|:/|:///|:)", user in "(|||u@|u:p@)", host in host(),
        port in "(||:[0-9+-]{0,6}|:443|:080)", path in "(|/|/v1|/v1/|(/[ -~]{0,6}){0,3}|(/(a|%2e|.|%2|%41|..)){0,3})",
    ) {
        let address = format!("{scheme}{slashes}{user}{host}{port}{path}");
        if let Ok(endpoint) = Endpoint::parse(&address) {
            let url = Url::parse(&address).map_err(|error| TestCaseError::fail(format!("{address:?}: {error}")))?;
            prop_assert_eq!(url.origin().ascii_serialization(), endpoint.origin.as_str(), "{:?}", address);
            prop_assert_eq!(url.as_str().trim_end_matches('/'), endpoint.base_url.as_str(), "{:?}", address);
            prop_assert!(url.username().is_empty() && url.query().is_none() && url.fragment().is_none());
            prop_assert_eq!(Endpoint::parse(&endpoint.base_url), Ok(endpoint.clone()));
            let is_loopback = match url.host() {
                Some(url::Host::Ipv4(address)) => address.is_loopback(),
                Some(url::Host::Ipv6(address)) => address.is_loopback(),
                Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
                None => false,
            };
            prop_assert_eq!(endpoint.is_loopback, is_loopback);
            prop_assert!(url.scheme() == "https" || is_loopback, "{:?} goes out in clear text", address);
        }
    }

    #[test]
    fn any_text_can_be_checked(address in any::<String>()) {
        let _ = Endpoint::parse(&address);
        let _ = Endpoint::parse(&format!("https://{address}"));
    }
}
