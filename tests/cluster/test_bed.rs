//! The test bed: a management cluster and a guest, both real API servers. It starts once for all cases. They run one
//! after the other, each from the same initial state.

use std::path::Path;
use std::sync::{Mutex, PoisonError, TryLockError};

use crate::credentials::Signers;
use crate::platform;
use crate::servers::Controllers;
use crate::test_cluster::TestCluster;

pub(crate) struct TestBed {
    pub(crate) management: TestCluster,
    pub(crate) guest: TestCluster,
    exclusive: Mutex<()>,
}

impl TestBed {
    /// Starts both clusters at the same time.
    pub(crate) fn start(tools: &Path, which: Controllers) -> Self {
        let (signers, of_guest) = (Signers::generate(), Signers::generate());
        // As HyperShift does, the management cluster has the signers of the guest.
        let secrets = of_guest.secrets("clusters-example");
        let (management, guest) = std::thread::scope(|scope| {
            let guest = scope.spawn(|| TestCluster::start(tools, ("guest", &[]), which, &of_guest));
            (TestCluster::start(tools, ("management", &secrets), which, &signers), guest.join().unwrap())
        });
        Self { management, guest, exclusive: Mutex::new(()) }
    }

    /// Runs a case exclusively, from the initial state.
    pub(crate) fn run(&self, case: fn(&Self)) {
        let _exclusive = self.exclusive.lock().unwrap_or_else(PoisonError::into_inner);
        self.reset();
        case(self);
    }

    /// Runs a case, unless another one uses the test bed.
    pub(crate) fn run_if_free(&self, case: fn(&Self)) -> bool {
        let _exclusive = match self.exclusive.try_lock() {
            Ok(exclusive) => exclusive,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        self.reset();
        case(self);
        true
    }

    /// Restores the initial state: no faults, default switches, and no new objects.
    pub(crate) fn reset(&self) {
        std::thread::scope(|scope| {
            scope.spawn(|| self.guest.reset());
            self.management.reset();
        });
    }

    /// Returns the guest as a standalone cluster, with the additional platform of one, until the next reset.
    pub(crate) fn standalone(&self) -> &TestCluster {
        self.guest.apply_yaml(&platform::manifests("standalone").join("\n---\n"));
        &self.guest
    }
}
