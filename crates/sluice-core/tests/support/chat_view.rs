//! A model of how VS Code 1.139 shows a streamed answer: from the provider's report to the screen.
//!
//! The rules are those of the extension host (30 ms of silence or 31 parts), of `ChatStreamStatsTracker` and of
//! `ChatListItemRenderer`. The delays between them are random, within what was measured on an idle machine.

/// A token and the time when it arrives at the provider, in milliseconds.
#[derive(Clone, Debug)]
pub struct Token {
    pub at: f64,
    pub text: String,
}

/// The length of the answer so far, and when the provider reported it.
pub type Report = (f64, usize);

/// How late tokens reached the screen, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    pub first: f64,
    pub p50: f64,
    pub p95: f64,
    /// The median of the last third of the tokens: it shows whether the screen falls behind.
    pub last_third: f64,
}

/// Returns the medians of five runs.
pub fn figures(tokens: &[Token], reports: &[Report]) -> Figures {
    let runs: Vec<Figures> = (1..=5).map(|seed| latencies(tokens, &screen(tokens, reports, seed))).collect();
    let median = |of: fn(&Figures) -> f64| percentile(runs.iter().map(of).collect(), 0.5);
    Figures {
        first: median(|run| run.first),
        p50: median(|run| run.p50),
        p95: median(|run| run.p95),
        last_third: median(|run| run.last_third),
    }
}

fn latencies(tokens: &[Token], shown: &[Report]) -> Figures {
    let mut length = 0;
    let mut shown = shown.iter().peekable();
    let late: Vec<f64> = tokens
        .iter()
        .map(|token| {
            length += token.text.len();
            // White space after a word is shown with the next one.
            let visible = length - (token.text.len() - token.text.trim_end().len());
            while shown.next_if(|(_, until)| *until < visible).is_some() {}
            shown.peek().expect("all of the answer is shown").0 - token.at
        })
        .collect();
    let last_third = late[late.len() * 2 / 3..].to_vec();
    Figures {
        first: late[0],
        last_third: percentile(last_third, 0.5),
        p50: percentile(late.clone(), 0.5),
        p95: percentile(late, 0.95),
    }
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
fn percentile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share) as usize]
}

/// Returns when the screen showed how much of the answer.
fn screen(tokens: &[Token], reports: &[Report], seed: u64) -> Vec<Report> {
    let text: String = tokens.iter().map(|token| token.text.as_str()).collect();
    let words = Words::of(&text);
    let mut random = Random::new(seed);
    let end = reports.last().expect("something was reported").0;
    let updates = updates(reports, end, &mut random);
    let complete_at = updates.last().expect("something arrived").0.max(end + PIPELINE_MS) + 5.0;

    let mut view = View::default();
    let mut shown = Vec::new();
    let mut updates = updates.into_iter().peekable();
    let mut tick = f64::INFINITY;
    loop {
        let next = match updates.peek() {
            Some((at, _)) => *at,
            None if view.is_complete => f64::INFINITY,
            None => complete_at,
        };
        let now = next.min(tick);
        if next <= tick {
            match updates.next() {
                Some((_, length)) => view.update(now, length, words.before(length)),
                None => view.is_complete = true,
            }
        }
        tick = now + 50.0 + 5.0 * random.next();
        view.render(now);
        let is_all = view.shown_words >= view.words;
        let until = if is_all { view.length } else { words.ends[view.shown_words - 1].min(view.length) };
        if shown.last().is_none_or(|(_, before)| *before < until) {
            shown.push((now + PAINT_MS, until));
        }
        if is_all && view.is_complete {
            return shown;
        }
        if is_all {
            tick = f64::INFINITY;
        }
    }
}

/// From the extension host to the window, through Copilot Chat.
const PIPELINE_MS: f64 = 13.0;
const PAINT_MS: f64 = 3.0;

