//! The shapes of events and objects in Open Responses (2026-04-24), in a notation for these tests, and a checker for
//! it.
//!
//! A shape is a list of `name:type`; `name?:type` may be absent. A type consists of alternatives separated by `|`:
//! `string`, `int`, `number`, `bool`, `null`, `any`, `'literal'`, `[type]` for a list, or the name of another shape.
//! Fields that aren't listed are errors, although the specification would allow them.

use serde_json::Value;

const SHAPES: &[(&str, &str)] = &[
    (
        "Usage",
        "input_tokens:int output_tokens:int total_tokens:int input_tokens_details:Cached output_tokens_details:Thought",
    ),
    ("Cached", "cached_tokens:int"),
    ("Thought", "reasoning_tokens:int"),
    ("Reason", "reason:string"),
    ("Error", "code:string message:string"),
    ("Tool", "type:'function' name:string description:string|null parameters:any strict:bool|null"),
    ("NamedTool", "type:'function' name:string"),
    ("AllowedTools", "type:'allowed_tools' tools:[NamedTool] mode:'none'|'auto'|'required'"),
    ("Text", "format:TextFormat|ObjectFormat|SchemaFormat verbosity?:'low'|'medium'|'high'"),
    ("TextFormat", "type:'text'"),
    ("ObjectFormat", "type:'json_object'"),
    ("SchemaFormat", "type:'json_schema' name:string description:string|null schema:null strict:bool"),
    ("Reasoning", "effort:'none'|'low'|'medium'|'high'|'xhigh'|null summary:'concise'|'detailed'|'auto'|null"),
    ("UrlCitation", "type:'url_citation' url:string start_index:int end_index:int title:string"),
    ("OutputText", "type:'output_text' text:string annotations:[UrlCitation]"),
    ("Refusal", "type:'refusal' refusal:string"),
    ("ReasoningText", "type:'reasoning_text' text:string"),
    ("SummaryText", "type:'summary_text' text:string"),
    (
        "Message",
        "type:'message' id:string status:'in_progress'|'completed'|'incomplete' role:'assistant' \
        content:[OutputText|Refusal] phase?:'commentary'|'final_answer'",
    ),
    (
        "FunctionCall",
        "type:'function_call' id:string call_id:string name:string arguments:string \
        status:'in_progress'|'completed'|'incomplete'",
    ),
    (
        "ReasoningItem",
        "type:'reasoning' id:string summary:[SummaryText] content?:[ReasoningText] encrypted_content?:string",
    ),
    ("Compaction", "type:'compaction' id:string encrypted_content:string created_by?:string"),
    (
        "Response",
        "id:string object:'response' created_at:int completed_at:int|null status:string incomplete_details:Reason|null \
        model:string previous_response_id:string|null instructions:string|null \
        output:[Message|FunctionCall|ReasoningItem|Compaction] error:Error|null tools:[Tool] \
        tool_choice:'none'|'auto'|'required'|NamedTool|AllowedTools truncation:'auto'|'disabled' parallel_tool_calls:bool \
        text:Text top_p:number presence_penalty:number frequency_penalty:number top_logprobs:int temperature:number \
        reasoning:Reasoning|null usage:Usage|null max_output_tokens:int|null max_tool_calls:int|null store:bool \
        background:bool service_tier:string metadata:any safety_identifier:string|null prompt_cache_key:string|null \
        provider_metadata?:any",
    ),
    ("Compacted", "id:string object:'response.compaction' output:[Compaction] created_at:int usage:Usage"),
    ("StreamError", "type:string code:string|null message:string param:string|null"),
    ("SocketError", "type:'error' status:int error:SocketProblem"),
    ("SocketProblem", "type?:string code:string message:string param?:string|null"),
];

const POSITION: &str = "item_id:string output_index:int content_index:int";
const SUMMARY_POSITION: &str = "item_id:string output_index:int summary_index:int";

