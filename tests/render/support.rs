//! Helpers of all tests: a builder for projects, and functions that run the command.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use transship::Plan;
use transship::Project;

/// The repository.
pub(crate) fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Reads a YAML file below `tests/data/`.
pub(crate) fn data(path: &str) -> Value {
    run_in(&repository(), &["fmt", "-o", "json", &format!("tests/data/{path}")], "").json().remove(0)
}

/// A temporary folder, which is deleted at the end of the test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }

    pub(crate) fn without_path(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.path().display()), "")
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        run_in(self.path(), arguments, "")
    }
}

/// A project in a temporary folder, built step by step.
///
/// ```ignore
/// let project = TestProject::new()
///     .manifest("op/1.yaml", "…")
///     .page("op", "place: {management: [Deployment]}\n")
///     .profile("mc", "topology: t\ncluster: management\n")
///     .fragment("sidecar", "adds: […]\n");
/// let objects = project.render("mc");
/// let message = project.render_error("guest");
/// ```
///
/// The methods for files of the language write the header, so a body starts at line 4, that of a fragment at line 5. A text
/// that starts with a line break is unindented, so that YAML in raw strings can be indented like the code around it.
pub(crate) struct TestProject(Folder);

const RELEASE_METADATA: &str = r#"{"kind":"cincinnati-metadata-v0","version":"4.22.0"}"#;

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

impl TestProject {
    /// Creates a project without files.
    pub(crate) fn new() -> Self {
        Self(Folder::new())
    }

    /// Creates a project with the profile `test` for both clusters. Namespaces are declared as external, so that `golden`
    /// and `lint` do not report them.
    pub(crate) fn standalone() -> Self {
        Self::new()
            .profile("test", "topology: test\ncluster: both\n")
            .checks("externals: [{objects: [Namespace/*], reason: a test}]\n")
    }

