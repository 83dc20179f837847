//! Nothing in a server's text becomes clickable. `extension/test/link-free.test.ts` checks it with VS Code's own parsers.

use proptest::prelude::*;
use sluice_core::{link_free, link_free_lines};

/// Word joiners are shown as `·`.
#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(link_free(text).replace('\u{2060}', "·"), expected);
}

#[test]
fn links_addresses_and_icons_are_disabled() {
    check("[click](command:x)", "·[click]·(command:x)");
    check("![picture](https://example.com/a.png)", "![picture]·(https://·example.com/a.png)");
    check("<https://example.com> <!-- x", "<·https://·example.com> <·!-- x");
    check("WWW.example.com www. x", "WWW.·example.com www. x");
    check("me@example.com claude@latest", "me@·example.com claude@latest");
    check("$(sync~spin)", "$·(sync~spin)");
    check("1) one", "·1) one");
    check("1.5 GB", "1.5 GB");
    check("a://", "a://·");
}

#[test]
fn hidden_characters_are_removed() {
    for hidden in ["\u{200B}", "\0", "\u{2060}", "\u{FEFF}", "\u{AD}", "\u{202E}", "\u{E0041}"] {
        check(&format!("x [click]{hidden}(command:x)"), "x [click]·(command:x)");
    }
    check("x [click]\r\n\u{2028}(command:x)", "x [click] (command:x)");
    assert_eq!(link_free_lines("**a**\n\n# b"), "**a**\n\n\u{2060}# b");
    assert_eq!(link_free_lines("[a]: https://b\n\n`c`"), "\u{2060}[a]: https://\u{2060}b\n\n\u{2060}`c`");
}

#[test]
fn long_text_is_shortened_between_characters() {
    assert_eq!(link_free(&"🦙".repeat(500)), "🦙".repeat(500));
    assert_eq!(link_free(&"🦙".repeat(501)), format!("{}…", "🦙".repeat(499)));
}

proptest! {
    #[test]
    fn applying_it_twice_changes_nothing(text in r"([\[\]()<>!$`~#@/.: \na-c-]|www|://){0,40}") {
        let once = link_free(&text);
        prop_assert_eq!(link_free(&once), once);
    }
}
