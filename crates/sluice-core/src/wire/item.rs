//! Output items and what is inside them. One flat shape for all item types: a reader looks at its kind first, and an
//! item of unknown type costs nothing.

use std::borrow::Cow;

use serde::Deserialize;

use super::lenient;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Item<'a> {
    #[serde(rename = "type", default, deserialize_with = "lenient::text", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub id: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub status: Option<Cow<'a, str>>,
    /// Of a message.
    #[serde(default, deserialize_with = "lenient::list", borrow)]
    pub content: Vec<ContentPart<'a>>,
    /// Of a reasoning item.
    #[serde(default, deserialize_with = "lenient::list", borrow)]
    pub summary: Vec<ContentPart<'a>>,
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub encrypted_content: Option<Cow<'a, str>>,
    /// Of a function call.
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub call_id: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub name: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::json_text", borrow)]
    pub arguments: Option<Cow<'a, str>>,
    /// Of a generated image: base64, and its format.
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub result: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub output_format: Option<Cow<'a, str>>,
}

impl Item<'_> {
    /// The item's type. One that was lost on the way is read off what only that kind of item has.
    pub fn kind(&self) -> &str {
        match self.kind.as_deref() {
            Some(kind) => kind,
            None if self.call_id.is_some() && self.arguments.is_some() => "function_call",
            None if self.encrypted_content.is_some() || !self.summary.is_empty() => "reasoning",
            None if !self.content.is_empty() => "message",
            None => "",
        }
    }
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct ContentPart<'a> {
    #[serde(rename = "type", default, deserialize_with = "lenient::text", borrow)]
    pub kind: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub text: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub refusal: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::list", borrow)]
    pub annotations: Vec<Annotation<'a>>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Annotation<'a> {
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub url: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub title: Option<Cow<'a, str>>,
}
