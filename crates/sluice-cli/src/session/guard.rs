//! Asks the limits, and the user if one of them is reached, whether a request may be sent.

use sluice_core::{SpendAction, SpendChoice, SpendLimit, SpendLimits, join_messages};

use super::Session;
use crate::config::{Config, limit_name};
use crate::editor::Typed;
use crate::output::tell;

impl Session {
    /// Returns whether the next request may be sent. If it may not, the user has been told why.
    pub(super) async fn may_spend(&mut self) -> bool {
        if self.limits == SpendLimits::default() {
            return true;
        }
        self.ledger.begin(&self.request);
        loop {
            let Some(verdict) = self.ledger.check(&self.limits) else { return true };
            if verdict.action == SpendAction::Go {
                return true;
            }
            tell!("sluice: {}", join_messages(&verdict.text, " "));
            if verdict.action == SpendAction::Warn {
                return true;
            }
            let name = verdict.limit.as_ref().map(limit_name).unwrap_or_default();
            self.open_editor();
            let typed = match self.editor.as_mut().filter(|_| verdict.action == SpendAction::Ask) {
                Some(editor) => editor.answer("[c]ontinue, [r]aise the limit, [S]top: ").await,
                None => Typed::End,
            };
            match typed {
                Typed::Text(text) if matches!(text.trim(), "c" | "C" | "continue") => {
                    self.ledger.choose(SpendChoice::Continue, verdict.limit);
                    return true;
                }
                Typed::Text(text) if matches!(text.trim(), "r" | "R" | "raise") => self.raise(&name).await,
                _ => {
                    self.ledger.choose(SpendChoice::Stop, verdict.limit);
                    self.ledger.give_up();
                    tell!("sluice: the request was not sent. `sluice config {name} DOLLARS` raises the limit.");
                    return false;
                }
            }
        }
    }

    /// Asks for a new limit and keeps it.
    async fn raise(&mut self, name: &str) {
        let Some(editor) = self.editor.as_mut() else { return };
        let Typed::Text(text) = editor.answer(&format!("New {name} in dollars: ")).await else { return };
        match Config::raise(name, text.trim()) {
            Ok(limits) => {
                // `--limit` is about this conversation only, and isn't kept.
                let of_conversation = self.limits.all.conversation.filter(|_| name != "limit.conversation");
                let conversation = of_conversation.or(limits.all.conversation);
                self.limits = SpendLimits { all: SpendLimit { conversation, ..limits.all }, ..limits };
            }
            Err(message) => tell!("sluice: {message}"),
        }
    }
}
