//! Folds the line breaks in plain and quoted scalars.

/// The line breaks between two lines of a scalar. One break becomes a space; of several, the first is dropped.
#[derive(Default)]
pub(super) struct Fold<'a> {
    pub(super) first: Option<&'a str>,
    more: String,
}

impl<'a> Fold<'a> {
    pub(super) fn add(&mut self, line_break: &'a str) {
        match self.first {
            None => self.first = Some(line_break),
            Some(_) => self.more.push_str(line_break),
        }
    }

    pub(super) fn write(&mut self, out: &mut String) {
        match self.first.take() {
            Some("\n") if self.more.is_empty() => out.push(' '),
            Some("\n") | None => {}
            Some(separator) => out.push_str(separator),
        }
        out.push_str(&self.more);
        self.more.clear();
    }
}
