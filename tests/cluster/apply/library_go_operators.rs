//! Operators run beside the payload, as the `ServiceAccounts` and with the rights that it gives them. The program
//! `tests/tools/operator` plays them with the controllers of library-go.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::applied_state::{kinds_of, ours};
use super::fixture::HOSTED;
use super::rights::copied_payload;
use super::scenarios::assert_code;
use super::storage_payload::{path, rendered};
use super::used_rights::{self, Right, needs};
use super::{repository, run_hosted, run_in};
use crate::TestBedCase;
use crate::audit::{self, Entry, Mark};
use crate::credentials::kubeconfig;
use crate::platform;
use crate::process::Process;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;
use crate::tools;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::library_go_operators::they_become_available_beside_the_payload", they_become_available),
    ("apply::library_go_operators::the_driver_operator_runs_alone", the_driver_operator_runs_alone),
    ("apply::library_go_operators::a_missing_right_is_found_and_degrades_them", without_a_right),
];

/// Long enough for three operators to start and roll out their operands on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);
const CLUSTER_OPERATORS: [&str; 2] = ["csi-snapshot-controller", "storage"];
/// library-go asks for the number of nodes of its own cluster, and takes the settings for several if that is forbidden. A Role
/// in the namespace of a hosted control plane cannot grant it.
const TOPOLOGY: &str = "/apis/config.openshift.io/v1/infrastructures/cluster";
/// The resources that configure the operators.
const CONFIGURATIONS: [&str; 3] = [
    "/apis/operator.openshift.io/v1/csisnapshotcontrollers/cluster",
    "/apis/operator.openshift.io/v1/storages/cluster",
    "/apis/operator.openshift.io/v1/clustercsidrivers/ebs.csi.aws.com",
];

struct Operator {
    name: &'static str,
    /// The namespace of its `ServiceAccount` in the guest.
    namespace: &'static str,
    /// The value of `operands` with which transship renders its operands.
    operands: &'static str,
    /// A `ServiceAccount` in the management cluster that it reads in every round.
    account: &'static str,
}

const SNAPSHOTS: Operator = Operator {
    name: "csi-snapshot-controller-operator",
    namespace: "openshift-cluster-storage-operator",
    operands: "ours",
    account: "csi-snapshot-controller",
};
const STORAGE: Operator = Operator {
    name: "cluster-storage-operator",
    namespace: "openshift-cluster-storage-operator",
    operands: "driver-operators",
    account: "aws-ebs-csi-driver-operator",
};
/// The storage operator creates its Deployment, its `ServiceAccounts` and its rights.
const DRIVER: Operator = Operator {
    name: "aws-ebs-csi-driver-operator",
    namespace: "openshift-cluster-csi-drivers",
    operands: "ours",
    account: "aws-ebs-csi-driver-controller-sa",
};
const OPERATORS: [&Operator; 3] = [&SNAPSHOTS, &STORAGE, &DRIVER];

impl Operator {
    fn user_in(&self, namespace: &str) -> String {
        format!("system:serviceaccount:{namespace}:{}", self.name)
    }

    /// Returns its requests in both clusters since two marks.
    fn requests(&self, bed: &TestBed, marks: [Mark; 2]) -> [Vec<Entry>; 2] {
        let users = [self.user_in(HOSTED), self.user_in(self.namespace)];
        let mut entries = [bed.management.audit.since(marks[0]), bed.guest.audit.since(marks[1])];
        for (entries, user) in entries.iter_mut().zip(users) {
            entries.retain(|entry| entry.user == user);
        }
        entries
    }
}

