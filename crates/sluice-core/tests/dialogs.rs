//! Dialogs with the user of an editor: what is asked next, and what is done with the answers.

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::dialogs::{World, with_server, works};

fn model(id: &str, pricing: &str, is_default: bool) -> Value {
    json!({
        "id": id, "serverId": id, "name": id.to_uppercase(), "detail": "", "pricing": pricing,
        "isDefault": is_default, "isSmallDefault": !is_default,
    })
}

fn two_models() -> World {
    World { models: json!([model("big", "$3", true), model("mini", "", false)]), ..World::default() }
}

#[test]
fn without_models_the_user_learns_how_to_get_some() {
    let mut world = World { models: json!([]), ..World::default() };
    world.check(json!("editModel"), &["Use a Local Server"], expect![[r#"
        show Information: Sluice: there is no key yet, so only the demo model is available. It answers inside VS Code and needs no connection. [Add a Key] [Use a Local Server] [Sign In with the Vercel CLI]
        run sluice.addServer []
    "#]]);
}

#[test]
fn the_default_model_is_chosen_and_taken_back() {
    let mut world = two_models();
    world.check(
        json!("chooseDefaultModel"),
        &["MINI"],
        expect![[r#"
        pick Choose the Default Model (It is offered first in a new chat): $check BIG (big) | MINI (mini)
        set sluice.models.default = "mini"
        set chat.defaultModel = "mini"
    "#]],
    );
    world.check(json!("chooseDefaultModel"), &["None: leave it to Sluice"], expect![[r#"
        pick Choose the Default Model (It is offered first in a new chat): None: leave it to Sluice | $check BIG (big) | $check MINI (mini)
        set sluice.models.default = null
        set chat.defaultModel = null
    "#]]);
    world.check(
        json!("chooseDefaultModel"),
        &["-"],
        expect![[r#"
        pick Choose the Default Model (It is offered first in a new chat): $check BIG (big) | MINI (mini)
    "#]],
    );
}

#[test]
fn a_model_is_changed_field_by_field() {
    let answers = ["BIG", "Maximum output tokens", "many", "4000", "Hide the model", "Yes", "Hide the model", "-"];
    two_models().check(json!("editModel"), &answers, expect![[r#"
        pick Change a Model (Which model?): BIG (big) | MINI (mini)
        pick BIG (What should be different? Leave the list when you are done.): Hide the model (The model's own) | Context size (The model's own) | Maximum input tokens (The model's own) | Maximum output tokens (The model's own) | Thinking effort (The model's own) | Can see images (The model's own) | Can call tools (The model's own) | Extra fields of the request (The model's own) | Routing (The model's own)
        input Maximum output tokens: Enter a value such as 200000, or nothing for the model's own.
          invalid: `big: maxOutputTokens` in overrides must look like `200000`
        set sluice.models.overrides = {"big":{"maxOutputTokens":4000}}
        pick BIG (What should be different? Leave the list when you are done.): Hide the model (The model's own) | Context size (The model's own) | Maximum input tokens (The model's own) | Maximum output tokens (4000) | Thinking effort (The model's own) | Can see images (The model's own) | Can call tools (The model's own) | Extra fields of the request (The model's own) | Routing (The model's own)
        pick Hide the model (): The model's own | Yes | No
        set sluice.models.overrides = {"big":{"hidden":true,"maxOutputTokens":4000}}
        pick BIG (What should be different? Leave the list when you are done.): Hide the model (true) | Context size (The model's own) | Maximum input tokens (The model's own) | Maximum output tokens (4000) | Thinking effort (The model's own) | Can see images (The model's own) | Can call tools (The model's own) | Extra fields of the request (The model's own) | Routing (The model's own)
        pick Hide the model (): The model's own | Yes | No
    "#]]);
}

#[test]
fn models_for_the_jobs_of_the_editor() {
    let mut world = two_models();
    world.check(json!("setUpModels"), &["Use Sluice for all of them"], expect![[r#"
        pick Models for VS Code's Own Jobs (Without this, VS Code uses Copilot's models for some of them): $check-all Use Sluice for all of them (BIG ($3); for small jobs MINI) | $circle-large-outline New chats (VS Code decides) | $circle-large-outline Inline chat (VS Code decides) | $circle-large-outline Plan agent (VS Code decides) | $circle-large-outline Explore sub-agent (VS Code decides) | $circle-large-outline Summaries and commit messages (VS Code decides) | $circle-large-outline Titles and other small jobs (VS Code decides) | $discard Leave all of them to VS Code
        set chat.defaultModel = "big"
        set inlineChat.defaultModel = "BIG (sluice)"
        set chat.planAgent.defaultModel = "BIG (sluice)"
        set chat.exploreAgent.defaultModel = "MINI (sluice)"
        set chat.utilityModel = "sluice/mini"
        set chat.utilitySmallModel = "sluice/mini"
        show Information: Sluice: VS Code now uses BIG ($3), and MINI for small jobs.
    "#]]);
    world.settings.insert("chat.utilityModel".to_owned(), "other/model".into());
    let answers = ["Inline chat", "MINI", "Plan agent", "-", "Leave all of them to VS Code"];
    world.check(json!("setUpModels"), &answers, expect![[r#"
        pick Models for VS Code's Own Jobs (Without this, VS Code uses Copilot's models for some of them): $check-all Use Sluice for all of them (BIG ($3); for small jobs MINI) | $pass-filled New chats (BIG ($3)) | $pass-filled Inline chat (BIG ($3)) | $pass-filled Plan agent (BIG ($3)) | $pass-filled Explore sub-agent (MINI) | $circle-large-outline Summaries and commit messages (other/model) | $pass-filled Titles and other small jobs (MINI) | $discard Leave all of them to VS Code
        pick Inline chat (): BIG (big) | MINI (mini)
        set inlineChat.defaultModel = "MINI (sluice)"
        pick Models for VS Code's Own Jobs (Without this, VS Code uses Copilot's models for some of them): $check-all Use Sluice for all of them (BIG ($3); for small jobs MINI) | $pass-filled New chats (BIG ($3)) | $pass-filled Inline chat (MINI) | $pass-filled Plan agent (BIG ($3)) | $pass-filled Explore sub-agent (MINI) | $circle-large-outline Summaries and commit messages (other/model) | $pass-filled Titles and other small jobs (MINI) | $discard Leave all of them to VS Code
        pick Plan agent (): BIG (big) | MINI (mini)
        pick Models for VS Code's Own Jobs (Without this, VS Code uses Copilot's models for some of them): $check-all Use Sluice for all of them (BIG ($3); for small jobs MINI) | $pass-filled New chats (BIG ($3)) | $pass-filled Inline chat (MINI) | $pass-filled Plan agent (BIG ($3)) | $pass-filled Explore sub-agent (MINI) | $circle-large-outline Summaries and commit messages (other/model) | $pass-filled Titles and other small jobs (MINI) | $discard Leave all of them to VS Code
        set chat.defaultModel = null
        set inlineChat.defaultModel = null
        set chat.planAgent.defaultModel = null
        set chat.exploreAgent.defaultModel = null
        set chat.utilitySmallModel = null
    "#]]);
}

#[test]
fn all_lists_are_refreshed() {
    let connection = |label: &str, problem: Value, must_confirm: bool| {
        json!({
            "label": label, "baseUrl": null, "problem": problem, "mustConfirm": must_confirm,
            "kept": null, "isSignIn": false,
        })
    };
    let mut world = World { connections: json!([connection("Work", Value::Null, false)]), ..World::default() };
    world.check(
        json!("refreshModels"),
        &[],
        expect![[r#"
        show Information: Sluice: 3 models can chat.
    "#]],
    );
    world.connections = json!([connection("Work", json!("Nobody confirmed it."), true)]);
    world.check(
        json!("refreshModels"),
        &["Test the Connection"],
        expect![[r#"
        show Warning: Sluice: Work: Nobody confirmed it. [Test the Connection]
        run sluice.testConnection []
    "#]],
    );
    world.check(
        json!("testConnection"),
        &[],
        expect![[r#"
        show Error: Sluice: Address: Nobody confirmed it.
    "#]],
    );
}

#[test]
fn a_user_signs_in_for_a_project() {
    let team = |name: &str| json!({"id": name, "name": name, "slug": "", "isCurrent": false});
    let answer =
        |teams: Value, projects: Value| json!({"teams": teams, "projects": projects, "problem": null, "command": null});
    let nothing = || answer(json!([]), json!([]));
    let projects = || answer(json!([]), json!([{"id": "p1", "name": "site"}]));
    let mut world = with_server("", works());
    world.vercel = vec![answer(json!([team("a"), team("b")]), json!([])), projects(), nothing()];
    world.check(json!("signIn"), &["b", "site"], expect![[r#"
        vercel "teams"
        pick Sign in with the Vercel CLI (Whose credits should be used?): a | b
        vercel {"projects":"b"}
        pick Sign in with the Vercel CLI (Which project of b should the requests belong to?): site
        vercel {"signIn":{"baseUrl":"https://ai-gateway.vercel.sh/v1","origin":"https://ai-gateway.vercel.sh","projectId":"p1","projectName":"site","teamId":"b","teamName":"b"}}
        show Information: Sluice: signed in for b / site. The models are in the model picker of the chat.
    "#]]);
    // With one team, there is nothing to choose, and another gateway has to be confirmed.
    world.settings.insert("sluice.baseUrl".to_owned(), "https://a.example/v1".into());
    world.vercel = vec![answer(json!([team("a")]), json!([])), projects()];
    world.check(json!("signIn"), &["Sign In for This Address", "-"], expect![[r#"
        show Question: Your settings specify https://a.example as the gateway. The token of your Vercel project will be sent there. [Sign In for This Address]
        vercel "teams"
        vercel {"projects":"a"}
        pick Sign in with the Vercel CLI (Which project of a should the requests belong to?): site
    "#]]);
    world.vercel = vec![json!({
        "teams": [], "projects": [], "problem": "vercelNotLoggedIn", "command": "vercel login",
    })];
    let answers = ["Sign In for This Address", "Run `vercel login` in a Terminal"];
    world.check(json!("signIn"), &answers, expect![[r#"
        show Question: Your settings specify https://a.example as the gateway. The token of your Vercel project will be sent there. [Sign In for This Address]
        vercel "teams"
        show Error: Sluice: The Vercel CLI isn't logged in. Run `vercel login` in a terminal, then try again. [Run `vercel login` in a Terminal]
        terminal vercel login
    "#]]);
    world.settings.insert("sluice.baseUrl".to_owned(), "nonsense".into());
    world.check(json!("signIn"), &["Open the Setting"], expect![[r#"
        show Error: Sluice: The base URL does not start with https://. It should look like https://ai-gateway.vercel.sh/v1 [Open the Setting]
        run workbench.action.openSettings ["@id:sluice.baseUrl"]
    "#]]);
    world.check(
        json!("signOut"),
        &[],
        expect![[r#"
        show Information: Sluice: signed out. The token is deleted; the Vercel CLI stays logged in.
    "#]],
    );
}

#[test]
fn recording_is_switched_on_and_off() {
    let toggle =
        |now_ms: u64, has_workspace: bool| json!({"toggleRecording": {"nowMs": now_ms, "hasWorkspace": has_workspace}});
    let mut world = World::default();
    world.check(
        toggle(5, false),
        &[],
        expect![[r#"
        show Information: Sluice: open a folder first. Recordings belong to a workspace.
    "#]],
    );
    world.check(toggle(5, true), &["-"], expect![[r#"
        show Question: Every message that is sent to Sluice's models from this workspace, and every answer, will be kept on this machine for seven days. Recording ends after eight hours. [Record]
    "#]]);
    world.check(toggle(5, true), &["Record"], expect![[r#"
        show Question: Every message that is sent to Sluice's models from this workspace, and every answer, will be kept on this machine for seven days. Recording ends after eight hours. [Record]
        keep recordingUntil = 28800005
    "#]]);
    world.check(
        toggle(6, true),
        &[],
        expect![[r#"
        show Information: Sluice: recording is off. What was recorded is deleted after seven days, or by a command.
        keep recordingUntil = null
    "#]],
    );
}

#[test]
fn a_recording_is_exported_with_the_messages_or_without_them() {
    let mut world = World::default();
    world.check(
        json!({"exportRecording": "r1"}),
        &["Without the messages"],
        expect![[r#"
        pick Export as a File (): Without the messages | With the messages
        open r1, with texts: false
    "#]],
    );
    world.check(
        json!({"exportRecording": "r1"}),
        &["With the messages"],
        expect![[r#"
        pick Export as a File (): Without the messages | With the messages
        open r1, with texts: true
    "#]],
    );
}

#[test]
fn a_limit_is_raised() {
    let limit = |model: Value| json!({"period": "month", "model": model, "limit": 0.5, "used": 0.4});
    let ask = |model: Value| json!({"askAboutLimit": {"text": [{"code": "plain", "args": ["Too much."]}], "limit": limit(model)}});
    let mut world = World::default();
    world.check(
        ask(Value::Null),
        &["Raise the Limit", "0.1", "NaN", "$2"],
        expect![[r#"
        show Question: Too much. [Continue This Conversation] [Raise the Limit] [Stop]
        input Raise a Spend Limit: The new limit in US dollars
          invalid: Enter an amount of more than $0.5.
          invalid: Enter an amount of more than $0.5.
        set sluice.spend.month = 2.0
    "#]],
    );
    world.check(
        ask(json!("acme/one")),
        &["Raise the Limit", "3"],
        expect![[r#"
        show Question: Too much. [Continue This Conversation] [Raise the Limit] [Stop]
        input Raise a Spend Limit: The new limit in US dollars
        set sluice.spend.models = {"acme/one":{"month":3.0}}
    "#]],
    );
    world.check(
        ask(Value::Null),
        &["Raise the Limit", "-"],
        expect![[r#"
        show Question: Too much. [Continue This Conversation] [Raise the Limit] [Stop]
        input Raise a Spend Limit: The new limit in US dollars
        done: Stop
    "#]],
    );
    world.check(
        ask(Value::Null),
        &["Continue This Conversation"],
        expect![[r#"
        show Question: Too much. [Continue This Conversation] [Raise the Limit] [Stop]
        done: Continue
    "#]],
    );
    world.check(
        json!({ "raiseLimit": null }),
        &[],
        expect![[r#"
        run workbench.action.openSettings ["@id:sluice.spend"]
    "#]],
    );
    world.check(
        json!({"raiseLimit": limit(Value::Null)}),
        &["1"],
        expect![[r#"
        input Raise a Spend Limit: The new limit in US dollars
        set sluice.spend.month = 1.0
    "#]],
    );
}

#[test]
fn problems_lead_to_what_can_be_done() {
    let mut world = World::default();
    world.check(
        json!({"connectionProblem": "Work: no."}),
        &["Test the Connection"],
        expect![[r#"
        show Warning: Sluice: Work: no. [Test the Connection]
        run sluice.testConnection []
    "#]],
    );
    let problem = |others: usize| {
        let message = json!({"code": "plain", "args": ["It can't work."]});
        json!({"settingProblem": {"setting": "models.hidden", "message": message, "others": others}})
    };
    world.check(
        problem(0),
        &["-"],
        expect![[r#"
        show Warning: Sluice: It can't work. [Open the Setting]
    "#]],
    );
    world.check(
        problem(2),
        &["Open the Setting"],
        expect![[r#"
        show Warning: Sluice: It can't work. (2 more in the log) [Open the Setting]
        run workbench.action.openSettings ["@id:sluice.models.hidden"]
    "#]],
    );
}

#[test]
fn smoother_streaming_is_offered_until_the_user_has_answered() {
    let mut world = World::default();
    world.check(json!("smoothStreaming"), &["-"], expect![[r#"
        show Information: Smoother streaming: VS Code shows text as it arrives instead of word by word. This is an experiment of VS Code (chat.experimental.incrementalRendering), which may change or remove it. It may need a restart of VS Code. [Turn On] [Don't Offer Again]
    "#]]);
    world.check(json!("smoothStreaming"), &["Turn On"], expect![[r#"
        show Information: Smoother streaming: VS Code shows text as it arrives instead of word by word. This is an experiment of VS Code (chat.experimental.incrementalRendering), which may change or remove it. It may need a restart of VS Code. [Turn On] [Don't Offer Again]
        set chat.experimental.incrementalRendering.enabled = true
        set chat.experimental.incrementalRendering.buffering = "off"
        keep smoothStreamingAnswered = true
    "#]]);
    world.check(json!("smoothStreaming"), &["Don't Offer Again"], expect![[r#"
        show Information: Smoother streaming: VS Code shows text as it arrives instead of word by word. This is an experiment of VS Code (chat.experimental.incrementalRendering), which may change or remove it. It may need a restart of VS Code. [Turn On] [Don't Offer Again]
        keep smoothStreamingAnswered = true
    "#]]);
}
