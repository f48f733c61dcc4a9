//! Reads the audit log of an API server. It is an independent witness of the requests of the program under test.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A request that got a response. For a watch, the start of the response counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) verb: String,
    pub(crate) uri: String,
    pub(crate) user: String,
    pub(crate) user_agent: String,
    pub(crate) code: u16,
    pub(crate) dry_run: bool,
}

impl Entry {
    pub(crate) fn is_write(&self) -> bool {
        matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
    }

    /// Returns whether the program under test sent it.
    pub(crate) fn is_ours(&self) -> bool {
        self.user_agent.starts_with("transship")
    }
}

/// Returns the program's writes, including dry runs. The Lease does not count, nor does the question who the user is.
pub(crate) fn writes(entries: &[Entry]) -> Vec<&Entry> {
    let is_exempt = |entry: &Entry| {
        ["/leases", "/selfsubjectreviews"].iter().any(|resource| entry.uri.contains(resource))
    };
    entries.iter().filter(|entry| entry.is_ours() && entry.is_write() && !is_exempt(entry)).collect()
}

/// A position in the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(usize);

pub(crate) struct Audit {
    path: PathBuf,
    told: Mutex<Told>,
}

/// The part of the log that was read.
#[derive(Default)]
struct Told {
    offset: u64,
    entries: Vec<Entry>,
    /// Requests that arrived and have no response yet.
    open: BTreeSet<String>,
}

impl Audit {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { path: folder.join("audit.log"), told: Mutex::default() }
    }

    /// Returns the current end of the log.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.settled(|told| told.entries.len()))
    }

    /// Returns every request whose response came after a mark, in the order of the responses.
    pub(crate) fn since(&self, mark: Mark) -> Vec<Entry> {
        self.settled(|told| told.entries[mark.0..].to_vec())
    }

    /// Waits until all requests have a response. The API server logs the arrival of a request before it handles it, and
    /// the end after it sent the response. A killed API server never logs the end.
    fn settled<T>(&self, look: impl Fn(&Told) -> T) -> T {
        let deadline = Instant::now() + Duration::from_secs(2);
        let mut told = self.told.lock().unwrap();
        loop {
            told.read(&self.path);
            if told.open.is_empty() || Instant::now() > deadline {
                told.open.clear();
                return look(&told);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Told {
    fn read(&mut self, path: &Path) {
        let Ok(mut file) = File::open(path) else { return };
        file.seek(SeekFrom::Start(self.offset)).unwrap();
        let mut text = Vec::new();
        file.read_to_end(&mut text).unwrap();
        // The last line may be incomplete.
        let complete = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.offset += complete as u64;
        for line in text[..complete].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            // An API server that was killed may leave an incomplete line.
            if let Ok(event) = serde_json::from_slice(line) {
                self.hear(&event);
            }
        }
    }

    fn hear(&mut self, event: &Value) {
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let id = text("auditID");
        match text("stage").as_str() {
            "RequestReceived" => {
                self.open.insert(id);
            }
            // The end of a watch is not counted.
            "ResponseComplete" if text("verb") == "watch" => {
                self.open.remove(&id);
            }
            _ => {
                self.open.remove(&id);
                let uri = text("requestURI");
                self.entries.push(Entry {
                    dry_run: uri.contains("dryRun=All"),
                    verb: text("verb"),
                    user: event["user"]["username"].as_str().unwrap_or_default().to_owned(),
                    user_agent: text("userAgent"),
                    code: event["responseStatus"]["code"]
                        .as_u64()
                        .and_then(|code| code.try_into().ok())
                        .unwrap_or(0),
                    uri,
                });
            }
        }
    }
}
