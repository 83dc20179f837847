//! Hostile streams that are described by a few bytes: a list of steps, each repeating one event. A search over such
//! lists finds pairs of events whose costs multiply.

use super::{Body, Input};

/// One kind of event, repeated for a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    template: u8,
    /// How ids and indexes are chosen.
    ids: u8,
    /// The text to use in the event.
    text: u8,
    /// How much of the stream consists of this step, relative to the other steps: 1 to 4.
    share: u8,
}

impl Step {
    /// The number of bytes that describe a step.
    pub const LENGTH: usize = 4;

    /// Decodes a step. Any bytes are valid.
    pub fn read(spelled: &[u8]) -> Vec<Self> {
        let step = |bytes: &[u8; Self::LENGTH]| {
            let [template, ids, text, share] = *bytes;
            Self { template, ids, text, share }
        };
        spelled.as_chunks::<{ Self::LENGTH }>().0.iter().map(step).collect()
    }

    /// Returns every event with every way to choose ids, and texts of one letter. Any of them may come before or after
    /// another.
    pub fn all(input: Input) -> Vec<Self> {
        let count = u8::try_from(templates(input).len()).unwrap_or(u8::MAX);
        let with = |template: u8| (0..2).map(move |ids| Self { template, ids, text: 0, share: 0 });
        (0..count).flat_map(with).collect()
    }

    /// Encodes the step.
    pub fn spell(self) -> [u8; Self::LENGTH] {
        [self.template, self.ids, self.text, self.share]
    }

