//! Refreshing the models of all connections, and testing one of them.

use super::{Editor, keys, plain, sluice, text};
use crate::boundary::{ConnectionTest, DialogConnection, DialogLevel, DialogRow, DialogStep, ServerCheck};
use crate::message::{Message, MessageCode};

/// Requests all lists of models, after the user has confirmed the addresses that need it.
pub(super) async fn refresh_models(editor: &Editor) -> Option<()> {
    let mut connections = editor.connections().await;
    let mut is_confirmed = false;
    for (index, connection) in connections.iter().enumerate() {
        if connection.must_confirm {
            is_confirmed |= editor.ask(DialogStep::ConfirmAddress { index }).await.unwrap_or(false);
        }
    }
    if is_confirmed {
        connections = editor.connections().await;
    }
    let title = MessageCode::RequestingModels.into();
    let lists: Vec<(String, ServerCheck)> = editor.ask(DialogStep::RefreshModels { title }).await.unwrap_or_default();
    let problems = connections.iter().filter_map(|one| Some((&one.label, plain(one.problem.as_ref()?))));
    let problems = problems.chain(lists.iter().map(|(label, list)| (label, list.problems.clone())));
    let about = |(label, problem): (&String, Vec<Message>)| plain(&format!("{label}:")).into_iter().chain(problem);
    let problems: Vec<_> = problems.filter(|(_, problem)| !problem.is_empty()).flat_map(about).collect();
    if !problems.is_empty() {
        return show_problem(editor, problems).await;
    }
    if lists.is_empty() {
        return keys::none_yet(editor).await;
    }
    let says = match lists.iter().map(|(_, list)| list.models).sum() {
        1_usize => MessageCode::FoundOneModel.into(),
        models => Message::new(MessageCode::FoundModels, [&models]),
    };
    editor.show(DialogLevel::Information, sluice(vec![says]), []).await;
    Some(())
}

/// Says that a connection can't be used, and offers to test it.
pub(super) async fn show_problem(editor: &Editor, problem: Vec<Message>) -> Option<()> {
    let (button, command) = (MessageCode::TestTheConnection, "sluice.testConnection");
    editor.offer(DialogLevel::Warning, sluice(problem), [button], [command]).await
}

/// Tests a connection, and says what the test found.
pub(super) async fn test(editor: &Editor) -> Option<()> {
    let connections = editor.connections().await;
    let row = |(index, connection): (usize, DialogConnection)| {
        let description = plain(connection.problem.as_ref().or(connection.base_url.as_ref())?);
        let row = DialogRow { label: plain(&connection.label), icon: None, description, detail: Vec::new() };
        Some((row, (index, connection)))
    };
    let mut rows: Vec<_> = connections.into_iter().enumerate().filter_map(row).collect();
    let (index, connection) = match rows.len() {
        0 => return keys::none_yet(editor).await,
        1 => rows.pop()?.1,
        _ => editor.pick(text(MessageCode::WhichConnection), Vec::new(), rows).await?,
    };
    if let Some(problem) = &connection.problem {
        let says = Message::new(MessageCode::AddressProblem, [problem]);
        editor.show(DialogLevel::Error, sluice(vec![says]), []).await;
        return None;
    }
    let title = Message::new(MessageCode::TestingConnection, [&connection.label]);
    let found: ConnectionTest = editor.ask(DialogStep::TestConnection { index, title }).await?;
    let level = if found.is_failed { DialogLevel::Error } else { DialogLevel::Information };
    editor.show(level, sluice(plain(&found.verdict)), [MessageCode::CopyDetails]).await?;
    editor.0.ask(DialogStep::Copy { text: found.details }).await;
    Some(())
}
