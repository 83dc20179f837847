//! Sign-in with the Vercel CLI: where its files are, what they mean, what Vercel is asked, and what its answers mean.

use std::collections::BTreeMap;
use std::fmt::Write;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{
    HttpResponse, VercelChoice, VercelQuestion, VercelStep, VercelTask, vercel_files, vercel_session, vercel_step,
};

const NOW: f64 = 1_700_000_000.0;
const LOGIN: &str = r#"{"token":"cli-token","expiresAt":1700003600,"refreshToken":"r"}"#;

type Files<'a> = &'a [(Option<&'a str>, Option<&'a str>)];

fn step(task: VercelTask, files: Files<'_>, answers: &[HttpResponse]) -> VercelStep {
    let text = |text: Option<&str>| text.map(str::to_owned);
    let files = Some(files.iter().flat_map(|(auth, config)| [text(*auth), text(*config)]).collect());
    vercel_step(&VercelQuestion { task, files, answers: answers.to_vec(), failed: None, now: NOW })
}

fn ok(body: &Value) -> HttpResponse {
    HttpResponse { status: 200, headers: Vec::new(), body: body.to_string() }
}

fn render(step: &VercelStep) -> String {
    match step {
        VercelStep::Send { request, bearer } => format!("{} {} as {bearer}", request.method, request.url),
        VercelStep::Problem { code, command, detail } => format!("{code:?} {} {detail}", command.unwrap_or("-")),
        VercelStep::Done { teams, projects, session } => {
            let mut lines = String::new();
            for team in teams {
                let mark = if team.is_current { " *" } else { "" };
                let slug = if team.slug.is_empty() { String::new() } else { format!(" ({})", team.slug) };
                write!(lines, "{} {}{slug}{mark}; ", team.id.as_deref().unwrap_or("-"), team.name).unwrap();
            }
            for project in projects {
                write!(lines, "{} {}; ", project.id, project.name).unwrap();
            }
            lines + session.as_ref().map_or("", |session| &session.stored)
        }
    }
}

