#![doc = include_str!("../README.md")]

mod byte_set;
mod error;
pub mod json;
mod map;
mod node;
mod number;
mod read;
mod resolve;
#[cfg(feature = "serde_json")]
mod serde_json_value;
mod sources;
mod timestamp;
mod unprintable;
mod write;

pub use error::SyntaxError;
pub use map::Map;
pub use node::{DuplicateKey, Entry, Node, ScalarStyle, Sensitivity, Text, Value};
pub use number::Number;
pub use read::{Document, read};
pub use sources::{Mark, SourceId, Sources};
pub use unprintable::is_unprintable;
pub use write::{write, write_into};
