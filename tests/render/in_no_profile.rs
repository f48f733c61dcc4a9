//! Manifests and components that no profile includes, and messages that name the excluded manifest as the cause.

use crate::support::{Run, TestProject, object};

/// Returns a ConfigMap with these annotations.
fn config_map(name: &str, annotations: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: ns\n  annotations:\n    {annotations}\n"
    )
}

const HA: &str = "include.release.openshift.io/ha: 'true'";

/// Creates a project with the profile `test`, which selects the cluster profile `ha`.
fn project() -> TestProject {
    TestProject::standalone()
        .profile("test", "topology: test\ncluster: both\nselect: {clusterProfile: ha}\n")
        .manifest("op/0000_50_op_1.yaml", &config_map("in", HA))
}

fn assert_findings(run: &Run, expected: &str) {
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (1, crate::support::unindent(expected).as_str()),
        "{}",
        run.stderr
    );
}

#[test]
fn a_manifest_in_no_profile_is_reported_with_the_reason_of_each_profile() {
    let project = project()
        .manifest("op/0000_50_op_2.yaml", &config_map("out", "include.release.openshift.io/other: 'true'"))
        .profile("two", "topology: two\ncluster: both\nselect: {clusterProfile: hypershift}\n")
        .manifest(
            "op/0000_50_op_3.yaml",
            &config_map("two", "include.release.openshift.io/hypershift: 'true'"),
        );
    assert_findings(
        &project.lint(&[]),
        r"
        warning[in-no-profile]: payload/op/0000_50_op_2.yaml:1:1: no profile includes this manifest
          object: ConfigMap/out in ns
          note: the profile `test` excludes it: cluster-profile: include.release.openshift.io/ha unset
          note: the profile `two` excludes it: cluster-profile: include.release.openshift.io/hypershift unset
          help: correct its annotations, or leave it out with `ignore` or `omit` and a reason
        ",
    );
    // One profile alone cannot tell whether another includes it.
    assert_eq!(project.lint(&["--profile", "test"]).code, 0);
}

#[test]
fn a_component_in_no_profile_is_one_finding() {
    let project = project()
        .manifest("lost/0000_50_lost_1.yaml", &config_map("a", "x: x"))
        .manifest("lost/0000_50_lost_2.yaml", &config_map("b", "x: x"));
    assert_findings(
        &project.lint(&[]),
        r"
        warning[in-no-profile]: payload/lost/0000_50_lost_1.yaml:1:1: no profile includes any of the 2 manifests of the component `lost`
          note: the profile `test` excludes 2 of them: cluster-profile: include.release.openshift.io/ha unset
          help: add `annotations` to its page, or leave its files out with `ignore` and a reason
        ",
    );
}

