//! The fragments and the policy in `profiles/`: the effect of each on a minimal manifest.

mod fragments;
mod policy;

use proptest::prelude::*;
use serde_json::Value;

use crate::support::{TestProject, find, repository, unindent};

const MC: &str = "hypershift-mc";
const GUEST: &str = "hypershift-guest";
const STANDALONE: &str = "standalone";

/// A Deployment with two containers. One of them mounts the volume `token`.
const DEPLOYMENT: &str = r"
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: d, namespace: old, labels: {app: d}}
    spec:
      selector: {matchLabels: {app: d}}
      template:
        metadata: {labels: {app: d}}
        spec:
          serviceAccountName: sa
          containers:
          - {name: other, image: i}
          - {name: driver, image: i, volumeMounts: [{name: token, mountPath: /token, readOnly: true}]}
          volumes: [{name: token, emptyDir: {}}]
    ";

const PLACE: &str = "place: {management: [Deployment]}";

/// Returns the Deployment with a projected token in its volume.
fn deployment_with_token() -> String {
    DEPLOYMENT.replace(
        "emptyDir: {}",
        "projected: {sources: [{serviceAccountToken: {audience: openshift, path: jwt}}]}",
    )
}

/// Creates a project with the Deployment, the profiles of the repository, and a page with these uses.
fn project_with_uses(uses: &str) -> TestProject {
    let uses = unindent(uses);
    TestProject::with_bundled_profiles(DEPLOYMENT, &format!("{PLACE}\nuses:\n{uses}"))
}

#[test]
fn the_name_of_a_manifest_file_does_not_change_the_result() {
    let first = TestProject::with_bundled_profiles(&deployment_with_token(), PLACE);
    let second = TestProject::with_bundled_profiles(&deployment_with_token(), PLACE);
    let folder = second.path().join("payload/op");
    std::fs::rename(folder.join("0000_50_op_1.yaml"), folder.join("0000_50_op_99_renamed.yaml")).unwrap();
    for profile in [STANDALONE, MC, GUEST] {
        assert_eq!(first.render(profile), second.render(profile));
    }
}

/// Uses of fragments. `issue: false` because two uses of guest-api would create the same Secret.
const USES: [&str; 6] = [
    "{guest-api: {workload: Deployment/d, container: driver, arg: --kubeconfig, issue: false}}",
    "{guest-api: {workload: Deployment/d, container: other, arg: --config, env: KUBECONFIG, issue: false}}",
    "{cloud-credentials: {workload: Deployment/d, container: driver, secret: cloud}}",
    "{control-plane-image: {workload: Deployment/d, container: other, env: IMAGE, image: csi-livenessprobe}}",
    "{env: {workload: Deployment/d, container: other, name: A, value: b}}",
    "{wait-for: {workload: Deployment/d, objects: [Storage.operator.openshift.io/cluster]}}",
];

const SETTINGS: [&str; 4] = [
    "hcp.availability=SingleReplica",
    "management.isOpenShift=false",
    "management.nativeSidecars=false",
    "hcp.labels={team: storage}",
];

