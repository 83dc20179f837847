//! Compares counts of one request of an agent with what the published chat templates make of it.
//!
//! Its tools have nested objects, lists of objects, references, listed values and alternatives; it contains calls at the same
//! time, results with code and with JSON, and texts in several scripts.

use serde_json::{Value, json};
use sluice_core::Counter;

const REQUEST: &str = include_str!("data/agent_request.json");
/// How far off a count may be, in per cent. None of these families is counted with its own vocabulary, except gpt-oss.
const OFF: u32 = 8;

/// Returns our count of the request. Some templates support only one call at a time.
fn count(model: &str, server: &str, has_second_call: bool) -> u32 {
    let mut request: Value = serde_json::from_str(REQUEST).unwrap();
    request["model"] = Value::from(model);
    if !has_second_call {
        request["input"].as_array_mut().unwrap().retain(|item| item["call_id"] != "call_2");
    }
    let counted = Counter::exact().for_server(server).request_body(request.to_string().as_bytes()).unwrap();
    assert_eq!(counted.notes, [""; 0]);
    counted.input_tokens
}

/// The expected counts are those of the rendered template, with the model's own vocabulary and special tokens.
#[test]
fn an_agents_request_is_counted_as_the_templates_write_it() {
    let together = "https://api.together.xyz";
    for (model, server, has_second_call, rendered) in [
        ("meta/llama-3.3-70b", together, false, 1_094),
        ("deepseek/deepseek-v3.2", "", true, 1_171),
        ("deepseek/deepseek-v4-flash", "", true, 1_139),
        ("alibaba/qwen2.5-72b-instruct", "", true, 973),
        ("alibaba/qwen3-32b", "", true, 964),
        ("alibaba/qwen3-coder", "", true, 1_135),
        ("alibaba/qwen3.5-35b-a3b", "", true, 1_087),
        ("moonshotai/kimi-k2", "", true, 886),
        ("moonshotai/kimi-k2-thinking", "", true, 891),
        ("zai/glm-4.6", "", true, 961),
        ("zai/glm-4.7", "", true, 935),
        ("minimax/minimax-m2", "", true, 982),
        ("openai/gpt-oss-120b", "", true, 624),
    ] {
        let counted = count(model, server, has_second_call);
        assert!(counted.abs_diff(rendered) * 100 <= rendered * OFF, "{model}: {counted} for {rendered}");
    }
}

/// Llama's template writes results as JSON strings. A program has many quotes and line breaks, which are then escaped.
#[test]
fn results_are_escaped_where_the_template_does_it() {
    let cost = |model: &str, output: &str| {
        let body = json!({"model": model, "input": [
            {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": output}]});
        Counter::exact().request_body(body.to_string().as_bytes()).unwrap().tool_results
    };
    let code = "fn main() {\n    println!(\"{}\", \"a\");\n}\n".repeat(20);
    let words = "Nothing was found. ".repeat(20);
    for (model, is_longer) in [("meta/llama-3.3-70b", true), ("meta/llama3-70b", false), ("alibaba/qwen3-32b", false)] {
        let as_text = |output: &str| Counter::exact().text(model, output);
        assert!(cost(model, &words) < as_text(&words) + 15, "{model}");
        assert_eq!(cost(model, &code) > as_text(&code) + 40, is_longer, "{model}");
    }
}

#[test]
fn groqs_prompt_for_tools_depends_on_the_model() {
    let count = |model: &str| count(model, "https://api.groq.com/openai/v1", true);
    let [three, gemma, newer] = ["llama3-70b-8192", "gemma2-9b-it", "llama-3.3-70b-versatile"].map(count);
    assert!(three > newer + 500 && gemma > newer + 500, "{three} {gemma} {newer}");
}

/// Claude writes the calls of a turn into one block, and each argument with its own tag. The overheads are the medians of 165
/// recorded requests from 13 repositories.
#[test]
fn claudes_calls_share_a_block_and_arguments_have_tags() {
    const MODEL: &str = "anthropic/claude-sonnet-4.5";
    let overhead = |calls: u32, arguments: &str| {
        let called = (0..calls).map(
            |call| json!({"type": "function_call", "call_id": call.to_string(), "name": "add", "arguments": arguments}),
        );
        let given =
            (0..calls).map(|call| json!({"type": "function_call_output", "call_id": call.to_string(), "output": "5"}));
        let body = json!({"model": MODEL, "input": called.chain(given).collect::<Vec<_>>()}).to_string();
        let counted = Counter::exact().request_body(body.as_bytes()).unwrap();
        let words: u32 = ["add", arguments, "5"].iter().map(|text| Counter::exact().text(MODEL, text)).sum();
        counted.tool_calls + counted.tool_results - words * calls
    };
    for (calls, arguments, recorded) in [
        (1, r"{}", 45),
        (1, r#"{"a":2}"#, 55),
        (1, r#"{"a":2,"b":3}"#, 67),
        (2, r"{}", 117),
        (2, r#"{"a":2}"#, 135),
        (2, r#"{"a":2,"b":3}"#, 154),
    ] {
        let counted = overhead(calls, arguments);
        assert!(counted.abs_diff(recorded) <= 3 * calls, "{calls} {arguments}: {counted} for {recorded}");
    }
}
