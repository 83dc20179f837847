//! The sign-in with the Vercel CLI: who gets its token, when it is renewed, and what happens if that fails.

#![expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{EditorState, Received, RequestsTask, WorkResult, WorkStep, WorkTask, join_messages};

const NOW: f64 = 1_700_000_000.0;
const OURS: &str = "https://a.example";

/// An editor and Vercel.
struct World {
    state: EditorState,
    stored: Option<String>,
    /// What Vercel answers.
    vercel: Value,
    /// What the user stores while Vercel is asked: another session, or none.
    meanwhile: Vec<Option<String>>,
    now: f64,
}

/// A session whose token expires after these seconds.
fn session(project: &str, expires_in: f64) -> String {
    json!({
        "version": 1, "origin": OURS, "baseUrl": "https://a.example/v1", "teamName": "Team", "projectId": project,
        "projectName": "Site", "token": "old-token", "expiresAt": NOW + expires_in,
    })
    .to_string()
}

fn signed_in(expires_in: f64) -> World {
    let vercel = json!({"status": 200, "headers": [], "body": r#"{"token":"new-token"}"#});
    let stored = Some(session("p1", expires_in));
    World { state: EditorState::default(), stored, vercel, meanwhile: Vec::new(), now: NOW }
}

impl World {
    fn check(&mut self, work: &Value, expected: Expect) {
        let task = json!({"work": work, "platform": "linux", "environment": {"HOME": "/home/me"}, "now": self.now});
        let task = json!({"task": {"signIn": task}, "nowMs": 0, "random": vec![0; 16]});
        let mut work = serde_json::from_value::<WorkTask<RequestsTask>>(task).unwrap().start(&self.state);
        let (mut step, mut seen) = (work.next(None), String::new());
        let result = loop {
            let result = match step {
                WorkStep::Done { result } => break result,
                WorkStep::ReadSession => WorkResult::Texts(vec![self.stored.clone()]),
                WorkStep::WriteSession { session } => {
                    seen += &format!("store {:?}\n", session.as_ref().map(|session| &session.token));
                    self.stored = session.map(|session| session.stored);
                    WorkResult::Done(true)
                }
                WorkStep::ReadTexts { paths } => {
                    let login = |path: &String| path.ends_with("share/com.vercel.cli/auth.json");
                    let text = |path| login(path).then(|| r#"{"token":"cli-token"}"#.to_owned());
                    WorkResult::Texts(paths.iter().map(text).collect())
                }
                WorkStep::Send { request, bearer } => {
                    assert!(request.url.starts_with("https://api.vercel.com/") && bearer == "cli-token");
                    seen +=
                        &format!("{} {}\n", request.method, request.url.trim_start_matches("https://api.vercel.com"));
                    if let Some(stored) = self.meanwhile.pop() {
                        self.stored = stored;
                    }
                    WorkResult::Received(vec![serde_json::from_value::<Received>(self.vercel.clone()).unwrap()])
                }
                step => panic!("{step:?}"),
            };
            step = work.next(Some(result));
        };
        seen += &format!("bearer {}", result["bearer"]);
        if !result["problem"].is_null() {
            let problem: Vec<_> = serde_json::from_value(result["problem"].clone()).unwrap();
            seen += &format!("\nproblem: {}", join_messages(&problem, " "));
        }
        for (name, value) in [("changed", &result["changed"]), ("was signed in", &result["wasSignedIn"])] {
            seen += if *value == true { "\n" } else { "" };
            seen += if *value == true { name } else { "" };
        }
        if !result["answer"]["problem"].is_null() {
            seen += &format!("\nanswer: {} {}", result["answer"]["problem"], result["answer"]["command"]);
        }
        for line in result["log"].as_array().unwrap() {
            seen += &format!("\n{}: {}", line[0].as_str().unwrap(), line[1].as_str().unwrap());
        }
        expected.assert_eq(&(seen + "\n"));
    }
}

fn bearer(origin: &str) -> Value {
    json!({"bearer": {"origin": origin}})
}

fn unreachable() -> Value {
    json!({"transport": "connect", "code": "ENOTFOUND"})
}

#[test]
fn a_token_goes_to_its_own_origin_only() {
    signed_in(10_000.0).check(
        &bearer(OURS),
        expect![[r#"
        bearer "old-token"
    "#]],
    );
    signed_in(10_000.0).check(
        &bearer("https://other.example"),
        expect![[r#"
        bearer null
    "#]],
    );
    // Not even a renewal is tried.
    signed_in(-1.0).check(
        &bearer("https://other.example"),
        expect![[r#"
        bearer null
    "#]],
    );
    World { stored: None, ..signed_in(0.0) }.check(
        &bearer(OURS),
        expect![[r#"
        bearer null
        problem: You are signed out. Run "Sluice: Sign in with the Vercel CLI" to continue.
    "#]],
    );
    World { stored: Some("{".to_owned()), ..signed_in(0.0) }.check(
        &bearer(OURS),
        expect![[r#"
        bearer null
        problem: You are signed out. Run "Sluice: Sign in with the Vercel CLI" to continue.
    "#]],
    );
}

#[test]
fn a_token_is_renewed_before_it_expires() {
    let mut world = signed_in(600.0);
    world.check(
        &bearer(OURS),
        expect![[r#"
        POST /v1/projects/p1/token?source=vercel-oidc-refresh
        store Some("new-token")
        bearer "new-token"
        debug: The Vercel token is renewed.
    "#]],
    );
    world.check(
        &bearer(OURS),
        expect![[r#"
        bearer "new-token"
    "#]],
    );
    signed_in(-1.0).check(
        &bearer(OURS),
        expect![[r#"
        POST /v1/projects/p1/token?source=vercel-oidc-refresh
        store Some("new-token")
        bearer "new-token"
        debug: The Vercel token is renewed.
    "#]],
    );
}

#[test]
fn a_token_that_cannot_be_renewed_is_used_until_it_expires() {
    let mut world = World { vercel: unreachable(), ..signed_in(100.0) };
    world.check(
        &bearer(OURS),
        expect![[r#"
        POST /v1/projects/p1/token?source=vercel-oidc-refresh
        bearer "old-token"
        warn: The Vercel token cannot be renewed: vercelUnreachable Connect ENOTFOUND
    "#]],
    );
    // Vercel isn't asked again at once.
    world.check(
        &bearer(OURS),
        expect![[r#"
        bearer "old-token"
    "#]],
    );
    world.now += 61.0;
    world.check(
        &bearer(OURS),
        expect![[r#"
        POST /v1/projects/p1/token?source=vercel-oidc-refresh
        bearer "old-token"
        warn: The Vercel token cannot be renewed: vercelUnreachable Connect ENOTFOUND
    "#]],
    );
    world.now += 61.0;
    world.check(&bearer(OURS), expect![[r#"
        POST /v1/projects/p1/token?source=vercel-oidc-refresh
        bearer null
        problem: The sign-in with the Vercel CLI has expired. Vercel cannot be reached. Check the network and the proxy settings, then try again.
        warn: The Vercel token cannot be renewed: vercelUnreachable Connect ENOTFOUND
    "#]]);
}

#[test]
fn what_the_user_does_meanwhile_counts() {
    World { meanwhile: vec![None], ..signed_in(-1.0) }.check(
        &bearer(OURS),
        expect![[r#"
        POST /v1/projects/p1/token?source=vercel-oidc-refresh
        bearer "new-token"
    "#]],
    );
    let other = vec![Some(session("p2", 10_000.0))];
    World { meanwhile: other, ..signed_in(-1.0) }.check(
        &bearer(OURS),
        expect![[r#"
        POST /v1/projects/p1/token?source=vercel-oidc-refresh
        bearer "new-token"
    "#]],
    );
}

#[test]
fn signing_in_and_out() {
    let choice = json!({
        "origin": OURS, "baseUrl": "https://a.example/v1", "teamId": null, "teamName": "Me", "projectId": "p1",
        "projectName": "Site",
    });
    let sign_in = json!({"ask": {"signIn": choice}});
    let mut world = World { stored: None, ..signed_in(0.0) };
    world.check(
        &sign_in,
        expect![[r#"
        POST /v1/projects/p1/token?source=vercel-oidc-refresh
        store Some("new-token")
        bearer null
        changed
        info: Signed in with the Vercel CLI.
    "#]],
    );
    world.check(
        &json!("signOut"),
        expect![[r#"
        store None
        bearer null
        changed
        was signed in
        info: Signed out.
    "#]],
    );
    world.check(
        &json!("signOut"),
        expect![[r#"
        store None
        bearer null
        changed
        info: Signed out.
    "#]],
    );
    world.vercel = json!({"status": 401, "headers": [], "body": ""});
    world.check(
        &sign_in,
        expect![[r#"
        POST /v1/projects/p1/token?source=vercel-oidc-refresh
        bearer null
        answer: "vercelLoginRefused" "vercel login"
        warn: Sign-in: vercelLoginRefused HTTP 401
    "#]],
    );
}
