//! Files, sources and the application's own data. Everything becomes a data part; nothing is ever fetched.

use std::borrow::Cow;
use std::collections::BTreeSet;

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Map;

use super::fields::RawFields;
use crate::boundary::{Citation, NoteKind, Part};
use crate::receive::{Sink, checked_base64, citations_part, image_type_of_base64, padded, plain_line, protocol_word};
use crate::wire::{LongRuns, string};

/// More sources would bury the answer.
const MAX_SOURCES: usize = 1000;
/// The maximum length of an address.
const MAX_URL_BYTES: usize = 8192;
const MAX_TITLE_CHARS: usize = 300;
/// Longer data URLs are base64, which has nothing to percent-decode.
const MAX_PERCENT_DECODED: usize = 256 << 10;
/// Longer content already uses the standard alphabet; converting it would go byte by byte.
const MAX_REWRITTEN: usize = 1 << 20;

/// The longest list of numbers that is read as a file. Larger files arrive as base64.
const MAX_NUMBERS: usize = 128 << 10;

#[derive(Clone, Debug, Default)]
pub(super) struct Data {
    /// The addresses or ids of the sources that were reported. Every mention of a source is a separate chunk.
    sources: BTreeSet<String>,
}

impl Data {
    /// Handles `file` (the SDK's file object, or its fields), a data URL, or an address.
    pub(super) fn file(chunk: &RawFields<'_>, long_runs: &LongRuns, sink: &mut Sink) {
        let file = chunk.object(&["file"]).unwrap_or_else(|| chunk.clone());
        let named = file.word(&["mediaType", "mimeType"]).or_else(|| chunk.word(&["mediaType", "mimeType"]));
        let url = file.word(&["url"]).or_else(|| chunk.word(&["url"]));
        let bytes = ["base64", "base64Data", "data", "uint8Array", "uint8ArrayData"];
        let content = bytes.iter().find_map(|name| file.json(&[name]).and_then(|json| base64_of(json, long_runs)));
        let in_url = || data_url(url.as_deref()?, long_runs);
        match content.map(|base64| (None, base64)).or_else(in_url) {
            Some((in_url, base64)) => {
                let named = named.map(Cow::into_owned).or(in_url).filter(|name| !name.trim().is_empty());
                let mime_type = match named {
                    Some(named) => media_type(&named),
                    None => Some(image_type_of_base64(&base64).unwrap_or("application/octet-stream").to_owned()),
                };
                match mime_type {
                    Some(mime_type) => sink.part(Part::Data { mime_type, base64 }),
                    None => sink.note(NoteKind::IgnoredContent, "file"),
                }
            }
            None => match url {
                Some(url) if !url.starts_with("data:") && long_runs.put_back(&url).len() <= MAX_URL_BYTES => {
                    let mut reference = Map::new();
                    reference.insert("type".to_owned(), "file".into());
                    reference.insert("url".to_owned(), url.into());
                    if let Some(named) = named.and_then(|named| media_type(&named)) {
                        reference.insert("mediaType".to_owned(), named.into());
                    }
                    let json = serde_json::to_string(&reference).unwrap_or_default();
                    json_part("application/vnd.vercel.file+json", &json, sink);
                }
                _ => sink.note(NoteKind::IgnoredContent, "file"),
            },
        }
    }

