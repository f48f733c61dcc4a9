//! Where the network begins: everything that talks to a cluster, and nothing else does.
//!
//! | module | what |
//! |---|---|
//! | `client`, `proxy`, `server`, `gate`, `failure` | requests and their answers |
//! | `rollout` | what is done before what: pure |
//! | `body`, `fields`, `left_behind` | what is sent, whose fields are whose, and which of them leave: pure |
//! | `inventory`, `prune` | what is ours, and what of it may go: pure |
//! | `ready` | when an object is what it says: pure |
//! | `side`, `definition` | a cluster, and the kinds it serves |
//! | `deed` | what is to be done with an object: pure |
//! | `step`, `write`, `adopt` | an object, how it is written, and how it is taken over |
//! | `run`, `again`, `waiting` | all of them, what is tried again, and when they are ready |
//! | `keep`, `settle`, `remove` | the inventory in its cluster, what it says before and after, and what is taken away |
//! | `event`, `board` | what is told of it: pure |
//! | `preview`, `live` | what would be done, and what would change |

mod cluster;
mod decide;
mod object;
mod run;
mod wire;

use std::cell::OnceCell;
use std::time::Duration;

use kube::Client;
use tokio::time::{Instant, sleep, timeout_at};

pub use decide::desired::as_applied;
pub use decide::event::{Event, Summary, What};
pub use decide::inventory::{Entry, Home, Inventory};
pub use decide::progress_line::Board;
pub use decide::prune::{Approval, Leaving, leaving};
pub use decide::readiness::{Readiness, readiness};
pub use decide::rollout::{Action, Half, Need, Rollout, Step};
pub use run::diff_live::{Change, changes};
pub use run::dry_run::preview;
pub use run::wait_for::{Awaited, Progress, Seen, wait_for};
pub use wire::client::{Endpoint, connect};

use crate::language::{Profile, Selector};
use crate::object::{Cluster, ObjectId, is_tombstone};
use crate::order::Plan;

use cluster::live_cluster::Side;
use decide::desired::Policy;
use run::inventory_update::Ending;
use run::rollout_run::Run;
use wire::api_server::Server;
use wire::error::Failure;

/// Whose fields are ours.
pub const MANAGER: &str = "transship";
/// Whose fields are given once and then left to others.
const SEEDER: &str = "transship-seed";
/// Why a rollout ends before it is done.
const OVERTAKEN: &str = "another rollout has begun since, and this one leaves the last word to it";
/// How soon a cluster that did not answer is asked again.
const PAUSE: Duration = Duration::from_secs(1);

/// One cluster to roll out to, or to clear.
pub struct Target<'a> {
    /// How to reach it.
    pub client: Client,
    /// The profile, which says what is left to others.
    pub profile: &'a Profile,
    /// The objects that belong there.
    pub plan: &'a Plan,
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
            "nothing was rendered for the profile `{}`, and that is never meant",
            target.profile.name
        ));
    }
    let rollout = rollout(&targets)?;
    let mut summary = Summary::default();
    let mut tell = |event: Event| {
        summary.count(&event);
        tell(&event);
    };
    let sides: Vec<OnceCell<Side<'_>>> = targets.iter().map(|_| OnceCell::new()).collect();
    let ended = Run::new(&rollout, &targets, &sides, options, &mut tell).walk().await;
    let ending = Ending { rollout: &rollout, ended: &ended, options };
    let sides = guest_first(sides.iter().map(OnceCell::get));
    let leaving = run::inventory_update::what_leaves(&rollout, &sides, options.approval, |at| ended.done[at]);
    for (at, (side, leaving)) in sides.iter().zip(leaving).enumerate() {
        let deadline = share(options.deadline(), at + 1 == sides.len());
        ending.settle(*side, leaving, deadline, &mut tell).await;
    }
    Ok(summary)
}

