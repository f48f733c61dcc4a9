//! Measures the time, the CPU time and the memory of one command.
//!
//! The kernel reports the memory of all child processes together, and counts the memory of the parent at the time of the
//! fork. So a small process of its own runs the command: this program, started again.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// If it is set, this program only measures the command in its arguments.
const METER: &str = "TRANSSHIP_BENCH_METER";

/// What one command used.
#[derive(Clone, Copy, Default)]
pub(crate) struct Usage {
    /// The wall time.
    pub(crate) time: Duration,
    /// The CPU time, user plus system.
    pub(crate) cpu: Duration,
    /// The peak memory.
    pub(crate) memory_kb: u64,
}

/// Runs a command, which must succeed, and returns what it used.
pub(crate) fn run(command: &Command) -> Usage {
    let mut meter = Command::new(std::env::current_exe().unwrap());
    meter.env(METER, "1").arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        meter.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => meter.env(name, value),
            None => meter.env_remove(name),
        };
    }
    let output = meter.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<u64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
    Usage {
        time: Duration::from_micros(numbers[0]),
        cpu: Duration::from_micros(numbers[1]),
        memory_kb: numbers[2],
    }
}

/// Measures the command in the arguments and ends, if this process was started for that.
pub(crate) fn become_the_meter() {
    if std::env::var_os(METER).is_none() {
        return;
    }
    let mut arguments = std::env::args_os().skip(1);
    let mut command = Command::new(arguments.next().unwrap());
    command.args(arguments).env_remove(METER).stdout(Stdio::null());
    let began = Instant::now();
    let status = command.status().unwrap();
    let time = began.elapsed();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let cpu = micros(usage.user_time()) + micros(usage.system_time());
    println!("{} {cpu} {}", time.as_micros(), usage.max_rss());
    std::process::exit(status.code().unwrap_or(1));
}

fn micros(time: TimeVal) -> i64 {
    time.tv_sec() * 1_000_000 + time.tv_usec()
}
