//! Which item of the stream an item of the final output is, and what the server gets back of them.

use expect_test::expect;
use sluice_core::{Output, Part};

use crate::receive::check;
use crate::support::run;

#[test]
fn what_the_server_gets_back_is_in_the_order_of_the_output() {
    check(
        r#"
        {"type":"output_item.done","output_index":2,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}}
        {"type":"output_text.delta","output_index":1,"delta":"Hi"}
        {"type":"output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","encrypted_content":"e"}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            call gw-c1 f {}
            text "Hi"
            replay rs_1 ThinkingReplay { model: None, origin: None, items: [Reasoning(ReasoningItem { id: Some("rs_1"), encrypted_content: Some("e"), summary: [], content: [], signature: None }), Message(ReplayMessage { phase: None, bytes: 2, hash: 3048969658 }), Call("gw-c1")] }
            Completed
        "#]],
    );
    check(
        r#"
        {"type":"output_text.delta","output_index":4,"delta":"Hi"}
        {"type":"output_item.done","output_index":3,"item":{"type":"reasoning","id":"rs_1","encrypted_content":"e"}}
        {"type":"output_item.done","output_index":2,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            text "Hi"
            call gw-c1 f {}
            replay rs_1 ThinkingReplay { model: None, origin: None, items: [Call("gw-c1"), Reasoning(ReasoningItem { id: Some("rs_1"), encrypted_content: Some("e"), summary: [], content: [], signature: None }), Message(ReplayMessage { phase: None, bytes: 2, hash: 3048969658 })] }
            Completed
        "#]],
    );
    // An item without an index leaves only the order of arrival.
    check(
        r#"
        {"type":"output_text.delta","output_index":1,"delta":"Hi"}
        {"type":"output_item.done","item":{"type":"reasoning","id":"rs_1","encrypted_content":"e"}}
        {"type":"output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            text "Hi"
            call gw-c1 f {}
            replay rs_1 ThinkingReplay { model: None, origin: None, items: [Message(ReplayMessage { phase: None, bytes: 2, hash: 3048969658 }), Reasoning(ReasoningItem { id: Some("rs_1"), encrypted_content: Some("e"), summary: [], content: [], signature: None }), Call("gw-c1")] }
            Completed
        "#]],
    );
}

#[test]
fn a_whole_part_of_reasoning_is_thinking_even_without_its_type() {
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1"}}
        {"type":"content_part.done","output_index":0,"content_index":0,"part":{"type":"reasoning_text","text":"One."}}
        {"type":"content_part.done","output_index":0,"content_index":1,"part":{"text":"Two."}}
        {"type":"output_item.added","output_index":1,"item":{"type":"message","id":"msg_1"}}
        {"type":"content_part.done","output_index":1,"content_index":0,"part":{"text":"Three."}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            thinking rs_1 "One."
            thinking rs_1:1 "\n\nTwo."
            text "Three."
            replay rs_1 ThinkingReplay { model: None, origin: None, items: [Reasoning(ReasoningItem { id: Some("rs_1"), encrypted_content: None, summary: [], content: ["One.", "Two."], signature: None }), Message(ReplayMessage { phase: None, bytes: 6, hash: 1891953015 })] }
            Completed
        "#]],
    );
}

#[test]
fn arguments_may_be_in_the_announcement_only() {
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1}"}}
        {"type":"output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"f"}}
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":2}"}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            call gw-c1 f {"a":1}
            Completed
        "#]],
    );
}

#[test]
fn a_call_is_not_reported_before_its_call_id_is_known() {
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","name":"f"}}
        {"type":"function_call_arguments.done","output_index":0,"item_id":"fc_1","arguments":"{}"}
        {"type":"output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            call gw-c1 f {}
            Completed
        "#]],
    );
}

#[test]
fn another_index_or_another_name_alone_does_not_mean_another_call() {
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","name":"f"}}
        {"type":"output_item.done","output_index":1,"item":{"type":"function_call","id":"fc_1","name":"f","arguments":"{}"}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            call gw-fc_1 f {}
            Completed
        "#]],
    );
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","name":"f"}}
        {"type":"output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","name":"g","arguments":"{}"}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            call gw-fc_1 g {}
            Completed
        "#]],
    );
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","name":"f"}}
        {"type":"output_item.done","output_index":1,"item":{"type":"function_call","id":"fc_1","name":"g","arguments":"{}"}}
        {"type":"output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","name":"f","arguments":"{}"}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            call gw-fc_1 f {}
            call gw-fc_1-2 g {}
            Completed
        "#]],
    );
}

