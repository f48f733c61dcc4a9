//! A kubeconfig: one that passes the checks can be used without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    transship::fuzzing::kubeconfig(text);
});