/// Returns when the window gets how much of the answer.
fn updates(reports: &[Report], end: f64, random: &mut Random) -> Vec<Report> {
    let mut sent: Vec<Report> = Vec::new();
    let (mut parts, mut due) = (0, f64::INFINITY);
    let mut length = 0;
    for &(at, until) in reports {
        if parts > 0 && due <= at {
            sent.push((due, length));
            parts = 0;
        }
        length = until;
        parts += 1;
        due = at + 31.0 + 2.5 * random.next();
        if parts > 30 {
            sent.push((at, length));
            parts = 0;
        }
    }
    if parts > 0 {
        sent.push((due.min(end), length));
    }
    let mut last = 0.0;
    for (at, _) in &mut sent {
        let hiccup = if random.next() < 0.03 { 20.0 * random.next() } else { 0.0 };
        last = f64::max(last, *at + PIPELINE_MS + 5.0 * random.next() + hiccup);
        *at = last;
    }
    sent
}

/// The Chat view's estimate of the rate, and what it shows.
#[derive(Default)]
struct View {
    length: usize,
    words: usize,
    is_complete: bool,
    shown_words: usize,
    /// When a word was last shown.
    last_shown: Option<f64>,
    /// Words per second.
    rate: f64,
    first_update: f64,
    last_update: f64,
    counted_ms: f64,
    updates: u32,
    /// The words before the update that ended the first estimate.
    words_at_start: Option<usize>,
}

impl View {
    #[expect(clippy::cast_precision_loss, reason = "a few thousand words")]
    fn update(&mut self, now: f64, length: usize, words: usize) {
        self.length = length;
        let before = std::mem::replace(&mut self.words, words);
        if words == before {
            return;
        }
        if before == 0 {
            (self.first_update, self.last_update) = (now, now);
        }
        self.updates += 1;
        let most = if words > before + 10 { 1000.0 } else { 250.0 };
        let elapsed = f64::min(now - self.last_update, most);
        self.last_update = now;
        self.counted_ms += elapsed;
        if self.words_at_start.is_none() {
            if self.updates >= 2 && words >= 10 {
                self.counted_ms = elapsed.max(now - self.first_update);
                self.words_at_start = Some(before);
            } else {
                let least = if before == 0 && words > 10 { 500.0 } else { 250.0 };
                self.counted_ms = self.counted_ms.max(least);
            }
        }
        self.rate = (words - self.words_at_start.unwrap_or(0)) as f64 * 1000.0 / self.counted_ms;
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred words")]
    fn render(&mut self, now: f64) {
        let rate = self.rate.clamp(if self.is_complete { 80.0 } else { 40.0 }, 2000.0);
        let shown = match self.last_shown {
            // The first text is shown as a whole.
            None => self.words,
            Some(last) => self.words.min(self.shown_words + ((now - last) / 1000.0 * rate) as usize),
        };
        if shown > self.shown_words {
            self.shown_words = shown;
            self.last_shown = Some(now);
        }
    }
}

/// Where the words of a text begin and end. A word is a Han character, a run of one of the signs `=`, `+` and `-`, or a
/// run of other characters between white space, bars and backticks.
struct Words {
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Words {
    fn of(text: &str) -> Self {
        let mut words = Self { starts: Vec::new(), ends: Vec::new() };
        let mut last = ' ';
        for (at, c) in text.char_indices() {
            let kind = match c {
                '|' | '`' => ' ',
                '=' | '+' | '-' => c,
                '\u{3400}'..='\u{9fff}' => '\u{4e00}',
                _ if c.is_whitespace() => ' ',
                _ => 'a',
            };
            if last != ' ' && (kind != last || kind == '\u{4e00}') {
                words.ends.push(at);
            }
            if kind != ' ' && (kind != last || kind == '\u{4e00}') {
                words.starts.push(at);
            }
            last = kind;
        }
        if last != ' ' {
            words.ends.push(text.len());
        }
        words
    }

    /// Returns the number of words in the first bytes of the text.
    fn before(&self, length: usize) -> usize {
        self.starts.partition_point(|start| *start < length)
    }
}

/// Random numbers between 0 and 1, the same in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    #[expect(clippy::cast_precision_loss, reason = "53 bits are left")]
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
