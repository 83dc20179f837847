//! A catalog with a list in it.

#![allow(dead_code, reason = "every test uses another part of it")]

use serde_json::{Value, json};
use sluice_core::{ChatModel, Endpoint, HttpResponse, ModelCatalog, ModelSettings, VERCEL};

pub const NOW: u64 = 1_800_000_000;

pub fn gateway() -> Endpoint {
    Endpoint::parse(VERCEL).unwrap()
}

pub fn ok(body: impl ToString) -> HttpResponse {
    HttpResponse { status: 200, headers: vec![("ETag".into(), "W/\"1\"".into())], body: body.to_string() }
}

pub fn catalog(models: &Value) -> ModelCatalog {
    let mut catalog = ModelCatalog::new(&gateway());
    catalog.handle_list(&ok(json!({ "data": models })), NOW);
    catalog
}

/// The first model of a catalog.
pub fn only(catalog: &ModelCatalog, settings: &ModelSettings) -> ChatModel {
    catalog.models(settings, NOW).models.remove(0)
}
