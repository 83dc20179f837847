//! What an editor shows, ready to be shown: in the user's language, without secrets, and with nothing of a server's to click on.

mod card;
mod ending;
mod model;
mod report;
mod rounds;
mod status_bar;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

pub use ending::{Reader, RejectedAnswer, ShownRejection};
pub use model::DEMO_BASE_URL;
pub use report::ReportFacts;
pub use rounds::ModelRounds;
pub use status_bar::{StatusBarFacts, StatusBarView};

/// Returns a JSON schema that completes these ids of models in the user's settings.
pub fn settings_schema(ids: &BTreeSet<String>) -> Value {
    // Examples are completed, and other values stay valid.
    let items = json!({ "examples": ids });
    let overrides: Map<_, _> = ids.iter().map(|id| (id.clone(), json!({}))).collect();
    json!({
        "properties": {
            "sluice.models.overrides": { "properties": overrides },
            "sluice.models.default": items,
            "sluice.models.hidden": { "items": items },
            "sluice.models.favourites": { "items": items },
        },
    })
}
