//! That the fault proxy does what its cases rely on.

use std::time::{Duration, Instant};

use http::Request;
use kube::client::Body;

use crate::BedCase;
use crate::bed::Bed;
use crate::call::{self, Answer, block_on};
use crate::faults::{Fault, Reply, Which};
use crate::proxy::When;
use crate::side::Side;

pub(crate) const CASES: &[BedCase] = &[
    ("proxy_itself::requests_pass_and_are_counted", requests_pass_and_are_counted),
    ("proxy_itself::a_watch_flows", a_watch_flows),
    ("proxy_itself::faults_strike_whom_they_are_meant_for", faults_strike_whom_they_are_meant_for),
    ("proxy_itself::what_is_cut_before_never_arrives", what_is_cut_before_never_arrives),
    ("proxy_itself::what_is_cut_after_arrives", what_is_cut_after_arrives),
    ("proxy_itself::an_answer_may_be_somebody_elses", an_answer_may_be_somebody_elses),
    ("proxy_itself::half_a_body_is_an_error", half_a_body_is_an_error),
    ("proxy_itself::everything_stops_where_it_should", everything_stops_where_it_should),
    ("proxy_itself::a_cluster_may_be_unreachable", a_cluster_may_be_unreachable),
];

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Asks for something through the proxy.
fn ask(side: &Side, method: &str, path: &str, body: &str) -> Result<Answer, kube::Error> {
    block_on(async {
        let client = call::client(side.kubeconfig(), "transship-test").await;
        call::call(&client, method, path, "application/json", body.into()).await
    })
}

