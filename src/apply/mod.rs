//! Where the network begins: everything that talks to a cluster, and nothing else does.
//!
//! | module | what |
//! |---|---|
//! | `client`, `server`, `gate`, `failure` | requests and their answers |
//! | `rollout` | what is done before what: pure |
//! | `body`, `fields` | what is sent, and whose fields are whose: pure |
//! | `inventory`, `prune` | what is ours, and what of it may go: pure |
//! | `ready` | when an object is what it says: pure |
//! | `side`, `step`, `run`, `remove` | a cluster, an object, all of them, and away again |
//! | `preview`, `live` | what would be done, and what would change |

mod body;
mod client;
mod event;
mod failure;
mod fields;
mod gate;
mod inventory;
mod kinds;
mod live;
mod preview;
mod prune;
mod ready;
mod remove;
mod rollout;
mod run;
mod server;
mod side;
mod step;
mod wait_for;

use std::time::Duration;

use kube::Client;
use tokio::time::Instant;

pub use client::{Endpoint, connect};
pub use event::{Event, Summary, What};
pub use inventory::{Entry, Home, Inventory};
pub use live::{Change, changes};
pub use preview::preview;
pub use prune::{Approval, Leaving, leaving};
pub use ready::{Readiness, readiness};
pub use rollout::{Action, Half, Need, Rollout, Step};
pub use wait_for::{Awaited, Progress, Seen, wait_for};

use crate::object::{Cluster, ObjectId, is_tombstone};
use crate::order::Plan;
use crate::profile::{Profile, Selector};

use body::Policy;
use failure::Failure;
use run::{Ended, Run};
use server::Server;
use side::Side;

/// Whose fields are ours.
pub const MANAGER: &str = "transship";
/// Whose fields are given once and then left to others.
const SEEDER: &str = "transship-seed";

/// One cluster to roll out to, or to clear.
pub struct Target<'a> {
    /// Which it is.
    pub cluster: Cluster,
    /// How to reach it.
    pub client: Client,
    /// The profile, which says what is left to others.
    pub profile: &'a Profile,
    /// The objects that belong there.
    pub plan: &'a Plan,
    /// Where its inventory is.
    pub home: Home,
}

/// How it is done.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether everything must become ready.
    pub wait: bool,
    /// How long all of it may take.
    pub timeout: Duration,
    /// How long one request is tried again.
    pub patience: Duration,
    /// Whether objects that others made are taken over.
    pub adopt: bool,
    /// What may be taken away and made again where it cannot be changed, beside Jobs.
    pub recreate: Vec<Selector>,
    /// Whether what left the payload is taken away.
    pub prune: bool,
    /// What somebody has allowed of that.
    pub approval: Approval,
    /// When it began.
    pub begun: Instant,
}

impl Options {
    fn deadline(&self) -> Instant {
        self.begun + self.timeout
    }

    fn may_recreate(&self, id: &ObjectId) -> bool {
        let job = id.group == "batch" && id.kind == "Job";
        job || self.recreate.iter().any(|selector| selector.matches(id))
    }
}

/// Makes clusters what was rendered for them. What happens is told as it does; an error is one that is found before
/// anything is done.
pub async fn apply(
    targets: Vec<Target<'_>>,
    options: &Options,
    mut tell: impl FnMut(&Event),
) -> Result<Summary, String> {
    let is_empty = |target: &&Target<'_>| target.plan.objects.iter().all(|object| is_tombstone(&object.root));
    if let Some(target) = targets.iter().find(is_empty) {
        return Err(format!(
            "nothing was rendered for the {} cluster, and that is never meant",
            target.cluster.name()
        ));
    }
    let halves: Vec<Half<'_>> =
        targets.iter().map(|target| Half { cluster: target.cluster, plan: target.plan }).collect();
    let rollout = Rollout::of(&halves).map_err(|circle| self::circle(&circle))?;
    let mut summary = Summary::default();
    let mut tell = |event: Event| {
        summary.count(&event);
        tell(&event);
    };
    let mut sides = look(targets, options, &mut tell).await;
    for (half, side) in sides.iter_mut().enumerate() {
        let written = match side {
            Some(side) => write_ahead(side, &rollout, half).await,
            None => Ok(()),
        };
        if let (Err(why), Some(known)) = (written, side.as_ref()) {
            tell(Event::of_cluster(known.cluster, What::Failed, why));
            *side = None;
        }
    }
    let ended = Run::new(&rollout, &sides, options, &mut tell).walk().await;
    for (half, side) in sides.iter().enumerate() {
        if let Some(side) = side {
            finish(side, half, &rollout, &ended, options, &mut tell).await;
        }
    }
    Ok(summary)
}

fn circle(members: &[String]) -> String {
    format!("these wait for each other, so none can be first: {}", members.join(", which waits for "))
}

