//! `make playground`: the test bed for manual experiments.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::apply::ROLE;
use crate::requests::block_on;
use crate::servers::Controllers;
use crate::test_bed::TestBed;
use crate::tools;

/// Starts both clusters, prints how to use them, and stops them at Ctrl-C.
pub(crate) fn run() {
    let Some(tools) = tools::find(tools::CLUSTER) else { return };
    eprintln!("starting a management cluster and a guest's");
    let bed = TestBed::start(&tools, Controllers::All);
    let folder = tempfile::tempdir().unwrap();
    for (name, cluster) in [("management", &bed.management), ("guest", &bed.guest)] {
        std::fs::copy(cluster.direct(), folder.path().join(name)).unwrap();
    }
    let management = folder.path().join("management").display().to_string();
    let guest = folder.path().join("guest").display().to_string();
    let server = format!("hcp.apiServer=https://127.0.0.1:{}", bed.guest.control_plane.port());
    let kubectl = tools.join("kubectl");
    let kubectl = if kubectl.exists() { kubectl.display().to_string() } else { "kubectl".to_owned() };
    eprintln!(
        "kubeconfigs:\n  {management}\n  {guest}\n\
         try:\n  transship apply --topology hypershift --set hcp.namespace=clusters-example --set {server} --set {ROLE} --management-kubeconfig {management} \
         --guest-kubeconfig {guest}\n  \
         {kubectl} --kubeconfig {management} -n clusters-example get deployments,pods\n  \
         {kubectl} --kubeconfig {guest} get clusteroperators\n\
         Ctrl-C ends both."
    );
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(Ordering::SeqCst) {
                follow_version(&bed);
                std::thread::sleep(Duration::from_secs(1));
            }
        });
        block_on(tokio::signal::ctrl_c()).unwrap();
        ends.store(true, Ordering::SeqCst);
    });
    eprintln!("ending");
}

/// Lets the stand-ins report the version of the operators' Deployments, as operators do after an upgrade.
pub(crate) fn follow_version(bed: &TestBed) {
    let clusters = [&bed.management, &bed.guest];
    for cluster in clusters {
        for deployment in cluster.list("/apis/apps/v1/deployments") {
            if let Some(version) = operator_version(&deployment) {
                for cluster in clusters {
                    cluster.stand_in.version(version);
                }
            }
        }
    }
}

/// Returns the version that a Deployment tells its operator to report.
fn operator_version(deployment: &Value) -> Option<&str> {
    let containers = deployment["spec"]["template"]["spec"]["containers"].as_array()?;
    let variables = containers.iter().filter_map(|container| container["env"].as_array()).flatten();
    variables.into_iter().find(|variable| variable["name"] == "OPERATOR_IMAGE_VERSION")?["value"].as_str()
}
