//! One function over many items, on every core, with the results in the order of the items.

use std::num::NonZero;

/// Below this a thread costs more than it saves.
const WORTH_A_THREAD: usize = 64;

/// Maps items on all cores. The order of the results is that of the items, whatever the number of cores.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], function: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = items.len().div_ceil(cores).max(WORTH_A_THREAD);
    if share >= items.len() {
        return items.iter().map(function).collect();
    }
    let function = &function;
    let (own, others) = items.split_at(share);
    std::thread::scope(|scope| {
        let threads: Vec<_> = others
            .chunks(share)
            .map(|chunk| scope.spawn(move || chunk.iter().map(function).collect::<Vec<R>>()))
            .collect();
        let mut results = Vec::with_capacity(items.len());
        results.extend(own.iter().map(function));
        for thread in threads {
            match thread.join() {
                Ok(part) => results.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}
