//! Sets of bytes as lookup tables, for the loops that look at every byte of a text.

/// Returns a table that is true for `members` only.
pub(crate) const fn only(members: &[u8]) -> [bool; 256] {
    table(members, true)
}

/// Returns a table that is true for every byte except `members`.
pub(crate) const fn all_but(members: &[u8]) -> [bool; 256] {
    table(members, false)
}

const fn table(members: &[u8], member: bool) -> [bool; 256] {
    let mut table = [!member; 256];
    let mut index = 0;
    while index < members.len() {
        table[members[index] as usize] = member;
        index += 1;
    }
    table
}
