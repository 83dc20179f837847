//! Checks the user's settings before anything is sent.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::boundary::{SettingKind, SettingProblem, Settings};
use crate::message::{Message, MessageCode};
use crate::models::Pattern;
use crate::send::{BadAddress, Endpoint, extra_fields, extra_headers};

/// Returns everything in these settings that will not work. Nothing here needs a server: whether a pattern matches any
/// model is only known with the list of models.
pub fn check_settings(settings: &Settings) -> Vec<SettingProblem> {
    let mut problems = Vec::new();
    if let Some(Err(BadAddress(message))) = settings.base_url.as_deref().map(Endpoint::parse) {
        problems.push(SettingProblem { setting: SettingKind::BaseUrl, message });
    }
    let models = &settings.models;
    let limits: Vec<String> = models.limits.iter().map(|limit| limit.model.clone()).collect();
    for (setting, patterns) in [
        (SettingKind::Hide, &models.hide),
        (SettingKind::Favourites, &models.favourites),
        (SettingKind::Default, &models.default),
        (SettingKind::Limits, &limits),
    ] {
        let bad = patterns.iter().filter_map(|pattern| Pattern::parse(pattern).err());
        problems.extend(bad.map(|message| SettingProblem { setting, message }));
    }
    for (address, headers) in headers_by_origin(settings) {
        // Problems with the base URL itself are reported above.
        if settings.base_url.as_ref() != Some(&address) && !address.is_empty() && Endpoint::parse(&address).is_err() {
            let message = Message::new(MessageCode::HeaderAddress, [&address, &"https://gateway.example"]);
            problems.push(SettingProblem { setting: SettingKind::ExtraHeaders, message });
        } else {
            extra_headers(&headers, &mut problems);
        }
    }
    extra_fields(&settings.extra_body, &mut problems);
    problems
}

/// Returns the extra headers of each origin. Like keys, each belongs to one origin: `{"https://host": {"x-team": "blue"}}`.
/// Headers without an address belong to the origin of the base URL. Headers for an invalid address stay under that address,
/// which isn't the origin of any server.
pub fn headers_by_origin(settings: &Settings) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut found: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut add = |address: &str, name: &str, value: &Value| {
        let origin = Endpoint::parse(address).map_or_else(|_| address.to_owned(), |endpoint| endpoint.origin);
        let value = value.as_str().map_or_else(|| value.to_string(), |value| filled(value, &settings.environment));
        found.entry(origin).or_default().insert(name.to_owned(), value);
    };
    for (name, value) in &settings.extra_headers {
        match value {
            Value::Object(headers) => headers.iter().for_each(|(header, value)| add(name, header, value)),
            value => add(settings.base_url.as_deref().unwrap_or_default(), name, value),
        }
    }
    found
}

/// Replaces `${env:NAME}` by an environment variable, so that no secret has to be in a file.
fn filled(value: &str, environment: &BTreeMap<String, String>) -> String {
    let mut pieces = value.split("${env:");
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once('}') {
            Some((name, rest)) => filled.extend([environment.get(name).map_or("", String::as_str), rest]),
            None => filled.extend(["${env:", piece]),
        }
    }
    filled
}
