//! Mixed-up clusters: no request that writes reaches a wrong cluster.

use serde_json::{Value, json};

use super::super::fixture::{HOSTED, Project, WIDGET};
use super::super::{Run, repository, run_in};
use super::{assert_code, create, patch_as, written_paths};
use crate::TestBedCase;
use crate::audit::Mark;
use crate::fault_rules::{Fault, RequestMatcher};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::identity::one_cluster_on_both_sides_is_refused", one_cluster_on_both_sides_is_refused),
    (
        "apply::identity::the_uid_of_the_namespace_identifies_the_management_cluster",
        the_uid_of_the_namespace_identifies_the_management_cluster,
    ),
    (
        "apply::identity::the_guest_of_another_hosted_control_plane_is_refused",
        the_guest_of_another_hosted_control_plane_is_refused,
    ),
    ("apply::identity::another_guest_needs_rebind", another_guest_needs_rebind),
    (
        "apply::identity::moved_inventories_must_record_the_same_clusters",
        moved_inventories_must_record_the_same_clusters,
    ),
    (
        "apply::identity::an_edited_binding_in_the_guest_stops_only_the_guest",
        an_edited_binding_in_the_guest_stops_only_the_guest,
    ),
    (
        "apply::identity::without_the_management_cluster_the_guest_is_not_changed",
        without_the_management_cluster_the_guest_is_not_changed,
    ),
    (
        "apply::identity::a_parameter_that_chooses_the_hosted_control_plane_has_no_default",
        a_parameter_that_chooses_the_hosted_control_plane_has_no_default,
    ),
];

const MANAGEMENT_INVENTORY: &str = "/api/v1/namespaces/clusters-example/configmaps/transship-hypershift";
const GUEST_INVENTORY: &str =
    "/api/v1/namespaces/openshift-config-managed/configmaps/transship-hypershift-clusters-example";

struct Marks(Mark, Mark);

impl Marks {
    fn set(bed: &TestBed) -> Self {
        Self(bed.management.audit.mark(), bed.guest.audit.mark())
    }

    fn assert_no_writes(self, bed: &TestBed) {
        assert_eq!(written_paths(&bed.management, self.0), Vec::<String>::new());
        assert_eq!(written_paths(&bed.guest, self.1), Vec::<String>::new());
    }
}

/// Runs a command with chosen kubeconfigs.
fn run(project: &Project, command: &str, clusters: [&TestCluster; 2], more: &[&str]) -> Run {
    let [management, guest] = clusters.map(|cluster| cluster.kubeconfig().display().to_string());
    let flags = ["--management-kubeconfig", &management, "--guest-kubeconfig", &guest, "--timeout", "20s"];
    run_in(project.path(), &[&[command, "--topology", "hypershift"][..], &flags, more].concat())
}

fn uid(cluster: &TestCluster, namespace: &str) -> Value {
    cluster.get(&format!("/api/v1/namespaces/{namespace}")).unwrap()["metadata"]["uid"].clone()
}

fn one_cluster_on_both_sides_is_refused(bed: &TestBed) {
    let project = Project::new();
    for command in ["apply", "delete", "diff --live", "history"] {
        let (marks, mut words) = (Marks::set(bed), command.split(' '));
        let (name, more) = (words.next().unwrap(), words.collect::<Vec<_>>());
        let refused = run(&project, name, [&bed.management, &bed.management], &more);
        assert_code(&refused, 2);
        let expected = format!(
            "error: the management cluster and the guest are the same cluster\n  \
             note: expected: two different clusters\n  \
             note: found: the namespace kube-system has the uid {} in both\n",
            uid(&bed.management, "kube-system").as_str().unwrap()
        );
        assert!(refused.stderr.contains(&expected), "{}", refused.stderr);
        marks.assert_no_writes(bed);
    }
    assert_code(&run(&project, "apply", [&bed.management, &bed.management], &["--rebind"]), 2);
}

