//! Which manifests the cluster-version-operator includes, and its reasons, compared with library-go.

use std::fmt::Write;

use serde_json::{Value, json};
use transship::Payload;
use transship::cvo::{self, Capabilities, Filters, Override};

use super::environment;
use super::oracle::Oracle;
use super::random::Random;
use crate::support::{Folder, repository};

/// The manifests of one payload, which all filters of a round are applied to.
const MANIFESTS: usize = 50;
/// How many filters are applied to one payload.
const FILTERS_PER_PAYLOAD: usize = 40;

const KINDS: [(&str, &str); 5] = [
    ("v1", "ConfigMap"),
    ("apps/v1", "Deployment"),
    ("config.openshift.io/v1", "FeatureGate"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("operator.openshift.io/v1", "Storage"),
];
const FEATURE_SETS: [&str; 9] = [
    "",
    "Default",
    "OKD",
    "TechPreviewNoUpgrade",
    "DevPreviewNoUpgrade",
    "CustomNoUpgrade",
    "Default,OKD",
    "Default, OKD",
    "Nonsense",
];
const GATES: [&str; 10] = ["A", "-A", "B", "A,B", "A,-B", " A , B ", "", ",", "--A", "A,-A"];
const VERSIONS: [&str; 12] =
    ["4", "5", "-4", "4,5", "4,-4", " 4 ", "", "+4", "x", "-", "99999999999999999999", "-5,-4"];
const CAPABILITIES: [&str; 8] =
    ["Storage", "Storage+CSISnapshot", "Nonsense", "", "+", "Storage+", " Storage", "A+B"];
const PROFILES: [&str; 3] = ["hypershift", "self-managed-high-availability", "ibm-cloud-managed"];
const BOOLEANS: [&str; 5] = ["'true'", "'True'", "'false'", "''", "true"];

#[test]
fn the_filters_decide_as_the_cluster_version_operator_does() {
    let Some(oracle) = Oracle::build(&repository(), "include") else { return };
    let first = environment("TRANSSHIP_SEED", 1);
    let comparisons = environment("TRANSSHIP_DIFFERENTIAL", 10_000);
    let per_round = u64::try_from(MANIFESTS * FILTERS_PER_PAYLOAD).unwrap();
    let (mut differences, mut included, mut excluded) = (Vec::new(), 0, 0);
    for seed in first..first + comparisons.div_ceil(per_round) {
        let mut random = Random::new(seed);
        let texts: Vec<String> = (0..MANIFESTS).map(|number| manifest(number, &mut random)).collect();
        let folder = Folder::new();
        folder.write("0000_50_all.yaml", texts.join("---\n"));
        let payload = Payload::load(folder.path()).unwrap();
        assert_eq!(payload.manifests.len(), MANIFESTS);
        let filters: Vec<Filters> = (0..FILTERS_PER_PAYLOAD).map(|_| filters(&mut random)).collect();
        let requests: Vec<_> =
            filters.iter().map(|filters| [as_json(filters).to_string(), texts.join("---\n")]).collect();
        for (filters, answer) in filters.iter().zip(oracle.ask(&requests)) {
            let expected: Vec<String> = serde_json::from_slice(&answer.unwrap()).unwrap();
            for (position, (manifest, expected)) in payload.manifests.iter().zip(&expected).enumerate() {
                let reason =
                    cvo::include(manifest, filters).map_or_else(|reason| reason.message, |()| String::new());
                *(if reason.is_empty() { &mut included } else { &mut excluded }) += 1;
                if reason != *expected {
                    differences.push(format!(
                        "{}{}\n  here {reason:?}\n  CVO  {expected:?}",
                        texts[position],
                        as_json(filters)
                    ));
                }
            }
        }
    }
    let shown = &differences[..differences.len().min(10)];
    assert!(differences.is_empty(), "{} differences\n\n{}", differences.len(), shown.join("\n\n"));
    // The generator must produce both.
    assert!(included > 100 && excluded > 100, "{included} included, {excluded} excluded");
}

/// Returns a manifest with annotations that the filters read, some of them invalid.
fn manifest(number: usize, random: &mut Random) -> String {
    let (api_version, kind) = KINDS[random.below(KINDS.len())];
    let mut text = format!("apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: n{number}\n");
    if random.one_in(2) {
        text += "  namespace: ns\n";
    }
    match random.below(16) {
        0 => return text,
        1 => return text + "  annotations:\n",
        2 => return text + "  annotations: {}\n",
        3 => return text + "  annotations: {a: 1, include.release.openshift.io/hypershift: 'true'}\n",
        _ => text += "  annotations:\n    a:\n",
    }
    for profile in PROFILES {
        if random.one_in(2) {
            // Nearly always the value that includes the manifest, so that the later filters decide.
            let value = if random.one_in(8) { BOOLEANS[random.below(4)] } else { "'true'" };
            let _ = writeln!(text, "    include.release.openshift.io/{profile}: {value}");
        }
    }
    let annotations: [(&str, &[&str], usize); 5] = [
        ("release.openshift.io/feature-set", &FEATURE_SETS, 3),
        ("release.openshift.io/feature-gate", &GATES, 3),
        ("release.openshift.io/major-version", &VERSIONS, 4),
        ("capability.openshift.io/name", &CAPABILITIES, 3),
        ("exclude.release.openshift.io/internal", &["true", "True", "false", ""], 6),
    ];
    for (name, values, rarity) in annotations {
        if random.one_in(rarity) {
            let _ = writeln!(text, "    {name}: {}", json!(random.pick(values)));
        }
    }
    if random.one_in(40) {
        let _ = writeln!(text, "    not-text: {}", BOOLEANS[4]);
    }
    text
}

/// Returns filters, each of them set or not.
fn filters(random: &mut Random) -> Filters {
    let mut filters = Filters::default();
    if random.one_in(3) {
        filters.exclude_identifier = Some("internal".to_owned());
    }
    if random.one_in(2) {
        filters.feature_set = Some(random.pick(&FEATURE_SETS[..6]).to_owned());
    }
    if random.one_in(2) {
        filters.feature_gates =
            Some(["A", "B"].into_iter().filter(|_| random.one_in(2)).map(str::to_owned).collect());
    }
    if random.one_in(3) {
        filters.major_version = Some(if random.one_in(2) { 4 } else { 5 });
    }
    if random.one_in(2) {
        filters.cluster_profile = Some(random.pick(&PROFILES).to_owned());
    }
    if random.one_in(2) {
        let names = ["Storage", "CSISnapshot", "A"].map(str::to_owned);
        let enabled: Vec<String> = names.iter().filter(|_| random.one_in(2)).cloned().collect();
        filters.capabilities = Some(Capabilities::new(enabled, names));
    }
    if random.one_in(4) {
        let text = format!("apps/Deployment/ns/n{}", random.below(MANIFESTS));
        filters.overrides.push(text.parse::<Override>().unwrap());
    }
    filters
}

/// Returns filters as the Go program reads them.
fn as_json(filters: &Filters) -> Value {
    let overrides: Vec<Value> = filters
        .overrides
        .iter()
        .map(|entry| {
            let id = &entry.0;
            json!({"group": id.group, "kind": id.kind, "namespace": id.namespace, "name": id.name, "unmanaged": true})
        })
        .collect();
    json!({
        "excludeIdentifier": filters.exclude_identifier,
        "featureSet": filters.feature_set,
        "featureGates": filters.feature_gates,
        "majorVersion": filters.major_version,
        "clusterProfile": filters.cluster_profile,
        "capabilities": filters.capabilities.as_ref().map(|capabilities| {
            json!({"enabled": capabilities.enabled, "known": capabilities.known})
        }),
        "overrides": overrides,
    })
}
