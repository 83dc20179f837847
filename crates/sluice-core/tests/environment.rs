//! Which endpoint and which key the environment selects.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use sluice_core::{Environment, KEY_VARIABLES};

const LOCAL: &str = "http://127.0.0.1:4000/v1";
const OTHER: &str = "https://other.example/v1";

/// `setting` is the base URL in the user's settings.
fn check(base_url: &str, setting: &str, keys: &[&str], expected: Expect) {
    let environment = Environment {
        base_url: Some(base_url.to_owned()),
        keys: keys.iter().map(ToString::to_string).collect(),
        default_base_url: Some(setting.to_owned()),
    };
    expected.assert_eq(&match environment.endpoint() {
        Ok(None) => "nothing is set".to_owned(),
        Ok(Some(found)) => {
            let key = found.key.unwrap_or("no key");
            let confirm = if found.must_confirm { ", to be confirmed" } else { "" };
            let withheld = found.withheld.map(|message| format!(". {message}")).unwrap_or_default();
            format!("{key} to {}{confirm}{withheld}", found.endpoint.base_url)
        }
        Err(problem) => problem.to_string(),
    });
}

#[test]
fn nothing_is_selected_unless_a_variable_is_set() {
    check("", "", &[], expect!["nothing is set"]);
    check(" \n", OTHER, &[], expect!["nothing is set"]);
    check("", "", &["PATH", "sluice_api_key"], expect!["nothing is set"]);
}

#[test]
fn the_gateway_gets_any_of_the_keys() {
    check("", "", &["VERCEL_OIDC_TOKEN"], expect!["VERCEL_OIDC_TOKEN to https://ai-gateway.vercel.sh/v1"]);
    check(
        "https://AI-Gateway.vercel.sh:443/v1",
        OTHER,
        &["VERCEL_OIDC_TOKEN", "AI_GATEWAY_API_KEY"],
        expect!["AI_GATEWAY_API_KEY to https://ai-gateway.vercel.sh/v1"],
    );
    check("", "", &KEY_VARIABLES, expect!["SLUICE_API_KEY to https://ai-gateway.vercel.sh/v1"]);
}

#[test]
fn an_address_without_encryption_has_to_be_confirmed() {
    check("http://nas:11434/v1", "", &[], expect!["no key to http://nas:11434/v1, to be confirmed"]);
    check(
        "http://nas:11434/v1",
        "",
        &["SLUICE_API_KEY"],
        expect!["SLUICE_API_KEY to http://nas:11434/v1, to be confirmed"],
    );
}

#[test]
fn other_endpoints_get_their_own_key_only() {
    check(LOCAL, "", &KEY_VARIABLES, expect!["SLUICE_API_KEY to http://127.0.0.1:4000/v1"]);
    check("", OTHER, &["SLUICE_API_KEY"], expect!["SLUICE_API_KEY to https://other.example/v1"]);
    check(
        LOCAL,
        "",
        &["AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN"],
        expect![
            "no key to http://127.0.0.1:4000/v1. AI_GATEWAY_API_KEY is not sent to http://127.0.0.1:4000, only to https://ai-gateway.vercel.sh. To send a key, set SLUICE_API_KEY."
        ],
    );
    check(
        "",
        OTHER,
        &["VERCEL_OIDC_TOKEN"],
        expect![
            "no key to https://other.example/v1. VERCEL_OIDC_TOKEN is not sent to https://other.example, only to https://ai-gateway.vercel.sh. To send a key, set SLUICE_API_KEY."
        ],
    );
    // Neither of these is the gateway.
    for address in ["https://ai-gateway.vercel.sh.other.example/v1", "https://ai-gateway.vercel.sh:8443/v1"] {
        let environment = Environment {
            base_url: Some(address.to_owned()),
            keys: vec!["AI_GATEWAY_API_KEY".to_owned()],
            ..Environment::default()
        };
        let found = environment.endpoint().unwrap().unwrap();
        assert!(found.key.is_none() && found.withheld.is_some() && found.must_confirm, "{address}");
    }
}

#[test]
fn an_address_elsewhere_has_to_be_confirmed_unless_the_user_set_it() {
    check(OTHER, "", &["SLUICE_API_KEY"], expect!["SLUICE_API_KEY to https://other.example/v1, to be confirmed"]);
    check(OTHER, "", &[], expect!["no key to https://other.example/v1, to be confirmed"]);
    check(LOCAL, OTHER, &[], expect!["no key to http://127.0.0.1:4000/v1"]);
    check(
        "http://other.example/v1",
        "",
        &["SLUICE_API_KEY"],
        expect![
            "The base URL must be https, except on this machine (127.0.0.1, localhost) and in private networks. It should look like https://ai-gateway.vercel.sh/v1"
        ],
    );
}