/// Creates a configuration through the proxy.
fn create(side: &Side, name: &str) -> Result<Answer, kube::Error> {
    ask(side, "POST", MAPS, &format!(r#"{{"metadata": {{"name": "{name}"}}}}"#))
}

fn is_there(side: &Side, name: &str) -> bool {
    side.get(&format!("{MAPS}/{name}")).is_some()
}

fn requests_pass_and_are_counted(bed: &Bed) {
    let side = &bed.management;
    assert_eq!(create(side, "it").unwrap().code, 201);
    assert_eq!(ask(side, "GET", "/version?x=y", "").unwrap().code, 200);
    let seen: Vec<_> = side.proxy.seen().into_iter().map(|it| (it.number, it.method, it.path)).collect();
    let expected =
        [(1, "POST".to_owned(), MAPS.to_owned()), (2, "GET".to_owned(), "/version?x=y".to_owned())];
    assert_eq!(seen, expected);
    side.proxy.reset();
    assert!(side.proxy.seen().is_empty() && is_there(side, "it"));
    ask(side, "GET", "/version", "").unwrap();
    assert_eq!(side.proxy.seen()[0].number, 1);
}

fn a_watch_flows(bed: &Bed) {
    use http_body_util::BodyExt;
    let side = &bed.guest;
    block_on(async {
        let client = call::client(side.kubeconfig(), "transship-test").await;
        let request = Request::get(format!("{MAPS}?watch=true&fieldSelector=metadata.name%3Dit"));
        let mut answer = client.send(request.body(Body::empty()).unwrap()).await.unwrap();
        for step in ["ADDED", "DELETED"] {
            match step {
                "ADDED" => drop(
                    call::send(&client, "POST", MAPS, &serde_json::json!({"metadata": {"name": "it"}}))
                        .await
                        .unwrap(),
                ),
                _ => drop(
                    call::send(&client, "DELETE", &format!("{MAPS}/it"), &serde_json::Value::Null)
                        .await
                        .unwrap(),
                ),
            }
            let frame = tokio::time::timeout(Duration::from_secs(5), answer.frame()).await.unwrap();
            let event = frame.unwrap().unwrap().into_data().unwrap();
            assert!(String::from_utf8_lossy(&event).contains(step), "{event:?}");
        }
    });
}

fn faults_strike_whom_they_are_meant_for(bed: &Bed) {
    let side = &bed.guest;
    side.proxy.fault(Which::Number(2), 1, Fault::Answer(Reply::status(500, "InternalError")));
    side.proxy.fault(
        Which::matching(|it| it.method == "POST"),
        2,
        Fault::Answer(Reply::status(429, "TooManyRequests")),
    );
    let codes =
        |count| (0..count).map(|_| ask(side, "GET", "/version", "").unwrap().code).collect::<Vec<_>>();
    assert_eq!(codes(3), [200, 500, 200]);
    let created: Vec<_> = (0..3).map(|_| create(side, "it").unwrap().code).collect();
    assert_eq!(created, [429, 429, 201]);
    side.proxy.fault(Which::All, usize::MAX, Fault::Answer(Reply::status(503, "ServiceUnavailable")));
    assert_eq!(codes(2), [503, 503]);
    side.proxy.clear_faults();
    assert_eq!(codes(1), [200]);
    side.proxy.fault(Which::All, 1, Fault::Delay(Duration::from_millis(300)));
    let began = Instant::now();
    assert_eq!(codes(1), [200]);
    assert!(began.elapsed() >= Duration::from_millis(300));
}

fn what_is_cut_before_never_arrives(bed: &Bed) {
    let side = &bed.guest;
    let mark = side.audit.mark();
    side.proxy.fault(Which::All, 1, Fault::Cut);
    create(side, "it").unwrap_err();
    assert!(!is_there(side, "it"));
    assert!(crate::audit::writes(&side.audit.since(mark)).is_empty());
}

fn what_is_cut_after_arrives(bed: &Bed) {
    let side = &bed.guest;
    let mark = side.audit.mark();
    side.proxy.fault(Which::All, 1, Fault::CutAfter);
    create(side, "it").unwrap_err();
    assert!(is_there(side, "it"));
    assert_eq!(crate::audit::writes(&side.audit.since(mark)).len(), 1);
}

fn an_answer_may_be_somebody_elses(bed: &Bed) {
    let side = &bed.guest;
    let reply = Reply::status(504, "Timeout").header("retry-after", "1");
    side.proxy.fault(Which::Number(1), 1, Fault::Answer(reply.clone()));
    side.proxy.fault(Which::Number(2), 1, Fault::AnswerAfter(reply));
    let answer = create(side, "before").unwrap();
    assert!(answer.code == 504 && answer.text.contains("Timeout"), "{answer:?}");
    assert_eq!(create(side, "after").unwrap().code, 504);
    assert!(!is_there(side, "before") && is_there(side, "after"));
}

fn half_a_body_is_an_error(bed: &Bed) {
    let side = &bed.guest;
    side.proxy.fault(Which::All, 2, Fault::CutBody);
    ask(side, "GET", "/api/v1/namespaces", "").unwrap_err();
    // The first events of a watch are passed on; then it ends before its time.
    ask(side, "GET", "/api/v1/namespaces?watch=true", "").unwrap_err();
    ask(side, "GET", "/api/v1/namespaces", "").unwrap();
}

fn everything_stops_where_it_should(bed: &Bed) {
    let side = &bed.guest;
    for (when, arrives) in [(When::Before, false), (When::After, true)] {
        side.proxy.reset();
        let stop = side.proxy.stop_at(2, when);
        std::thread::scope(|scope| {
            let client = scope.spawn(|| {
                ask(side, "GET", "/version", "").unwrap();
                create(side, "it")
            });
            assert_eq!(stop.wait(Duration::from_secs(5)).unwrap().method, "POST");
            assert_eq!(is_there(side, "it"), arrives);
            std::thread::sleep(Duration::from_millis(100));
            assert!(!client.is_finished(), "it is held");
            side.proxy.reset();
            client.join().unwrap().unwrap_err();
        });
    }
    let stop = side.proxy.stop_at(9, When::Before);
    assert!(stop.wait(Duration::from_millis(50)).is_none());
}

fn a_cluster_may_be_unreachable(bed: &Bed) {
    let side = &bed.guest;
    assert_eq!(ask(side, "GET", "/version", "").unwrap().code, 200);
    side.proxy.refuse(true);
    let error = format!("{:?}", ask(side, "GET", "/version", "").unwrap_err());
    assert!(error.contains("ConnectionRefused"), "{error}");
    assert!(side.get("/version").is_some(), "only the way to it is closed");
    side.proxy.refuse(false);
    assert_eq!(ask(side, "GET", "/version", "").unwrap().code, 200);
}
