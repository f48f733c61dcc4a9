//! An object and a JSON merge patch: the result survives being written.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    transship::fuzzing::merge_patch(text);
});
