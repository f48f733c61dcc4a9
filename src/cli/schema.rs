//! `transship schema`

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::diagnostic::Diagnostics;
use crate::language::Profiles;
use clap::Args;

use super::{Outcome, output};

/// Print a JSON Schema of pages, profiles and other files, with which editors complete and check fields
#[derive(Args)]
#[command(after_help = "\
Example:
  transship schema > .vscode/transship.schema.json")]
pub(super) struct Schema {
    /// Folder of the profiles; the schema includes their fragments
    #[arg(long, value_name = "DIR", default_value = "profiles")]
    profiles: PathBuf,
}

impl Schema {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let fragments =
            if self.profiles.is_dir() { Profiles::load(&self.profiles)?.fragments } else { BTreeMap::new() };
        output::json(&format!("{:#}\n", crate::language::schema(&fragments)))?;
        Ok(Outcome::Done)
    }
}
