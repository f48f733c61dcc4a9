//! Compares rights with Kubernetes' own Go code, on generated rules.
//!
//! `TRANSSHIP_DIFFERENTIAL` is the number of pairs, and `TRANSSHIP_SEED` the first seed.

#[path = "../../crates/kubernetes-yaml/tests/differential/oracle.rs"]
mod oracle;
#[path = "../../crates/kubernetes-yaml/tests/differential/random.rs"]
mod random;

use std::path::Path;

use oracle::Oracle;
use random::Random;
use serde_json::Value as Json;

use super::{Right, Rights};
use crate::object::role_rule::RoleRule;
use crate::yaml::{Node, Text, json};

/// How many pairs are sent to one process.
const BATCH: u64 = 20_000;

fn environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

#[test]
fn rights_are_covered_as_in_kubernetes() {
    let Some(oracle) = Oracle::build(Path::new(env!("CARGO_MANIFEST_DIR")), "rbac-covers") else { return };
    let first = environment("TRANSSHIP_SEED", 1);
    let end = first + environment("TRANSSHIP_DIFFERENTIAL", 4_000);
    let (mut covered, mut uncovered) = (0, 0);
    for start in (first..end).step_by(usize::try_from(BATCH).unwrap()) {
        let pairs: Vec<_> = (start..end.min(start + BATCH)).map(pair).collect();
        let requests: Vec<_> = pairs.iter().map(|(have, need)| [written(have), written(need)]).collect();
        for ((have, need), answer) in pairs.iter().zip(oracle.ask(&requests)) {
            let expected = kubernetes_answer(&answer.unwrap());
            let ours = Rights::of(have).unwrap().missing(&Rights::of(need).unwrap());
            assert_eq!(ours, expected, "\nhave {have:?}\nneed {need:?}");
            *if ours.is_empty() { &mut covered } else { &mut uncovered } += 1;
        }
    }
    assert!(covered > 100 && uncovered > 100, "{covered} covered, {uncovered} not");
}

fn written(rules: &[RoleRule]) -> String {
    let rules: Vec<String> = rules.iter().map(|rule| json::write(&rule.node())).collect();
    format!("[{}]", rules.join(","))
}

/// Reads the rights that Kubernetes says are missing. Each of its rules grants one.
fn kubernetes_answer(answer: &[u8]) -> Rights {
    let rules: Json = serde_json::from_slice(answer).unwrap();
    let rules: Vec<RoleRule> =
        rules.as_array().unwrap().iter().map(|rule| RoleRule::read(&Node::from(rule))).collect();
    Rights::of(&rules).unwrap()
}

fn pair(seed: u64) -> (Vec<RoleRule>, Vec<RoleRule>) {
    let mut random = Random::new(seed);
    (some_rules(&mut random, 4), some_rules(&mut random, 2))
}

fn some_rules(random: &mut Random, most: usize) -> Vec<RoleRule> {
    (0..=random.below(most)).map(|_| rule(random)).collect()
}

fn rule(random: &mut Random) -> RoleRule {
    let verbs = some(random, &["get", "list", "create", "escalate", "*"]);
    if random.one_in(4) {
        let urls = ["/a", "/a/b", "/a/*", "/a*", "*", "/a**", "/*/b", "/ä*", "/ä"];
        return RoleRule { verbs, non_resource_urls: some(random, &urls), ..RoleRule::default() };
    }
    let resources = ["pods", "pods/status", "pods/log/x", "*/status", "*/log/x", "pods/*", "*", "*/*", ""];
    let resource_names = if random.one_in(3) { some(random, &["a", "b", "*", ""]) } else { Vec::new() };
    RoleRule {
        api_groups: some(random, &["", "apps", "*", "apps*"]),
        resources: some(random, &resources),
        resource_names,
        verbs,
        ..RoleRule::default()
    }
}

fn some(random: &mut Random, choices: &[&str]) -> Vec<Text> {
    (0..=random.below(3)).map(|_| random.pick(choices).into()).collect()
}

/// A right is never compared by its parts alone.
#[test]
fn generated_rules_have_wildcards_and_names() {
    let rights: Vec<Right> = (1..200).flat_map(|seed| Rights::of(&pair(seed).0).unwrap().0).collect();
    let is_named = |right: &Right| matches!(right, Right::Resource { name: Some(_), .. });
    let is_wild = |right: &Right| matches!(right, Right::Resource { verb, .. } if verb == "*");
    assert!(rights.iter().any(is_named) && rights.iter().any(is_wild));
}
