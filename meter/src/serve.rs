//! The meter as a separate process for the fuzz target. Instrumented for fuzzing, the interpreter would be many times
//! slower, and its own code would count as coverage.

use std::io::{self, Read, Write};

use crate::hostile::Input;
use crate::machine::Machine;
use crate::table::allowance;

/// Reads bodies from stdin and writes the cost of each to stdout, until the input ends.
///
/// A body is sent as one byte for its dialect (1 for the AI SDK), four bytes for its length, and its contents. The
/// result is the fuel, the fuel of the most expensive call and the growth of the memory, eight bytes each. If it took
/// too much fuel, all bits are set. All numbers are little-endian.
pub fn answer(machine: &Machine) -> Result<(), String> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut head = [0; 5];
    while input.read_exact(&mut head).is_ok() {
        let [dialect, length @ ..] = head;
        let mut body = vec![0; u32::from_le_bytes(length) as usize];
        input.read_exact(&mut body).map_err(|error| error.to_string())?;
        let dialect = if dialect == 1 { Input::AiSdk } else { Input::OpenResponses };
        let numbers = match machine.read(dialect, &body, allowance(dialect, body.len())) {
            Ok(cost) => [cost.fuel, cost.longest_call, cost.memory as u64],
            Err(_) => [u64::MAX; 3],
        };
        let answer: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        output.write_all(&answer).and_then(|()| output.flush()).map_err(|error| error.to_string())?;
    }
    Ok(())
}