/// Looks at all clusters at once. One that does not answer is told, and left out.
async fn look<'a>(
    targets: Vec<Target<'a>>,
    options: &Options,
    tell: &mut dyn FnMut(Event),
) -> Vec<Option<Side<'a>>> {
    let looks = targets.into_iter().map(|target| async move {
        let Target { cluster, client, profile, plan, home } = target;
        let policy = Policy::of(profile, &plan.objects, home.set());
        let server = Server::new(client, options.patience);
        (cluster, Side::look(cluster, server, home, policy, &plan.objects).await)
    });
    let mut sides = Vec::new();
    for (cluster, side) in futures_util::future::join_all(looks).await {
        sides.push(side.map_err(|failure| tell(lost(cluster, &failure))).ok());
    }
    sides
}

fn lost(cluster: Cluster, failure: &Failure) -> Event {
    let what = if matches!(failure, Failure::NoAnswer(_)) { What::Lost } else { What::Failed };
    Event::of_cluster(cluster, what, failure.words(false))
}

/// Everything that will be there is in the inventory before it is: whatever cuts us off, nothing is forgotten.
async fn write_ahead(side: &Side<'_>, rollout: &Rollout<'_>, half: usize) -> Result<(), String> {
    let mut ahead = side.known.clone();
    for step in rollout.steps.iter().filter(|step| step.half == half && step.action != Action::Delete) {
        if ahead.find(&step.object.id).is_none() {
            ahead.entries.push(Entry::ahead(&step.object.id, side::version_of(step.object)));
        }
    }
    if ahead == side.known { Ok(()) } else { side.write_inventory(&ahead).await }
}

/// Takes away what left, if all went well, and says in the inventory what is there now.
async fn finish(
    side: &Side<'_>,
    half: usize,
    rollout: &Rollout<'_>,
    ended: &Ended,
    options: &Options,
    tell: &mut dyn FnMut(Event),
) {
    let own: Vec<usize> = (0..rollout.steps.len()).filter(|at| rollout.steps[*at].half == half).collect();
    let alive = |at: &&usize| !is_tombstone(&rollout.steps[**at].object.root);
    let wanted: Vec<ObjectId> =
        own.iter().filter(alive).map(|at| rollout.steps[*at].object.id.clone()).collect();
    let all_done = ended.done.iter().all(|done| *done);
    let leaving = leaving(&side.known, &wanted, options.approval);
    let mut stay: Vec<Entry> = Vec::new();
    for (entry, why) in leaving.held {
        tell(held(side, &entry, why));
        stay.push(entry);
    }
    let mut now: Vec<Entry> =
        own.iter().filter(alive).map(|at| entry_of(side, rollout, ended, *at)).collect();
    let installed = side.known.installed || all_done;
    if options.prune && all_done {
        // Whoever has written the inventory since we read it wants what we would take away.
        let with_leaving = now.iter().chain(&stay).chain(&leaving.go).cloned().collect();
        let still_ours = Inventory { installed, entries: with_leaving };
        if !leaving.go.is_empty()
            && let Err(why) = side.write_inventory(&still_ours).await
        {
            return tell(Event::of_cluster(side.cluster, What::Failed, why));
        }
        stay.extend(remove::remove(side, leaving.go, What::Pruned, options.deadline(), tell).await);
    } else {
        let why = if options.prune { "not everything else is done" } else { "--prune takes it away" };
        for entry in leaving.go {
            tell(held(side, &entry, why.to_owned()));
            stay.push(entry);
        }
    }
    now.extend(stay);
    let now = Inventory { installed, entries: now };
    if now != side.known
        && let Err(why) = side.write_inventory(&now).await
    {
        tell(Event::of_cluster(side.cluster, What::Failed, why));
    }
}

/// What the inventory says of an object from now on.
fn entry_of(side: &Side<'_>, rollout: &Rollout<'_>, ended: &Ended, at: usize) -> Entry {
    let object = rollout.steps[at].object;
    let known = ended.entries.get(&at).or_else(|| side.known.find(&object.id));
    known.cloned().unwrap_or_else(|| Entry::ahead(&object.id, side::version_of(object)))
}

fn held(side: &Side<'_>, entry: &Entry, message: String) -> Event {
    Event::of_object(side.cluster, &entry.id, What::Held, message)
}

/// Takes everything away that the inventories name. A cluster that does not answer holds no other one back.
pub async fn delete(
    targets: Vec<Target<'_>>,
    options: &Options,
    mut tell: impl FnMut(&Event),
) -> Result<Summary, String> {
    let mut summary = Summary::default();
    let mut tell = |event: Event| {
        summary.count(&event);
        tell(&event);
    };
    for side in look(targets, options, &mut tell).await.into_iter().flatten() {
        if side.version.borrow().is_none() {
            continue;
        }
        let entries = side.known.entries.clone();
        let mut left = remove::remove(&side, entries, What::Deleted, options.deadline(), &mut tell).await;
        left.reverse();
        let left = Inventory { installed: false, entries: left };
        if let Err(why) = remove::remove_inventory(&side, &left).await {
            tell(Event::of_cluster(side.cluster, What::Failed, why));
        }
    }
    Ok(summary)
}