#[test]
fn what_someone_leaves_out_with_a_reason_is_no_finding() {
    let project = project()
        .parameters("parameters: {cloud: {type: string, description: the cloud, default: aws}}\n")
        .manifest("op/0000_50_op_2.yaml", &config_map("out", HA))
        .manifest("op/0000_50_op_3.yaml", &config_map("ignored", HA))
        .manifest("azure/0000_50_azure_1.yaml", &config_map("azure", HA))
        .page("azure", "when: {cloud: azure}\n")
        .page("op", "omit: {ConfigMap/out: not needed}\nignore: {'*_3.yaml': not ours}\n");
    let run = project.lint(&[]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
}

#[test]
fn an_object_that_another_cluster_has_is_in_a_profile() {
    let project = TestProject::new()
        .mc_and_guest("namespace: clusters-a\n", "")
        .manifest("op/0000_50_op_1.yaml", &config_map("a", "x: x"))
        .page("op", "place: {guest: [ConfigMap]}\n")
        .checks("externals: [{objects: [Namespace/*], in: [guest], reason: a test}]\n");
    let run = project.lint(&[]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
}

#[test]
fn a_manifest_in_no_profile_can_be_allowed_with_a_reason() {
    let annotated = config_map("a", "transship.openshift.io/allow-in-no-profile: for later");
    let project = project()
        .manifest("op/0000_50_op_2.yaml", &annotated)
        .manifest("op/0000_50_op_3.yaml", &config_map("b", "x: x"))
        .checks(
            r"
            externals: [{objects: [Namespace/*], reason: a test}]
            allow:
            - {check: in-no-profile, for: [ConfigMap/b], reason: another team tests it}
            ",
        );
    let run = project.lint(&[]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    let unused = project
        .manifest("op/0000_50_op_2.yaml", &format!("{annotated}    {HA}\n"))
        .manifest("op/0000_50_op_3.yaml", &config_map("b", HA));
    assert_findings(
        &unused.lint(&[]),
        r"
        warning[unused-allowance]: payload/op/0000_50_op_2.yaml:7:5: the allowance for `in-no-profile` matches no finding
          note: it would hide future findings
          help: remove it
        warning[unused-allowance]: profiles/checks.yaml:6:3: the allowance for `in-no-profile` matches no finding
          note: it would hide future findings
          help: remove it
        ",
    );
}

#[test]
fn misspelled_include_annotations_are_recognized() {
    let project = |annotation: &str| {
        project().manifest("op/0000_50_op_1.yaml", &config_map("in", &format!("{HA}\n    {annotation}")))
    };
    for (annotation, right) in [
        ("include.release.openshift.io/hypershfit: 'true'", "hypershift"),
        (
            "include.release.openshift.io/self-managed-high-availibility: 'true'",
            "self-managed-high-availability",
        ),
        ("includes.release.openshift.io/hypershift: 'true'", "hypershift"),
        ("include.relase.openshift.io/single-node-developer: 'true'", "single-node-developer"),
        ("include.openshift.io/ibm-cloud-manged: 'true'", "ibm-cloud-managed"),
        ("release.openshift.io/include.hypershift: 'true'", "hypershift"),
        ("release.openshift.io/include-ha: 'true'", "ha"),
    ] {
        let run = project(annotation).lint(&[]);
        let help = format!("  help: did you mean `include.release.openshift.io/{right}`?\n");
        assert!(
            run.stdout.starts_with("warning[misspelled-annotation]: payload/op/0000_50_op_1.yaml:8:5: "),
            "{}",
            run.stdout
        );
        assert!(run.stdout.ends_with(&help), "{annotation}: {}", run.stdout);
        assert_eq!(run.stdout.lines().count(), 4, "{}", run.stdout);
    }
    for right in [
        "include.release.openshift.io/hypershift: 'true'",
        "include.release.openshift.io/hypershift: 'false'",
        "include.release.openshift.io/microshift: 'true'",
        "exclude.release.openshift.io/internal-openshift-hosted: 'true'",
        "release.openshift.io/feature-set: Default",
        "capability.openshift.io/name: Console",
        "service.beta.openshift.io/inject-cabundle: 'false'",
    ] {
        let run = project(right).lint(&[]);
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{right}");
    }
}

#[test]
fn an_include_annotation_that_is_not_the_text_true_is_reported() {
    let project = project().manifest(
        "op/0000_50_op_2.yaml",
        &config_map(
            "out",
            "include.release.openshift.io/ha: true\n    include.release.openshift.io/hypershift: 'yes'",
        ),
    );
    assert_findings(
        &project.lint(&[]),
        r#"
        warning[in-no-profile]: payload/op/0000_50_op_2.yaml:1:1: no profile includes this manifest
          object: ConfigMap/out in ns
          note: the profile `test` excludes it: no-annotations: no annotations
          help: correct its annotations, or leave it out with `ignore` or `omit` and a reason
        warning[misspelled-annotation]: payload/op/0000_50_op_2.yaml:7:5: the annotation `include.release.openshift.io/ha` must be text, not a boolean
          object: ConfigMap/out in ns
          note: the cluster-version-operator then ignores all annotations, and excludes the manifest
          help: put the value in quotes: `"true"`
        warning[misspelled-annotation]: payload/op/0000_50_op_2.yaml:8:5: the annotation `include.release.openshift.io/hypershift` must be `"true"`
          object: ConfigMap/out in ns
          note: the cluster-version-operator does not recognize it, and excludes the manifest
          help: write `"true"`
        "#,
    );
}

#[test]
fn rendering_a_component_without_objects_says_why() {
    let project = project()
        .manifest("lost/0000_50_lost_1.yaml", &config_map("a", "x: x"))
        .manifest("lost/0000_50_lost_2.yaml", &config_map("b", "x: x"));
    let run = project.run(&["render", "--profile", "test", "--component", "lost"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""));
    assert_eq!(
        run.stderr,
        "warning: the profile `test` has no object of the component `lost`\n  \
         note: it excludes 2 manifests: cluster-profile: include.release.openshift.io/ha unset\n"
    );
    let misspelled = project.run(&["render", "--profile", "test", "--component", "lots"]);
    assert_eq!(misspelled.refusal(), "error: there is no component `lots`\n  help: did you mean `lost`?\n");
}

const SELECTED: &str = r"
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: d, namespace: ns, annotations: {x: x}}
    spec:
      selector: {matchLabels: {app: d}}
      template:
        metadata: {labels: {app: d}}
        spec: {containers: [{name: c, image: quay.io/example/c:1}]}
    ";

#[test]
fn a_finding_names_the_excluded_manifest_as_the_cause() {
    let binding = "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\n";
    let include = |manifest: String| manifest.replace("{x: x}", &format!("{{{HA}}}"));
    let project = project()
        .manifest("op/0000_50_op_2.yaml", SELECTED)
        .manifest(
            "op/0000_50_op_3.yaml",
            &include(object("v1", "Service", "ns", "s", "spec: {selector: {app: d}, ports: [{port: 1}]}\n")),
        )
        .manifest(
            "op/0000_50_op_4.yaml",
            &object("rbac.authorization.k8s.io/v1", "Role", "ns", "r", "rules: []\n"),
        )
        .manifest(
            "op/0000_50_op_5.yaml",
            &include(object("rbac.authorization.k8s.io/v1", "RoleBinding", "ns", "b", binding)),
        );
    assert_findings(
        &project.lint(&["--profile", "test"]),
        r"
        error[selects-nothing]: payload/op/0000_50_op_3.yaml:4:18: the selector matches nothing
          object: Service/s in ns, at /spec/selector
          note: no pod in its namespace has these labels
          note: Deployment/d at payload/op/0000_50_op_2.yaml:1:1 would match, but the profile excludes it: include.release.openshift.io/ha unset
          note: found in test
          help: correct the selector or the labels; if someone else creates what it selects, allow it with a reason
        error[missing-object]: payload/op/0000_50_op_5.yaml:4:66: there is no Role `r` in the namespace `ns`
          object: RoleBinding.rbac.authorization.k8s.io/b in ns, at /roleRef/name
          note: the binding grants no rights
          note: Role/r at payload/op/0000_50_op_4.yaml:1:1 would match, but the profile excludes it: include.release.openshift.io/ha unset
          note: found in test
          help: add it to the payload, or declare it under `externals` and say who creates it
        ",
    );
}

#[test]
fn explain_says_why_an_object_is_not_there() {
    let project = project().manifest("op/0000_50_op_2.yaml", &config_map("out", "x: x"));
    assert_eq!(
        project.run(&["explain", "configmap/out", "--profile", "test"]).refusal(),
        "error: payload/op/0000_50_op_2.yaml:1:1: the profile `test` excludes this manifest: cluster-profile: \
         include.release.openshift.io/ha unset\n  object: ConfigMap/out in ns\n  \
         help: run `transship list --profile <name>` to see the decision about every manifest\n"
    );
    assert_eq!(
        project.run(&["explain", "configmap/int", "--profile", "test"]).refusal(),
        "error: the profile `test` has no object `configmap/int`\n  help: did you mean `ConfigMap/in`?\n"
    );
}

#[test]
fn a_kind_of_unknown_scope_is_reported_as_that_in_every_topology() {
    let project = TestProject::new()
        .mc_and_guest("namespace: clusters-a\n", "")
        .profile("one", "topology: one\ncluster: both\n")
        .manifest("op/0000_50_op_1.yaml", &object("example.com/v1", "Custom", "", "c", ""))
        .page("op", "");
    let help =
        "add its CustomResourceDefinition to the payload, or declare the kind under `kinds` in a Checks file";
    assert_eq!(
        project.run_checked(&["render", "--profile", "guest"]).refusal(),
        format!(
            "error: payload/op/0000_50_op_1.yaml:1:1: the kind Custom.example.com is unknown\n  \
             object: Custom.example.com/c\n  \
             note: whether it is cluster-scoped decides in which cluster the object lives\n  help: {help}\n"
        )
    );
    assert_eq!(
        project.run_checked(&["render", "--profile", "one"]).refusal(),
        format!(
            "error[unknown-kind]: payload/op/0000_50_op_1.yaml:1:1: the kind Custom.example.com is unknown\n  \
             object: Custom.example.com/c\n  \
             note: transship cannot check its fields, its scope or its references\n  note: found in one\n  help: {help}\n"
        )
    );
}

#[test]
fn lint_prints_valid_output_for_invalid_input() {
    let project = project().manifest("op/0000_50_op_2.yaml", "kind: [\n");
    let json = project.lint(&["-o", "json"]);
    let lines: Vec<serde_json::Value> =
        json.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json.code, 2);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["code"], "invalid-input");
    assert_eq!(lines[0]["severity"], "error");
    assert_eq!(lines[0]["file"], "payload/op/0000_50_op_2.yaml");
    let sarif = project.lint(&["-o", "sarif"]);
    assert_eq!(sarif.code, 2);
    let log: serde_json::Value = serde_json::from_str(&sarif.stdout).unwrap();
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "invalid-input");
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "payload/op/0000_50_op_2.yaml");
    assert!(location["region"]["startLine"].is_number());
    assert!(sarif.stderr.starts_with("error: payload/op/0000_50_op_2.yaml:"), "{}", sarif.stderr);
    // Text goes to stderr only.
    assert_eq!(project.lint(&[]).stdout, "");
}

#[test]
fn files_with_misleading_names_are_errors() {
    for (file, expected) in [
        (
            "component.yml",
            "the page of a component must be called component.yaml\n  note: under this name, it would be read as a manifest\n  help: rename it\n",
        ),
        (
            "Component.yaml",
            "the page of a component must be called component.yaml\n  note: under this name, it would be read as a manifest\n  help: rename it\n",
        ),
        (
            "0000_50_op_2.ymal",
            "`.ymal` is not the extension of a manifest\n  note: the file would be ignored\n  help: rename it to .yaml, or remove it from the payload\n",
        ),
        (
            "0000_50_op_2.YAML",
            "`.YAML` is not the extension of a manifest\n  note: the file would be ignored\n  help: rename it to .yaml, or remove it from the payload\n",
        ),
        (
            "kustomization.yaml",
            "a payload cannot contain a file for kustomize\n  help: move it out of the payload; `patches` in a page can use its patch files\n",
        ),
    ] {
        let project = project().manifest(&format!("op/{file}"), "a: b\n");
        assert_eq!(project.render_error("test"), format!("error: payload/op/{file}: {expected}"));
    }
    let harmless =
        project().manifest("op/README.md", "a").manifest("op/schema.xml", "a").manifest("op/Makefile", "a");
    assert_eq!(harmless.render("test").len(), 1);
}

#[test]
fn an_abstract_profile_cannot_be_rendered() {
    let project = project()
        .profile("base", "abstract: true\n")
        .profile("test", "extends: base\ntopology: test\ncluster: both\n");
    assert_eq!(
        project.render_error("base"),
        "error: the profile `base` is abstract: only other profiles use it\n  help: use one that extends it: test\n"
    );
}
