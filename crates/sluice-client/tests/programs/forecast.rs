//! Prints how accurate forecasts are: `cargo xtask forecast`.

#[path = "../support/forecast.rs"]
mod forecast;

use forecast::Measured;

fn main() {
    let measured = forecast::measure();
    println!("{:<24} {:>14} {:>14} {:>16}", "the largest errors of", "first cost", "later costs", "cached share");
    for conversation in measured.chunk_by(|one, other| one.conversation == other.conversation) {
        let most = |errors: &mut dyn Iterator<Item = f64>| errors.fold(0.0, f64::max);
        let first = most(&mut conversation.iter().filter(|one| one.is_first).map(Measured::cost_error));
        let later = most(&mut conversation.iter().filter(|one| !one.is_first).map(Measured::cost_error));
        let cached = most(&mut conversation.iter().map(Measured::cached_error));
        println!("{:<24} {first:>12.1} % {later:>12.1} % {cached:>9.1} points", conversation[0].conversation);
    }
    println!("\naims, if the length of the answer is known: costs within 10 %, the cached share within 5 points");
    println!(
        "the input of a first request is only estimated; `cargo xtask tokens DIR` compares that with recorded requests"
    );
}
