//! Validates input items and their content.

use serde_json::Value;

use super::{Checked, Field, TEXT};
use crate::base64;
use crate::problem::Problem;

const IMAGE: usize = 20_971_520;
const FILE: usize = 33_554_432;
const STATUSES: [&str; 3] = ["in_progress", "completed", "incomplete"];

pub(super) fn input(field: &Field) -> Checked {
    match field.value {
        Value::Null => Ok(()),
        Value::String(_) => field.string(0, TEXT).map(drop),
        Value::Array(_) => field.list()?.iter().try_for_each(item),
        _ => Err(field.wrong("a string or an array")),
    }
}

fn item(field: &Field) -> Checked {
    if !field.value.is_object() {
        return Err(field.wrong("an object"));
    }
    let kind = field.key("type");
    if kind.value.is_null() && field.value.get("role").is_none() {
        return field.key("id").string(1, TEXT).map(drop);
    }
    kind.word(&["message", "function_call", "function_call_output", "reasoning", "compaction", "item_reference"])?;
    field.key("id").string_or_null(TEXT)?;
    match kind.value.as_str().unwrap_or_default() {
        "message" => message(field),
        "function_call" => {
            field.key("call_id").name()?;
            field.key("name").name()?;
            arguments(&field.key("arguments"))?;
            field.key("status").word_or_null(&STATUSES)
        }
        "function_call_output" => {
            field.key("call_id").name()?;
            field.key("status").word_or_null(&STATUSES)?;
            content(&field.key("output"), &["input_text", "input_image", "input_file", "input_video"])
        }
        "reasoning" => reasoning(field),
        "compaction" => field.key("encrypted_content").string(1, TEXT).map(drop),
        _ => field.key("id").string(1, TEXT).map(drop),
    }
}

fn message(field: &Field) -> Checked {
    field.key("role").word(&["user", "assistant", "system", "developer"])?;
    field.key("status").string_or_null(TEXT)?;
    let parts: &[&str] = match field.value["role"].as_str() {
        Some("user") => &["input_text", "input_image", "input_file"],
        Some("assistant") => &["output_text", "refusal"],
        _ => &["input_text"],
    };
    if field.value["role"] == "assistant" {
        field.key("phase").word_or_null(&["commentary", "final_answer"])?;
    }
    content(&field.key("content"), parts)
}

/// Validates the arguments of an earlier call, because providers parse them again.
fn arguments(field: &Field) -> Checked {
    let text = field.string(0, TEXT)?;
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_)) => Ok(()),
        _ if text.trim().is_empty() => Ok(()),
        _ => Err(field.wrong("a JSON object as a string")),
    }
}

fn reasoning(field: &Field) -> Checked {
    for part in field.key("summary").list()? {
        part.key("type").word(&["summary_text"])?;
        part.key("text").string(0, TEXT)?;
    }
    for part in field.key("content").list_or_null()?.into_iter().flatten() {
        part.key("type").word(&["reasoning_text"])?;
        part.key("text").string(0, TEXT)?;
    }
    field.key("encrypted_content").string_or_null(usize::MAX)
}

fn content(field: &Field, kinds: &[&str]) -> Checked {
    if field.value.is_string() {
        return field.string(0, TEXT).map(drop);
    }
    let Value::Array(_) = field.value else { return Err(field.wrong("a string or an array")) };
    for part in field.list()? {
        part.key("type").word(kinds)?;
        match part.value["type"].as_str().unwrap_or_default() {
            "refusal" => drop(part.key("refusal").string(0, TEXT)?),
            "input_image" => image(&part)?,
            "input_file" => {
                part.key("filename").string_or_null(TEXT)?;
                part.key("file_url").string_or_null(TEXT)?;
                part.key("file_data").string_or_null(FILE)?;
            }
            "input_video" => drop(part.key("video_url").string(1, usize::MAX)?),
            kind => {
                part.key("text").string(0, TEXT)?;
                if kind == "output_text" {
                    part.key("annotations").list_or_null()?.into_iter().flatten().try_for_each(|a| citation(&a))?;
                }
            }
        }
    }
    Ok(())
}

fn citation(field: &Field) -> Checked {
    field.key("type").word(&["url_citation"])?;
    field.key("url").string(0, usize::MAX)?;
    field.key("title").string(0, usize::MAX)?;
    for key in ["start_index", "end_index"] {
        if field.value[key].as_u64().is_none() {
            return Err(field.key(key).wrong("an integer of at least 0"));
        }
    }
    Ok(())
}

/// Validates an image. Providers refuse it if the media type and the first bytes disagree.
fn image(field: &Field) -> Checked {
    field.key("detail").word_or_null(&["low", "high", "auto"])?;
    let url = field.key("image_url");
    if url.value.is_null() {
        return Ok(());
    }
    let text = url.string(1, IMAGE)?;
    if text.starts_with("https://") || text.starts_with("http://") {
        return Ok(());
    }
    let bad = |why: &str| Problem::invalid(&url.path, format!("Invalid image: {why}.")).code("invalid_image_url");
    let (kind, data) = text
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"))
        .ok_or_else(|| bad("expected an http(s) URL or a base64-encoded data URL"))?;
    if !["image/png", "image/jpeg", "image/webp", "image/gif"].contains(&kind) {
        return Err(bad("expected png, jpeg, webp or gif"));
    }
    if data.is_empty() || !base64::is_valid(data) {
        return Err(bad("its data is not valid base64"));
    }
    match base64::image_type(&base64::decode_start(data)) {
        Some(seen) if seen != kind => Err(bad(&format!("the media type is {kind}, but the data is {seen}"))),
        _ => Ok(()),
    }
}
