//! Budgets that a gateway keeps: which one is used up, and when it starts again.
//!
//! The gateway says so in a sentence and in fields whose names differ. Its own sentence is always shown; this adds what can
//! be told for certain.

use serde_json::Value;

use crate::message::{Message, MessageCode};
use crate::numbers::date;

const SECONDS_PER_DAY: u64 = 86_400;

/// A budget that is used up.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Budget {
    owner: Option<MessageCode>,
    renewal: Option<Renewal>,
}

#[derive(Debug, PartialEq, Eq)]
enum Renewal {
    /// As the gateway writes it: `2026-12-01`, perhaps with a time.
    At(String),
    Daily,
    Weekly,
    Monthly,
    Never,
}

impl Budget {
    /// Reads what an error says. `error` is its JSON object, if there is one.
    pub(super) fn read(message: &str, error: &Value) -> Self {
        let field = |names: &[&str]| {
            let places =
                [error, error.get("param").unwrap_or(&Value::Null), error.get("budget").unwrap_or(&Value::Null)];
            let value = places.into_iter().find_map(|place| names.iter().find_map(|name| place.get(name)?.as_str()));
            value.map(str::to_owned)
        };
        // The sentence has the id of the entity in quotation marks: `Quota limit exceeded for "api_key_id_x".`
        let quoted = || message.split('"').nth(1).map(str::to_owned);
        let entity = field(&["scopeType", "scope_type", "entityType", "entity_type", "scope"]).or_else(quoted);
        let entity = entity.unwrap_or_default().to_ascii_lowercase().replace(['-', ' '], "_");
        let owners = [
            (["api_key", "key_", "apikey"].as_slice(), MessageCode::BudgetOfKey),
            (&["project", "prj_"], MessageCode::BudgetOfProject),
            (&["team"], MessageCode::BudgetOfTeam),
            (&["user", "member"], MessageCode::BudgetOfUser),
        ];
        let is_named = |(names, _): &&(&[&str], MessageCode)| names.iter().any(|name| entity.starts_with(name));
        let at = field(&["resetsAt", "resets_at", "resetAt", "reset_at", "renewsAt", "renews_at"]);
        let at = at.map(|at| at.chars().take(16).collect::<String>()).filter(|at| is_time(at));
        let period = field(&["refreshPeriod", "refresh_period", "period"]);
        let by_period = match period.as_deref() {
            Some("daily") => Some(Renewal::Daily),
            Some("weekly") => Some(Renewal::Weekly),
            Some("monthly") => Some(Renewal::Monthly),
            Some("none") => Some(Renewal::Never),
            _ => None,
        };
        Self { owner: owners.iter().find(is_named).map(|(_, code)| *code), renewal: at.map(Renewal::At).or(by_period) }
    }

    /// Says whose budget it is and when it starts again. `now` is the time in seconds since 1970, if it is known.
    pub(super) fn text(&self, now: Option<u64>) -> Vec<Message> {
        // Periods begin at midnight UTC, weeks on Monday. The first day of 1970 was a Thursday.
        let today = now.and_then(|now| u32::try_from(now / SECONDS_PER_DAY).ok());
        let after = |days: fn(u32) -> u32| today.map(|today| date(today.saturating_add(days(today))));
        let day = match &self.renewal {
            Some(Renewal::At(at)) => Some(at.replace('T', " ")),
            Some(Renewal::Daily) => after(|_| 1),
            Some(Renewal::Weekly) => after(|today| 7 - (today + 3) % 7),
            Some(Renewal::Monthly) => {
                after(|today| (1..32).find(|days| date(today + days).ends_with("-01")).unwrap_or(31))
            }
            Some(Renewal::Never) | None => None,
        };
        let renewal = match (day, &self.renewal) {
            (Some(day), _) => Message::new(MessageCode::BudgetRenewed, [&day]),
            (None, Some(Renewal::Never)) => MessageCode::BudgetNotRenewed.into(),
            (None, _) => MessageCode::BudgetMayBeRenewed.into(),
        };
        self.owner.map(Message::from).into_iter().chain([renewal]).collect()
    }
}

/// Returns whether this is a day, perhaps with a time: `2026-12-01T00:00`.
fn is_time(text: &str) -> bool {
    let is_expected = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        10 => matches!(byte, b'T' | b' '),
        13 => byte == b':',
        _ => byte.is_ascii_digit(),
    };
    matches!(text.len(), 10 | 16) && text.bytes().enumerate().all(is_expected)
}
