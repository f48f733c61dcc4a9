//! The documentation: every example is run, every link resolves, and generated pages match the code.
//!
//! `make docs` runs the ignored tests called `rewrite`, which update the pages.

mod checks_page;
mod examples;
mod links;
mod markdown;
mod reference;

use std::path::PathBuf;

use crate::support::repository;

/// A Markdown file of the repository.
struct Page {
    /// The path below the repository, with `/` between its segments.
    path: String,
    text: String,
}

impl Page {
    fn read(path: &str) -> Self {
        let text = std::fs::read_to_string(repository().join(path)).unwrap();
        Self { path: path.to_owned(), text }
    }

    fn write(&self, text: &str) {
        if self.text != text {
            std::fs::write(repository().join(&self.path), text).unwrap();
        }
    }
}

/// Returns the pages below `docs/`, sorted by path.
fn guide() -> Vec<Page> {
    let mut folders = vec![PathBuf::from("docs")];
    let mut pages = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(repository().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(Page::read(path.to_str().unwrap()));
            }
        }
    }
    pages.sort_by(|left, right| left.path.cmp(&right.path));
    pages
}