/// A user may read the namespace of the hosted control plane, but not `kube-system`.
fn the_uid_of_the_namespace_identifies_the_management_cluster(bed: &TestBed) {
    bed.management.apply_yaml(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: reader}\nrules:\n\
         - {apiGroups: [''], resources: [namespaces], resourceNames: [clusters-example], verbs: [get]}\n\
         - {apiGroups: [''], resources: [configmaps], verbs: [get, list]}\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: reader}\n\
         roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}\n\
         subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: somebody}]\n",
    );
    let (project, marks) = (Project::new(), Marks::set(bed));
    let refused = run(&project, "apply", [&bed.management, &bed.management], &["--as", "somebody"]);
    assert_code(&refused, 2);
    let found = "note: found: the namespace clusters-example has the same uid in both\n";
    assert!(refused.stderr.contains(found), "{}", refused.stderr);
    marks.assert_no_writes(bed);
}

/// Two hosted control planes in one management cluster, and the guest of the first for both.
fn the_guest_of_another_hosted_control_plane_is_refused(bed: &TestBed) {
    let (first, second) = (Project::new(), Project::new());
    assert_code(&first.run_hosted(bed, "apply", &[]), 0);
    for path in ["profiles/mc.yaml", "payload/op/0000_40_op_webhook.yaml"] {
        let text = std::fs::read_to_string(second.path().join(path)).unwrap();
        second.write(path, &text.replace(HOSTED, "clusters-other"));
    }
    create(&bed.management, "test", "/api/v1/namespaces", &json!({"metadata": {"name": "clusters-other"}}))
        .ok()
        .unwrap();
    let marks = Marks::set(bed);
    for (command, more) in [("apply", &[][..]), ("delete", &["--approve-delete", "all"])] {
        let refused = run(&second, command, [&bed.management, &bed.guest], more);
        assert_code(&refused, 2);
        for expected in [
            "error: the guest belongs to another hosted control plane\n",
            "note: expected: the guest has an inventory of the hosted control plane clusters-example\n",
            "note: found: the hosted control plane clusters-other (uid ",
        ] {
            assert!(refused.stderr.contains(expected), "{}", refused.stderr);
        }
    }
    marks.assert_no_writes(bed);
    assert!(bed.guest.get(WIDGET).is_some());
    // The first one is as it was.
    let marks = Marks::set(bed);
    assert_code(&first.run_hosted(bed, "apply", &[]), 0);
    marks.assert_no_writes(bed);
}

/// The management cluster records another guest than the one that responds.
fn another_guest_needs_rebind(bed: &TestBed) {
    let project = Project::new();
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    let guest = uid(&bed.guest, "kube-system");
    for (cluster, path) in [(&bed.management, MANAGEMENT_INVENTORY), (&bed.guest, GUEST_INVENTORY)] {
        let data = cluster.get(path).unwrap()["data"].clone();
        assert_eq!(data["clusterUID"], uid(&bed.management, "kube-system"));
        assert_eq!(data["hostedControlPlaneUID"], uid(&bed.management, HOSTED));
        assert_eq!((&data["hostedControlPlane"], &data["guestUID"]), (&json!(HOSTED), &guest));
    }
    patch_as(&bed.management, "admin", MANAGEMENT_INVENTORY, &json!({"data": {"guestUID": "another"}}));
    let marks = Marks::set(bed);
    for (command, more) in [("apply", &[][..]), ("delete", &[])] {
        let refused = project.run_hosted(bed, command, more);
        assert_code(&refused, 2);
        let expected = format!(
            "error: the hosted control plane belongs to another guest\n  \
             note: expected: the guest with the uid another\n  note: found: the guest with the uid {}\n",
            guest.as_str().unwrap()
        );
        assert!(refused.stderr.contains(&expected), "{}", refused.stderr);
    }
    marks.assert_no_writes(bed);
    project.change("20_settings", "mode: one", "mode: two");
    assert_code(&project.run_hosted(bed, "apply", &["--rebind"]), 0);
    assert_eq!(bed.management.get(MANAGEMENT_INVENTORY).unwrap()["data"]["guestUID"], guest);
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
}

