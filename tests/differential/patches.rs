//! The three patch formats on generated objects and patches. The results must be equal, in values and order.

use serde_json::Value as Json;
use transship::patch::{self, ItemPosition, PatchError};
use transship::yaml::{self, Entry, Node, SourceId, Value, json};

use crate::oracle::Answer;
use crate::random::Random;
use crate::{environment, generate, oracle};

/// How many pairs are sent to one process.
const BATCH: u64 = 5_000;

/// Reads a JSON text as the command reads a file.
fn node(text: &str) -> Node {
    // In a list, because the reader skips a document that is null.
    let list = yaml::read(&format!("[{text}]"), SourceId(0)).unwrap().remove(0).root;
    list.as_list().unwrap()[0].clone()
}

/// A pair of an object and a patch, as JSON.
type Pair = [String; 2];

/// A patch format, and how it is compared.
struct Format {
    mode: &'static str,
    generate: fn(&mut Random) -> Pair,
    apply: fn(&mut Node, &Node) -> Result<(), PatchError>,
    /// Returns what counts of a result.
    normalize: fn(&Node) -> Node,
    /// Returns whether transship refuses a patch on purpose that Kubernetes accepts.
    stricter: fn(&Pair, &str) -> bool,
    /// Returns whether transship gives another result on purpose.
    departs: fn(&Json) -> bool,
    /// What the messages of Kubernetes contain for patches that transship accepts on purpose.
    laxer: &'static [&'static str],
}

impl Format {
    /// Compares as many pairs as the environment says, and at least `default`.
    fn compare(&self, default: u64) {
        let Some(oracle) = oracle(self.mode) else { return };
        let first = environment("TRANSSHIP_SEED", 1);
        let end = first + environment("TRANSSHIP_DIFFERENTIAL", default);
        let (mut applied, mut differences) = (0_usize, Vec::new());
        for start in (first..end).step_by(usize::try_from(BATCH).unwrap()) {
            let seeds = start..end.min(start + BATCH);
            let pairs: Vec<Pair> = seeds.map(|seed| (self.generate)(&mut Random::new(seed))).collect();
            for (pair, answer) in pairs.iter().zip(oracle.ask(&pairs)) {
                let ours = self.apply(pair);
                applied += usize::from(ours.is_ok() && answer.is_ok());
                if !self.agree(pair, &ours, &answer) {
                    differences.push(report(pair, &ours, &answer));
                }
            }
        }
        differences.sort_by_key(String::len);
        let shown = differences.len().min(10);
        assert!(
            differences.is_empty(),
            "{} differences, beside {applied} equal results:\n\n{}",
            differences.len(),
            differences[..shown].join("\n\n")
        );
        let pairs = usize::try_from(end - first).unwrap();
        assert!(applied * 4 > pairs, "only {applied} of {pairs} patches were applied");
        eprintln!("{}: {pairs} pairs, {applied} results, all equal", self.mode);
    }

    fn apply(&self, [object, patch]: &Pair) -> Result<Node, PatchError> {
        let mut object = node(object);
        (self.apply)(&mut object, &node(patch))?;
        Ok(object)
    }

    fn agree(&self, pair: &Pair, ours: &Result<Node, PatchError>, answer: &Answer) -> bool {
        match (ours, answer) {
            (Ok(ours), Ok(theirs)) => {
                let theirs = node(std::str::from_utf8(theirs).unwrap());
                json::write(&(self.normalize)(ours)) == json::write(&(self.normalize)(&theirs))
                    || (self.departs)(&serde_json::from_str(&pair[1]).unwrap())
            }
            (Err(_), Err(_)) => true,
            (Err(error), Ok(_)) => (self.stricter)(pair, &error.message),
            (Ok(_), Err(message)) => self.laxer.iter().any(|part| message.contains(part)),
        }
    }
}

