//! What the model of VS Code's Chat view says about one answer, for comparison with the real one: `cargo xtask bench --screen`.
//!
//! `screen_model SPACING WORDS` prints how late the words of the answer are on the screen: the first one, the median, the
//! 95th percentile and the median of the last third, in milliseconds. The first four figures are those of Sluice, the others
//! those of a provider that reports every word at once.

#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a tool for the command line")]

#[path = "../support/chat_view.rs"]
mod chat_view;
#[path = "../support/providers.rs"]
mod providers;

use std::env;

use chat_view::{Figures, figures};
use providers::{every, paced, words};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [spacing, count] = arguments.as_slice() else { panic!("screen_model SPACING WORDS") };
    let tokens = words(count.parse().expect("a number"), spacing.parse().expect("a number"));
    for reports in [paced(&tokens), every(0.0)(&tokens)] {
        let Figures { first, p50, p95, last_third } = figures(&tokens, &reports);
        println!("{first:.0} {p50:.0} {p95:.0} {last_third:.0}");
    }
}
