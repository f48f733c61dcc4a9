//! Profile files: what they may say, and what a mistake in one is answered with.

use transship::object::Cluster;

use crate::support::{Folder, profile};

fn refused(text: &str) -> String {
    let folder = Folder::new();
    folder.write("profiles/p.yaml", text);
    folder.shown(&folder.profiles().expect_err("the profile must be refused"))
}

#[test]
fn a_profile_says_what_is_selected_and_where_it_goes() {
    let folder = Folder::new();
    let more = "  featureSet: TechPreviewNoUpgrade\n  featureGates: [A, B]\n  capabilities: [Storage]\n  \
                knownCapabilities: [Insights]\n  majorVersion: 4\n  excludeIdentifier: internal\nnamespace: clusters-a\n";
    folder.write("profiles/p.yaml", profile("p", more));
    let profiles = folder.profiles().unwrap();
    let p = profiles.named(Some("p")).unwrap()[0];
    assert_eq!(
        (p.cluster, p.topology.as_str(), p.namespace.as_ref().map(|namespace| namespace.value.as_str())),
        (Cluster::Both, "p", Some("clusters-a"))
    );
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(p.select.cluster_profile.as_deref(), Some("test"));
    assert_eq!(p.select.feature_set.as_deref(), Some("TechPreviewNoUpgrade"));
    assert_eq!(p.select.feature_gates, Some(set(&["A", "B"])));
    assert_eq!(p.select.major_version, Some(4));
    assert_eq!(p.select.exclude_identifier.as_deref(), Some("internal"));
    let capabilities = p.select.capabilities.as_ref().unwrap();
    assert_eq!(
        (&capabilities.enabled, &capabilities.known),
        (&set(&["Storage"]), &set(&["Insights", "Storage"]))
    );
}

#[test]
fn mistakes_come_all_at_once_with_line_and_hint() {
    let shown = refused(
        "apiVersion: transship.openshift.io/v1\nkind: Profil\nmetadata: {name: p, labels: {}}\ntopologie: x\n\
         cluster: [a]\nselect:\n  clusterProfil: x\n  majorVersion: -1\n  featureGates: A\n",
    );
    for message in [
        "error: profiles/p.yaml:2:7: `kind` cannot be `Profil`\n  help: did you mean `Profile`?",
        "error: profiles/p.yaml:3:21: metadata has no field `labels`\n  help: its fields are name",
        "error: profiles/p.yaml:4:1: a profile has no field `topologie`\n  help: did you mean `topology`?",
        "error: profiles/p.yaml:5:10: `cluster` must be text, not a list",
        "error: profiles/p.yaml:7:3: select has no field `clusterProfil`\n  help: did you mean `clusterProfile`?",
        "error: profiles/p.yaml:8:17: `majorVersion` must be a whole number, zero or more, not a number",
        "error: profiles/p.yaml:9:17: `featureGates` must be a list, not text",
    ] {
        assert!(shown.contains(message), "{message}\nis not in\n{shown}");
    }
}

#[test]
fn a_cluster_that_does_not_exist() {
    let shown = refused(&profile("p", "").replace("cluster: both", "cluster: mgmt"));
    assert_eq!(
        shown,
        "error: profiles/p.yaml:6:10: `cluster` cannot be `mgmt`\n  help: it is one of management, guest, both"
    );
}

#[test]
fn two_profiles_of_one_name_two_documents_no_profile() {
    let folder = Folder::new();
    folder.write("profiles/a.yaml", profile("p", ""));
    folder.write("profiles/b.yaml", profile("p", ""));
    let shown = folder.shown(&folder.profiles().unwrap_err());
    assert_eq!(
        shown,
        "error: profiles/b.yaml:1:1: a second profile `p`\n  note: the first is at profiles/a.yaml:1:1"
    );
    assert!(
        refused(&format!("{}---\na: 1\n", profile("p", "")))
            .contains("the file has 2 documents, it must have one")
    );
    let folder = Folder::new();
    folder.write("profiles/README.md", "nothing");
    assert!(
        folder
            .shown(&folder.profiles().unwrap_err())
            .starts_with("error: profiles: no profile in this folder")
    );
}

