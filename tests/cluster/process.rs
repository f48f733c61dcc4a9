//! Processes that never outlive the tests, even if a case panics or the whole run is killed.

use std::fs::{File, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::LazyLock;
use std::sync::mpsc::{Sender, channel};

/// Contains the process id of the test run. If it is set, this program only starts another one.
const SHELL: &str = "TRANSSHIP_TEST_SHELL_OF";

/// A process that ends when it is dropped.
pub(crate) struct Process(Child);

impl Process {
    /// Starts a program in a folder and writes its output to a log file there.
    pub(crate) fn start(program: &Path, folder: &Path, arguments: &[String]) -> Self {
        Self::with_variables(program, folder, arguments, &[])
    }

    /// Starts a program with environment variables.
    pub(crate) fn with_variables(
        program: &Path,
        folder: &Path,
        arguments: &[String],
        variables: &[(String, String)],
    ) -> Self {
        let log = log_file(&folder.join(program.file_name().unwrap()).with_extension("log"));
        let errors = log.try_clone().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(SHELL, std::process::id().to_string()).arg(program).args(arguments);
        command.envs(variables.iter().cloned()).current_dir(folder).stdout(log).stderr(errors);
        Self(spawn(command))
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A restarted server continues its log file.
fn log_file(path: &Path) -> File {
    OpenOptions::new().create(true).append(true).open(path).unwrap()
}

/// Spawns from a thread that lives as long as this process. Linux sends the parent-death signal when the thread that
/// created the child ends, and the threads of cases end early.
fn spawn(command: Command) -> Child {
    type Order = (Command, Sender<std::io::Result<Child>>);
    static SPAWNER: LazyLock<Sender<Order>> = LazyLock::new(|| {
        let (orders, inbox) = channel::<Order>();
        std::thread::spawn(move || {
            for (mut command, response) in inbox {
                let _ = response.send(command.spawn());
            }
        });
        orders
    });
    let (response, child) = channel();
    SPAWNER.send((command, response)).unwrap();
    child.recv().unwrap().unwrap()
}

/// Asks the kernel to be killed with the test run, and executes the program in the arguments. (Nothing safe can be
/// done between fork and exec, so this happens after a first exec.)
pub(crate) fn become_the_tool() {
    let Ok(parent) = std::env::var(SHELL) else { return };
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL).unwrap();
    // The parent may have died before the line above.
    if nix::unistd::getppid().to_string() != parent {
        std::process::exit(1);
    }
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().unwrap();
    panic!("{}", Command::new(program).args(arguments).env_remove(SHELL).exec());
}
