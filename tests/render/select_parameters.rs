//! Parameters in `select`, and those that are read from the `FeatureGate` and the ClusterVersion.

use crate::support::{TestProject, names, unindent};

/// Returns a ConfigMap with one more annotation.
fn config_map(name: &str, annotation: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: ns, annotations: \
         {{include.release.openshift.io/ha: 'true', {annotation}}}}}\n"
    )
}

const PARAMETERS: &str = r"
    parameters:
      set:
        type: string
        description: The feature set.
        optional: true
        enum: ['', Default, OKD, TechPreviewNoUpgrade]
        read: {object: FeatureGate, path: /spec/featureSet}
      gates:
        type: list
        description: The feature gates.
        pattern: '[A-Z]+'
        optional: true
        read: {object: FeatureGate, path: '/status/featureGates/[version=${release.version}]/enabled/[*]/name'}
      enabled:
        type: list
        description: The enabled capabilities.
        pattern: '[A-Za-z]+'
        optional: true
        read: {object: ClusterVersion, path: /status/capabilities/enabledCapabilities}
      known:
        type: list
        description: The capabilities that exist.
        pattern: '[A-Za-z]+'
        optional: true
        read: {object: ClusterVersion, path: /status/capabilities/knownCapabilities}
      profile: {type: string, description: The cluster profile., default: ha}
      version: {type: int, description: The major version., optional: true}
      identifier: {type: string, description: The identifier., optional: true}
    ";

const SELECT: &str = r"
    topology: test
    cluster: both
    select:
      clusterProfile: ${profile}
      excludeIdentifier: ${identifier}
      featureSet: ${set}
      featureGates: ${gates}
      majorVersion: ${version}
      capabilities: ${enabled}
      knownCapabilities: ${known}
    ";

/// Creates a project with one manifest for each filter, and a profile whose filters all come from parameters.
fn project() -> TestProject {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.b.c, annotations: \
               {include.release.openshift.io/ha: 'true', release.openshift.io/major-version: '5'}}\n\
               spec: {group: b.c, names: {kind: A, plural: as}, scope: Cluster, versions: []}\n";
    TestProject::new()
        .release(&[])
        .manifest("op/0000_50_op_1.yaml", &config_map("all", "x: x"))
        .manifest(
            "op/0000_50_op_2.yaml",
            &config_map("set", "release.openshift.io/feature-set: 'OKD,Default'"),
        )
        .manifest("op/0000_50_op_3.yaml", &config_map("gate", "release.openshift.io/feature-gate: 'A,-B'"))
        .manifest("op/0000_50_op_4.yaml", &config_map("capability", "capability.openshift.io/name: Storage"))
        .manifest("op/0000_50_op_5.yaml", crd)
        .manifest(
            "op/0000_50_op_6.yaml",
            &config_map("public", "exclude.release.openshift.io/internal: 'true'"),
        )
        .manifest("op/0000_50_op_7.yaml", &config_map("ibm", "include.release.openshift.io/ibm: 'true'"))
        .parameters(PARAMETERS)
        .profile("test", SELECT)
}

/// Returns the names of the objects that are rendered with these arguments.
fn rendered(project: &TestProject, arguments: &[&str]) -> Vec<String> {
    let objects = project.render_with("test", arguments);
    names(&objects).iter().map(|name| name.split_once('/').unwrap().1.to_owned()).collect()
}

#[test]
fn a_filter_whose_parameter_is_absent_is_off() {
    let all = ["as.b.c", "all", "set", "gate", "capability", "public", "ibm"];
    let mut found = rendered(&project(), &[]);
    found.sort_by_key(|name| all.iter().position(|other| other == name));
    assert_eq!(found, all);
}

#[test]
fn every_filter_takes_its_setting_from_a_parameter() {
    let without = |argument: &str| {
        let found = rendered(&project(), &["--set", argument]);
        let all = ["all", "as.b.c", "capability", "gate", "ibm", "public", "set"];
        all.into_iter().filter(|name| !found.iter().any(|other| other == name)).collect::<Vec<_>>()
    };
    assert_eq!(without("profile=ibm"), ["all", "as.b.c", "capability", "gate", "public", "set"]);
    assert_eq!(without("identifier=internal"), ["public"]);
    assert_eq!(without("set=TechPreviewNoUpgrade"), ["set"]);
    assert_eq!(without("set=OKD"), [""; 0]);
    assert_eq!(without("gates=[]"), ["gate"]);
    assert_eq!(without("gates=[A]"), [""; 0]);
    assert_eq!(without("gates=[A, B]"), ["gate"]);
    assert_eq!(without("version=4"), ["as.b.c"]);
    assert_eq!(without("version=5"), [""; 0]);
    assert_eq!(without("enabled=[]"), ["capability"]);
    assert_eq!(without("enabled=[Storage]"), [""; 0]);
    // With known capabilities alone, none is enabled.
    assert_eq!(without("known=[Storage]"), ["capability"]);
}

