//! The run level in a file name, such as `0000_50_cluster-storage-operator_10_deployment.yaml`.

/// The run level and the component in a file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunLevel<'a> {
    /// The digits after `0000_`. The cluster-version-operator compares them as text, so `5` and `05` differ.
    pub(crate) number: &'a str,
    /// The component. Files with the same number and different components can be applied at the same time.
    pub(crate) component: &'a str,
}

impl<'a> RunLevel<'a> {
    /// Reads a name of the form `0000_<digits>_<component>_…`. Any other name has no run level.
    pub(crate) fn of(file_name: &'a str) -> Option<Self> {
        let rest = file_name.strip_prefix("0000_")?;
        let (number, rest) = rest.split_once('_')?;
        let (component, _) = rest.split_once('_')?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        // As in the cluster-version-operator's regular expression: letters and digits, joined by single dashes.
        let is_component = component
            .split('-')
            .all(|segment| !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        (is_number && is_component).then_some(Self { number, component })
    }
}

#[cfg(test)]
mod tests {
    use super::RunLevel;

    #[test]
    fn reads_the_run_level_in_a_file_name() {
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
