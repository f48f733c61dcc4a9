//! Tests of the fault proxy.

use std::time::{Duration, Instant};

use http::Request;
use kube::client::Body;

use crate::TestBedCase;
use crate::fault_proxy::When;
use crate::fault_rules::{Fault, Reply, RequestMatcher};
use crate::requests::{self, Response, block_on};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("fault_proxy::requests_are_forwarded_and_counted", requests_are_forwarded_and_counted),
    ("fault_proxy::a_watch_is_streamed", a_watch_is_streamed),
    ("fault_proxy::faults_affect_only_matching_requests", faults_affect_only_matching_requests),
    ("fault_proxy::a_request_that_is_cut_never_arrives", a_request_that_is_cut_never_arrives),
    ("fault_proxy::a_request_whose_response_is_cut_arrives", a_request_whose_response_is_cut_arrives),
    ("fault_proxy::the_proxy_can_respond_itself", the_proxy_can_respond_itself),
    ("fault_proxy::a_truncated_body_is_an_error", a_truncated_body_is_an_error),
    ("fault_proxy::requests_stop_at_a_chosen_one", requests_stop_at_a_chosen_one),
    ("fault_proxy::the_proxy_can_refuse_connections", the_proxy_can_refuse_connections),
];

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Sends a request through the proxy.
fn ask(cluster: &TestCluster, method: &str, path: &str, body: &str) -> Result<Response, kube::Error> {
    block_on(async {
        let client = requests::client(cluster.kubeconfig(), "transship-test").await;
        requests::call(&client, method, path, "application/json", body.into()).await
    })
}