#[test]
fn a_parameter_can_be_an_item_of_a_list_and_a_part_of_a_text() {
    let project = project().profile(
        "test",
        r"
        topology: test
        cluster: both
        select: {clusterProfile: '${profile}', featureGates: ['${gates}', A], capabilities: ['${set}x', Storage]}
        ",
    );
    // The profile does not use the others.
    let project = project.profile("other", &SELECT.replace("topology: test", "topology: other"));
    assert!(rendered(&project, &["--set", "set=OKD"]).contains(&"gate".to_owned()));
    let found = rendered(&project, &["--set", "set=OKD", "--set", "gates=[B]"]);
    assert!(!found.contains(&"gate".to_owned()) && found.contains(&"capability".to_owned()), "{found:?}");
}

#[test]
fn a_profile_replaces_the_settings_of_the_one_that_it_extends() {
    let project = project().profile("child", "extends: test\nselect: {featureSet: TechPreviewNoUpgrade}\n");
    let found = names(&project.render_with("child", &["--set", "set=OKD", "--set", "gates=[]"]));
    assert!(!found.contains(&"ConfigMap/set".to_owned()), "{found:?}");
    assert!(!found.contains(&"ConfigMap/gate".to_owned()), "{found:?}");
    // The parent keeps its own.
    assert!(rendered(&project, &["--set", "set=OKD"]).contains(&"set".to_owned()));
}

#[test]
fn a_value_of_the_wrong_type_is_an_error() {
    let profile = SELECT
        .replace("${identifier}", "${version}")
        .replace("featureGates: ${gates}", "featureGates: ${profile}")
        .replace("majorVersion: ${version}", "majorVersion: ${gates}")
        .replace("${known}", "['${known}', '${identifier}']");
    assert_eq!(
        project()
            .profile("test", &profile)
            .render_error_with("test", &["--set", "gates=[A]", "--set", "version=4"]),
        "error: profiles/test.yaml:8:22: `excludeIdentifier` must be text, not a number\n\
         error: profiles/test.yaml:10:17: `featureGates` must be a list, not text\n\
         error: profiles/test.yaml:11:17: `majorVersion` must be a whole number, zero or more, not a list\n\
         3 errors\n"
    );
}

#[test]
fn a_literal_of_the_wrong_type_is_an_error_without_parameters() {
    let profile = SELECT.replace("${version}", "four");
    project().profile("test", &profile).assert_render_error(
        "test",
        r"
        error: profiles/test.yaml:11:17: `majorVersion` must be a whole number, zero or more, not text
        ",
    );
}

