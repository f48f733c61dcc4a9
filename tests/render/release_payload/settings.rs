//! Settings of AWS, of the `ClusterCSIDriver` and of the hosted control plane in the bundled payload.

use serde_json::{Value, json};

use crate::required::{arguments, container, guest, has, management, pod, standalone, variable, volume_at};
use crate::storage::{GUEST, MANAGEMENT, containers, find, render};
use crate::support::{Folder, repository, run_in};

const CONTROLLER: &str = "aws-ebs-csi-driver-controller";

/// Returns the objects of a profile that is rendered with the object of a cluster.
fn render_with_object(profile: &str, object: &str) -> Vec<Value> {
    let folder = Folder::new();
    folder.write("object.yaml", object);
    let file = folder.path().join("object.yaml").display().to_string();
    render(profile, &["--cluster-objects", &file])
}

/// Returns a `HostedControlPlane` with annotations and a spec, each as a flow map.
fn hosted_control_plane(annotations: &str, spec: &str) -> String {
    format!(
        "apiVersion: hypershift.openshift.io/v1beta1\nkind: HostedControlPlane\n\
         metadata: {{name: example, namespace: clusters-example, annotations: {annotations}}}\nspec: {spec}\n"
    )
}

/// Returns an Infrastructure with a platform status for AWS, as a flow map.
fn infrastructure(aws: &str) -> String {
    format!(
        "apiVersion: config.openshift.io/v1\nkind: Infrastructure\nmetadata: {{name: cluster}}\n\
         status: {{platformStatus: {{type: AWS, aws: {aws}}}}}\n"
    )
}

fn driver(objects: &[Value]) -> Value {
    container(find(objects, "Deployment", CONTROLLER), "csi-driver")
}

fn extra_tags(objects: &[Value]) -> Vec<String> {
    arguments(&driver(objects)).into_iter().filter(|argument| argument.starts_with("--extra-tags")).collect()
}

/// The driver does not start with a tag that AWS reserves for Kubernetes.
#[test]
fn volumes_have_the_tags_of_the_cluster() {
    let tags = "[{key: kubernetes.io/cluster/example, value: owned}, {key: team, value: storage}, \
                {key: red-hat, value: a b@c}]";
    let own = format!("{{platform: {{aws: {{resourceTags: {tags}}}}}}}");
    let hosted = render_with_object(MANAGEMENT, &hosted_control_plane("{}", &own));
    let in_status = format!("{{resourceTags: {tags}}}");
    let alone = render_with_object("standalone", &infrastructure(&in_status));
    for objects in [&hosted, &alone] {
        assert_eq!(extra_tags(objects), ["--extra-tags=team=storage,red-hat=a b@c"]);
    }
    let reserved = "{resourceTags: [{key: kubernetes.io/cluster/example, value: owned}]}";
    for objects in [&render_with_object("standalone", &infrastructure(reserved)), management()] {
        assert_eq!(extra_tags(objects), [""; 0]);
    }
}

#[test]
fn the_driver_calls_the_ec2_endpoint_of_the_cluster() {
    let endpoints = "{serviceEndpoints: [{name: s3, url: 'https://s3.example'}, {name: ec2, url: 'https://ec2.example'}]}";
    let spec = format!("{{platform: {{aws: {endpoints}}}}}");
    let hosted = render_with_object(MANAGEMENT, &hosted_control_plane("{}", &spec));
    let alone = render_with_object("standalone", &infrastructure(endpoints));
    for objects in [&hosted, &alone] {
        assert_eq!(variable(&driver(objects), "AWS_EC2_ENDPOINT"), Some(json!("https://ec2.example")));
    }
    let others = "{serviceEndpoints: [{name: s3, url: 'https://s3.example'}]}";
    // The guest's administrator can write its Infrastructure, and must not redirect the driver of the management cluster.
    let redirected = render_with_object(MANAGEMENT, &infrastructure(endpoints));
    for objects in [&render_with_object("standalone", &infrastructure(others)), &redirected] {
        assert_eq!(variable(&driver(objects), "AWS_EC2_ENDPOINT"), None);
    }
}

#[test]
fn the_driver_trusts_the_authorities_of_the_aws_apis() {
    let (name, set) = ("aws-ebs-csi-driver-aws-ca-bundle", ["--set", "aws.caBundle=PEM"]);
    for profile in ["standalone", MANAGEMENT] {
        let objects = render(profile, &set);
        let controller = find(&objects, "Deployment", CONTROLLER);
        assert_eq!(variable(&driver(&objects), "AWS_CA_BUNDLE"), Some(json!("/etc/ca/ca-bundle.pem")));
        assert_eq!(volume_at(controller, "csi-driver", "/etc/ca")["configMap"]["name"], name);
        let bundle = find(&objects, "ConfigMap", name);
        assert_eq!(bundle["data"], json!({"ca-bundle.pem": "PEM"}));
        assert_eq!(bundle["metadata"]["namespace"], controller["metadata"]["namespace"]);
    }
    assert!(!has(&render(GUEST, &set), "ConfigMap", name), "no pod of the guest calls the AWS APIs");
    assert_eq!(variable(&driver(management()), "AWS_CA_BUNDLE"), None);
}

