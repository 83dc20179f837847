//! Two requests, piece by piece.

use super::{piece, tokens};
use crate::boundary::{Change, ComparedRow, Comparison, PieceRecord, RequestRecord};
use crate::message::{Message, MessageCode};
use crate::numbers::grouped;

/// The most pairs of pieces that are compared. In larger requests, everything between the first and the last difference
/// counts as different.
const MAX_PAIRS: usize = 4_000_000;

pub(super) fn compare(before: &RequestRecord, after: &RequestRecord) -> Comparison {
    let mut rows = Vec::new();
    let (mut same, mut old, mut new) = (Vec::new(), Vec::new(), Vec::new());
    let mut sums = [0, 0, 0];
    for step in steps(&before.pieces, &after.pieces) {
        let [total_same, added, removed] = &mut sums;
        match step {
            (Some(before), Some(after)) => {
                rows.extend(differences(&mut old, &mut new));
                *total_same += u64::from(after.tokens);
                same.push((before, after));
            }
            (gone, come) => {
                rows.extend(run(&mut same));
                *removed += gone.map_or(0, |piece| u64::from(piece.tokens));
                *added += come.map_or(0, |piece| u64::from(piece.tokens));
                old.extend(gone);
                new.extend(come);
            }
        }
    }
    rows.extend(run(&mut same));
    rows.extend(differences(&mut old, &mut new));
    let codes = [MessageCode::ComparedSame, MessageCode::ComparedAdded, MessageCode::ComparedRemoved];
    let summary = sums.into_iter().zip(codes).map(|(count, code)| Message::new(code, [&grouped(count)])).collect();
    Comparison { summary, rows }
}

/// Returns one row for the pieces that stayed the same, and empties the list.
fn run(same: &mut Vec<(&PieceRecord, &PieceRecord)>) -> Option<ComparedRow> {
    let title = match same.as_slice() {
        [] => return None,
        [(_, only)] => piece(only),
        many => Message::new(MessageCode::SamePieces, [&many.len()]),
    };
    // The same content can have another count, because the pieces add up to what the server counted.
    let sum = |count: fn(&(&PieceRecord, &PieceRecord)) -> u32| {
        Some(tokens(same.iter().map(|pair| u64::from(count(pair))).sum()))
    };
    let (before, after) = (sum(|(before, _)| before.tokens), sum(|(_, after)| after.tokens));
    same.clear();
    Some(ComparedRow { change: Change::Same, title, before, after })
}

/// Returns the rows for the pieces between two that stayed the same, and empties both lists. A piece that was replaced by one
/// of the same kind and name has changed.
fn differences(old: &mut Vec<&PieceRecord>, new: &mut Vec<&PieceRecord>) -> Vec<ComparedRow> {
    let count = |piece: &PieceRecord| tokens(u64::from(piece.tokens));
    let row = |change, old: Option<&PieceRecord>, new: Option<&PieceRecord>| {
        let title = piece(new.or(old)?);
        Some(ComparedRow { change, title, before: old.map(count), after: new.map(count) })
    };
    let mut rows = Vec::new();
    let mut come = new.drain(..).peekable();
    for gone in old.drain(..) {
        let next = come.next_if(|next| next.kind == gone.kind && next.name == gone.name);
        let change = if next.is_some() { Change::Changed } else { Change::Removed };
        rows.extend(row(change, Some(gone), next));
    }
    rows.extend(come.filter_map(|come| row(Change::Added, None, Some(come))));
    rows
}

type Step<'a> = (Option<&'a PieceRecord>, Option<&'a PieceRecord>);

/// Returns the shortest way from one list to the other: pieces of both, of the older, or of the newer one.
fn steps<'a>(before: &'a [PieceRecord], after: &'a [PieceRecord]) -> Vec<Step<'a>> {
    let is_same =
        |(old, new): &(&PieceRecord, &PieceRecord)| old.fingerprint == new.fingerprint && old.kind == new.kind;
    let start = before.iter().zip(after).take_while(is_same).count();
    let (head, rest) = before.split_at(start);
    let (_, new_rest) = after.split_at(start);
    let end = rest.iter().rev().zip(new_rest.iter().rev()).take_while(is_same).count();
    let (old, tail) = rest.split_at(rest.len() - end);
    let (new, new_tail) = new_rest.split_at(new_rest.len() - end);
    let both = |old: &'a [PieceRecord], new: &'a [PieceRecord]| {
        old.iter().zip(new).map(|(old, new)| (Some(old), Some(new))).collect::<Vec<Step<'a>>>()
    };
    let mut steps = both(head, after);
    steps.extend(between(old, new, &is_same));
    steps.extend(both(tail, new_tail));
    steps
}

/// Finds the longest common subsequence, removed pieces before added ones.
fn between<'a>(
    old: &'a [PieceRecord],
    new: &'a [PieceRecord],
    is_same: &impl Fn(&(&PieceRecord, &PieceRecord)) -> bool,
) -> Vec<Step<'a>> {
    let width = new.len() + 1;
    let mut longest = vec![0_u32; if old.len() * new.len() > MAX_PAIRS { 0 } else { (old.len() + 1) * width }];
    let at = |longest: &[u32], i: usize, j: usize| longest.get(i * width + j).copied().unwrap_or(0);
    if !longest.is_empty() {
        for (i, a) in old.iter().enumerate().rev() {
            for (j, b) in new.iter().enumerate().rev() {
                let best = if is_same(&(a, b)) {
                    at(&longest, i + 1, j + 1) + 1
                } else {
                    at(&longest, i + 1, j).max(at(&longest, i, j + 1))
                };
                if let Some(cell) = longest.get_mut(i * width + j) {
                    *cell = best;
                }
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut steps: Vec<Step<'a>> = Vec::new();
    loop {
        match (old.get(i), new.get(j)) {
            (None, None) => return steps,
            (Some(a), Some(b)) if !longest.is_empty() && is_same(&(a, b)) => {
                steps.push((Some(a), Some(b)));
                (i, j) = (i + 1, j + 1);
            }
            (Some(a), None) => {
                steps.push((Some(a), None));
                i += 1;
            }
            (Some(a), Some(_)) if at(&longest, i + 1, j) >= at(&longest, i, j + 1) => {
                steps.push((Some(a), None));
                i += 1;
            }
            (_, b) => {
                steps.push((None, b));
                j += 1;
            }
        }
    }
}
