//! Maps a function over many items on all cores.

use std::num::NonZero;

/// For items that take milliseconds, such as large texts: a thread for a single item pays off.
pub(crate) const MIN_TEXTS_PER_THREAD: usize = 1;

/// For items that take dozens of microseconds, such as reading or writing a file.
pub(crate) const MIN_FILES_PER_THREAD: usize = 32;

/// For components: most of their objects are shared with the payload and hardly change.
pub(crate) const MIN_COMPONENTS_PER_THREAD: usize = 512;

/// Maps items on all cores. The results are in the order of the items.
///
/// Each thread gets at least `min_items_per_thread` items, because starting a thread costs about as much as that many
/// items. With few items, everything runs on the current thread.
pub(crate) fn map<I: Send, R: Send>(
    min_items_per_thread: usize,
    items: impl IntoIterator<Item = I>,
    function: impl Fn(I) -> R + Sync,
) -> Vec<R> {
    let mut items: Vec<I> = items.into_iter().collect();
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let items_per_thread = items.len().div_ceil(cores).max(min_items_per_thread);
    if items_per_thread >= items.len() {
        return items.into_iter().map(function).collect();
    }
    let mut shares = Vec::new();
    while items.len() > items_per_thread {
        shares.push(items.split_off(items.len() - items_per_thread));
    }
    // The shares were split off the end, so the first one is the last in order.
    shares.reverse();
    let function = &function;
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for share in shares {
            threads.push(scope.spawn(move || share.into_iter().map(function).collect::<Vec<R>>()));
        }
        // The current thread handles the items that are left.
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
