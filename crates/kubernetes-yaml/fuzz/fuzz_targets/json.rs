//! JSON: the reader accepts every object that `serde_json` accepts, and reads the same value.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/support/round_trip.rs"]
#[allow(dead_code, reason = "the other target uses the rest")]
mod round_trip;

fuzz_target!(|text: &str| {
    round_trip::agrees_with_serde_json(text);
});
