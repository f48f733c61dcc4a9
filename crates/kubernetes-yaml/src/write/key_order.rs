//! The order of keys in YAML: punctuation, then numbers by value, then letters. `a9` comes before `a10`.

use std::cmp::Ordering;

/// Returns whether go-yaml writes the key `a` before `b`.
pub(super) fn is_less(a: &str, b: &str) -> bool {
    compare(a, b) == Ordering::Less
}

fn compare(a: &str, b: &str) -> Ordering {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let mut start = same;
    while !a.is_char_boundary(start) {
        start -= 1;
    }
    let (rest_a, rest_b) = (&a[start..], &b[start..]);
    let (Some(first_a), Some(first_b)) = (rest_a.chars().next(), rest_b.chars().next()) else {
        return rest_a.len().cmp(&rest_b.len());
    };
    match (first_a.is_alphabetic(), first_b.is_alphabetic()) {
        (true, true) => return first_a.cmp(&first_b),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero after other digits of the same number is not a leading zero.
    let inside_number = (first_a == '0' || first_b == '0')
        && a[..start].bytes().rev().take_while(u8::is_ascii_digit).any(|digit| digit != b'0');
    let first_digit = i64::from(inside_number);
    let numbers = leading_number(rest_a, first_digit).cmp(&leading_number(rest_b, first_digit));
    numbers.then(first_a.cmp(&first_b))
}

/// Returns the number that `text` begins with, after `first_digit`, and how many digits it has. The number wraps around
/// as in Go.
fn leading_number(text: &str, first_digit: i64) -> (i64, usize) {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    digits.fold((first_digit, 0), |(number, length), digit| {
        (number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0')), length + 1)
    })
}

/// Sorts with a stable merge sort. go-yaml's order is not transitive for all sets of keys, and the sort of the standard
/// library may panic if an order is not transitive.
pub(super) fn sort<T: Copy>(mut items: Vec<T>, less: &impl Fn(&T, &T) -> bool) -> Vec<T> {
    if items.len() < 2 {
        return items;
    }
    let right = sort(items.split_off(items.len() / 2), less);
    let left = sort(items, less);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        merged.extend(if less(b, a) { right.next() } else { left.next() });
    }
    merged.extend(left);
    merged.extend(right);
    merged
}
