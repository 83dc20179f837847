//! The cache lens: why a request could or could not use the server's prompt cache.
//!
//! Servers keep the beginning of a prompt for a few minutes. The next request pays less for as many tokens as it begins
//! with. [`Prefix::between`] compares two requests piece by piece, before the second one is sent. [`Prefix::lens`] adds
//! what the server says that it read from its cache, and explains the difference.

use crate::boundary::{CacheBreak, Dollars, Lens, PieceKind, PieceRecord, Prices, RequestRecord};
use crate::message::{Message, MessageCode};
use crate::numbers::grouped;

/// How long a prompt stays in the cache of most providers, and how long it must be.
pub(crate) const USUAL_LIFE_MS: u64 = 5 * 60_000;
pub(crate) const USUAL_MINIMUM: u64 = 1024;
/// Providers cache in blocks of up to this many tokens.
pub(crate) const BLOCK: u64 = 128;

/// How much of an earlier request another one begins with. Tokens are those of the later request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prefix {
    /// The earlier request.
    id: String,
    /// How many pieces are the same.
    pieces: usize,
    /// How much of the next piece is the same, from 0 to 1.
    part: f64,
    /// The tokens of the earlier request's pieces.
    before: u64,
    cause: Option<CacheBreak>,
    name: Option<String>,
    line: Option<u32>,
    /// What may explain a cache that wasn't used although everything is the same.
    suspects: Vec<CacheBreak>,
    provider: Option<String>,
}

impl Prefix {
    /// Compares a request with an earlier one of the same conversation. `part_of` returns how much of the instructions, from
    /// 0 to 1, comes before a line.
    pub(crate) fn between(before: &RequestRecord, after: &RequestRecord, part_of: &dyn Fn(usize) -> f64) -> Self {
        let mut prefix = Self {
            id: before.id.clone(),
            pieces: 0,
            part: 0.0,
            before: before.pieces.iter().map(|piece| u64::from(piece.tokens)).sum(),
            cause: None,
            name: None,
            line: None,
            suspects: Vec::new(),
            provider: before.routing.provider.clone(),
        };
        if before.origin != after.origin {
            prefix.cause = Some(CacheBreak::Server);
            return prefix;
        }
        if before.model != after.model {
            prefix.cause = Some(CacheBreak::Model);
            prefix.name = Some(before.model.clone());
            return prefix;
        }
        // The frame depends on options, such as the effort, which are compared separately below.
        let is_same = |(one, two): &(&PieceRecord, &PieceRecord)| {
            one.kind == PieceKind::Frame || one.fingerprint == two.fingerprint
        };
        let at = before.pieces.iter().zip(&after.pieces).take_while(is_same).count();
        prefix.pieces = at;
        if at < before.pieces.len() && at < after.pieces.len() {
            prefix.explain(&before.pieces, &after.pieces, at, part_of);
        }
        let answered = before.started_ms.saturating_add(before.timeline.end_ms);
        let suspects = [
            (before.effort != after.effort, CacheBreak::Effort),
            (before.must_call != after.must_call, CacheBreak::ToolChoice),
            (before.extra_fields != after.extra_fields, CacheBreak::Options),
            (after.started_ms.saturating_sub(answered) >= USUAL_LIFE_MS, CacheBreak::Expired),
            (prefix.before < USUAL_MINIMUM, CacheBreak::TooShort),
        ];
        prefix.suspects = suspects.into_iter().filter_map(|(is_true, cause)| is_true.then_some(cause)).collect();
        prefix
    }

