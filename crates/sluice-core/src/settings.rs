//! Reads the user's settings, which may contain anything, and checks them before anything is sent.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::boundary::{ChatOptions, ModelSettings, Routing, SettingProblem, Settings, SpendLimit, SpendLimits};
use crate::message::{Message, MessageCode};
use crate::models::{Overrides, Pattern};
use crate::send::{BadAddress, Endpoint, VERCEL, extra_headers};

const IDLE_TIMEOUT_S: f64 = 600.0;
/// The shortest and the longest idle timeout that a setting can choose.
const IDLE_TIMEOUTS_S: [f64; 2] = [10.0, 3600.0];

/// Reads the settings of VS Code under `sluice`, as JSON. Nothing here needs a server: whether a pattern matches any model
/// is only known with the list of models.
///
/// The values of headers may refer to the variables in `environment` as `${env:NAME}`.
pub fn read_settings(values: &Map<String, Value>, environment: &BTreeMap<String, String>) -> Settings {
    let mut read = Reader { values, problems: Vec::new() };
    let base_url = read.optional("baseUrl").unwrap_or_else(|| VERCEL.to_owned());
    let effort: String = read.value("thinking.effort");
    let first: String = read.value("models.default");
    let sort: String = read.value("routing.sort");
    let seconds = read.optional("idleTimeoutSeconds").unwrap_or(IDLE_TIMEOUT_S);
    let models = ModelSettings {
        hide: read.value("models.hidden"),
        favourites: read.value("models.favourites"),
        default: Some(first).filter(|first| !first.is_empty()).into_iter().collect(),
        effort: unless_default(effort),
        overrides: read.value("models.overrides"),
        added: read.value("models.added"),
    };
    let chat = ChatOptions {
        reasoning_effort: models.effort.clone(),
        automatic_caching: read.optional("caching").unwrap_or(true),
        long_cache: read.value("cache.longLife"),
        stable_instructions: read.value("cache.stableInstructions"),
        claude_context_management: read.value("claudeContextManagement"),
        routing: Some(Routing {
            order: read.value("routing.order"),
            only: read.value("routing.only"),
            models: read.value("routing.fallbacks"),
            sort: unless_default(sort),
        }),
        ..ChatOptions::default()
    };
    let headers = headers_by_origin(&base_url, &read.value("extraHeaders"), environment);
    let thinking_fallback = read.value("thinking.fallback");
    let spend = spend_limits(&mut read);
    let mut problems = read.problems;
    check(&base_url, &models, &headers, &mut problems);
    let [shortest, longest] = IDLE_TIMEOUTS_S;
    let idle_timeout = Duration::try_from_secs_f64(seconds.clamp(shortest, longest)).unwrap_or_default();
    let idle_timeout_ms = u32::try_from(idle_timeout.as_millis()).unwrap_or(u32::MAX);
    Settings { models, chat, headers, idle_timeout_ms, thinking_fallback, spend, problems }
}

struct Reader<'a> {
    values: &'a Map<String, Value>,
    problems: Vec<SettingProblem>,
}

impl Reader<'_> {
    fn value<T: DeserializeOwned + Default>(&mut self, name: &'static str) -> T {
        self.optional(name).unwrap_or_default()
    }

    /// Returns `None` if the setting is absent. One of the wrong type counts as absent, and is a problem.
    fn optional<T: DeserializeOwned>(&mut self, name: &'static str) -> Option<T> {
        let (group, field) = name.split_once('.').unwrap_or(("", name));
        let values = if group.is_empty() { Some(self.values) } else { self.values.get(group)?.as_object() };
        let value = values?.get(field).filter(|value| !value.is_null())?;
        let read = serde_json::from_value(value.clone()).ok();
        if read.is_none() {
            self.wrong_type(name);
        }
        read
    }

    fn wrong_type(&mut self, setting: &'static str) {
        self.problems.push(SettingProblem { setting, message: Message::new(MessageCode::SettingType, [&setting]) });
    }
}

/// A limit of zero is none.
fn spend_limits(read: &mut Reader<'_>) -> Option<SpendLimits> {
    let all = SpendLimit {
        request: read.optional("spend.request"),
        conversation: read.optional("spend.conversation"),
        day: read.optional("spend.day"),
        month: read.optional("spend.month"),
    };
    let mut limits =
        SpendLimits { all: all.without_zeros(), is_hard: read.value("spend.hardStop"), ..SpendLimits::default() };
    for (model, value) in read.value::<Map<String, Value>>("spend.models") {
        match serde_json::from_value::<SpendLimit>(value) {
            Ok(limit) => limits.models.extend([(model, limit.without_zeros())]),
            Err(_) => read.wrong_type("spend.models"),
        }
    }
    limits.models.retain(|_, limit| *limit != SpendLimit::default());
    (limits.all != SpendLimit::default() || !limits.models.is_empty()).then_some(limits)
}

fn unless_default(value: String) -> Option<String> {
    Some(value).filter(|value| !value.is_empty() && value != "default")
}

fn check(
    base_url: &str,
    models: &ModelSettings,
    headers: &BTreeMap<String, BTreeMap<String, String>>,
    problems: &mut Vec<SettingProblem>,
) {
    if let Err(BadAddress(message)) = Endpoint::parse_confirmed(base_url) {
        problems.push(SettingProblem { setting: "baseUrl", message });
    }
    for (setting, patterns) in [
        ("models.hidden", &models.hide),
        ("models.favourites", &models.favourites),
        ("models.default", &models.default),
    ] {
        let bad = patterns.iter().filter_map(|pattern| Pattern::parse(pattern).err());
        problems.extend(bad.map(|message| SettingProblem { setting, message }));
    }
    let mut overrides = Vec::new();
    Overrides::parse(models, &mut overrides);
    problems.extend(overrides.into_iter().map(|message| SettingProblem { setting: "models.overrides", message }));
    for (address, headers) in headers {
        // Problems with the base URL itself are reported above.
        if base_url != address && !address.is_empty() && Endpoint::parse_confirmed(address).is_err() {
            let message = Message::new(MessageCode::HeaderAddress, [address, &"https://gateway.example"]);
            problems.push(SettingProblem { setting: "extraHeaders", message });
        } else {
            extra_headers(headers, problems);
        }
    }
}

/// Returns the extra headers of each origin. Like keys, each belongs to one origin: `{"https://host": {"x-team": "blue"}}`.
/// Headers without an address belong to the origin of the base URL. Headers for an invalid address stay under that address,
/// which isn't the origin of any server.
fn headers_by_origin(
    base_url: &str,
    extra_headers: &Map<String, Value>,
    environment: &BTreeMap<String, String>,
) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut found: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut add = |address: &str, name: &str, value: &Value| {
        let origin = Endpoint::parse_confirmed(address).map_or_else(|_| address.to_owned(), |endpoint| endpoint.origin);
        let value = value.as_str().map_or_else(|| value.to_string(), |value| filled(value, environment));
        found.entry(origin).or_default().insert(name.to_owned(), value);
    };
    for (name, value) in extra_headers {
        match value {
            Value::Object(headers) => headers.iter().for_each(|(header, value)| add(name, header, value)),
            value => add(base_url, name, value),
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
