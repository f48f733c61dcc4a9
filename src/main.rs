//! The `transship` command: arguments in, exit code out.

/// The system's allocator grows the heap of a second thread page by page: rendering 2,000 objects on two cores costs
/// nearly twice the CPU time with it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    transship::cli::run()
}
