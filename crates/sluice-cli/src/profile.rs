//! Named endpoints with their keys: `sluice login`, `sluice logout`, `sluice profiles`.
//!
//! They are in one file that only its owner can read. A key is kept together with the origin that it was entered for: if
//! the address in the file is changed to another origin, the key isn't sent there.

use std::collections::BTreeMap;
use std::future::pending;
use std::io::{self, IsTerminal, Read, Write, stdin};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::{Deserialize, Serialize};
use sluice_client::{ApiKey, Client, Timeouts};
use sluice_core::{
    ChatMessage, ChatRequest, Consent, Endpoint, KeyState, Message, MessageCode, ModelCatalog, ModelSettings, Refresh,
    VERCEL, join_messages,
};

use crate::complain;
use crate::connection::Selection;
use crate::output::{self, tell};
use crate::settings_file;
use crate::text::one_line;

/// The smallest limit for an answer that all providers accept.
const FEW_TOKENS: u64 = 16;

/// The profile that is used if none is named.
pub const DEFAULT: &str = "default";

/// A named endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Profile {
    pub base_url: String,
    /// The key, and the origin that it and the headers may be sent to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_origin: Option<String>,
    /// The model to use if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Headers to send with every request.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Whether the user agreed that nothing is encrypted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allows_http: bool,
}

impl Profile {
    pub fn endpoint(&self) -> Result<Endpoint, String> {
        let parsed =
            if self.allows_http { Endpoint::parse_confirmed(&self.base_url) } else { Endpoint::parse(&self.base_url) };
        parsed.map_err(|problem| problem.to_string())
    }

    /// Returns the key if it may be sent to this endpoint.
    pub fn key_for(&self, endpoint: &Endpoint) -> Result<Option<ApiKey>, String> {
        let Some(key) = &self.key else { return Ok(None) };
        if self.key_origin.as_ref() != Some(&endpoint.origin) {
            tell!("sluice: the key of this profile is not sent to {}; run `sluice login` again", endpoint.origin);
            return Ok(None);
        }
        ApiKey::for_origin(key, &endpoint.origin).map(Some).map_err(|error| error.to_string())
    }

    /// Returns the headers if they may be sent to this endpoint. Like the key, they belong to one origin.
    pub fn headers_for(&self, endpoint: &Endpoint) -> BTreeMap<String, String> {
        let origin = self.key_origin.clone().or_else(|| self.endpoint().ok().map(|own| own.origin));
        if self.headers.is_empty() || origin.as_ref() == Some(&endpoint.origin) {
            return self.headers.clone();
        }
        tell!("sluice: the headers of this profile are not sent to {}; add them with --header", endpoint.origin);
        BTreeMap::new()
    }
}

/// All profiles, by name.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Profiles {
    pub profiles: BTreeMap<String, Profile>,
}

impl Profiles {
    pub fn load() -> Result<Self, String> {
        settings_file::load(&file())
    }

    fn save(&self) -> Result<(), String> {
        settings_file::save(&file(), self)
    }
}

fn file() -> PathBuf {
    directory().join("profiles.json")
}

/// Returns `SLUICE_HOME`, or the directory in which programs of this system keep their settings.
pub fn directory() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let absolute = |name: &str| set(name).filter(|path| path.is_absolute());
    let home = || std::env::home_dir().unwrap_or_else(std::env::temp_dir);
    if let Some(home) = set("SLUICE_HOME") {
        home
    } else if let Some(config) = absolute("XDG_CONFIG_HOME") {
        config.join("sluice")
    } else if cfg!(windows) {
        absolute("APPDATA").unwrap_or_else(home).join("sluice")
    } else if cfg!(target_os = "macos") {
        home().join("Library/Application Support/sluice")
    } else {
        home().join(".config/sluice")
    }
}

