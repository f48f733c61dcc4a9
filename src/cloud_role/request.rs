//! Reads a `CredentialsRequest`. A field of its permissions that is not known is an error: the documents would lack it.

use serde_json::Value as Json;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::object::{Cloud, Object, mask};
use crate::yaml::{Node, Sources};

/// The group and the kind of the object.
const KIND: (&str, &str) = ("cloudcredential.openshift.io", "CredentialsRequest");

/// The kinds of `providerSpec` with permissions that have a document.
const PROVIDERS: [(&str, Cloud); 3] =
    [("AWSProviderSpec", Cloud::Aws), ("AzureProviderSpec", Cloud::Azure), ("GCPProviderSpec", Cloud::Gcp)];

/// The permissions of a workload in its cloud, and the ServiceAccounts that it runs as.
#[derive(Debug)]
pub(crate) struct CredentialsRequest {
    /// The name of the object.
    pub(crate) name: String,
    /// The object, for messages.
    pub(super) id: String,
    /// The namespace of the Secret and of the ServiceAccounts.
    namespace: String,
    /// The name of the Secret with the credentials.
    pub(crate) secret: String,
    service_accounts: Vec<String>,
    /// The permissions.
    pub(crate) permissions: Permissions,
}

/// The permissions of a workload in its cloud.
#[derive(Debug)]
pub(crate) enum Permissions {
    Aws(Vec<AwsStatement>),
    Azure(AzurePermissions),
    Gcp(GcpPermissions),
}

/// A statement of a policy document.
#[derive(Debug)]
pub(crate) struct AwsStatement {
    pub(super) effect: String,
    pub(super) action: Vec<String>,
    pub(super) resource: String,
    pub(super) condition: Option<Json>,
}

/// Actions for a custom role, and the names of predefined roles.
#[derive(Debug)]
pub(crate) struct AzurePermissions {
    pub(super) actions: Vec<String>,
    pub(super) data_actions: Vec<String>,
    pub(super) roles: Vec<String>,
}

/// Permissions for a custom role, and the names of predefined roles.
#[derive(Debug)]
pub(crate) struct GcpPermissions {
    pub(super) permissions: Vec<String>,
    pub(super) roles: Vec<String>,
}

impl Permissions {
    /// Returns the cloud.
    pub(crate) fn cloud(&self) -> Cloud {
        match self {
            Self::Aws(_) => Cloud::Aws,
            Self::Azure(_) => Cloud::Azure,
            Self::Gcp(_) => Cloud::Gcp,
        }
    }
}

impl CredentialsRequest {
    /// Returns whether an object is a `CredentialsRequest`.
    pub(crate) fn is_one(object: &Object) -> bool {
        (object.id.group.as_str(), object.id.kind.as_str()) == KIND
    }

    /// Returns the name of the Secret that an object asks for.
    pub(crate) fn secret_of(object: &Object) -> Option<&str> {
        object.root.get("spec")?.get("secretRef")?.get("name")?.as_str()
    }

    /// Reads an object.
    pub(crate) fn read(object: &Object, sources: &Sources) -> Result<Self, Diagnostics> {
        let mut reader = Reader { object, sources, errors: Diagnostics::default() };
        let request = reader.request();
        match request {
            Some(request) => reader.errors.into_result(request),
            None => Err(reader.errors),
        }
    }

    /// Returns the names of the ServiceAccounts as the subjects of their tokens.
    pub(super) fn subjects(&self) -> Vec<String> {
        let subject = |name: &String| format!("system:serviceaccount:{}:{name}", self.namespace);
        self.service_accounts.iter().map(subject).collect()
    }

    /// Returns each ServiceAccount with the subject of its tokens.
    pub(super) fn service_accounts(&self) -> impl Iterator<Item = (&String, String)> {
        self.service_accounts.iter().zip(self.subjects())
    }
}

/// Reads fields, and collects what is wrong with them.
struct Reader<'a> {
    object: &'a Object,
    sources: &'a Sources,
    errors: Diagnostics,
}

