//! `diff --live`: asks the API server with dry-run requests which fields an apply would change.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::apply::cluster::error::error_about;
use crate::apply::cluster::live_cluster::{LiveCluster, TargetCluster};
use crate::apply::cluster::options::Options;
use crate::apply::decide::decision::{Decision, DecisionInput};
use crate::apply::decide::event::{Event, cluster_name, single_line};
use crate::apply::decide::json_fields::without_server_fields;
use crate::apply::decide::object_error::{ObjectError, WaitHint};
use crate::apply::decide::rollout::Step;
use crate::apply::object::adopt::dry_run_existing;
use crate::apply::object::object_task::ObjectTask;
use crate::apply::object::server_side_apply::DryRunOutcome;
use crate::apply::run::clusters::{plan_rollout, read_clusters};
use crate::diagnostic::Diagnostic;
use crate::object::{Cluster, ObjectId, SensitiveTexts, mask};
use crate::show;
use crate::yaml::Node;

/// An object that an apply would change.
pub struct LiveChange {
    /// The cluster.
    pub cluster: Cluster,
    /// The object.
    pub object: ObjectId,
    /// The object before and after, or why it is unknown.
    result: Result<BeforeAfter, String>,
}

/// An object before and after an apply; `None` if it does not exist.
#[derive(PartialEq)]
struct BeforeAfter {
    before: Option<Node>,
    after: Option<Node>,
}

impl BeforeAfter {
    /// Reads both versions, and marks the values that are sensitive in the rendered object.
    fn new(before: Option<Value>, after: Option<Value>, rendered: &Node) -> Self {
        let texts = SensitiveTexts::of([rendered]);
        let protected = |object: Option<Value>| {
            let mut node = Node::from(&without_server_fields(object?));
            mask::protect_like(&mut node, rendered);
            texts.protect(&mut node);
            Some(node)
        };
        Self { before: protected(before), after: protected(after) }
    }
}

impl LiveChange {
    /// Formats the change as a line of JSON.
    pub fn json(&self) -> String {
        let ObjectId { group, kind, namespace, name } = &self.object;
        let (change, fields, message) = match &self.result {
            Err(reason) => ("unknown", Vec::new(), reason.as_str()),
            Ok(objects) => match (&objects.before, &objects.after) {
                (Some(before), Some(after)) => ("changed", show::fields(before, after), ""),
                (None, Some(_)) => ("created", Vec::new(), ""),
                (_, None) => ("deleted", Vec::new(), ""),
            },
        };
        json!({
            "cluster": self.cluster.name(), "change": change, "fields": fields, "message": message,
            "object": {"group": group, "kind": kind, "namespace": namespace, "name": name},
        })
        .to_string()
    }

    /// Formats the change as text: the object, and one line per field.
    pub fn text(&self) -> String {
        let title = format!("{:<10} {}", cluster_name(self.cluster), self.object);
        match &self.result {
            Err(reason) => format!("{title} {}\n", single_line(reason)),
            Ok(objects) => match (&objects.before, &objects.after) {
                (Some(before), Some(after)) => {
                    format!("{title}\n  {}\n", show::fields(before, after).join("\n  "))
                }
                (None, Some(_)) => format!("{title} would be created\n"),
                (_, None) => format!("{title} would be deleted\n"),
            },
        }
    }
}

/// Asks the clusters what an apply would change. Events report clusters that cannot be read.
pub async fn diff_live(
    targets: Vec<TargetCluster<'_>>,
    options: &Options,
    mut on_event: impl FnMut(&Event) + Send,
) -> Result<Vec<LiveChange>, Diagnostic> {
    let rollout = plan_rollout(&targets)?;
    let clusters = read_clusters(&targets, options, &mut |event: Event| on_event(&event)).await;
    let mut changes = Vec::new();
    for step in &rollout.steps {
        if let Some(cluster) = &clusters[step.cluster.0] {
            changes.push(find_change(cluster, step, options));
        }
    }
    Ok(join_all(changes).await.into_iter().flatten().collect())
}

/// Returns what an apply would change in an object; `None` if nothing.
async fn find_change(cluster: &LiveCluster<'_>, step: &Step<'_>, options: &Options) -> Option<LiveChange> {
    let result = predict(cluster, step, options).await;
    let result = result.map_err(|reason| step.mask(&reason));
    if result.as_ref().is_ok_and(|objects| objects.before == objects.after) {
        return None;
    }
    Some(LiveChange { cluster: cluster.cluster, object: step.object.id.clone(), result })
}

/// Returns an object before and after an apply, or why it is unknown.
async fn predict(
    cluster: &LiveCluster<'_>,
    step: &Step<'_>,
    options: &Options,
) -> Result<BeforeAfter, String> {
    let Step { object, action, .. } = *step;
    let live = cluster.find(object).await;
    let live = live.map_err(|error| format!("cannot be read: {}", error_about(&error, object)))?;
    let desired = cluster.desired(object);
    let input = DecisionInput { id: &object.id, action, desired: &desired };
    let decision = cluster.decision_context(options).decide(&input, live.as_ref());
    let decision = decision.map_err(|error| rejected(&error))?;
    let after = match (decision, &live, cluster.path(object)) {
        (Decision::Skip, live, _) => live.clone(),
        (Decision::Delete, _, _) => None,
        // A dry run is not possible if the namespace or the kind does not exist yet.
        (Decision::Create | Decision::Apply { .. }, None, _) => Some(desired.with_seed()),
        (Decision::Create, Some(live), _) => Some(live.clone()),
        (Decision::Apply { .. }, Some(_), None) => {
            let (kind, hint) = (object.id.kind_and_group(), WaitHint::Omit);
            return Err(rejected(&ObjectError::KindNotServed { kind, hint }));
        }
        (Decision::Apply { fields, on_conflict, .. }, Some(live), Some(path)) => {
            let task = ObjectTask::new(cluster, object, path, options);
            let outcome = dry_run_existing(&task, &fields, on_conflict, live).await;
            // The object is shown at the end.
            task.keep_memory();
            Some(object_after(outcome.map_err(|error| rejected(&error))?)?)
        }
    };
    Ok(BeforeAfter::new(live, after, &object.root))
}

fn rejected(error: &ObjectError) -> String {
    format!("would be rejected: {error}")
}

fn object_after(outcome: DryRunOutcome) -> Result<Value, String> {
    match outcome {
        DryRunOutcome::Written(after) => Ok(after),
        DryRunOutcome::VersionNotServed(version) => Err(format!(
            "would be changed, but the API server cannot say how: its managed fields are recorded in {version}, \
             which is no longer served"
        )),
        DryRunOutcome::Recreated { reason } => Err(format!("would be recreated: {reason}")),
    }
}
