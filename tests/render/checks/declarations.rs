//! The declarations of a Checks file: kinds and externals, and entries that have no effect.

use super::{assert_no_findings, one_cluster, two_clusters, valid};

/// Returns the error of a Checks file with this body.
fn declaration_error(checks: &str) -> String {
    two_clusters(&valid("two.yaml")).checks(checks).lint(&[]).refusal()
}

#[test]
fn an_external_must_name_objects() {
    assert_eq!(
        declaration_error("externals: [{objects: [], reason: r}]\n"),
        "\
error: profiles/checks.yaml:4:13: the external names no objects and no images
  help: name objects under `objects`, as Kind/name or Kind/namespace/name, or images under `images`
"
    );
}

#[test]
fn an_allowance_must_name_objects() {
    assert_eq!(
        declaration_error("allow: [{check: privileged, reason: r}]\n"),
        "\
error: profiles/checks.yaml:4:9: the allowance names no objects
  help: name them under `for`, as Kind or Kind/name
"
    );
}

#[test]
fn an_allowance_must_name_a_check() {
    assert_eq!(
        declaration_error("allow: [{check: privilegd, for: [Deployment], reason: r}]\n"),
        "\
error: profiles/checks.yaml:4:17: `check` cannot be `privilegd`
  help: did you mean `privileged`?
"
    );
}

#[test]
fn a_declared_kind_must_have_a_group() {
    assert_eq!(
        declaration_error("kinds: {A: {servedBy: x, scope: Cluster}}\n"),
        "\
error: profiles/checks.yaml:4:9: the kind `A` has no group
  help: write `Kind.group`, such as ClusterOperator.config.openshift.io
"
    );
}

#[test]
fn a_declared_kind_that_no_manifest_has_is_reported() {
    let project = two_clusters(&valid("two.yaml")).checks("kinds: {A.b: {servedBy: x, scope: Cluster}}\n");
    let run = project.lint(&[]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stdout,
        "\
warning[unused-external]: profiles/checks.yaml:4:9: no manifest has the declared kind A.b
  note: it is declared as served by: x
  help: remove it
"
    );
}

const PROXY_CHECKS: &str = r"
kinds:
  ServiceMonitor.monitoring.coreos.com: {servedBy: prometheus-operator, scope: Namespaced}
externals:
- {objects: [Secret/op/pull-secret], in: [one], reason: the installer makes it}
- {objects: [Secret/proxy], when: {proxy: true}, reason: r}
";

#[test]
fn an_external_that_only_one_parameter_set_needs_is_used() {
    let project = one_cluster(&valid("one.yaml"))
        .parameters("parameters:\n  proxy: {type: bool, description: d, default: false}\n")
        .parameter_set("with-proxy", "values: {proxy: true}\n")
        .page(
            "op",
            r"
            annotations: {include.release.openshift.io/any: 'true'}
            adds:
            - when: {proxy: true}
              objects:
              - apiVersion: v1
                kind: ServiceAccount
                metadata: {name: p, namespace: op}
                imagePullSecrets: [{name: proxy}]
            ",
        )
        .checks(PROXY_CHECKS);
    assert_no_findings(&project);
    let project = project.checks(&PROXY_CHECKS.replace("Secret/proxy", "Secret/prox"));
    assert_eq!(
        project.lint(&[]).stdout,
        "\
error[missing-object]: payload/op/component.yaml:11:31: there is no Secret `proxy` in the namespace `op`
  object: ServiceAccount/p in op, at /imagePullSecrets/[name=proxy]/name
  note: the API server accepts the reference, and what needs the Secret fails later
  note: found in one
  help: add it to the payload, or declare it under `externals` and say who creates it
warning[unused-external]: profiles/checks.yaml:8:14: no object uses the external `Secret/prox`
  note: its reason is: r
  note: found in one
  help: remove it, or limit it to some profiles with `in`
"
    );
}
