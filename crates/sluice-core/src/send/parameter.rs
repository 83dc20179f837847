//! Parameters that a request can do without, if a server refuses them by name.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::boundary::{Failure, FailureKind, HttpRequest};
use crate::wire::{CreateResponse, InputItem};

/// A parameter of a request that the answer doesn't depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum Parameter {
    /// `caching`, the gateway's automatic cache markers.
    Caching,
    /// `include`, which asks for encrypted reasoning.
    Include,
    /// `max_output_tokens`.
    MaxOutputTokens,
    /// `prompt_cache_key`, which keeps a conversation on one cache.
    PromptCacheKey,
    /// `providerOptions`, which has the gateway's routing.
    ProviderOptions,
    /// `reasoning.effort`.
    ReasoningEffort,
    /// The reasoning of earlier answers, in `input`.
    ReasoningItems,
    /// `reasoning.summary`.
    ReasoningSummary,
    /// `store`.
    Store,
}

impl Parameter {
    /// All of them, in the order of their names.
    pub const ALL: [Self; 9] = [
        Self::Caching,
        Self::Include,
        Self::MaxOutputTokens,
        Self::PromptCacheKey,
        Self::ProviderOptions,
        Self::ReasoningEffort,
        Self::ReasoningItems,
        Self::ReasoningSummary,
        Self::Store,
    ];

    /// The path in the request body, as servers name it.
    pub fn path(self) -> &'static str {
        match self {
            Self::Caching => "caching",
            Self::Include => "include",
            Self::MaxOutputTokens => "max_output_tokens",
            Self::PromptCacheKey => "prompt_cache_key",
            Self::ProviderOptions => "providerOptions",
            Self::ReasoningEffort => "reasoning.effort",
            Self::ReasoningItems => "input.reasoning",
            Self::ReasoningSummary => "reasoning.summary",
            Self::Store => "store",
        }
    }

    /// Returns the parameter with this path.
    pub(crate) fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|parameter| parameter.path() == path)
    }

    /// Returns the parameters that a request has.
    pub(super) fn in_body(body: &CreateResponse) -> Vec<Self> {
        let has = |parameter: &Self| match parameter {
            Self::Caching => body.caching.is_some(),
            Self::Include => !body.include.is_empty(),
            Self::MaxOutputTokens => body.max_output_tokens.is_some(),
            Self::PromptCacheKey => body.prompt_cache_key.is_some(),
            Self::ProviderOptions => !body.provider_options.is_empty(),
            Self::ReasoningEffort => body.reasoning.as_ref().is_some_and(|reasoning| reasoning.effort.is_some()),
            Self::ReasoningItems => body.input.iter().any(|item| matches!(item, InputItem::Reasoning { .. })),
            Self::ReasoningSummary => body.reasoning.as_ref().is_some_and(|reasoning| reasoning.summary.is_some()),
            Self::Store => true,
        };
        Self::ALL.into_iter().filter(has).collect()
    }

    /// Returns the parameter that a server refuses, if it names one of `candidates` that the request still has.
    pub(crate) fn refused(failure: &Failure, candidates: &[Self], without: &[Self]) -> Option<Self> {
        let is_left = |parameter: Self| candidates.contains(&parameter) && !without.contains(&parameter);
        if is_left(Self::ReasoningItems) && is_about_reasoning(failure) {
            return Some(Self::ReasoningItems);
        }
        if failure.kind != FailureKind::BadRequest {
            return None;
        }
        let names = |parameter: &Self| {
            let path = parameter.path();
            let parent = path.split_once('.').map(|(parent, _)| parent);
            failure.parameter == Some(*parameter)
                || is_named(&failure.message, path)
                || parent.is_some_and(|parent| is_named(&failure.message, parent))
        };
        candidates.iter().filter(|parameter| !without.contains(parameter)).copied().find(names)
    }
}

/// Returns whether a server refuses the reasoning of an earlier answer. Servers don't name a parameter then.
fn is_about_reasoning(failure: &Failure) -> bool {
    const PHRASES: [&str; 7] = [
        "encrypted content",
        "encrypted_content",
        "`signature` in `thinking`",
        "of type 'reasoning' was provided without its required following item",
        "Item with id 'rs_",
        "reasoning of item",
        "thinking_blocks",
    ];
    let is_refusal = matches!(failure.kind, FailureKind::BadRequest | FailureKind::ModelNotFound);
    let message = failure.message.to_lowercase();
    let names = |phrase: &&str| message.contains(&phrase.to_lowercase());
    is_refusal && (failure.code.as_deref() == Some("invalid_encrypted_content") || PHRASES.iter().any(names))
}

