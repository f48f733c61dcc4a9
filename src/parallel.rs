//! One function over many items, on every core, with the results in the order of the items.

use std::num::NonZero;

/// Below this a thread costs more than it saves.
const WORTH_A_THREAD: usize = 32;

/// Maps items on all cores. The order of the results is that of the items, whatever the number of cores.
pub(crate) fn map<I: Send, R: Send>(
    items: impl IntoIterator<Item = I>,
    function: impl Fn(I) -> R + Sync,
) -> Vec<R> {
    shared(items.into_iter().collect(), WORTH_A_THREAD, function)
}

/// As [`map`], for items that are worth a thread each.
pub(crate) fn map_few<I: Send, R: Send>(
    items: impl IntoIterator<Item = I>,
    function: impl Fn(I) -> R + Sync,
) -> Vec<R> {
    shared(items.into_iter().collect(), 1, function)
}

fn shared<I: Send, R: Send>(mut items: Vec<I>, least: usize, function: impl Fn(I) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = items.len().div_ceil(cores).max(least);
    if share >= items.len() {
        return items.into_iter().map(function).collect();
    }
    let mut shares = Vec::new();
    while items.len() > share {
        shares.push(items.split_off(items.len() - share));
    }
    let function = &function;
    std::thread::scope(|scope| {
        let threads: Vec<_> = shares
            .into_iter()
            .rev()
            .map(|share| scope.spawn(move || share.into_iter().map(function).collect::<Vec<R>>()))
            .collect();
        // This thread takes its share as well.
        let mut results: Vec<R> = items.into_iter().map(function).collect();
        for thread in threads {
            match thread.join() {
                Ok(part) => results.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}
