//! Kubernetes' own Go code, as a process that answers requests. `tests/tools/differential` is its source.

use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The exit code of the build without Go.
pub(crate) const NO_GO: i32 = 3;

/// The answer to a request: a result, or the message of an error.
pub(crate) type Answer = Result<Vec<u8>, String>;

/// The program that answers, for one mode.
pub(crate) struct Oracle {
    program: std::path::PathBuf,
    mode: &'static str,
}

impl Oracle {
    /// Builds the program if necessary. Prints a message and returns `None` without Go, which is an error in CI.
    /// `root` is the root of the repository.
    pub(crate) fn build(root: &Path, mode: &'static str) -> Option<Self> {
        let mut build = Command::new(root.join("tests/tools/build"));
        let output = build.arg("differential").stderr(Stdio::inherit()).output().unwrap();
        match output.status.code() {
            Some(0) => {
                let folder = String::from_utf8(output.stdout).unwrap();
                Some(Self { program: Path::new(folder.trim()).join("differential"), mode })
            }
            Some(NO_GO) if std::env::var("CI").as_deref() != Ok("true") => {
                eprintln!("SKIPPED: the comparison with Kubernetes' code, because Go is not installed");
                None
            }
            code => panic!("tests/tools/build ended with {code:?}"),
        }
    }

    /// Returns the answers to requests. A request is one or more fields.
    pub(crate) fn ask<R: AsRef<[F]> + Sync, F: AsRef<[u8]>>(&self, requests: &[R]) -> Vec<Answer> {
        let mut command = Command::new(&self.program);
        let mut child = command.arg(self.mode).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = BufWriter::new(child.stdin.take().unwrap());
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        // Both pipes are finite, so that one thread must write while another reads.
        let answers = std::thread::scope(|scope| {
            scope.spawn(move || {
                for field in requests.iter().flat_map(AsRef::as_ref).map(AsRef::as_ref) {
                    write_field(&mut stdin, field);
                }
                stdin.flush().unwrap();
            });
            requests.iter().map(|_| read_answer(&mut stdout)).collect()
        });
        expect_success(child);
        answers
    }
}

fn expect_success(mut child: Child) {
    assert!(child.wait().unwrap().success(), "the program for comparisons failed");
}

fn write_field(out: &mut impl Write, field: &[u8]) {
    out.write_all(&u32::try_from(field.len()).unwrap().to_be_bytes()).unwrap();
    out.write_all(field).unwrap();
}

fn read_answer(input: &mut impl Read) -> Answer {
    let mut head = [0; 5];
    input.read_exact(&mut head).unwrap();
    let [status, length @ ..] = head;
    let mut body = vec![0; usize::try_from(u32::from_be_bytes(length)).unwrap()];
    input.read_exact(&mut body).unwrap();
    match status {
        b'=' => Ok(body),
        _ => Err(String::from_utf8_lossy(&body).into_owned()),
    }
}
