//! Rights and the rules that grant them.

use proptest::prelude::*;

use super::{Rights, TooManyRights};
use crate::object::role_rule::RoleRule;
use crate::yaml::{SourceId, Text, read};

/// Reads rules that are written one per line.
fn rules(text: &str) -> Vec<RoleRule> {
    let document = read(text, SourceId::default()).unwrap().pop();
    document.map_or_else(Vec::new, |document| {
        document.root.as_list().unwrap().iter().map(RoleRule::read).collect()
    })
}

fn rights(text: &str) -> Rights {
    Rights::of(&rules(text)).unwrap()
}

/// Returns the rules for the rights that are missing.
fn missing(have: &str, need: &str) -> Vec<String> {
    rights(have).missing(&rights(need)).rules().iter().map(ToString::to_string).collect()
}

#[test]
fn missing_rights_are_those_that_no_rule_grants() {
    for (have, need, expected) in [
        // Verbs, resources and groups come from different rules.
        (
            "- {apiGroups: [\"\"], resources: [pods], verbs: [get]}\n- {apiGroups: [\"\"], resources: [pods], verbs: [list]}",
            "- {apiGroups: [\"\"], resources: [pods], verbs: [get, list]}",
            &[][..],
        ),
        (
            "- {apiGroups: [apps], resources: [pods], verbs: [get]}",
            "- {apiGroups: [\"\"], resources: [pods], verbs: [get]}",
            &["- {apiGroups: [\"\"], resources: [pods], verbs: [get]}"],
        ),
        // A wildcard includes everything, but is included only by itself.
        (
            "- {apiGroups: [\"*\"], resources: [\"*\"], verbs: [\"*\"]}",
            "- {apiGroups: [a], resources: [b, c/d], resourceNames: [e], verbs: [f]}",
            &[],
        ),
        (
            "- {apiGroups: [a], resources: [b], verbs: [get, list, watch]}",
            "- {apiGroups: [a], resources: [b], verbs: [\"*\"]}",
            &["- {apiGroups: [a], resources: [b], verbs: [\"*\"]}"],
        ),
        // A resource does not include its subresources; `*/scale` is the subresource of every resource.
        (
            "- {apiGroups: [apps], resources: [deployments], verbs: [get]}",
            "- {apiGroups: [apps], resources: [deployments/scale], verbs: [get]}",
            &["- {apiGroups: [apps], resources: [deployments/scale], verbs: [get]}"],
        ),
        (
            "- {apiGroups: [apps], resources: [\"*/scale\"], verbs: [get]}",
            "- {apiGroups: [apps], resources: [deployments/scale, deployments/status], verbs: [get]}",
            &["- {apiGroups: [apps], resources: [deployments/status], verbs: [get]}"],
        ),
        (
            "- {apiGroups: [apps], resources: [\"deployments/*\"], verbs: [get]}",
            "- {apiGroups: [apps], resources: [deployments/scale], verbs: [get]}",
            &["- {apiGroups: [apps], resources: [deployments/scale], verbs: [get]}"],
        ),
        // A rule without names is for all objects.
        (
            "- {apiGroups: [\"\"], resources: [secrets], resourceNames: [a], verbs: [get]}",
            "- {apiGroups: [\"\"], resources: [secrets], resourceNames: [a, b], verbs: [get]}",
            &["- {apiGroups: [\"\"], resources: [secrets], resourceNames: [b], verbs: [get]}"],
        ),
        (
            "- {apiGroups: [\"\"], resources: [secrets], resourceNames: [a], verbs: [get]}",
            "- {apiGroups: [\"\"], resources: [secrets], verbs: [get]}",
            &["- {apiGroups: [\"\"], resources: [secrets], verbs: [get]}"],
        ),
        (
            "- {apiGroups: [\"\"], resources: [secrets], verbs: [get]}",
            "- {apiGroups: [\"\"], resources: [secrets], resourceNames: [a], verbs: [get]}",
            &[],
        ),
        // `*` at the end of a URL.
        (
            "- {nonResourceURLs: [\"/healthz/*\"], verbs: [get]}",
            "- {nonResourceURLs: [/healthz, /healthz/etcd, \"/healthz/a*\"], verbs: [get]}",
            &["- {nonResourceURLs: [/healthz], verbs: [get]}"],
        ),
        (
            "- {nonResourceURLs: [\"*\"], verbs: [get]}",
            "- {nonResourceURLs: [/metrics], verbs: [get, post]}",
            &["- {nonResourceURLs: [/metrics], verbs: [post]}"],
        ),
    ] {
        assert_eq!(missing(have, need), expected, "{have}\n{need}");
    }
}

