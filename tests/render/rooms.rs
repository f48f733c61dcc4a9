//! The walls of the house: a room uses rooms to its left, never to its right, and only some rooms touch the disk.

use std::path::Path;

use walkdir::WalkDir;

use crate::support::repository;

/// From left to right, as data flows.
const ROOMS: [&str; 11] = [
    "object",
    "language",
    "payload",
    "expand",
    "select",
    "transform",
    "check",
    "order",
    "emit",
    "show",
    "apply",
];

/// Everything left of the network.
fn pure() -> &'static [&'static str] {
    &ROOMS[..ROOMS.len() - 1]
}

fn files_of(room: &str) -> Vec<(String, String)> {
    let folder = repository().join("src").join(room);
    let read = |path: &Path| (path.display().to_string(), std::fs::read_to_string(path).unwrap());
    let files: Vec<_> = WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.is_file())
        .collect();
    assert!(!files.is_empty(), "there is no room {room}");
    files.iter().map(|path| read(path)).collect()
}

#[test]
fn a_room_uses_rooms_to_its_left() {
    for (index, room) in ROOMS.iter().enumerate() {
        for (file, text) in files_of(room) {
            // Paths are written out, so that what follows can see them.
            assert!(
                !text.contains("crate::{") && !text.contains("super::super"),
                "{file} hides what it uses"
            );
            for right in &ROOMS[index + 1..] {
                assert!(
                    !text.contains(&format!("crate::{right}")),
                    "{file} uses {right}, which is to the right of {room}"
                );
            }
        }
    }
}

#[test]
fn the_disk_is_touched_at_the_edges_only() {
    let disk = [
        "std::fs",
        "File::",
        "crate::file",
        "WalkDir",
        "tempfile",
        ".exists()",
        ".is_dir()",
        ".is_file()",
        "canonicalize",
    ];
    for room in ["object", "expand", "select", "transform", "check", "order", "show"] {
        for (file, text) in files_of(room) {
            for word in disk {
                assert!(!text.contains(word), "{file} uses {word}");
            }
        }
    }
}

#[test]
fn no_room_knows_the_time_the_network_or_chance() {
    for room in pure() {
        for (file, text) in files_of(room) {
            for word in [
                "std::env",
                "std::net",
                "std::time",
                "SystemTime",
                "Instant",
                "rand::",
                "fastrand",
                "kube::",
                "tokio::",
            ] {
                assert!(!text.contains(word), "{file} uses {word}");
            }
        }
    }
}
