//! Rendering is deterministic: it gives the same bytes on every run, with any number of cores and any order of files.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::generate;
use crate::support::{Run, TestProject};

const OBJECTS: usize = 400;

fn render(project: &TestProject) -> Run {
    project.run(&["render", "--profile", "bench"])
}

/// Renders on one core: the process inherits the CPU affinity of the thread that starts it.
fn render_on_one_core(project: &TestProject) -> Run {
    std::thread::scope(|scope| {
        let bound = scope.spawn(|| {
            let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap();
            let first = (0..CpuSet::count()).find(|cpu| allowed.is_set(*cpu).unwrap()).unwrap();
            let mut one = CpuSet::new();
            one.set(first).unwrap();
            sched_setaffinity(Pid::from_raw(0), &one).unwrap();
            render(project)
        });
        bound.join().unwrap()
    })
}

#[test]
fn rendering_twice_or_on_one_core_gives_the_same_bytes() {
    let project = TestProject::new();
    generate::write(project.path(), OBJECTS).unwrap();
    let first = render(&project);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert_eq!(first.stdout.matches("\nkind: ").count(), OBJECTS);
    assert!(first.stdout == render(&project).stdout, "a second run differs");
    assert!(first.stdout == render_on_one_core(&project).stdout, "one core gives other bytes");
}

#[test]
fn the_order_in_which_a_file_system_lists_files_does_not_matter() {
    let (one, other) = (TestProject::new(), TestProject::new());
    generate::write(one.path(), 100).unwrap();
    generate::write(other.path(), 100).unwrap();
    // Most file systems list files that were created again in another order.
    let payload = other.path().join("payload");
    let mut files: Vec<_> = walkdir::WalkDir::new(&payload)
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.is_file())
        .collect();
    files.sort_unstable_by(|a, b| b.cmp(a));
    for file in files {
        let text = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        std::fs::write(file, text).unwrap();
    }
    assert!(render(&one).stdout == render(&other).stdout);
}
