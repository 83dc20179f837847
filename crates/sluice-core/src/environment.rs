//! What environment variables say about where requests go, and which variable has the key for that endpoint.

use serde::Deserialize;

use crate::message::{Message, MessageCode};
use crate::send::{BadAddress, Endpoint, VERCEL};

/// The variables that can have a key, in order of preference. The values stay in the shell.
pub const KEY_VARIABLES: [&str; 3] = [OWN_KEY, "AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN"];

/// The key for any endpoint. The other keys are for the Vercel AI Gateway and are sent nowhere else: other programs use
/// these variables too, and a user who sets `SLUICE_BASE_URL` may not think of them.
const OWN_KEY: &str = "SLUICE_API_KEY";

/// The variables that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Environment {
    /// The value of `SLUICE_BASE_URL`.
    pub base_url: Option<String>,
    /// Which of [`KEY_VARIABLES`] are set and not blank.
    pub keys: Vec<String>,
    /// The base URL in the user's settings, which counts unless the environment has one.
    pub default_base_url: Option<String>,
}

/// The endpoint that the environment selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentEndpoint {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The variable that has the key for it.
    pub key: Option<&'static str>,
    /// Says that a key is set that is not for this endpoint.
    pub withheld: Option<Message>,
    /// Whether an editor has to ask its user before it sends anything there. A container or a start script can set the
    /// environment of an editor, and could thereby redirect a key that it doesn't own.
    pub must_confirm: bool,
}

impl Environment {
    /// Returns the endpoint and the variable with its key, or nothing if none of the variables are set.
    pub fn endpoint(&self) -> Result<Option<EnvironmentEndpoint>, BadAddress> {
        let is_set = |text: &&str| !text.trim().is_empty();
        let base_url = self.base_url.as_deref().filter(is_set);
        let found = KEY_VARIABLES.into_iter().find(|name| self.keys.iter().any(|key| key == name));
        if base_url.is_none() && found.is_none() {
            return Ok(None);
        }
        let default_base_url = self.default_base_url.as_deref().filter(is_set).unwrap_or(VERCEL);
        let endpoint = Endpoint::parse_confirmed(base_url.unwrap_or(default_base_url))?;
        let key = found.filter(|name| *name == OWN_KEY || endpoint.is_vercel);
        let gateway = VERCEL.trim_end_matches("/v1");
        let withheld = found
            .filter(|_| key.is_none())
            .map(|name| Message::new(MessageCode::KeyWithheld, [&name, &endpoint.origin, &gateway, &OWN_KEY]));
        let must_confirm = base_url.is_some() && !endpoint.is_loopback && !endpoint.is_vercel;
        Ok(Some(EnvironmentEndpoint { endpoint, key, withheld, must_confirm }))
    }
}
