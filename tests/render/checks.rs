//! The checks: valid manifests without findings, and for each check a change that it finds.

mod allowances;
pub(crate) mod bundled;
mod clusters;
mod declarations;
mod fields;
mod images;
mod order;
mod output;
mod owners;

use walkdir::WalkDir;

use crate::support::{TestProject, data, repository, unindent};

/// Creates a project with these manifests and the profile `one` for both clusters.
fn one_cluster(manifests: &str) -> TestProject {
    TestProject::new()
        .manifest("op/0000_50_op_01.yaml", manifests)
        .page("op", "annotations: {include.release.openshift.io/any: 'true'}\n")
        .profile(
            "one",
            r"
            topology: one
            cluster: both
            intents: {serving-cert: keep, webhook: keep}
            ",
        )
        .checks(
            r"
            kinds:
              ServiceMonitor.monitoring.coreos.com: {servedBy: prometheus-operator, scope: Namespaced}
            externals: [{objects: [Secret/op/pull-secret], in: [one], reason: the installer makes it}]
            ",
        )
}

/// Creates a project with these manifests and the profiles `mc` and `guest`. The page of their component continues with
/// this body.
fn two_clusters_with_page(manifests: &str, page: &str) -> TestProject {
    let page = unindent(page);
    TestProject::new()
        .manifest("op/0000_50_op_01.yaml", manifests)
        .page("op", &format!("{PLACE}{page}"))
        .profile(
            "mc",
            r"
            topology: two
            cluster: management
            namespace: clusters-a
            ",
        )
        .profile("guest", "topology: two\ncluster: guest\n")
}

/// Creates a project with these manifests and the profiles `mc` and `guest`.
fn two_clusters(manifests: &str) -> TestProject {
    two_clusters_with_page(manifests, "")
}

const PLACE: &str = r"annotations: {include.release.openshift.io/any: 'true'}
place:
  management: [Deployment, ConfigMap, Service, NetworkPolicy]
  guest: [ConfigMap/in-guest, Service/console, Secret]
  both: [ServiceAccount]
";

/// Reads valid manifests: `one.yaml`, `two.yaml` or `valid.yaml`.
fn valid(name: &str) -> String {
    read(&format!("tests/data/checks/{name}"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap()
}

/// Reads valid manifests and replaces a text that occurs once.
fn changed(name: &str, replace: &str, with: &str) -> String {
    let manifests = valid(name);
    assert_eq!(manifests.matches(replace).count(), 1, "{replace:?} occurs once");
    manifests.replace(replace, with)
}

fn assert_no_findings(project: &TestProject) {
    let run = project.lint(&[]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", "no findings\n"));
}

#[test]
fn valid_manifests_have_no_findings() {
    assert_no_findings(&one_cluster(&valid("one.yaml")));
    assert_no_findings(&two_clusters(&valid("two.yaml")));
}

/// A simpler check would report these manifests.
#[test]
fn unusual_valid_manifests_have_no_findings() {
    let project = one_cluster(&valid("valid.yaml")).checks(
        r"
        kinds:
          ServiceMonitor.monitoring.coreos.com: {servedBy: prometheus-operator, scope: Namespaced}
        ",
    );
    assert_no_findings(&project);
}

/// A change to valid manifests, and the output of `lint`.
struct Case {
    check: String,
    manifests: String,
    replace: String,
    with: String,
    expect: String,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for case in data("checks/cases.yaml").as_array().unwrap() {
        let field = |name: &str| case[name].as_str().unwrap().to_owned();
        cases.push(Case {
            check: field("check"),
            manifests: field("manifests"),
            replace: field("replace"),
            with: field("with"),
            expect: field("expect"),
        });
    }
    cases
}

/// The page of the cases with one cluster.
const PAGE_WITH_NEEDS: &str = r#"
annotations: {include.release.openshift.io/any: 'true'}
needs:
- identity: ServiceAccount/op
  cluster: management
  rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
"#;

#[test]
fn each_case_has_the_expected_output() {
    for Case { check, manifests, replace, with, expect } in cases() {
        let project = match manifests.as_str() {
            "one" => one_cluster(&changed("one.yaml", &replace, &with)).page("op", PAGE_WITH_NEEDS),
            "two" => two_clusters(&changed("two.yaml", &replace, &with)),
            other => panic!("there are no manifests `{other}`"),
        };
        let run = project.lint(&[]);
        assert_eq!((run.code, run.stdout), (1, expect), "{check}: {with}");
    }
}

#[test]
fn findings_about_secrets_do_not_contain_their_values() {
    for case in cases() {
        if case.check != "secret-in-guest" {
            continue;
        }
        // The word `canary`, plain or in base64.
        let values = ["canary", "Y2FuYXJ5", "GNhbmFyeQo"];
        assert!(values.iter().any(|value| case.with.contains(value)), "{}", case.with);
        assert!(!case.expect.contains("canary"), "{}", case.expect);
    }
}

/// Returns the texts that contain the expected findings: the cases, and the tests of this module.
pub(crate) fn expectations() -> String {
    let mut text = read("tests/data/checks/cases.yaml");
    for entry in WalkDir::new(repository().join("tests/render/checks")).min_depth(1).sort_by_file_name() {
        text += &std::fs::read_to_string(entry.unwrap().path()).unwrap();
    }
    text
}
