//! A model as VS Code lists it. All of its text may come from a server, and VS Code shows much of it as Markdown, in which even
//! commands work.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::boundary::{ChatModel, ChatOptions, ListedModel, ShownModel};
use crate::link_free::{link_free, link_free_lines};
use crate::message::{Language, Message, MessageCode};
use crate::models::capitalized;

/// The address of the gateway inside an editor, to which nothing is sent.
pub const DEMO_BASE_URL: &str = "https://demo.invalid/v1";

impl ChatModel {
    /// Returns what VS Code shows of this model, which belongs to a server with this base URL, and what is sent to it.
    pub fn listed(self, base_url: &str, language: &Language) -> ListedModel {
        let is_demo = base_url == DEMO_BASE_URL;
        let line = |messages: &[Message]| link_free(&language.join(messages, ", "));
        let name =
            if is_demo { language.text(Message::new(MessageCode::DemoModel, [&self.name])) } else { self.name.clone() };
        let tooltip: Vec<String> = self.tooltip.iter().map(|paragraph| language.join(paragraph, ", ")).collect();
        let info = self.info.iter().enumerate().map(|(index, text)| (format!("line {}", index + 1), line(text)));
        let warning = self.warning.as_ref().map(|warning| link_free(&language.text(warning.clone())));
        let icon = if self.is_favourite { Some("star-full") } else { None };
        let shown = ShownModel {
            id: link_free(&self.id),
            name: link_free(&name),
            family: link_free(&self.family),
            version: link_free(&self.version),
            max_input_tokens: self.max_input_tokens,
            max_output_tokens: self.max_output_tokens,
            max_context_window_tokens: self.context_window,
            capabilities: json!({
                "imageInput": self.capabilities.image_input,
                "toolCalling": self.capabilities.tool_calling,
            }),
            detail: link_free(&self.detail),
            tooltip: link_free_lines(&tooltip.join("\n\n")),
            is_user_selectable: self.is_user_selectable,
            category: self.category,
            pricing: self.price.as_ref().filter(|_| !is_demo).map(|price| line(std::slice::from_ref(price))),
            price_category: self.price_category.filter(|_| !is_demo),
            info_text: info.collect(),
            icon: if warning.is_some() { Some("warning") } else { icon },
            warning_text: warning.map(|warning| [("model_pending_deprecation", warning)].into()),
            promo: (self.is_featured && !is_demo).then(|| json!({ "discountPercent": 0, "message": "" })),
            configuration_schema: pickers(&self, language),
        };
        let request = [
            ("efforts", Some(json!(self.effort.as_ref().map_or(&[][..], |effort| &effort.values)))),
            ("reasoningEffort", self.overrides.effort.as_ref().map(|effort| json!(effort))),
            ("routing", self.overrides.routing.as_ref().map(|routing| json!(routing))),
            ("maxOutputTokens", self.sent_output_tokens.map(Value::from)),
            ("extraBody", Some(json!(self.overrides.body))),
        ];
        let request = request.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        ListedModel { model: self, shown, request }
    }
}

fn pickers(model: &ChatModel, language: &Language) -> Option<Value> {
    let mut pickers = Map::new();
    if let Some(effort) = &model.effort {
        let own = (ChatOptions::MODELS_OWN_EFFORT, language.text(MessageCode::DefaultEffort));
        let values = effort.values.iter().map(|value| (value.as_str(), link_free(&capitalized(value))));
        let choices: Vec<_> = [own].into_iter().filter(|_| effort.default.is_none()).chain(values).collect();
        let default = effort.default.as_deref().unwrap_or(ChatOptions::MODELS_OWN_EFFORT);
        let title = language.text(MessageCode::ThinkingEffort);
        pickers.insert("reasoningEffort".to_owned(), picker("navigation", "string", &title, choices, default));
    }
    if let Some(largest) = model.context_sizes.last() {
        let sizes = model.context_sizes.iter().map(|size| (*size, format!("{}K", (size + 500) / 1000))).collect();
        let title = language.text(MessageCode::ContextSize);
        pickers.insert("contextSize".to_owned(), picker("tokens", "number", &title, sizes, *largest));
    }
    (!pickers.is_empty()).then(|| json!({ "properties": pickers }))
}

fn picker<T: Serialize>(group: &str, kind: &str, title: &str, choices: Vec<(T, String)>, default: T) -> Value {
    let (values, labels): (Vec<T>, Vec<String>) = choices.into_iter().unzip();
    json!({ "type": kind, "title": title, "enum": values, "enumItemLabels": labels, "default": default, "group": group })
}
