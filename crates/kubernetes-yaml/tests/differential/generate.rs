//! Generates YAML in all styles, and damages it.

use std::fmt::Write;

use crate::random::Random;

/// Scalars whose type depends on their spelling, and ordinary ones.
const SCALARS: &[&str] = &[
    "a",
    "b",
    "name",
    "x y",
    "yes",
    "No",
    "on",
    "OFF",
    "y",
    "n",
    "true",
    "False",
    "0",
    "-0",
    "1",
    "-1",
    "+1",
    "0640",
    "0o17",
    "0x1F",
    "0b101",
    "0b+1",
    "-0b11",
    "0b-1",
    "1_000",
    "_1",
    "1__0_",
    "1.5",
    ".5",
    "-.5",
    "1.",
    "1e3",
    "1E-3",
    "1e400",
    "1e39",
    "1e130",
    "1e-50",
    "1e21",
    "123456789012345678",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "12:30",
    "12:30:45",
    "2001-01-01",
    "2001-12-14t21:59:43.10-05:00",
    "2001-12-14 21:59:43.10 -5",
    "=",
    "a:b",
    "é",
    "\u{1f680}",
    "a\u{85}b",
    "a\u{2028}b",
    "${X}",
    "aaa=",
    "aGk=",
    "08",
    "0x",
    "1.2.3",
    "0.1",
    "0.30000000000000004",
    "3.4028235e38",
    "1e-7",
    "100000000000000000000",
];

/// Scalars that are not allowed everywhere.
const ODD_SCALARS: &[&str] = &[
    ".inf",
    "-.Inf",
    ".nan",
    "%a",
    "@a",
    "`a",
    "{{ x }}",
    "[x]",
    "a,b",
    "a]b",
    "?a",
    ":a",
    "~",
    "null",
    "Null",
    "18446744073709551615",
    "9223372036854775808",
    "!a",
    "<<",
    "",
    "-a",
    "a#b",
    "--",
];

const TAGS: &[&str] = &[
    "!!str ",
    "!!int ",
    "!!float ",
    "!!bool ",
    "!!null ",
    "!!binary ",
    "!!timestamp ",
    "!!merge ",
    "!!map ",
    "!!seq ",
    "! ",
    "!x ",
    "!<tag:yaml.org,2002:str> ",
    "!!foo ",
];

/// Pieces of syntax that are inserted to damage a text.
const PIECES: &[&str] = &[
    " ",
    "  ",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    "\r\r\n",
    "\t",
    ":",
    ": ",
    "- ",
    "? ",
    ", ",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "&a ",
    "*a",
    "*a ",
    "! ",
    "!!str ",
    "!!float ",
    "!!binary ",
    "<<: ",
    "<<: *a",
    "|",
    "|-\n",
    ">+2\n",
    "#",
    " # c\n",
    "---\n",
    "---",
    "...\n",
    "... ",
    "%",
    "@",
    "\\",
    "\\n",
    "\\x41",
    "\\u00e9",
    "\\U0001f680",
    "~",
    "0",
    "1e400",
    ".inf",
    "null",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "é",
    "\u{1}",
    "a: 1\n",
    "\nb: 2\n",
    "{\"a\": 1}",
    "=",
    "_",
    "+",
    "-",
    "''",
    "\\\n",
];

/// Generates a text: a document or several, in all styles.
pub(crate) fn text(random: &mut Random) -> String {
    let mut generator = Generator { random, out: String::new(), anchors: Vec::new() };
    generator.documents();
    let Generator { out, .. } = generator;
    match random.below(20) {
        0 => out.replace('\n', "\r\n"),
        1 => out.replace('\n', "\r"),
        2 => format!("\u{feff}{out}"),
        3 => out.trim_end().to_owned(),
        _ => out,
    }
}

/// Damages a text in a few places.
pub(crate) fn damage(text: &str, other: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(4) {
        let at = boundary(&text, random.below(text.len() + 1));
        match random.below(6) {
            0 | 1 => text.insert_str(at, random.pick(PIECES)),
            2 => {
                let end = boundary(&text, at + random.below(6));
                text.replace_range(at..end.max(at), "");
            }
            3 => {
                let end = boundary(&text, at + random.below(12));
                text.replace_range(at..end.max(at), random.pick(PIECES));
            }
            4 => {
                let start = boundary(other, random.below(other.len() + 1));
                let end = boundary(other, start + random.below(30)).max(start);
                text.insert_str(at, &other[start..end]);
            }
            _ => {
                let start = text[..at].rfind('\n').map_or(0, |index| index + 1);
                let end = text[at..].find('\n').map_or(text.len(), |index| at + index + 1);
                let line = text[start..end].to_owned();
                let to = boundary(&text, random.below(text.len() + 1));
                let to = text[..to].rfind('\n').map_or(0, |index| index + 1);
                text.insert_str(to, &line);
            }
        }
    }
    text
}

/// Returns the start of the character at an offset.
fn boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

struct Generator<'r> {
    random: &'r mut Random,
    out: String,
    anchors: Vec<usize>,
}