fn report([object, patch]: &Pair, ours: &Result<Node, PatchError>, answer: &Answer) -> String {
    let ours = match ours {
        Ok(node) => json::write(node),
        Err(error) => format!("error: {}", error.message),
    };
    let theirs = match answer {
        Ok(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Err(message) => format!("error: {message}"),
    };
    format!("{object}\n  patch      {patch}\n  here       {ours}\n  Kubernetes {theirs}")
}

#[test]
fn strategic_merge_patches_give_the_same_results_as_in_kubernetes() {
    let format = Format {
        mode: "strategic-merge",
        generate: |random| {
            let (object, fields) = generate::object(random);
            [object.to_string(), generate::strategic_patch(fields, random).to_string()]
        },
        apply: |object, patch| patch::strategic_merge(object, patch, None, ItemPosition::Kubernetes),
        normalize: without_directives,
        stricter: |_, _| false,
        departs: repeats_item_with_directive,
        // `$setElementOrder` for a list without items, and a directive that Kubernetes kept in a new item before it
        // merged another one into that.
        laxer: &[
            "no elements in any of the given slices",
            "map[$patch:replace] does not contain declared merge key",
        ],
    };
    format.compare(4_000);
}

#[test]
fn merge_patches_give_the_same_results_as_in_kubernetes() {
    let format = Format {
        mode: "merge-patch",
        generate: |random| {
            let (object, fields) = generate::object(random);
            [object.to_string(), generate::merge_patch(fields, random).to_string()]
        },
        apply: |object, patch| {
            patch::merge(object, patch);
            Ok(())
        },
        normalize: Node::clone,
        stricter: |_, _| false,
        departs: |_| false,
        laxer: &[],
    };
    format.compare(4_000);
}

#[test]
fn json_patches_give_the_same_results_as_in_kubernetes() {
    let format = Format {
        mode: "json-patch",
        generate: |random| {
            let (object, _) = generate::object(random);
            let patch: Json = generate::json_patch(&object, random);
            [object.to_string(), patch.to_string()]
        },
        apply: |object, patch| patch::apply_operations(object, &patch::operations(patch)?),
        normalize: Node::clone,
        stricter: is_stricter_json_patch,
        departs: |_| false,
        // The whole object can be added, copied and moved, as RFC 6902 says.
        laxer: &[
            "missing path: \"\"",
            "missing from path: :",
            "missing destination path: :",
            "replace operation value must be object or array",
        ],
    };
    format.compare(4_000);
}

/// Kubernetes copies a key that does not exist as null, and moves an item of a list into the item that follows it.
fn is_stricter_json_patch([_, patch]: &Pair, message: &str) -> bool {
    let operations: Json = serde_json::from_str(patch).unwrap();
    let copies_missing_key = |operation: &Json| {
        let from = operation["from"].as_str().unwrap_or_default();
        operation["op"] == "copy" && message.ends_with(&format!("which the path `{from}` names"))
    };
    message == "a value cannot be moved into itself"
        || operations.as_array().unwrap().iter().any(copies_missing_key)
}

/// Removes nulls and directives. Kubernetes keeps them in some new values, and the API server then ignores them.
fn without_directives(node: &Node) -> Node {
    let value = match &node.value {
        Value::Map(map) => {
            let kept = map.iter().filter(|entry| !entry.key.starts_with('$') && !is_left_out(&entry.value));
            let cleaned =
                kept.map(|entry| Entry { value: without_directives(&entry.value), ..entry.clone() });
            Value::Map(cleaned.collect())
        }
        Value::List(items) => {
            let kept = items.iter().filter(|item| item.get("$patch").is_none());
            Value::List(kept.map(without_directives).collect())
        }
        scalar => scalar.clone(),
    };
    Node::from(value)
}

fn is_left_out(node: &Node) -> bool {
    node.value == Value::Null || node.get("$patch").is_some()
}

/// Returns whether a list of a patch has two items that share a key, one of them with a directive in one of its fields. If
/// both are new, Kubernetes adds the first one with its directives, and merges the second one into that.
fn repeats_item_with_directive(patch: &Json) -> bool {
    match patch {
        Json::Object(map) => map.values().any(repeats_item_with_directive),
        Json::Array(items) => {
            let is_repeated = items.iter().enumerate().any(|(index, item)| {
                items[..index].iter().any(|other| {
                    share_a_key(item, other) && (has_directive_below(item) || has_directive_below(other))
                })
            });
            is_repeated || items.iter().any(repeats_item_with_directive)
        }
        _ => false,
    }
}

fn share_a_key(a: &Json, b: &Json) -> bool {
    let (Json::Object(a), Json::Object(b)) = (a, b) else { return false };
    a.iter().any(|(key, value)| (value.is_string() || value.is_number()) && b.get(key) == Some(value))
}

fn has_directive_below(item: &Json) -> bool {
    let Json::Object(map) = item else { return false };
    map.values().any(|value| value.to_string().contains("\"$patch\""))
}
