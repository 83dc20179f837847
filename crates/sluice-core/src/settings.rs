//! Checks the user's settings before anything is sent.

use crate::boundary::{SettingKind, SettingProblem, Settings};
use crate::models::Pattern;
use crate::send::{BadAddress, Endpoint, extra_fields, extra_headers};

/// Returns everything in these settings that will not work. Nothing here needs a server: whether a pattern matches any
/// model is only known with the list of models.
pub fn check_settings(settings: &Settings) -> Vec<SettingProblem> {
    let mut problems = Vec::new();
    if let Some(Err(BadAddress(message))) = settings.base_url.as_deref().map(Endpoint::parse) {
        problems.push(SettingProblem { setting: SettingKind::BaseUrl, message });
    }
    let models = &settings.models;
    let limits: Vec<String> = models.limits.iter().map(|limit| limit.model.clone()).collect();
    for (setting, patterns) in [
        (SettingKind::Hide, &models.hide),
        (SettingKind::Favourites, &models.favourites),
        (SettingKind::Default, &models.default),
        (SettingKind::Limits, &limits),
    ] {
        let bad = patterns.iter().filter_map(|pattern| Pattern::parse(pattern).err());
        problems.extend(bad.map(|message| SettingProblem { setting, message }));
    }
    extra_headers(&settings.extra_headers, &mut problems);
    extra_fields(&settings.extra_body, &mut problems);
    problems
}