    /// Creates a project with one Deployment, which lives in the management cluster, and the profiles `mc` and `guest`. The
    /// page of its component `op` and the profile `mc` continue with these bodies.
    pub(crate) fn with_deployment(page: &str, mc: &str) -> Self {
        let page = unindent(page);
        Self::new()
            .manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "d", DEPLOYMENT_SPEC))
            .page("op", &format!("place: {{management: [Deployment]}}\n{page}"))
            .mc_and_guest(mc, "")
    }

    /// Creates a project with the profiles of the repository and one component `op`, which all these profiles select. Its
    /// page continues with this body at line 5.
    pub(crate) fn with_bundled_profiles(manifests: &str, page: &str) -> Self {
        let mut project = Self::new();
        for entry in walkdir::WalkDir::new(repository().join("profiles")) {
            let entry = entry.unwrap();
            if entry.file_type().is_file() {
                let path = entry.path().strip_prefix(repository()).unwrap();
                project =
                    project.file(path.to_str().unwrap(), &std::fs::read_to_string(entry.path()).unwrap());
            }
        }
        let annotations = "annotations: {include.release.openshift.io/hypershift: 'true', include.release.openshift.io/self-managed-high-availability: 'true'}";
        let page = unindent(page);
        project
            .manifest("op/0000_50_op_1.yaml", manifests)
            .page("op", &format!("{annotations}\n{page}"))
            .release(&[
                ("hypershift", "q/hypershift"),
                ("transship", "q/transship"),
                ("kube-rbac-proxy", "q/kube-rbac-proxy"),
                ("csi-external-attacher", "q/csi-external-attacher"),
                ("csi-livenessprobe", "q/csi-livenessprobe"),
            ])
            // The profiles pin fields of these objects and declare these parameters. It is an error if nothing uses them.
            .manifest(
                "csi/9.yaml",
                r"
                apiVersion: operator.openshift.io/v1
                kind: CSISnapshotController
                metadata: {name: cluster, annotations: {x: x}}
                ---
                apiVersion: operator.openshift.io/v1
                kind: Storage
                metadata: {name: cluster, annotations: {x: x}}
                ---
                apiVersion: operator.openshift.io/v1
                kind: ClusterCSIDriver
                metadata: {name: ebs.csi.aws.com, annotations: {x: x}}
                ",
            )
            .page(
                "csi",
                "values: {a: '${platform.type}', b: '${aws.region}', c: '${infrastructure.name}', d: '${operands}', e: '${snapshot.webhook}', f: '${hcp.clusterID}', g: '${aws.extraTags}', h: '${aws.ec2Endpoint}', i: '${aws.caBundle}', j: '${aws.storageRoleARN}', k: '${hcp.issuerURL}'}",
            )
    }

    /// Adds a file of the payload.
    pub(crate) fn manifest(self, path: &str, yaml: &str) -> Self {
        self.file(&format!("payload/{path}"), yaml)
    }

    /// Adds the page of a component.
    pub(crate) fn page(self, component: &str, body: &str) -> Self {
        let path = format!("payload/{component}/component.yaml");
        self.language_file(&path, "Component", component, body)
    }

    /// Adds the page of a component in `profiles/components/`.
    pub(crate) fn page_beside_profiles(self, component: &str, body: &str) -> Self {
        let path = format!("profiles/components/{component}.yaml");
        self.language_file(&path, "Component", component, body)
    }

    /// Adds a profile.
    pub(crate) fn profile(self, name: &str, body: &str) -> Self {
        self.language_file(&format!("profiles/{name}.yaml"), "Profile", name, body)
    }

    /// Adds the profiles `mc` and `guest` of one topology, which continue with these bodies at line 6.
    pub(crate) fn mc_and_guest(self, mc: &str, guest: &str) -> Self {
        let (mc, guest) = (unindent(mc), unindent(guest));
        self.profile("mc", &format!("topology: t\ncluster: management\n{mc}"))
            .profile("guest", &format!("topology: t\ncluster: guest\n{guest}"))
    }

    /// Adds declarations of parameters. The body starts with `parameters:`.
    pub(crate) fn parameters(self, body: &str) -> Self {
        self.language_file("profiles/parameters.yaml", "Parameters", "parameters", body)
    }

    /// Adds a parameter set.
    pub(crate) fn parameter_set(self, name: &str, body: &str) -> Self {
        self.language_file(&format!("profiles/sets/{name}.yaml"), "Parameters", name, body)
    }

    /// Adds declarations for the checks.
    pub(crate) fn checks(self, body: &str) -> Self {
        self.language_file("profiles/checks.yaml", "Checks", "checks", body)
    }

    /// Adds a fragment.
    pub(crate) fn fragment(self, name: &str, body: &str) -> Self {
        self.fragment_file(&format!("profiles/fragments/{name}.yaml"), name, body)
    }

    /// Adds a fragment with a folder, in which its manifests are.
    pub(crate) fn fragment_folder(self, name: &str, body: &str, manifests: &[(&str, &str)]) -> Self {
        let folder = format!("profiles/fragments/{name}");
        let mut project = self.fragment_file(&format!("{folder}/fragment.yaml"), name, body);
        for (file, yaml) in manifests {
            project = project.file(&format!("{folder}/{file}"), yaml);
        }
        project
    }

    /// Makes the payload the release 4.22.0 with these images, each with its tag and its pull spec.
    pub(crate) fn release(self, images: &[(&str, &str)]) -> Self {
        self.file("payload/image-references", &image_references("4.22.0", images))
            .file("payload/release-metadata", RELEASE_METADATA)
    }

    /// Gives a payload the layout of the release image 4.22.0, with a folder `release-manifests`.
    pub(crate) fn release_image(self, payload: &str) -> Self {
        self.file(&format!("{payload}/release-manifests/image-references"), &image_references("4.22.0", &[]))
            .file(&format!("{payload}/release-manifests/release-metadata"), RELEASE_METADATA)
    }

    /// Adds or replaces any file.
    pub(crate) fn file(self, path: &str, content: &str) -> Self {
        self.0.write(path, unindent(content));
        self
    }

    /// Renders a profile to objects.
    pub(crate) fn render(&self, profile: &str) -> Vec<Value> {
        self.render_with(profile, &[])
    }

    /// Renders a profile to objects, with further arguments.
    pub(crate) fn render_with(&self, profile: &str, arguments: &[&str]) -> Vec<Value> {
        self.run(&[&["render", "--profile", profile, "-o", "json"][..], arguments].concat()).json()
    }

    /// Returns the error of rendering a profile.
    pub(crate) fn render_error(&self, profile: &str) -> String {
        self.render_error_with(profile, &[])
    }

    /// Checks that rendering a profile fails with exactly this error.
    #[track_caller]
    pub(crate) fn assert_render_error(&self, profile: &str, expected: &str) {
        assert_eq!(self.render_error(profile), unindent(expected));
    }

    /// Returns the error of rendering a profile, with further arguments.
    pub(crate) fn render_error_with(&self, profile: &str, arguments: &[&str]) -> String {
        self.run(&[&["render", "--profile", profile][..], arguments].concat()).refusal()
    }

    /// Checks all profiles, or those of the arguments.
    pub(crate) fn lint(&self, arguments: &[&str]) -> Run {
        self.run_checked(&[&["lint"][..], arguments].concat())
    }

    /// Runs the command in the folder of the project. `render` does not check the objects.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.0.run(arguments)
    }

    /// Runs the command in the folder of the project, exactly as it is given.
    pub(crate) fn run_checked(&self, arguments: &[&str]) -> Run {
        run_checked(self.path(), arguments, "")
    }

    fn language_file(self, path: &str, kind: &str, name: &str, body: &str) -> Self {
        let body = unindent(body);
        self.file(path, &format!("{HEADER}kind: {kind}\nmetadata: {{name: {name}}}\n{body}"))
    }

    fn fragment_file(self, path: &str, name: &str, body: &str) -> Self {
        let body = unindent(body);
        self.language_file(path, "Fragment", name, &format!("description: a test\n{body}"))
    }
}

/// Allows a test to change files between two runs.
impl std::ops::Deref for TestProject {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.0
    }
}

