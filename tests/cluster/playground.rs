//! `make playground`: the test bed for manual experiments.

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
    let kubectl = tools.join("kubectl");
    let kubectl = if kubectl.exists() { kubectl.display().to_string() } else { "kubectl".to_owned() };
    eprintln!(
        "kubeconfigs:\n  {management}\n  {guest}\n\
         try:\n  transship apply --topology hypershift --management-kubeconfig {management} --guest-kubeconfig {guest}\n  \
         {kubectl} --kubeconfig {management} -n clusters-example get deployments,pods\n  \
         {kubectl} --kubeconfig {guest} get clusteroperators\n\
         Ctrl-C ends both."
    );
    block_on(tokio::signal::ctrl_c()).unwrap();
    eprintln!("ending");
}