#[test]
fn the_storage_classes_name_the_key_of_the_cluster_csi_driver() {
    let key = "arn:aws:kms:us-east-1:012345678901:key/0a1b-2c3d";
    let object = format!(
        "apiVersion: operator.openshift.io/v1\nkind: ClusterCSIDriver\nmetadata: {{name: ebs.csi.aws.com}}\n\
         spec: {{driverConfig: {{driverType: AWS, aws: {{kmsKeyARN: '{key}'}}}}}}\n"
    );
    for (profile, without) in [("standalone", standalone()), (GUEST, guest())] {
        let objects = render_with_object(profile, &object);
        for class in ["gp2-csi", "gp3-csi"] {
            let parameters = &find(&objects, "StorageClass", class)["parameters"];
            assert_eq!((&parameters["kmsKeyId"], &parameters["encrypted"]), (&json!(key), &json!("true")));
            assert_eq!(find(without, "StorageClass", class)["parameters"].get("kmsKeyId"), None);
        }
    }
}

/// Returns the arguments of a profile's kube-rbac-proxies for one flag, each once.
fn of_proxies(objects: &[Value], flag: &str) -> Vec<String> {
    let proxies = [CONTROLLER, "csi-snapshot-controller"]
        .into_iter()
        .flat_map(|workload| containers(find(objects, "Deployment", workload), "containers"))
        .filter(|one| one["name"].as_str().unwrap().ends_with("kube-rbac-proxy"));
    let mut found: Vec<String> = proxies
        .flat_map(|proxy| {
            let own: Vec<String> =
                arguments(&proxy).into_iter().filter(|argument| argument.starts_with(flag)).collect();
            assert_eq!(own.len(), 1, "{proxy}");
            own
        })
        .collect();
    assert_eq!(found.len(), 6);
    found.dedup();
    found
}

/// Returns the configuration of an operator.
fn operator_config(objects: &[Value]) -> String {
    find(objects, "ConfigMap", "cluster-storage-operator-config")["data"].to_string()
}

/// The names of OpenSSL become those of IANA. Go does not know all of them.
#[test]
fn metrics_endpoints_and_operators_follow_the_tls_profile() {
    let with = |profile: &str| {
        let spec = format!("{{configuration: {{apiServer: {{tlsSecurityProfile: {profile}}}}}}}");
        render_with_object(MANAGEMENT, &hosted_control_plane("{}", &spec))
    };
    let custom = with(
        "{type: Custom, custom: {minTLSVersion: VersionTLS11, ciphers: [ECDHE-RSA-AES128-GCM-SHA256, DHE-RSA-AES256-SHA256, ECDHE-RSA-AES256-SHA]}}",
    );
    let suites = ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"];
    assert_eq!(of_proxies(&custom, "--tls-min-version="), ["--tls-min-version=VersionTLS11"]);
    assert_eq!(
        of_proxies(&custom, "--tls-cipher-suites="),
        [format!("--tls-cipher-suites={}", suites.join(","))]
    );
    for word in suites.iter().chain(&["VersionTLS11"]) {
        assert!(operator_config(&custom).contains(word), "{word}");
    }
    let old = with("{type: Old, old: {}}");
    assert_eq!(of_proxies(&old, "--tls-min-version="), ["--tls-min-version=VersionTLS10"]);
    assert!(of_proxies(&old, "--tls-cipher-suites=")[0].ends_with(",TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"));
    let modern = with("{type: Modern, modern: {}}");
    assert_eq!(of_proxies(&modern, "--tls-min-version="), ["--tls-min-version=VersionTLS13"]);
    assert!(operator_config(&modern).contains("VersionTLS13"));
    assert!(!operator_config(&modern).contains("cipherSuites"), "those of TLS 1.3 cannot be configured");
}

#[test]
fn annotations_override_the_requests_of_single_containers() {
    let prefix = "resource-request-override.hypershift.openshift.io";
    let annotations = format!(
        "{{{prefix}/{CONTROLLER}.csi-driver: 'cpu=200m,memory=1Gi', \
         {prefix}/cluster-storage-operator.wait-for-guest: memory=30Mi, {prefix}/etcd.etcd: memory=9Gi, other: a}}"
    );
    let objects = render_with_object(MANAGEMENT, &hosted_control_plane(&annotations, "{}"));
    let requests = |objects: &[Value], workload: &str, name: &str| {
        container(find(objects, "Deployment", workload), name)["resources"]["requests"].clone()
    };
    assert_eq!(requests(&objects, CONTROLLER, "csi-driver"), json!({"cpu": "200m", "memory": "1Gi"}));
    let waits = ("cluster-storage-operator", "wait-for-guest");
    let mut expected = requests(management(), waits.0, waits.1);
    expected["memory"] = json!("30Mi");
    assert_eq!(requests(&objects, waits.0, waits.1), expected, "the other requests stay");
    for name in ["csi-attacher", "driver-kube-rbac-proxy"] {
        assert_eq!(requests(&objects, CONTROLLER, name), requests(management(), CONTROLLER, name));
    }
    assert!(pod(find(&objects, "Deployment", CONTROLLER)).to_string().find("9Gi").is_none());
}

/// HyperShift does not change the hosted control plane either. Without the pause, the command would ask for kubeconfigs.
#[test]
fn apply_is_paused_with_the_hosted_control_plane() {
    let folder = Folder::new();
    let apply = |spec: &str| {
        folder.write("hcp.yaml", hosted_control_plane("{}", spec));
        let file = folder.path().join("hcp.yaml").display().to_string();
        let arguments = ["apply", "--topology", "hypershift", "--hosted-control-plane", &file];
        run_in(&repository(), &arguments, "").refusal()
    };
    let paused = "the topology `hypershift` is paused until 9999-01-01T00:00:00Z";
    let refusal = apply("{pausedUntil: '9999-01-01T00:00:00Z'}");
    assert!(refusal.contains(paused) && refusal.contains("--set hcp.pausedUntil=false"), "{refusal}");
    assert!(!apply("{}").contains("paused"));
}
