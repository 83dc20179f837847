//! Refreshing the models of all connections, and testing one of them.

use super::{Editor, keys, plain, sluice, text};
use crate::boundary::{ConnectionTest, DialogConnection, DialogLevel, DialogRow, DialogStep, RefreshedModels};
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
    let lists: Vec<RefreshedModels> = editor.ask(DialogStep::RefreshModels { title }).await.unwrap_or_default();
    let about = |label: &str, problem: &str| format!("{label}: {problem}");
    let mut problems: Vec<String> = Vec::new();
    problems.extend(connections.iter().filter_map(|one| Some(about(&one.label, one.problem.as_deref()?))));
    problems.extend(lists.iter().flat_map(|list| list.problems.iter().map(|problem| about(&list.label, problem))));
    if !problems.is_empty() {
        return show_problem(editor, &problems.join(" ")).await;
    }
    if lists.is_empty() {
        return keys::none_yet(editor).await;
    }
    let says = match lists.iter().map(|list| list.models).sum() {
        1_usize => MessageCode::FoundOneModel.into(),
        models => Message::new(MessageCode::FoundModels, [&models]),
    };
    editor.show(DialogLevel::Information, sluice(vec![says]), []).await;
    Some(())
}

/// Says that a connection can't be used, and offers to test it.
pub(super) async fn show_problem(editor: &Editor, problem: &str) -> Option<()> {
    let (button, command) = (MessageCode::TestTheConnection, "sluice.testConnection");
    editor.offer(DialogLevel::Warning, sluice(plain(problem)), [button], [command]).await
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
