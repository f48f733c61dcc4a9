//! What leaves the payload, and what is taken away.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::fixture::{
    CLASS_PATH, DEFINITION_PATH, DEPLOYMENT_PATH, HOSTED, INVENTORY, NAMESPACE, OBJECTS, Project, WIDGET,
    config_map, map,
};
use super::super::{Run, run_in};
use super::{assert_code, edit, inventory, is_in_inventory, make, objects, told, until, written};
use crate::BedCase;
use crate::bed::Bed;
use crate::faults::{Fault, Seen, Which};
use crate::side::Side;

pub(crate) const CASES: &[BedCase] = &[
    ("apply::faults::leaving::many_at_once", many_at_once),
    ("apply::faults::leaving::what_takes_more_with_it", what_takes_more_with_it),
    ("apply::faults::leaving::nothing_is_rendered", nothing_is_rendered),
    ("apply::faults::leaving::nothing_goes_where_something_fails", nothing_goes_where_something_fails),
    ("apply::faults::leaving::a_policy_forbids_it", a_policy_forbids_it),
    ("apply::faults::leaving::a_finalizer_stays", a_finalizer_stays),
    ("apply::faults::leaving::a_namespace_that_is_going", a_namespace_that_is_going),
    ("apply::faults::leaving::a_guest_that_is_stuck", a_guest_that_is_stuck),
    ("apply::faults::leaving::a_guest_that_is_gone", a_guest_that_is_gone),
    ("apply::faults::leaving::the_order_of_deletion", the_order_of_deletion),
    ("apply::faults::leaving::what_is_not_ours_any_more", what_is_not_ours_any_more),
    ("apply::faults::leaving::what_is_taken_over_meanwhile", what_is_taken_over_meanwhile),
    ("apply::faults::leaving::what_the_payload_takes_away", what_the_payload_takes_away),
    ("apply::faults::leaving::what_was_made_anew", what_was_made_anew),
    ("apply::faults::leaving::a_definition_whose_object_stays", a_definition_whose_object_stays),
    ("apply::faults::leaving::an_inventory_that_is_lost", an_inventory_that_is_lost),
    ("apply::faults::leaving::an_apply_meanwhile", an_apply_meanwhile),
];

const MAPS: &str = "/api/v1/namespaces/openshift-op/configmaps";

