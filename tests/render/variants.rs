//! Names of objects in pages, if several manifests have the kind and the name: variants for other cluster profiles.

use serde_json::json;

use crate::support::{TestProject, find, names};

/// Returns the variant of a Deployment for a cluster profile.
fn variant(profile: &str, container: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: op, namespace: ns, annotations: \
         {{include.release.openshift.io/{profile}: 'true'}}}}\n\
         spec: {{template: {{spec: {{serviceAccountName: {profile}, containers: [{{name: {container}}}]}}}}}}\n"
    )
}

/// Creates a Deployment in two variants. The profile selects the cluster profile `ha`, and the page continues with this body.
fn project_with_variants(page: &str) -> TestProject {
    TestProject::new()
        .manifest("op/0000_40_op_deployment-ibm.yaml", &variant("ibm-cloud-managed", "ibm"))
        .manifest("op/0000_50_op_deployment.yaml", &variant("ha", "c"))
        .profile("test", "topology: test\ncluster: both\nselect: {clusterProfile: ha}\n")
        .page("op", page)
}

const ADDS: &str = r"
    values: {workload: Deployment/op}
    uses: [{config: {}}]
    adds: [{pod: {spec: {containers: [{name: c, args: ['--account=${workload.serviceAccount}']}]}}}]
    ";

const CONFIG: &str = r"
    inputs: {workload: workload, container: container}
    adds:
    - {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: config}, data: {container: '${container}'}}]}
    ";

#[test]
fn a_variant_that_the_filters_leave_out_does_not_count() {
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: ha, namespace: ns, annotations: \
                   {include.release.openshift.io/ha: 'true'}}\n";
    let project = project_with_variants(ADDS)
        .manifest("op/0000_45_op_account.yaml", account)
        .fragment("config", CONFIG);
    let rendered = project.render("test");
    // The new object is ordered by the file of the variant that is included.
    assert_eq!(names(&rendered), ["ServiceAccount/ha", "ConfigMap/config", "Deployment/op"]);
    assert_eq!(find(&rendered, "ConfigMap", "config")["data"], json!({"container": "c"}));
    let pod = &find(&rendered, "Deployment", "op")["spec"]["template"]["spec"];
    assert_eq!(pod["containers"], json!([{"name": "c", "args": ["--account=ha"]}]));
}

#[test]
fn a_variant_that_the_page_ignores_or_omits_does_not_count() {
    let both = |page: &str| {
        project_with_variants(page)
            .manifest("op/0000_40_op_deployment-ibm.yaml", &variant("ha", "ibm"))
            .fragment("config", CONFIG)
    };
    let body = crate::support::unindent(ADDS);
    let ignored = both(&format!("ignore: {{'*-ibm.yaml': for another cloud}}\n{body}"));
    assert_eq!(names(&ignored.render("test")), ["ConfigMap/config", "Deployment/op"]);
    both(&body).assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:4:20: several objects are `Deployment/op`
          note: Deployment.apps/op in ns is at payload/op/0000_40_op_deployment-ibm.yaml:1:1
          note: Deployment.apps/op in ns is at payload/op/0000_50_op_deployment.yaml:1:1
          help: leave out all of them but one, with annotations, `ignore` or `omit`
        ",
    );
}

#[test]
fn objects_in_two_namespaces_are_listed_with_their_files() {
    project_with_variants("values: {workload: Deployment/op}\n")
        .manifest("op/0000_40_op_deployment-ibm.yaml", &variant("ha", "c").replace("ns,", "other,"))
        .assert_render_error(
            "test",
            r"
            error: payload/op/component.yaml:4:20: several objects are `Deployment/op`
              note: Deployment.apps/op in other is at payload/op/0000_40_op_deployment-ibm.yaml:1:1
              note: Deployment.apps/op in ns is at payload/op/0000_50_op_deployment.yaml:1:1
              help: write `Kind/namespace/name`
            ",
        );
}

#[test]
fn a_workload_that_a_profile_leaves_out_in_all_variants_is_no_error_there() {
    let project = project_with_variants(
        r"
        values: {workload: Deployment/op}
        adds: [{pod: {metadata: {labels: {a: b}}}}]
        ",
    )
    .manifest("other/1.yaml", &variant("none", "c").replace("name: op", "name: other"))
    .profile("none", "topology: none\ncluster: both\nselect: {clusterProfile: none}\n");
    assert_eq!(names(&project.render("none")), ["Deployment/other"]);
}