/// Returns the fields of an event in addition to its type and number.
fn event_shape(kind: &str) -> Option<String> {
    Some(match kind {
        "response.created"
        | "response.queued"
        | "response.in_progress"
        | "response.completed"
        | "response.failed"
        | "response.incomplete" => "response:Response".into(),
        "response.output_item.added" | "response.output_item.done" => {
            "output_index:int item:Message|FunctionCall|ReasoningItem|Compaction".into()
        }
        "response.content_part.added" | "response.content_part.done" => {
            format!("{POSITION} part:OutputText|Refusal|ReasoningText")
        }
        "response.output_text.delta" | "response.refusal.delta" | "response.reasoning.delta" => {
            format!("{POSITION} delta:string")
        }
        "response.output_text.done" | "response.reasoning.done" => format!("{POSITION} text:string"),
        "response.refusal.done" => format!("{POSITION} refusal:string"),
        "response.output_text.annotation.added" => format!("{POSITION} annotation_index:int annotation:UrlCitation"),
        "response.function_call_arguments.delta" => "item_id:string output_index:int delta:string".into(),
        "response.function_call_arguments.done" => "item_id:string output_index:int arguments:string".into(),
        "response.reasoning_summary_part.added" | "response.reasoning_summary_part.done" => {
            format!("{SUMMARY_POSITION} part:SummaryText")
        }
        "response.reasoning_summary_text.delta" => format!("{SUMMARY_POSITION} delta:string"),
        "response.reasoning_summary_text.done" => format!("{SUMMARY_POSITION} text:string"),
        "error" => "error:StreamError".into(),
        _ => return None,
    })
}

/// Returns an error if the event is invalid.
pub fn check_event(event: &Value) -> Result<(), String> {
    let kind = event["type"].as_str().ok_or("an event without a type")?;
    let shape = event_shape(kind).ok_or_else(|| format!("there is no event {kind}"))?;
    fields(event, &format!("type:string sequence_number:int {shape}")).map_err(|error| format!("{kind}: {error}"))
}

/// Returns an error if the value doesn't have this shape.
pub fn check(value: &Value, kind: &str) -> Result<(), String> {
    let (alternatives, inside) = (split(kind), |inner: &str| inner.starts_with('[') && inner.ends_with(']'));
    if let [one] = alternatives[..] {
        let right = match one {
            "any" => true,
            "null" => value.is_null(),
            "string" => value.is_string(),
            "int" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "bool" => value.is_boolean(),
            literal if literal.starts_with('\'') => value.as_str() == Some(literal.trim_matches('\'')),
            list if inside(list) => {
                let elements = value.as_array().ok_or_else(|| format!("{value} isn't a list"))?;
                return elements.iter().try_for_each(|element| check(element, &list[1..list.len() - 1]));
            }
            shape => {
                let (_, shape) = SHAPES.iter().find(|(name, _)| *name == shape).expect("a known shape");
                return fields(value, shape);
            }
        };
        return if right { Ok(()) } else { Err(format!("{value} is not {one}")) };
    }
    let errors: Vec<String> = alternatives.iter().filter_map(|one| check(value, one).err()).collect();
    if errors.len() < alternatives.len() { Ok(()) } else { Err(errors.join("; ")) }
}

/// Splits a type into its alternatives, except those inside a list.
fn split(kind: &str) -> Vec<&str> {
    let mut depth = 0;
    kind.split(|c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == '|' && depth == 0
    })
    .collect()
}

fn fields(value: &Value, shape: &str) -> Result<(), String> {
    let object = value.as_object().ok_or_else(|| format!("{value} isn't an object"))?;
    let mut known = Vec::new();
    for field in shape.split_whitespace() {
        let (name, kind) = field.split_once(':').expect("name and type");
        let (name, optional) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
        known.push(name);
        match object.get(name) {
            Some(value) => check(value, kind).map_err(|error| format!("{name}: {error}"))?,
            None if optional => {}
            None => return Err(format!("{name} is missing")),
        }
    }
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("{key} is unexpected")),
        None => Ok(()),
    }
}

#[test]
fn the_checker_finds_mistakes() {
    let usage = serde_json::json!({ "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
        "input_tokens_details": { "cached_tokens": 0 }, "output_tokens_details": { "reasoning_tokens": 0 } });
    assert_eq!(check(&usage, "Usage|null"), Ok(()));
    for (path, value) in [("/input_tokens", 1.5.into()), ("/output_tokens_details", Value::Null)] {
        let mut wrong = usage.clone();
        *wrong.pointer_mut(path).expect("a field") = value;
        assert!(check(&wrong, "Usage").is_err());
    }
    let (_, response) = SHAPES.iter().find(|(name, _)| *name == "Response").expect("a response");
    let required = response.split_whitespace().filter(|field| !field.contains("?:"));
    assert_eq!(required.count(), 31);
}
