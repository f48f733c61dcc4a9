//! Security mistakes of hosted control planes: each entry of `tests/data/security.yaml`, and profiles and identities that
//! reach into other namespaces.

use transship::yaml::{self, Node, SourceId};

use crate::support::{Run, TestProject, data, object, repository, run_checked};

const TEMPLATE: &str = "/spec/template";

/// The declaration of the namespaces of the guest.
const NAMESPACES: &str =
    "{objects: [Namespace/op, Namespace/openshift-config-managed], in: [guest], reason: the guest has them}";

/// An entry of the table.
struct Entry(Node);

impl Entry {
    fn text(&self, field: &str) -> Option<&str> {
        self.0.get(field).and_then(Node::as_str)
    }

    fn name(&self) -> &str {
        self.text("case").unwrap()
    }

    /// Returns a project with the mistake, and with these allowances.
    fn project(&self, allow: &str) -> TestProject {
        let mut project = TestProject::new()
            .manifest("op/0000_50_op_01.yaml", &deployment(self))
            .manifest("op/0000_50_op_02.yaml", GUEST)
            .profile(
                "mc",
                "topology: two\ncluster: management\nnamespace: clusters-a\nintents: {webhook: keep}\n",
            )
            .profile("guest", "topology: two\ncluster: guest\nintents: {webhook: keep}\n")
            .checks(&format!("{}{}{allow}", self.declared_kind(), self.externals()));
        let mut places = Places {
            management: vec!["Deployment/op".to_owned()],
            guest: vec![
                "ConfigMap/guest".to_owned(),
                "ConfigMap/inventory".to_owned(),
                "Secret/guest".to_owned(),
            ],
        };
        if self.text("without") != Some("NetworkPolicy") {
            project = project.manifest("op/0000_50_op_03.yaml", NETWORK_POLICY);
            places.management.push("NetworkPolicy/op".to_owned());
        }
        if let Some(object) = self.text("object") {
            project = project.manifest("op/0000_50_op_04.yaml", object);
            let place = match self.text("cluster") {
                Some("guest") => &mut places.guest,
                _ => &mut places.management,
            };
            for document in yaml::read(object, SourceId(0)).unwrap() {
                let name = document.root.get("metadata").unwrap().get("name").unwrap();
                let kind = document.root.get("kind").unwrap().as_str().unwrap();
                place.push(format!("{kind}/{}", name.as_str().unwrap()));
            }
        }
        project.page("op", &places.page())
    }

    fn externals(&self) -> String {
        let external = match self.text("external") {
            Some(object) => format!(", {{objects: [{object}], in: [mc], reason: HyperShift creates it}}"),
            None => String::new(),
        };
        format!("externals: [{NAMESPACES}{external}]\n")
    }

    fn declared_kind(&self) -> String {
        let Some(kind) = self.text("declare") else { return String::new() };
        format!("kinds: {{{kind}: {{servedBy: someone, scope: Namespaced}}}}\n")
    }

    /// Returns the path of the expected finding. Paths in a pod template are relative to its `spec`, or to the template.
    fn path(&self) -> String {
        let path = self.text("path").unwrap();
        match (self.text("object"), self.text("without")) {
            (Some(_), None) => path.to_owned(),
            _ if path.starts_with("metadata/") => format!("{TEMPLATE}/{path}"),
            _ => format!("{TEMPLATE}/spec{path}"),
        }
    }
}

struct Places {
    management: Vec<String>,
    guest: Vec<String>,
}

impl Places {
    fn page(&self) -> String {
        let (management, guest) = (self.management.join(", "), self.guest.join(", "));
        format!(
            "annotations: {{include.release.openshift.io/any: 'true'}}\nplace: {{management: [{management}], guest: [{guest}]}}\n"
        )
    }
}

const GUEST: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: guest, namespace: op}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inventory, namespace: openshift-config-managed}
---
apiVersion: v1
kind: Secret
metadata: {name: guest, namespace: op}
";

const NETWORK_POLICY: &str = "\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: op, namespace: op}
spec: {podSelector: {matchLabels: {app: op}}}
";

fn deployment(entry: &Entry) -> String {
    let line = |field: &str, indentation: &str| match entry.text(field) {
        Some(text) => format!("{indentation}{text}\n"),
        None => String::new(),
    };
    let annotations = match entry.text("annotation") {
        Some(_) => format!("      annotations:\n{}", line("annotation", "        ")),
        None => String::new(),
    };
    format!(
        "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: op
  namespace: op
spec:
  selector: {{matchLabels: {{app: op}}}}
  template:
    metadata:
      labels: {{app: op}}
{annotations}    spec:
      automountServiceAccountToken: false
{}      containers:
      - name: op
        image: example.test/op
{}",
        line("pod", "      "),
        line("container", "        "),
    )
}

