//! Sign-in with the Vercel CLI: turns the login of its user into a token for the gateway, without I/O.
//!
//! The shell reads the CLI's files and sends requests. `sign_in.rs` keeps the session, and asks for the next
//! [`step`](vercel_step) of a task until there is a result or a problem. The CLI's own token is sent to Vercel's API only,
//! and never stored.

mod session;
mod sign_in;

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::boundary::HttpRequest;
use crate::failure::{HttpResponse, Transport};
use crate::message::MessageCode;
use session::StoredSession;
pub use session::{NewSession, TokenState, VercelChoice, VercelSession, vercel_session};

/// Neither a setting nor the environment can change this.
const API_ORIGIN: &str = "https://api.vercel.com";
const MAX_PAGES: usize = 20;
/// A login that expires within this time counts as expired.
const LOGIN_MARGIN_S: f64 = 30.0;
/// Vercel's tokens are valid for twelve hours. A token without an expiry date is renewed much sooner.
const UNKNOWN_LIFE_S: f64 = 3600.0;

/// What the shell wants from Vercel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum VercelTask {
    /// The teams of the user.
    Teams,
    /// The projects of a team, or of the personal account.
    Projects(Option<String>),
    /// A token for the gateway on behalf of a project.
    SignIn(VercelChoice),
    /// Another token for a stored session.
    Renew(String),
}

/// Asks what to do next for a task.
#[derive(Debug, Deserialize)]
pub struct VercelQuestion {
    /// What the shell wants.
    pub task: VercelTask,
    /// The texts of the CLI's [files](vercel_files), as far as they exist. `None` in a browser, which has no files.
    pub files: Option<Vec<Option<String>>>,
    /// The responses to the requests of all steps so far.
    pub answers: Vec<HttpResponse>,
    /// Why there is no response to the last request.
    pub failed: Option<Transport>,
    /// Seconds since 1970.
    pub now: f64,
}

/// What to do next.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum VercelStep {
    /// Send this request with this token.
    Send {
        /// The request, without the token.
        request: HttpRequest,
        /// The CLI's token.
        bearer: String,
    },
    /// The result of the task.
    Done {
        /// The result of [`VercelTask::Teams`], the CLI's current team first.
        teams: Vec<VercelTeam>,
        /// The result of [`VercelTask::Projects`].
        projects: Vec<VercelProject>,
        /// The result of the other tasks.
        session: Option<NewSession>,
    },
    /// Why there is no result.
    Problem {
        /// What the user can do about it.
        code: MessageCode,
        /// A command for a terminal that would help.
        command: Option<&'static str>,
        /// For a log.
        detail: String,
    },
}

/// A team of the user.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct VercelTeam {
    /// `None` for the user's personal account.
    pub id: Option<String>,
    /// The name that people know it by.
    pub name: String,
    /// Its name in addresses, or nothing if that is the same.
    pub slug: String,
    /// Whether the CLI uses this one.
    pub is_current: bool,
}

impl VercelTeam {
    fn new(id: Option<&str>, name: Option<&str>, slug: &str, is_current: bool) -> Self {
        let name = name.unwrap_or(slug).to_owned();
        let slug = if name == slug { String::new() } else { slug.to_owned() };
        Self { id: id.map(str::to_owned), name, slug, is_current }
    }
}

/// A project of a team.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct VercelProject {
    /// What Vercel's API calls it.
    pub id: String,
    /// The name that people know it by.
    pub name: String,
}

