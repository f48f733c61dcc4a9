//! The `transship` command: arguments in, exit code out.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