#[test]
fn open_calls_get_the_arguments_of_their_own_call_id() {
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"f"}}
        {"type":"output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c2","name":"g"}}
        {"type":"completed","response":{"output":[{"type":"function_call","call_id":"c2","name":"g","arguments":"{\"a\":2}"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1}"}]}}
        "#,
        expect![[r#"
            call gw-c1 f {"a":1}
            call gw-c2 g {"a":2}
            Completed
        "#]],
    );
    // The same with one call id for all: then their order counts.
    check(
        r#"
        {"type":"output_item.added","output_index":11,"item":{"type":"function_call","call_id":"c","name":"f"}}
        {"type":"output_item.added","output_index":12,"item":{"type":"function_call","call_id":"c","name":"g"}}
        {"type":"output_item.added","output_index":13,"item":{"type":"function_call","call_id":"c","name":"h"}}
        {"type":"completed","response":{"output":[{"type":"function_call","call_id":"c","arguments":"{\"a\":1}"},{"type":"function_call","call_id":"c","arguments":"{\"a\":2}"},{"type":"function_call","call_id":"c","arguments":"{\"a\":3}"}]}}
        "#,
        expect![[r#"
            call gw-c f {"a":1}
            call gw-c-2 g {"a":2}
            call gw-c-3 h {"a":3}
            Completed
        "#]],
    );
    // An empty call id isn't one.
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"f"}}
        {"type":"completed","response":{"output":[{"type":"function_call","call_id":"","name":"f","arguments":"{}"}]}}
        "#,
        expect![[r#"
            call gw-c1 f {}
            Completed
        "#]],
    );
}

#[test]
fn calls_with_the_same_index_are_told_apart_by_their_call_ids() {
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"f"}}
        {"type":"function_call_arguments.delta","output_index":0,"delta":"{\"a\":"}
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c2","name":"g"}}
        {"type":"output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1}"}}
        {"type":"output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c2","name":"g","arguments":"{\"a\":2}"}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            call gw-c1 f {"a":1}
            call gw-c2 g {"a":2}
            Completed
        "#]],
    );
}

#[test]
fn a_part_without_a_type_is_text_unless_only_reasoning_has_its_address() {
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1"}}
        {"type":"content_part.done","output_index":7,"content_index":0,"part":{"text":"One."}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            text "One."
            Completed
        "#]],
    );
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1"}}
        {"type":"output_item.added","output_index":0,"item":{"type":"message","id":"msg_1"}}
        {"type":"content_part.done","output_index":0,"content_index":0,"part":{"text":"One."}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            text "One."
            Completed
        "#]],
    );
}

#[test]
fn the_phase_of_a_message_may_be_in_the_announcement_only() {
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"message","id":"msg_1","phase":"commentary"}}
        {"type":"output_text.delta","output_index":0,"delta":"Hi"}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            text "Hi"
            replay thinking-0 ThinkingReplay { model: None, origin: None, items: [Message(ReplayMessage { phase: Some("commentary"), bytes: 2, hash: 3048969658 })] }
            Completed
        "#]],
    );
}

#[test]
fn white_space_before_thinking_is_shown_with_it() {
    check(
        r#"
        {"type":"reasoning.delta","output_index":0,"delta":" "}
        {"type":"reasoning.delta","output_index":0,"delta":"\n"}
        {"type":"reasoning.delta","output_index":0,"delta":"One."}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            thinking thinking-0 " \nOne."
            replay thinking-0 ThinkingReplay { model: None, origin: None, items: [Reasoning(ReasoningItem { id: None, encrypted_content: None, summary: [], content: [" \nOne."], signature: None })] }
            Completed, empty: ThinkingOnly
        "#]],
    );
}

#[test]
fn images_that_differ_in_one_letter_are_two_images() {
    check(
        r#"
        {"type":"output_item.done","output_index":0,"item":{"type":"image_generation_call","result":"AAAAAAAAAAAAAAAAAAAAAAAA"}}
        {"type":"output_item.done","output_index":1,"item":{"type":"image_generation_call","result":"ACAAAAAAAAAAAAAAAAAAAAAA"}}
        {"type":"output_item.done","output_index":2,"item":{"type":"image_generation_call","result":"AAAAAAAAAAAACAAAAAAAAAAA"}}
        {"type":"output_item.done","output_index":3,"item":{"type":"image_generation_call","result":"AAAAAAAAAAAAAAAAAAAAAAAA"}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            data image/png AAAAAAAAAAAAAAAAAAAAAAAA
            data image/png ACAAAAAAAAAAAAAAAAAAAAAA
            data image/png AAAAAAAAAAAACAAAAAAAAAAA
            Completed
        "#]],
    );
}

/// The strings that were taken out of a long event can be read only once.
#[test]
fn an_image_beside_half_a_surrogate_pair_is_not_lost() {
    let image = "A".repeat(100_000);
    let item = format!(r#"{{"type":"image_generation_call","result":"{image}","revised_prompt":"\ud83d"}}"#);
    let body = format!("data: {{\"type\":\"response.output_item.done\",\"item\":{item}}}\n\n");
    for chunk in [1000, 100_000, 1_000_000] {
        let (outputs, _) = run(body.as_bytes(), chunk);
        assert!(matches!(&outputs[..], [Output::Part(Part::Data { base64, .. })] if *base64 == image), "{chunk}");
    }
}
