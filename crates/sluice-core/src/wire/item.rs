//! Output items and what is inside them. One flat shape for all item types: a reader looks at its kind first, and an
//! item of unknown type costs nothing.

use std::borrow::Cow;

use super::json::Fields;

#[derive(Debug, Default)]
pub(crate) struct Item<'a> {
    kind: Option<Cow<'a, str>>,
    pub id: Option<Cow<'a, str>>,
    pub status: Option<Cow<'a, str>>,
    /// Of a message.
    pub content: Vec<ContentPart<'a>>,
    /// Of a reasoning item.
    pub summary: Vec<ContentPart<'a>>,
    pub encrypted_content: Option<Cow<'a, str>>,
    /// Of a function call.
    pub call_id: Option<Cow<'a, str>>,
    pub name: Option<Cow<'a, str>>,
    pub arguments: Option<Cow<'a, str>>,
    /// Of a generated image: base64, and its format.
    pub result: Option<Cow<'a, str>>,
    pub output_format: Option<Cow<'a, str>>,
}

impl<'a> Item<'a> {
    pub(crate) fn read(mut fields: Fields<'a>) -> Self {
        Self {
            kind: fields.text("type"),
            id: fields.text("id"),
            status: fields.text("status"),
            content: ContentPart::read_all(fields.objects("content")),
            summary: ContentPart::read_all(fields.objects("summary")),
            encrypted_content: fields.text("encrypted_content"),
            call_id: fields.text("call_id"),
            name: fields.text("name"),
            arguments: fields.json_text("arguments"),
            result: fields.text("result"),
            output_format: fields.text("output_format"),
        }
    }

    /// The item's type. One that was lost on the way is read off what only that kind of item has.
    pub(crate) fn kind(&self) -> &str {
        match self.kind.as_deref() {
            Some(kind) => kind,
            None if self.call_id.is_some() && self.arguments.is_some() => "function_call",
            None if self.encrypted_content.is_some() || !self.summary.is_empty() => "reasoning",
            None if !self.content.is_empty() => "message",
            None => "",
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct ContentPart<'a> {
    pub kind: Option<Cow<'a, str>>,
    pub text: Option<Cow<'a, str>>,
    pub refusal: Option<Cow<'a, str>>,
    pub annotations: Vec<Annotation<'a>>,
}

impl<'a> ContentPart<'a> {
    pub(crate) fn read(mut fields: Fields<'a>) -> Self {
        Self {
            kind: fields.text("type"),
            text: fields.text("text"),
            refusal: fields.text("refusal"),
            annotations: fields.objects("annotations").into_iter().map(Annotation::read).collect(),
        }
    }

    fn read_all(list: Vec<Fields<'a>>) -> Vec<Self> {
        list.into_iter().map(Self::read).collect()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Annotation<'a> {
    pub url: Option<Cow<'a, str>>,
    pub title: Option<Cow<'a, str>>,
}

impl<'a> Annotation<'a> {
    pub(crate) fn read(mut fields: Fields<'a>) -> Self {
        Self { url: fields.text("url"), title: fields.text("title") }
    }
}
