//! Colours code: comments, strings, numbers and keywords. It knows families of languages rather than their grammars, because
//! code is drawn line by line while it streams, and each line only once.

use anstyle::{AnsiColor, Style};

const COMMENT: Style = Style::new().dimmed();
const STRING: Style = AnsiColor::Green.on_default();
const NUMBER: Style = AnsiColor::Cyan.on_default();
const KEYWORD: Style = AnsiColor::Magenta.on_default();
const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();

/// What languages of a family have in common.
#[derive(Debug)]
struct Family {
    names: &'static str,
    /// What starts a comment that ends with its line.
    comment: &'static str,
    /// What starts a comment or a string that may have several lines, and what ends it.
    blocks: &'static [(&'static str, &'static str)],
    quotes: &'static str,
    keywords: &'static str,
}

const C_COMMENT: (&str, &str) = ("/*", "*/");

const FAMILIES: [Family; 13] = [
    Family {
        names: "rust rs",
        comment: "//",
        blocks: &[C_COMMENT],
        quotes: "\"",
        keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move \
            mut pub ref return self Self static struct super trait true type unsafe use where while",
    },
    Family {
        names: "js javascript mjs cjs jsx ts typescript mts tsx vue svelte dart php",
        comment: "//",
        blocks: &[C_COMMENT, ("`", "`")],
        quotes: "\"'",
        keywords: "abstract as async await break case catch class const continue declare default delete do else enum export extends \
            false finally for from function get if implements import in instanceof interface let new null of private public \
            readonly return set static super switch this throw true try type typeof undefined var void while yield",
    },
    Family {
        names: "c h cpp c++ cc hpp java kotlin kt swift cs csharp c# go golang scala groovy zig proto protobuf objc glsl jsonc json5 d",
        comment: "//",
        blocks: &[C_COMMENT, ("\"\"\"", "\"\"\""), ("`", "`")],
        quotes: "\"'",
        keywords: "abstract async auto await bool boolean break byte case catch chan char class const continue data default defer do \
            double else enum extends extern false final finally float fun func for go goto guard if implements import in int \
            interface internal is let long map match message namespace new nil null nullptr object override package private \
            protected public range return select short signed sizeof static string struct super switch template this throw \
            throws true try type typedef union unsigned using val var virtual void volatile when where while",
    },
    Family {
        names: "py python python3 pyi",
        comment: "#",
        blocks: &[("\"\"\"", "\"\"\""), ("'''", "'''")],
        quotes: "\"'",
        keywords: "False None True and as assert async await break case class continue def del elif else except finally for from \
            global if import in is lambda match nonlocal not or pass raise return self try while with yield",
    },
    Family {
        names: "sh bash zsh shell fish ksh dockerfile docker makefile make cmake nix powershell ps1 pwsh",
        comment: "#",
        blocks: &[],
        quotes: "\"'",
        keywords: "break case continue do done elif else end esac exit export fi for foreach function if in local return set source \
            then unset until while FROM RUN COPY ADD CMD ENTRYPOINT ENV ARG WORKDIR EXPOSE",
    },
    Family {
        names: "rb ruby ex elixir perl pl r julia jl crystal gdscript tcl",
        comment: "#",
        blocks: &[],
        quotes: "\"'",
        keywords: "and begin break case class def defmodule do else elsif end ensure false fn for function if import in module my next \
            nil not or raise require rescue return self sub then true unless until use when while yield",
    },
    Family {
        names: "toml yaml yml ini cfg conf properties env nginx hcl tf terraform gitignore",
        comment: "#",
        blocks: &[],
        quotes: "\"'",
        keywords: "true false null yes no on off",
    },
    Family {
        names: "sql mysql postgresql postgres sqlite plsql",
        comment: "--",
        blocks: &[C_COMMENT],
        quotes: "'\"",
        keywords: "ADD ALL ALTER AND AS ASC BEGIN BETWEEN BY CASE COMMIT CONSTRAINT CREATE CROSS DEFAULT DELETE DESC DISTINCT DROP ELSE \
            END EXISTS FALSE FOREIGN FROM FULL GROUP HAVING IN INDEX INNER INSERT INTO IS JOIN KEY LEFT LIKE LIMIT NOT NULL OFFSET ON OR \
            ORDER OUTER PRIMARY REFERENCES RETURNING RIGHT SELECT SET TABLE THEN TRUE UNION UNIQUE UPDATE USING VALUES VIEW WHEN WHERE WITH",
    },
    Family {
        names: "lua haskell hs elm ada vhdl",
        comment: "--",
        blocks: &[("{-", "-}"), ("--[[", "]]")],
        quotes: "\"",
        keywords: "and case class data deriving do else elseif end false for function if import in instance let local module newtype \
            nil not of or repeat return then true type until where while",
    },
    Family { names: "json", comment: "", blocks: &[], quotes: "\"", keywords: "true false null" },
    Family {
        names: "css scss less sass",
        comment: "",
        blocks: &[C_COMMENT],
        quotes: "\"'",
        keywords: "important media import keyframes",
    },
    Family { names: "html xml svg xhtml", comment: "", blocks: &[("<!--", "-->")], quotes: "\"", keywords: "" },
    Family {
        names: "lisp elisp scheme clojure clj racket asm nasm",
        comment: ";",
        blocks: &[],
        quotes: "\"",
        keywords: "and cond def defmacro defn defun define do else fn if lambda let nil not or quote set",
    },
];

