//! Which key is sent where: runs the real program with every relevant combination of variables.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use expect_test::{Expect, expect};
use sluice_simulator::server::{Config, Simulator};

/// Runs `sluice models` with only these variables. Returns its exit code and standard error.
fn models(settings: &[(&str, &str)]) -> (Option<i32>, String) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("connection");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
    for unset in ["AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN", "SLUICE_API_KEY", "SLUICE_BASE_URL"] {
        command.env_remove(unset);
    }
    command.args(["models", "--refresh"]).env("XDG_CACHE_HOME", directory).envs(settings.iter().copied());
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Uses the embedded gateway as a third-party endpoint. Returns the `Authorization` header it got, and the messages.
#[expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]
fn check(settings: &[(&str, &str)], expected: Expect) {
    let simulator = Simulator::start(Config::recording()).unwrap();
    let url = simulator.url();
    let (code, said) = models(&[&[("SLUICE_BASE_URL", url.as_str())], settings].concat());
    let requests = simulator.requests();
    let sent: Vec<_> = requests.iter().map(|request| request.header("authorization").unwrap_or("no key")).collect();
    let origin = url.trim_end_matches("/v1");
    expected.assert_eq(&format!("{code:?} {sent:?}\n{}", said.replace(origin, "http://the.endpoint")));
}

#[test]
fn another_endpoint_gets_its_own_key() {
    check(
        &[("SLUICE_API_KEY", " own-key\n")],
        expect![[r#"
            Some(0) ["Bearer own-key"]
        "#]],
    );
    check(
        &[("SLUICE_API_KEY", "own-key"), ("AI_GATEWAY_API_KEY", "gateway-key")],
        expect![[r#"
            Some(0) ["Bearer own-key"]
        "#]],
    );
    check(
        &[],
        expect![[r#"
            Some(0) ["no key"]
        "#]],
    );
}

#[test]
fn another_endpoint_does_not_get_the_gateways_key() {
    check(
        &[("AI_GATEWAY_API_KEY", "gateway-key")],
        expect![[r#"
            Some(0) ["no key"]
            sluice: AI_GATEWAY_API_KEY is not sent to http://the.endpoint, only to https://ai-gateway.vercel.sh. To send a key, set SLUICE_API_KEY.
        "#]],
    );
    check(
        &[("VERCEL_OIDC_TOKEN", "gateway-token"), ("SLUICE_API_KEY", " ")],
        expect![[r#"
            Some(0) ["no key"]
            sluice: VERCEL_OIDC_TOKEN is not sent to http://the.endpoint, only to https://ai-gateway.vercel.sh. To send a key, set SLUICE_API_KEY.
        "#]],
    );
}

#[test]
fn a_key_that_cannot_be_sent_is_an_error_and_nothing_is_sent() {
    check(
        &[("SLUICE_API_KEY", "first\nsecond")],
        expect![[r#"
            Some(2) []
            sluice: SLUICE_API_KEY: the key contains a line break; copy it again, as one word
        "#]],
    );
    check(
        &[("SLUICE_API_KEY", "clé")],
        expect![[r#"
            Some(2) []
            sluice: SLUICE_API_KEY: the key contains a character that isn't ASCII; copy it again, as one word
        "#]],
    );
}

#[cfg(unix)]
#[test]
fn a_key_that_is_not_text_is_an_error() {
    use std::os::unix::ffi::OsStrExt;
    let output = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .arg("models")
        .env("SLUICE_API_KEY", std::ffi::OsStr::from_bytes(b"key\xff"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    expect![[r#"
        sluice: SLUICE_API_KEY is not valid UTF-8; set it again
    "#]]
    .assert_eq(&String::from_utf8(output.stderr).unwrap());
}

#[test]
fn the_gateway_gets_its_own_key_however_its_address_is_written() {
    // Nothing leaves this machine: there is no server at the proxy's address.
    let dead = format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    for address in ["", "https://ai-gateway.vercel.sh/v1", "https://AI-Gateway.Vercel.SH:443/v1/"] {
        for key in ["AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN"] {
            let settings = [(key, "gateway-key"), ("SLUICE_BASE_URL", address), ("HTTPS_PROXY", dead.as_str())];
            let (code, said) = models(&settings);
            assert_eq!(code, Some(1));
            assert!(
                said.contains("No connection to https://ai-gateway.vercel.sh") && !said.contains("not sent"),
                "{said}"
            );
        }
    }
}
