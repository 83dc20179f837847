//! OpenAI's vocabularies count every text like the crate `tiktoken`, from which they are taken. Its patterns are regular
//! expressions, so this also compares two ways to split a text into words.

use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use sluice_core::Counter;
use tiktoken::CoreBpe;

static O200K: LazyLock<CoreBpe> = LazyLock::new(tiktoken::encoding::o200k_base);
static CL100K: LazyLock<CoreBpe> = LazyLock::new(tiktoken::encoding::cl100k_base);

#[track_caller]
fn check(text: &str) {
    let ours = ["gpt-5", "gpt-4"].map(|model| Counter::exact().text(model, text) as usize);
    assert_eq!(ours, [O200K.count(text), CL100K.count(text)], "{text:?}");
}

/// Characters that the patterns treat differently, and some that look as if they did.
const CHARACTERS: [char; 66] = [
    'a',
    'b',
    's',
    't',
    'e',
    'l',
    'v',
    'r',
    'A',
    'B',
    'S',
    'L',
    'D',
    '0',
    '7',
    '9',
    ' ',
    ' ',
    ' ',
    '\t',
    '\n',
    '\n',
    '\r',
    '\u{b}',
    '\u{85}',
    '\u{a0}',
    '\u{2003}',
    '\u{2028}',
    '\u{3000}',
    '\u{200b}',
    '\u{feff}',
    '\'',
    '\'',
    '’',
    '.',
    '/',
    '/',
    '-',
    '_',
    '{',
    '"',
    '<',
    '|',
    '\0',
    '\u{7f}',
    'ſ',
    'K',
    'é',
    'É',
    'ß',
    'ǅ',
    'ʰ',
    'ы',
    'Ы',
    'ª',
    '\u{301}',
    '\u{93e}',
    '\u{20dd}',
    '²',
    '½',
    '٣',
    '中',
    'か',
    'ー',
    '👍',
    '\u{10FFFF}',
];

#[test]
fn every_character_is_counted_alike() {
    // Most of the later blocks are uniform, so a part of their characters is enough.
    let codes = (0..0x3100).chain((0x3100..0x2_0000).step_by(13)).chain((0x2_0000..0x11_0000).step_by(1009));
    for character in codes.filter_map(char::from_u32) {
        check(&format!("{character} {character}a{character}B{character}1{character}\n{character}'s"));
    }
}

#[test]
fn words_of_every_length_are_counted_alike() {
    let unlikely: String = (0..200_u32).filter_map(|at| char::from_digit(at * at * 7 % 36, 36)).collect();
    for length in 0..=unlikely.len() {
        // Letters and digits are split apart; letters alone are one word.
        for text in [unlikely.clone(), unlikely.replace(|c: char| c.is_ascii_digit(), "q")] {
            check(&text[..length]);
        }
        check(&" ".repeat(length));
        check(&format!("{}x", "\n ".repeat(length)));
        check(&"ab".repeat(length));
        check(&"日本".repeat(length));
        check(&"=-".repeat(length));
    }
}

#[test]
fn every_piece_is_counted_alike() {
    for vocabulary in [&*O200K, &*CL100K] {
        let count = u32::try_from(vocabulary.vocab_size()).unwrap();
        let pieces: Vec<String> = (0..count).filter_map(|rank| vocabulary.decode_to_string(&[rank]).ok()).collect();
        for pieces in pieces.chunks(40) {
            check(&pieces.join(" "));
        }
    }
}

proptest! {
    #[test]
    fn any_mixture_is_counted_alike(characters in vec(select(CHARACTERS.to_vec()), 0..40)) {
        check(&characters.into_iter().collect::<String>());
    }

    #[test]
    fn runs_are_counted_alike(runs in vec((select(CHARACTERS.to_vec()), 1..20_usize), 0..12)) {
        check(&runs.into_iter().map(|(character, times)| character.to_string().repeat(times)).collect::<String>());
    }

    #[test]
    fn any_text_is_counted_alike(text in any::<String>()) {
        check(&text);
    }
}

/// Estimates for families whose vocabulary isn't shipped are compared with the vocabulary itself.
#[test]
fn estimates_are_close_to_the_vocabularies_that_are_not_shipped() {
    let vocabularies: [(&str, CoreBpe); 2] = [
        ("deepseek/deepseek-v3", tiktoken::encoding::deepseek_v3()),
        ("mistral/mistral-large", tiktoken::encoding::mistral_v3()),
    ];
    let files = [
        include_str!("../../../ARCHITECTURE.md"),
        include_str!("../../../LICENSE-APACHE"),
        include_str!("../../../LICENSE-MIT"),
        include_str!("../../../docs/settings.md"),
        include_str!("../../../extension/package.json"),
        include_str!("../../../extension/src/tokens.ts"),
        include_str!("../src/tokens/families.rs"),
        include_str!("../src/tokens/known.rs"),
    ];
    for (model, vocabulary) in vocabularies {
        for file in files {
            let (ours, theirs) = (f64::from(Counter::exact().text(model, file)), vocabulary.count(file));
            let off = ours / f64::from(u32::try_from(theirs).unwrap()) - 1.0;
            let start: String = file.chars().take(30).collect();
            assert!((-0.07..0.06).contains(&off), "{model}: {:+.1} % for {start:?}", off * 100.0);
        }
    }
}
