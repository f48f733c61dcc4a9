//! `transship lint --report reach`, and the golden file with its output.

use crate::support::{TestProject, object, repository, run_in};

/// A hosted control plane with one path of each kind.
const MANIFESTS: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: op, namespace: op}
spec:
  selector: {matchLabels: {app: op}}
  template:
    metadata: {labels: {app: op}}
    spec:
      containers:
      - name: admin
        image: example.test/op
        env: [{name: K, valueFrom: {secretKeyRef: {name: admin-kubeconfig, key: kubeconfig}}}]
      - name: main
        image: example.test/op
        volumeMounts: [{name: kubeconfig, mountPath: /etc/guest}, {name: token, mountPath: /var/run/token}]
      - name: other
        image: example.test/op
      initContainers:
      - name: minter
        image: example.test/op
        args: [--service-account-namespace=op, --service-account-name, cloud, --token-audience=cloud, --token-file=/tmp/t/token]
        volumeMounts: [{name: scratch, mountPath: /tmp}, {name: token, mountPath: /tmp/t}]
      volumes:
      - {name: kubeconfig, secret: {secretName: op-kubeconfig}}
      - {name: token, emptyDir: {}}
      - {name: scratch, emptyDir: {}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: op, namespace: op}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: sum}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: sum}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: part, labels: {to: sum}}
rules:
- {apiGroups: [''], resources: [nodes], verbs: [get]}
- {apiGroups: [''], resources: [pods], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: sum}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: sum}
subjects: [{kind: Group, name: 'system:serviceaccounts:op'}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: op, namespace: op}
rules:
- {apiGroups: [''], resources: [configmaps], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: op, namespace: op}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: op}
subjects: [{kind: ServiceAccount, name: op}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: view, namespace: op}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: User, name: 'system:serviceaccount:op:op'}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: root}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: root, namespace: other}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hook}
webhooks:
- {name: own.example.test, clientConfig: {url: 'https://op.clusters-a.svc:8443/hook'}}
- {name: lost.example.test, clientConfig: {url: 'https://lost.clusters-a.svc'}}
- {name: outside.example.test, clientConfig: {url: 'https://outside.example.test'}}
---
apiVersion: v1
kind: Service
metadata: {name: op, namespace: op}
spec: {selector: {app: op}, ports: [{port: 8443}]}
---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: op}
spec: {ports: [{port: 443}]}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.example.test}
spec: {group: example.test, version: v1, service: {namespace: op, name: api}, groupPriorityMinimum: 1, versionPriority: 1}
";

const PAGE: &str = "\
annotations: {include.release.openshift.io/any: 'true'}
values: {x: '${cluster.name}', y: '${region}', z: '${zone}'}
place: {management: [Deployment, Service/op], guest: [Service/api, ServiceAccount, Role, RoleBinding]}
adds:
- in: [mc]
  objects:
  - apiVersion: transship.openshift.io/v1
    kind: IssuedKubeconfig
    metadata: {name: op-kubeconfig, namespace: op}
    spec: {server: 'https://api:6443', authority: root-ca, as: {namespace: op, serviceAccount: op}}
  - apiVersion: transship.openshift.io/v1
    kind: IssuedKubeconfig
    metadata: {name: root-kubeconfig, namespace: op}
    spec: {server: 'https://api:6443', authority: root-ca, as: {namespace: other, serviceAccount: root}}
  - apiVersion: transship.openshift.io/v1
    kind: IssuedKubeconfig
    metadata: {name: spare-kubeconfig, namespace: op}
    spec: {server: 'https://api:6443', authority: root-ca, as: {namespace: other, serviceAccount: spare}}
";

