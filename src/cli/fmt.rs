//! `transship fmt`

use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::yaml::{self, Document, SourceId, json};
use clap::Args;

use super::{Format, Outcome, STDIN, output};

/// Read YAML or JSON as Kubernetes does, and print it in canonical form
#[derive(Args)]
#[command(after_help = "\
Example:
  echo 'mode: 0640' | transship fmt -o json          # {\"mode\":416}")]
pub(super) struct Fmt {
    /// File to read; `-` is standard input
    #[arg(default_value = "-")]
    file: PathBuf,
    /// Format of the output
    #[arg(short = 'o', value_enum, default_value_t = Format::Yaml)]
    format: Format,
}

impl Fmt {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let name =
            if self.file.as_os_str() == "-" { STDIN.to_owned() } else { self.file.display().to_string() };
        let text = self.text(&name)?;
        let documents =
            yaml::read(&text, SourceId::default()).map_err(|error| Diagnostic::syntax(error, &name))?;
        for document in &documents {
            output::warn(&Diagnostic::duplicate_keys(&document.duplicates, &name));
        }
        for start in documents.iter().filter_map(|document| document.dropped) {
            output::warn(&[Diagnostic::ignored_text(start, &name)]);
        }
        self.print(&documents)?;
        Ok(Outcome::Done)
    }

    fn text(&self, name: &str) -> Result<String, Diagnostic> {
        if self.file.as_os_str() == "-" {
            return crate::file::read_stream(std::io::stdin().lock(), name);
        }
        crate::file::read_text(&self.file)
    }

    fn print(&self, documents: &[Document]) -> Result<(), Diagnostics> {
        let roots = documents.iter().map(|document| &document.root);
        match self.format {
            Format::Yaml => output::yaml(&roots.map(yaml::write).collect::<Vec<_>>().join("---\n")),
            Format::Json => output::json(&roots.map(|root| json::write(root) + "\n").collect::<String>()),
        }
    }
}
