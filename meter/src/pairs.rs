//! Reads every pair of events: many of one, then many of the other. This finds costs that are the product of two sizes.

use crate::hostile::{Input, Step, body};
use crate::machine::Machine;
use crate::table::{allowance, in_parallel, judge};

/// The number of bytes of each of the two events.
const SCALE: usize = 16 << 10;

/// Prints the pairs that cost too much, and returns their number.
pub fn print(machine: &Machine) -> usize {
    let mut bad = 0;
    for input in [Input::OpenResponses, Input::AiSdk] {
        let steps = Step::all(input);
        let pairs: Vec<[Step; 2]> = steps.iter().flat_map(|a| steps.iter().map(|b| [*a, *b])).collect();
        let problems = in_parallel(&pairs, |pair| {
            let read = |scale: usize| {
                let body = body(input, pair, scale);
                machine.read(input, &body, allowance(input, body.len())).map_err(|error| vec![error])
            };
            let (once, twice) = (read(SCALE)?, read(2 * SCALE)?);
            let problems: Vec<String> = judge(input, once, twice).into_iter().map(str::to_owned).collect();
            if problems.is_empty() { Ok(()) } else { Err(problems) }
        });
        for (pair, problem) in pairs.iter().zip(problems) {
            if let Err(problem) = problem {
                bad += 1;
                println!("{}", problem.join(", "));
                print!("{}", events(input, pair));
            }
        }
        println!("{input:?}: {} pairs", pairs.len());
    }
    bad
}

/// Returns the second event of each step, whose number differs from the first one's.
fn events(input: Input, steps: &[Step]) -> String {
    let event = |step: &Step| {
        let body = body(input, &[*step], 600);
        let text = String::from_utf8_lossy(&body).into_owned();
        format!("    {}\n", text.lines().nth(2).unwrap_or_default())
    };
    steps.iter().map(event).collect()
}