/// One line per path, sorted. The container `other` and the URL outside of the management cluster have none.
const PATHS: &str = "\
management Deployment/clusters-a/op, container admin -> external Secret/admin-kubeconfig -> guest administrator: cluster-admin
management Deployment/clusters-a/op, container main -> kubeconfig in Secret/op-kubeconfig -> guest ServiceAccount/op/op: 2 rules in the cluster, 1 rule in op, the rules of ClusterRole/view in op
management Deployment/clusters-a/op, container main -> token minted by container minter -> guest ServiceAccount/op/cloud: everything that accepts tokens for the audience `cloud`
management readers of Secret/clusters-a/root-kubeconfig -> kubeconfig -> guest ServiceAccount/other/root: cluster-admin
management readers of Secret/clusters-a/spare-kubeconfig -> kubeconfig -> guest ServiceAccount/other/spare: no rights
guest Infrastructure, /status/infrastructureName -> parameter cluster.name -> management rendered objects: a name of lower-case letters, digits, `-` and `.`
guest Infrastructure, /status/platformStatus/aws/region -> parameter region -> management rendered objects: text that matches `[a-z0-9-]+`
guest users of the API server -> APIService/v1.example.test -> management addresses outside of the guest: requests
guest users of the API server -> webhook lost.example.test of ValidatingWebhookConfiguration/hook -> management Service/clusters-a/lost: requests; the Service is not rendered
guest users of the API server -> webhook own.example.test of ValidatingWebhookConfiguration/hook -> management Service/clusters-a/op: requests
";

const HEADER: &str = "# How the clusters reach each other: from -> through -> to: what the path allows.\n";

fn hosted() -> TestProject {
    TestProject::new()
        .manifest("op/0000_50_op_01.yaml", MANIFESTS)
        .page("op", PAGE)
        .profile("mc", "topology: two\ncluster: management\nnamespace: clusters-a\nintents: {webhook: keep}\n")
        .profile("guest", "topology: two\ncluster: guest\nintents: {webhook: keep}\n")
        .parameters(
            r"
            parameters:
              cluster.name: {type: name, description: d, default: a, read: {object: Infrastructure, path: /status/infrastructureName}}
              region: {type: string, description: d, default: a, pattern: '[a-z0-9-]+', read: {object: Infrastructure, path: /status/platformStatus/aws/region}}
              zone: {type: string, description: d, default: a, read: {object: HostedControlPlane, path: /spec/zone}}
            ",
        )
}

#[test]
fn every_path_between_the_clusters_is_listed() {
    let run = hosted().run(&["lint", "--report", "reach"]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, PATHS, "10 paths\n"));
    // Paths belong to a topology, so one of its profiles is enough to name it.
    let run = hosted().run(&["lint", "--report", "reach", "--profile", "guest"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, PATHS));
}

#[test]
fn paths_can_be_printed_as_json() {
    let run = hosted().run(&["lint", "--report", "reach", "-o", "json"]);
    assert_eq!(
        run.json()[0],
        serde_json::json!({
            "from": {"cluster": "management", "name": "Deployment/clusters-a/op, container admin"},
            "through": "external Secret/admin-kubeconfig",
            "to": {"cluster": "guest", "name": "administrator"},
            "allows": "cluster-admin",
        })
    );
    let run = hosted().run(&["lint", "--report", "reach", "-o", "sarif"]);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (
            2,
            "\
error: `--report reach` has no output in SARIF
  note: SARIF describes findings
  help: use `-o text` or `-o json`
"
        )
    );
}

#[test]
fn one_cluster_has_no_paths_and_no_golden_file() {
    let project =
        TestProject::standalone().manifest("op/0000_10_op_a.yaml", &object("v1", "ConfigMap", "ns", "a", ""));
    let run = project.run(&["lint", "--report", "reach"]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", "no paths\n"));
    project.run(&["golden", "update"]);
    assert!(!project.path().join("golden/default/reach.txt").exists());
}

/// A project without findings, so that its golden files can be written.
fn with_kubeconfig(account: &str) -> TestProject {
    TestProject::new()
        .manifest(
            "op/0000_50_op_01.yaml",
            &format!("apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {account}, namespace: op}}\n"),
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
    spec: {{server: 'https://api:6443', authority: root-ca, as: {{namespace: op, serviceAccount: {account}}}}}
"
            ),
        )
        .profile("mc", "topology: two\ncluster: management\nnamespace: clusters-a\n")
        .profile("guest", "topology: two\ncluster: guest\n")
        .checks(
            r"
            externals:
            - {objects: [Namespace/op], in: [guest], reason: the guest has it}
            - {objects: [Secret/root-ca], in: [mc], reason: someone else creates it}
            ",
        )
}