    /// Says what differs first.
    fn explain(&mut self, before: &[PieceRecord], after: &[PieceRecord], at: usize, part_of: &dyn Fn(usize) -> f64) {
        use PieceKind::{Call, Reasoning, Result, System, Tool};
        let (Some(old), Some(new)) = (before.get(at), after.get(at)) else { return };
        let has = |pieces: &[PieceRecord], like: &PieceRecord| {
            pieces.iter().any(|piece| piece.kind == like.kind && piece.name == like.name)
        };
        let follows = |pieces: &[PieceRecord], like: &PieceRecord| {
            pieces.iter().skip(at + 1).any(|piece| piece.fingerprint == like.fingerprint)
        };
        let (is_later, was_later) = (follows(after, old), follows(before, new));
        let (cause, piece) = match (old.kind, new.kind) {
            (Tool, Tool) if old.name == new.name => (CacheBreak::ToolChanged, new),
            (Tool, _) if !has(after, old) => (CacheBreak::ToolRemoved, old),
            (_, Tool) if !has(before, new) => (CacheBreak::ToolAdded, new),
            (Tool, _) | (_, Tool) => (CacheBreak::ToolsReordered, new),
            (System, System) => {
                let line = old.lines.iter().zip(&new.lines).take_while(|(one, two)| one == two).count();
                self.line = u32::try_from(line + 1).ok();
                self.part = part_of(line);
                (CacheBreak::SystemLine, new)
            }
            (System, _) => (CacheBreak::SystemRemoved, old),
            (_, System) => (CacheBreak::SystemAdded, new),
            _ if is_later && was_later => (CacheBreak::HistoryReordered, new),
            (Reasoning, Reasoning) if !is_later && !was_later => (CacheBreak::ThinkingChanged, new),
            (_, Reasoning) if is_later => (CacheBreak::ThinkingAdded, new),
            (Reasoning, _) => (CacheBreak::ThinkingMissing, old),
            (_, Reasoning) => (CacheBreak::ThinkingAdded, new),
            _ if is_later => (CacheBreak::HistoryInserted, new),
            _ if was_later || old.kind != new.kind || old.name != new.name => (CacheBreak::HistoryRemoved, old),
            _ if old.images != new.images => (CacheBreak::ImageChanged, new),
            (Call, _) => (CacheBreak::CallChanged, new),
            (Result, _) => (CacheBreak::ResultChanged, new),
            _ => (CacheBreak::MessageChanged, new),
        };
        self.cause = Some(cause);
        self.name.clone_from(&piece.name);
    }

    /// Returns how many tokens at the beginning are the same, as counted for the pieces of the later request.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts are small")]
    pub(crate) fn same(&self, after: &[PieceRecord]) -> u64 {
        let whole: u64 = after.iter().take(self.pieces).map(|piece| u64::from(piece.tokens)).sum();
        let next = after.get(self.pieces).map_or(0, |piece| piece.tokens);
        whole + (f64::from(next) * self.part) as u64
    }

    /// Returns how many tokens the server read from its cache if they end within the first piece that changed. Their
    /// beginning is then the same, which fingerprints of whole pieces can't show.
    fn read_of_changed(&self, after: &RequestRecord) -> u64 {
        use CacheBreak::{CallChanged, ImageChanged, MessageChanged, ResultChanged};
        if !matches!(self.cause, Some(CallChanged | ImageChanged | MessageChanged | ResultChanged)) {
            return 0;
        }
        let end: u64 = after.pieces.iter().take(self.pieces + 1).map(|piece| u64::from(piece.tokens)).sum();
        after.usage.cached.filter(|cached| *cached < end).unwrap_or(0)
    }

    /// Returns how many pieces are the same.
    pub(crate) fn pieces(&self) -> usize {
        self.pieces
    }

    /// Returns whether the earlier request went to another model or server.
    pub(crate) fn is_elsewhere(&self) -> bool {
        matches!(self.cause, Some(CacheBreak::Model | CacheBreak::Server))
    }

