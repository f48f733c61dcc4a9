//! Writes a set of rights as few rules.

use std::collections::{BTreeMap, BTreeSet};

use super::{Right, Rights};
use crate::object::role_rule::RoleRule;
use crate::yaml::Text;

/// The usual order of verbs. Others follow in alphabetical order.
const VERBS: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/// The verbs of a rule.
type Verbs = BTreeSet<Text>;
/// The names of a rule; `None` for all objects.
type Names = Option<BTreeSet<Text>>;

impl Rights {
    /// Returns rules that grant these rights. Leaves out rights that a broader right includes, and merges rights in one
    /// API group that have the same verbs.
    pub(crate) fn rules(&self) -> Vec<RoleRule> {
        let needed: BTreeSet<&Right> = self.0.iter().filter(|right| !self.includes(right)).collect();
        let mut rules = resource_rules(&needed);
        rules.extend(url_rules(&needed));
        rules
    }
}

fn resource_rules(needed: &BTreeSet<&Right>) -> Vec<RoleRule> {
    let mut verbs_of: BTreeMap<(&Text, &Text, &Option<Text>), Verbs> = BTreeMap::new();
    for right in needed {
        if let Right::Resource { group, resource, name, verb } = right {
            verbs_of.entry((group, resource, name)).or_default().insert(verb.clone());
        }
    }
    let mut names_of: BTreeMap<(&Text, &Text, bool, Verbs), BTreeSet<Text>> = BTreeMap::new();
    for ((group, resource, name), verbs) in verbs_of {
        names_of.entry((group, resource, name.is_some(), verbs)).or_default().extend(name.clone());
    }
    let mut resources_of: BTreeMap<(&Text, Verbs, Names), BTreeSet<Text>> = BTreeMap::new();
    for ((group, resource, is_named, verbs), names) in names_of {
        let names = is_named.then_some(names);
        resources_of.entry((group, verbs, names)).or_default().insert(resource.clone());
    }
    let mut rules = Vec::new();
    for ((group, verbs, names), resources) in resources_of {
        rules.push(RoleRule {
            api_groups: vec![group.clone()],
            resources: resources.into_iter().collect(),
            resource_names: names.into_iter().flatten().collect(),
            verbs: in_usual_order(verbs),
            ..RoleRule::default()
        });
    }
    // Sorted by resource, because readers look for a resource.
    rules.sort();
    rules
}

fn url_rules(needed: &BTreeSet<&Right>) -> Vec<RoleRule> {
    let mut verbs_of: BTreeMap<&Text, Verbs> = BTreeMap::new();
    for right in needed {
        if let Right::Url { url, verb } = right {
            verbs_of.entry(url).or_default().insert(verb.clone());
        }
    }
    let mut urls_of: BTreeMap<Verbs, Vec<Text>> = BTreeMap::new();
    for (url, verbs) in verbs_of {
        urls_of.entry(verbs).or_default().push(url.clone());
    }
    let mut rules = Vec::new();
    for (verbs, non_resource_urls) in urls_of {
        rules.push(RoleRule { non_resource_urls, verbs: in_usual_order(verbs), ..RoleRule::default() });
    }
    rules
}

fn in_usual_order(verbs: Verbs) -> Vec<Text> {
    let mut verbs: Vec<Text> = verbs.into_iter().collect();
    verbs.sort_by_key(|verb| VERBS.iter().position(|usual| usual == verb).unwrap_or(VERBS.len()));
    verbs
}