const REACH: &str = "golden/default/reach.txt";

#[test]
fn a_new_path_is_a_difference_of_the_golden_file() {
    let project = with_kubeconfig("one");
    assert_eq!(project.run(&["golden", "update"]).code, 0);
    let path = |account: &str| {
        format!(
            "management readers of Secret/clusters-a/kubeconfig -> kubeconfig -> guest ServiceAccount/op/{account}: no rights\n"
        )
    };
    assert_eq!(project.read(REACH), format!("{HEADER}{}", path("one")));
    assert_eq!(project.run(&["golden", "check"]).code, 0);

    let project = with_kubeconfig("two").file(REACH, &format!("{HEADER}{}", path("one")));
    let run = project.run(&["golden", "check"]);
    assert_eq!(run.code, 1);
    let expected = format!(
        "\
golden/default/reach.txt differs
  how the clusters reach each other
  --- golden
  +++ rendered
  @@ -1,2 +1,2 @@
   {HEADER}  -{}  +{}",
        path("one"),
        path("two")
    );
    assert!(run.stdout.contains(&expected), "{}", run.stdout);
    assert!(
        run.stderr.contains("golden/default/reach.txt differs; run `transship golden update` to update it\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_missing_or_stale_golden_file_is_a_difference() {
    let project = with_kubeconfig("one");
    project.run(&["golden", "update"]);
    std::fs::remove_file(project.path().join(REACH)).unwrap();
    let run = project.run(&["golden", "check"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (1, "golden/default/reach.txt is missing: it lists how the clusters reach each other\n")
    );
    let stale = "golden/removed/reach.txt";
    let project = project.file(stale, HEADER).file("golden/notes/reach.txt", "notes of a person\n");
    project.run(&["golden", "update"]);
    assert!(!project.path().join(stale).exists());
    assert_eq!(project.read("golden/notes/reach.txt"), "notes of a person\n");
    let project = project.file(stale, HEADER);
    let run = project.run(&["golden", "check", "-o", "github"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (
            1,
            "::error file=golden/removed/reach.txt,line=1::stale: no topology of the parameter set has two clusters\n"
        )
    );
}

#[test]
fn update_does_not_replace_a_file_that_transship_did_not_write() {
    let project = with_kubeconfig("one").file(REACH, "notes of a person\n");
    let run = project.run(&["golden", "update"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.ends_with(
            "error: golden/default/reach.txt: the file exists, and transship did not write it\n  help: move it, or delete it\n"
        ),
        "{}",
        run.stderr
    );
    assert_eq!(project.read(REACH), "notes of a person\n");
}

/// The identities of the bundled payload that are administrators of the guest, or hold one of their kubeconfigs. With the
/// parameter set own-signers, transship issues the kubeconfig of the administrator itself.
#[test]
fn only_the_storage_operator_administers_the_guest() {
    let run = run_in(&repository(), &["lint", "--report", "reach"], "");
    let mut administrators = Vec::new();
    for line in run.stdout.lines().filter(|line| line.ends_with(": cluster-admin")) {
        administrators.push(line.split(" -> ").next().unwrap());
    }
    assert_eq!(
        administrators,
        [
            "management Deployment/clusters-example/cluster-storage-operator, container cluster-storage-operator",
            "management Deployment/clusters-example/cluster-storage-operator, container wait-for-guest",
            // The operators of a release mount the administrator's kubeconfig into their operands, whoever issues it.
            "management pods of ServiceAccount/aws-ebs-csi-driver-operator",
            "management pods of ServiceAccount/cluster-storage-operator",
            "management pods of ServiceAccount/cluster-storage-operator",
            "management pods of ServiceAccount/csi-snapshot-controller-operator",
            "management pods of ServiceAccount/csi-snapshot-controller-operator",
            "management readers of Secret/clusters-example/service-network-admin-kubeconfig",
        ]
    );
}
