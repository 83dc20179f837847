//! Finds home folders in paths. Their names are the names of users.

/// Returns the text with `~` in place of every home folder: `/home/anna`, `/Users/anna`, `C:\\Users\\anna`, `/root`. The
/// time is linear, because a server may have written the text.
pub(super) fn without_home_folders(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_separator) {
        let (before, path) = rest.split_at(at);
        kept.push_str(before);
        let inside = path.trim_start_matches(is_separator);
        let separators = path.get(..path.len() - inside.len()).unwrap_or_default();
        if let Some(after) = after_user(inside) {
            // In JSON, a backslash is written as two.
            let leading = separators.strip_suffix("\\\\").or_else(|| separators.strip_suffix(is_separator));
            let leading = leading.unwrap_or_default();
            let drive = kept.strip_suffix(':').and_then(|kept| kept.strip_suffix(|c: char| c.is_ascii_alphabetic()));
            if let Some(without_drive) = drive.filter(|_| leading.is_empty()) {
                kept.truncate(without_drive.len());
            }
            kept.push_str(leading);
            kept.push('~');
            rest = after;
        } else if let Some(after) = after_root(inside).filter(|_| separators == "/" && starts_path(&kept)) {
            kept.push('~');
            rest = after;
        } else {
            kept.push_str(separators);
            rest = inside;
        }
    }
    kept.push_str(rest);
    kept
}

fn is_separator(c: char) -> bool {
    c == '/' || c == '\\'
}

/// Returns what follows `Users/anna` or `home/anna`.
fn after_user(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("Users").or_else(|| path.strip_prefix("home"))?;
    let name = rest.trim_start_matches(is_separator);
    let after = name.trim_start_matches(|c: char| !is_separator(c) && !c.is_whitespace() && !"\"':;,)".contains(c));
    (name.len() < rest.len() && after.len() < name.len()).then_some(after)
}

/// Returns what follows `root`.
fn after_root(path: &str) -> Option<&str> {
    let after = path.strip_prefix("root")?;
    let ends = |c: char| c == '/' || c.is_whitespace() || "\"')".contains(c);
    (after.is_empty() || after.starts_with(ends)).then_some(after)
}

fn starts_path(before: &str) -> bool {
    before.is_empty() || before.ends_with(|c: char| c.is_whitespace() || "\"'(".contains(c))
}
