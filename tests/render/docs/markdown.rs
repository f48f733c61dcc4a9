//! A small reader for the Markdown of the pages: sections, fenced blocks, headings and links.

/// The lines below one heading, up to the next.
pub(super) struct Section<'t> {
    pub(super) title: &'t str,
    pub(super) lines: Vec<&'t str>,
}

/// A fenced block.
pub(super) struct Block<'t> {
    pub(super) language: &'t str,
    pub(super) lines: Vec<&'t str>,
}

/// A command of a `console` block and the output that the page shows.
pub(super) struct Shown {
    pub(super) command: String,
    pub(super) output: String,
}

/// Splits a page at its `##` and `###` headings. The first section is the text before them.
pub(super) fn sections(page: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section { title: "", lines: Vec::new() }];
    let mut fenced = false;
    for line in page.lines() {
        fenced ^= line.starts_with("```");
        let title = line.strip_prefix("## ").or(line.strip_prefix("### "));
        match title {
            Some(title) if !fenced => sections.push(Section { title, lines: Vec::new() }),
            _ => sections.last_mut().unwrap().lines.push(line),
        }
    }
    sections
}

/// Returns the fenced blocks of these lines.
pub(super) fn blocks<'t>(lines: &[&'t str]) -> Vec<Block<'t>> {
    let mut blocks = Vec::new();
    let mut lines = lines.iter().copied();
    while let Some(line) = lines.next() {
        let fence = ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence));
        assert_eq!(fence, line.starts_with("```"), "a fence is ``` at the margin: {line}");
        if let Some(language) = line.strip_prefix("```") {
            let lines = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(Block { language, lines });
        }
    }
    blocks
}

impl Block<'_> {
    /// The path of the file that a `yaml` block shows: the comment in its first line.
    pub(super) fn path(&self) -> Option<&str> {
        let path = self.lines.first()?.strip_prefix("# ")?;
        let relative = !path.contains(' ') && !path.starts_with('/') && !path.contains("..");
        relative.then_some(path)
    }

    pub(super) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    /// The commands of a `console` block. A command that ends in `\` continues on the next line.
    pub(super) fn commands(&self) -> Vec<Shown> {
        let mut all: Vec<Shown> = Vec::new();
        for line in &self.lines {
            match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => {
                    all.push(Shown { command: command.to_owned(), output: String::new() });
                }
                (None, Some(last)) if last.output.is_empty() && last.command.ends_with('\\') => {
                    last.command.extend(["\n", line]);
                }
                (None, Some(last)) => last.output.extend([line, "\n"]),
                (None, None) => panic!("a console block begins with `$ `, not {line:?}"),
            }
        }
        all
    }
}

/// Returns the lines outside fenced blocks.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    page.lines().filter(move |line| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// Returns the anchors that GitHub gives to the headings of a page.
pub(super) fn anchors(page: &str) -> Vec<String> {
    let headings = prose(page).filter_map(|line| line.trim_start_matches('#').strip_prefix(' '));
    headings.map(anchor).collect()
}

/// Returns the anchor of a heading.
pub(super) fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Returns the targets of the links of a page.
pub(super) fn links(page: &str) -> Vec<&str> {
    let pieces = prose(page).flat_map(|line| line.split("](").skip(1));
    pieces.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target).collect()
}
