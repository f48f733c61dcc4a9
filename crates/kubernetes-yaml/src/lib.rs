//! YAML exactly as Kubernetes reads and writes it: text to a tree in which every node knows its line, and back.
//!
//! ```text
//!  text ─ stream ─▶ documents ─ scan ─▶ tokens ─ compose ─▶ nodes ─ write ─▶ text
//!            └ json, where a document is JSON      └ resolve: what a scalar means
//! ```
//!
//! One reader serves payload, patches, profiles and parameters, so `0640` means 416 in all of them.

mod bytes;
mod collections;
mod compose;
mod cursor;
mod error;
pub mod json;
mod node;
mod number;
mod resolve;
mod scan;
mod scan_scalar;
mod sources;
mod stream;
mod style;
mod write;

pub use error::SyntaxError;
pub use node::{DuplicateKey, Entry, Map, Mark, Node, SourceId, Text, Value};
pub use number::Number;
pub use sources::Sources;
pub use stream::{Document, read};
pub use write::{write, write_into};

/// Nesting beyond this is an error. Kubernetes allows 10,000 levels; no manifest has twenty.
const MAX_DEPTH: usize = 500;
