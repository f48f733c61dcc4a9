//! `transship schema`

use clap::Args;
use transship::diagnostic::Diagnostics;

use super::{Outcome, output};

/// Print the JSON Schema of the files of the language, for editors to complete and check with
#[derive(Args)]
#[command(after_help = "\
Example:
  transship schema > .vscode/transship.schema.json")]
pub(super) struct Schema {}

impl Schema {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        output::result(&format!("{:#}\n", transship::profile::schema()))?;
        Ok(Outcome::Done)
    }
}
