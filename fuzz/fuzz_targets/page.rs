//! A page: every error has a location, and rendered objects survive being written.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    transship::fuzzing::page(text);
});
