//! `sluice models`: what the endpoint offers.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use serde_json::Value;
use sluice_core::{
    ChatModel, ListState, ModelList, ModelSettings, OtherModel, Refresh, finds_model, join_messages, similar_models,
};

use crate::complain;
use crate::connection::{Connection, Selection};
use crate::model_table::{Row, print_table};
use crate::output::tell;
use crate::text;

/// List the models of the endpoint.
///
/// The list is cached for five minutes, and longer if the endpoint can't be reached.
#[derive(Debug, Args)]
pub struct Models {
    /// Only models whose id or name contains this, or matches it with `*` and `?`
    pattern: Option<String>,
    /// Print a JSON array with one object for each model
    #[arg(long)]
    json: bool,
    /// Also list models that don't chat: embeddings, images, …
    #[arg(long)]
    all: bool,
    /// Ask the endpoint even if the cached list is fresh
    #[arg(long)]
    refresh: bool,
}

impl Models {
    pub async fn run(self, selection: &Selection) -> io::Result<ExitCode> {
        let connection = match Connection::open(selection) {
            Ok(connection) => connection,
            Err(message) => return Ok(complain(&message)),
        };
        let Some(list) = self.fetch(&connection).await else { return Ok(ExitCode::FAILURE) };
        let wanted = |id: &str, name: &str| self.pattern.as_ref().is_none_or(|query| finds_model(query, id, name));
        let models: Vec<&ChatModel> = list.models.iter().filter(|model| wanted(&model.id, &model.name)).collect();
        let others: Vec<&OtherModel> =
            list.others.iter().filter(|model| self.all && wanted(&model.id, &model.name)).collect();
        if self.json { print_json(&models, &others) } else { print_rows(&models, &others) }?;
        if models.is_empty() && others.is_empty() {
            self.explain_nothing(&list);
            return Ok(ExitCode::FAILURE);
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Returns the cached list while it is fresh, otherwise the endpoint's, otherwise the cached list however old.
    async fn fetch(&self, connection: &Connection) -> Option<ModelList> {
        let cache = connection.model_cache();
        let (mut catalog, note) = cache.load(connection.client.endpoint());
        if let Some(note) = note {
            tell!("sluice: {}", note.detail);
        }
        if self.refresh || catalog.state(now()) != ListState::Fresh {
            match connection.client.refresh_models(&mut catalog).await {
                Refresh::Changed | Refresh::Unchanged => {
                    if let Err(problem) = cache.save(&catalog) {
                        tell!("sluice: {problem}");
                    }
                }
                Refresh::Kept(note) => {
                    tell!("sluice: {}", note.detail);
                    let age = catalog.age(now())?;
                    tell!("sluice: this list is {} old", words_for(age));
                }
            }
        }
        let list = catalog.models(&ModelSettings::default(), now());
        for note in &list.notes {
            tell!("sluice: {}", note.detail);
        }
        Some(list)
    }

    fn explain_nothing(&self, list: &ModelList) {
        let pattern = self.pattern.as_deref().unwrap_or_default();
        let found_other = list.others.iter().find(|model| finds_model(pattern, &model.id, &model.name));
        if let Some(other) = found_other.filter(|_| !self.all) {
            tell!("sluice: {} does not chat ({}); --all lists it too", other.id, other.kind);
            return;
        }
        let shown = if self.all { list.others.as_slice() } else { &[] };
        let ids = list.models.iter().map(|model| &model.id).chain(shown.iter().map(|model| &model.id));
        let similar = similar_models(pattern, ids.map(String::as_str));
        let advice = if similar.is_empty() {
            "`sluice models` lists all".to_owned()
        } else {
            format!("did you mean {}?", similar.join(", "))
        };
        tell!("sluice: no model matches {pattern:?}; {advice}");
    }
}

fn print_json(models: &[&ChatModel], others: &[&OtherModel]) -> io::Result<()> {
    let chat = models.iter().map(|model| {
        let mut json = serde_json::to_value(model).unwrap_or_default();
        if let Value::Object(fields) = &mut json {
            fields.insert("kind".to_owned(), "chat".into());
            fields.insert("pricing".to_owned(), join_messages(&model.pricing, ", ").into());
            let tooltip: Vec<String> = model.tooltip.iter().map(|paragraph| join_messages(paragraph, ", ")).collect();
            fields.insert("tooltip".to_owned(), tooltip.join("\n\n").into());
        }
        json.to_string()
    });
    let others = others.iter().map(|model| serde_json::to_value(model).unwrap_or_default().to_string());
    let lines: Vec<String> = chat.chain(others).collect();
    let mut out = anstream::stdout();
    if lines.is_empty() { writeln!(out, "[]") } else { writeln!(out, "[\n{}\n]", text::json(&lines.join(",\n"))) }
}

fn print_rows(models: &[&ChatModel], others: &[&OtherModel]) -> io::Result<()> {
    let rows: Vec<Row> =
        models.iter().map(|model| Row::of(model)).chain(others.iter().map(|model| Row::of_other(model))).collect();
    // In a pipe nothing is shortened, because a program reads it.
    let width = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    if rows.is_empty() { Ok(()) } else { print_table(&rows, width, &mut anstream::stdout()) }
}

fn words_for(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..120 => (seconds, "second"),
        120..7_200 => (seconds / 60, "minute"),
        7_200..172_800 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
