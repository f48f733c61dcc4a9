//! Unified diffs of two texts, as `diff -u` prints them.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};

use super::Paint;

/// How many unchanged lines surround a change.
const CONTEXT: u32 = 3;

/// Returns a unified diff of two texts, one line per item. Returns only the header if they are equal.
pub(super) fn unified_diff(before: &str, after: &str, names: (&str, &str), paint: Paint) -> Vec<String> {
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let hunks: Vec<Hunk> = diff.hunks().collect();
    let mut out = Output {
        before: before.split_inclusive('\n').collect(),
        after: after.split_inclusive('\n').collect(),
        lines: vec![paint.red(&format!("--- {}", names.0)), paint.green(&format!("+++ {}", names.1))],
        paint,
    };
    // Changes whose surroundings touch or overlap share one header.
    for group in hunks.chunk_by(|one, next| next.before.start - one.before.end <= 2 * CONTEXT) {
        out.group(group);
    }
    out.lines
}

struct Output<'t> {
    before: Vec<&'t str>,
    after: Vec<&'t str>,
    lines: Vec<String>,
    paint: Paint,
}

impl Output<'_> {
    /// Writes changes that share one header.
    fn group(&mut self, hunks: &[Hunk]) {
        let (Some(first), Some(last)) = (hunks.first(), hunks.last()) else { return };
        let above = first.before.start.min(CONTEXT);
        let below = (length(&self.before) - last.before.end).min(CONTEXT);
        let before = first.before.start - above..last.before.end + below;
        let after = first.after.start - above..last.after.end + below;
        let header = format!("@@ -{} +{} @@", range(&before), range(&after));
        self.lines.push(self.paint.dim(&header));
        let mut next = before.start;
        for hunk in hunks {
            self.context(next..hunk.before.start);
            for line in &self.before[indices(&hunk.before)] {
                push(&mut self.lines, line, |line| self.paint.red(&format!("-{line}")));
            }
            for line in &self.after[indices(&hunk.after)] {
                push(&mut self.lines, line, |line| self.paint.green(&format!("+{line}")));
            }
            next = hunk.before.end;
        }
        self.context(next..before.end);
    }

    fn context(&mut self, range: Range<u32>) {
        for line in &self.before[indices(&range)] {
            push(&mut self.lines, line, |line| self.paint.dim(&format!(" {line}")));
        }
    }
}

/// Adds a line without its line break, and a remark if it has none.
fn push(lines: &mut Vec<String>, line: &str, format: impl Fn(&str) -> String) {
    match line.strip_suffix('\n') {
        Some(line) => lines.push(format(line)),
        None => lines.extend([format(line), "\\ No newline at end of file".to_owned()]),
    }
}

fn length(lines: &[&str]) -> u32 {
    u32::try_from(lines.len()).unwrap_or(u32::MAX)
}

fn indices(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// Formats the lines of a hunk: the first line, counted from one, and the number of lines if it is not one.
fn range(lines: &Range<u32>) -> String {
    match lines.end - lines.start {
        // An empty range names the line before it.
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        length => format!("{},{length}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::unified_diff;
    use crate::show::Paint;

    fn diff(before: &str, after: &str) -> String {
        unified_diff(before, after, ("a", "b"), Paint::Plain).join("\n")
    }

    #[test]
    fn a_change_has_three_lines_of_context() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        assert_eq!(
            diff(before, &before.replace('5', "five")),
            "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8"
        );
    }

    #[test]
    fn changes_that_are_close_share_a_header() {
        let lines: Vec<String> = (1..=20).map(|line| line.to_string()).collect();
        let before = lines.join("\n") + "\n";
        let close = before.replace("\n3\n", "\n").replace("\n10\n", "\nten\n");
        assert_eq!(
            diff(&before, &close),
            "--- a\n+++ b\n@@ -1,13 +1,12 @@\n 1\n 2\n-3\n 4\n 5\n 6\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13"
        );
        let far = before.replace("\n3\n", "\n").replace("\n11\n", "\n");
        assert_eq!(
            diff(&before, &far),
            "--- a\n+++ b\n@@ -1,6 +1,5 @@\n 1\n 2\n-3\n 4\n 5\n 6\n@@ -8,7 +7,6 @@\n 8\n 9\n 10\n-11\n 12\n 13\n 14"
        );
    }

    #[test]
    fn lines_at_the_ends_are_counted_as_diff_counts_them() {
        assert_eq!(diff("", "1\n2\n"), "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+1\n+2");
        assert_eq!(diff("1\n", "2\n"), "--- a\n+++ b\n@@ -1 +1 @@\n-1\n+2");
        assert_eq!(
            diff("1\n2", "1\n2\n"),
            "--- a\n+++ b\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+2"
        );
    }
}
