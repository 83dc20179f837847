//! What a test of a server found, as a page without scripts, links or anything that is loaded, and as plain text.

use crate::boundary::ConnectionTest;
use crate::message::{Language, Message, MessageCode};
use crate::probe::{Card, CheckResult};
use crate::secrets::Secrets;

impl Card {
    /// Returns a page for a webview, and the same for a notification and a bug report. The connection is called `label`, the
    /// text begins with `title`, and only a style sheet with this `nonce` may apply.
    pub fn show(
        &self,
        (label, title, nonce): (&str, &str, &str),
        language: &Language,
        secrets: &Secrets,
    ) -> (String, ConnectionTest) {
        let safe = |text: &str| escaped(&secrets.redact(text));
        let verdict = match self.failed() {
            Some(check) => format!("{}: {}", language.text(check.label.clone()), language.join(&check.detail, " ")),
            None => language.text(Message::new(MessageCode::ConnectionWorks, [&label])),
        };
        let model = self.model.as_deref().unwrap_or_default();
        let (mut rows, mut list) = (String::new(), String::new());
        let mut details = vec![title.to_owned(), format!("{} {model}", self.base_url)];
        for check in &self.checks {
            let (class, meaning) = match check.result {
                CheckResult::Works => ("works", MessageCode::CheckWorks),
                CheckResult::Absent => ("absent", MessageCode::CheckAbsent),
                CheckResult::Failed => ("failed", MessageCode::CheckFailed),
                CheckResult::Unknown => ("unknown", MessageCode::CheckUnknown),
            };
            let (mark, meaning) = (check.result.mark(), escaped(&language.text(meaning)));
            let (name, detail) = (language.text(check.label.clone()), language.join(&check.detail, " "));
            // A mark alone would tell nothing to a screen reader. The cell stays a cell: with a role of its own, it would no
            // longer be a part of the table.
            rows += &format!(
                "<tr><td class=\"{class}\"><span role=\"img\" aria-label=\"{meaning}\" title=\"{meaning}\">{mark}</span></td>\
                 <th scope=\"row\">{}</th><td>{}</td></tr>\n",
                safe(&name),
                safe(&detail)
            );
            details.push(format!("{mark} {name}: {detail}"));
        }
        for difference in &self.differences {
            let difference = language.text(difference.clone());
            list += &format!("<li>{}</li>", safe(&difference));
            details.push(format!("• {difference}"));
        }
        if !list.is_empty() {
            let heading = escaped(&language.text(MessageCode::DifferentForServer));
            list = format!("<h2>{heading}</h2><ul>{list}</ul>");
        }
        let cost = Message::new(MessageCode::CostOfTest, [&self.requests, &self.tokens]);
        let page = format!(
            include_str!("card.html"),
            language = escaped(&language.name),
            nonce = escaped(nonce),
            style = include_str!("card.css"),
            label = safe(label),
            place = safe([self.base_url.as_str(), model].join(" · ").trim_end_matches(" · ")),
            class = if self.failed().is_some() { "verdict failed" } else { "verdict" },
            verdict = safe(&verdict),
            rows = rows,
            list = list,
            cost = escaped(&language.text(cost)),
        );
        let (verdict, details) = (secrets.redact(&verdict), secrets.redact(&details.join("\n")));
        (page, ConnectionTest { verdict, is_failed: self.failed().is_some(), details })
    }
}

/// Returns text in which nothing is markup.
fn escaped(text: &str) -> String {
    let escape = |letter: char| match letter {
        '&' | '<' | '>' | '"' | '\'' => format!("&#{};", u32::from(letter)),
        letter => letter.to_string(),
    };
    text.chars().map(escape).collect()
}
