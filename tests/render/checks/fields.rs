//! Fields of custom resources, by the schema of their CRD or by a declaration.

use serde_json::json;

use super::{assert_no_findings, one_cluster};

const CRD: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: as.b.c
  annotations:
    include.release.openshift.io/any: 'true'
    release.openshift.io/feature-set: Default
spec:
  group: b.c
  scope: Cluster
  names: {kind: A, plural: as}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {old: {type: string}}}}
";

/// A payload may contain several variants of a CRD, of which a profile selects one.
#[test]
fn fields_are_checked_against_the_selected_variant_of_a_crd() {
    let tech_preview = CRD
        .replace("feature-set: Default", "feature-set: TechPreviewNoUpgrade")
        .replace("{old: {type: string}}", "{old: {type: string}, new: {type: string}}");
    let project = one_cluster(
        r"
        apiVersion: b.c/v1
        kind: A
        metadata: {name: a}
        spec: {new: x}
        ",
    )
    .manifest("op/0000_10_op_a.yaml", CRD)
    .manifest("op/0000_10_op_b.yaml", &tech_preview)
    .checks("");
    let project = project.profile(
        "one",
        r"
        topology: one
        cluster: both
        select: {featureSet: TechPreviewNoUpgrade}
        ",
    );
    assert_no_findings(&project);
    let project = project.profile(
        "one",
        r"
        topology: one
        cluster: both
        select: {featureSet: Default}
        ",
    );
    assert_eq!(
        project.lint(&[]).stdout,
        "\
error[unknown-field]: payload/op/0000_50_op_01.yaml:4:8: unknown field `new`
  object: A.b.c/a, at /spec/new
  note: server-side apply rejects the object, with an error that looks like a server failure
  note: found in one
  help: the known fields are old
"
    );
}

#[test]
fn duplicate_items_of_a_declared_kind_are_found_by_its_list_keys() {
    let project = one_cluster(
        r"
        apiVersion: x.y/v1
        kind: Thing
        metadata: {name: t}
        spec: {items: [{name: a, v: 1}, {name: b, v: 1}, {name: a, v: 2}]}
        ",
    )
    .checks("kinds: {Thing.x.y: {servedBy: somebody, scope: Cluster, lists: {/spec/items: [name]}}}\n");
    assert_eq!(
        project.lint(&[]).stdout,
        "\
error[duplicate-item]: payload/op/0000_50_op_01.yaml:4:50: another item of the list has name \"a\"
  object: Thing.x.y/t, at /spec/items/[name=a]
  note: the first one is at payload/op/0000_50_op_01.yaml:4:16
  note: server-side apply rejects the object
  note: found in one
  help: remove one of them, or change its key
"
    );
}

#[test]
fn patches_of_a_declared_kind_use_its_list_keys() {
    let project = one_cluster(
        r"
        apiVersion: x.y/v1
        kind: Thing
        metadata: {name: t}
        spec: {items: [{name: a, v: 1}, {name: b, v: 1}]}
        ",
    )
    .checks("kinds: {Thing.x.y: {servedBy: somebody, scope: Cluster, lists: {/spec/items: [name]}}}\n")
    .page(
        "op",
        r"
        annotations: {include.release.openshift.io/any: 'true'}
        patches:
        - reason: r
          target: {kind: Thing}
          patch: {spec: {items: [{name: b, v: 3}]}}
        ",
    );
    let rendered = project.run_checked(&["render", "-o", "json"]).json();
    assert_eq!(rendered[0]["spec"]["items"], json!([{"name": "b", "v": 3}, {"name": "a", "v": 1}]));
}
