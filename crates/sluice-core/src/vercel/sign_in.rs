//! Keeping a sign-in: who may have its token, when the token is renewed, and what happens if that fails.

use super::session::{TokenState, VercelSession, vercel_session};
use super::{VercelQuestion, VercelStep, VercelTask, vercel_files, vercel_step};
use crate::boundary::{
    LogLevel, Received, SignInResult, SignInTask, SignInWork, VercelAnswer, WorkResult, WorkStep, WorkTask,
};
use crate::failure::Transport;
use crate::files::{Folder, Shared, ShellWork};
use crate::message::MessageCode;
use crate::vercel::NewSession;

impl WorkTask<SignInTask> {
    /// Starts the task. `failed_at` is when the token could not be renewed, in seconds since 1970, or 0.
    pub fn start(self, failed_at: &Shared<f64>) -> ShellWork {
        let (task, failed_at) = (self.task, failed_at.clone());
        ShellWork::new(async move |shell| {
            let work = task.work.clone();
            let mut work_on = Work { shell, failed_at, task, result: SignInResult::default() };
            match work {
                SignInWork::Bearer { origin } => work_on.bearer(&origin).await,
                SignInWork::Ask(task) => work_on.ask(task).await,
                SignInWork::SignOut => {
                    work_on.result.was_signed_in = work_on.session().await.is_some();
                    work_on.store(None).await;
                    work_on.log(LogLevel::Info, "Signed out.");
                    work_on.result.changed = true;
                }
            }
            work_on.result
        })
    }
}

struct Work {
    shell: Folder,
    failed_at: Shared<f64>,
    task: SignInTask,
    result: SignInResult,
}

/// Why Vercel gave no result.
struct Problem {
    code: MessageCode,
    command: Option<&'static str>,
    detail: String,
}

impl Work {
    /// Returns the token, for its own origin only. Renews it if it expires soon.
    async fn bearer(&mut self, origin: &str) {
        let Some((stored, session)) = self.session().await else {
            self.result.problem = Some(vec![MessageCode::SignInFirst.into()]);
            return;
        };
        if session.origin != origin {
            return;
        }
        self.result.bearer = match session.state {
            TokenState::Valid => Some(session.token),
            TokenState::ExpiresSoon | TokenState::Expired => match self.vercel(VercelTask::Renew(stored)).await {
                Ok((_, renewed)) => {
                    // If the user signed out or changed the project in the meantime, that counts.
                    if self.session().await.is_some_and(|(_, now)| now.identity == session.identity) {
                        self.store(renewed.clone()).await;
                        self.log(LogLevel::Debug, "The Vercel token is renewed.");
                    }
                    renewed.map(|renewed| renewed.token)
                }
                Err(Problem { code, detail, .. }) => {
                    self.failed_at.with(|failed_at| *failed_at = self.task.now);
                    self.log(LogLevel::Warn, &format!("The Vercel token cannot be renewed: {detail}"));
                    if session.state == TokenState::Expired {
                        self.result.problem = Some(vec![MessageCode::SignInExpired.into(), code.into()]);
                    }
                    Some(session.token).filter(|_| session.state == TokenState::ExpiresSoon)
                }
            },
        };
    }

    /// Asks Vercel for a dialog, and keeps the session that it gives.
    async fn ask(&mut self, task: VercelTask) {
        match self.vercel(task).await {
            Ok((answer, session)) => {
                self.result.answer = answer;
                if session.is_some() {
                    self.store(session).await;
                    self.log(LogLevel::Info, "Signed in with the Vercel CLI.");
                    self.result.changed = true;
                }
            }
            Err(Problem { code, command, detail }) => {
                self.log(LogLevel::Warn, &format!("Sign-in: {detail}"));
                self.result.answer.problem = Some(code);
                self.result.answer.command = command.map(str::to_owned);
            }
        }
    }

    /// Asks Vercel on behalf of the user of its CLI.
    async fn vercel(&self, task: VercelTask) -> Result<(VercelAnswer, Option<NewSession>), Problem> {
        let SignInTask { platform, environment, now, .. } = &self.task;
        let mut question = VercelQuestion { task, files: None, answers: Vec::new(), failed: None, now: *now };
        if let Some(platform) = platform {
            let paths = vercel_files(platform, environment);
            // They are read every time, because the CLI renews its token.
            if let WorkResult::Texts(files) = self.shell.ask(WorkStep::ReadTexts { paths }).await {
                question.files = Some(files);
            }
        }
        let mut cause = String::new();
        loop {
            let (request, bearer) = match vercel_step(&question) {
                VercelStep::Send { request, bearer } => (request, bearer),
                VercelStep::Done { teams, projects, session } => {
                    return Ok((VercelAnswer { teams, projects, ..VercelAnswer::default() }, session));
                }
                VercelStep::Problem { code, command, detail } => {
                    let name = serde_json::to_value(code).unwrap_or_default();
                    let detail = [name.as_str().unwrap_or_default(), &detail, &cause].join(" ");
                    return Err(Problem { code, command, detail: detail.trim_end().to_owned() });
                }
            };
            match self.shell.received(WorkStep::Send { request, bearer }).await.pop() {
                Some(Received::Response(response)) => question.answers.push(response),
                Some(Received::Failed { transport, code }) => {
                    question.failed = Some(transport);
                    cause = code.unwrap_or_default();
                }
                None => question.failed = Some(Transport::Broken),
            }
        }
    }

    /// Returns the stored sign-in, unless the user isn't signed in.
    async fn session(&self) -> Option<(String, VercelSession)> {
        let WorkResult::Texts(texts) = self.shell.ask(WorkStep::ReadSession).await else { return None };
        let stored = texts.into_iter().next()??;
        let session = vercel_session(&stored, self.task.now, self.failed_at.with(|failed_at| *failed_at))?;
        Some((stored, session))
    }

    async fn store(&mut self, session: Option<NewSession>) {
        self.failed_at.with(|failed_at| *failed_at = 0.0);
        self.shell.ask(WorkStep::WriteSession { session }).await;
    }

    fn log(&mut self, level: LogLevel, line: &str) {
        self.result.log.push((level, line.to_owned()));
    }
}
