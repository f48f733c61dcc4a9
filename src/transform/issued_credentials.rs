//! Reads declarations of cloud credentials: the cloud, and what a workload needs to exchange a token of the guest there.

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::object::{Cloud, CloudCredentials, Object, mask};
use crate::printable;
use crate::yaml::{Entry, Node, Sources};

const EXAMPLE: &str = "write `spec: {aws: {roleARN: …, region: …}}`, or the fields of `azure` or `gcp`";

/// Reads a declaration. A field may be absent, because its parameter has no value yet.
pub(super) fn read(object: &Object, sources: &Sources) -> Result<CloudCredentials, Diagnostics> {
    let reader = Reader { object, sources };
    let entry = reader.cloud_entry()?;
    let Some(cloud) = Cloud::of_name(&entry.key) else { return Err(reader.unknown_cloud(entry).into()) };
    reader.fields(cloud, &entry.value)
}

struct Reader<'a> {
    object: &'a Object,
    sources: &'a Sources,
}

impl<'a> Reader<'a> {
    fn error(&self, message: String, node: &Node) -> Diagnostic {
        Diagnostic::error(message).at(Location::of(node.mark, self.sources)).object(&self.object.id)
    }

    /// Returns the only entry of `spec`.
    fn cloud_entry(&self) -> Result<&'a Entry, Diagnostics> {
        let root = &self.object.root;
        let spec = root.get("spec").unwrap_or(root);
        let entries: Vec<&Entry> = match root.get("spec").and_then(Node::as_map) {
            Some(map) => map.iter().collect(),
            None => Vec::new(),
        };
        if let [entry] = entries[..] {
            return Ok(entry);
        }
        let unknown = entries.iter().filter(|entry| Cloud::of_name(&entry.key).is_none());
        let errors: Vec<Diagnostic> = unknown.map(|entry| self.unknown_cloud(entry)).collect();
        if !errors.is_empty() {
            return Err(Diagnostics(errors));
        }
        let error = if entries.is_empty() {
            self.error("the IssuedCredentials are for no cloud".to_owned(), spec).help(EXAMPLE)
        } else {
            let clouds: Vec<String> = entries.iter().map(|entry| format!("`{}`", entry.key)).collect();
            self.error(format!("the IssuedCredentials are for several clouds: {}", clouds.join(", ")), spec)
                .note("a workload runs in one cloud")
                .help("write one of them, or an object for each with a condition in `when`")
        };
        Err(error.into())
    }

    fn unknown_cloud(&self, entry: &Entry) -> Diagnostic {
        let message = format!("an IssuedCredentials has no field `{}`", entry.key);
        Diagnostic::error(message)
            .at(Location::of(entry.mark, self.sources))
            .object(&self.object.id)
            .help(EXAMPLE)
            .suggest(&entry.key, Cloud::ALL.map(Cloud::name))
    }

    /// Reads the fields of a cloud.
    fn fields(&self, cloud: Cloud, node: &Node) -> Result<CloudCredentials, Diagnostics> {
        let mut credentials = CloudCredentials::new(cloud);
        let Some(map) = node.as_map() else {
            let message = format!("`{}` must be a map, not {}", cloud.name(), node.value.kind());
            return Err(self.error(message, node).help(EXAMPLE).into());
        };
        let mut errors = Diagnostics::default();
        for entry in map {
            if let Err(error) = self.field(entry, &mut credentials) {
                errors.0.push(error);
            }
        }
        errors.into_result(credentials)
    }

    fn field(&self, entry: &Entry, credentials: &mut CloudCredentials) -> Result<(), Diagnostic> {
        let cloud = credentials.cloud();
        let (name, node) = (format!("{}.{}", cloud.name(), entry.key), &entry.value);
        let Some(field) = cloud.field(&entry.key) else {
            let known: Vec<&str> = cloud.fields().iter().map(|field| field.name).collect();
            return Err(Diagnostic::error(format!("an IssuedCredentials has no field `{name}`"))
                .at(Location::of(entry.mark, self.sources))
                .object(&self.object.id)
                .help(format!("the fields of `{}` are {}", cloud.name(), known.join(", ")))
                .suggest(&entry.key, known));
        };
        if mask::is_sensitive(node) {
            return Err(self
                .error(format!("`{name}` of the IssuedCredentials is secret"), node)
                .note("an annotation of the Secret shows it; it identifies the workload and gives no access")
                .help("use a parameter without `secret: true`"));
        }
        let Some(value) = node.as_str() else {
            let message =
                format!("`{name}` of the IssuedCredentials must be text, not {}", node.value.kind());
            return Err(self.error(message, node).help("put the value in quotes"));
        };
        let set = credentials.set(field, value);
        set.map_err(|error| {
            let value = printable::excerpt(value);
            self.error(format!("`{name}` of the IssuedCredentials {error}, not `{value}`"), node)
                .note("it becomes a part of a file that the workload reads")
                .help("correct it, or the parameter that it comes from")
        })
    }
}