impl Generator<'_> {
    fn documents(&mut self) {
        for index in 0..=self.random.below(8).saturating_sub(5) {
            if index > 0 || self.random.one_in(4) {
                self.out.push_str(self.random.pick(&["---\n", "--- # c\n", "---  \n"]));
            }
            if self.random.one_in(10) {
                self.flow(3);
                self.out.push('\n');
            } else {
                let indent = usize::from(self.random.one_in(10));
                self.block(indent, 4);
            }
            if self.random.one_in(15) {
                self.out.push_str(self.random.pick(&["...\n", "... # c\n", "...\nb: 1\n"]));
            }
        }
    }

    fn indent(&mut self, columns: usize) {
        if self.random.one_in(20) {
            self.out.push_str(self.random.pick(&["\n", "# c\n", "   # c\n", "  \n"]));
        }
        self.out.extend(std::iter::repeat_n(' ', columns));
    }

    /// Writes a collection in lines of its own.
    fn block(&mut self, indent: usize, depth: usize) {
        let is_map = self.random.below(3) > 0;
        for _ in 0..=self.random.below(4) {
            self.indent(indent);
            if is_map {
                self.entry(indent, depth);
            } else {
                self.out.push('-');
                self.value(indent, depth, false);
            }
        }
    }

    fn entry(&mut self, indent: usize, depth: usize) {
        if self.random.one_in(25) {
            self.out.push_str("? ");
            self.scalar_on_one_line(false);
            self.out.push('\n');
            self.indent(indent);
            self.out.push(':');
        } else if self.random.one_in(20) && !self.anchors.is_empty() {
            self.out.push_str("<<:");
        } else {
            self.properties(25);
            self.scalar_on_one_line(false);
            self.out.push(':');
        }
        self.value(indent, depth, true);
    }

    /// Writes what follows `-` or a key.
    fn value(&mut self, indent: usize, depth: usize, in_map: bool) {
        match self.random.below(if depth == 0 { 7 } else { 12 }) {
            0 => self.out.push('\n'),
            1..=4 => {
                self.out.push(' ');
                self.properties(20);
                self.scalar_on_one_line(false);
                self.out.push_str(self.random.pick(&["\n", "\n", "\n", " # c\n", "  \n"]));
            }
            5 => {
                self.out.push(' ');
                self.properties(20);
                self.flow(2);
                self.out.push('\n');
            }
            6 => {
                self.out.push(' ');
                self.properties(20);
                self.block_scalar(indent);
            }
            _ => {
                if self.random.one_in(12) {
                    self.out.push(' ');
                    self.properties(1);
                }
                let compact = !in_map && self.random.one_in(2);
                let step = 1 + self.random.below(3);
                if compact {
                    self.out.push(' ');
                    let at = self.out.len();
                    self.block(indent + 2, depth - 1);
                    // The first line of a compact collection has its indentation already.
                    let end = at + (indent + 2).min(self.out.len() - at);
                    if self.out[at..end].bytes().all(|byte| byte == b' ') {
                        self.out.replace_range(at..end, "");
                    }
                } else {
                    self.out.push('\n');
                    let unindented = in_map && self.random.one_in(4);
                    self.block(if unindented { indent } else { indent + step }, depth - 1);
                }
            }
        }
    }

    /// Writes an anchor or a tag, once in `many` times.
    fn properties(&mut self, many: usize) {
        if !self.random.one_in(many) {
            return;
        }
        let kind = self.random.below(4);
        if kind < 2 {
            self.out.push_str(self.random.pick(TAGS));
        }
        if kind > 0 {
            let anchor = self.random.below(3);
            let _ = write!(self.out, "&a{anchor} ");
            self.anchors.push(anchor);
        }
    }

    fn flow(&mut self, depth: usize) {
        let is_map = self.random.one_in(2);
        self.out.push(if is_map { '{' } else { '[' });
        for index in 0..self.random.below(4) {
            if index > 0 {
                self.out.push_str(self.random.pick(&[",", ", ", " , ", ",\n "]));
            }
            self.properties(25);
            if is_map || self.random.one_in(8) {
                self.scalar_on_one_line(true);
                self.out.push_str(self.random.pick(&[": ", ": ", ": ", "", ":"]));
            }
            if depth > 0 && self.random.one_in(4) {
                self.flow(depth - 1);
            } else {
                self.properties(25);
                self.scalar_on_one_line(true);
            }
        }
        self.out.push_str(self.random.pick(&["", "", "", " ", ","]));
        self.out.push(if is_map { '}' } else { ']' });
    }

    fn scalar(&mut self) -> &'static str {
        let list = if self.random.one_in(15) { ODD_SCALARS } else { SCALARS };
        self.random.pick(list)
    }

    fn scalar_on_one_line(&mut self, in_flow: bool) {
        match self.random.below(12) {
            0 | 1 => {
                let text = self.scalar().replace('\'', "''");
                let _ = write!(self.out, "'{text}'");
            }
            2 | 3 => {
                let text = self.scalar();
                let escape = self
                    .random
                    .pick(&["", "", "\\n", "\\t", "\\x41", "\\u00e9", "\\\"", "\\\n  ", "\n  ", "\n\n "]);
                let _ = write!(self.out, "\"{text}{escape}\"");
            }
            4 if !self.anchors.is_empty() => {
                let anchor = self.anchors[self.random.below(self.anchors.len())];
                let _ = write!(self.out, "*a{anchor}");
                self.out.push_str(self.random.pick(&["", " "]));
            }
            5 if !in_flow && self.random.one_in(4) => {
                let (first, second) = (self.scalar(), self.scalar());
                let gap = self.random.pick(&["\n      ", "\n\n      ", "\r\r\n      ", " "]);
                let _ = write!(self.out, "{first}{gap}{second}");
            }
            _ => {
                let text = self.scalar();
                self.out.push_str(text);
            }
        }
    }

    fn block_scalar(&mut self, indent: usize) {
        self.out.push_str(self.random.pick(&["|", ">", "|-", ">-", "|+", ">+", "|2", ">1-", "| # c"]));
        self.out.push('\n');
        for _ in 0..self.random.below(4) {
            let columns = indent + 1 + self.random.below(3);
            self.out.extend(std::iter::repeat_n(' ', columns));
            let text = self.scalar();
            self.out.push_str(text);
            self.out.push('\n');
        }
    }
}