/// A part of the message for two additions that set a field to different values.
pub(crate) const CONFLICT: &str = "` cannot be set to `";

/// The spec of the Deployment in [`TestProject::with_deployment`].
pub(crate) const DEPLOYMENT_SPEC: &str = "spec: {template: {spec: {serviceAccountName: sa, containers: [{name: c, args: [run, --config, same.yaml]}], volumes: [{name: v, emptyDir: {}}]}}}\n";

/// Returns a manifest with an annotation, because the filters exclude manifests without any.
pub(crate) fn object(api_version: &str, kind: &str, namespace: &str, name: &str, body: &str) -> String {
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: {namespace}, annotations: {{x: x}}}}\n{body}"
    )
}

/// Returns an `image-references` file with these images, each with its tag and its pull spec.
pub(crate) fn image_references(version: &str, images: &[(&str, &str)]) -> String {
    let tags: Vec<Value> = images
        .iter()
        .map(|(tag, pullspec)| json!({"name": tag, "from": {"kind": "DockerImage", "name": pullspec}}))
        .collect();
    json!({
        "kind": "ImageStream",
        "apiVersion": "image.openshift.io/v1",
        "metadata": {"name": version},
        "spec": {"tags": tags},
    })
    .to_string()
}

/// Removes the indentation of the first line from all lines of a text that starts with a line break.
pub(crate) fn unindent(text: &str) -> String {
    let Some(text) = text.strip_prefix('\n') else { return text.to_owned() };
    let indentation = text.len() - text.trim_start_matches(' ').len();
    let mut lines = Vec::new();
    for line in text.lines() {
        lines.push(line.get(indentation..).unwrap_or(line.trim_start()));
    }
    lines.join("\n").trim_end().to_owned() + "\n"
}

/// Returns `Kind/name` of each object.
pub(crate) fn names(objects: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    objects.iter().map(|object| text(&object["kind"]) + "/" + &text(&object["metadata"]["name"])).collect()
}

/// Returns the object of this kind and name.
pub(crate) fn find<'o>(objects: &'o [Value], kind: &str, name: &str) -> &'o Value {
    for object in objects {
        if object["kind"] == kind && object["metadata"]["name"] == name {
            return object;
        }
    }
    panic!("there is no {kind}/{name}, only {:?}", names(objects));
}

/// Returns the spec of the pods of a Deployment.
pub(crate) fn pod_spec<'o>(objects: &'o [Value], deployment: &str) -> &'o Value {
    &find(objects, "Deployment", deployment)["spec"]["template"]["spec"]
}

/// Returns the item of a list with this name, such as a container or a volume.
pub(crate) fn item<'o>(list: &'o Value, name: &str) -> &'o Value {
    let Some(items) = list.as_array() else { panic!("this is not a list: {list}") };
    for item in items {
        if item["name"] == name {
            return item;
        }
    }
    panic!("there is no item {name} in {list}");
}

/// Renders a profile of a project to a plan.
pub(crate) fn plan(folder: &Path, profile: &str) -> Plan {
    let project = Project::load(folder).unwrap();
    let profiles = project.profiles.named(Some(profile)).unwrap();
    transship::render_unchecked(&project.context(), &profiles).unwrap().remove(0)
}

/// A Checks file that declares all namespaces as external.
pub(crate) const CHECKS: &str = "apiVersion: transship.openshift.io/v1\nkind: Checks\nmetadata: {name: checks}\nexternals: [{objects: [Namespace/*], reason: a test}]\n";

/// Returns a ConfigMap of the cluster profile `test`.
pub(crate) fn config_map(name: &str, data: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: ns\n  annotations:\n    \
         include.release.openshift.io/test: \"true\"\ndata: {data}\n"
    )
}

/// The exit code and the output of a run of the command.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Returns the objects that a successful run printed, one in each line.
    pub(crate) fn json(&self) -> Vec<Value> {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the error of a run that rejected its input and printed nothing.
    pub(crate) fn refusal(self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        self.stderr
    }
}

/// Runs the command in a folder, with a text on standard input. Outside the repository, `render` does not check the objects,
/// because the manifests of most tests are incomplete.
pub(crate) fn run_in(folder: &Path, arguments: &[&str], input: &str) -> Run {
    let unchecked = arguments.first() == Some(&"render") && folder != repository();
    run_checked(folder, &[arguments, if unchecked { &["--no-check"] } else { &[] }].concat(), input)
}

/// Runs the command in a folder, exactly as it is given.
pub(crate) fn run_checked(folder: &Path, arguments: &[&str], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_transship"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input closes the pipe, and writing to it fails.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
    Run::of(&child.wait_with_output().unwrap())
}

/// Runs a line in a shell, with the built `transship` in its path.
pub(crate) fn shell_in(folder: &Path, line: &str) -> Run {
    let binary = Path::new(env!("CARGO_BIN_EXE_transship")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("PATH", path).env("NO_COLOR", "1").current_dir(folder);
    Run::of(&command.output().unwrap())
}
