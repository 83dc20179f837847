//! What is neither text nor a call: files, sources, the application's own data. Everything becomes a data part; nothing is
//! ever fetched.

use std::borrow::Cow;
use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::fields::{Fields, string};
use crate::boundary::{NoteKind, Part};
use crate::receive::{Sink, image_type, protocol_word};

const CITATION: &str = "application/vnd.vscode.citation+json";

#[derive(Clone, Debug, Default)]
pub(super) struct Data {
    /// Addresses, or ids, of the sources given: every mention of one is a chunk of its own.
    sources: BTreeSet<String>,
}

impl Data {
    /// `file` (the SDK's file object, or the fields of one), a data URL, or an address.
    pub fn file(chunk: &Fields<'_>, sink: &mut Sink) {
        let file = chunk.object(&["file"]).unwrap_or_else(|| chunk.clone());
        let named = file.word(&["mediaType", "mimeType"]).or_else(|| chunk.word(&["mediaType", "mimeType"]));
        let url = file.word(&["url"]).or_else(|| chunk.word(&["url"]));
        let bytes = ["base64", "base64Data", "data", "uint8Array", "uint8ArrayData"];
        let content = bytes.iter().find_map(|name| file.json(&[name]).and_then(base64_of));
        let in_url = || url.as_deref().and_then(data_url);
        match content.map(|base64| (None, base64)).or_else(in_url) {
            Some((in_url, base64)) => {
                let named = named.map(Cow::into_owned).or(in_url).map(|name| media_type(&name));
                let mime_type = named.filter(|name| !name.is_empty());
                let mime_type = mime_type.or_else(|| image_type(&base64).map(str::to_owned));
                let mime_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
                sink.part(Part::Data { mime_type, base64 });
            }
            None => match url {
                Some(url) if !url.starts_with("data:") => {
                    let mut reference = Map::new();
                    reference.insert("type".to_owned(), "file".into());
                    reference.insert("url".to_owned(), url.into());
                    if let Some(named) = named {
                        reference.insert("mediaType".to_owned(), named.into());
                    }
                    json_part("application/vnd.vercel.file+json", &Value::Object(reference).to_string(), sink);
                }
                _ => sink.note(NoteKind::IgnoredContent, "file"),
            },
        }
    }

    /// A `source` of `fullStream`, or `source-url` and `source-document`; all in one shape.
    pub fn source(&mut self, chunk: &Fields<'_>, sink: &mut Sink) {
        let source = chunk.object(&["source"]).unwrap_or_else(|| chunk.clone());
        let id = source.word(&["sourceId", "id"]);
        let url = source.word(&["url"]);
        let mut citation = Map::new();
        citation.insert("type".to_owned(), "citation".into());
        citation.insert("sourceType".to_owned(), if url.is_some() { "url" } else { "document" }.into());
        let fields = [
            ("sourceId", id),
            ("url", url),
            ("title", source.word(&["title"])),
            ("mediaType", source.word(&["mediaType", "mimeType"])),
            ("filename", source.word(&["filename"])),
        ];
        let is_same = |name| fields.iter().find(|(field, _)| *field == name).and_then(|(_, value)| value.as_deref());
        let key = is_same("url").or_else(|| is_same("sourceId")).or_else(|| is_same("title")).map(str::to_owned);
        let Some(key) = key else {
            sink.note(NoteKind::IgnoredContent, "source");
            return;
        };
        if !self.sources.insert(key) {
            return;
        }
        for (name, value) in fields {
            if let Some(value) = value {
                citation.insert(name.to_owned(), value.into());
            }
        }
        json_part(CITATION, &Value::Object(citation).to_string(), sink);
    }

    /// Providers that have sources and no chunk for them leave them where the text ends.
    pub fn sources_of_text(&mut self, end: &Fields<'_>, sink: &mut Sink) {
        let mut sources = end.list("citations");
        if let Some(metadata) = end.object(&["providerMetadata"]) {
            let providers = metadata.iter().filter_map(|(_, json)| Fields::read(json));
            sources.extend(providers.flat_map(|provider| provider.list("annotations")));
        }
        for source in sources.iter().filter_map(|json| Fields::read(json)) {
            let is_web = source.word(&["url"]).is_some_and(|url| url.starts_with("http"));
            if is_web {
                // An annotation's own id, where it has one, names the text and not the source.
                self.source(&source, sink);
            }
        }
    }

    /// `data-NAME`: the value as it is.
    pub fn custom(name: &str, chunk: &Fields<'_>, sink: &mut Sink) {
        let name = protocol_word(name);
        let name = if name.is_empty() { "data" } else { &name };
        json_part(&format!("application/vnd.vercel.{name}+json"), chunk.json(&["data"]).unwrap_or("null"), sink);
    }

    /// A tool that the provider ran may have made an image.
    pub fn image_of_tool(output: &str, sink: &mut Sink) {
        let Some(result) = Fields::read(output).and_then(|output| output.text(&["result"])) else { return };
        if let Some(mime_type) = image_type(&result).filter(|_| is_base64(&result)) {
            sink.part(Part::Data { mime_type: mime_type.to_owned(), base64: result.into_owned() });
        }
    }
}

fn json_part(mime_type: &str, json: &str, sink: &mut Sink) {
    sink.part(Part::Data { mime_type: mime_type.to_owned(), base64: STANDARD.encode(json) });
}

/// Without anything that could not stand in a header.
fn media_type(name: &str) -> String {
    name.trim().chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(200).collect()
}

fn is_base64(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
}

/// The content of a file, however it was written: base64 text, a list of bytes, what `JSON.stringify` makes of a
/// `Uint8Array` (`{"0":137,…}`) or of a Node buffer (`{"type":"Buffer","data":[…]}`).
fn base64_of(json: &str) -> Option<String> {
    if let Some(text) = string(json) {
        if let Some((_, base64)) = data_url(&text) {
            return Some(base64);
        }
        let compact: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let standard = compact.replace('-', "+").replace('_', "/");
        return is_base64(&standard).then(|| padded(standard));
    }
    let bytes: Vec<u8> = match serde_json::from_str::<Value>(json).ok()? {
        Value::Array(list) => numbers(&list)?,
        Value::Object(fields) => {
            if let Some(Value::Array(list)) = fields.get("data") {
                numbers(list)?
            } else {
                let mut bytes = vec![0; fields.len()];
                for (place, value) in &fields {
                    *bytes.get_mut(place.parse::<usize>().ok()?)? = byte(value)?;
                }
                bytes
            }
        }
        _ => return None,
    };
    (!bytes.is_empty()).then(|| STANDARD.encode(bytes))
}

fn padded(mut base64: String) -> String {
    while !base64.len().is_multiple_of(4) {
        base64.push('=');
    }
    base64
}

fn numbers(list: &[Value]) -> Option<Vec<u8>> {
    list.iter().map(byte).collect()
}

fn byte(value: &Value) -> Option<u8> {
    value.as_u64().and_then(|number| u8::try_from(number).ok())
}

/// Media type and base64 content of a data URL.
fn data_url(url: &str) -> Option<(Option<String>, String)> {
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
    let bytes = percent_decoded(content);
    if !is_encoded {
        return Some((kind, STANDARD.encode(bytes)));
    }
    let text: String = String::from_utf8(bytes).ok()?.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let standard = text.replace('-', "+").replace('_', "/");
    is_base64(&standard).then(|| (kind, padded(standard)))
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|hex| str::from_utf8(hex).ok());
        let decoded = hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    bytes
}
