//! Sizes of pages, and links between them.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use super::markdown::{anchors, links};
use super::{Page, guide};
use crate::support::repository;

/// Pages outside `docs/` that link to the guide or are linked from it.
const OTHERS: [&str; 6] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "patches/README.md",
    "tests/README.md",
];

/// Resolves the target of a link, relative to the page that has it.
fn resolve(page: &str, target: &str) -> String {
    let mut segments: Vec<String> = Vec::new();
    for component in Path::new(page).parent().unwrap().join(target).components() {
        match component {
            Component::ParentDir => drop(segments.pop()),
            Component::Normal(name) => segments.push(name.to_str().unwrap().to_owned()),
            _ => {}
        }
    }
    segments.join("/")
}

/// Returns the paths and anchors that a page links to, without links to other sites.
fn targets(page: &Page) -> Vec<(String, Option<String>)> {
    let local = links(&page.text).into_iter().filter(|target| !target.contains("://"));
    local
        .map(|target| match target.split_once('#') {
            Some(("", anchor)) => (page.path.clone(), Some(anchor.to_owned())),
            Some((path, anchor)) => (resolve(&page.path, path), Some(anchor.to_owned())),
            None => (resolve(&page.path, target), None),
        })
        .collect()
}

#[test]
fn pages_are_short() {
    for page in guide() {
        let lines = page.text.lines().count();
        assert!(lines <= 400, "{} has {lines} lines, and at most 400 are allowed", page.path);
    }
    let readme = Page::read("README.md").text.lines().count();
    assert!(readme <= 200, "README.md has {readme} lines, and at most 200 are allowed");
}

#[test]
fn links_resolve() {
    let mut pages = guide();
    pages.extend(OTHERS.map(Page::read));
    let mut checked = 0;
    for page in &pages {
        for (path, anchor) in targets(page) {
            assert!(repository().join(&path).exists(), "{}: there is no {path}", page.path);
            if let Some(anchor) = anchor {
                let target = Page::read(&path);
                assert!(
                    anchors(&target.text).contains(&anchor),
                    "{}: {path} has no heading #{anchor}",
                    page.path
                );
            }
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn every_page_is_reachable_from_the_index() {
    let pages: BTreeSet<String> = guide().into_iter().map(|page| page.path).collect();
    let mut reached = BTreeSet::new();
    let mut open = vec!["docs/README.md".to_owned()];
    while let Some(path) = open.pop() {
        if reached.insert(path.clone()) {
            let next = targets(&Page::read(&path)).into_iter().map(|(path, _)| path);
            open.extend(next.filter(|path| pages.contains(path)));
        }
    }
    assert_eq!(reached, pages);
}