#[test]
fn a_name_that_is_not_defined_is_an_error() {
    let profile = SELECT.replace("${set}", "${sett}");
    let error = project().profile("test", &profile).render_error("test");
    let expected =
        "error: profiles/test.yaml:9:15: `${sett}` is not defined\n  help: did you mean `${set}`?\n";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_secret_cannot_decide_what_is_selected() {
    let parameters = PARAMETERS.replace("The identifier., optional: true", "The identifier., secret: true");
    let error = project().parameters(&parameters).render_error_with("test", &["--set", "identifier=abc"]);
    assert_eq!(
        error,
        "error: profiles/test.yaml:8:22: `excludeIdentifier` has the value of a secret parameter\n  \
         note: `list` shows which manifests it selects\n  help: use a parameter that is not secret\n"
    );
}

const FEATURE_GATE: &str = r"
    apiVersion: config.openshift.io/v1
    kind: FeatureGate
    metadata: {name: cluster}
    spec: {featureSet: TechPreviewNoUpgrade}
    status:
      featureGates:
      - {version: 4.21.0, enabled: [{name: A}, {name: B}], disabled: []}
      - {version: 4.22.0, enabled: [{name: A}], disabled: [{name: B}]}
    ";

const CLUSTER_VERSION: &str = r"
    apiVersion: config.openshift.io/v1
    kind: ClusterVersion
    metadata: {name: version}
    status: {capabilities: {knownCapabilities: [Storage]}}
    ";

/// Returns the objects as one file with several documents.
fn documents() -> String {
    format!("{}---\n{}", unindent(FEATURE_GATE), unindent(CLUSTER_VERSION))
}

const GIVEN: [&str; 2] = ["--cluster-objects", "objects.yaml"];

#[test]
fn settings_are_read_from_the_feature_gate_and_the_cluster_version() {
    let project = project().file("objects.yaml", &documents());
    let mut found = rendered(&project, &GIVEN);
    found.sort_unstable();
    // The gates of another version do not count, and no capability is enabled.
    assert_eq!(found, ["all", "as.b.c", "gate", "ibm", "public"]);
    // A List as `kubectl get` prints it, and one file for each object.
    let list = "apiVersion: v1\nkind: List\nitems:\n";
    let items: Vec<String> = [FEATURE_GATE, CLUSTER_VERSION]
        .iter()
        .map(|object| "- ".to_owned() + &unindent(object).trim_end().replace('\n', "\n  ") + "\n")
        .collect();
    let as_list = project.file("objects.yaml", &(list.to_owned() + &items.concat()));
    let mut from_list = rendered(&as_list, &GIVEN);
    from_list.sort_unstable();
    assert_eq!(from_list, found);
    let in_two = as_list.file("objects.yaml", FEATURE_GATE).file("version.yaml", CLUSTER_VERSION);
    let mut from_two = rendered(&in_two, &[&GIVEN[..], &["--cluster-objects", "version.yaml"]].concat());
    from_two.sort_unstable();
    assert_eq!(from_two, found);
    // `--set` takes precedence.
    let with_set = rendered(&in_two, &[&GIVEN[..], &["--set", "set=OKD", "--set", "gates=[]"]].concat());
    assert!(with_set.contains(&"set".to_owned()) && !with_set.contains(&"gate".to_owned()), "{with_set:?}");
}

#[test]
fn a_feature_gate_without_the_version_of_the_release_is_an_error() {
    let other = FEATURE_GATE.replace("4.22.0", "4.23.0");
    let project = project().file("objects.yaml", &other);
    assert_eq!(
        project.render_error_with("test", &GIVEN),
        "error: objects.yaml:7:3: the FeatureGate has no item with version=4.22.0\n  \
         note: a parameter is read from `/status/featureGates/[version=${release.version}]/enabled/[*]/name` of the \
         FeatureGate\n  \
         note: the items have 4.21.0, 4.23.0\n  \
         help: pass the object of the right cluster and version, or set the parameter with --set gates=…\n"
    );
    // Without an error, a value of the user is used.
    assert!(!rendered(&project, &[&GIVEN[..], &["--set", "gates=[]"]].concat()).contains(&"gate".to_owned()));
}

#[test]
fn no_gate_is_enabled_if_the_feature_gate_lists_none() {
    let none = FEATURE_GATE.replace("enabled: [{name: A}], disabled: [{name: B}]", "enabled: []");
    let found = rendered(&project().file("objects.yaml", &none), &GIVEN);
    assert!(!found.contains(&"gate".to_owned()), "{found:?}");
}

#[test]
fn an_empty_feature_set_is_the_default_one() {
    let default = FEATURE_GATE.replace("featureSet: TechPreviewNoUpgrade", "featureSet: ''");
    let found = rendered(&project().file("objects.yaml", &default), &GIVEN);
    assert!(found.contains(&"set".to_owned()), "{found:?}");
}

#[test]
fn mistakes_in_the_objects_are_errors() {
    let project = project().file("objects.yaml", &documents().replace("ClusterVersion", "ClusterOperator"));
    let error = |arguments: &[&str]| project.render_error_with("test", arguments);
    assert_eq!(
        error(&GIVEN),
        "error: objects.yaml:10:1: no parameter can be read from `kind: ClusterOperator`\n  \
         help: the objects can be of the kinds HostedControlPlane, Infrastructure, ClusterCSIDriver, FeatureGate, \
         ClusterVersion\n"
    );
    project.write("objects.yaml", unindent(FEATURE_GATE));
    assert_eq!(
        error(&[&GIVEN[..], &GIVEN[..]].concat()),
        "error: objects.yaml:1:1: two objects are of the kind FeatureGate\n  \
         note: the first is at objects.yaml:1:1\n  \
         help: remove one of them: a parameter is read from one object\n"
    );
    // The guest's administrator cannot smuggle in other names.
    project.write("objects.yaml", unindent(FEATURE_GATE).replace("{name: A}", "{name: a}"));
    let message = error(&GIVEN);
    assert!(
        message.contains("the parameter `gates` must be text that matches `[A-Z]+`, not `a`"),
        "{message}"
    );
}

#[test]
fn the_path_of_a_parameter_can_only_contain_the_version() {
    let parameters = PARAMETERS.replace("${release.version}", "${release.name}");
    let error = project().parameters(&parameters).render_error("test");
    assert_eq!(
        error,
        "error: profiles/parameters.yaml:16:39: `${release.name}` is not defined\n  \
         help: a path can only contain `${release.version}`\n"
    );
    let parameters = PARAMETERS.replace("[*]", "[all]");
    let error = project().parameters(&parameters).render_error("test");
    assert_eq!(
        error,
        "error: profiles/parameters.yaml:16:39: `[all]` is not a segment of a path\n  \
         help: write `[key=value]`, `[--flag]` or `[*]`\n"
    );
}

#[test]
fn a_payload_without_a_version_has_no_gates_of_its_version() {
    let project = project().file("objects.yaml", FEATURE_GATE);
    std::fs::remove_file(project.path().join("payload/release-metadata")).unwrap();
    assert_eq!(
        project.render_error_with("test", &GIVEN),
        "error: profiles/parameters.yaml:16:39: `${release.version}` is not defined\n  \
         help: add release-metadata to the payload\n"
    );
}
