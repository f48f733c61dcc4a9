//! The `Containerfile`: the pods of the bundled payload run its image without root and with a read-only root file system.

use crate::support::{find, repository, run_in};

fn read(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(repository().join(name)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// Returns the instructions of the last stage, each with its arguments.
fn last_stage() -> Vec<(String, Vec<String>)> {
    let lines = read("Containerfile");
    let start = lines.iter().rposition(|line| line.starts_with("FROM ")).unwrap();
    let mut stage = Vec::new();
    for line in &lines[start..] {
        let mut words = line.split(' ').map(str::to_owned);
        stage.push((words.next().unwrap(), words.collect()));
    }
    stage
}

#[test]
fn the_image_is_one_binary_that_runs_without_root() {
    let arguments = |name: &str| {
        let stage = last_stage();
        stage.into_iter().find(|(instruction, _)| instruction == name).unwrap().1
    };
    assert_eq!(arguments("FROM"), ["scratch"]);
    assert_eq!(arguments("USER"), ["65532:65532"]);
    assert_eq!(arguments("COPY"), ["--from=build", "/src/target/dist/transship", "/usr/bin/transship"]);
    // Pods name the program without its folder.
    assert_eq!(arguments("ENV"), ["PATH=/usr/bin"]);
    assert_eq!(arguments("ENTRYPOINT"), ["[\"/usr/bin/transship\"]"]);
    let run = run_in(&repository(), &["render", "--profile", "hypershift-mc", "-o", "json"], "");
    let operator = find(&run.json(), "Deployment", "cluster-storage-operator").clone();
    let waits = &operator["spec"]["template"]["spec"]["initContainers"][0];
    assert_eq!(waits["command"], serde_json::json!(["transship", "wait-for"]));
    assert_eq!(waits["securityContext"]["readOnlyRootFilesystem"], true);
}

#[test]
fn the_build_has_every_file_that_it_copies_and_no_other() {
    let ignored = read(".containerignore");
    assert_eq!(ignored[0], "*");
    let mut copied = Vec::new();
    for line in read("Containerfile") {
        if let Some(files) = line.strip_prefix("COPY ").filter(|rest| !rest.starts_with("--from")) {
            let files: Vec<&str> = files.split(' ').collect();
            copied.extend(files[..files.len() - 1].iter().map(|file| (*file).to_owned()));
        }
    }
    for file in &copied {
        assert!(repository().join(file).exists(), "{file}");
        assert!(ignored.contains(&format!("!{file}")), "{file}");
    }
    let allowed = ignored.iter().filter_map(|line| line.strip_prefix('!'));
    assert_eq!(allowed.count(), copied.len());
}

#[test]
fn no_base_image_names_a_registry() {
    for line in
        read("Containerfile").iter().filter(|line| line.starts_with("FROM ") || line.contains("BUILDER="))
    {
        assert!(!line.contains('/'), "{line}");
    }
}