#[test]
fn rules_are_merged_and_sorted() {
    let merged = rights(
        "\
- {apiGroups: [\"\"], resources: [secrets], resourceNames: [b], verbs: [delete, get]}
- {apiGroups: [\"\"], resources: [secrets], resourceNames: [a], verbs: [get]}
- {apiGroups: [\"\"], resources: [secrets], resourceNames: [a], verbs: [delete]}
- {apiGroups: [\"\"], resources: [pods, configmaps], verbs: [approve, update, get]}
- {apiGroups: [\"\"], resources: [pods], resourceNames: [a], verbs: [get]}
- {apiGroups: [apps], resources: [\"*\"], verbs: [get]}
- {apiGroups: [apps], resources: [deployments], verbs: [get, list]}
- {nonResourceURLs: [/a, \"/b*\", /b/c], verbs: [get]}",
    );
    let written: Vec<String> = merged.rules().iter().map(ToString::to_string).collect();
    assert_eq!(
        written,
        [
            "- {apiGroups: [\"\"], resources: [configmaps, pods], verbs: [get, update, approve]}",
            "- {apiGroups: [\"\"], resources: [secrets], resourceNames: [a, b], verbs: [get, delete]}",
            "- {apiGroups: [apps], resources: [\"*\"], verbs: [get]}",
            "- {apiGroups: [apps], resources: [deployments], verbs: [list]}",
            "- {nonResourceURLs: [/a, \"/b*\"], verbs: [get]}",
        ]
    );
}

#[test]
fn texts_that_yaml_would_read_differently_are_quoted() {
    let rule = RoleRule {
        resource_names: ["a", "", "no", "1", "a, b", "a: b", "-", "system:x"].map(Text::from).to_vec(),
        ..RoleRule::default()
    };
    let text = rule.to_string();
    assert_eq!(text, r#"- {resourceNames: [a, "", "no", "1", "a, b", "a: b", "-", system:x]}"#);
    assert_eq!(rules(&text), [rule]);
}

#[test]
fn a_rule_with_too_many_rights_is_refused() {
    let many: Vec<Text> = (0..400).map(|number| format!("a{number}").into()).collect();
    let rule =
        RoleRule { api_groups: vec!["".into()], resources: many.clone(), verbs: many, ..RoleRule::default() };
    assert_eq!(Rights::of(&[rule]), Err(TooManyRights));
}

fn texts(choices: &'static [&'static str]) -> impl Strategy<Value = Vec<Text>> {
    let choice = proptest::sample::select(choices).prop_map(Text::from);
    proptest::collection::vec(choice, 1..3)
}

fn rule() -> impl Strategy<Value = RoleRule> {
    let names = prop_oneof![Just(Vec::new()), texts(&["a", "b"])];
    let verbs = || texts(&["get", "list", "*"]);
    let resources = texts(&["pods", "pods/status", "*/status", "*", "secrets"]);
    prop_oneof![
        (texts(&["", "apps", "*"]), resources, names, verbs()).prop_map(
            |(api_groups, resources, resource_names, verbs)| RoleRule {
                api_groups,
                resources,
                resource_names,
                verbs,
                ..RoleRule::default()
            }
        ),
        (texts(&["/a", "/a/b", "/a*", "*", "/a**"]), verbs()).prop_map(|(non_resource_urls, verbs)| {
            RoleRule { non_resource_urls, verbs, ..RoleRule::default() }
        }),
    ]
}

fn some_rights() -> impl Strategy<Value = Rights> {
    proptest::collection::vec(rule(), 0..4).prop_map(|rules| Rights::of(&rules).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn covering_is_reflexive_and_transitive(a in some_rights(), b in some_rights(), c in some_rights()) {
        prop_assert!(a.missing(&a).is_empty());
        if a.missing(&b).is_empty() && b.missing(&c).is_empty() {
            prop_assert!(a.missing(&c).is_empty());
        }
        let everything = rights("- {apiGroups: [\"*\"], resources: [\"*\"], verbs: [\"*\"]}\n- {nonResourceURLs: [\"*\"], verbs: [\"*\"]}");
        prop_assert!(everything.missing(&a).is_empty());
    }

    #[test]
    fn merged_rules_grant_the_same_rights(a in some_rights()) {
        let merged = Rights::of(&a.rules()).unwrap();
        prop_assert!(merged.missing(&a).is_empty());
        prop_assert!(a.missing(&merged).is_empty());
        prop_assert_eq!(merged.rules(), a.rules());
    }
}
