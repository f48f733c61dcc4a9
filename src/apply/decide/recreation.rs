//! Pure parts of recreating an object.

use serde_json::Value;

/// Returns an object without the addresses and ports of a Service that the live Service has allocated. A dry run of a
/// create would fail, because they are free only after the live Service is deleted.
pub(crate) fn without_allocated_fields(mut object: Value, live: &Value) -> Value {
    if object["kind"] != "Service" || object["apiVersion"] != "v1" {
        return object;
    }
    let (old, Some(spec)) = (&live["spec"], object.get_mut("spec").and_then(Value::as_object_mut)) else {
        return object;
    };
    for field in ["clusterIP", "clusterIPs", "healthCheckNodePort"] {
        if spec.get(field).is_some_and(|value| *value == old[field]) {
            spec.remove(field);
        }
    }
    let allocated: Vec<&Value> =
        old["ports"].as_array().into_iter().flatten().filter_map(|port| port.get("nodePort")).collect();
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        if port.get("nodePort").is_some_and(|number| allocated.contains(&number))
            && let Some(port) = port.as_object_mut()
        {
            port.remove("nodePort");
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::without_allocated_fields;

    #[test]
    fn only_values_of_the_live_service_are_removed() {
        let live = json!({"spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"],
            "ports": [{"port": 1, "nodePort": 30001}]}});
        let service = |spec: &serde_json::Value| json!({"apiVersion": "v1", "kind": "Service", "spec": spec});
        let same = json!({"clusterIP": "10.0.0.1", "ports": [{"port": 2, "nodePort": 30001}]});
        assert_eq!(without_allocated_fields(service(&same), &live)["spec"], json!({"ports": [{"port": 2}]}));
        let other = json!({"clusterIP": "None", "ports": [{"port": 2, "nodePort": 30002}]});
        assert_eq!(without_allocated_fields(service(&other), &live)["spec"], other);
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "spec": {"clusterIP": "10.0.0.1"}});
        assert_eq!(without_allocated_fields(map.clone(), &live), map, "not a Service");
    }
}
