//! Output items and their contents. All item types share one flat struct: a reader checks the kind first, and an item
//! of unknown type needs nothing.

use std::borrow::Cow;

use super::json::{FieldName, Fields, Json};

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind<'a> {
    Message,
    Reasoning,
    FunctionCall,
    ImageGenerationCall,
    /// Any other kind, with the server's name for it.
    Other(&'a str),
}

impl<'a> ItemKind<'a> {
    fn named(name: &'a str) -> Self {
        match name {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" => Self::FunctionCall,
            "image_generation_call" => Self::ImageGenerationCall,
            other => Self::Other(other),
        }
    }

    /// Returns the protocol's name for it.
    pub(crate) fn name(self) -> &'a str {
        match self {
            Self::Message => "message",
            Self::Reasoning => "reasoning",
            Self::FunctionCall => "function_call",
            Self::ImageGenerationCall => "image_generation_call",
            Self::Other(other) => other,
        }
    }
}

/// Data that a server sent as base64.
#[derive(Debug)]
pub(crate) enum Base64<'a> {
    /// A long text that is known to have no other characters; the padding at its end may still be wrong.
    Checked(String),
    Unchecked(Cow<'a, str>),
}

#[derive(Debug, Default)]
pub(crate) struct Item<'a> {
    kind: Option<Cow<'a, str>>,
    pub id: Option<Cow<'a, str>>,
    pub status: Option<Cow<'a, str>>,
    /// Fields of messages.
    pub content: Vec<ContentPart<'a>>,
    pub phase: Option<Cow<'a, str>>,
    /// Fields of reasoning items, which also have `content`.
    pub summary: Vec<ContentPart<'a>>,
    pub encrypted_content: Option<Cow<'a, str>>,
    pub signature: Option<Cow<'a, str>>,
    /// Fields of function calls.
    pub call_id: Option<Cow<'a, str>>,
    pub name: Option<Cow<'a, str>>,
    pub arguments: Option<Cow<'a, str>>,
    /// Fields of generated images: the content, and its format.
    pub result: Option<Base64<'a>>,
    pub output_format: Option<Cow<'a, str>>,
}

impl<'a> Item<'a> {
    pub(crate) fn read(mut fields: Fields<'a>) -> Self {
        Self {
            kind: fields.text(FieldName::Type),
            id: fields.id(FieldName::Id),
            status: fields.text(FieldName::Status),
            content: ContentPart::read_all(fields.objects(FieldName::Content)),
            summary: ContentPart::read_all(fields.objects(FieldName::Summary)),
            encrypted_content: fields.text(FieldName::EncryptedContent),
            phase: fields.text(FieldName::Phase),
            signature: fields.text(FieldName::Signature),
            call_id: fields.id(FieldName::CallId),
            name: fields.text(FieldName::Name),
            arguments: fields.json_text(FieldName::Arguments),
            result: match fields.take(FieldName::Result) {
                Json::Base64(base64) => Some(Base64::Checked(base64)),
                Json::Text(text) => Some(Base64::Unchecked(text)),
                _ => None,
            },
            output_format: fields.text(FieldName::OutputFormat),
        }
    }

    /// Returns the item's kind. If its type was lost, it is recognized by fields that only this kind of item has.
    pub(crate) fn kind(&self) -> ItemKind<'_> {
        match self.kind.as_deref() {
            Some(name) => ItemKind::named(name),
            None if self.call_id.is_some() && self.arguments.is_some() => ItemKind::FunctionCall,
            None if self.encrypted_content.is_some() || !self.summary.is_empty() => ItemKind::Reasoning,
            None if !self.content.is_empty() => ItemKind::Message,
            None => ItemKind::Other(""),
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
            kind: fields.text(FieldName::Type),
            text: fields.text(FieldName::Text),
            refusal: fields.text(FieldName::Refusal),
            annotations: fields.objects(FieldName::Annotations).into_iter().map(Annotation::read).collect(),
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
        Self { url: fields.text(FieldName::Url), title: fields.text(FieldName::Title) }
    }
}
