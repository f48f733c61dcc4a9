//! Any text: the reader does not panic or hang, and documents survive being written as YAML and JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/support/round_trip.rs"]
#[allow(dead_code, reason = "the other target uses the rest")]
mod round_trip;

fuzz_target!(|text: &str| {
    round_trip::survives_writing(text);
});