/// Returns the files that the CLI may have, in the order to search: a login, its configuration, another login, and so on.
/// On Windows it has moved them and left the old ones behind. The platform is named as in Node.
pub fn vercel_files(platform: &str, environment: &BTreeMap<String, String>) -> Vec<String> {
    let variable = |name: &str| {
        environment
            .get(name)
            .filter(|value| !value.is_empty())
            .map(|path| path.trim_end_matches(['/', '\\']).to_owned())
    };
    let home = variable("HOME").or_else(|| variable("USERPROFILE"));
    let app_data = |name: &str, folder: &str| {
        variable(name).or_else(|| variable("USERPROFILE").map(|profile| format!("{profile}/AppData/{folder}")))
    };
    let (roaming, local) = (app_data("APPDATA", "Roaming"), app_data("LOCALAPPDATA", "Local"));
    let own: &[(&Option<String>, &str)] = match platform {
        "win32" => &[
            (&roaming, "xdg.data/com.vercel.cli"),
            (&roaming, "com.vercel.cli/Data"),
            (&local, "com.vercel.cli"),
            (&local, "com.vercel.cli/Data"),
            (&roaming, "com.vercel.cli"),
        ],
        "darwin" => &[(&home, "Library/Application Support/com.vercel.cli"), (&home, ".local/share/com.vercel.cli")],
        _ => &[(&home, ".local/share/com.vercel.cli")],
    };
    let data = variable("XDG_DATA_HOME");
    let folders = [&[(&data, "com.vercel.cli")], own, &[(&home, ".vercel")]].concat();
    let folders = folders.iter().filter_map(|(base, folder)| Some(format!("{}/{folder}", base.as_ref()?)));
    folders.flat_map(|folder| [format!("{folder}/auth.json"), format!("{folder}/config.json")]).collect()
}

/// Returns what to do next for a task.
pub fn vercel_step(question: &VercelQuestion) -> VercelStep {
    next(question).unwrap_or_else(|(code, detail)| {
        let command = match code {
            MessageCode::VercelNotLoggedIn | MessageCode::VercelLoginRefused => Some("vercel login"),
            MessageCode::VercelLoginExpired => Some("vercel whoami"),
            _ => None,
        };
        VercelStep::Problem { code, command, detail }
    })
}

/// What the user can do about a problem, and details for a log.
type Problem = (MessageCode, String);

fn next(VercelQuestion { task, files, answers, failed, now }: &VercelQuestion) -> Result<VercelStep, Problem> {
    let files = files.as_ref().ok_or((MessageCode::VercelNoFiles, String::new()))?;
    let (bearer, current_team) = login(files, *now).map_err(|code| (code, String::new()))?;
    if let Some(transport) = failed {
        let is_odd = matches!(transport, Transport::Redirect | Transport::TooLarge);
        let code = if is_odd { MessageCode::VercelUnexpected } else { MessageCode::VercelUnreachable };
        return Err((code, format!("{transport:?}")));
    }
    let answers: Vec<Value> = answers.iter().map(body).collect::<Result<_, _>>()?;
    let send = |method: &str, path: &str| {
        let request = HttpRequest {
            method: method.to_owned(),
            url: format!("{API_ORIGIN}{path}"),
            headers: Vec::new(),
            body: String::new(),
        };
        Ok(VercelStep::Send { request, bearer: bearer.clone() })
    };
    let (mut teams, mut projects, mut session) = (Vec::new(), Vec::new(), None);
    match task {
        VercelTask::Teams => {
            let Some((user, pages)) = answers.split_first() else { return send("GET", "/v2/user") };
            match entries(pages, "/v2/teams?", "teams", "until") {
                Err(path) => return send("GET", &path),
                Ok(entries) => teams.extend(entries.into_iter().filter_map(|team| {
                    let id = text(team, "id")?;
                    let slug = text(team, "slug").unwrap_or(id);
                    let is_current = current_team.as_deref() == Some(id);
                    Some(VercelTeam::new(Some(id), text(team, "name"), slug, is_current))
                })),
            }
            let user = user.get("user").unwrap_or(&Value::Null);
            // New personal accounts own no projects; their first team does.
            if text(user, "version") != Some("northstar") || teams.is_empty() {
                let slug = text(user, "username").unwrap_or_default();
                teams.insert(0, VercelTeam::new(None, text(user, "name"), slug, current_team.is_none()));
            }
            teams.sort_by_key(|team| !team.is_current);
        }
        VercelTask::Projects(team) => {
            let path = format!("/v10/projects?{}", team_parameter(team.as_deref()));
            match entries(&answers, &path, "projects", "from") {
                Err(path) => return send("GET", &path),
                Ok(entries) => projects.extend(entries.into_iter().filter_map(|project| {
                    let id = text(project, "id")?.to_owned();
                    Some(VercelProject { name: text(project, "name").unwrap_or(&id).to_owned(), id })
                })),
            }
            if projects.is_empty() {
                return Err((MessageCode::VercelNoProject, String::new()));
            }
        }
        VercelTask::SignIn(_) | VercelTask::Renew(_) => {
            let unexpected = |what: &str| (MessageCode::VercelUnexpected, what.to_owned());
            let mut renewed = match task {
                VercelTask::SignIn(choice) => Some(StoredSession::new(choice.clone())),
                VercelTask::Renew(stored) => StoredSession::read(stored),
                VercelTask::Teams | VercelTask::Projects(_) => None,
            }
            .ok_or_else(|| unexpected("no session"))?;
            let Some(answer) = answers.first() else {
                let (project, team) = (encoded(&renewed.project_id), team_parameter(renewed.team_id.as_deref()));
                let path = format!("/v1/projects/{project}/token?{team}source=vercel-oidc-refresh");
                return send("POST", &path);
            };
            let token = text(answer, "token").filter(|token| is_header_safe(token));
            let token = token.ok_or_else(|| unexpected("no token"))?.to_owned();
            renewed.expires_at = expiry(&token).unwrap_or(now + UNKNOWN_LIFE_S);
            renewed.token = token;
            session = Some(NewSession { stored: renewed.to_text(), token: renewed.token });
        }
    }
    Ok(VercelStep::Done { teams, projects, session })
}

