//! Faults in the bytes of the body: how they are split, when they are sent, and how they end.

use super::Faults;
use crate::http::{End, Reply, TimedChunk};
use crate::seed::Seed;

/// Applies faults to the body of a reply. `accepts_gzip` says whether the client accepts gzip.
pub fn apply(faults: &Faults, reply: &mut Reply, accepts_gzip: bool, seed: &mut Seed) {
    if faults.are_only(&["pace"]) {
        reply.chunks.pace_ms = faults.number("pace");
        return;
    }
    if let Some(delay) = faults.number("comments-forever") {
        let comment = TimedChunk { delay_ms: delay, bytes: b": still here\n\n".to_vec() };
        reply.chunks = vec![comment.clone()].into();
        reply.end = End::Repeat(comment);
        reply.set_header("content-length", None);
        return;
    }
    let mut chunks = reply.chunks.to_vec();
    if faults.has("gzip") && accepts_gzip {
        gzip(&mut chunks);
        reply.set_header("content-encoding", Some("gzip".into()));
        if reply.header("content-length").is_some() {
            reply.set_header("content-length", Some(length(&chunks).to_string()));
        }
    }
    rechunk(faults, &mut chunks, seed);
    if let Some(delay) = faults.number("pace") {
        for chunk in &mut chunks {
            chunk.delay_ms = delay;
        }
    }

    let total = length(&chunks);
    if let Some(more) = faults.number("content-length-long") {
        reply.set_header("content-length", Some((total as u64 + more).to_string()));
        reply.end = End::Cut;
    }
    if let Some(less) = faults.number("content-length-short") {
        reply.set_header("content-length", Some((total as u64).saturating_sub(less).max(1).to_string()));
    }
    for (name, end) in [("cut-at", End::Cut), ("reset-at", End::Reset), ("stall-at", End::Hang)] {
        if let Some(place) = faults.place(name, total) {
            truncate(&mut chunks, place);
            reply.end = end;
        }
    }
    if faults.has("close-after-completed") {
        reply.end = End::Cut;
    }
    if faults.has("never-close") || faults.has("stall-after-completed") {
        reply.end = End::Hang;
    }
    reply.chunks = chunks.into();
}

fn length(chunks: &[TimedChunk]) -> usize {
    chunks.iter().map(|chunk| chunk.bytes.len()).sum()
}

fn rechunk(faults: &Faults, chunks: &mut Vec<TimedChunk>, seed: &mut Seed) {
    if faults.has("split-frames") {
        let split = |chunk: TimedChunk| {
            let mut parts = Vec::new();
            let mut rest = chunk.bytes.as_slice();
            while let Some(at) = rest.windows(2).position(|pair| pair == b"\n\n" || pair == b"\r\r" || pair == b"\n\r")
            {
                parts.push(rest[..=at].to_vec());
                rest = &rest[at + 1..];
            }
            parts.push(rest.to_vec());
            timed(chunk.delay_ms, parts)
        };
        *chunks = std::mem::take(chunks).into_iter().flat_map(split).collect();
    }
    let mut sizes: Box<dyn FnMut() -> usize> = if faults.has("dribble") {
        Box::new(|| 1)
    } else if let Some(size) = faults.number("chunk") {
        Box::new(move || usize::try_from(size).unwrap_or(1).max(1))
    } else if faults.has("chunk-random") {
        Box::new(|| 1 + seed.below(200))
    } else {
        return;
    };
    let whole: Vec<u8> = chunks.iter().flat_map(|chunk| chunk.bytes.iter().copied()).collect();
    let delay_ms = faults.number("dribble").unwrap_or(0);
    chunks.clear();
    let mut rest = whole.as_slice();
    while !rest.is_empty() {
        let (now, later) = rest.split_at(sizes().min(rest.len()));
        chunks.push(TimedChunk { delay_ms, bytes: now.to_vec() });
        rest = later;
    }
}

/// Times the parts of a chunk: only the first one is delayed.
fn timed(delay_ms: u64, parts: Vec<Vec<u8>>) -> Vec<TimedChunk> {
    let parts = parts.into_iter().enumerate();
    parts.map(|(at, bytes)| TimedChunk { delay_ms: if at == 0 { delay_ms } else { 0 }, bytes }).collect()
}

fn truncate(chunks: &mut Vec<TimedChunk>, mut place: usize) {
    for chunk in chunks.iter_mut() {
        chunk.bytes.truncate(place);
        place -= chunk.bytes.len();
    }
    chunks.retain(|chunk| !chunk.bytes.is_empty());
}

/// Wraps the body in the gzip format without compression. Each write is one stored block, so that it can be decoded on
/// arrival.
fn gzip(chunks: &mut Vec<TimedChunk>) {
    let (mut check, mut size) = (!0u32, 0u32);
    let mut head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff".to_vec();
    for chunk in chunks.iter_mut() {
        let plain = std::mem::replace(&mut chunk.bytes, std::mem::take(&mut head));
        for byte in &plain {
            check =
                (0..8).fold(check ^ u32::from(*byte), |c, _| if c & 1 == 1 { c >> 1 ^ 0xEDB8_8320 } else { c >> 1 });
            size = size.wrapping_add(1);
        }
        for block in plain.chunks(0xFFFF) {
            stored(&mut chunk.bytes, block, false);
        }
    }
    let mut tail = head;
    stored(&mut tail, b"", true);
    tail.extend_from_slice(&(!check).to_le_bytes());
    tail.extend_from_slice(&size.to_le_bytes());
    chunks.push(TimedChunk { delay_ms: 0, bytes: tail });
}

fn stored(out: &mut Vec<u8>, block: &[u8], last: bool) {
    let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
    out.push(u8::from(last));
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&(!length).to_le_bytes());
    out.extend_from_slice(block);
}