/// The inventories in the earlier place record another guest than the one that responds.
fn moved_inventories_must_record_the_same_clusters(bed: &TestBed) {
    let project = Project::new();
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    let guest = uid(&bed.guest, "kube-system");
    patch_as(&bed.management, "admin", MANAGEMENT_INVENTORY, &json!({"data": {"guestUID": "another"}}));
    for path in ["profiles/mc.yaml", "profiles/guest.yaml"] {
        let text = std::fs::read_to_string(project.path().join(path)).unwrap();
        project.write(path, &text.replace("topology: hypershift\n", "topology: renamed\n"));
    }
    let [management_kubeconfig, guest_kubeconfig] =
        [&bed.management, &bed.guest].map(|cluster| cluster.kubeconfig().display().to_string());
    let flags = [
        ["inventory", "move"],
        ["--topology", "renamed"],
        ["--from-topology", "hypershift"],
        ["--management-kubeconfig", &management_kubeconfig],
        ["--guest-kubeconfig", &guest_kubeconfig],
    ];
    let marks = Marks::set(bed);
    let refused = run_in(project.path(), &flags.concat());
    assert_code(&refused, 2);
    let expected = format!(
        "error: the hosted control plane belongs to another guest\n  \
         note: expected: the guest with the uid another\n  note: found: the guest with the uid {}\n",
        guest.as_str().unwrap()
    );
    assert!(refused.stderr.contains(&expected), "{}", refused.stderr);
    marks.assert_no_writes(bed);
    patch_as(&bed.management, "admin", MANAGEMENT_INVENTORY, &json!({"data": {"guestUID": guest}}));
    assert_code(&run_in(project.path(), &flags.concat()), 0);
}

/// The guest's administrator can edit the inventory of the guest, and stops only updates of the guest with that.
fn an_edited_binding_in_the_guest_stops_only_the_guest(bed: &TestBed) {
    let project = Project::new();
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    patch_as(&bed.guest, "admin", GUEST_INVENTORY, &json!({"data": {"hostedControlPlaneUID": "forged"}}));
    project.change("20_settings", "mode: one", "mode: two");
    let mark = bed.guest.audit.mark();
    let run = project.run_hosted(bed, "apply", &[]);
    assert_code(&run, 3);
    let expected = "guest           failed      the guest belongs to another hosted control plane: expected the hosted \
                    control plane clusters-example (uid forged), found ";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert!(run.stdout.starts_with("management: 0 created, 1 changed"), "{}", run.stdout);
    assert_eq!(written_paths(&bed.guest, mark), Vec::<String>::new());
}

fn without_the_management_cluster_the_guest_is_not_changed(bed: &TestBed) {
    let project = Project::new();
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    project.change("50_widget", "size: 1", "size: 2");
    bed.management.proxy.fault(RequestMatcher::All, usize::MAX, Fault::Cut);
    let mark = bed.guest.audit.mark();
    for command in ["apply", "delete"] {
        let run = project.run_hosted(bed, command, &["--retry-timeout", "1s"]);
        assert_code(&run, 3);
        let expected =
            "the management cluster cannot be used, so transship cannot check that the guest belongs to it";
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    }
    assert_eq!(written_paths(&bed.guest, mark), Vec::<String>::new());
    bed.management.proxy.clear_faults();
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    assert_eq!(bed.guest.get(WIDGET).unwrap()["spec"]["size"], 2);
}

fn a_parameter_that_chooses_the_hosted_control_plane_has_no_default(bed: &TestBed) {
    let [management, guest] =
        [&bed.management, &bed.guest].map(|cluster| cluster.kubeconfig().display().to_string());
    let flags =
        ["--topology", "hypershift", "--management-kubeconfig", &management, "--guest-kubeconfig", &guest];
    for command in ["apply", "delete"] {
        let refused = run_in(repository(), &[&[command][..], &flags].concat());
        assert_code(&refused, 2);
        let expected = "the parameter `hcp.namespace` is not set, and it chooses the hosted control plane";
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    }
    assert!(bed.management.proxy.seen().is_empty() && bed.guest.proxy.seen().is_empty());
}