    /// Explains how a request that has ended used the cache.
    pub(crate) fn lens(&self, after: &RequestRecord, prices: Option<&Prices>) -> Lens {
        let (before, cached) = (self.before, after.usage.cached);
        // The same pieces may have a few tokens more here, because the pieces add up to what the server counted.
        let same = self.same(&after.pieces).max(self.read_of_changed(after)).min(before);
        // A server may have dropped what is the same, and may have more in its cache, from another conversation.
        let missed = same.saturating_sub(cached.unwrap_or(same));
        let cause = self.cause.or_else(|| {
            let moved = self.provider.is_some() && self.provider != after.routing.provider;
            match cached {
                None => Some(CacheBreak::NotReported),
                Some(_) if missed <= (BLOCK * 2).max(same / 20) => None,
                Some(_) if moved => Some(CacheBreak::Provider),
                Some(_) => Some(self.suspects.first().copied().unwrap_or(CacheBreak::Unknown)),
            }
        });
        let lost = match cause {
            None | Some(CacheBreak::NotReported) => 0,
            Some(_) if self.cause.is_some() => before.saturating_sub(cached.unwrap_or(same)),
            Some(_) => missed,
        };
        let extra =
            prices.and_then(|prices| prices.uncached(after.usage.input.unwrap_or(0), lost)).filter(|_| lost > 0);
        let mut lens = Lens {
            compared_with: self.id.clone(),
            same,
            before,
            cached,
            cause,
            piece: self.cause.filter(|_| !self.is_elsewhere()).and_then(|_| u32::try_from(self.pieces).ok()),
            name: self.name.clone(),
            line: self.line,
            lost,
            extra,
            text: Vec::new(),
        };
        lens.text = lens.sentences();
        lens
    }
}

impl Lens {
    fn sentences(&self) -> Vec<Message> {
        let name = self.name.as_deref().unwrap_or_default();
        let line = self.line.unwrap_or(0);
        let mut text = vec![Message::new(MessageCode::CacheSame, [&grouped(self.same), &grouped(self.before)])];
        text.extend(self.cached.map(|cached| Message::new(MessageCode::CacheRead, [&grouped(cached)])));
        let code = match self.cause {
            None => return text,
            Some(CacheBreak::Model) => MessageCode::CacheModel,
            Some(CacheBreak::Server) => MessageCode::CacheServer,
            Some(CacheBreak::ToolAdded) => MessageCode::CacheToolAdded,
            Some(CacheBreak::ToolRemoved) => MessageCode::CacheToolRemoved,
            Some(CacheBreak::ToolsReordered) => MessageCode::CacheToolsReordered,
            Some(CacheBreak::ToolChanged) => MessageCode::CacheToolChanged,
            Some(CacheBreak::SystemAdded) => MessageCode::CacheSystemAdded,
            Some(CacheBreak::SystemRemoved) => MessageCode::CacheSystemRemoved,
            Some(CacheBreak::SystemLine) => MessageCode::CacheSystemLine,
            Some(CacheBreak::ThinkingMissing) => MessageCode::CacheThinkingMissing,
            Some(CacheBreak::ThinkingAdded) => MessageCode::CacheThinkingAdded,
            Some(CacheBreak::ThinkingChanged) => MessageCode::CacheThinkingChanged,
            Some(CacheBreak::ImageChanged) => MessageCode::CacheImageChanged,
            Some(CacheBreak::MessageChanged) => MessageCode::CacheMessageChanged,
            Some(CacheBreak::CallChanged) => MessageCode::CacheCallChanged,
            Some(CacheBreak::ResultChanged) => MessageCode::CacheResultChanged,
            Some(CacheBreak::HistoryInserted) => MessageCode::CacheHistoryInserted,
            Some(CacheBreak::HistoryRemoved) => MessageCode::CacheHistoryRemoved,
            Some(CacheBreak::HistoryReordered) => MessageCode::CacheHistoryReordered,
            Some(CacheBreak::Effort) => MessageCode::CacheEffort,
            Some(CacheBreak::ToolChoice) => MessageCode::CacheToolChoice,
            Some(CacheBreak::Options) => MessageCode::CacheOptions,
            Some(CacheBreak::Provider) => MessageCode::CacheProvider,
            Some(CacheBreak::Expired) => MessageCode::CacheExpired,
            Some(CacheBreak::TooShort) => MessageCode::CacheTooShort,
            Some(CacheBreak::NotReported) => MessageCode::CacheNotReported,
            Some(CacheBreak::Unknown) => MessageCode::CacheUnknown,
        };
        text.push(match code {
            MessageCode::CacheSystemLine => Message::new(code, [&line]),
            code if code.english().contains("{0}") => Message::new(code, [&name]),
            code => code.into(),
        });
        text.extend(
            self.extra.map(|extra: Dollars| Message::new(MessageCode::CacheExtra, [&grouped(self.lost), &extra])),
        );
        text
    }
}
