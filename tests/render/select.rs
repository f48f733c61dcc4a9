//! The cluster-version-operator's filters: which manifests each includes and excludes, with the operator's own messages.

use transship::Manifest;
use transship::cvo::{Capabilities, Filters, Override, cvo_hash, implicitly_enabled, include};

use crate::support::Folder;

fn manifest_of(kind: &str, annotations: &str) -> Manifest {
    let text = format!("{kind}metadata:\n  name: a\n  namespace: ns\n{annotations}");
    Folder::with_payload(&[("x.yaml", &text)]).payload().unwrap().manifests.remove(0)
}

fn manifest(annotations: &[(&str, &str)]) -> Manifest {
    let lines = annotations
        .iter()
        .fold(String::new(), |lines, (key, value)| format!("{lines}    {key}: '{value}'\n"));
    manifest_of("apiVersion: v1\nkind: ConfigMap\n", &format!("  annotations:\n    x: ''\n{lines}"))
}

/// Nothing if the manifest is in, else the code and the message.
fn verdict(manifest: &Manifest, filters: &Filters) -> Option<(String, String)> {
    include(manifest, filters).err().map(|reason| (reason.filter.name().to_owned(), reason.message))
}

#[expect(clippy::unnecessary_wraps, reason = "it stands beside what may be nothing")]
fn out(code: &str, message: &str) -> Option<(String, String)> {
    Some((code.to_owned(), message.to_owned()))
}

fn set(names: &[&str]) -> std::collections::BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_manifest_without_annotations_is_excluded() {
    let kind = "apiVersion: v1\nkind: ConfigMap\n";
    let none = out("no-annotations", "no annotations");
    assert_eq!(verdict(&manifest_of(kind, ""), &Filters::default()), none);
    assert_eq!(verdict(&manifest_of(kind, "  annotations:\n"), &Filters::default()), none);
    assert_eq!(verdict(&manifest_of(kind, "  annotations: {a: b, c: 1}\n"), &Filters::default()), none);
    assert_eq!(verdict(&manifest_of(kind, "  annotations: {}\n"), &Filters::default()), None);
}

#[test]
fn exclude_identifier() {
    let filters = Filters { exclude_identifier: Some("internal".into()), ..Filters::default() };
    let key = "exclude.release.openshift.io/internal";
    assert_eq!(
        verdict(&manifest(&[(key, "true")]), &filters),
        out("excluded", "exclude.release.openshift.io/internal=true")
    );
    assert_eq!(verdict(&manifest(&[(key, "True")]), &filters), None);
    assert_eq!(verdict(&manifest(&[(key, "true")]), &Filters::default()), None);
}

#[test]
fn feature_set() {
    let key = "release.openshift.io/feature-set";
    let filters = |set: &str| Filters { feature_set: Some(set.into()), ..Filters::default() };
    assert_eq!(verdict(&manifest(&[]), &filters("OKD")), None);
    assert_eq!(verdict(&manifest(&[(key, "Default")]), &filters("")), None);
    assert_eq!(verdict(&manifest(&[(key, "Default,OKD")]), &filters("OKD")), None);
    assert_eq!(
        verdict(&manifest(&[(key, "TechPreviewNoUpgrade,CustomNoUpgrade")]), &filters("")),
        out(
            "feature-set",
            "\"Default\" is required, and release.openshift.io/feature-set=CustomNoUpgrade,TechPreviewNoUpgrade"
        )
    );
    assert_eq!(
        verdict(&manifest(&[(key, "Default, OKD")]), &filters("Default")),
        out(
            "feature-set",
            "unrecognized value \" OKD\" in release.openshift.io/feature-set=Default, OKD; known values are: \
             CustomNoUpgrade,Default,DevPreviewNoUpgrade,OKD,TechPreviewNoUpgrade"
        )
    );
    assert_eq!(verdict(&manifest(&[(key, "nonsense")]), &Filters::default()), None);
}

