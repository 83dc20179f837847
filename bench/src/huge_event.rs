//! Measures whether the time for one event that arrives in very many chunks is proportional to its size. A reader that
//! searches or copies its buffer again for every chunk takes 64 times as long for eight times the bytes; ours may take
//! 12 times as long.

use std::hint::black_box;

use crate::contenders::{check_sluice, sluice};
use crate::corpus::one_huge_event;
use crate::report::{Aim, Table};
use crate::timing::{Contender, medians, ratio};

const CHUNK: usize = 1 << 10;

pub fn linear(rounds: usize) -> Result<(), String> {
    keep_freed_memory();
    let corpora = [256, 2048].map(|kibibytes| one_huge_event(kibibytes << 10));
    let chunks = corpora.each_ref().map(|corpus| corpus.chunks(CHUNK));
    for (corpus, chunks) in corpora.iter().zip(&chunks) {
        check_sluice(corpus, chunks)?;
    }
    let mut contenders = [
        Contender::new("256 KiB", || sluice(&chunks[0], |output| drop(black_box(output)))),
        Contender::new("2 MiB", || sluice(&chunks[1], |output| drop(black_box(output)))),
    ];
    let times = medians(rounds, &mut contenders);
    let mut table = Table::default();
    for ((contender, time), corpus) in contenders.iter().zip(&times).zip(&corpora) {
        let speed = corpus.megabytes() / time.as_secs_f64();
        table.info(contender.name, format!("{:.1} ms, {speed:.0} MB/s", time.as_secs_f64() * 1e3), None);
    }
    table.aim("2 MiB / 256 KiB", String::new(), ratio(times[1], times[0]), Aim::AtMost(12.0));
    table.print("one huge event, 1 KiB chunks");
    Ok(())
}

/// Lets both sizes reuse memory from round to round. By default, glibc returns large blocks immediately and the kernel
/// clears new pages in every round, but only for the larger event. That would be most of what is measured.
fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::c_int;
        const M_TRIM_THRESHOLD: c_int = -1;
        const M_MMAP_MAX: c_int = -4;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        // SAFETY: this is a function of glibc, called with values that its manual allows.
        unsafe {
            mallopt(M_MMAP_MAX, 0);
            mallopt(M_TRIM_THRESHOLD, c_int::MAX);
        }
    }
}
