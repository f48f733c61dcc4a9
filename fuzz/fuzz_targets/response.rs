//! A response of an API server: errors, discovery, lists and objects are read without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    transship::fuzzing::response(body);
});