/// Returns whether a message names a parameter. Names that are also English words must be in quotes.
fn is_named(message: &str, path: &str) -> bool {
    let is_word = path.bytes().all(|byte| byte.is_ascii_lowercase());
    message.match_indices(path).any(|(at, _)| {
        let before = message.get(..at).and_then(|text| text.chars().next_back());
        let after = message.get(at + path.len()..).and_then(|text| text.chars().next());
        let is_quoted = matches!((before, after), (Some('\'' | '"' | '`'), Some('\'' | '"' | '`')));
        let goes_on = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        is_quoted || !(is_word || goes_on(before) || goes_on(after))
    })
}

impl HttpRequest {
    /// Returns the same request without some parameters. Everything else keeps its position, so that prompt caches still
    /// match.
    #[must_use]
    pub fn without(&self, parameters: &[Parameter]) -> Self {
        let mut request = self.clone();
        for parameter in parameters {
            let body = match parameter {
                Parameter::ReasoningItems => remove_reasoning(&request.body),
                _ => remove(&request.body, parameter.path()),
            };
            if let Some(body) = body {
                request.body = body;
            }
        }
        request
    }
}

/// Removes the reasoning items from the input.
fn remove_reasoning(json: &str) -> Option<String> {
    let mut object: Object<'_> = serde_json::from_str(json).ok()?;
    let at = object.0.iter().position(|(field, _)| field == "input")?;
    let mut items: Vec<&RawValue> = serde_json::from_str(object.0.get(at)?.1.get()).ok()?;
    items.retain(|item| !item.get().starts_with(r#"{"type":"reasoning""#));
    let items = to_raw_value(&items).ok()?;
    object.0.get_mut(at)?.1 = &items;
    Some(to_raw_value(&object).ok()?.get().to_owned())
}

/// Removes the field at a path such as `reasoning.summary` from a JSON object, and an object that this leaves empty.
fn remove(json: &str, path: &str) -> Option<String> {
    let mut object: Object<'_> = serde_json::from_str(json).ok()?;
    let (name, inner) = path.split_once('.').map_or((path, None), |(name, inner)| (name, Some(inner)));
    let at = object.0.iter().position(|(field, _)| field == name)?;
    let shortened = match inner {
        Some(inner) => Some(remove(object.0.get(at)?.1.get(), inner)?).filter(|shortened| shortened != "{}"),
        None => None,
    };
    let shortened = shortened.map(RawValue::from_string).transpose().ok()?;
    match &shortened {
        Some(value) => object.0.get_mut(at)?.1 = value,
        None => drop(object.0.remove(at)),
    }
    Some(to_raw_value(&object).ok()?.get().to_owned())
}

/// A JSON object whose fields keep their order and their spelling.
struct Object<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Object(fields))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_removed_and_the_rest_is_unchanged() {
        let body =
            r#"{"model":"m","input":[{"b":1,"a":1e2}],"reasoning":{"effort":"low","summary":"auto"},"caching":"auto"}"#;
        assert_eq!(
            remove(body, "caching").as_deref(),
            Some(r#"{"model":"m","input":[{"b":1,"a":1e2}],"reasoning":{"effort":"low","summary":"auto"}}"#)
        );
        let without_summary = remove(body, "reasoning.summary").unwrap_or_default();
        assert_eq!(
            without_summary,
            r#"{"model":"m","input":[{"b":1,"a":1e2}],"reasoning":{"effort":"low"},"caching":"auto"}"#
        );
        assert_eq!(
            remove(&without_summary, "reasoning.effort").as_deref(),
            Some(r#"{"model":"m","input":[{"b":1,"a":1e2}],"caching":"auto"}"#)
        );
        assert_eq!(remove(body, "store"), None);
    }

    #[test]
    fn parameters_are_recognized_as_servers_name_them() {
        for (message, path, expected) in [
            ("Unexpected fields in the request: {'caching'}", "caching", true),
            ("caching: unknown field `caching`, expected one of `model`", "caching", true),
            ("Unsupported parameter: 'reasoning.summary' is not supported with this model.", "reasoning.summary", true),
            ("max_output_tokens=4000 cannot be greater than max_model_len=2048.", "max_output_tokens", true),
            ("Your request must include a user message.", "include", false),
            ("Unknown parameter: \"include\"", "include", true),
            ("caching is disabled for this account", "caching", false),
            ("my_max_output_tokens is wrong", "max_output_tokens", false),
        ] {
            assert_eq!(is_named(message, path), expected, "{message}");
        }
    }
}
