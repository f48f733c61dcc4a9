//! The fields of cloud credentials, and which values they accept.

/// A cloud whose credentials a workload can get for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cloud {
    Aws,
    Azure,
    Gcp,
}

impl Cloud {
    pub(crate) const ALL: [Self; 3] = [Self::Aws, Self::Azure, Self::Gcp];

    /// Returns the name that a user writes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Aws => "aws",
            Self::Azure => "azure",
            Self::Gcp => "gcp",
        }
    }

    /// Returns the cloud with a name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cloud| cloud.name() == name)
    }

    /// Returns the fields of its credentials.
    pub(crate) fn fields(self) -> &'static [CloudField] {
        match self {
            Self::Aws => &AWS,
            Self::Azure => &AZURE,
            Self::Gcp => &GCP,
        }
    }

    /// Returns the field with a name.
    pub(crate) fn field(self, name: &str) -> Option<&'static CloudField> {
        self.fields().iter().find(|field| field.name == name)
    }

    /// Returns the name of the field with the identity that the cloud knows.
    pub(super) fn identity_field(self) -> &'static str {
        match self {
            Self::Aws => "roleARN",
            Self::Azure => "clientID",
            Self::Gcp => "serviceAccountEmail",
        }
    }
}

/// A field of cloud credentials.
#[derive(Debug)]
pub(crate) struct CloudField {
    /// The name that a user writes.
    pub(crate) name: &'static str,
    /// Its use.
    pub(super) purpose: Purpose,
    /// The accepted values, for messages.
    pub(super) expected: &'static str,
    is_valid: fn(&str) -> bool,
}

/// The use of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The files of the Secret.
    Files,
    /// The document that lets ServiceAccounts of the guest use the identity.
    Trust,
}

impl CloudField {
    /// Returns whether a value is valid.
    pub(super) fn accepts(&self, value: &str) -> bool {
        value.len() <= MAX_LENGTH && (self.is_valid)(value)
    }
}

/// The maximum length of a value, in bytes.
const MAX_LENGTH: usize = 1024;

const TOKEN_FILE: CloudField = CloudField {
    name: "tokenFile",
    purpose: Purpose::Files,
    expected: "an absolute path of letters, digits, `.`, `_`, `-` and `/`",
    is_valid: is_path,
};

const ISSUER_URL: CloudField = CloudField {
    name: "issuerURL",
    purpose: Purpose::Trust,
    expected: "a URL such as https://issuer.example/guest, without a query",
    is_valid: is_issuer_url,
};

static AWS: [CloudField; 4] = [
    CloudField {
        name: "roleARN",
        purpose: Purpose::Files,
        expected: "the ARN of a role, such as arn:aws:iam::123456789012:role/example",
        is_valid: is_role_arn,
    },
    CloudField {
        name: "region",
        purpose: Purpose::Files,
        expected: "the name of a region, such as us-east-1",
        is_valid: is_region,
    },
    TOKEN_FILE,
    ISSUER_URL,
];

static AZURE: [CloudField; 6] = [
    CloudField { name: "clientID", purpose: Purpose::Files, expected: UUID, is_valid: is_uuid },
    CloudField { name: "tenantID", purpose: Purpose::Files, expected: UUID, is_valid: is_uuid },
    CloudField { name: "subscriptionID", purpose: Purpose::Files, expected: UUID, is_valid: is_uuid },
    CloudField {
        name: "location",
        purpose: Purpose::Files,
        expected: "the name of a location, such as eastus",
        is_valid: is_location,
    },
    TOKEN_FILE,
    ISSUER_URL,
];

const UUID: &str = "a UUID, such as 01234567-89ab-cdef-0123-456789abcdef";

static GCP: [CloudField; 6] = [
    CloudField {
        name: "serviceAccountEmail",
        purpose: Purpose::Files,
        expected: "the email address of a service account, such as example@project.iam.gserviceaccount.com",
        is_valid: is_service_account_email,
    },
    CloudField {
        name: "projectNumber",
        purpose: Purpose::Files,
        expected: "the number of a project, such as 123456789012",
        is_valid: is_number,
    },
    CloudField { name: "poolID", purpose: Purpose::Files, expected: POOL_ID, is_valid: is_pool_id },
    CloudField { name: "providerID", purpose: Purpose::Files, expected: POOL_ID, is_valid: is_pool_id },
    TOKEN_FILE,
    ISSUER_URL,
];

const POOL_ID: &str = "4 to 32 lower-case letters, digits and `-`";