    /// Handles a `source` of `fullStream`, or `source-url` and `source-document`. All have one shape.
    pub(super) fn source(&mut self, chunk: &RawFields<'_>, sink: &mut Sink) {
        let source = chunk.object(&["source"]).unwrap_or_else(|| chunk.clone());
        let id = source.word(&["sourceId", "id"]).filter(|id| id.len() <= MAX_URL_BYTES);
        let url = source.word(&["url"]).filter(|url| url.len() <= MAX_URL_BYTES);
        let line = |names: &[&str]| source.word(names).map(|text| plain_line(&text, MAX_TITLE_CHARS));
        let citation = Citation {
            url: url.map(Cow::into_owned),
            title: line(&["title"]),
            source_id: id.map(Cow::into_owned),
            media_type: line(&["mediaType", "mimeType"]),
            filename: line(&["filename"]),
        };
        let key = [&citation.url, &citation.source_id, &citation.title].into_iter().find_map(Option::as_deref);
        let Some(key) = key else {
            sink.note(NoteKind::IgnoredContent, "source");
            return;
        };
        let bytes = 64 + key.len();
        if self.sources.len() == MAX_SOURCES || !self.sources.insert(key.to_owned()) {
            return;
        }
        sink.retain(bytes);
        sink.part(citations_part(vec![citation]));
    }

    /// Returns the number of sources.
    pub(super) fn sources(&self) -> usize {
        self.sources.len()
    }

    /// Some providers have no chunks for sources and put them at the end of the text.
    pub(super) fn sources_of_text(&mut self, end: &RawFields<'_>, sink: &mut Sink) {
        let mut sources = end.list("citations");
        if let Some(metadata) = end.object(&["providerMetadata"]) {
            let providers = metadata.iter().filter_map(|(_, json)| RawFields::read(json));
            sources.extend(providers.flat_map(|provider| provider.list("annotations")));
        }
        for source in sources.iter().filter_map(|json| RawFields::read(json)) {
            let is_web = source.word(&["url"]).is_some_and(|url| url.starts_with("http"));
            if is_web {
                // If an annotation has an id, that identifies the text and not the source.
                self.source(&source, sink);
            }
        }
    }

    /// Handles `data-NAME`, whose value is passed on unchanged.
    pub(super) fn custom(name: &str, chunk: &RawFields<'_>, sink: &mut Sink) {
        let name = protocol_word(name);
        let name = if name.is_empty() { "data" } else { &name };
        json_part(&format!("application/vnd.vercel.{name}+json"), chunk.json(&["data"]).unwrap_or("null"), sink);
    }

    /// A tool that the provider ran may have made an image.
    pub(super) fn image_of_tool(output: &str, sink: &mut Sink) {
        let Some(result) = RawFields::read(output).and_then(|output| output.text(&["result"])) else { return };
        let Some(mime_type) = image_type_of_base64(&result) else { return };
        match checked_base64(result) {
            Some(base64) => {
                sink.part(Part::Data { mime_type: mime_type.to_owned(), base64: base64.into_owned() });
            }
            None => sink.note(NoteKind::IgnoredContent, "image"),
        }
    }
}

fn json_part(mime_type: &str, json: &str, sink: &mut Sink) {
    sink.part(Part::Data { mime_type: mime_type.to_owned(), base64: STANDARD.encode(json) });
}

/// Returns a registered media type without parameters. Anything else is refused: VS Code has control parts whose types
/// are single words (`usage`, `stateful_marker`, …), and no server may create one.
fn media_type(name: &str) -> Option<String> {
    const KINDS: [&str; 9] =
        ["application", "audio", "font", "image", "message", "model", "multipart", "text", "video"];
    const MAX_BYTES: usize = 127;
    let name = name.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (kind, subtype) = name.split_once('/')?;
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
    let is_real = KINDS.contains(&kind) && !subtype.is_empty() && subtype.bytes().all(is_token);
    (is_real && name.len() <= MAX_BYTES).then_some(name)
}

/// Returns the content of a file in any form: base64 text, a list of bytes, or what `JSON.stringify` makes of a
/// `Uint8Array` (`{"0":137,…}`) or of a Node buffer (`{"type":"Buffer","data":[…]}`).
fn base64_of(json: &str, long_runs: &LongRuns) -> Option<String> {
    if let Some(text) = string(json) {
        return match data_url(&text, long_runs) {
            Some((_, base64)) => Some(base64),
            None => long_base64(&text, long_runs).or_else(|| standard_base64(text.as_bytes())),
        };
    }
    if json.len() > MAX_NUMBERS {
        return None;
    }
    let Bytes(bytes) = serde_json::from_str(json).ok()?;
    (!bytes.is_empty()).then(|| STANDARD.encode(bytes))
}

