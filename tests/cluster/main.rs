//! Everything that talks to a cluster, against real API servers: what the chosen cases need is started for all of them,
//! and ended with them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, clippy::exit, reason = "this is the test runner")]

mod apply;
mod audit;
mod base_state;
mod bed;
mod bed_itself;
mod bench;
mod call;
mod checks;
mod control_plane;
mod credentials;
mod etcd;
mod faults;
mod platform;
mod playground;
mod process;
mod proxy;
mod proxy_itself;
mod servers;
mod side;
mod stand_in;
mod tools;
mod upstream;
mod wait_for;

use std::sync::{Arc, LazyLock};

use bed::Bed;
use control_plane::ControlPlane;
use libtest_mimic::{Arguments, Failed, Trial};
use servers::Controllers;

/// A case that needs one API server, beside others that do.
type Case = (&'static str, fn(&ControlPlane));
/// A case that needs two whole clusters for itself.
type BedCase = (&'static str, fn(&Bed));

const CASES: [&[Case]; 2] = [checks::CASES, wait_for::CASES];
const BED_CASES: [&[BedCase]; 16] = [
    bed_itself::CASES,
    proxy_itself::CASES,
    apply::storage::CASES,
    apply::reach::CASES,
    apply::live::CASES,
    apply::crash::CASES,
    apply::faults::network::CASES,
    apply::faults::others::CASES,
    apply::faults::seeds::CASES,
    apply::faults::rights::CASES,
    apply::faults::changing::CASES,
    apply::faults::leaving::CASES,
    apply::faults::waiting::CASES,
    apply::faults::early::CASES,
    apply::faults::found::CASES,
    apply::faults::secrets::CASES,
];

fn main() {
    process::become_the_tool();
    if std::env::var("TRANSSHIP_PLAYGROUND").is_ok_and(|value| value == "1") {
        return playground::run();
    }
    if std::env::var("TRANSSHIP_BENCH").is_ok_and(|value| value == "1") {
        return bench::run();
    }
    let mut arguments = Arguments::from_args();
    let (mut cases, mut bed_cases) = (CASES.concat(), BED_CASES.concat());
    if is_long() {
        (cases, bed_cases) = (Vec::new(), apply::crash::WHOLE.to_vec());
        // Mostly they wait: for namespaces that go, and definitions that come.
        arguments.test_threads.get_or_insert(4);
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

/// So many cases go side by side: mostly they wait.
const BEDS: usize = 2;

/// What takes half an hour is run when somebody asks for it.
fn is_long() -> bool {
    std::env::var("TRANSSHIP_CRASH").is_ok_and(|value| value == "1")
}

fn is_wanted(arguments: &Arguments, name: &str) -> bool {
    let fits =
        |filter: &String| if arguments.exact { name == filter } else { name.contains(filter.as_str()) };
    arguments.filter.as_ref().is_none_or(fits) && !arguments.skip.iter().any(fits)
}

/// Cases of one API server come first, while the bed is being made.
fn run(
    arguments: &Arguments,
    cases: &[Case],
    bed_cases: &[BedCase],
    tools: &std::path::Path,
) -> libtest_mimic::Conclusion {
    let for_one = tools.to_owned();
    let control_plane = Arc::new(LazyLock::new(move || ControlPlane::start(&for_one)));
    let which = if is_long() { Controllers::AllButWorkloads } else { Controllers::All };
    let new_bed = || {
        let tools = tools.to_owned();
        Arc::new(LazyLock::new(move || Bed::start(&tools, which)))
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
        // What takes long has a bed of its own, and waits for nobody else.
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
