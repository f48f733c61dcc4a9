//! The time of day, for people who read a Lease or a history. Decisions use a monotonic clock instead.

use k8s_openapi::jiff::Timestamp;

/// Returns the time in seconds, as Kubernetes writes it.
pub(crate) fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the time in microseconds, as Kubernetes writes it in a Lease.
pub(crate) fn now_micros() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::{now, now_micros};

    #[test]
    fn times_have_the_format_of_kubernetes() {
        assert_eq!(now().len(), "2026-11-18T15:04:05Z".len());
        assert_eq!(now_micros().len(), "2026-11-18T15:04:05.000000Z".len());
    }
}
