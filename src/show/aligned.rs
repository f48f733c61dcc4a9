//! Tables of text.

use std::fmt::Write;

/// Returns rows as a table in which each column is as wide as its widest cell. All rows have the same number of cells.
pub(crate) fn aligned<R: AsRef<[String]>>(rows: &[R]) -> String {
    let columns = rows.first().map_or(0, |row| row.as_ref().len());
    let width = |column: usize| rows.iter().map(|row| row.as_ref()[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut table = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.as_ref().iter().zip(&widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        let _ = writeln!(table, "{}", line.trim_end());
    }
    table
}