/// The clusters that answer, in the order in which objects leave them: whoever looks after those of the guest may run in
/// the management cluster.
fn guest_first<'s, 'a>(sides: impl Iterator<Item = Option<&'s Side<'a>>>) -> Vec<(usize, &'s Side<'a>)> {
    let mut answering: Vec<(usize, &Side<'_>)> =
        sides.enumerate().filter_map(|(half, side)| Some((half, side?))).collect();
    answering.sort_by_key(|(_, side)| side.cluster != Cluster::Guest);
    answering
}

/// Until when one cluster may take if another one comes after it: what is stuck here takes nothing from there.
fn share(deadline: Instant, last: bool) -> Instant {
    let now = Instant::now();
    if last { deadline } else { now + deadline.saturating_duration_since(now) / 2 }
}

/// What is done before what, in all of the clusters.
fn rollout<'a>(targets: &[Target<'a>]) -> Result<Rollout<'a>, String> {
    let half = |target: &Target<'a>| Half { cluster: target.profile.cluster, plan: target.plan };
    let halves: Vec<Half<'_>> = targets.iter().map(half).collect();
    Rollout::of(&halves).map_err(|members| {
        format!("these wait for each other, so none can be first: {}", members.join(", which waits for "))
    })
}

/// Looks at all clusters at once. One that does not answer is told, and left out.
async fn look<'a>(
    targets: Vec<Target<'a>>,
    options: &Options,
    tell: &mut dyn FnMut(Event),
) -> Vec<Option<Side<'a>>> {
    let looks = targets.iter().map(|target| async move {
        let looked = timeout_at(options.deadline(), async {
            loop {
                match enter(target, options).await {
                    Err(failure) if failure.is_passing() && options.begun.elapsed() < options.patience => {
                        sleep(failure.retry_after().unwrap_or(PAUSE)).await;
                    }
                    looked => return looked,
                }
            }
        });
        (target.profile.cluster, looked.await.unwrap_or_else(|_| Err(Failure::late())))
    });
    let mut sides = Vec::new();
    for (cluster, side) in futures_util::future::join_all(looks).await {
        sides.push(side.map_err(|failure| tell(lost(cluster, &failure))).ok());
    }
    sides
}

/// Looks at a cluster, if it answers.
async fn enter<'a>(target: &Target<'a>, options: &Options) -> Result<Side<'a>, Failure> {
    let Target { client, profile, plan } = target;
    let home = Home::of(profile, plan);
    let policy = Policy::of(profile, &plan.objects, home.set());
    let server = Server::new(client.clone(), options.patience, options.deadline());
    Side::look(profile.cluster, server, home, policy, &plan.objects).await
}

fn lost(cluster: Cluster, failure: &Failure) -> Event {
    let what = if failure.is_silence() { What::Lost } else { What::Failed };
    Event::of_cluster(cluster, what, failure.words(false))
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
    let sides = look(targets, options, &mut tell).await;
    let mut sides = guest_first(sides.iter().map(Option::as_ref));
    sides.retain(|(_, side)| is_known(side, &mut tell));
    for (at, (_, side)) in sides.iter().enumerate() {
        let (entries, deadline) =
            (side.known.entries.clone(), share(options.deadline(), at + 1 == sides.len()));
        let mut left =
            object::delete_objects::remove(side, entries, What::Deleted, deadline, &mut tell).await;
        left.reverse();
        let ended = if left.is_empty() {
            side.take_inventory_away().await
        } else {
            side.keep(&Inventory { entries: left, ..Inventory::default() }).await
        };
        if let Err(failure) = ended {
            tell(Event::of_cluster(side.cluster, What::Failed, failure.words(false)));
        }
    }
    Ok(summary)
}

/// Whether there is an inventory. Where it was lost nobody knows what may be taken away, which is told.
fn is_known(side: &Side<'_>, tell: &mut dyn FnMut(Event)) -> bool {
    let labelled = side.live.values().filter(|live| side.is_ours(live)).count();
    if !side.has_inventory() && labelled > 0 {
        let why = format!(
            "there is no inventory, and {labelled} objects carry its label: an apply writes it again, and then they can go"
        );
        tell(Event::of_cluster(side.cluster, What::Failed, why));
    }
    side.has_inventory()
}
