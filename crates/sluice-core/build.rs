//! Lays out vocabularies and classes of characters as `src/tokens/layout.rs` describes, so that nothing has to be built
//! when a program starts.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "the rules of the core don't apply here")]

use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "src/tokens/layout.rs"]
#[allow(dead_code, unreachable_pub, reason = "the core uses the rest")]
mod layout;

use layout::{NO_RANK, class, hash};
use regex_syntax::hir::{Class, HirKind};
use tiktoken::CoreBpe;

/// The length of the longest piece, in bytes.
const LONGEST: usize = 128;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/tokens/layout.rs");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    write_vocabulary(&folder, "o200k", &tiktoken::encoding::o200k_base());
    write_vocabulary(&folder, "cl100k", &tiktoken::encoding::cl100k_base());
    write_classes(&folder);
}

fn write_vocabulary(folder: &Path, name: &str, vocabulary: &CoreBpe) {
    let mut by_length: Vec<Vec<(u32, Vec<u8>)>> = vec![Vec::new(); LONGEST + 1];
    let count = u32::try_from(vocabulary.vocab_size()).expect("vocabularies are small");
    for rank in 0..count {
        let piece = vocabulary.decode(&[rank]);
        by_length[piece.len()].push((rank, piece));
    }
    assert_eq!(by_length[0].len(), 0, "{name} has a rank without a piece");
    assert_eq!(by_length[1].len(), 256, "every byte is a piece");

    // More than half of the slots stay empty, so that most searches end at once.
    let mask = 2 * (count as usize).next_power_of_two() - 1;
    let mut slots = vec![[0; layout::SLOT]; mask + 1];
    let mut pairs = vec![NO_RANK; 1 << 16];
    let mut columns = Columns::default();
    for pieces in &by_length {
        columns.groups.extend(u32::try_from(columns.ranks.len() / 4).unwrap().to_le_bytes());
        columns.groups.extend(u32::try_from(columns.pieces.len()).unwrap().to_le_bytes());
        for (index, (rank, piece)) in pieces.iter().enumerate() {
            columns.ranks.extend(rank.to_le_bytes());
            columns.pieces.extend(piece);
            match piece[..] {
                [_] => {}
                [first, second] => pairs[usize::from(first) << 8 | usize::from(second)] = *rank,
                _ => {
                    let (mut slot, tag) = hash(piece, mask);
                    while slots[slot][1..] != [0, 0] {
                        slot = (slot + 1) & mask;
                    }
                    let [low, high] = u16::try_from(index + 1).expect("few pieces have the same length").to_le_bytes();
                    slots[slot] = [tag, low, high];
                }
            }
        }
    }
    columns.groups.extend(count.to_le_bytes());
    columns.groups.extend(u32::try_from(columns.pieces.len()).unwrap().to_le_bytes());
    let pairs: Vec<u8> = pairs.into_iter().flat_map(u32::to_le_bytes).collect();
    for (column, bytes) in [
        ("groups", &columns.groups),
        ("pieces", &columns.pieces),
        ("ranks", &columns.ranks),
        ("slots", &slots.concat()),
        ("pairs", &pairs),
    ] {
        write(&folder.join(format!("{name}.{column}")), bytes);
    }
}

#[derive(Default)]
struct Columns {
    /// For each length, the number of shorter pieces, and where the pieces of this length start.
    groups: Vec<u8>,
    pieces: Vec<u8>,
    ranks: Vec<u8>,
}

/// Writes the class of each character.
fn write_classes(folder: &Path) {
    let mut by_code = vec![class::OTHER; 0x11_0000];
    for (pattern, class) in [
        (r"[\p{Lu}\p{Lt}]", class::UPPER),
        (r"\p{Ll}", class::LOWER),
        (r"[\p{Lm}\p{Lo}]", class::CASELESS),
        (r"\p{M}", class::MARK),
        (r"\p{N}", class::NUMBER),
        (r"\s", class::SPACE),
        (r"[\r\n]", class::NEWLINE),
    ] {
        let pattern = regex_syntax::parse(pattern).expect("a valid pattern");
        let HirKind::Class(Class::Unicode(characters)) = pattern.kind() else { panic!("not a class") };
        for range in characters.ranges() {
            by_code[range.start() as usize..=range.end() as usize].fill(class);
        }
    }
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    let mut table = Vec::new();
    for block in by_code.chunks(256) {
        let known = blocks.iter().position(|known| *known == block).unwrap_or_else(|| {
            blocks.push(block.to_vec());
            blocks.len() - 1
        });
        table.push(u8::try_from(known).expect("few blocks differ"));
    }
    let mut ascii = by_code[..256].to_vec();
    ascii[128..].fill(0);
    write(&folder.join("classes.ascii"), &ascii);
    write(&folder.join("classes.blocks"), &table);
    write(&folder.join("classes"), &blocks.concat());
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}
