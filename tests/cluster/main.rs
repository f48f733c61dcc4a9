//! Tests against real API servers. The servers for the selected cases start once and end with them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, clippy::exit, reason = "this is the test runner")]

mod apply;
mod audit;
mod base_state;
mod bench;
mod checks;
mod control_plane;
mod credentials;
mod etcd;
mod fault_proxy;
mod fault_proxy_tests;
mod fault_rules;
mod platform;
mod playground;
mod process;
mod requests;
mod servers;
mod stand_in;
mod test_bed;
mod test_bed_tests;
mod test_cluster;
mod tools;
mod upstream;
mod wait_for;

use std::sync::{Arc, LazyLock};

use control_plane::ControlPlane;
use libtest_mimic::{Arguments, Failed, Trial};
use servers::Controllers;
use test_bed::TestBed;

/// A case that needs one API server and can run at the same time as others.
type Case = (&'static str, fn(&ControlPlane));
/// A case that needs both clusters exclusively.
type TestBedCase = (&'static str, fn(&TestBed));

const CASES: [&[Case]; 2] = [checks::CASES, wait_for::CASES];
const TEST_BED_CASES: [&[TestBedCase]; 8] = [
    test_bed_tests::CASES,
    fault_proxy_tests::CASES,
    apply::connections::CASES,
    apply::operator_view::CASES,
    apply::library_go_operators::CASES,
    apply::crash::CASES,
    apply::credentials::CASES,
    apply::races::CASES,
];
/// The cases that depend on what an API server does with an object. They run with the oldest Kubernetes as well
/// (`make test-skew`).
const SKEW_CASES: [&[TestBedCase]; 23] = [
    apply::storage_payload::CASES,
    apply::rights::CASES,
    apply::succession::CASES,
    apply::diff_and_dry_run::CASES,
    apply::drift::CASES,
    apply::scenarios::network_failures::CASES,
    apply::scenarios::other_writers::CASES,
    apply::scenarios::seeds::CASES,
    apply::scenarios::missing_rights::CASES,
    apply::scenarios::immutable_fields::CASES,
    apply::scenarios::prune_and_delete::CASES,
    apply::scenarios::tombstones::CASES,
    apply::scenarios::unavailable_apis::CASES,
    apply::scenarios::hostile_guest::CASES,
    apply::scenarios::waiting::CASES,
    apply::scenarios::missing_prerequisites::CASES,
    apply::scenarios::co_owned_fields::CASES,
    apply::scenarios::existing_objects::CASES,
    apply::scenarios::same_object::CASES,
    apply::scenarios::secret_values::CASES,
    apply::scenarios::identity::CASES,
    apply::scenarios::write_lock::CASES,
    apply::scenarios::inventories::CASES,
];

/// The cases that need an API which the oldest Kubernetes does not serve: `MutatingAdmissionPolicy`.
const NEEDS_NEWER: [&str; 1] = ["apply::other_writers::a_mutating_policy_does_not_cause_a_loop"];

fn main() {
    process::become_the_tool();
    bench::meter::become_the_meter();
    if std::env::var("TRANSSHIP_PLAYGROUND").is_ok_and(|value| value == "1") {
        return playground::run();
    }
    if std::env::var("TRANSSHIP_BENCH").is_ok_and(|value| value == "1") {
        return bench::run();
    }
    let mut arguments = Arguments::from_args();
    let (mut cases, mut bed_cases) =
        (CASES.concat(), [TEST_BED_CASES.concat(), SKEW_CASES.concat()].concat());
    if tools::is_skewed() {
        (cases, bed_cases) = (Vec::new(), SKEW_CASES.concat());
        bed_cases.retain(|(name, _)| !NEEDS_NEWER.contains(name));
    }
    if is_long() {
        (cases, bed_cases) = (Vec::new(), apply::crash::WHOLE.to_vec());
        // These cases mostly wait for namespaces and CRDs.
        arguments.test_threads.get_or_insert(4);
    }
    if std::env::var("TRANSSHIP_RACES").is_ok_and(|value| value == "1") {
        (cases, bed_cases) = (Vec::new(), apply::races::MANY.to_vec());
    }
    cases.retain(|(name, _)| is_wanted(&arguments, name));
    bed_cases.retain(|(name, _)| is_wanted(&arguments, name));
    if arguments.list || (cases.is_empty() && bed_cases.is_empty()) {
        let names = cases.iter().map(|case| case.0).chain(bed_cases.iter().map(|case| case.0));
        let nothing = names.map(|name| Trial::test(name, || Ok(()))).collect();
        libtest_mimic::run(&arguments, nothing).exit();
    }
    let needed = if bed_cases.is_empty() { tools::SERVERS } else { tools::CLUSTER };
    let Some(tools) = tools::find(needed) else { return };
    run(&arguments, &cases, &bed_cases, &tools).exit();
}

/// The number of test beds, and so of cases that run at the same time.
const BEDS: usize = 2;

/// Returns whether to run the cases that take half an hour.
fn is_long() -> bool {
    std::env::var("TRANSSHIP_CRASH").is_ok_and(|value| value == "1")
}

fn is_wanted(arguments: &Arguments, name: &str) -> bool {
    let fits =
        |filter: &String| if arguments.exact { name == filter } else { name.contains(filter.as_str()) };
    arguments.filter.as_ref().is_none_or(fits) && !arguments.skip.iter().any(fits)
}

/// Runs the cases. Those for one API server come first, while the test bed starts.
fn run(
    arguments: &Arguments,
    cases: &[Case],
    bed_cases: &[TestBedCase],
    tools: &std::path::Path,
) -> libtest_mimic::Conclusion {
    let for_one = tools.to_owned();
    let control_plane = Arc::new(LazyLock::new(move || ControlPlane::start(&for_one)));
    let which = if is_long() { Controllers::AllButWorkloads } else { Controllers::All };
    let new_bed = || {
        let tools = tools.to_owned();
        Arc::new(LazyLock::new(move || TestBed::start(&tools, which)))
    };
    let beds: Vec<_> = (0..BEDS).map(|_| new_bed()).collect();
    let mut trials = Vec::new();
    for (name, run) in cases.iter().copied() {
        let control_plane = Arc::clone(&control_plane);
        trials.push(Trial::test(name, move || {
            run(&control_plane);
            Ok::<(), Failed>(())
        }));
    }
    for (name, run) in bed_cases.iter().copied() {
        // A long case has its own test bed.
        let beds = if is_long() { vec![new_bed()] } else { beds.clone() };
        trials.push(Trial::test(name, move || {
            if !beds.iter().any(|bed| bed.run_if_free(run)) {
                beds[0].run(run);
            }
            Ok::<(), Failed>(())
        }));
    }
    let early = (!bed_cases.is_empty() && !is_long()).then(|| {
        let bed = Arc::clone(&beds[0]);
        std::thread::spawn(move || _ = LazyLock::force(&bed))
    });
    let conclusion = libtest_mimic::run(arguments, trials);
    early.map(std::thread::JoinHandle::join);
    conclusion
}