/// The program that plays the operators, with its files.
struct Stage<'b> {
    bed: &'b TestBed,
    /// The parameters with which transship applies the payload.
    parameters: &'b [&'b str],
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl<'b> Stage<'b> {
    /// Applies the payload, and creates what the operators need beside it.
    fn set(bed: &'b TestBed, parameters: &'b [&'b str]) -> Option<Self> {
        let program = tools::find(tools::OPERATORS)?.join(tools::OPERATORS[0]);
        let it = Self { bed, parameters, program, folder: tempfile::tempdir().unwrap() };
        bed.guest.stand_in.operators_run(true);
        bed.management.apply_yaml(&platform::manifests("operators-management").join("\n---\n"));
        bed.guest.apply_yaml(&platform::manifests("operators-guest").join("\n---\n"));
        let status = json!({"status": {
            "infrastructureName": "example", "controlPlaneTopology": "External",
            "platformStatus": {"type": "AWS", "aws": {"region": "us-east-1"}},
        }});
        let infrastructure = "/apis/config.openshift.io/v1/infrastructures/cluster/status";
        bed.guest.patch(infrastructure, "application/merge-patch+json", &status.to_string());
        assert_code(&run_hosted(bed, repository(), "apply", parameters), 0);
        for operands in ["ours", "driver-operators"] {
            it.render(operands);
        }
        Some(it)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Renders the operands, and the webhook without its authority: the operator only removes it.
    fn render(&self, operands: &str) {
        let (value, output) = (format!("operands={operands}"), self.path(operands).display().to_string());
        let sets = ["--set", &value, "--set", "snapshot.webhook=true"];
        assert_code(
            &run_in(repository(), &[&["render", "--no-check", "--output", &output], &sets[..]].concat()),
            0,
        );
    }

    /// Starts an operator as the kubelet would: with the variables and the configuration file of its Deployment.
    fn start(&self, operator: &Operator) -> Process {
        let folder = self.path(operator.name);
        std::fs::create_dir(&folder).unwrap();
        let management = &self.bed.management;
        let deployment = format!("/apis/apps/v1/namespaces/{HOSTED}/deployments/{}", operator.name);
        let deployment = eventually("the operator's Deployment", || management.get(&deployment));
        let settings = format!("/api/v1/namespaces/{HOSTED}/configmaps/{}-config", operator.name);
        let settings = eventually("the operator's ConfigMap", || management.get(&settings));
        let settings = settings["data"].as_object().unwrap().values().next().unwrap();
        std::fs::write(folder.join("config.yaml"), settings.as_str().unwrap()).unwrap();
        log_in(&self.bed.management, HOSTED, operator.name, &folder.join("management"));
        log_in(&self.bed.guest, operator.namespace, operator.name, &folder.join("guest"));
        let mut variables = variables(&deployment);
        variables.push(("POD_NAME".to_owned(), self.pod(operator.name)));
        // It lists and watches, as with older API servers, so it needs both rights.
        variables.push(("KUBE_FEATURE_WatchListClient".to_owned(), "false".to_owned()));
        // The program makes a serving certificate there.
        variables.push(("TMPDIR".to_owned(), folder.display().to_string()));
        let arguments = [
            operator.name.to_owned(),
            "--config=config.yaml".to_owned(),
            "--kubeconfig=management".to_owned(),
            "--guest-kubeconfig=guest".to_owned(),
            format!("--namespace={HOSTED}"),
            format!("--assets={}", self.path(operator.operands).display()),
            format!("--listen=127.0.0.1:{}", free_port()),
        ];
        Process::with_variables(&self.program, &folder, &arguments, &variables)
    }

    /// Returns the name of a pod of a Deployment.
    fn pod(&self, deployment: &str) -> String {
        let pods = format!("/api/v1/namespaces/{HOSTED}/pods");
        let prefix = format!("{deployment}-");
        eventually("the operator's pod", || {
            let pods = self.bed.management.list(&pods).into_iter();
            pods.filter_map(|pod| Some(pod["metadata"]["name"].as_str()?.to_owned()))
                .find(|name| name.starts_with(&prefix))
        })
    }

    /// Returns the log of an operator.
    fn log(&self, operator: &Operator) -> String {
        std::fs::read_to_string(self.path(operator.name).join("operator.log")).unwrap_or_default()
    }

    fn logs(&self) -> String {
        OPERATORS.map(|operator| self.log(operator)).concat()
    }

    fn marks(&self) -> [Mark; 2] {
        [self.bed.management.audit.mark(), self.bed.guest.audit.mark()]
    }

    /// Applies again, and waits until everything is ready. Nothing is written.
    fn apply(&self, unchanged: &str) {
        let marks = self.marks();
        let arguments = [&["--wait", "--timeout", "180s"], self.parameters].concat();
        let run = run_hosted(self.bed, repository(), "apply", &arguments);
        assert_eq!((run.code, run.stdout.as_str()), (0, unchanged), "{}\n{}", run.stderr, self.logs());
        for (cluster, mark) in [&self.bed.management, &self.bed.guest].into_iter().zip(marks) {
            assert_eq!(audit::writes(&cluster.audit.since(mark)), Vec::<&Entry>::new());
        }
    }

    /// Lets all controllers of the operators run once.
    fn resync(&self, operators: &[&Operator], round: usize) {
        let marks = self.marks();
        let change = json!({"metadata": {"annotations": {"example.test/round": round.to_string()}}});
        for path in CONFIGURATIONS {
            self.bed.guest.patch(path, "application/merge-patch+json", &change.to_string());
        }
        for operator in operators {
            let read = format!("/api/v1/namespaces/{HOSTED}/serviceaccounts/{}", operator.account);
            let has_read = |entries: &[Entry]| entries.iter().any(|entry| entry.uri == read);
            eventually(operator.name, || has_read(&operator.requests(self.bed, marks)[0]).then_some(()));
        }
    }
}

/// Waits until there is something, and returns it.
fn eventually<T>(what: &str, find: impl Fn() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(it) = find() {
            return it;
        }
        assert!(Instant::now() < deadline, "{what} is not there in time");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Returns the variables with values of the container of a Deployment that has its name.
fn variables(deployment: &Value) -> Vec<(String, String)> {
    let containers = deployment["spec"]["template"]["spec"]["containers"].as_array().unwrap();
    let container = containers.iter().find(|it| it["name"] == deployment["metadata"]["name"]).unwrap();
    let variables = container["env"].as_array().unwrap().iter();
    let pair = |it: &Value| Some((it["name"].as_str()?.to_owned(), it["value"].as_str()?.to_owned()));
    variables.filter_map(pair).collect()
}

/// Writes a kubeconfig with a token of a `ServiceAccount`.
fn log_in(cluster: &TestCluster, namespace: &str, name: &str, file: &Path) {
    let account = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}");
    eventually("the operator's ServiceAccount", || cluster.get(&account));
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let response =
        cluster.call("POST", &format!("{account}/token"), "application/json", &request.to_string());
    let token = response.ok().unwrap()["status"]["token"].as_str().unwrap().to_owned();
    let authority = std::fs::read_to_string(cluster.control_plane.folder().join("authority.crt")).unwrap();
    let server = format!("https://127.0.0.1:{}", cluster.control_plane.port());
    std::fs::write(file, kubeconfig(&server, Some(&authority), &token)).unwrap();
}

/// Returns what the operators wrote to objects that transship applies, without the status.
fn writes_to_our_objects(bed: &TestBed, marks: [Mark; 2]) -> BTreeSet<String> {
    let objects = |cluster, profile: &str| {
        rendered(profile, "operator").iter().map(|object| path(cluster, object)).collect::<BTreeSet<String>>()
    };
    let applied = [objects(&bed.management, "hypershift-mc"), objects(&bed.guest, "hypershift-guest")];
    let mut writes = BTreeSet::new();
    for operator in OPERATORS {
        for (entries, applied) in operator.requests(bed, marks).iter().zip(&applied) {
            let path = |entry: &Entry| entry.uri.split('?').next().unwrap().to_owned();
            let entries = entries.iter().filter(|entry| entry.is_write() && applied.contains(&path(entry)));
            writes.extend(entries.map(|entry| format!("{} {}", entry.verb, path(entry))));
        }
    }
    writes
}

/// Returns the requests of an operator that were forbidden.
fn forbidden(bed: &TestBed, operator: &Operator, marks: [Mark; 2]) -> Vec<Entry> {
    let [mut management, guest] = operator.requests(bed, marks);
    assert!(!management.is_empty() && !guest.is_empty(), "{}", operator.name);
    management.retain(|entry| entry.uri != TOPOLOGY);
    let entries = [management, guest].concat().into_iter();
    entries.filter(|entry| entry.code == 403).collect()
}

/// Returns the rights that an operator used and that its page does not declare, so that the rights check would not miss them.
fn undeclared(bed: &TestBed, operator: &Operator, marks: [Mark; 2]) -> Vec<String> {
    let needs = needs(repository(), &format!("payload/{}/component.yaml", operator.name));
    let [mut management, guest] = operator.requests(bed, marks);
    // The administrator of the management cluster binds the Role for the authority of the aggregation layer.
    management.retain(|entry| entry.uri != TOPOLOGY && !entry.uri.contains("/namespaces/kube-system/"));
    let management = used_rights::undeclared(&needs, "management", HOSTED, &management);
    let guest = used_rights::undeclared(&needs, "guest", operator.namespace, &guest);
    let named =
        |cluster, rights: BTreeSet<Right>| rights.into_iter().map(move |it| format!("{cluster}: {it}"));
    named("management", management).chain(named("guest", guest)).collect()
}

/// Returns the fields that transship applied to each object of both clusters, with their values. Seeds are not among them:
/// the operators own those from the start.
fn applied(bed: &TestBed) -> Vec<String> {
    let objects = |cluster: &TestCluster| {
        let objects = ours(cluster, &kinds_of(cluster))["objects"].clone();
        let applied = |(path, it): (&String, &Value)| {
            let fields = it["fields"].as_array().unwrap().iter();
            let fields: Vec<&Value> = fields.filter(|entry| entry[0] == "transship").collect();
            format!("{path}: {}", json!(fields))
        };
        objects.as_object().unwrap().iter().map(applied).collect::<Vec<_>>()
    };
    [objects(&bed.management), objects(&bed.guest)].concat()
}

/// Checks that a `ClusterOperator` is as its operator reports it when all is well.
fn assert_available(bed: &TestBed, name: &str) {
    let live = bed.guest.get(&format!("/apis/config.openshift.io/v1/clusteroperators/{name}")).unwrap();
    let conditions = live["status"]["conditions"].as_array().unwrap();
    for (kind, wanted) in [("Available", "True"), ("Progressing", "False"), ("Degraded", "False")] {
        let condition = conditions.iter().find(|condition| condition["type"] == kind).unwrap();
        assert_eq!((kind, condition["status"].as_str()), (kind, Some(wanted)), "{live:#}");
    }
    let version = live["status"]["versions"].as_array().unwrap().iter().find(|it| it["name"] == "operator");
    assert_eq!(version.unwrap()["version"], "4.22.0");
    let managers = live["metadata"]["managedFields"].as_array().unwrap().iter();
    let of_status =
        managers.filter(|entry| entry["subresource"] == "status" && entry["operation"] == "Update");
    let of_status: Vec<&str> = of_status.map(|entry| entry["manager"].as_str().unwrap()).collect();
    assert_eq!(of_status, ["operator"], "the operator writes it, and no stand-in");
}

/// Waits until all controllers of an operator report that all is well. The `ClusterOperator` shows a problem only after two
/// minutes.
fn wait_until_well(bed: &TestBed, configuration: &str) {
    let is_well = |conditions: &[Value]| {
        let have = |suffix: &str, status: &str| {
            let mut those = conditions.iter().filter(|it| it["type"].as_str().unwrap().ends_with(suffix));
            those.clone().next().is_some() && those.all(|it| it["status"] == status)
        };
        have("Available", "True") && have("Progressing", "False") && have("Degraded", "False")
    };
    eventually(configuration, || {
        let live = bed.guest.get(configuration)?;
        is_well(live["status"]["conditions"].as_array()?).then_some(())
    });
}

fn they_become_available(bed: &TestBed) {
    let start = [bed.management.audit.mark(), bed.guest.audit.mark()];
    let Some(stage) = Stage::set(bed, &[]) else { return };
    let before = applied(bed);
    let _running = OPERATORS.map(|operator| stage.start(operator));
    let unchanged = "management: 0 created, 0 changed, 22 unchanged, 0 pruned, 0 failed\n\
                     guest: 0 created, 0 changed, 51 unchanged, 0 pruned, 0 failed\n";
    stage.apply(unchanged);
    for round in 1..=10 {
        stage.resync(&OPERATORS, round);
        stage.apply(unchanged);
    }
    for name in CLUSTER_OPERATORS {
        assert_available(bed, name);
    }
    for configuration in CONFIGURATIONS {
        wait_until_well(bed, configuration);
    }
    for operator in OPERATORS {
        assert_eq!(forbidden(bed, operator, start), Vec::<Entry>::new(), "{}", operator.name);
        assert_eq!(undeclared(bed, operator, start), Vec::<String>::new(), "{}", operator.name);
    }
    // They record what they observe in their configuration. Nobody else sets that field.
    let observed = CONFIGURATIONS[1..].iter().map(|path| format!("update {path}")).collect();
    assert_eq!(writes_to_our_objects(bed, start), observed);
    let after = applied(bed);
    let changed = |old: &&String| !after.contains(old);
    assert_eq!(before.iter().filter(changed).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// transship applies the driver's operator itself, so it renders its `ServiceAccounts` and its rights.
fn the_driver_operator_runs_alone(bed: &TestBed) {
    let start = [bed.management.audit.mark(), bed.guest.audit.mark()];
    let parameters = ["--set", "hcp.namespace=clusters-example", "--set", "operands=driver-operators"];
    let Some(stage) = Stage::set(bed, &parameters) else { return };
    let _running = stage.start(&DRIVER);
    wait_until_well(bed, CONFIGURATIONS[2]);
    stage.resync(&[&DRIVER], 1);
    stage.apply(
        "management: 0 created, 0 changed, 18 unchanged, 0 pruned, 0 failed\n\
         guest: 0 created, 0 changed, 53 unchanged, 0 pruned, 0 failed\n",
    );
    assert_eq!(forbidden(bed, &DRIVER, start), Vec::<Entry>::new());
}

/// The right to create a `PodDisruptionBudget` is missing in the Role of the snapshot operator.
fn without_a_right(bed: &TestBed) {
    let copy = copied_payload();
    let page = copy.path().join("payload/csi-snapshot-controller-operator/component.yaml");
    let text = std::fs::read_to_string(&page).unwrap();
    let budgets = "      resources: [poddisruptionbudgets]\n      verbs: [get, list, watch, ";
    assert!(text.contains(&format!("{budgets}create, ")), "{text}");
    std::fs::write(&page, text.replacen(&format!("{budgets}create, "), budgets, 1)).unwrap();
    let lint = run_in(copy.path(), &["lint", "--profile", "hypershift-mc"]);
    assert_code(&lint, 1);
    let finding = "error[missing-right]: payload/csi-snapshot-controller-operator/component.yaml:";
    assert!(lint.stdout.starts_with(finding), "{}", lint.stdout);
    let missing = "missing: - {apiGroups: [policy], resources: [poddisruptionbudgets], verbs: [create]}";
    assert!(lint.stdout.contains(missing), "{}", lint.stdout);

    let Some(stage) = Stage::set(bed, &[]) else { return };
    let arguments = ["render", "--no-check", "--profile", "hypershift-mc", "-o", "json"];
    let rendered = run_in(copy.path(), &[&arguments[..], &["--component", SNAPSHOTS.name]].concat());
    let role = rendered.stdout.lines().find(|line| line.contains(r#""kind":"Role""#)).unwrap();
    bed.management.apply_yaml(role);
    let start = stage.marks();
    let _running = stage.start(&SNAPSHOTS);
    let message = eventually("the condition", || {
        let live = bed.guest.get(CONFIGURATIONS[0])?;
        let conditions = live["status"]["conditions"].as_array()?.iter();
        let kind = "CSISnapshotStaticResourceControllerDegraded";
        let mut degraded = conditions.filter(|it| it["type"] == kind && it["status"] == "True");
        degraded.find_map(|it| Some(it["message"].as_str()?.to_owned()))
    });
    let user = SNAPSHOTS.user_in(HOSTED);
    let why = format!("User \"{user}\" cannot create resource \"poddisruptionbudgets\"");
    assert!(message.contains(&why), "{message}");
    let forbidden: BTreeSet<String> =
        forbidden(bed, &SNAPSHOTS, start).iter().map(|it| format!("{} {}", it.verb, it.uri)).collect();
    let create = format!("create /apis/policy/v1/namespaces/{HOSTED}/poddisruptionbudgets");
    assert_eq!(forbidden, BTreeSet::from([create]));
}