    /// Returns the event with this number.
    fn event(self, templates: &[&str], number: usize) -> String {
        let id = match self.ids % 4 {
            0 => 0,
            1 => number,
            2 => 1_000_000 - number.min(1_000_000),
            _ => number % 7,
        };
        let text = match self.text % 8 {
            0 => "a".to_owned(),
            1 => String::new(),
            2 => number.to_string(),
            3 => format!(r#"{{\"a\":{number}}}"#),
            4 => r#"{\"a\":["#.to_owned(),
            5 => "https://a.b/0 ".repeat(9),
            6 => "a".repeat(3000),
            _ => r"\u00e4\ud800".to_owned(),
        };
        let template = templates[usize::from(self.template) % templates.len()];
        template.replace('#', &id.to_string()).replace('@', &text)
    }
}

/// Returns the stream of these steps, with `scale` bytes for each share. Doubling the scale doubles the stream.
pub fn body(input: Input, steps: &[Step], scale: usize) -> Vec<u8> {
    let templates = templates(input);
    let mut body = Body::default();
    for step in steps {
        let bytes = scale * (1 + usize::from(step.share % 4));
        body = match step.template {
            // One event whose text is as long as all the others together.
            200.. => {
                let long = Step { text: 1, ..*step }.event(templates, 0);
                body.event(&long.replace(r#""""#, &format!(r#""{}""#, "a".repeat(bytes))))
            }
            _ => body.events(bytes, |number| step.event(templates, number)),
        };
    }
    match input {
        Input::AiSdk => body.event("[DONE]").0,
        _ => body.completed(),
    }
}

fn templates(input: Input) -> &'static [&'static str] {
    if input == Input::AiSdk { CHUNKS } else { EVENTS }
}

/// Templates of events. `#` is replaced by an id or an index, and `@` by a text.
const EVENTS: &[&str] = &[
    r##"{"type":"response.created","response":{"id":"@","model":"@"}}"##,
    r##"{"type":"response.in_progress","response":{"usage":{"input_tokens":1,"x":"@"},"provider_metadata":{"x#":"@"}}}"##,
    r##"{"type":"response.output_item.added","output_index":#,"item":{"type":"message","id":"m#"}}"##,
    r##"{"type":"response.output_item.added","item":{"type":"message","id":"m#"}}"##,
    r##"{"type":"response.output_item.done","output_index":#,"item":{"type":"message","content":[{"type":"output_text","text":"@"}]}}"##,
    r##"{"type":"response.output_item.done","item":{"type":"message","id":"m#","content":[{"text":"@"},{"text":"@"}]}}"##,
    r##"{"type":"response.output_item.done","output_index":#,"item":{"type":"message"}}"##,
    r##"{"type":"response.output_text.delta","output_index":#,"delta":"@"}"##,
    r##"{"type":"response.output_text.delta","item_id":"m#","delta":"@"}"##,
    r##"{"type":"response.output_text.delta","output_index":0,"content_index":#,"delta":"@"}"##,
    r##"{"type":"response.output_text.delta","delta":"@"}"##,
    r##"{"type":"response.output_text.done","output_index":#,"text":"@"}"##,
    r##"{"type":"response.output_text.done","output_index":0,"content_index":#,"text":"@"}"##,
    r##"{"type":"response.content_part.done","output_index":#,"part":{"type":"output_text","text":"@","annotations":[{"url":"https://a.b/#"}]}}"##,
    r##"{"type":"response.content_part.done","output_index":#,"part":{"text":"@"}}"##,
    r##"{"type":"response.refusal.delta","output_index":#,"delta":"@"}"##,
    r##"{"type":"response.refusal.done","output_index":#,"refusal":"@"}"##,
    r##"{"type":"response.output_text.annotation.added","output_index":0,"annotation":{"url":"https://a.b/#","title":"@"}}"##,
    r##"{"type":"response.output_text.annotation.added","output_index":#,"annotation":{"url":"https://a.b/","title":"@"}}"##,
    r##"{"type":"response.output_item.added","output_index":#,"item":{"type":"reasoning","id":"@r#"}}"##,
    r##"{"type":"response.output_item.done","output_index":#,"item":{"type":"reasoning","encrypted_content":"@","summary":[{"text":"@"}]}}"##,
    r##"{"type":"response.output_item.done","item":{"type":"reasoning","id":"r#","content":[{"text":"@"}]}}"##,
    r##"{"type":"response.reasoning.delta","output_index":#,"delta":"@"}"##,
    r##"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":#,"delta":"@"}"##,
    r##"{"type":"response.reasoning_summary_text.done","output_index":0,"summary_index":#,"text":"@"}"##,
    r##"{"type":"response.output_item.added","output_index":#,"item":{"type":"function_call","call_id":"c#","name":"f"}}"##,
    r##"{"type":"response.output_item.added","output_index":#,"item":{"type":"function_call","call_id":"c","name":"@","arguments":"@"}}"##,
    r##"{"type":"response.output_item.added","item":{"type":"function_call","id":"i#","name":"f"}}"##,
    r##"{"type":"response.output_item.done","output_index":#,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"@"}}"##,
    r##"{"type":"response.output_item.done","output_index":#,"item":{"type":"function_call","call_id":"c","name":"f","arguments":{"x":"@#"}}}"##,
    r##"{"type":"response.output_item.done","output_index":#,"item":{"type":"function_call","call_id":"@c#","name":"@","arguments":"{}"}}"##,
    r##"{"type":"response.output_item.done","item":{"type":"function_call","id":"i#","name":"f","arguments":"{}"}}"##,
    r##"{"type":"response.output_item.done","output_index":#,"item":{"type":"function_call","call_id":"c#","status":"incomplete"}}"##,
    r##"{"type":"response.output_item.done","output_index":#,"item":{"type":"function_call"}}"##,
    r##"{"type":"response.function_call_arguments.delta","output_index":#,"delta":"@"}"##,
    r##"{"type":"response.function_call_arguments.delta","item_id":"i#","delta":"@"}"##,
    r##"{"type":"response.function_call_arguments.delta","delta":"@"}"##,
    r##"{"type":"response.function_call_arguments.done","output_index":#,"arguments":"@"}"##,
    r##"{"type":"response.function_call_arguments.done","item_id":"c#","arguments":"@"}"##,
    r##"{"type":"response.output_item.done","output_index":#,"item":{"type":"image_generation_call","result":"@#"}}"##,
    r##"{"type":"response.output_item.done","output_index":#,"item":{"type":"x#","name":"@"}}"##,
    r##"{"type":"response.unknown#"}"##,
    r##"{"type":"@","sequence_number":#}"##,
    r##"{"error":null,"message":"@"}"##,
    r##"not JSON "@""##,
    r##"["@"]"##,
];

const CHUNKS: &[&str] = &[
    r##"{"type":"text-start","id":"#"}"##,
    r##"{"type":"text-delta","id":"#","delta":"@"}"##,
    r##"{"type":"text-end","id":"#","providerMetadata":{"openai":{"annotations":[{"type":"url_citation","url":"https://a.b/#"}]}}}"##,
    r##"{"type":"reasoning-start","id":"@#"}"##,
    r##"{"type":"reasoning-delta","id":"@#","delta":"a"}"##,
    r##"{"type":"reasoning-delta","delta":"@"}"##,
    r##"{"type":"reasoning-end","id":"#","providerMetadata":{"x":{"itemId":"#","reasoningEncryptedContent":"@a"}}}"##,
    r##"{"type":"tool-input-start","toolCallId":"c#","toolName":"f"}"##,
    r##"{"type":"tool-input-start","toolCallId":"@","toolName":"f@"}"##,
    r##"{"type":"tool-input-delta","toolCallId":"c#","toolName":"f","delta":"@"}"##,
    r##"{"type":"tool-input-delta","delta":"@"}"##,
    r##"{"type":"tool-input-end","toolCallId":"c#"}"##,
    r##"{"type":"tool-input-end"}"##,
    r##"{"type":"tool-call","toolCallId":"c#","toolName":"f","input":{"a":"@"}}"##,
    r##"{"type":"tool-call","toolCallId":"c","toolName":"f","input":{"a":"@#"}}"##,
    r##"{"type":"tool-call","toolCallId":"c","toolName":"f#","input":"@"}"##,
    r##"{"type":"tool-call","toolName":"f","input":{"a":"@"}}"##,
    r##"{"type":"tool-call","toolCallId":"c#","toolName":"f","input":[],"providerExecuted":true}"##,
    r##"{"type":"tool-result","toolCallId":"c#","output":"@"}"##,
    r##"{"type":"source-url","url":"https://a.b/#","title":"@"}"##,
    r##"{"type":"file","mediaType":"image/png","data":"@"}"##,
    r##"{"type":"file","url":"data:image/png,@"}"##,
    r##"{"type":"data-x#","data":"@"}"##,
    r##"{"type":"finish-step","usage":{"inputTokens":#,"outputTokens":1}}"##,
    r##"{"type":"finish","finishReason":"@"}"##,
    r##"{"type":"reset-step"}"##,
    r##"{"type":"response-metadata","id":"@","modelId":"@"}"##,
    r##"{"type":"unknown#"}"##,
    r##"not JSON "@""##,
];
