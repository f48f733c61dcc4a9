//! The run-level in a file's name: `0000_50_cluster-storage-operator_10_deployment.yaml`.

/// When and with whom a file is applied, as its name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLevel<'a> {
    /// The digits behind `0000_`. The cluster-version-operator compares them as text, so `5` is not `05`.
    pub number: &'a str,
    /// Files of one number and different components may be applied at once.
    pub component: &'a str,
}

impl<'a> RunLevel<'a> {
    /// Reads `0000_`, digits, `_`, letters and digits joined by single dashes, `_`. Any other name has no run-level.
    pub fn of(file_name: &'a str) -> Option<Self> {
        let rest = file_name.strip_prefix("0000_")?;
        let (number, rest) = rest.split_once('_')?;
        let (component, _) = rest.split_once('_')?;
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let words = component
            .split('-')
            .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        (digits && words).then_some(Self { number, component })
    }
}

#[cfg(test)]
mod tests {
    use super::RunLevel;

    #[test]
    fn names_with_and_without_a_run_level() {
        let level = |name| RunLevel::of(name).map(|level| (level.number, level.component));
        assert_eq!(
            level("0000_50_cluster-storage-operator_10_x.yaml"),
            Some(("50", "cluster-storage-operator"))
        );
        assert_eq!(level("0000_7_a_.yaml"), Some(("7", "a")));
        for name in [
            "0000_01_cleanup.yaml",
            "0000_10_always-included.yaml",
            "0000_90_openshift-cluster-image-policy.yaml",
            "99_x_y.yaml",
            "0000__x_y.yaml",
            "0000_5x_a_b.yaml",
            "0000_50_a--b_c.yaml",
            "0000_50_-a_c.yaml",
            "0000_50_é_c.yaml",
            "",
        ] {
            assert_eq!(level(name), None, "{name}");
        }
    }
}
