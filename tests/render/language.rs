//! The language: what each construct does, and the errors for its misuse.

mod mistakes;
mod pages;
mod patches;
mod profiles;
mod schema;
mod values;

use serde_json::Value;

use crate::support::{TestProject, object};

/// Creates the component `op` with a Deployment, a Service and a ConfigMap, and the profile `test`.
fn project_with_three_objects() -> TestProject {
    let deployment = r"spec:
  template:
    metadata: {labels: {app: a}}
    spec:
      hostNetwork: true
      tolerations: [{key: old}]
      initContainers: [{name: i}]
      containers: [{name: c, args: [run]}]
";
    TestProject::new()
        .manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "a", deployment))
        .manifest("op/2.yaml", &object("v1", "Service", "ns", "s", ""))
        .manifest("op/3.yaml", &object("v1", "ConfigMap", "ns", "cm", "data: {}"))
        .page("op", "")
        .profile("test", "topology: t\ncluster: both")
}

/// Declares parameters, and a profile that uses each of them, because an unused parameter is an error.
fn declare_parameters(project: TestProject) -> TestProject {
    project
        .parameters(
            r"
            parameters:
              a.text: {type: string, description: d, default: hello}
              a.whole: {type: int, description: d, default: 5}
              a.flag: {type: bool, description: d, default: true}
              a.list: {type: list, description: d, default: [x, {k: v}]}
              a.none: {type: string, description: d, optional: true}
              ns: {type: name, description: d, default: target}
            ",
        )
        .profile(
            "user",
            r"
            topology: user
            cluster: both
            policy: [{for: Lease, set: ['${a.text}', '${a.whole}', '${a.flag}', '${a.list}', '${a.none}', '${ns}']}]
            ",
        )
}

/// Returns the rows of `transship list` for the profile `test`.
fn list(project: &TestProject) -> Vec<Value> {
    let run = project.run(&["list", "--profile", "test", "-o", "json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}
