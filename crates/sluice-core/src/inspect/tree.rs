//! Conversations as a tree: turns, rounds of tools, sub-agents, summaries and utility requests.

use std::collections::BTreeMap;

use super::plain;
use crate::boundary::{
    CostBasis, Dollars, PieceGroup, PieceKind, RequestKind, RequestRecord, Status, TreeKind, TreeRow,
};
use crate::message::{Message, MessageCode};
use crate::numbers::{grouped, short_count};
use crate::usage::in_and_out;

const DAY_MS: u64 = 86_400_000;

/// Returns the rows for records that are sorted by time.
pub(super) fn rows(records: &[&RequestRecord]) -> Vec<TreeRow> {
    let mut conversations: BTreeMap<&str, Vec<&RequestRecord>> = BTreeMap::new();
    for &record in records {
        conversations.entry(&record.conversation).or_default().push(record);
    }
    let mut groups: Vec<(u64, Vec<TreeRow>)> = Vec::new();
    let mut others: BTreeMap<u64, Vec<&RequestRecord>> = BTreeMap::new();
    for requests in conversations.into_values() {
        let newest = requests.last().map_or(0, |last| last.started_ms);
        if requests.iter().any(|request| request.kind == RequestKind::Main) {
            groups.push((newest, conversation(&requests)));
        } else {
            others.entry(newest / DAY_MS).or_default().extend(requests);
        }
    }
    for mut requests in others.into_values() {
        requests.sort_by_key(|request| request.started_ms);
        let newest = requests.last().map_or(0, |last| last.started_ms);
        let id = format!("others {}", newest / DAY_MS);
        let mut rows = vec![sum(id, TreeKind::Others, 0, MessageCode::OtherRequests.into(), &requests)];
        rows.extend(requests.iter().map(|request| leaf(request, 1, title(request, 0))));
        groups.push((newest, rows));
    }
    groups.sort_by_key(|(newest, _)| std::cmp::Reverse(*newest));
    groups.into_iter().flat_map(|(_, rows)| rows).collect()
}

fn conversation(requests: &[&RequestRecord]) -> Vec<TreeRow> {
    let main = requests.iter().rev().find(|request| request.kind == RequestKind::Main);
    let model = main.map_or("", |request| &request.model);
    let id = requests.first().map_or("", |first| &first.conversation);
    let mut rows = vec![sum(format!("conversation {id}"), TreeKind::Conversation, 0, plain(&model), requests)];
    let mut turns: Vec<Vec<&RequestRecord>> = Vec::new();
    for &request in requests {
        match turns.last_mut() {
            // What comes before the first question, such as a title, belongs to it.
            Some(turn) if !starts_turn(request) || turn.iter().all(|before| before.kind != RequestKind::Main) => {
                turn.push(request);
            }
            _ => turns.push(vec![request]),
        }
    }
    for (number, turn) in turns.iter().enumerate() {
        let name = Message::new(MessageCode::Turn, [&(number + 1)]);
        match turn.as_slice() {
            [request] => rows.push(leaf(request, 1, name)),
            requests => {
                let id = format!("turn {}", requests.first().map_or("", |first| &first.id));
                rows.push(sum(id, TreeKind::Turn, 1, name, requests));
                rows.extend(rounds(requests));
            }
        }
    }
    rows
}

/// Returns the requests of a turn. Those that continue a sub-agent are below its first request.
fn rounds(requests: &[&RequestRecord]) -> Vec<TreeRow> {
    let mut main: usize = 0;
    let mut rows: Vec<TreeRow> = Vec::new();
    for request in requests {
        main += usize::from(request.kind == RequestKind::Main);
        let begun_by = |parent: &String| {
            let parent = rows.iter().position(|row| row.request.as_ref() == Some(parent))?;
            (request.kind == RequestKind::SubAgent && rows.get(parent)?.kind == TreeKind::SubAgent).then_some(parent)
        };
        let row = leaf(request, 2, title(request, main.saturating_sub(1)));
        match request.parent.as_ref().and_then(begun_by) {
            Some(mut at) => {
                while rows.get(at).is_some_and(|row| row.depth > 2) {
                    at -= 1;
                }
                let children = rows.iter().skip(at + 1).take_while(|row| row.depth > 2).count();
                rows.insert(at + 1 + children, TreeRow { depth: 3, ..row });
            }
            None => rows.push(row),
        }
    }
    rows
}