/// Finds the CLI's token and its current team.
fn login(files: &[Option<String>], now: f64) -> Result<(String, Option<String>), MessageCode> {
    let mut problem = MessageCode::VercelNoCli;
    for pair in files.chunks(2) {
        let [auth, config] = [0, 1].map(|at| pair.get(at)?.as_deref());
        let auth = match auth {
            Some(auth) => json(auth),
            // The CLI was used before.
            None if config.is_some() => Value::Null,
            None => continue,
        };
        let expires_at = auth.get("expiresAt").and_then(Value::as_f64);
        match text(&auth, "token").filter(|token| is_header_safe(token)) {
            Some(_) if expires_at.is_some_and(|at| at < now + LOGIN_MARGIN_S) => {
                problem = MessageCode::VercelLoginExpired;
            }
            Some(token) => {
                let config = json(config.unwrap_or_default());
                return Ok((token.to_owned(), text(&config, "currentTeam").map(str::to_owned)));
            }
            None if problem == MessageCode::VercelNoCli => problem = MessageCode::VercelNotLoggedIn,
            None => {}
        }
    }
    Err(problem)
}

fn body(answer: &HttpResponse) -> Result<Value, Problem> {
    let code = match answer.status {
        200..=299 => return Ok(json(&answer.body)),
        401 => MessageCode::VercelLoginRefused,
        403 => {
            let body = json(&answer.body);
            let error = body.get("error").unwrap_or(&Value::Null);
            let is_invalid = error.get("invalidToken") == Some(&Value::Bool(true));
            match text(error, "code") {
                Some("invalid_token") => MessageCode::VercelLoginRefused,
                _ if is_invalid => MessageCode::VercelLoginRefused,
                _ => MessageCode::VercelForbidden,
            }
        }
        404 => MessageCode::VercelNoProject,
        _ => MessageCode::VercelUnexpected,
    };
    Err((code, format!("HTTP {}", answer.status)))
}

/// Returns the entries of a list that is read page by page, or the path of its next page.
fn entries<'a>(pages: &'a [Value], path: &str, field: &str, cursor: &str) -> Result<Vec<&'a Value>, String> {
    let from = match pages.last().map(|page| page.pointer("/pagination/next").unwrap_or(&Value::Null)) {
        None => Some(String::new()),
        Some(Value::String(next)) => Some(format!("&{cursor}={}", encoded(next))),
        Some(Value::Number(next)) => Some(format!("&{cursor}={next}")),
        Some(_) => None,
    };
    match from {
        Some(from) if pages.len() < MAX_PAGES => Err(format!("{path}limit=100{from}")),
        _ => Ok(pages.iter().filter_map(|page| page.get(field)?.as_array()).flatten().collect()),
    }
}

/// Returns when a JSON Web Token expires, in seconds since 1970. Verifying it is up to the server.
fn expiry(token: &str) -> Option<f64> {
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let payload: Value = serde_json::from_slice(&payload).ok()?;
    payload.get("exp")?.as_f64().filter(|at| *at > 0.0)
}

fn team_parameter(team: Option<&str>) -> String {
    team.map(|team| format!("teamId={}&", encoded(team))).unwrap_or_default()
}

fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// Returns whether a token can be sent in a header.
fn is_header_safe(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns a text that isn't empty.
fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str().filter(|text| !text.is_empty())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default()
}