#[test]
fn the_folders_on_each_system() {
    let check = |platform: &str, environment: &[(&str, &str)], expected: Expect| {
        let environment: BTreeMap<_, _> =
            environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let files = vercel_files(platform, &environment);
        let folders: Vec<_> = files.iter().filter_map(|file| file.strip_suffix("/auth.json")).collect();
        assert_eq!(files.len(), 2 * folders.len());
        expected.assert_eq(&folders.join("\n"));
    };
    check("linux", &[], expect![""]);
    check(
        "linux",
        &[("HOME", "/home/me")],
        expect![[r#"
        /home/me/.local/share/com.vercel.cli
        /home/me/.vercel"#]],
    );
    check(
        "linux",
        &[("HOME", "/home/me"), ("XDG_DATA_HOME", "/data/")],
        expect![[r#"
        /data/com.vercel.cli
        /home/me/.local/share/com.vercel.cli
        /home/me/.vercel"#]],
    );
    check(
        "darwin",
        &[("HOME", "/Users/me")],
        expect![[r#"
        /Users/me/Library/Application Support/com.vercel.cli
        /Users/me/.local/share/com.vercel.cli
        /Users/me/.vercel"#]],
    );
    let windows = expect![[r#"
        C:\Users\me\Roaming/xdg.data/com.vercel.cli
        C:\Users\me\Roaming/com.vercel.cli/Data
        C:\Users\me/AppData/Local/com.vercel.cli
        C:\Users\me/AppData/Local/com.vercel.cli/Data
        C:\Users\me\Roaming/com.vercel.cli
        C:\Users\me/.vercel"#]];
    check(
        "win32",
        &[("USERPROFILE", r"C:\Users\me"), ("APPDATA", r"C:\Users\me\Roaming"), ("LOCALAPPDATA", "")],
        windows,
    );
}

#[test]
fn a_login_is_found_or_the_reason_why_not_is_reported() {
    let expired = r#"{"token":"cli-token","expiresAt":1}"#;
    let cases: [(&str, Files<'_>); 14] = [
        ("nothing there", &[(None, None)]),
        ("used before, logged out", &[(None, Some("{}"))]),
        ("an empty login", &[(Some("{}"), None)]),
        ("an unreadable file", &[(Some(""), None)]),
        ("a token of another type", &[(Some(r#"{"token":5}"#), None)]),
        ("a token that would break a header", &[(Some(r#"{"token":"a\r\nx-evil: 1"}"#), None)]),
        ("not JSON", &[(Some(r#"{"token":"cli-token"#), None)]),
        ("not an object", &[(Some("null"), None)]),
        ("over in a moment", &[(Some(r#"{"token":"cli-token","expiresAt":1700000010}"#), None)]),
        ("over in the new place, empty in the old", &[(Some(expired), None), (Some("{}"), None)]),
        ("good", &[(Some(LOGIN), None)]),
        ("of an old version", &[(Some(r#"{"token":"old"}"#), None)]),
        ("with a byte order mark", &[(Some("\u{feff}{\"token\":\"marked\"}"), None)]),
        ("over in the new place, good in the old", &[(Some(expired), None), (Some(r#"{"token":"live"}"#), None)]),
    ];
    let mut lines = String::new();
    for (what, files) in cases {
        writeln!(lines, "{what}: {}", render(&step(VercelTask::Teams, files, &[])).trim_end()).unwrap();
    }
    let browser = VercelQuestion { task: VercelTask::Teams, files: None, answers: Vec::new(), failed: None, now: NOW };
    writeln!(lines, "in a browser: {}", render(&vercel_step(&browser)).trim_end()).unwrap();
    expect![[r#"
        nothing there: VercelNoCli -
        used before, logged out: VercelNotLoggedIn vercel login
        an empty login: VercelNotLoggedIn vercel login
        an unreadable file: VercelNotLoggedIn vercel login
        a token of another type: VercelNotLoggedIn vercel login
        a token that would break a header: VercelNotLoggedIn vercel login
        not JSON: VercelNotLoggedIn vercel login
        not an object: VercelNotLoggedIn vercel login
        over in a moment: VercelLoginExpired vercel whoami
        over in the new place, empty in the old: VercelLoginExpired vercel whoami
        good: GET https://api.vercel.com/v2/user as cli-token
        of an old version: GET https://api.vercel.com/v2/user as old
        with a byte order mark: GET https://api.vercel.com/v2/user as marked
        over in the new place, good in the old: GET https://api.vercel.com/v2/user as live
        in a browser: VercelNoFiles -
    "#]]
    .assert_eq(&lines);
}

#[test]
fn the_current_team_is_first_and_the_account_is_listed_only_if_it_has_projects() {
    let teams = ok(&json!({"teams": [
        {"id": "team_a", "name": "Alpha", "slug": "alpha"}, {"id": "team_b", "name": null, "slug": "beta"}, {"nonsense": 1},
    ]}));
    let check = |user: &Value, config: &str, expected: Expect| {
        let answers = [ok(&json!({ "user": user })), teams.clone()];
        expected.assert_eq(&render(&step(VercelTask::Teams, &[(Some(LOGIN), Some(config))], &answers)));
    };
    let user = json!({"username": "me", "name": "Me", "version": "northstar"});
    check(&user, r#"{"currentTeam":"team_b"}"#, expect!["team_b beta *; team_a Alpha (alpha); "]);
    check(&json!({"username": "me"}), "{}", expect!["- me *; team_a Alpha (alpha); team_b beta; "]);
}

#[test]
fn projects_are_read_page_by_page() {
    let page = |id: &str, next: Value| ok(&json!({"projects": [{"id": id}], "pagination": {"next": next}}));
    let check = |team: Option<&str>, answers: &[HttpResponse], expected: Expect| {
        let task = VercelTask::Projects(team.map(str::to_owned));
        expected.assert_eq(&render(&step(task, &[(Some(LOGIN), None)], answers)));
    };
    check(None, &[], expect!["GET https://api.vercel.com/v10/projects?limit=100 as cli-token"]);
    let first = [page("p1", json!(7))];
    let next = expect!["GET https://api.vercel.com/v10/projects?teamId=team%2Fa&limit=100&from=7 as cli-token"];
    check(Some("team/a"), &first, next);
    check(None, &[page("p1", json!("a b")), page("p2", Value::Null)], expect!["p1 p1; p2 p2; "]);
    check(None, &[ok(&json!({"projects": []}))], expect!["VercelNoProject - "]);
    let endless = vec![page("p", json!(1)); 20];
    let VercelStep::Done { projects, .. } = step(VercelTask::Projects(None), &[(Some(LOGIN), None)], &endless) else {
        panic!("a server that never ends its list is not asked for ever")
    };
    assert_eq!(projects.len(), 20);
}

fn choice() -> VercelChoice {
    VercelChoice {
        origin: "https://gateway.example".to_owned(),
        base_url: "https://gateway.example/v1".to_owned(),
        team_id: Some("team_a".to_owned()),
        team_name: "Alpha".to_owned(),
        project_id: "a/b".to_owned(),
        project_name: "B".to_owned(),
    }
}

/// Returns a session whose token expires in an hour, as the shell stores it.
fn stored(choice: VercelChoice) -> String {
    render(&step(VercelTask::SignIn(choice), &[(Some(LOGIN), None)], &[ok(&json!({"token": "gateway-token"}))]))
}

#[test]
fn a_token_is_renewed_before_it_expires_but_not_again_and_again() {
    let stored = stored(choice());
    let state = |left: f64, failed_before: Option<f64>| {
        let now = NOW + 3600.0 - left;
        format!("{:?}", vercel_session(&stored, now, failed_before.map_or(0.0, |before| now - before)).unwrap().state)
    };
    let mut lines = String::new();
    for (left, failed_before) in [
        (3600.0, None),
        (901.0, None),
        (900.0, None),
        (900.0, Some(59.0)),
        (900.0, Some(60.0)),
        (1.0, None),
        (0.0, None),
        (0.0, Some(1.0)),
    ] {
        writeln!(lines, "{left} s left, failed {failed_before:?} s ago: {}", state(left, failed_before)).unwrap();
    }
    expect![[r#"
        3600 s left, failed None s ago: Valid
        901 s left, failed None s ago: Valid
        900 s left, failed None s ago: ExpiresSoon
        900 s left, failed Some(59.0) s ago: Valid
        900 s left, failed Some(60.0) s ago: ExpiresSoon
        1 s left, failed None s ago: ExpiresSoon
        0 s left, failed None s ago: Expired
        0 s left, failed Some(1.0) s ago: Expired
    "#]]
    .assert_eq(&lines);
    let renewed = step(VercelTask::Renew(stored), &[(Some(LOGIN), None)], &[ok(&json!({"token": "next"}))]);
    expect![[r#"{"version":1,"origin":"https://gateway.example","baseUrl":"https://gateway.example/v1","teamId":"team_a","teamName":"Alpha","projectId":"a/b","projectName":"B","token":"next","expiresAt":1700003600.0}"#]].assert_eq(&render(&renewed));
    expect!["VercelUnexpected - no session"].assert_eq(&render(&step(
        VercelTask::Renew("{}".to_owned()),
        &[(Some(LOGIN), None)],
        &[],
    )));
}

#[test]
fn sessions_are_the_same_if_their_endpoint_and_project_are() {
    let identity = |choice: VercelChoice| vercel_session(&stored(choice), NOW, 0.0).unwrap().identity;
    let same = VercelChoice { team_name: "Renamed".to_owned(), project_name: "Renamed".to_owned(), ..choice() };
    assert_eq!(identity(choice()), identity(same));
    for other in [
        VercelChoice { origin: "https://other.example".to_owned(), ..choice() },
        VercelChoice { base_url: "https://gateway.example/v2".to_owned(), ..choice() },
        VercelChoice { team_id: None, ..choice() },
        VercelChoice { project_id: "c".to_owned(), ..choice() },
    ] {
        assert_ne!(identity(choice()), identity(other));
    }
    let damaged =
        ["", "null", "[]", "{", r#"{"origin":1}"#, r#"{"origin":"o","baseUrl":"b","projectId":"p","token":"t"}"#];
    for stored in damaged {
        assert_eq!(vercel_session(stored, NOW, 0.0), None, "{stored}");
    }
}

/// A sign-in as each version of the format stored it. The first had no number.
const OLDER: [&str; 2] = [include_str!("data/upgrade/sign-in-0.json"), include_str!("data/upgrade/sign-in-1.json")];

#[test]
fn sign_ins_of_every_older_version_are_used_and_those_of_newer_ones_are_not() {
    let written: Value = serde_json::from_str(&stored(choice())).unwrap();
    assert_eq!(written["version"], OLDER.len() - 1, "add a file of the new version to the list above");
    for older in OLDER {
        let session = vercel_session(older, NOW, 0.0).unwrap();
        assert_eq!((session.label.as_str(), session.token.as_str()), ("Alpha / B", "gateway-token"), "{older}");
        let renewal = [ok(&json!({"token": "next"}))];
        let renewed = render(&step(VercelTask::Renew(older.to_owned()), &[(Some(LOGIN), None)], &renewal));
        assert_eq!(serde_json::from_str::<Value>(&renewed).unwrap()["version"], written["version"], "{older}");
    }
    let mut newer = written;
    newer["version"] = OLDER.len().into();
    assert_eq!(vercel_session(&newer.to_string(), NOW, 0.0), None);
}

#[test]
fn a_token_for_the_gateway_has_an_expiry_date() {
    let jwt = |payload: &Value| format!("h.{}.s", URL_SAFE_NO_PAD.encode(payload.to_string()));
    let tokens = [
        "opaque".to_owned(),
        jwt(&json!({"exp": 1_700_043_200})),
        jwt(&json!({"exp": 1.5, "name": "Zoë ÿ???>>>"})),
        jwt(&json!({"exp": "soon"})),
        jwt(&json!({"exp": -1})),
        jwt(&Value::Null),
        "a.!!!.c".to_owned(),
    ];
    let mut lines = String::new();
    let mut check = |answer: Option<HttpResponse>| {
        let answers: Vec<_> = answer.into_iter().collect();
        let text = render(&step(VercelTask::SignIn(choice()), &[(Some(LOGIN), None)], &answers));
        writeln!(lines, "{}", text.split_once("\"expiresAt\":").map_or(text.trim_end(), |(_, time)| time)).unwrap();
    };
    check(None);
    for token in &tokens {
        check(Some(ok(&json!({ "token": token }))));
    }
    for (status, body) in [
        (200, r#"{"nothing":1}"#),
        (200, r#"{"token":"a\nb"}"#),
        (200, "<html>"),
        (401, "{}"),
        (403, r#"{"error":{"code":"forbidden","invalidToken":true}}"#),
        (403, r#"{"error":{"code":"forbidden"}}"#),
        (404, "{}"),
        (500, ""),
    ] {
        check(Some(HttpResponse { status, headers: Vec::new(), body: body.to_owned() }));
    }
    expect![[r#"
        POST https://api.vercel.com/v1/projects/a%2Fb/token?teamId=team_a&source=vercel-oidc-refresh as cli-token
        1700003600.0}
        1700043200.0}
        1.5}
        1700003600.0}
        1700003600.0}
        1700003600.0}
        1700003600.0}
        VercelUnexpected - no token
        VercelUnexpected - no token
        VercelUnexpected - no token
        VercelLoginRefused vercel login HTTP 401
        VercelLoginRefused vercel login HTTP 403
        VercelForbidden - HTTP 403
        VercelNoProject - HTTP 404
        VercelUnexpected - HTTP 500
    "#]]
    .assert_eq(&lines);
}
