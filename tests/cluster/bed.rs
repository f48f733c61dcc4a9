//! The test bed: a management cluster and a guest's, real API servers both. It is started once for all cases that
//! are run on it; they run one after the other, and each finds it as it was at first.

use std::path::Path;
use std::sync::{Mutex, PoisonError, TryLockError};

use crate::platform;
use crate::servers::Controllers;
use crate::side::Side;

pub(crate) struct Bed {
    pub(crate) management: Side,
    pub(crate) guest: Side,
    exclusive: Mutex<()>,
}

impl Bed {
    /// Starts both sides at the same time.
    pub(crate) fn start(tools: &Path, which: Controllers) -> Self {
        let (management, guest) = std::thread::scope(|scope| {
            let guest = scope.spawn(|| Side::start(tools, "guest", which));
            (Side::start(tools, "management", which), guest.join().unwrap())
        });
        Self { management, guest, exclusive: Mutex::new(()) }
    }

    /// Runs a case on its own, from the base state.
    pub(crate) fn run(&self, case: fn(&Self)) {
        let _exclusive = self.exclusive.lock().unwrap_or_else(PoisonError::into_inner);
        self.reset();
        case(self);
    }

    /// The same, unless another case has the bed.
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

    /// Ends all faults, sets all switches back and takes away everything that was not there at first.
    pub(crate) fn reset(&self) {
        std::thread::scope(|scope| {
            scope.spawn(|| self.guest.reset());
            self.management.reset();
        });
    }

    /// One cluster that is everything: the guest's side, which has nothing that a standalone cluster lacks, with the rest
    /// of a standalone cluster's platform on top, until the next reset.
    pub(crate) fn standalone(&self) -> &Side {
        self.guest.apply_yaml(&platform::manifests("standalone").join("\n---\n"));
        &self.guest
    }
}
