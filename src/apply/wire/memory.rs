//! Limits the memory that the responses of one API server occupy at the same time. The guest's administrator decides what the
//! guest returns.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::apply::wire::error::RequestError;

/// The memory for all responses of one API server together.
pub(crate) const MAX_MEMORY: usize = 512 << 20;

/// The bytes that each part of a JSON document needs as a `serde_json::Value`. A map allocates nodes for eleven entries
/// each, and uses at least five entries of a node.
const MAP_COST: usize = 640;
const ENTRY_COST: usize = 160;
const LIST_COST: usize = 64;
const ITEM_COST: usize = 72;
const STRING_COST: usize = 32;

/// The memory of all responses that are being read or kept.
#[derive(Clone, Default)]
pub(crate) struct ResponseMemory(Arc<AtomicUsize>);

impl ResponseMemory {
    /// Starts to count the memory of a response.
    pub(crate) fn reserve(&self) -> Reservation {
        Reservation { used: self.clone(), bytes: 0 }
    }
}

/// The memory of one response. Dropping it says that the response is no longer in memory.
#[derive(Default)]
pub(crate) struct Reservation {
    used: ResponseMemory,
    bytes: usize,
}

impl Reservation {
    /// Adds memory to the response. Fails if all responses together would need too much.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), RequestError> {
        let before = self.used.0.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        if before + bytes > MAX_MEMORY { Err(RequestError::TooMuchMemory(MAX_MEMORY)) } else { Ok(()) }
    }

    /// Removes memory from the response.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.used.0.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Takes the memory, for a response that others keep.
    pub(crate) fn take(&mut self) -> Self {
        Self { used: self.used.clone(), bytes: std::mem::take(&mut self.bytes) }
    }

    /// Counts the response until the end of the command.
    pub(crate) fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.used.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The memory of several responses that are kept together.
#[derive(Default)]
pub(crate) struct HeldMemory(Mutex<Vec<Reservation>>);

impl HeldMemory {
    pub(crate) fn add(&self, reservation: Reservation) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(reservation);
    }

    /// Counts the responses until the end of the command.
    pub(crate) fn keep(self) {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().for_each(Reservation::keep);
    }
}

/// Returns an upper bound for the memory that a JSON document needs as a `serde_json::Value`.
pub(crate) fn estimate(text: &[u8]) -> usize {
    let (mut cost, mut in_string, mut is_escaped) = (text.len(), false, false);
    let mut before = b' ';
    for byte in text {
        if in_string {
            (in_string, is_escaped) = (is_escaped || *byte != b'"', !is_escaped && *byte == b'\\');
            continue;
        }
        // An empty map allocates nothing.
        if before == b'{' && *byte != b'}' {
            cost += MAP_COST;
        }
        match byte {
            b'"' => (in_string, cost) = (true, cost + STRING_COST),
            b':' => cost += ENTRY_COST,
            b'[' => cost += LIST_COST,
            b',' => cost += ITEM_COST,
            _ => {}
        }
        before = *byte;
    }
    cost
}

/// Returns an upper bound for the number of items in the lists of a JSON document's fields.
pub(crate) fn count_items(text: &[u8]) -> usize {
    let (mut items, mut depth, mut in_string, mut is_escaped) = (1, 0_usize, false, false);
    for byte in text {
        if in_string {
            (in_string, is_escaped) = (is_escaped || *byte != b'"', !is_escaped && *byte == b'\\');
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            // The document is an object, so the items of its lists are at this depth.
            b',' if depth == 2 => items += 1,
            _ => {}
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::{HeldMemory, MAX_MEMORY, ResponseMemory, count_items, estimate};

    #[test]
    fn the_items_of_lists_are_counted() {
        assert_eq!(count_items(br#"{"a":1,"items":[{"x":[1,2,3]},{"y":",,"},{}]}"#), 3);
        assert_eq!(count_items(br#"{"items":[]}"#), 1);
    }

    #[test]
    fn all_responses_together_are_limited() {
        let memory = ResponseMemory::default();
        let (mut one, mut other) = (memory.reserve(), memory.reserve());
        one.grow(MAX_MEMORY - 10).unwrap();
        other.grow(10).unwrap();
        assert!(other.grow(1).is_err());
        drop(other);
        one.shrink(5);
        let held = HeldMemory::default();
        held.add(one);
        let mut third = memory.reserve();
        third.grow(15).unwrap();
        assert!(third.grow(1).is_err());
        drop(third);
        held.keep();
        assert!(memory.reserve().grow(16).is_err(), "a response that is kept counts to the end");
    }

    #[test]
    fn maps_cost_much_more_than_their_text() {
        assert_eq!(estimate(br#"{"a":0}"#), 7 + 640 + 32 + 160);
        assert_eq!(estimate(b"[{},{}]"), 7 + 64 + 72);
        assert_eq!(estimate(br#""a:{,[\"\\{""#), 12 + 32, "a text costs the same, whatever is in it");
    }
}
