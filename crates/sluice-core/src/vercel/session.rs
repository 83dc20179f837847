//! A sign-in that the shell stores, and what its token may be used for.

use serde::{Deserialize, Serialize};

/// The version of the format. The first sessions had none.
const VERSION: u32 = 1;
/// A token is renewed if it expires within this time.
const RENEW_BEFORE_S: f64 = 900.0;
/// After a failed renewal, a token that is still valid is used for this long before Vercel is asked again.
const RETRY_AFTER_S: f64 = 60.0;

/// What a shell stores. No other code knows this format.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredSession {
    #[serde(default)]
    version: u32,
    origin: String,
    base_url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) team_id: Option<String>,
    team_name: String,
    pub(super) project_id: String,
    project_name: String,
    pub(super) token: String,
    /// Seconds since 1970.
    pub(super) expires_at: f64,
}

/// A choice of the user: which project pays for which endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct VercelChoice {
    /// The origin that the token is for.
    pub origin: String,
    /// The endpoint at that origin.
    pub base_url: String,
    /// The team, or the personal account.
    pub team_id: Option<String>,
    /// The name of the team, for the user.
    pub team_name: String,
    /// The project.
    pub project_id: String,
    /// The name of the project, for the user.
    pub project_name: String,
}

/// A session to store.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NewSession {
    /// What to store. [`vercel_session`] reads it.
    pub stored: String,
    /// The token in it.
    pub token: String,
}

/// A stored sign-in, as the shell uses it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct VercelSession {
    /// The team and the project, for the user.
    pub label: String,
    /// The only origin that the token may be sent to.
    pub origin: String,
    /// Equal for two sessions if and only if they have the same endpoint and project.
    pub identity: String,
    /// The token for the gateway.
    pub token: String,
    /// Whether the token can be used.
    pub state: TokenState,
}

/// Whether a token can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum TokenState {
    /// It can be used as it is.
    Valid,
    /// It expires soon. It should be renewed, but can be used if that fails.
    ExpiresSoon,
    /// It must be renewed.
    Expired,
}

impl StoredSession {
    /// Returns a session that has no token yet.
    pub(super) fn new(choice: VercelChoice) -> Self {
        let VercelChoice { origin, base_url, team_id, team_name, project_id, project_name } = choice;
        let (token, expires_at) = (String::new(), 0.0);
        Self { version: VERSION, origin, base_url, team_id, team_name, project_id, project_name, token, expires_at }
    }

    /// Returns `None` if the text is damaged or was written by a newer version.
    pub(super) fn read(stored: &str) -> Option<Self> {
        let session: Self = serde_json::from_str(stored).ok()?;
        (session.version <= VERSION).then_some(Self { version: VERSION, ..session })
    }

    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Reads what a shell has stored, unless it is damaged. `failed_at` is when the token could not be
/// renewed, or 0.
pub fn vercel_session(stored: &str, now: f64, failed_at: f64) -> Option<VercelSession> {
    let session = StoredSession::read(stored)?;
    let left = session.expires_at - now;
    let state = if left <= 0.0 {
        TokenState::Expired
    } else if left > RENEW_BEFORE_S || now < failed_at + RETRY_AFTER_S {
        TokenState::Valid
    } else {
        TokenState::ExpiresSoon
    };
    let team = session.team_id.as_deref().unwrap_or_default();
    Some(VercelSession {
        label: format!("{} / {}", session.team_name, session.project_name),
        identity: [&session.origin, &session.base_url, team, &session.project_id].join(" "),
        origin: session.origin,
        token: session.token,
        state,
    })
}
