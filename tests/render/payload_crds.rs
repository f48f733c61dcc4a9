//! The CustomResourceDefinitions of the bundled payload. `differential::crds` compares them with what `make crds`
//! generates.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{repository, run_in};

/// The components with CRDs: those of the operators' own resources, and those of snapshots.
const STORAGE: &str = "storage";
const SNAPSHOTS: &str = "csi-snapshot-controller";

/// Returns the CRDs that a profile of the repository includes if transship applies all operands, each with its file.
fn included(profile: &str, parameters: &[&str]) -> BTreeMap<String, String> {
    let mut arguments = vec!["list", "-o", "json", "--profile", profile, "--set", "operands=ours"];
    arguments.extend(parameters.iter().flat_map(|parameter| ["--set", parameter]));
    let rows: Vec<Value> = serde_json::from_str(&run_in(&repository(), &arguments, "").stdout).unwrap();
    let mut crds = BTreeMap::new();
    for row in rows.iter().filter(|row| row["kind"] == "CustomResourceDefinition" && row["included"] == true)
    {
        let name = row["name"].as_str().unwrap().to_owned();
        let file = row["file"].as_str().unwrap().to_owned();
        assert_eq!(crds.insert(name, file), None, "two variants");
    }
    crds
}

#[test]
fn the_bundled_profiles_select_one_variant_of_each_crd() {
    let always = [
        "clustercsidrivers.operator.openshift.io",
        "csisnapshotcontrollers.operator.openshift.io",
        "storages.operator.openshift.io",
        "volumesnapshotclasses.snapshot.storage.k8s.io",
        "volumesnapshotcontents.snapshot.storage.k8s.io",
        "volumesnapshots.snapshot.storage.k8s.io",
    ];
    let groups = [
        "volumegroupsnapshotclasses.groupsnapshot.storage.k8s.io",
        "volumegroupsnapshotcontents.groupsnapshot.storage.k8s.io",
        "volumegroupsnapshots.groupsnapshot.storage.k8s.io",
    ];
    let metadata = ["snapshotmetadataservices.cbt.storage.k8s.io"];
    let choices: [(&str, &[&str]); 3] = [
        ("feature.gates=[]", &[]),
        ("feature.gates=[VolumeGroupSnapshot]", &groups),
        ("feature.gates=[ExternalSnapshotMetadata, AWSDualStackInstall]", &metadata),
    ];
    let sets = ["Default", "OKD", "TechPreviewNoUpgrade", "DevPreviewNoUpgrade", "CustomNoUpgrade"];
    for (index, set) in sets.into_iter().enumerate() {
        let (gates, enabled) = choices[index % choices.len()];
        let mut expected = [&always[..], enabled].concat();
        expected.sort_unstable();
        for profile in ["standalone", "hypershift-guest"] {
            let crds = included(profile, &[&format!("feature.set={set}"), gates]);
            assert_eq!(crds.keys().collect::<Vec<_>>(), expected, "{profile} {set}");
            let variant = format!("{STORAGE}/0000_50_csi-driver_01_clustercsidrivers-{set}.crd.yaml");
            assert_eq!(crds["clustercsidrivers.operator.openshift.io"], variant);
        }
    }
    let default = included("standalone", &[]);
    assert_eq!(default.keys().collect::<Vec<_>>(), always);
    assert!(default["clustercsidrivers.operator.openshift.io"].ends_with("-Default.crd.yaml"));
    assert_eq!(included("hypershift-mc", &["feature.set=OKD"]), BTreeMap::new());
}

/// The name of a version, whether it is served, and how many validation rules and properties it has.
type VersionCounts = (&'static str, bool, usize, usize);

/// How many validation rules and properties each version of a CRD has upstream, counted in the modules themselves.
const UPSTREAM: [(&str, &str, &[VersionCounts]); 14] = [
    (STORAGE, "0000_50_csi-driver_01_clustercsidrivers-CustomNoUpgrade.crd", &[("v1", true, 9, 68)]),
    (STORAGE, "0000_50_csi-driver_01_clustercsidrivers-Default.crd", &[("v1", true, 9, 67)]),
    (STORAGE, "0000_50_csi-driver_01_clustercsidrivers-DevPreviewNoUpgrade.crd", &[("v1", true, 9, 68)]),
    (STORAGE, "0000_50_csi-driver_01_clustercsidrivers-OKD.crd", &[("v1", true, 9, 67)]),
    (STORAGE, "0000_50_csi-driver_01_clustercsidrivers-TechPreviewNoUpgrade.crd", &[("v1", true, 9, 68)]),
    (STORAGE, "0000_50_storage_01_storages.crd", &[("v1", true, 2, 28)]),
    (STORAGE, "0000_10_csi-snapshot-controller_01_csisnapshotcontrollers.crd", &[("v1", true, 1, 27)]),
    (SNAPSHOTS, "0000_10_csi-snapshot-controller_snapshotmetadataservices", &[("v1alpha1", true, 0, 7)]),
    (SNAPSHOTS, "0000_10_csi-snapshot-controller_volumegroupsnapshotclasses", &[("v1beta1", true, 0, 6)]),
    (SNAPSHOTS, "0000_10_csi-snapshot-controller_volumegroupsnapshotcontents", &[("v1beta1", true, 6, 30)]),
    (SNAPSHOTS, "0000_10_csi-snapshot-controller_volumegroupsnapshots", &[("v1beta1", true, 6, 20)]),
    (
        SNAPSHOTS,
        "0000_10_csi-snapshot-controller_volumesnapshotclasses",
        &[("v1", true, 0, 6), ("v1beta1", false, 0, 5)],
    ),
    (
        SNAPSHOTS,
        "0000_10_csi-snapshot-controller_volumesnapshotcontents",
        &[("v1", true, 8, 28), ("v1beta1", false, 0, 25)],
    ),
    (
        SNAPSHOTS,
        "0000_10_csi-snapshot-controller_volumesnapshots",
        &[("v1", true, 6, 17), ("v1beta1", false, 0, 15)],
    ),
];

/// The names of fields that contain one schema or several.
const SUBSCHEMAS: [&str; 6] = ["items", "additionalProperties", "not", "allOf", "anyOf", "oneOf"];

/// Counts the validation rules and the properties in a schema.
fn count(schema: &Value, counts: &mut (usize, usize)) {
    let empty = serde_json::Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    counts.0 += schema["x-kubernetes-validations"].as_array().map_or(0, Vec::len);
    counts.1 += properties.len();
    properties.values().for_each(|property| count(property, counts));
    for field in SUBSCHEMAS {
        match &schema[field] {
            Value::Array(parts) => parts.iter().for_each(|part| count(part, counts)),
            part @ Value::Object(_) => count(part, counts),
            _ => {}
        }
    }
}

#[test]
fn the_crds_of_the_payload_have_every_version_rule_and_property() {
    for (component, file, versions) in UPSTREAM {
        let file = format!("payload/{component}/{file}.yaml");
        let arguments = ["fmt", "-o", "json", file.as_str()];
        let crd = run_in(&repository(), &arguments, "").json().remove(0);
        let found: Vec<(&str, bool, usize, usize)> = crd["spec"]["versions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|version| {
                let mut counts = (0, 0);
                count(&version["schema"]["openAPIV3Schema"], &mut counts);
                (version["name"].as_str().unwrap(), version["served"] == true, counts.0, counts.1)
            })
            .collect();
        assert_eq!(found, versions, "{file}");
        assert!(crd.get("status").is_none(), "{file}");
    }
}
