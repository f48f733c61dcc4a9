//! What left the payload, and whether it may be taken away.

use super::inventory::{Entry, Inventory};
use crate::object::ObjectId;

/// So many may go without a word, or this share of all.
const FEW: usize = 10;
const SHARE: usize = 5;

/// What somebody has allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approval {
    /// Only what is harmless.
    #[default]
    Harmless,
    /// Exactly this many, whatever they are.
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

/// Decides about everything that is in the inventory and not in the payload.
pub fn leaving(known: &Inventory, wanted: &[ObjectId], approval: Approval) -> Leaving {
    let gone: Vec<&Entry> = known.entries.iter().filter(|entry| !wanted.contains(&entry.id)).collect();
    let many = gone.len() > FEW.max(known.entries.len() / SHARE);
    let mut leaving = Leaving::default();
    for entry in &gone {
        let why = match approval {
            Approval::All => None,
            Approval::Count(count) if count == gone.len() => None,
            Approval::Count(count) => Some(format!("{count} were approved, and {} would go", gone.len())),
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
fn precious(kind: &str) -> Option<&'static str> {
    match kind {
        "Namespace" => Some("everything in it would go with it"),
        "CustomResourceDefinition" => Some("every object of its kind would go with it"),
        "PersistentVolumeClaim" | "PersistentVolume" => Some("its data would go with it"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Approval, leaving};
    use crate::apply::Inventory;

    fn inventory(count: usize) -> Inventory {
        let lines: Vec<String> = (0..count).map(|n| format!("v1 ConfigMap ns c{n} u{n} - -")).collect();
        Inventory::read(&lines.join("\n"), true).unwrap()
    }

    #[test]
    fn what_left_goes() {
        let known = inventory(30);
        let wanted: Vec<_> = known.entries[5..].iter().map(|entry| entry.id.clone()).collect();
        let found = leaving(&known, &wanted, Approval::Harmless);
        assert_eq!((found.go.len(), found.held.len()), (5, 0));
    }

    #[test]
    fn much_at_once_is_held() {
        let known = inventory(30);
        let wanted: Vec<_> = known.entries[11..].iter().map(|entry| entry.id.clone()).collect();
        let found = leaving(&known, &wanted, Approval::Harmless);
        assert_eq!((found.go.len(), found.held.len()), (0, 11));
        assert_eq!(found.held[0].1, "11 of 30 objects would go at once");
        assert_eq!(leaving(&known, &wanted, Approval::Count(11)).go.len(), 11);
        assert_eq!(
            leaving(&known, &wanted, Approval::Count(10)).held[0].1,
            "10 were approved, and 11 would go"
        );
        assert_eq!(leaving(&known, &wanted, Approval::All).go.len(), 11);
        assert_eq!(leaving(&inventory(3), &[], Approval::Harmless).go.len(), 3, "few may go");
    }

    #[test]
    fn what_takes_more_with_it_is_held() {
        let lines = "v1 Namespace - n u - -\napiextensions.k8s.io/v1 CustomResourceDefinition - d u - -\n\
                     v1 PersistentVolumeClaim ns p u - -\nv1 Secret ns s u - -\n";
        let found = leaving(&Inventory::read(lines, true).unwrap(), &[], Approval::Harmless);
        assert_eq!(found.go.iter().map(|entry| entry.id.name.as_str()).collect::<Vec<_>>(), ["s"]);
        assert_eq!(found.held.len(), 3);
    }
}