#[test]
fn feature_gates() {
    let key = "release.openshift.io/feature-gate";
    let filters = |gates: &[&str]| Filters { feature_gates: Some(set(gates)), ..Filters::default() };
    assert_eq!(verdict(&manifest(&[(key, " A , -B ,,")]), &filters(&["A"])), None);
    assert_eq!(
        verdict(&manifest(&[(key, "A,C")]), &filters(&["A"])),
        out("feature-gate", "feature gate C is required but not enabled")
    );
    assert_eq!(
        verdict(&manifest(&[(key, "-A")]), &filters(&["A"])),
        out("feature-gate", "feature gate A is enabled but manifest requires it to be disabled")
    );
    let both = manifest(&[(key, "A"), ("release.openshift.io/feature-set", "Default")]);
    let filters = Filters { feature_set: Some(String::new()), ..filters(&["A"]) };
    assert_eq!(verdict(&both, &filters).unwrap().0, "set-and-gate");
    assert_eq!(verdict(&both, &Filters { feature_set: None, ..filters }), None);
}

#[test]
fn major_version() {
    let crd = |value: &str| {
        manifest_of(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n",
            &format!("  annotations:\n    release.openshift.io/major-version: '{value}'\n"),
        )
    };
    let filters = Filters { major_version: Some(4), ..Filters::default() };
    for (value, message) in [
        ("4", None),
        ("4,5", None),
        ("-5", None),
        ("", None),
        ("5", Some("major version 4 does not match any required versions")),
        ("-4", Some("major version 4 matches excluded version 4")),
        ("4,-4", Some("inclusion and exclusion requirements overlap: [4]")),
        (
            "x",
            Some(
                "invalid included major version \"x\" in annotation: strconv.ParseUint: parsing \"x\": invalid syntax",
            ),
        ),
        (
            "-x",
            Some(
                "invalid excluded major version \"x\" in annotation: strconv.ParseUint: parsing \"x\": invalid syntax",
            ),
        ),
    ] {
        assert_eq!(
            verdict(&crd(value), &filters),
            message.and_then(|message| out("major-version", message)),
            "{value}"
        );
    }
    assert_eq!(
        verdict(&manifest(&[("release.openshift.io/major-version", "4")]), &filters),
        out(
            "major-version",
            "major version filtering is only supported for feature gates and custom resources"
        )
    );
}

#[test]
fn cluster_profile() {
    let key = "include.release.openshift.io/hypershift";
    let filters = Filters { cluster_profile: Some("hypershift".into()), ..Filters::default() };
    assert_eq!(verdict(&manifest(&[(key, "true")]), &filters), None);
    assert_eq!(verdict(&manifest(&[]), &filters), out("cluster-profile", &format!("{key} unset")));
    assert_eq!(
        verdict(&manifest(&[(key, "yes")]), &filters),
        out("cluster-profile", &format!("unrecognized value {key}=yes"))
    );
}

#[test]
fn capabilities() {
    let key = "capability.openshift.io/name";
    let on = Capabilities::new(["A".to_owned(), "B".to_owned()], ["C".to_owned()]);
    let filters = Filters { capabilities: Some(on), ..Filters::default() };
    assert_eq!(verdict(&manifest(&[(key, "A+B")]), &filters), None);
    assert_eq!(verdict(&manifest(&[(key, "")]), &filters), None);
    assert_eq!(verdict(&manifest(&[(key, "A+C")]), &filters), out("capability", "disabled capabilities: C"));
    assert_eq!(
        verdict(&manifest(&[(key, "X+C+Y")]), &filters),
        out("capability", "unrecognized capability names: X, Y")
    );
}

#[test]
fn overrides() {
    let entry =
        |text: &str| Filters { overrides: vec![text.parse::<Override>().unwrap()], ..Filters::default() };
    let namespaced = manifest(&[]);
    assert_eq!(verdict(&namespaced, &entry("/ConfigMap/ns/a")), out("override", "overridden"));
    assert_eq!(verdict(&namespaced, &entry("apps/ConfigMap/ns/a")), None);
    assert_eq!(verdict(&namespaced, &entry("/ConfigMap/other/a")), None);
    let mut cluster = namespaced;
    cluster.id.namespace = String::new();
    assert_eq!(verdict(&cluster, &entry("/ConfigMap/ignored/a")), out("override", "overridden"));
    assert!("ConfigMap/a".parse::<Override>().is_err());
}

