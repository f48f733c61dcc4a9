//! The record of a command that starts to write, for the history.

use serde_json::json;

use crate::apply::cluster::clock;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::options::Options;
use crate::apply::decide::run_record::{Outcome, RunRecord};
use crate::apply::wire::api_server::ApiServer;
use crate::apply::wire::request::post_path;

/// Says as whom the API server knows the user.
const SELF_SUBJECT_REVIEWS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// Returns the record of a command that starts. It is written only if the command writes anything.
pub(crate) fn started_run(command: &str, cluster: &LiveCluster<'_>, options: &Options) -> RunRecord {
    RunRecord {
        id: options.run_id.clone(),
        command: command.to_owned(),
        started: clock::now(),
        ended: String::new(),
        outcome: Outcome::Running,
        user: String::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        payload: cluster.payload_version.clone(),
        render_digest: cluster.render_digest.clone(),
    }
}

/// Records the name of the user, before the first write.
pub(crate) async fn record_user(cluster: &LiveCluster<'_>) {
    let user = find_user(&cluster.server).await.unwrap_or_default();
    cluster.inventory.set_user(user);
}

/// Returns the name of the user, as the API server knows it.
async fn find_user(server: &ApiServer) -> Option<String> {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let request = post_path(SELF_SUBJECT_REVIEWS, &review).ok()?;
    let response = server.send_unguarded(request).await.ok()?;
    response.value["status"]["userInfo"]["username"].as_str().map(str::to_owned)
}