/// The state of a code block at the start of a line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Highlighter {
    family: Option<&'static Family>,
    is_diff: bool,
    /// What ends the comment or the string that an earlier line has started, and its style.
    open: Option<(&'static str, Style)>,
}

impl Highlighter {
    /// `info` is what follows the fence: the name of a language, and sometimes more.
    pub fn new(info: &str) -> Self {
        let name = info.split([' ', ',', '{', ':']).next().unwrap_or_default().to_lowercase();
        let family = FAMILIES.iter().find(|family| family.names.split(' ').any(|known| known == name));
        Self { family, is_diff: matches!(name.as_str(), "diff" | "patch"), open: None }
    }

    /// Returns the next line in colour.
    pub fn line(&mut self, line: &str) -> String {
        if self.is_diff {
            return match line.chars().next() {
                Some('+') => styled(line, ADDED),
                Some('-') => styled(line, REMOVED),
                Some('@') => styled(line, KEYWORD),
                _ => line.to_owned(),
            };
        }
        let Some(family) = self.family else { return line.to_owned() };
        let mut out = String::new();
        let mut rest = line;
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            let (length, style) = self.token(family, rest, first, before);
            let (text, after) = rest.split_at(length);
            out.push_str(&style.map_or_else(|| text.to_owned(), |style| styled(text, style)));
            before = text.chars().last().unwrap_or(' ');
            rest = after;
        }
        out
    }

    /// Returns the length and the style of what the rest of a line starts with. `before` precedes it.
    fn token(&mut self, family: &Family, rest: &str, first: char, before: char) -> (usize, Option<Style>) {
        if let Some((end, style)) = self.open {
            let length = rest.find(end).map(|at| at + end.len());
            if length.is_some() {
                self.open = None;
            }
            return (length.unwrap_or(rest.len()), Some(style));
        }
        if let Some((start, end)) = family.blocks.iter().find(|(start, _)| rest.starts_with(start)) {
            let style = if start == end { STRING } else { COMMENT };
            if let Some(at) = rest[start.len()..].find(end) {
                return (start.len() + at + end.len(), Some(style));
            }
            self.open = Some((end, style));
            return (rest.len(), Some(style));
        }
        // `#` is also a part of words, such as `$#` and `C#`.
        let may_be_comment = family.comment != "#" || before.is_whitespace();
        if !family.comment.is_empty() && rest.starts_with(family.comment) && may_be_comment {
            return (rest.len(), Some(COMMENT));
        }
        if family.quotes.contains(first) {
            // A quotation mark that isn't closed on this line doesn't start a string.
            return closing(rest, first).map_or((first.len_utf8(), None), |length| (length, Some(STRING)));
        }
        if first == '\'' {
            // In the other languages that have it, this is a lifetime or a part of a name, or it encloses one character.
            let is_character = |length: &usize| rest.starts_with("'\\") || rest[..*length].chars().count() == 3;
            let literal = closing(rest, first).filter(is_character);
            return literal.map_or((1, None), |length| (length, Some(STRING)));
        }
        if first.is_alphanumeric() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let word = &rest[..length];
            let ignores_case = family.names.starts_with("sql");
            let is_keyword = |keyword: &str| keyword == word || (ignores_case && keyword.eq_ignore_ascii_case(word));
            let style = if first.is_ascii_digit() {
                Some(NUMBER)
            } else {
                family.keywords.split_whitespace().any(is_keyword).then_some(KEYWORD)
            };
            return (length, style);
        }
        (first.len_utf8(), None)
    }
}