/// Creates a `ConfigMap` through the proxy.
fn create(cluster: &TestCluster, name: &str) -> Result<Response, kube::Error> {
    ask(cluster, "POST", MAPS, &format!(r#"{{"metadata": {{"name": "{name}"}}}}"#))
}

fn is_there(cluster: &TestCluster, name: &str) -> bool {
    cluster.get(&format!("{MAPS}/{name}")).is_some()
}

fn requests_are_forwarded_and_counted(bed: &TestBed) {
    let cluster = &bed.management;
    assert_eq!(create(cluster, "it").unwrap().code, 201);
    assert_eq!(ask(cluster, "GET", "/version?x=y", "").unwrap().code, 200);
    let seen: Vec<_> = cluster.proxy.seen().into_iter().map(|it| (it.number, it.method, it.path)).collect();
    let expected =
        [(1, "POST".to_owned(), MAPS.to_owned()), (2, "GET".to_owned(), "/version?x=y".to_owned())];
    assert_eq!(seen, expected);
    cluster.proxy.reset();
    assert!(cluster.proxy.seen().is_empty() && is_there(cluster, "it"));
    ask(cluster, "GET", "/version", "").unwrap();
    assert_eq!(cluster.proxy.seen()[0].number, 1);
}

fn a_watch_is_streamed(bed: &TestBed) {
    use http_body_util::BodyExt;
    let cluster = &bed.guest;
    block_on(async {
        let client = requests::client(cluster.kubeconfig(), "transship-test").await;
        let request = Request::get(format!("{MAPS}?watch=true&fieldSelector=metadata.name%3Dit"));
        let mut response = client.send(request.body(Body::empty()).unwrap()).await.unwrap();
        for step in ["ADDED", "DELETED"] {
            match step {
                "ADDED" => drop(
                    requests::send(&client, "POST", MAPS, &serde_json::json!({"metadata": {"name": "it"}}))
                        .await
                        .unwrap(),
                ),
                _ => drop(
                    requests::send(&client, "DELETE", &format!("{MAPS}/it"), &serde_json::Value::Null)
                        .await
                        .unwrap(),
                ),
            }
            let frame = tokio::time::timeout(Duration::from_secs(5), response.frame()).await.unwrap();
            let event = frame.unwrap().unwrap().into_data().unwrap();
            assert!(String::from_utf8_lossy(&event).contains(step), "{event:?}");
        }
    });
}

fn faults_affect_only_matching_requests(bed: &TestBed) {
    let cluster = &bed.guest;
    cluster.proxy.fault(RequestMatcher::Number(2), 1, Fault::Respond(Reply::status(500, "InternalError")));
    cluster.proxy.fault(
        RequestMatcher::matching(|it| it.method == "POST"),
        2,
        Fault::Respond(Reply::status(429, "TooManyRequests")),
    );
    let codes =
        |count| (0..count).map(|_| ask(cluster, "GET", "/version", "").unwrap().code).collect::<Vec<_>>();
    assert_eq!(codes(3), [200, 500, 200]);
    let created: Vec<_> = (0..3).map(|_| create(cluster, "it").unwrap().code).collect();
    assert_eq!(created, [429, 429, 201]);
    cluster.proxy.fault(
        RequestMatcher::All,
        usize::MAX,
        Fault::Respond(Reply::status(503, "ServiceUnavailable")),
    );
    assert_eq!(codes(2), [503, 503]);
    cluster.proxy.clear_faults();
    assert_eq!(codes(1), [200]);
    cluster.proxy.fault(RequestMatcher::All, 1, Fault::Delay(Duration::from_millis(300)));
    let began = Instant::now();
    assert_eq!(codes(1), [200]);
    assert!(began.elapsed() >= Duration::from_millis(300));
}

fn a_request_that_is_cut_never_arrives(bed: &TestBed) {
    let cluster = &bed.guest;
    let mark = cluster.audit.mark();
    cluster.proxy.fault(RequestMatcher::All, 1, Fault::Cut);
    create(cluster, "it").unwrap_err();
    assert!(!is_there(cluster, "it"));
    assert!(crate::audit::writes(&cluster.audit.since(mark)).is_empty());
}

fn a_request_whose_response_is_cut_arrives(bed: &TestBed) {
    let cluster = &bed.guest;
    let mark = cluster.audit.mark();
    cluster.proxy.fault(RequestMatcher::All, 1, Fault::CutAfter);
    create(cluster, "it").unwrap_err();
    assert!(is_there(cluster, "it"));
    assert_eq!(crate::audit::writes(&cluster.audit.since(mark)).len(), 1);
}

fn the_proxy_can_respond_itself(bed: &TestBed) {
    let cluster = &bed.guest;
    let reply = Reply::status(504, "Timeout").header("retry-after", "1");
    cluster.proxy.fault(RequestMatcher::Number(1), 1, Fault::Respond(reply.clone()));
    cluster.proxy.fault(RequestMatcher::Number(2), 1, Fault::RespondAfter(reply));
    let response = create(cluster, "before").unwrap();
    assert!(response.code == 504 && response.text.contains("Timeout"), "{response:?}");
    assert_eq!(create(cluster, "after").unwrap().code, 504);
    assert!(!is_there(cluster, "before") && is_there(cluster, "after"));
}

fn a_truncated_body_is_an_error(bed: &TestBed) {
    let cluster = &bed.guest;
    cluster.proxy.fault(RequestMatcher::All, 2, Fault::CutBody);
    ask(cluster, "GET", "/api/v1/namespaces", "").unwrap_err();
    // The first events of a watch are forwarded; then it ends early.
    ask(cluster, "GET", "/api/v1/namespaces?watch=true", "").unwrap_err();
    ask(cluster, "GET", "/api/v1/namespaces", "").unwrap();
}

fn requests_stop_at_a_chosen_one(bed: &TestBed) {
    let cluster = &bed.guest;
    for (when, arrives) in [(When::Before, false), (When::After, true)] {
        cluster.proxy.reset();
        let stop = cluster.proxy.stop_at(2, when);
        std::thread::scope(|scope| {
            let client = scope.spawn(|| {
                ask(cluster, "GET", "/version", "").unwrap();
                create(cluster, "it")
            });
            assert_eq!(stop.wait(Duration::from_secs(5)).unwrap().method, "POST");
            assert_eq!(is_there(cluster, "it"), arrives);
            std::thread::sleep(Duration::from_millis(100));
            assert!(!client.is_finished(), "it is held");
            cluster.proxy.reset();
            client.join().unwrap().unwrap_err();
        });
    }
    let stop = cluster.proxy.stop_at(9, When::Before);
    assert!(stop.wait(Duration::from_millis(50)).is_none());
}

fn the_proxy_can_refuse_connections(bed: &TestBed) {
    let cluster = &bed.guest;
    assert_eq!(ask(cluster, "GET", "/version", "").unwrap().code, 200);
    cluster.proxy.refuse(true);
    let error = format!("{:?}", ask(cluster, "GET", "/version", "").unwrap_err());
    assert!(error.contains("ConnectionRefused"), "{error}");
    assert!(cluster.get("/version").is_some(), "only the way to it is closed");
    cluster.proxy.refuse(false);
    assert_eq!(ask(cluster, "GET", "/version", "").unwrap().code, 200);
}