/// A turn starts with a request of the conversation itself that doesn't only add the results of tools.
fn starts_turn(record: &RequestRecord) -> bool {
    let mut new = record.pieces.iter().filter(|piece| piece.group == PieceGroup::New);
    record.kind == RequestKind::Main && !new.any(|piece| piece.kind == PieceKind::Result)
}

/// Returns what a request is called, as the `round`th request of a turn after the question.
pub(super) fn title(record: &RequestRecord, round: usize) -> Message {
    match record.kind {
        RequestKind::Main if starts_turn(record) || round == 0 => MessageCode::Question.into(),
        RequestKind::Main => Message::new(MessageCode::ToolRound, [&round]),
        RequestKind::SubAgent => MessageCode::SubAgent.into(),
        RequestKind::Summary => MessageCode::Summary.into(),
        RequestKind::Utility | RequestKind::Inline => plain(&record.purpose),
    }
}

fn leaf(record: &RequestRecord, depth: u32, title: Message) -> TreeRow {
    let kind = match record.kind {
        RequestKind::Main if starts_turn(record) => TreeKind::Turn,
        RequestKind::Main => TreeKind::Round,
        RequestKind::SubAgent => TreeKind::SubAgent,
        RequestKind::Summary => TreeKind::Summary,
        RequestKind::Utility => TreeKind::Utility,
        RequestKind::Inline => TreeKind::Inline,
    };
    let usage = record.usage;
    let used = in_and_out((usage.input, usage.cached), (usage.output, usage.reasoning), short_count);
    let counted = usage.input.is_some() || usage.output.is_some();
    TreeRow {
        id: record.id.clone(),
        request: Some(record.id.clone()),
        kind,
        depth,
        started_ms: record.started_ms,
        title,
        details: ended(record.finish.status)
            .chain(record.cost.map(super::cost))
            .chain(used.into_iter().filter(|_| counted))
            .collect(),
        status: record.finish.status,
    }
}

/// Says how a request ended, unless all is well.
fn ended(status: Status) -> impl Iterator<Item = Message> {
    (status != Status::Completed).then(|| super::status(status).into()).into_iter()
}

fn sum(id: String, kind: TreeKind, depth: u32, title: Message, requests: &[&RequestRecord]) -> TreeRow {
    let total = |of: fn(&RequestRecord) -> Option<u64>| {
        requests.iter().filter_map(|request| of(request)).fold(0, u64::saturating_add)
    };
    let many = match requests.len() {
        1 => MessageCode::OneRequest.into(),
        many => Message::new(MessageCode::Requests, [&grouped(many as u64)]),
    };
    let input = (Some(total(|record| record.usage.input)), Some(total(|record| record.usage.cached)));
    let output = (Some(total(|record| record.usage.output)), None);
    // Play money is shown only if there is no other.
    let money = |is_play: bool| {
        let costs = requests.iter().filter_map(|request| request.cost);
        let costs = costs.filter(|cost| (cost.basis == CostBasis::Play) == is_play).map(|cost| cost.usd.0);
        Some(Dollars(costs.fold(0, u64::saturating_add))).filter(|sum| sum.0 > 0)
    };
    let play = || money(true).map(|sum| Message::new(MessageCode::CostPlay, [&sum]));
    let spent = money(false).map(|sum| plain(&sum)).or_else(play);
    let worst = |status: Status| requests.iter().any(|request| request.finish.status == status);
    TreeRow {
        id,
        request: None,
        kind,
        depth,
        started_ms: requests.first().map_or(0, |first| first.started_ms),
        title,
        details: [many].into_iter().chain(spent).chain(in_and_out(input, output, short_count)).collect(),
        status: [Status::Failed, Status::Truncated, Status::Incomplete, Status::Cancelled]
            .into_iter()
            .find(|status| worst(*status))
            .unwrap_or(Status::Completed),
    }
}