/// Save an endpoint and its key, under the name in `--profile` or as the default.
///
/// The key is read without showing it, or from standard input, and checked before it is kept in a file that only you can
/// read. It is sent to this endpoint only. An empty key means that the endpoint needs none.
#[derive(Debug, Args)]
pub struct Login {
    /// The base URL; the Vercel AI Gateway if it is left out
    url: Option<String>,
    /// The model to use if none is named
    #[arg(short, long)]
    model: Option<String>,
    /// Agree that nothing is encrypted if the URL starts with http:// and is in a private network
    #[arg(long)]
    unencrypted: bool,
}

impl Login {
    /// Without a name, this becomes the profile that is used if none is named.
    pub async fn run(self, selection: &Selection) -> io::Result<ExitCode> {
        Ok(match self.log_in(selection).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => complain(&message),
        })
    }

    async fn log_in(self, selection: &Selection) -> Result<(), String> {
        let name = selection.profile.clone().unwrap_or_else(|| DEFAULT.to_owned());
        if name.is_empty() || name.chars().any(|c| !(c.is_ascii_alphanumeric() || "-_.".contains(c))) {
            return Err("a profile's name has only letters, digits, -, _ and .".to_owned());
        }
        let mut all = Profiles::load()?;
        let known = all.profiles.get(&name).cloned().unwrap_or_default();
        let address = self.url.clone().or_else(|| Some(known.base_url.clone()).filter(|url| !url.is_empty()));
        let address = address.unwrap_or_else(|| VERCEL.to_owned());
        let endpoint = self.parse(&address)?;
        let key = read_key(&endpoint)?;
        let key = if key.is_empty() {
            None
        } else {
            Some(ApiKey::for_origin(&key, &endpoint.origin).map_err(|error| error.to_string())?)
                .map(|checked| (key.trim().to_owned(), checked))
        };
        if let Consent::Refused(message) = endpoint.consent(key.is_some()) {
            return Err(format!("{message} Nothing was saved."));
        }
        let mut headers = known.headers_for(&endpoint);
        headers.extend(selection.headers.clone());
        let client = Client::new(endpoint.clone(), key.as_ref().map(|(_, key)| key.clone()), Timeouts::default());
        let client = client.map_err(|error| error.to_string())?.with_headers(headers.clone());
        let Found { base_url, text } = find(&client, self.model.as_deref()).await?;
        let profile = Profile {
            base_url: base_url.unwrap_or(endpoint.base_url),
            key_origin: Some(endpoint.origin.clone()),
            key: key.map(|(key, _)| key),
            model: self.model.or(known.model),
            headers,
            allows_http: endpoint.is_unencrypted,
        };
        all.profiles.insert(name.clone(), profile);
        all.save()?;
        let usage = if name == DEFAULT { "sluice".to_owned() } else { format!("sluice -p {name}") };
        tell!("{text} Saved as {name:?}: `{usage} chat …` uses it.");
        Ok(())
    }

    /// Checks the address, and asks whether it may be used if nothing is encrypted on the way there.
    fn parse(&self, address: &str) -> Result<Endpoint, String> {
        let endpoint = Endpoint::parse_confirmed(address).map_err(|problem| problem.to_string())?;
        let Consent::Needed(message) = endpoint.consent(true) else { return Ok(endpoint) };
        if self.unencrypted {
            return Ok(endpoint);
        }
        if !stdin().is_terminal() {
            return Err(format!("{message} Add --unencrypted to use it all the same."));
        }
        tell!("{message}");
        output::prompt("Use it all the same? (y/N)");
        let mut line = String::new();
        stdin().read_line(&mut line).map_err(|error| format!("cannot read the answer: {error}"))?;
        if matches!(line.trim(), "y" | "Y" | "yes") { Ok(endpoint) } else { Err("nothing was saved".to_owned()) }
    }
}

