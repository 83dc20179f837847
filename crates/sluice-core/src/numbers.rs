//! Numbers as people read them. Every place that shows a number of tokens or a date uses these functions.

/// Formats a limit with up to three digits: `512`, `8.19k`, `128k`, `1M`, `1.05M`.
pub fn short_count(tokens: u64) -> String {
    let (whole, unit) = match tokens {
        0..1_000 => return tokens.to_string(),
        // 999,500 and more would be rounded to 1000k.
        1_000..999_500 => (1_000, "k"),
        999_500..999_500_000 => (1_000_000, "M"),
        _ => (1_000_000_000, "G"),
    };
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let value = tokens as f64 / f64::from(whole);
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    let text = format!("{value:.decimals$}");
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

/// Formats a number that grows while it is shown: `812`, `52.0k`, `1.05M`, `2.30G`. The number of decimals is fixed, so
/// that the text doesn't change its length all the time.
pub fn fixed_count(tokens: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "few digits are shown")]
    let number = tokens as f64;
    match tokens {
        0..1000 => tokens.to_string(),
        1000..999_950 => format!("{:.1}k", number / 1e3),
        999_950..999_995_000 => format!("{:.2}M", number / 1e6),
        _ => format!("{:.2}G", number / 1e9),
    }
}

/// Formats a number with separators: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a day, counted from 1970-01-01, as a date such as `2026-03-01`.
pub fn date(day: u32) -> String {
    // This is Howard Hinnant's algorithm. Years begin in March, so that the leap day comes last.
    let shifted = u64::from(day) + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day_of_month:02}")
}
