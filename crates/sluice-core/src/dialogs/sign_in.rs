//! Sign-in with the Vercel CLI: for which team and which project, and what to do if it fails.

use serde_json::Value;

use super::{Editor, plain, sluice, text};
use crate::boundary::{DialogLevel, DialogRow, DialogStep, VercelAnswer};
use crate::message::{Message, MessageCode};
use crate::send::{BadAddress, Endpoint};
use crate::vercel::{VercelChoice, VercelProject, VercelTask, VercelTeam};

pub(super) async fn sign_in(editor: &Editor) -> Option<()> {
    let address = editor.text_setting("sluice.baseUrl").await.unwrap_or_default();
    let endpoint = match Endpoint::parse_confirmed(&address) {
        Ok(endpoint) => endpoint,
        Err(BadAddress(problem)) => {
            editor.show(DialogLevel::Error, sluice(vec![problem]), [MessageCode::OpenSetting]).await?;
            return editor.open_setting("baseUrl").await;
        }
    };
    if !endpoint.is_vercel && !endpoint.is_loopback {
        let question = vec![Message::new(MessageCode::TokenGoesElsewhere, [&endpoint.origin])];
        editor.show(DialogLevel::Question, question, [MessageCode::SignInForAddress]).await?;
    }
    let asking = MessageCode::AskingForTeams.into();
    let team = choose_team(editor, editor.vercel(VercelTask::Teams, Some(asking)).await?.teams).await?;
    let asking = Message::new(MessageCode::AskingForProjects, [&team.name]);
    let found = editor.vercel(VercelTask::Projects(team.id.clone()), Some(asking)).await?;
    let project = choose_project(editor, &team, found.projects).await?;
    let whom = format!("{} / {}", team.name, project.name);
    let choice = VercelChoice {
        origin: endpoint.origin,
        base_url: endpoint.base_url,
        team_id: team.id,
        team_name: team.name,
        project_id: project.id,
        project_name: project.name,
    };
    editor.vercel(VercelTask::SignIn(choice), None).await?;
    editor.show(DialogLevel::Information, vec![Message::new(MessageCode::SignedIn, [&whom])], []).await;
    Some(())
}

async fn choose_team(editor: &Editor, teams: Vec<VercelTeam>) -> Option<VercelTeam> {
    let mut rows: Vec<_> = teams
        .into_iter()
        .map(|team| {
            let detail = if team.is_current { text(MessageCode::UsedByCli) } else { Vec::new() };
            (DialogRow { label: plain(&team.name), icon: None, description: plain(&team.slug), detail }, team)
        })
        .collect();
    if rows.len() == 1 {
        return rows.pop().map(|(_, team)| team);
    }
    editor.pick(text(MessageCode::SignInTitle), text(MessageCode::WhoseCredits), rows).await
}

async fn choose_project(editor: &Editor, team: &VercelTeam, projects: Vec<VercelProject>) -> Option<VercelProject> {
    let row = |project: VercelProject| (DialogRow { label: plain(&project.name), ..DialogRow::default() }, project);
    let which = vec![Message::new(MessageCode::WhichProject, [&team.name])];
    editor.pick(text(MessageCode::SignInTitle), which, projects.into_iter().map(row).collect()).await
}

pub(super) async fn sign_out(editor: &Editor) -> Option<()> {
    let was_signed_in: bool = editor.ask(DialogStep::SignOut).await?;
    let says = if was_signed_in { MessageCode::SignedOut } else { MessageCode::NotSignedIn };
    editor.show(DialogLevel::Information, text(says), []).await;
    Some(())
}

impl Editor {
    /// Asks Vercel. If that fails, tells the user what to do about it.
    async fn vercel(&self, task: VercelTask, title: Option<Message>) -> Option<VercelAnswer> {
        let answer: VercelAnswer = self.ask(DialogStep::AskVercel { task, title }).await?;
        let Some(problem) = answer.problem else { return Some(answer) };
        let says = sluice(text(problem));
        match answer.command {
            None => {
                self.show(DialogLevel::Error, says, []).await;
            }
            Some(command) => {
                let button = Message::new(MessageCode::RunInTerminal, [&command]);
                let step = DialogStep::Show { level: DialogLevel::Error, text: says, buttons: vec![button] };
                self.ask::<Value>(step).await?;
                self.0.ask(DialogStep::RunInTerminal { command }).await;
            }
        }
        None
    }
}
