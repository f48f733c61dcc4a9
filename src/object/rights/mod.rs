//! The rights that the rules of Roles and ClusterRoles grant, and whether one set of rights covers another.
//!
//! Kubernetes compares rules in the same way before it lets a user create a Role
//! (`k8s.io/component-helpers/auth/rbac/validation`). A test compares this module with that code.

// A test of the library, but only modules here may use this one.
#[cfg(test)]
#[path = "../../../tests/differential/rights.rs"]
mod differential;
mod merge;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::role_rule::RoleRule;
use crate::yaml::Text;

/// All API groups, resources or verbs.
const ALL: &str = "*";

/// The largest number of rights in a set. A rule grants the product of its lists, so a short one can grant millions.
const MAX_RIGHTS: usize = 100_000;

/// One verb on one resource, on one object or on one URL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Right {
    /// On the objects of a resource.
    Resource {
        group: Text,
        resource: Text,
        /// The name of the object; `None` for all objects.
        name: Option<Text>,
        verb: Text,
    },
    /// On a URL that belongs to no resource. It may end with `*`.
    Url { url: Text, verb: Text },
}

/// A set of rights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rights(BTreeSet<Right>);

/// Rules that grant more than [`MAX_RIGHTS`] rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyRights;

impl Rights {
    /// Returns the rights that rules grant.
    pub(crate) fn of(rules: &[RoleRule]) -> Result<Self, TooManyRights> {
        let mut rights = Self::default();
        for rule in rules {
            rights.add(rule)?;
        }
        Ok(rights)
    }

    /// Adds the rights that a rule grants.
    pub(crate) fn add(&mut self, rule: &RoleRule) -> Result<(), TooManyRights> {
        if self.0.len().saturating_add(count(rule)) > MAX_RIGHTS {
            return Err(TooManyRights);
        }
        let names: Vec<Option<Text>> = match rule.resource_names.as_slice() {
            [] => vec![None],
            names => names.iter().cloned().map(Some).collect(),
        };
        for verb in &rule.verbs {
            for group in &rule.api_groups {
                for resource in &rule.resources {
                    for name in &names {
                        let (group, resource) = (group.clone(), resource.clone());
                        self.insert(Right::Resource {
                            group,
                            resource,
                            name: name.clone(),
                            verb: verb.clone(),
                        });
                    }
                }
            }
            for url in &rule.non_resource_urls {
                self.insert(Right::Url { url: url.clone(), verb: verb.clone() });
            }
        }
        Ok(())
    }

    /// Adds all rights, as `cluster-admin` has them.
    pub(crate) fn add_everything(&mut self) {
        let all = || Text::from(ALL);
        self.insert(Right::Resource { group: all(), resource: all(), name: None, verb: all() });
        self.insert(Right::Url { url: all(), verb: all() });
    }

    /// Adds the rights of another set.
    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Adds one right.
    pub(crate) fn insert(&mut self, mut right: Right) {
        // Kubernetes reads several `*` at the end of a URL as one.
        if let Right::Url { url, .. } = &mut right
            && url.ends_with("**")
        {
            *url = format!("{}*", url.trim_end_matches('*')).into();
        }
        self.0.insert(right);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the set contains a right, or one that includes it.
    pub(crate) fn covers(&self, right: &Right) -> bool {
        self.0.contains(right) || self.includes(right)
    }

    /// Returns the rights of another set that this set does not cover.
    pub(crate) fn missing(&self, needed: &Self) -> Self {
        Self(needed.0.iter().filter(|right| !self.covers(right)).cloned().collect())
    }

    /// Returns whether the set contains a broader right.
    fn includes(&self, right: &Right) -> bool {
        match right {
            Right::Resource { group, resource, name, verb } => {
                let names = if name.is_some() { vec![name.clone(), None] } else { vec![None] };
                for (group, resource) in broader_resources(group, resource) {
                    for verb in [verb.clone(), ALL.into()] {
                        for name in names.clone() {
                            let (group, resource, verb) = (group.clone(), resource.clone(), verb.clone());
                            let broader = Right::Resource { group, resource, name, verb };
                            if broader != *right && self.0.contains(&broader) {
                                return true;
                            }
                        }
                    }
                }
                false
            }
            Right::Url { url, verb } => {
                let patterns = broader_urls(url).chain([url.clone()]);
                let mut broader = patterns.flat_map(|url| {
                    [verb.clone(), ALL.into()].map(|verb| Right::Url { url: url.clone(), verb })
                });
                broader.any(|broader| broader != *right && self.0.contains(&broader))
            }
        }
    }
}

/// Returns how many rights a rule grants.
fn count(rule: &RoleRule) -> usize {
    let names = rule.resource_names.len().max(1);
    let resources = rule.api_groups.len().saturating_mul(rule.resources.len()).saturating_mul(names);
    resources.saturating_add(rule.non_resource_urls.len()).saturating_mul(rule.verbs.len())
}

/// Returns a group and a resource, and the wildcards that include them. `*/scale` includes `deployments/scale`.
fn broader_resources(group: &Text, resource: &Text) -> Vec<(Text, Text)> {
    let mut resources = vec![resource.clone(), ALL.into()];
    if let Some((_, subresource)) = resource.split_once('/') {
        resources.push(format!("*/{subresource}").into());
    }
    let mut broader = Vec::new();
    for group in [group.clone(), ALL.into()] {
        broader.extend(resources.iter().map(|resource| (group.clone(), resource.clone())));
    }
    broader
}

/// Returns the patterns with one `*` that include a URL.
fn broader_urls(url: &str) -> impl Iterator<Item = Text> {
    let ends = url.char_indices().map(|(end, _)| end).chain([url.len()]);
    ends.map(|end| Text::from(format!("{}*", &url[..end])))
}