fn styled(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// Returns the length of a string with its quotation marks, if it is closed.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !is_escaped {
            return Some(at + 1);
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Colours a text. In the result, c«…» is a comment, s«…» a string, n«…» a number, k«…» a keyword and r«…» what a diff removes.
    fn check(info: &str, text: &str, expected: &str) {
        let mut highlighter = Highlighter::new(info);
        let lines: Vec<String> = text.split('\n').map(|line| highlighter.line(line)).collect();
        let mut shown = lines.join("\n");
        for (style, mark) in [(COMMENT, 'c'), (STRING, 's'), (NUMBER, 'n'), (KEYWORD, 'k'), (REMOVED, 'r')] {
            shown = shown.replace(&style.to_string(), &format!("{mark}«"));
        }
        assert_eq!(shown.replace("\u{1b}[0m", "»"), expected);
    }

    #[test]
    fn each_family_has_comments_strings_and_keywords_of_its_own() {
        check(
            "rust",
            "fn f<'a>(x: &'a str) -> char { 'b' } // it's",
            "k«fn» f<'a>(x: &'a str) -> char { s«'b'» } c«// it's»",
        );
        check("rs,ignore", r#"let s = "a\"b" + '\'';"#, r#"k«let» s = s«"a\"b"» + s«'\''»;"#);
        check("python", "x = 'a#b' # it's 1\nif x1: pass", "x = s«'a#b'» c«# it's 1»\nk«if» x1: k«pass»");
        check("sh", "echo ${x#y} $# 'a' # b", "echo ${x#y} $# s«'a'» c«# b»");
        check("sql", "select 1 FROM t -- all", "k«select» n«1» k«FROM» t c«-- all»");
        check("json", r#"{"a": [1.5, null]}"#, "{s«\"a\"»: [n«1».n«5», k«null»]}");
        check("html", "<a href=\"https://a.example\">don't</a>", "<a href=s«\"https://a.example\"»>don't</a>");
        check("ts", "const a = `x ${b}`;", "k«const» a = s«`x ${b}`»;");
        check("diff", "@@ -1 +1 @@\n-old\n+new\n same", "k«@@ -1 +1 @@»\nr«-old»\ns«+new»\n same");
        check("", "if 'a' // b", "if 'a' // b");
        check("brainfuck", "if 1", "if 1");
    }

    #[test]
    fn comments_and_strings_may_have_several_lines() {
        check("c", "a /* b\nint c\n*/ int d", "a c«/* b»\nc«int c»\nc«*/» k«int» d");
        check("c", "/* a */ int /* b */", "c«/* a */» k«int» c«/* b */»");
        check("py", "\"\"\"A\nfor b\n\"\"\" + c", "s«\"\"\"A»\ns«for b»\ns«\"\"\"» + c");
        check("js", "`a\nif ${b}` + 1", "s«`a»\ns«if ${b}`» + n«1»");
        check("c", "it isn't \"closed", "it isn't \"closed");
    }
}