fn entries() -> Vec<Entry> {
    let text = std::fs::read_to_string(repository().join("tests/data/security.yaml")).unwrap();
    let documents = yaml::read(&text, SourceId(0)).unwrap();
    documents[0].root.as_list().unwrap().iter().cloned().map(Entry).collect()
}

fn lint(project: &TestProject) -> Run {
    run_checked(project.path(), &["lint", "-o", "json"], "")
}

/// Returns code and path of all findings.
fn findings(run: &Run) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in run.stdout.lines() {
        let finding: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |field: &str| finding[field].as_str().unwrap_or_default().to_owned();
        found.push((text("code"), text("path")));
    }
    found
}

#[test]
fn each_mistake_is_the_only_finding() {
    let mut wrong = Vec::new();
    for entry in entries() {
        let run = lint(&entry.project(""));
        let expected = match (entry.text("check"), entry.text("refused")) {
            (Some(check), _) => vec![(check.to_owned(), entry.path())],
            (None, Some(message)) => {
                if run.code != 2 || !run.stderr.contains(message) {
                    wrong.push(format!("{}: {} {}", entry.name(), run.code, run.stderr));
                }
                continue;
            }
            (None, None) => Vec::new(),
        };
        let code = i32::from(!expected.is_empty());
        let found = findings(&run);
        if (run.code, &found) != (code, &expected) {
            wrong.push(format!("{}: expected {expected:?}, found {found:?} {}", entry.name(), run.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each finding is about an object, so that an allowance can name it.
#[test]
fn each_mistake_can_be_allowed_with_a_reason() {
    for entry in entries() {
        let Some(check) = entry.text("check") else { continue };
        let cluster = entry.text("cluster").filter(|_| entry.text("object").is_some());
        let profile = if cluster == Some("guest") { "guest" } else { "mc" };
        let kind = match (entry.text("object"), entry.text("without")) {
            (Some(object), None) => {
                let documents = yaml::read(object, SourceId(0)).unwrap();
                documents[0].root.get("kind").unwrap().as_str().unwrap().to_owned()
            }
            _ => "Deployment".to_owned(),
        };
        let allow = format!("allow: [{{check: {check}, for: [{kind}], in: [{profile}], reason: a test}}]\n");
        let run = lint(&entry.project(&allow));
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", entry.name());
    }
}

#[test]
fn every_entry_says_what_becomes_of_it() {
    let mut outcomes = [("check", 0), ("refused", 0), ("harmless", 0), ("undecidable", 0)];
    for entry in entries() {
        let mut said = 0;
        for (outcome, count) in &mut outcomes {
            if let Some(text) = entry.text(outcome) {
                assert!(!text.is_empty(), "{}", entry.name());
                *count += 1;
                said += 1;
            }
        }
        assert_eq!(said, 1, "{}", entry.name());
    }
    let found = outcomes[0].1 + outcomes[1].1;
    assert!(found >= 144, "{found} mistakes are found");
}

/// The mistakes that a review of hosted control planes named.
#[test]
fn every_mistake_of_the_review_is_found_or_cannot_be_decided() {
    let entries = entries();
    let (mut found, mut undecidable) = (0, Vec::new());
    for (area, mistakes) in data("security-review.yaml").as_object().unwrap() {
        for (mistake, case) in mistakes.as_object().unwrap() {
            let case = case.as_str().unwrap();
            let entry = entries.iter().find(|entry| entry.name() == case);
            let entry = entry.unwrap_or_else(|| panic!("{area}: {mistake}: there is no case `{case}`"));
            assert_eq!(entry.text("harmless"), None, "{case}");
            match entry.text("undecidable") {
                Some(_) => undecidable.push(mistake.clone()),
                None => found += 1,
            }
        }
    }
    assert_eq!((found, undecidable), (87, vec!["root in the image".to_owned()]));
}

const GUEST_HAS_NAMESPACE: &str = "{objects: [Namespace/op], in: [guest], reason: the guest has it}";
const GUEST_HAS_ACCOUNT: &str = "{objects: [ServiceAccount/op/other], in: [guest], reason: the guest has it}";
const HAS_SIGNER: &str = "{objects: [Secret/root-ca], in: [mc], reason: someone else creates it}";

/// A project whose page issues a kubeconfig for this identity.
fn with_kubeconfig(identity: &str) -> TestProject {
    TestProject::new()
        .manifest(
            "op/0000_50_op_01.yaml",
            "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op, namespace: op}\n",
        )
        .page(
            "op",
            &format!(
                "\
annotations: {{include.release.openshift.io/any: 'true'}}
place: {{guest: [ServiceAccount]}}
adds:
- in: [mc]
  objects:
  - apiVersion: transship.openshift.io/v1
    kind: IssuedKubeconfig
    metadata: {{name: kubeconfig, namespace: op}}
    spec: {{server: 'https://api:6443', authority: root-ca, as: {identity}}}
"
            ),
        )
        .profile("mc", "topology: two\ncluster: management\nnamespace: clusters-a\n")
        .profile("guest", "topology: two\ncluster: guest\n")
        .checks(&format!("externals: [{GUEST_HAS_NAMESPACE}, {HAS_SIGNER}]\n"))
}

#[test]
fn a_kubeconfig_for_an_identity_that_cannot_exist_is_refused() {
    let error = |message: &str| {
        format!(
            "error: payload/op/component.yaml:12:{message}\n  object: IssuedKubeconfig.transship.openshift.io/kubeconfig in op\n"
        )
    };
    for (identity, message) in [
        ("{namespace: '', serviceAccount: op}", "76: the ServiceAccount in `as` has no namespace"),
        ("{serviceAccount: op}", "64: the ServiceAccount in `as` has no namespace"),
        (
            "{namespace: HCP_NAMESPACE, serviceAccount: op}",
            "76: `as.namespace` is `HCP_NAMESPACE`, which is not a valid name for a namespace",
        ),
        (
            "{namespace: <namespace>, serviceAccount: op}",
            "76: `as.namespace` is `<namespace>`, which is not a valid name for a namespace",
        ),
        (
            "{namespace: op, serviceAccount: default}",
            "96: the kubeconfig is for the ServiceAccount `default`",
        ),
        ("{namespace: op, serviceAccount: ''}", "96: `` is not a valid name for a ServiceAccount"),
        (
            "{namespace: op, serviceAccount: 'op:admin'}",
            "96: `op:admin` is not a valid name for a ServiceAccount",
        ),
    ] {
        let output = with_kubeconfig(identity).render_error("mc");
        assert!(output.starts_with(&error(message)), "{identity}: {output}");
    }
}

#[test]
fn a_kubeconfig_for_an_account_that_the_guest_does_not_have_is_found() {
    let run =
        run_checked(with_kubeconfig("{namespace: hcp-namespace, serviceAccount: op}").path(), &["lint"], "");
    assert_eq!(
        run.stdout,
        "\
error[missing-object]: payload/op/component.yaml:9:5: the kubeconfig is for the ServiceAccount `op` in the namespace `hcp-namespace`, which the guest does not have
  object: Secret/kubeconfig in clusters-a
  note: it would be for an account without rights
  note: found in mc
  help: add the ServiceAccount to the guest, or correct `as`
"
    );
    let run = lint(&with_kubeconfig("{namespace: op, serviceAccount: op}"));
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
}

/// The external is used, although no object of the guest names it.
#[test]
fn a_kubeconfig_may_be_for_an_account_that_someone_else_creates() {
    let project = with_kubeconfig("{namespace: op, serviceAccount: other}")
        .checks(&format!("externals: [{GUEST_HAS_NAMESPACE}, {HAS_SIGNER}, {GUEST_HAS_ACCOUNT}]\n"));
    let run = lint(&project);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
}

#[test]
fn a_profile_for_the_management_cluster_needs_a_namespace() {
    let project = with_kubeconfig("{namespace: op, serviceAccount: op}")
        .profile("mc", "topology: two\ncluster: management\n");
    let expected = "\
error[missing-namespace]: profiles/mc.yaml:1:1: the profile `mc` for the management cluster has no namespace
  note: its objects would replace those of the management cluster itself, or of another hosted control plane
  note: found in mc
  help: add `namespace`, the namespace of the hosted control plane
";
    let output = run_checked(project.path(), &["lint", "--profile", "mc"], "").stdout;
    assert!(output.contains(expected), "{output}");
    let run = run_checked(project.path(), &["render", "--profile", "mc"], "");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr.contains("the profile `mc` for the management cluster has no namespace"),
        "{}",
        run.stderr
    );
}

#[test]
fn policy_reaches_the_pods_of_a_deployment_config_and_a_pod_template() {
    let project = TestProject::new()
        .manifest(
            "op/1.yaml",
            &object(
                "apps.openshift.io/v1",
                "DeploymentConfig",
                "ns",
                "a",
                "spec: {template: {spec: {hostNetwork: true}}}\n",
            ),
        )
        .manifest(
            "op/2.yaml",
            &object("v1", "PodTemplate", "ns", "b", "template: {spec: {hostNetwork: true}}\n"),
        )
        .profile(
            "one",
            "topology: one\ncluster: both\npolicy: [{for: pod, set: {spec: {hostNetwork: false}}}]\n",
        );
    let objects = project.render("one");
    assert_eq!(objects[0]["spec"]["template"]["spec"]["hostNetwork"], false);
    assert_eq!(objects[1]["template"]["spec"]["hostNetwork"], false);
}
