//! `transship patch`

use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::file;
use crate::transform::patch::{self, ItemPosition, PatchError};
use crate::yaml::{self, Node, SourceId, json};
use clap::{Args, ValueEnum};

use super::{Format, Outcome, STDIN, output};

/// Apply a patch to a manifest, and print the result
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship patch deployment.yaml --patch add-sidecar.yaml
  transship patch deployment.yaml --patch set-args.yaml-patch --type json
  kubectl get deployment op -o yaml | transship patch - --patch set-args.yaml -o json")]
pub(super) struct Patch {
    /// Manifest to patch; `-` is standard input
    file: PathBuf,
    /// File with the patch, in YAML or JSON
    #[arg(long = "patch", value_name = "FILE")]
    change: PathBuf,
    /// Type of the patch; by default, a list is a JSON patch and a map is a strategic merge patch
    #[arg(long, value_enum)]
    r#type: Option<Type>,
    /// Format of the output
    #[arg(short = 'o', value_enum, default_value_t = Format::Yaml)]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Type {
    /// Strategic merge patch of Kubernetes
    Strategic,
    /// JSON merge patch, RFC 7386
    Merge,
    /// JSON patch, RFC 6902, with `[name=x]` in paths
    Json,
}

impl Patch {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let before = self.manifest()?;
        let patch = file::read_document(&self.change, SourceId(1))?.root;
        let mut after = before.clone();
        self.apply(&mut after, &patch).map_err(|error| self.diagnostic(error))?;
        if before == after {
            output::note("the patch changes nothing");
        }
        match self.format {
            Format::Yaml => output::yaml(&yaml::write(&after)),
            Format::Json => output::json(&(json::write(&after) + "\n")),
        }?;
        Ok(Outcome::Done)
    }

    fn manifest(&self) -> Result<Node, Diagnostic> {
        if self.file.as_os_str() != "-" {
            return Ok(file::read_document(&self.file, SourceId(0))?.root);
        }
        let text = file::read_stream(std::io::stdin().lock(), STDIN)?;
        Ok(file::single_document(file::parse_documents(&text, SourceId(0), STDIN)?, STDIN)?.root)
    }

    /// Returns the name of the manifest for messages.
    fn name(&self) -> String {
        if self.file.as_os_str() == "-" { STDIN.to_owned() } else { self.file.display().to_string() }
    }

    fn apply(&self, target: &mut Node, patch: &Node) -> Result<(), PatchError> {
        let guessed = if patch.as_list().is_some() { Type::Json } else { Type::Strategic };
        match self.r#type.unwrap_or(guessed) {
            Type::Json => patch::apply_operations(target, &patch::operations(patch)?),
            Type::Strategic => patch::strategic_merge(target, patch, None, ItemPosition::Kubernetes),
            Type::Merge => {
                patch::merge(target, patch);
                Ok(())
            }
        }
    }

    fn diagnostic(&self, error: PatchError) -> Diagnostic {
        let is_in_patch = error.mark.source == SourceId(1);
        let file = if is_in_patch { self.change.display().to_string() } else { self.name() };
        let location = Location::in_file(error.mark, &file);
        Diagnostic { help: error.help, ..Diagnostic::error(error.message).at(location) }
    }
}