#[test]
fn a_key_written_twice_in_a_profile_is_an_error() {
    let shown = refused(&format!("{}topology: other\n", profile("p", "")));
    assert_eq!(
        shown,
        "error: profiles/p.yaml:9:1: the key `topology` is written twice\n  note: the first is at profiles/p.yaml:5:1\n  \
         help: remove one of them"
    );
}

#[test]
fn a_profile_that_does_not_exist_names_the_nearest() {
    let folder = Folder::with_payload(&[("a.yaml", &crate::support::config_map("a", "{}"))]);
    for (name, help) in [("tset", "did you mean `test`?"), ("standalone", "there are test")] {
        let run = folder.run(&["render", "--profile", name]);
        assert_eq!(run.code, 2);
        assert_eq!(run.stderr, format!("error: there is no profile `{name}`\n  help: {help}\n"));
    }
}

#[test]
fn names_become_paths_and_are_checked() {
    for name in ["../../escaped", "/abs", "A", "-a", ""] {
        let shown = refused(&profile("p", "").replace("name: p", &format!("name: \"{name}\"")));
        assert!(
            shown.starts_with(&format!("error: profiles/p.yaml:4:9: `name` cannot be `{name}`\n  help: ")),
            "{shown}"
        );
    }
    let folder = Folder::with_payload(&[("a.yaml", &crate::support::config_map("a", "{}"))]);
    folder.write("profiles/test.yaml", profile("test", "namespace: Not A/Name\n"));
    let shown = folder.shown(&folder.render().unwrap_err());
    assert!(
        shown.starts_with("error: profiles/test.yaml:9:12: `Not A/Name` is not a valid name for a namespace"),
        "{shown}"
    );
}

#[test]
fn a_profile_without_a_name_is_told_so_beside_its_other_mistakes() {
    let shown = refused("apiVersion: transship.openshift.io/v1\nkind: Profile\ntopology: x\ncluster: bth\n");
    assert!(
        shown.contains("a profile needs the field `metadata`") && shown.contains("`cluster` cannot be `bth`"),
        "{shown}"
    );
}

#[test]
fn selecting_nothing_is_an_error() {
    let folder = Folder::with_payload(&[("a.yaml", &crate::support::config_map("a", "{}"))]);
    folder.write(
        "profiles/test.yaml",
        profile("test", "").replace("clusterProfile: test", "clusterProfile: tset"),
    );
    for arguments in [&["render", "--profile", "test"][..], &["golden", "update"]] {
        let run = folder.run(arguments);
        assert_eq!(run.code, 2);
        assert_eq!(
            run.stderr,
            "error: the profile `test` selects none of the payload's 1 manifests\n  \
             note: 1 of them for this reason: cluster-profile: include.release.openshift.io/tset unset\n  \
             help: check the names in `select`\n"
        );
    }
}

#[test]
fn errors_of_all_profiles_come_at_once() {
    let folder = Folder::with_payload(&[("a.yaml", &crate::support::config_map("a", "{}"))]);
    for name in ["one", "two"] {
        folder.write(
            &format!("profiles/{name}.yaml"),
            profile(name, "").replace("clusterProfile: test", "clusterProfile: nobody"),
        );
    }
    let run = folder.run(&["golden", "check"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("the profile `one` selects") && run.stderr.contains("the profile `two` selects"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_profile_needs_its_topology_and_cluster_from_somewhere() {
    let shown = refused("apiVersion: transship.openshift.io/v1\nkind: Profile\nmetadata: {name: p}\n");
    assert_eq!(
        shown,
        "error: profiles/p.yaml:1:1: a profile needs the field `topology`\n\
         error: profiles/p.yaml:1:1: a profile needs the field `cluster`"
    );
}