#[test]
fn the_first_filter_that_fails_gives_the_reason() {
    let annotated =
        manifest(&[("capability.openshift.io/name", "X"), ("exclude.release.openshift.io/i", "true")]);
    let mut filters = Filters {
        exclude_identifier: Some("i".into()),
        cluster_profile: Some("p".into()),
        capabilities: Some(Capabilities::default()),
        overrides: vec!["/ConfigMap/ns/a".parse().unwrap()],
        ..Filters::default()
    };
    let mut code = |change: fn(&mut Filters)| {
        change(&mut filters);
        verdict(&annotated, &filters).map(|(code, _)| code)
    };
    assert_eq!(code(|_| {}).as_deref(), Some("excluded"));
    assert_eq!(code(|filters| filters.exclude_identifier = None).as_deref(), Some("cluster-profile"));
    assert_eq!(code(|filters| filters.cluster_profile = None).as_deref(), Some("capability"));
    assert_eq!(code(|filters| filters.capabilities = None).as_deref(), Some("override"));
    assert_eq!(code(|filters| filters.overrides.clear()), None);
}

/// A payload of ConfigMaps, each with the capabilities it is under.
fn payload(manifests: &[(&str, &str)]) -> Folder {
    let text = |(name, capability): &(&str, &str)| {
        let capability = if capability.is_empty() {
            String::new()
        } else {
            format!(", capability.openshift.io/name: '{capability}'")
        };
        (
            format!("{name}.yaml"),
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, annotations: {{p: ''{capability}}}}}\n"
            ),
        )
    };
    let files: Vec<(String, String)> = manifests.iter().map(text).collect();
    Folder::with_payload(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>())
}

#[test]
fn an_update_enables_capabilities_of_objects_that_the_cluster_runs() {
    let filters = Filters {
        capabilities: Some(Capabilities::new(["On".to_owned()], ["Off".to_owned()])),
        ..Filters::default()
    };
    for (what, current, update, expected) in [
        ("no capability before, a new one now", ("a", ""), ("a", "New"), &["New"][..]),
        ("on before, joined by new ones", ("a", "On"), ("a", "On+New+Off"), &["New", "Off"]),
        ("off before and now", ("a", "Off"), ("a", "Off+New"), &[]),
        ("on before and now", ("a", "On"), ("a", "On"), &[]),
        ("another object", ("b", ""), ("a", "New"), &[]),
        ("moved to one that is on", ("a", ""), ("a", "On"), &[]),
    ] {
        let (current, update) = (payload(&[current]), payload(&[update]));
        let implied = implicitly_enabled(&update.payload().unwrap(), &current.payload().unwrap(), &filters);
        assert_eq!(implied, set(expected), "{what}");
    }
}

#[test]
fn the_hash_equals_that_of_a_live_cluster() {
    assert_eq!(cvo_hash([]), "y_Kc5IQiIyU=");
    let json = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":\
                {\"include.release.openshift.io/self-managed-high-availability\":\"true\"},\"name\":\"a\"}}";
    let yaml = "kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: a\n  annotations:\n    \
                include.release.openshift.io/self-managed-high-availability: \"true\"\n";
    for (file, text) in [("a.json", json), ("a.yaml", yaml)] {
        let payload = Folder::with_payload(&[(file, text)]).payload().unwrap();
        assert_eq!(cvo_hash(&payload.manifests), "NBD0u-yTvDw=", "{file}");
    }
    // JSON files count as they are written, spaces and all.
    let payload = Folder::with_payload(&[("a.json", &json.replace(':', ": "))]).payload().unwrap();
    assert_ne!(cvo_hash(&payload.manifests), "NBD0u-yTvDw=");
}
