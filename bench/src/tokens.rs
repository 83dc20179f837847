//! Native token counting, with the core's own sources as input.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use sluice_core::Counter;

use crate::report::{Aim, Table};
use crate::timing::{Contender, least};

pub fn throughput(rounds: usize) -> Result<(), String> {
    let mut code = String::new();
    collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates")), &mut code)?;
    let letters = "a".repeat(100_000);
    let counter = Counter::exact();
    let count = |text: &str| {
        black_box(counter.text("gpt-5", black_box(text)));
    };
    let times = least(
        rounds,
        &mut [
            Contender::new("code", || count(&code)),
            Contender::new("100 KB of one letter", || count(&letters)),
            Contender::new("estimate", || {
                black_box(Counter::estimating().text("gpt-5", black_box(&code)));
            }),
        ],
    );
    #[expect(clippy::cast_precision_loss, reason = "a few megabytes")]
    let speed = |time: std::time::Duration| code.len() as f64 / 1e6 / time.as_secs_f64();
    let mut table = Table::default();
    let measured = format!("{:.2} MB in {:.1} ms", code.len() as f64 / 1e6, times[0].as_secs_f64() * 1e3);
    table.aim("o200k over our own code, MB/s", measured, speed(times[0]), Aim::AtLeast(80.0));
    table.info("100 KB of one letter", format!("{:.1} ms", times[1].as_secs_f64() * 1e3), None);
    table.info("estimate without a vocabulary, MB/s", String::new(), Some(speed(times[2])));
    table.print("tokens");
    Ok(())
}

fn collect(directory: &Path, code: &mut String) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot read {}: {error}", directory.display());
    let mut paths: Vec<_> = fs::read_dir(directory).map_err(cannot)?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() && !path.ends_with("node_modules") {
            collect(&path, code)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            code.push_str(&fs::read_to_string(&path).map_err(cannot)?);
        }
    }
    Ok(())
}
