//! An object and a strategic merge patch: the result survives being written.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    transship::fuzzing::strategic_patch(text);
});
