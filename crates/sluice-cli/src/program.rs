//! Programs that the user names: tools, servers of the Model Context Protocol, and the editor.

use std::ffi::OsString;

/// Splits a command into words, as a shell would. Returns nothing if there is no word, or a quotation mark is missing.
pub fn words(command: &str) -> Option<Vec<String>> {
    split(command, cfg!(windows))
}

/// On Windows, a backslash separates directories and escapes nothing.
fn split(command: &str, is_windows: bool) -> Option<Vec<String>> {
    let words = if is_windows { shlex::split(&command.replace('\\', r"\\")) } else { shlex::split(command) };
    words.filter(|words| !words.is_empty())
}

/// Returns the file of a program. On Windows, `npx` may mean the script `npx.cmd`, which the system wouldn't find by
/// itself. What isn't found is returned unchanged, and fails when it is started.
pub fn file(name: &str) -> OsString {
    #[cfg(windows)]
    if let Ok(path) = which::which(name) {
        return path.into();
    }
    name.into()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    #[expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]
    fn check(command: &str, unix: Expect, windows: Expect) {
        unix.assert_eq(&format!("{:?}", super::split(command, false)));
        windows.assert_eq(&format!("{:?}", super::split(command, true)));
    }

    #[test]
    fn backslashes_are_part_of_windows_paths() {
        check(
            "npx -y 'a server'",
            expect![[r#"Some(["npx", "-y", "a server"])"#]],
            expect![[r#"Some(["npx", "-y", "a server"])"#]],
        );
        check(
            r#""C:\Program Files\x.exe" C:\y"#,
            expect![[r#"Some(["C:\\Program Files\\x.exe", "C:y"])"#]],
            expect![[r#"Some(["C:\\Program Files\\x.exe", "C:\\y"])"#]],
        );
        for nothing in ["", "  ", "\"", "'a"] {
            check(nothing, expect!["None"], expect!["None"]);
        }
    }
}