impl Reader<'_> {
    fn report(&mut self, message: String, node: &Node) -> &mut Diagnostic {
        let location = Location::of(node.mark, self.sources);
        let index = self.errors.0.len();
        self.errors.0.push(Diagnostic::error(message).at(location).object(&self.object.id));
        &mut self.errors.0[index]
    }

    /// Reads the object; `None` if an error makes it impossible to go on.
    fn request(&mut self) -> Option<CredentialsRequest> {
        let root = &self.object.root;
        if mask::has_sensitive(root) {
            let error = self.report("the CredentialsRequest has a secret value".to_owned(), root);
            error.notes.push("the documents of its role would show it".to_owned());
            error.help = Some("use a parameter without `secret: true`".to_owned());
            return None;
        }
        let spec = self.map(root, "", "spec")?;
        let secret = self.map(spec, "spec.", "secretRef")?;
        let provider = self.map(spec, "spec.", "providerSpec")?;
        let request = CredentialsRequest {
            name: self.object.id.name.clone(),
            id: self.object.id.to_string(),
            namespace: self.text(secret, "spec.secretRef.", "namespace"),
            secret: self.text(secret, "spec.secretRef.", "name"),
            service_accounts: self.texts(spec, "spec.", "serviceAccountNames"),
            permissions: self.permissions(provider)?,
        };
        Some(request)
    }

    fn permissions(&mut self, provider: &Node) -> Option<Permissions> {
        const PATH: &str = "spec.providerSpec.";
        let kind = self.text(provider, PATH, "kind");
        if kind.is_empty() {
            return None;
        }
        let Some((_, cloud)) = PROVIDERS.iter().find(|(name, _)| *name == kind) else {
            let known = PROVIDERS.map(|(name, _)| name).join(", ");
            let error = self.report(format!("a cloud role has no documents for `kind: {kind}`"), provider);
            error.help = Some(format!("name a CredentialsRequest of another kind: {known}"));
            return None;
        };
        let permissions = match cloud {
            Cloud::Aws => {
                self.check_fields(
                    provider,
                    PATH,
                    &["apiVersion", "kind", "statementEntries", "stsIAMRoleARN"],
                );
                Permissions::Aws(self.statements(provider))
            }
            Cloud::Azure => {
                const IDENTITY: [&str; 4] =
                    ["azureClientID", "azureRegion", "azureSubscriptionID", "azureTenantID"];
                const KNOWN: [&str; 5] =
                    ["apiVersion", "kind", "roleBindings", "permissions", "dataPermissions"];
                self.check_fields(provider, PATH, &[&KNOWN[..], &IDENTITY].concat());
                Permissions::Azure(AzurePermissions {
                    actions: self.texts(provider, PATH, "permissions"),
                    data_actions: self.texts(provider, PATH, "dataPermissions"),
                    roles: self.role_bindings(provider),
                })
            }
            Cloud::Gcp => {
                const IDENTITY: [&str; 3] = ["audience", "serviceAccountEmail", "skipServiceCheck"];
                const KNOWN: [&str; 4] = ["apiVersion", "kind", "predefinedRoles", "permissions"];
                self.check_fields(provider, PATH, &[&KNOWN[..], &IDENTITY].concat());
                Permissions::Gcp(GcpPermissions {
                    permissions: self.texts(provider, PATH, "permissions"),
                    roles: self.texts(provider, PATH, "predefinedRoles"),
                })
            }
        };
        Some(permissions)
    }

    fn statements(&mut self, provider: &Node) -> Vec<AwsStatement> {
        let mut statements = Vec::new();
        let entries = self.list(provider, "spec.providerSpec.", "statementEntries");
        if entries.is_empty() {
            self.report("`spec.providerSpec.statementEntries` is empty".to_owned(), provider);
        }
        for (index, entry) in entries.iter().enumerate() {
            let path = format!("spec.providerSpec.statementEntries[{index}].");
            self.check_fields(entry, &path, &["effect", "action", "resource", "policyCondition"]);
            let effect = self.text(entry, &path, "effect");
            if !["Allow", "Deny", ""].contains(&effect.as_str()) {
                self.report(format!("`{path}effect` must be `Allow` or `Deny`, not `{effect}`"), entry);
            }
            let action = self.texts(entry, &path, "action");
            if action.is_empty() {
                self.report(format!("`{path}action` is empty"), entry);
            }
            let resource = self.text(entry, &path, "resource");
            let condition = self.condition(entry, &path);
            statements.push(AwsStatement { effect, action, resource, condition });
        }
        statements
    }

    /// Returns the condition of a statement. IAM rejects an empty one.
    fn condition(&mut self, entry: &Node, path: &str) -> Option<Json> {
        let condition = entry.get("policyCondition")?;
        let Some(map) = condition.as_map() else {
            let kind = condition.value.kind();
            self.report(format!("`{path}policyCondition` must be a map, and is {kind}"), condition);
            return None;
        };
        (map.iter().len() > 0).then(|| Json::from(condition))
    }

    fn role_bindings(&mut self, provider: &Node) -> Vec<String> {
        let mut roles = Vec::new();
        for (index, binding) in self.list(provider, "spec.providerSpec.", "roleBindings").iter().enumerate() {
            let path = format!("spec.providerSpec.roleBindings[{index}].");
            self.check_fields(binding, &path, &["role"]);
            roles.push(self.text(binding, &path, "role"));
        }
        roles
    }

    /// Reports fields that are not known.
    fn check_fields(&mut self, node: &Node, path: &str, known: &[&str]) {
        let entries = node.as_map().into_iter().flat_map(|map| map.iter());
        let unknown = entries.filter(|entry| !known.contains(&entry.key.as_str()));
        for entry in unknown {
            let error = self.report(format!("the field `{path}{}` is not known", entry.key), &entry.value);
            error.notes.push("the documents of the role would lack it".to_owned());
            error.help = Some(format!("the fields are {}", known.join(", ")));
        }
    }

    /// Returns a map that must exist.
    fn map<'n>(&mut self, parent: &'n Node, path: &str, field: &str) -> Option<&'n Node> {
        match parent.get(field) {
            Some(node) if node.as_map().is_some() => Some(node),
            found => {
                let kind = found.map_or("absent", |node| node.value.kind());
                self.report(format!("`{path}{field}` must be a map, and is {kind}"), found.unwrap_or(parent));
                None
            }
        }
    }

    /// Returns the items of a list that may be absent.
    fn list<'n>(&mut self, parent: &'n Node, path: &str, field: &str) -> &'n [Node] {
        let Some(node) = parent.get(field) else { return &[] };
        let Some(items) = node.as_list() else {
            let kind = node.value.kind();
            self.report(format!("`{path}{field}` must be a list, and is {kind}"), node);
            return &[];
        };
        items
    }

    /// Returns a text that must exist, or an empty one after an error.
    fn text(&mut self, parent: &Node, path: &str, field: &str) -> String {
        let found = parent.get(field);
        match found.and_then(Node::as_str) {
            Some(text) if !text.is_empty() => text.to_owned(),
            _ => {
                let kind = match found {
                    Some(node) if node.as_str().is_some() => "empty",
                    Some(node) => node.value.kind(),
                    None => "absent",
                };
                self.report(format!("`{path}{field}` must be text, and is {kind}"), found.unwrap_or(parent));
                String::new()
            }
        }
    }

    /// Returns the texts of a list that may be absent.
    fn texts(&mut self, parent: &Node, path: &str, field: &str) -> Vec<String> {
        let mut texts = Vec::new();
        for item in self.list(parent, path, field) {
            if let Some(text) = item.as_str() {
                texts.push(text.to_owned());
                continue;
            }
            let kind = item.value.kind();
            self.report(format!("each item of `{path}{field}` must be text, and one is {kind}"), item);
        }
        texts
    }
}
