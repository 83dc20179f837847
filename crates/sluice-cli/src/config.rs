//! `sluice config`: what applies to every chat unless an option says otherwise.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sluice_core::{Dollars, LimitState, SpendLimit, SpendLimits, SpendPeriod};

use crate::complain;
use crate::options::option_value;
use crate::output::tell;
use crate::profile;
use crate::settings_file;
use crate::text::one_line;

/// Show or change what applies to every chat.
///
/// Names: model, system, effort, max-output, log, plain, fold-thinking, and option.NAME for any field of a request.
/// Limits in dollars: limit.request, limit.conversation, limit.day, limit.month, the same for one model
/// (limit.day.anthropic/claude-sonnet-4.5), and limit.hard to reject requests without asking.
#[derive(Debug, Args)]
pub struct ConfigCommand {
    /// What to show or change; everything is shown without it
    name: Option<String>,
    /// The new value
    value: Option<String>,
    /// Forget the value
    #[arg(long, conflicts_with = "value", requires = "name")]
    unset: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Config {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Whether conversations are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<bool>,
    /// Whether Markdown is printed as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plain: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold_thinking: Option<bool>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub option: BTreeMap<String, Value>,
    /// What may be spent, in dollars.
    #[serde(skip_serializing_if = "is_default")]
    pub limit: SpendLimits,
}

impl Config {
    pub fn load() -> Result<Self, String> {
        settings_file::load(&file())
    }

    fn save(&self) -> Result<(), String> {
        settings_file::save(&file(), self)
    }

    /// Sets a value, or forgets it.
    fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let switch = |value: Option<&str>| match value {
            None => Ok(None),
            Some("on" | "true" | "yes") => Ok(Some(true)),
            Some("off" | "false" | "no") => Ok(Some(false)),
            Some(other) => Err(format!("{name} is on or off, not {other:?}")),
        };
        let text = || value.map(str::to_owned);
        match name {
            "model" => self.model = text(),
            "system" => self.system = text(),
            "effort" => self.effort = text(),
            "max-output" => {
                let number = value.map(|value| value.parse().ok().filter(|number| *number >= 16));
                self.max_output = number.map(|number| number.ok_or("max-output is a number from 16")).transpose()?;
            }
            "log" => self.log = switch(value)?,
            "plain" => self.plain = switch(value)?,
            "fold-thinking" => self.fold_thinking = switch(value)?,
            "limit.hard" => self.limit.is_hard = switch(value)?.unwrap_or_default(),
            _ if name.starts_with("limit.") => self.set_limit(name, value)?,
            _ => match (name.strip_prefix("option.").filter(|name| !name.is_empty()), value) {
                (Some(name), Some(value)) => {
                    self.option.insert(name.to_owned(), option_value(value));
                }
                (Some(name), None) => {
                    self.option.remove(name);
                }
                (None, _) => return Err(format!("there is no setting {name:?}; `sluice config --help` lists them")),
            },
        }
        Ok(())
    }

    fn set_limit(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let mut names = name.splitn(3, '.').skip(1);
        let (period, model) = (names.next().unwrap_or_default(), names.next());
        let amount =
            value.map(|value| Dollars::parse(value).ok_or(format!("{name} is an amount in dollars, not {value:?}")));
        let amount = amount.transpose()?;
        let limit = match model {
            Some(model) => self.limit.models.entry(model.to_owned()).or_default(),
            None => &mut self.limit.all,
        };
        match period {
            "request" => limit.request = amount,
            "conversation" => limit.conversation = amount,
            "day" => limit.day = amount,
            "month" => limit.month = amount,
            _ => return Err(format!("there is no setting {name:?}; `sluice config --help` lists them")),
        }
        self.limit.models.retain(|_, limit| *limit != SpendLimit::default());
        Ok(())
    }

    /// Keeps a new limit. Returns all limits.
    pub fn raise(name: &str, dollars: &str) -> Result<SpendLimits, String> {
        let mut config = Self::load()?;
        config.set(name, Some(dollars))?;
        config.save()?;
        Ok(config.limit)
    }

    /// Returns the limits by their names.
    fn limits(&self) -> Vec<(String, String)> {
        let mut named = Vec::new();
        let models = self.limit.models.iter().map(|(model, limit)| (limit, Some(model.as_str())));
        for (limit, model) in std::iter::once((&self.limit.all, None)).chain(models) {
            let periods = [
                (SpendPeriod::Request, limit.request),
                (SpendPeriod::Conversation, limit.conversation),
                (SpendPeriod::Day, limit.day),
                (SpendPeriod::Month, limit.month),
            ];
            let set =
                periods.into_iter().filter_map(|(period, limit)| Some((name_of(period, model), limit?.to_string())));
            named.extend(set);
        }
        named.extend(self.limit.is_hard.then(|| ("limit.hard".to_owned(), "on".to_owned())));
        named
    }

    /// Returns every value that is set, by its name.
    fn values(&self) -> BTreeMap<String, String> {
        let shown = |value: &Value| match value {
            Value::Bool(value) => if *value { "on" } else { "off" }.to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let Ok(Value::Object(fields)) = serde_json::to_value(self) else { return BTreeMap::new() };
        let mut values = BTreeMap::new();
        for (name, value) in fields {
            match (name.as_str(), &value) {
                ("limit", _) => values.extend(self.limits()),
                ("option", Value::Object(options)) => {
                    values.extend(options.iter().map(|(name, value)| (format!("option.{name}"), shown(value))));
                }
                _ => {
                    values.insert(name, shown(&value));
                }
            }
        }
        values
    }
}

/// Returns the name of a limit's setting.
pub fn limit_name(limit: &LimitState) -> String {
    name_of(limit.period, limit.model.as_deref())
}

fn name_of(period: SpendPeriod, model: Option<&str>) -> String {
    let period = match period {
        SpendPeriod::Request => "limit.request",
        SpendPeriod::Conversation => "limit.conversation",
        SpendPeriod::Day => "limit.day",
        SpendPeriod::Month => "limit.month",
    };
    model.map_or_else(|| period.to_owned(), |model| format!("{period}.{model}"))
}

fn is_default(limits: &SpendLimits) -> bool {
    *limits == SpendLimits::default()
}

impl ConfigCommand {
    pub fn run(self) -> io::Result<ExitCode> {
        let mut config = match Config::load() {
            Ok(config) => config,
            Err(message) => return Ok(complain(&message)),
        };
        let mut out = io::stdout();
        match (&self.name, &self.value) {
            (None, _) => {
                let values = config.values();
                if values.is_empty() {
                    tell!("Nothing is set. `sluice config model ID` sets the model, for example.");
                }
                for (name, value) in values {
                    writeln!(out, "{} = {}", one_line(&name), one_line(&value))?;
                }
            }
            (Some(name), None) if !self.unset => {
                // A name that doesn't exist is an error even if it is only asked for.
                if let Err(message) = config.clone().set(name, None) {
                    return Ok(complain(&message));
                }
                match config.values().get(name) {
                    Some(value) => writeln!(out, "{}", one_line(value))?,
                    None => return Ok(ExitCode::FAILURE),
                }
            }
            (Some(name), value) => {
                if let Err(message) = config.set(name, value.as_deref()).and_then(|()| config.save()) {
                    return Ok(complain(&message));
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn file() -> PathBuf {
    profile::directory().join("config.json")
}
