//! Text that Kubernetes' reader drops, and annotations that are null: nothing of a file is lost without a message.

use super::support::TestProject;

const NOT_READ: &str =
    "help: indent all lines of the document alike; write `---` on its own line before another document";

/// Returns a project with one ConfigMap in this text, and one profile.
fn project(manifest: &str) -> TestProject {
    TestProject::new()
        .file("payload/op/1.yaml", manifest)
        .page("op", "")
        .profile("test", "topology: t\ncluster: both\n")
}

const CONFIG_MAP: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns, annotations: {x: x}}\n";

#[test]
fn text_that_kubernetes_ignores_is_left_out_and_reported() {
    let indented = format!(" {}\n", CONFIG_MAP.trim_end().replace('\n', "\n "));
    let flow = format!("{{{}}}\n", CONFIG_MAP.trim_end().replace('\n', ", "));
    for (manifest, at) in [
        (format!("{indented}data: {{k: v}}\n"), "4:1"),
        (format!("{CONFIG_MAP}...\ndata: {{k: v}}\n"), "5:1"),
        (format!("{flow}data: {{k: v}}\n"), "2:1"),
    ] {
        let project = project(&manifest);
        let run = project.run(&["render", "--profile", "test", "-o", "json"]);
        assert_eq!(
            run.stderr.lines().take(3).collect::<Vec<_>>().join("\n"),
            format!(
                "warning: payload/op/1.yaml:{at}: Kubernetes ignores the rest of this document\n  \
                 note: the document ends before it, so kubectl applies only what is above\n  {NOT_READ}"
            )
        );
        assert!(run.json()[0].get("data").is_none());
    }
}

#[test]
fn lint_has_a_finding_for_text_that_kubernetes_ignores() {
    let project = project(&format!("{CONFIG_MAP}...\ndata: {{k: v}}\n"))
        .checks("externals:\n- {objects: [Namespace/ns], reason: a test}\n");
    let run = project.run(&["lint", "--quiet"]);
    assert_eq!(
        run.stdout,
        format!(
            "warning[ignored-text]: payload/op/1.yaml:5:1: Kubernetes ignores the rest of this document\n  \
             object: ConfigMap/a in ns\n  \
             note: the document ends before it, so the cluster never gets it\n  \
             note: found in test\n  {NOT_READ}\n"
        )
    );
    assert_eq!(run.code, 1);
}

#[test]
fn text_after_the_document_of_a_page_a_profile_a_fragment_or_a_patch_is_an_error() {
    let error = |file: &str, line: u32| {
        format!(
            "error: {file}:{line}:1: the document ends before this text\n  \
             note: YAML ends a document at `...`, at the last closing bracket and at a line that is indented less than the first\n  {NOT_READ}"
        )
    };
    let page = project(CONFIG_MAP).page("op", "...\nuses: []\n");
    assert_eq!(page.render_error("test").trim_end(), error("payload/op/component.yaml", 5));
    let profile = project(CONFIG_MAP).profile("test", "topology: t\ncluster: both\n...\nnamespace: n\n");
    assert_eq!(profile.render_error("test").trim_end(), error("profiles/test.yaml", 7));
    let fragment = project(CONFIG_MAP).fragment("f", "adds: []\n...\ninputs: {}\n");
    assert_eq!(fragment.render_error("test").trim_end(), error("profiles/fragments/f.yaml", 7));
    let patch = project(CONFIG_MAP)
        .page("op", "patches:\n- {path: p.yaml, target: {kind: ConfigMap}, reason: a test}\n")
        .file("patches/op/p.yaml", "data: {k: v}\n...\nimmutable: true\n");
    assert_eq!(patch.render_error("test").trim_end(), error("patches/op/p.yaml", 3));
}

#[test]
fn fmt_warns_about_text_that_kubernetes_ignores() {
    let project = TestProject::new().file("a.yaml", "a: 1\n...\nb: 2\n");
    let run = project.run(&["fmt", "a.yaml"]);
    assert_eq!(run.stdout, "a: 1\n");
    assert!(
        run.stderr.starts_with("warning: a.yaml:3:1: Kubernetes ignores the rest of this document\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_null_annotation_is_an_empty_one_and_does_not_exclude_its_manifest() {
    let manifest = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ns\n  annotations:\n    openshift.io/node-selector:\n";
    let project = project(manifest);
    let run = project.run(&["render", "--profile", "test", "-o", "json"]);
    assert_eq!(run.stderr.lines().filter(|line| line.starts_with("warning")).count(), 0, "{}", run.stderr);
    assert_eq!(run.json()[0]["metadata"]["name"], "ns");
}

#[test]
fn an_annotation_that_is_a_number_still_hides_all_annotations() {
    let manifest = CONFIG_MAP.replace("{x: x}", "{x: 1, y: }");
    let other = CONFIG_MAP.replace("name: a", "name: b");
    let project = project(&format!("{manifest}---\n{other}"));
    let run = project.run(&["render", "--profile", "test", "-o", "json"]);
    assert_eq!(run.json().len(), 1);
    assert!(
        run.stderr.starts_with("warning: payload/op/1.yaml:3:53: the annotation `x` is a number, not text\n"),
        "{}",
        run.stderr
    );
}
