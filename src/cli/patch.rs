//! `transship patch`

use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::transform::patch::{self, ItemPosition, PatchError};
use crate::yaml::{self, Node, SourceId};
use clap::{Args, ValueEnum};

use super::{Outcome, output};

/// Apply a patch to a manifest, and print the result
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship patch deployment.yaml --patch add-sidecar.yaml
  transship patch deployment.yaml --patch set-args.yaml-patch --type json")]
pub(super) struct Patch {
    /// Manifest to patch
    file: PathBuf,
    /// File with the patch, in YAML or JSON
    #[arg(long = "patch", value_name = "FILE")]
    change: PathBuf,
    /// Type of the patch; by default, a list is a JSON patch and a map is a strategic merge patch
    #[arg(long, value_enum)]
    r#type: Option<Type>,
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
        let before = crate::file::read_document(&self.file, SourceId(0))?.root;
        let patch = crate::file::read_document(&self.change, SourceId(1))?.root;
        let mut after = before.clone();
        self.apply(&mut after, &patch).map_err(|error| self.diagnostic(error))?;
        if before == after {
            output::note("the patch changes nothing");
        }
        output::yaml(&yaml::write(&after))?;
        Ok(Outcome::Done)
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
        let file = if error.mark.source == SourceId(1) { &self.change } else { &self.file };
        let location = Location::in_file(error.mark, &file.display().to_string());
        Diagnostic { help: error.help, ..Diagnostic::error(error.message).at(location) }
    }
}
