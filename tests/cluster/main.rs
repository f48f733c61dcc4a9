//! Everything that talks to a cluster, against real API servers: one is started for all cases, and ended with them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, clippy::exit, reason = "this is the test runner")]

mod checks;
mod control_plane;
mod tools;
mod wait_for;

use std::sync::Arc;

use control_plane::ControlPlane;
use libtest_mimic::{Arguments, Failed, Trial};

type Case = (&'static str, fn(&ControlPlane));

fn main() {
    let arguments = Arguments::from_args();
    let wanted = |(name, _): &&Case| {
        let fits =
            |filter: &String| if arguments.exact { name == filter } else { name.contains(filter.as_str()) };
        arguments.filter.as_ref().is_none_or(fits) && !arguments.skip.iter().any(fits)
    };
    let cases: Vec<Case> = [checks::CASES, wait_for::CASES].concat();
    let chosen: Vec<&Case> = cases.iter().filter(wanted).collect();
    if arguments.list || chosen.is_empty() {
        let nothing = |case: &&Case| Trial::test(case.0, || Ok(()));
        libtest_mimic::run(&arguments, chosen.iter().map(nothing).collect()).exit();
    }
    let Some(tools) = tools::find() else { return };
    let control_plane = Arc::new(ControlPlane::start(&tools));
    let trial = |case: &&Case| {
        let (control_plane, (name, run)) = (Arc::clone(&control_plane), **case);
        Trial::test(name, move || {
            run(&control_plane);
            Ok::<(), Failed>(())
        })
    };
    let conclusion = libtest_mimic::run(&arguments, chosen.iter().map(trial).collect());
    drop(control_plane);
    conclusion.exit();
}
