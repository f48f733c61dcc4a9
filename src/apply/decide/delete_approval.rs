//! Decides whether `delete` needs the user's approval.

use crate::apply::decide::inventory::Inventory;
use crate::apply::decide::prune::{Approval, MAX_UNAPPROVED, deletion_cascade};
use crate::diagnostic::Diagnostic;
use crate::object::Cluster;

/// How many objects `delete` would delete in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeleteCount {
    pub(crate) cluster: Cluster,
    pub(crate) objects: usize,
    /// The other things that are deleted with one of them.
    pub(crate) cascade: Option<&'static str>,
}

impl DeleteCount {
    pub(crate) fn of(cluster: Cluster, inventory: &Inventory) -> Self {
        let ours: Vec<_> = inventory.entries.iter().filter(|entry| !entry.found && !entry.keep).collect();
        let cascade = ours.iter().find_map(|entry| deletion_cascade(&entry.id.kind));
        Self { cluster, objects: ours.len(), cascade }
    }

    fn is_approved(&self, approval: Approval) -> bool {
        match approval.in_cluster(self.cluster) {
            Approval::All => true,
            Approval::Count(approved) => approved == self.objects,
            Approval::Harmless | Approval::Clusters { .. } => {
                self.objects <= MAX_UNAPPROVED && self.cascade.is_none()
            }
        }
    }

    /// Describes the number for `--approve-delete`.
    fn flag(&self) -> String {
        match self.cluster {
            Cluster::Both => self.objects.to_string(),
            cluster => format!("{}={}", cluster.name(), self.objects),
        }
    }
}

/// Fails if the user did not approve the number of objects to delete in each cluster.
pub(crate) fn check_approval(counts: &[DeleteCount], approval: Approval) -> Result<(), Diagnostic> {
    if counts.iter().all(|count| count.is_approved(approval)) {
        return Ok(());
    }
    let mut error = Diagnostic::error("the deletion is not approved");
    for count in counts {
        let objects =
            if count.objects == 1 { "1 object".to_owned() } else { format!("{} objects", count.objects) };
        let place = if count.cluster == Cluster::Both { "cluster" } else { count.cluster.name() };
        let cascade =
            count.cascade.map(|cascade| format!("; for one of them, {cascade}")).unwrap_or_default();
        error = error.note(format!("{place}: {objects} would be deleted{cascade}"));
    }
    let flags: Vec<String> = counts.iter().map(DeleteCount::flag).collect();
    Err(error.note("transship has deleted nothing").help(format!(
        "`transship delete --dry-run` lists the objects; to delete them, pass --approve-delete {}",
        flags.join(",")
    )))
}

#[cfg(test)]
mod tests {
    use super::{DeleteCount, check_approval};
    use crate::apply::decide::prune::Approval;
    use crate::object::Cluster;

    fn count(cluster: Cluster, objects: usize) -> DeleteCount {
        DeleteCount { cluster, objects, cascade: None }
    }

    #[test]
    fn the_number_of_each_cluster_must_be_approved() {
        let counts = [count(Cluster::Management, 3), count(Cluster::Guest, 11)];
        let both = |management, guest| Approval::Clusters { management, guest };
        for (approval, expected) in [
            (Approval::All, true),
            (both(Some(3), Some(11)), true),
            (both(Some(3), Some(12)), false),
            (both(Some(3), None), false),
            (Approval::Count(11), false),
            (Approval::Harmless, false),
        ] {
            assert_eq!(check_approval(&counts, approval).is_ok(), expected, "{approval:?}");
        }
        let error = check_approval(&counts, Approval::Harmless).unwrap_err();
        assert_eq!(
            error.to_string(),
            "error: the deletion is not approved\n  \
             note: management: 3 objects would be deleted\n  \
             note: guest: 11 objects would be deleted\n  \
             note: transship has deleted nothing\n  \
             help: `transship delete --dry-run` lists the objects; to delete them, pass --approve-delete \
             management=3,guest=11"
        );
    }

    #[test]
    fn few_harmless_objects_need_no_approval() {
        assert!(check_approval(&[count(Cluster::Both, 2)], Approval::Harmless).is_ok());
        assert!(check_approval(&[count(Cluster::Both, 3)], Approval::Harmless).is_err());
        let namespace = DeleteCount { cascade: Some("deleting it deletes more"), ..count(Cluster::Both, 1) };
        assert!(check_approval(std::slice::from_ref(&namespace), Approval::Harmless).is_err());
        assert!(check_approval(&[namespace], Approval::Count(1)).is_ok());
    }
}