/// Reads a key without showing it, or from standard input if that isn't a terminal.
fn read_key(endpoint: &Endpoint) -> Result<String, String> {
    if stdin().is_terminal() {
        let prompt = format!("Key for {} (empty if it needs none): ", one_line(&endpoint.origin));
        return rpassword::prompt_password(prompt).map_err(|error| format!("cannot read the key: {error}"));
    }
    let mut key = String::new();
    stdin().take(1 << 16).read_to_string(&mut key).map_err(|error| format!("cannot read the key: {error}"))?;
    Ok(key.trim().to_owned())
}

/// What is behind an address.
struct Found {
    /// The base URL, if it isn't the one that the user gave.
    base_url: Option<String>,
    /// What to tell the user.
    text: String,
}

/// Asks the server for its models and whether it accepts the key. A server without a list is asked for an answer of the
/// model that the user named.
async fn find(client: &Client, model: Option<&str>) -> Result<Found, String> {
    let mut catalog = ModelCatalog::new(client.endpoint());
    if let Refresh::Kept(note) = client.refresh_models(&mut catalog).await {
        let has_no_list = |message: &Message| matches!(message.code, MessageCode::NoListHere | MessageCode::NotAList);
        let advice = if note.text.iter().any(has_no_list) { " If it has none, name a model with -m." } else { "" };
        return match model {
            Some(model) => answer(client, model).await,
            None => Err(format!("{} Nothing was saved.{advice}", note.detail)),
        };
    }
    // A list may be public, so it says nothing about the key.
    if client.has_key()
        && let Ok(checked) = client.check_key().await
        && checked.state == KeyState::Refused
    {
        return Err(format!("{} Nothing was saved.", join_messages(&checked.text, " ")));
    }
    let list = catalog.models(&ModelSettings::default(), 0);
    let text = match list.models.len() {
        1 => "1 model can chat.".to_owned(),
        count => format!("{count} models can chat."),
    };
    let text = match &list.elsewhere {
        Some(base_url) => format!("The base URL is {base_url}. {text}"),
        None => text,
    };
    Ok(Found { base_url: list.elsewhere, text })
}

/// Asks a model for a word.
async fn answer(client: &Client, model: &str) -> Result<Found, String> {
    let mut chat = ChatRequest { model: model.to_owned(), ..ChatRequest::default() };
    chat.messages.push(ChatMessage::user("Say yes."));
    chat.options.max_output_tokens = Some(FEW_TOKENS);
    let report = client.respond(&chat, pending(), &mut |_| {}).await;
    if let Some(failure) = report.outcome.error {
        return Err(format!("{} Nothing was saved.", join_messages(&failure.text, " ")));
    }
    let text = format!("{} answers. The server has no list of models.", one_line(model));
    Ok(Found { base_url: report.elsewhere.map(|elsewhere| elsewhere.base_url), text })
}

/// Forgets a profile and its key.
pub fn log_out(profile: Option<&str>) -> ExitCode {
    let name = profile.unwrap_or(DEFAULT);
    let removed = Profiles::load().and_then(|mut all| match all.profiles.remove(name) {
        Some(_) => all.save(),
        None => Err(format!("there is no profile {name:?}; `sluice profiles` lists them")),
    });
    match removed {
        Ok(()) => {
            tell!("{name:?} is forgotten, and so is its key.");
            ExitCode::SUCCESS
        }
        Err(message) => complain(&message),
    }
}

/// Prints all profiles, without their keys.
pub fn list() -> io::Result<ExitCode> {
    let all = match Profiles::load() {
        Ok(all) => all.profiles,
        Err(message) => return Ok(complain(&message)),
    };
    if all.is_empty() {
        tell!("There are no profiles. `sluice login [--profile NAME] [URL]` adds one.");
    }
    let mut out = io::stdout();
    for (name, profile) in all {
        let key = if profile.key.is_some() { "with a key" } else { "without a key" };
        let model = profile.model.map(|model| format!(", {model}")).unwrap_or_default();
        writeln!(out, "{}", one_line(&format!("{name}: {} {key}{model}", profile.base_url)))?;
    }
    Ok(ExitCode::SUCCESS)
}
