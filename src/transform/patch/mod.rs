//! The three patch formats: strategic merge, JSON merge patch (RFC 7386) and JSON patch (RFC 6902).

mod directives;
mod json;
mod limits;
mod list_order;
mod merge;
mod strategic;

pub use json::{Operation, apply as apply_operations, operations};
pub use list_order::ItemPosition;
pub use merge::merge;
pub(crate) use strategic::{NewItem, refuse_emptied_lists, strategic};

use crate::object::Schema;
use crate::object::path::PathError;
use crate::yaml::{Mark, Node};

/// The reason why a patch cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchError {
    /// The error message.
    pub message: String,
    /// The position in the patch.
    pub mark: Mark,
    /// How to fix it.
    pub help: Option<String>,
}

impl PatchError {
    fn new(mark: Mark, message: impl Into<String>) -> Self {
        Self { message: message.into(), mark, help: None }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl From<PathError> for PatchError {
    fn from(error: PathError) -> Self {
        Self { message: error.message, mark: error.mark, help: error.help }
    }
}

/// Applies a strategic merge patch to an object.
///
/// The schema says which lists merge and by which key. For a built-in kind, transship knows it. For a custom resource, it is
/// the `openAPIV3Schema` of its CustomResourceDefinition. Without a schema, lists are replaced.
///
/// ```
/// use transship::patch::{ItemPosition, strategic_merge};
/// use transship::yaml::{self, SourceId};
///
/// let object = "{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: old}, {name: b}]}}";
/// let mut object = yaml::read(object, SourceId(0))?.remove(0).root;
/// let patch = yaml::read("{spec: {containers: [{name: a, image: new}]}}", SourceId(1))?.remove(0).root;
///
/// strategic_merge(&mut object, &patch, None, ItemPosition::Kubernetes).unwrap();
/// let containers = object.get("spec").and_then(|spec| spec.get("containers")).unwrap();
/// assert_eq!(yaml::json::write(containers), r#"[{"image":"new","name":"a"},{"name":"b"}]"#);
/// # Ok::<(), yaml::SyntaxError>(())
/// ```
pub fn strategic_merge(
    object: &mut Node,
    patch: &Node,
    custom_schema: Option<&Node>,
    position: ItemPosition,
) -> Result<()> {
    let text = |field: &str| object.get(field).and_then(Node::as_str).unwrap_or_default();
    let built_in = Schema::built_in(text("apiVersion"), text("kind"));
    let schema = custom_schema.map(Schema::CustomRoot).or(built_in).unwrap_or(Schema::Unknown);
    strategic(object, patch, schema, position).map(drop)
}

type Result<T> = std::result::Result<T, PatchError>;
