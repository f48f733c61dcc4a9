//! Run levels: which objects wait for which.

use crate::support::{TestProject, names, object, plan};

/// Renders a payload with one object in each of these files. Returns its stages, with each chunk as `level[files]`.
fn stages(files: &[&str]) -> Vec<String> {
    let mut project = TestProject::standalone();
    for (index, file) in files.iter().enumerate() {
        let (api_version, kind) =
            if file.contains("job") { ("batch/v1", "Job") } else { ("v1", "ConfigMap") };
        project = project.manifest(file, &object(api_version, kind, "ns", &format!("o{index}"), ""));
    }
    let plan = plan(project.path(), "test");
    let mut stages = Vec::new();
    for stage in &plan.stages {
        let mut chunks = Vec::new();
        for chunk in &stage.chunks {
            let objects = &plan.objects[chunk.objects.clone()];
            let files: Vec<&str> = objects.iter().map(|object| object.file.as_str()).collect();
            chunks.push(format!("{}[{}]", chunk.run_level.as_deref().unwrap_or("-"), files.join(" ")));
        }
        stages.push(chunks.join(" | "));
    }
    stages
}

#[test]
fn run_levels_are_stages_in_which_components_are_independent() {
    assert_eq!(
        stages(&["0000_20_a_1.yaml", "0000_10_a_1.yaml", "0000_10_a_2.yaml", "0000_10_b_1.yaml"]),
        ["10[0000_10_a_1.yaml 0000_10_a_2.yaml] | 10[0000_10_b_1.yaml]", "20[0000_20_a_1.yaml]"]
    );
}

#[test]
fn run_levels_are_compared_as_text() {
    assert_eq!(
        stages(&["0000_5_a_1.yaml", "0000_05_a_1.yaml"]),
        ["05[0000_05_a_1.yaml]", "5[0000_5_a_1.yaml]"]
    );
}

#[test]
fn a_job_is_a_barrier() {
    assert_eq!(
        stages(&["0000_10_a_1.yaml", "0000_10_a_2job.yaml", "0000_10_a_3.yaml", "0000_10_b_1.yaml"]),
        ["10[0000_10_a_1.yaml]", "10[0000_10_a_2job.yaml]", "10[0000_10_a_3.yaml] | 10[0000_10_b_1.yaml]"]
    );
}

#[test]
fn a_file_without_a_run_level_is_a_stage_of_its_own() {
    assert_eq!(
        stages(&["0000_10_a_1.yaml", "0000_10_cleanup.yaml", "0000_10_d_1.yaml", "x.yaml"]),
        ["10[0000_10_a_1.yaml]", "-[0000_10_cleanup.yaml]", "10[0000_10_d_1.yaml]", "-[x.yaml]"]
    );
}

#[test]
fn nested_folders_are_ordered_by_base_name_then_path() {
    assert_eq!(
        stages(&["z/0000_10_a_1.yaml", "a/0000_20_a_1.yaml", "b/0000_10_a_1.yaml"]),
        ["10[b/0000_10_a_1.yaml z/0000_10_a_1.yaml]", "20[a/0000_20_a_1.yaml]"]
    );
}

#[test]
fn a_release_applies_the_manifests_of_the_cluster_version_operator_first() {
    let project = TestProject::standalone()
        .release_image("payload")
        .manifest("manifests/0000_90_own_x.yaml", &object("v1", "ConfigMap", "ns", "own", ""))
        .manifest("release-manifests/0000_03_other_x.yaml", &object("v1", "ConfigMap", "ns", "other", ""));
    assert_eq!(names(&project.render("test")), ["ConfigMap/own", "ConfigMap/other"]);
}