/// Returns the Deployment without the hash of its configuration.
fn without_config_hash(objects: &[Value]) -> Value {
    let mut deployment = find(objects, "Deployment", "d").clone();
    let annotations = deployment.pointer_mut("/spec/template/metadata/annotations").unwrap();
    annotations.as_object_mut().unwrap().remove("component.hypershift.openshift.io/config-hash");
    deployment
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    /// Puts the result back into the payload and renders it again.
    #[test]
    fn rendering_is_idempotent(
        uses in proptest::sample::subsequence(&USES[..], 0..=USES.len()),
        settings in proptest::sample::subsequence(&SETTINGS[..], 0..=SETTINGS.len()),
        token in any::<bool>(),
        annotated in any::<bool>(),
    ) {
        let mut manifest = if token { deployment_with_token() } else { DEPLOYMENT.to_owned() };
        if annotated {
            manifest = manifest.replace(
                "namespace: old,",
                "namespace: old, annotations: {config.openshift.io/inject-proxy-cabundle: 'driver, other', config.openshift.io/inject-proxy: other},",
            );
        }
        let page = format!("{PLACE}\nuses: [{}]", uses.join(", "));
        let mut arguments = Vec::new();
        for setting in settings {
            arguments.extend(["--set", setting]);
        }
        let first = TestProject::with_bundled_profiles(&manifest, &page).render_with(MC, &arguments);
        let rendered = find(&first, "Deployment", "d").to_string();
        let second = TestProject::with_bundled_profiles(&rendered, &page).render_with(MC, &arguments);
        // The hash differs, because the issued Secrets are not in the second payload.
        prop_assert_eq!(without_config_hash(&second), without_config_hash(&first));
    }
}

/// The errors name every fragment without an addition for the new profile, and then every intent without a rule.
#[test]
fn a_new_profile_must_decide_about_every_fragment_and_intent() {
    let project = TestProject::with_bundled_profiles(&deployment_with_token(), PLACE).profile(
        "edge",
        r"
        extends: hypershift
        topology: edge
        cluster: management
        ",
    );
    let fragments = [
        "control-plane-image",
        "guest-api",
        "hosted-control-plane-reader",
        "metrics-client",
        "service-twin",
        "serving-cert",
        "token-minter",
        "trusted-ca",
        "wait-for",
        "webhook-url",
    ];
    let errors = fragments.map(|fragment| {
        format!(
            "error: profiles/fragments/{fragment}.yaml:1:1: the fragment `{fragment}` has no addition for the profile edge\n  \
             help: add an entry to `adds`, or let the profile extend one that has an entry; if nothing is needed, give the reason with `nothing: …`\n"
        )
    });
    assert_eq!(project.render_error("edge"), format!("{}10 errors\n", errors.concat()));
    for fragment in fragments {
        let path = format!("profiles/fragments/{fragment}.yaml");
        project
            .write(&path, project.read(&path).replacen("  - standalone\n", "  - standalone\n  - edge\n", 1));
    }
    project.assert_render_error(
        "edge",
        r"
        error: payload/op/0000_50_op_1.yaml:13:17: the profile `edge` has no rule for the intent `projected-token`
          object: Deployment.apps/d in old
          help: write `projected-token: keep`, a fragment, or `refuse: <reason>` under its `intents`
        ",
    );
}

/// Fragments for drivers that the payload does not have, and for a Service that the guest reaches by an address. The tests of
/// the module `fragments` use them in a page.
const FOR_OTHER_PAYLOADS: [&str; 3] = ["csi-liveness", "csi-sidecar", "service-twin"];

#[test]
fn every_fragment_is_used_by_a_page() {
    let mut texts = Vec::new();
    for folder in ["payload", "profiles"] {
        for entry in walkdir::WalkDir::new(repository().join(folder)) {
            let path = entry.unwrap().into_path();
            if path.extension().is_some_and(|extension| extension == "yaml") {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut unused = Vec::new();
    for entry in repository().join("profiles/fragments").read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        // In `uses` of a page or a fragment, or as the rule for an intent.
        let uses = [format!("- {name}:"), format!("- {name}\n"), format!(": {name}\n")];
        let is_definition = format!("  name: {name}\n");
        let is_used = |text: &String| {
            let text = text.replace(&is_definition, "");
            uses.iter().any(|one| text.contains(one.as_str()))
        };
        if !texts.iter().any(is_used) {
            unused.push(name);
        }
    }
    unused.sort();
    assert_eq!(unused, FOR_OTHER_PAYLOADS);
    let page_tests = include_str!("standard_fragments/fragments.rs");
    for name in FOR_OTHER_PAYLOADS {
        assert!(page_tests.contains(&format!("{name}: {{")), "{name}");
    }
}
