//! Everything that needs no cluster, one module a capability.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "a test fails by panicking, and a table may be long"
)]

mod addition_merging;
mod additions;
mod apply_refusals;
mod architecture;
mod bad_input;
mod check_decisions;
mod checks;
mod commands;
mod compatibility;
mod config_hash;
mod containerfile;
mod credentials_policy;
mod differential;
mod discovery;
mod docs;
mod events;
mod explain;
mod fake_server;
mod faults;
mod filled_texts;
mod fragment_manifests;
mod fragment_workloads;
mod fragments;
#[path = "../../benches/generate.rs"]
mod generate;
mod golden;
mod hostile_responses;
mod in_no_profile;
mod intent_edge_cases;
mod intents;
mod issued;
mod issued_credentials;
mod issued_declarations;
mod kubeconfigs;
mod language;
mod list;
mod logging;
mod misuse;
mod moved_conditions;
mod moved_references;
mod namespace;
mod needs;
mod nothing_vanishes;
mod operands;
mod order;
mod order_and_absence;
mod parameters;
mod patch_address;
mod patch_edge_cases;
mod patch_new_items;
mod patch_selection;
mod patch_topology;
mod patch_values;
mod patches;
mod paths;
mod paused;
mod payload_crds;
mod policy;
mod policy_edge_cases;
mod policy_layers;
mod policy_lookup;
mod policy_targets;
mod profiles;
mod public_names;
mod pure;
mod reach;
mod readme;
mod release_images;
mod release_payload;
mod render_digest;
mod replaced_intents;
mod required;
mod required_driver;
mod required_snapshots;
mod rights;
mod rollout;
mod rollout_calls;
mod security;
mod select;
mod select_parameters;
mod signers;
mod small_inputs;
mod standard_fragments;
mod storage;
mod storage_page;
mod strategic_patches;
mod support;
mod terminal;
mod tombstones;
mod variants;
