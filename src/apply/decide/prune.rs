//! What left the payload, and whether it may be taken away.

use crate::apply::decide::inventory::{Entry, Inventory};
use crate::object::ObjectId;

/// So many may go without a word, or this share of all that is in a cluster.
const FEW: usize = 2;
const SHARE: usize = 5;

/// What somebody has allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approval {
    /// Only what is harmless.
    #[default]
    Harmless,
    /// Exactly this many in all clusters together, whatever they are.
    Count(usize),
    /// Everything.
    All,
}

/// What becomes of the objects that left.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Leaving {
    /// They are taken away.
    pub go: Vec<Entry>,
    /// They stay until somebody approves, and why.
    pub held: Vec<(Entry, String)>,
}

/// Decides about everything that is in the inventory of a cluster and not in what is rendered for it.
pub fn leaving(clusters: &[(&Inventory, &[ObjectId])], approval: Approval) -> Vec<Leaving> {
    let gone: Vec<Vec<&Entry>> = clusters
        .iter()
        .map(|(known, wanted)| known.entries.iter().filter(|entry| !wanted.contains(&entry.id)).collect())
        .collect();
    let total = gone.iter().map(Vec::len).sum();
    clusters.iter().zip(gone).map(|((known, _), gone)| decided(known, &gone, approval, total)).collect()
}

fn decided(known: &Inventory, gone: &[&Entry], approval: Approval, total: usize) -> Leaving {
    let many = gone.len() > FEW.max(known.entries.len() / SHARE);
    let mut leaving = Leaving::default();
    for entry in gone {
        let why = match approval {
            Approval::All => None,
            Approval::Count(count) if count == total => None,
            Approval::Count(count) => Some(format!("{count} were approved, and {total} would go")),
            Approval::Harmless if many => {
                Some(format!("{} of {} objects would go at once", gone.len(), known.entries.len()))
            }
            Approval::Harmless => precious(&entry.id.kind).map(str::to_owned),
        };
        match why {
            None => leaving.go.push((*entry).clone()),
            Some(why) => leaving.held.push(((*entry).clone(), why)),
        }
    }
    leaving
}

/// What takes more with it than itself.
pub(in crate::apply) fn precious(kind: &str) -> Option<&'static str> {
    match kind {
        "Namespace" => Some("everything in it would go with it"),
        "CustomResourceDefinition" => Some("every object of its kind would go with it"),
        "PersistentVolumeClaim" | "PersistentVolume" => Some("its data would go with it"),
        _ => None,
    }
}
