//! Run levels: which objects wait for which.

use transship::Plan;

use crate::support::Folder;

/// The stages of a payload, each chunk as `level:objects`.
fn stages(files: &[&str]) -> Vec<String> {
    let text = |file: &str, index: usize| {
        let (api, kind) = if file.contains("job") { ("batch/v1", "Job") } else { ("v1", "ConfigMap") };
        format!(
            "apiVersion: {api}\nkind: {kind}\nmetadata:\n  name: o{index}\n  annotations:\n    include.release.openshift.io/test: 'true'\n"
        )
    };
    let files: Vec<(&str, String)> =
        files.iter().enumerate().map(|(index, file)| (*file, text(file, index))).collect();
    let folder =
        Folder::with_payload(&files.iter().map(|(path, text)| (*path, text.as_str())).collect::<Vec<_>>());
    let plan: Plan = folder.render().unwrap();
    let chunk = |chunk: &transship::Chunk| {
        let files: Vec<_> =
            plan.objects[chunk.objects.clone()].iter().map(|object| object.file.as_str()).collect();
        format!("{}[{}]", chunk.run_level.as_deref().unwrap_or("-"), files.join(" "))
    };
    plan.stages.iter().map(|stage| stage.chunks.iter().map(chunk).collect::<Vec<_>>().join(" | ")).collect()
}

#[test]
fn levels_run_in_turn_and_components_of_a_level_together() {
    assert_eq!(
        stages(&["0000_20_a_1.yaml", "0000_10_a_1.yaml", "0000_10_a_2.yaml", "0000_10_b_1.yaml"]),
        ["10[0000_10_a_1.yaml 0000_10_a_2.yaml] | 10[0000_10_b_1.yaml]", "20[0000_20_a_1.yaml]"]
    );
}

#[test]
fn levels_are_compared_as_text() {
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
fn a_release_puts_the_operators_own_manifests_first() {
    let folder = Folder::new();
    let object = |name: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, annotations: {{include.release.openshift.io/test: 'true'}}}}\n"
        )
    };
    folder.write("payload/manifests/0000_90_own_x.yaml", object("own"));
    folder.write("payload/release-manifests/0000_03_other_x.yaml", object("other"));
    folder.write(
        "payload/release-manifests/release-metadata",
        "{\"kind\":\"cincinnati-metadata-v0\",\"version\":\"4.22.0\"}",
    );
    folder.write(
        "payload/release-manifests/image-references",
        "{\"kind\":\"ImageStream\",\"apiVersion\":\"image.openshift.io/v1\",\"metadata\":{\"name\":\"4.22.0\"}}",
    );
    folder.write("profiles/test.yaml", crate::support::profile("test", ""));
    let run = folder.run(&["render", "--profile", "test", "-o", "json"]);
    let names: Vec<_> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["metadata"]["name"].clone())
        .collect();
    assert_eq!(names, ["own", "other"]);
}