fn count_many(side: &Side) -> usize {
    let name = |map: &Value| map["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    side.list(MAPS).iter().filter(|map| name(map).starts_with("many-")).count()
}

fn held(run: &Run, object: &str) -> String {
    told(run, "held", object).unwrap_or_else(|| panic!("{object}: {}{}", run.stdout, run.stderr))
}

/// Many leave at once: nobody goes until somebody says how many may.
fn many_at_once(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.put_many(12);
    project.applied(side, &[]);
    project.leave_many_out(12);
    let one = "ConfigMap/many-3 in openshift-op";
    let run = project.applied(side, &["--prune"]);
    assert_eq!(held(&run, one), "12 of 25 objects would go at once");
    assert_eq!(objects(&run, "held").len(), 12);
    let run = project.applied(side, &["--prune", "--approve-prune", "5"]);
    assert_eq!(held(&run, one), "5 were approved, and 12 would go");
    assert_eq!((count_many(side), inventory(side).len()), (12, 25));
    let run = project.applied(side, &["--prune", "--approve-prune", "12"]);
    assert_eq!(run.stdout, "cluster: 0 created, 0 changed, 14 unchanged, 12 pruned, 0 failed\n");
    assert_eq!((count_many(side), inventory(side).len()), (0, OBJECTS));
    project.put_many(12);
    project.applied(side, &[]);
    project.leave_many_out(12);
    project.applied(side, &["--prune", "--approve-prune", "all"]);
    assert_eq!(count_many(side), 0);
}

/// A namespace and a definition leave: they stay until somebody approves, and what is harmless goes.
fn what_takes_more_with_it(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.put("10_more", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: openshift-more\n");
    project.put_many(3);
    project.applied(side, &[]);
    for name in ["10_more", "10_definition", "50_widget"] {
        project.leave_out(name);
    }
    let run = project.applied(side, &[]);
    assert_eq!(held(&run, "Widget.example.test/one"), "--prune takes it away");
    let run = project.applied(side, &["--prune"]);
    let definition = "CustomResourceDefinition.apiextensions.k8s.io/widgets.example.test";
    assert_eq!(held(&run, "Namespace/openshift-more"), "everything in it would go with it");
    assert_eq!(held(&run, definition), "every object of its kind would go with it");
    assert_eq!(objects(&run, "pruned"), ["Widget.example.test/one"]);
    assert!(side.get(WIDGET).is_none() && side.get(DEFINITION_PATH).is_some());
    let run = project.applied(side, &["--prune", "--approve-prune", "2"]);
    assert_eq!(objects(&run, "pruned"), [definition, "Namespace/openshift-more"]);
    assert!(side.get(DEFINITION_PATH).is_none());
    assert!(side.get("/api/v1/namespaces/openshift-more").is_none());
}

/// A render without anything is a mistake, whatever was approved.
fn nothing_is_rendered(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    let text = std::fs::read_to_string(project.path().join("profiles/standalone.yaml")).unwrap();
    project.write("profiles/standalone.yaml", &text.replace("clusterProfile: any", "clusterProfile: other"));
    let mark = side.audit.mark();
    let run = project.apply(side, &["--prune", "--approve-prune", "all"]);
    assert_code(&run, 2);
    assert!(
        run.stderr.contains("the profile `standalone` selects none of the payload's 14 manifests"),
        "{}",
        run.stderr
    );
    assert_eq!(written(side, mark), Vec::<String>::new());
    assert_eq!(inventory(side).len(), OBJECTS);
    // Nor where only what is to be gone is left.
    project.write("profiles/standalone.yaml", &text);
    std::fs::remove_dir_all(project.path().join("payload/op")).unwrap();
    project.bring_back("30_old");
    project.only_here();
    project.write("profiles/standalone.yaml", text.split("intents:").next().unwrap());
    let run = project.apply(side, &["--prune", "--approve-prune", "all"]);
    assert_code(&run, 2);
    let expected = "nothing was rendered for the profile `standalone`, and that is never meant";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert!(side.get(&map("settings")).is_some());
}

/// Where anything else fails nothing is taken away.
fn nothing_goes_where_something_fails(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    project.leave_out("20_settings");
    project.change("30_deployment", "{app: op}", "{app: operator}");
    project.change("20_service", "{app: op}", "{app: operator}");
    let run = project.apply(side, &["--prune"]);
    assert_code(&run, 3);
    assert_eq!(held(&run, "ConfigMap/settings in openshift-op"), "not everything else is done");
    assert!(side.get(&map("settings")).is_some());
}

/// A policy forbids a deletion: it is told, and the object goes when it may.
fn a_policy_forbids_it(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    side.apply_yaml(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata:\n  name: keeps\nspec:\n  failurePolicy: Fail\n  \
         matchConstraints:\n    resourceRules:\n    - apiGroups: [\"\"]\n      apiVersions: [v1]\n      operations: [DELETE]\n      \
         resources: [configmaps]\n  validations:\n  - expression: \"oldObject.metadata.name != 'settings'\"\n    message: settings are kept\n---\n\
         apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata:\n  name: keeps\nspec:\n  \
         policyName: keeps\n  validationActions: [Deny]\n",
    );
    let dry = format!("{}?dryRun=All", map("settings"));
    let may_go = || side.call("DELETE", &dry, "application/json", "").code < 300;
    until("a refusal", || !may_go());
    project.leave_out("20_settings");
    let run = project.apply(side, &["--prune"]);
    assert_code(&run, 3);
    let why = told(&run, "failed", "ConfigMap/settings in openshift-op").unwrap();
    assert!(why.contains("settings are kept"), "{why}");
    assert!(is_in_inventory(side, "ConfigMap", "settings"));
    let deletes = side.proxy.seen().iter().filter(|seen| seen.method == "DELETE").count();
    assert_eq!(deletes, 1);
    side.delete("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/keeps");
    until("an agreement", may_go);
    let run = project.applied(side, &["--prune"]);
    assert_eq!(objects(&run, "pruned"), ["ConfigMap/settings in openshift-op"]);
    assert!(side.get(&map("settings")).is_none() && !is_in_inventory(side, "ConfigMap", "settings"));
}

/// A finalizer is never taken off: it is named when the time is over, and the object is not forgotten.
fn a_finalizer_stays(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    let finalizers = |all: Value| {
        edit(side, "admin", &map("settings"), &json!({"metadata": {"finalizers": all}}));
    };
    finalizers(json!(["example.test/never"]));
    project.leave_out("20_settings");
    let run = project.apply(side, &["--prune", "--timeout", "4s"]);
    assert_code(&run, 3);
    assert_eq!(
        told(&run, "failed", "ConfigMap/settings in openshift-op").unwrap(),
        "it was deleted and waits for its finalizers: example.test/never"
    );
    assert!(is_in_inventory(side, "ConfigMap", "settings"));
    let seen = side.proxy.seen();
    let asked = seen.iter().filter(|seen| seen.path.starts_with(&map("settings"))).count();
    assert!(asked < 15, "{asked}");
    finalizers(Value::Null);
    project.applied(side, &["--prune"]);
    assert!(!is_in_inventory(side, "ConfigMap", "settings"));
}

/// A namespace is going and does not go: a second delete, which the API server refuses, waits for it as the first one did.
fn a_namespace_that_is_going(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    let namespace = format!("/api/v1/namespaces/{NAMESPACE}");
    edit(side, "admin", &namespace, &json!({"metadata": {"finalizers": ["example.test/never"]}}));
    for _ in 0..2 {
        side.proxy.reset();
        let run = project.run(side, "delete", &["--timeout", "8s"]);
        assert_code(&run, 3);
        let why = told(&run, "failed", "Namespace/openshift-op").unwrap();
        assert!(why.starts_with("it was deleted and waits for its finalizers: example.test/never"), "{why}");
        assert!(is_in_inventory(side, "Namespace", NAMESPACE));
        let seen = side.proxy.seen();
        let asked = seen.iter().filter(|seen| seen.path.split('?').next() == Some(&namespace)).count();
        assert!((2..20).contains(&asked), "{asked}");
    }
    edit(side, "admin", &namespace, &json!({"metadata": {"finalizers": null}}));
    assert_code(&project.run(side, "delete", &[]), 0);
    assert!(side.get(&namespace).is_none());
}

/// Something in the guest never goes: that is told, what may be needed to let it go stays with it, and the management cluster
/// is cleared all the same.
fn a_guest_that_is_stuck(bed: &Bed) {
    let project = Project::new();
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    edit(&bed.guest, "admin", WIDGET, &json!({"metadata": {"finalizers": ["example.test/never"]}}));
    let run = project.run_hosted(bed, "delete", &["--timeout", "8s"]);
    assert_code(&run, 3);
    assert!(
        run.stdout
            .starts_with("management: 0 created, 0 changed, 0 unchanged, 8 deleted, 0 pruned, 0 failed\n"),
        "{}",
        run.stdout
    );
    assert_eq!(
        told(&run, "failed", "Widget.example.test/one").unwrap(),
        "it was deleted and waits for its finalizers: example.test/never"
    );
    let home = format!("/api/v1/namespaces/{HOSTED}/configmaps/transship-hypershift");
    assert!(bed.management.get(&home).is_none());
    let class = "StorageClass.storage.k8s.io/fast";
    assert_eq!(told(&run, "blocked", class).unwrap(), "the time was over before it could go");
    assert!(bed.guest.get(CLASS_PATH).is_some());
    edit(&bed.guest, "admin", WIDGET, &json!({"metadata": {"finalizers": null}}));
    let run = project.run_hosted(bed, "delete", &[]);
    assert_code(&run, 0);
    // It went when its finalizer did.
    assert_eq!(told(&run, "forgotten", "Widget.example.test/one").unwrap(), "it was gone already");
    assert!(bed.guest.get(DEFINITION_PATH).is_none());
}

/// Not even the kubeconfig of the guest is left: the management cluster is cleared alone.
fn a_guest_that_is_gone(bed: &Bed) {
    let project = Project::new();
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    let kubeconfig = bed.management.kubeconfig().display().to_string();
    let delete = ["delete", "--topology", "hypershift", "--management-kubeconfig", &kubeconfig];
    let run = run_in(project.path(), &delete);
    assert_code(&run, 2);
    assert!(run.stderr.contains("which cluster is the guest?"), "{}", run.stderr);
    let run = run_in(project.path(), &[&delete[..], &["--without-guest"]].concat());
    assert_code(&run, 0);
    assert_eq!(run.stdout, "management: 0 created, 0 changed, 0 unchanged, 8 deleted, 0 pruned, 0 failed\n");
    assert!(bed.guest.get(WIDGET).is_some());
}

/// Objects of a kind go before its definition, and what calls before all; nothing is left.
fn the_order_of_deletion(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    let mark = side.audit.mark();
    let run = project.run(side, "delete", &[]);
    assert_code(&run, 0);
    let entries = side.audit.since(mark);
    let deletes = entries.iter().filter(|one| one.is_ours() && one.verb == "delete" && one.code < 300);
    let paths: Vec<&str> = deletes.map(|one| one.uri.split('?').next().unwrap()).collect();
    let at = |part: &str| {
        paths.iter().position(|path| path.contains(part)).unwrap_or_else(|| panic!("{part}: {paths:?}"))
    };
    assert!(at("validatingwebhookconfigurations") < at("/widgets/one"));
    assert!(at("/widgets/one") < at("customresourcedefinitions"));
    assert!(at("deployments") < at("customresourcedefinitions"));
    assert_eq!(paths.last(), Some(&INVENTORY));
    assert!(side.get(INVENTORY).is_none() && side.get(DEFINITION_PATH).is_none());
    assert!(side.get(&format!("/api/v1/namespaces/{NAMESPACE}")).is_none());
    assert_eq!(run.stdout, "cluster: 0 created, 0 changed, 0 unchanged, 13 deleted, 0 pruned, 0 failed\n");
    assert_code(&project.run(side, "delete", &[]), 0);
}

/// Another object of the same name, and one that somebody has made his own, are left alone and forgotten.
fn what_is_not_ours_any_more(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.put("20_another", &config_map("another", "one"));
    project.put("20_namespace", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: openshift-more\n");
    project.applied(side, &[]);
    let labels = side.get(&map("another")).unwrap()["metadata"]["labels"].clone();
    side.delete(&map("another"));
    make(side, "admin", MAPS, &json!({"metadata": {"name": "another", "labels": labels}})).ok().unwrap();
    let part_of = json!({"metadata": {"labels": {"applyset.kubernetes.io/part-of": null}}});
    edit(side, "admin", &map("settings"), &part_of);
    let namespace = format!("/api/v1/namespaces/{NAMESPACE}");
    edit(side, "admin", &namespace, &part_of);
    let run = project.run(side, "delete", &[]);
    assert_code(&run, 0);
    let forgotten = |object: &str| told(&run, "forgotten", object);
    assert_eq!(
        forgotten("ConfigMap/another in openshift-op").unwrap(),
        "another object of its name is there"
    );
    let label = "it does not carry our label any more";
    assert_eq!(forgotten("ConfigMap/settings in openshift-op").unwrap(), label);
    assert_eq!(forgotten("Namespace/openshift-op").unwrap(), label);
    assert!(side.get(&map("another")).is_some() && side.get(&map("settings")).is_some());
    assert!(side.get("/api/v1/namespaces/openshift-more").is_none());
    assert!(side.get(INVENTORY).is_none());
}

/// While a delete is on its way somebody makes the object his own: it stays.
fn what_is_taken_over_meanwhile(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    project.leave_out("20_settings");
    let is_it = |seen: &Seen| seen.method == "DELETE" && seen.path.starts_with(&map("settings"));
    side.proxy.fault(Which::matching(is_it), 1, Fault::Delay(Duration::from_secs(1)));
    let run = std::thread::scope(|scope| {
        let run = scope.spawn(|| project.apply(side, &["--prune"]));
        until("a delete", || side.proxy.seen().iter().any(is_it));
        edit(
            side,
            "admin",
            &map("settings"),
            &json!({"metadata": {"labels": {"applyset.kubernetes.io/part-of": null}}}),
        );
        run.join().unwrap()
    });
    assert_code(&run, 0);
    assert_eq!(
        told(&run, "forgotten", "ConfigMap/settings in openshift-op").unwrap(),
        "it does not carry our label any more"
    );
    assert!(side.get(&map("settings")).is_some() && !is_in_inventory(side, "ConfigMap", "settings"));
}

/// An object of ours becomes a tombstone: it goes, from the inventory as well, and nobody asks for more.
fn what_the_payload_takes_away(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    let annotations =
        "  annotations:\n    release.openshift.io/delete: \"true\"\n    example.test/of: test\n";
    project.put(
        "20_settings",
        &config_map("settings", "one").replacen("metadata:\n", &format!("metadata:\n{annotations}"), 1),
    );
    let run = project.applied(side, &[]);
    assert_eq!(objects(&run, "deleted"), ["ConfigMap/settings in openshift-op"]);
    assert_eq!(objects(&run, "held"), Vec::<String>::new());
    assert!(!is_in_inventory(side, "ConfigMap", "settings"));
}

/// A run makes an object anew and is cut off before it can say so: it is ours all the same, and can be deleted.
fn what_was_made_anew(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    let before = side.get(INVENTORY).unwrap()["data"].clone();
    side.delete(DEPLOYMENT_PATH);
    project.applied(side, &[]);
    assert_ne!(side.get(INVENTORY).unwrap()["data"], before);
    edit(side, "test", INVENTORY, &json!({"data": before}));
    assert_code(&project.run(side, "delete", &[]), 0);
    assert!(side.get(DEPLOYMENT_PATH).is_none());
}

/// An object of a kind cannot go: neither does the definition of its kind, which would take it with it.
fn a_definition_whose_object_stays(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    edit(side, "test", WIDGET, &json!({"metadata": {"finalizers": ["example.test/never"]}}));
    let run = project.run(side, "delete", &["--timeout", "3s"]);
    assert_code(&run, 3);
    let definition = "CustomResourceDefinition.apiextensions.k8s.io/widgets.example.test";
    assert_eq!(
        told(&run, "blocked", definition).unwrap(),
        "it would take Widget.example.test/one with it, which is still there"
    );
    assert!(side.get(DEFINITION_PATH).unwrap()["metadata"].get("deletionTimestamp").is_none());
    assert!(is_in_inventory(side, "CustomResourceDefinition", "widgets.example.test"));
    edit(side, "test", WIDGET, &json!({"metadata": {"finalizers": null}}));
    assert_code(&project.run(side, "delete", &[]), 0);
    assert!(side.get(DEFINITION_PATH).is_none());
}

/// Nobody knows what may go without an inventory. An apply finds all that is ours, and writes it again.
fn an_inventory_that_is_lost(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    side.delete(INVENTORY);
    let run = project.run(side, "delete", &[]);
    assert_code(&run, 3);
    let expected = "there is no inventory, and 13 objects carry its label: an apply writes it again, and then they can go";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert!(side.get(DEPLOYMENT_PATH).is_some());
    let run = project.applied(side, &[]);
    assert_eq!(run.stdout, "cluster: 0 created, 0 changed, 14 unchanged, 0 pruned, 0 failed\n");
    assert_code(&project.run(side, "delete", &[]), 0);
    assert!(side.get(DEPLOYMENT_PATH).is_none() && side.get(INVENTORY).is_none());
}

/// While a delete waits somebody applies everything again: what that brings stays, and so does the inventory that names it.
fn an_apply_meanwhile(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    edit(side, "test", &map("settings"), &json!({"metadata": {"finalizers": ["example.test/never"]}}));
    let run = std::thread::scope(|scope| {
        let run = scope.spawn(|| project.run(side, "delete", &[]));
        until("a deletion", || side.get(DEPLOYMENT_PATH).is_none());
        let apply = project.apply(side, &[]);
        assert_eq!(objects(&apply, "failed"), ["ConfigMap/settings in openshift-op"], "{}", apply.stderr);
        edit(side, "test", &map("settings"), &json!({"metadata": {"finalizers": null}}));
        run.join().unwrap()
    });
    assert_code(&run, 3);
    assert!(side.get(DEPLOYMENT_PATH).is_some());
    assert!(side.get(DEFINITION_PATH).unwrap()["metadata"].get("deletionTimestamp").is_none());
    assert!(is_in_inventory(side, "Role", "op"));
}