/// Returns whether a text is not empty and has only letters, digits and these characters.
fn consists_of(text: &str, others: &str) -> bool {
    let is_allowed = |char: char| char.is_ascii_alphanumeric() || others.contains(char);
    !text.is_empty() && text.chars().all(is_allowed)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn has_no_upper_case(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') && consists_of(text, "._-/")
}

fn is_issuer_url(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://") else { return false };
    let host = rest.split('/').next().unwrap_or_default();
    consists_of(host, ".-:") && consists_of(rest, "._~-:/")
}

fn is_role_arn(text: &str) -> bool {
    let parts: Vec<&str> = text.splitn(6, ':').collect();
    let ["arn", partition, "iam", "", account, resource] = parts[..] else { return false };
    let Some(name) = resource.strip_prefix("role/") else { return false };
    is_partition(partition) && account.len() == 12 && is_number(account) && consists_of(name, "+=,.@_-/")
}

/// A part of AWS with accounts of its own: `aws`, `aws-cn`, `aws-us-gov`.
fn is_partition(text: &str) -> bool {
    text.starts_with("aws") && consists_of(text, "-") && has_no_upper_case(text)
}

fn is_region(text: &str) -> bool {
    consists_of(text, "-") && has_no_upper_case(text)
}

fn is_location(text: &str) -> bool {
    consists_of(text, "") && has_no_upper_case(text)
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12] && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

fn is_service_account_email(text: &str) -> bool {
    let Some((name, domain)) = text.split_once('@') else { return false };
    let Some(project) = domain.strip_suffix(".iam.gserviceaccount.com") else { return false };
    consists_of(name, "-") && consists_of(project, "-.") && has_no_upper_case(text)
}

fn is_pool_id(text: &str) -> bool {
    (4..=32).contains(&text.len()) && consists_of(text, "-") && has_no_upper_case(text)
}

#[cfg(test)]
mod tests {
    use super::{Cloud, CloudField};

    /// Valid values of each field.
    const VALID: [(&str, &[&str]); 12] = [
        (
            "roleARN",
            &[
                "arn:aws:iam::123456789012:role/ebs",
                "arn:aws-cn:iam::123456789012:role/path/a_b+c=d,e.f@g-h",
                "arn:aws-us-gov:iam::123456789012:role/ebs",
            ],
        ),
        ("region", &["us-east-1", "us-gov-west-1"]),
        ("tokenFile", &["/var/run/secrets/openshift/serviceaccount/token", "/a_b-c.d"]),
        (
            "issuerURL",
            &["https://oidc.s3.us-east-1.amazonaws.com/guest", "https://a:8443", "https://a/b~c_d-e/"],
        ),
        ("clientID", &["01234567-89ab-cdef-0123-456789ABCDEF"]),
        ("tenantID", &["01234567-89ab-cdef-0123-456789abcdef"]),
        ("subscriptionID", &["01234567-89ab-cdef-0123-456789abcdef"]),
        ("location", &["eastus", "westus2"]),
        (
            "serviceAccountEmail",
            &["ebs-1@project-1.iam.gserviceaccount.com", "a@p.org.iam.gserviceaccount.com"],
        ),
        ("projectNumber", &["1", "123456789012"]),
        ("poolID", &["pool", "a-pool-1"]),
        ("providerID", &["provider"]),
    ];

    /// Values that no field accepts.
    const NEVER_VALID: [&str; 12] = [
        "",
        " ",
        "a\nb",
        "\u{1b}[0m",
        "${x}",
        "a\"b",
        "a\\b",
        "arn:aws:iam::123456789012:role/ebs\nrole_arn = x",
        "us-east-1\r[other]",
        "/token\u{2028}",
        "https://a/b?c=d#e",
        "é",
    ];

    fn fields() -> impl Iterator<Item = &'static CloudField> {
        Cloud::ALL.into_iter().flat_map(Cloud::fields)
    }

    #[test]
    fn each_field_accepts_valid_values() {
        for field in fields() {
            let (_, values) = VALID.iter().find(|(name, _)| *name == field.name).unwrap();
            for value in *values {
                assert!(field.accepts(value), "{} refuses {value}", field.name);
                // Nothing may come before or after a valid value.
                for hostile in
                    [format!("{value}\n"), format!("\n{value}"), format!("{value}\"}}"), format!(" {value}")]
                {
                    assert!(!field.accepts(&hostile), "{} accepts {hostile:?}", field.name);
                }
            }
        }
    }

    #[test]
    fn no_field_accepts_characters_that_mean_something_in_a_file() {
        for field in fields() {
            for value in NEVER_VALID {
                assert!(!field.accepts(value), "{} accepts {value:?}", field.name);
            }
            assert!(!field.accepts(&"a".repeat(2000)), "{} accepts a long text", field.name);
        }
    }

    #[test]
    fn values_of_another_shape_are_refused() {
        let refused = [
            ("roleARN", "arn:aws:iam::12345678901:role/ebs"),
            ("roleARN", "arn:aws:iam::12345678901a:role/ebs"),
            ("roleARN", "arn:aws:iam::123456789012:user/ebs"),
            ("roleARN", "arn:aws:iam::123456789012:role/"),
            ("roleARN", "arn:aws:iam:us-east-1:123456789012:role/ebs"),
            ("roleARN", "arn:gcp:iam::123456789012:role/ebs"),
            ("region", "US-EAST-1"),
            ("tokenFile", "token"),
            ("issuerURL", "http://a"),
            ("issuerURL", "https:///a"),
            ("clientID", "01234567-89ab-cdef-0123-456789abcde"),
            ("clientID", "01234567-89ab-cdef-0123-456789abcdeg"),
            ("location", "East US"),
            ("serviceAccountEmail", "a@example.com"),
            ("serviceAccountEmail", "a@b@c.iam.gserviceaccount.com"),
            ("projectNumber", "project-1"),
            ("poolID", "abc"),
        ];
        for (name, value) in refused {
            let field = fields().find(|field| field.name == name).unwrap();
            assert!(!field.accepts(value), "{name} accepts {value}");
        }
    }
}