/// Base64 that was taken out of the chunk.
fn long_base64(text: &str, long_runs: &LongRuns) -> Option<String> {
    if long_runs.is_empty() {
        return None;
    }
    let run = long_runs.take(text).map(|base64| padded(base64.into()).map(Cow::into_owned));
    run.unwrap_or_else(|| standard_base64(long_runs.put_back(text).as_bytes()))
}

/// Returns base64 in the standard alphabet, without white space and with padding.
fn standard_base64(text: &[u8]) -> Option<String> {
    if let Some(base64) = str::from_utf8(text).ok().and_then(|text| checked_base64(text.into())) {
        return Some(base64.into_owned());
    }
    if text.len() > MAX_REWRITTEN {
        return None;
    }
    let mut standard = Vec::with_capacity(text.len() + 2);
    standard.extend(text.iter().filter(|byte| !byte.is_ascii_whitespace()).map(|byte| match byte {
        b'-' => b'+',
        b'_' => b'/',
        byte => *byte,
    }));
    checked_base64(String::from_utf8(standard).ok()?.into()).map(Cow::into_owned)
}

/// Reads bytes that are written as numbers. They are never stored as JSON values, because a number of two characters
/// would take thirty bytes in memory.
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers;

        impl<'de> Visitor<'de> for Numbers {
            type Value = Bytes;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("bytes as numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Bytes, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = elements.next_element()? {
                    bytes.push(byte);
                }
                Ok(Bytes(bytes))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Bytes, A::Error> {
                let (mut bytes, mut data) = (Vec::new(), None);
                while let Some(name) = entries.next_key::<Cow<'de, str>>()? {
                    match (&*name, name.parse::<usize>()) {
                        ("data", _) => data = Some(entries.next_value::<Vec<u8>>()?),
                        ("type", _) => drop(entries.next_value::<serde::de::IgnoredAny>()?),
                        // JavaScript writes the keys in order.
                        (_, Ok(index)) if index == bytes.len() => bytes.push(entries.next_value()?),
                        _ => return Err(A::Error::custom("not bytes")),
                    }
                }
                Ok(Bytes(data.unwrap_or(bytes)))
            }
        }
        deserializer.deserialize_any(Numbers)
    }
}

/// Returns the media type and the base64 content of a data URL.
fn data_url(url: &str, long_runs: &LongRuns) -> Option<(Option<String>, String)> {
    let (scheme, rest) = url.split_at_checked(5)?;
    if !scheme.eq_ignore_ascii_case("data:") {
        return None;
    }
    let (head, content) = rest.split_once(',')?;
    let (kind, is_encoded) = match head.len().checked_sub(7).and_then(|at| head.split_at_checked(at)) {
        Some((kind, end)) if end.eq_ignore_ascii_case(";base64") => (kind, true),
        _ => (head, false),
    };
    let kind = Some(kind.split(';').next().unwrap_or_default().to_owned()).filter(|kind| !kind.is_empty());
    if is_encoded && let Some(base64) = long_base64(content, long_runs) {
        return Some((kind, base64));
    }
    let content = &*long_runs.put_back(content);
    if content.len() > MAX_REWRITTEN && !is_encoded {
        return None;
    }
    if content.len() > MAX_PERCENT_DECODED && content.contains('%') {
        return None;
    }
    let bytes = percent_decoded(content);
    if !is_encoded {
        return Some((kind, STANDARD.encode(bytes)));
    }
    standard_base64(&bytes).map(|base64| (kind, base64))
}

fn percent_decoded(text: &str) -> Cow<'_, [u8]> {
    if !text.contains('%') {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|hex| str::from_utf8(hex).ok());
        let decoded = hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    Cow::Owned(bytes)
}
