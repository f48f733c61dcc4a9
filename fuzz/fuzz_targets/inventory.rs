//! The lines of an inventory: they survive being written, and lead only to the objects that they name.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    transship::fuzzing::inventory(text);
});
