//! One function over many items, on every core, with the results in the order of the items.

use std::num::NonZero;

/// How many items are worth a thread: what a thread costs, an item must save that many times over.
#[derive(Clone, Copy)]
pub(crate) enum Worth {
    /// Texts of dozens of objects.
    Much = 1,
    /// Files.
    Some = 32,
    /// Components: trees are shared, and little is changed in them.
    Little = 512,
}

/// Maps items on all cores, where they are worth it. The order of the results is that of the items, whatever the number of
/// cores.
pub(crate) fn map<I: Send, R: Send>(
    worth: Worth,
    items: impl IntoIterator<Item = I>,
    function: impl Fn(I) -> R + Sync,
) -> Vec<R> {
    let mut items: Vec<I> = items.into_iter().collect();
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = items.len().div_ceil(cores).max(worth as usize);
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
