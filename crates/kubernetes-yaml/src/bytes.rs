//! Sets of bytes as tables, for the loops that look at every byte of a text.

/// A table that is true for these bytes.
pub(crate) const fn only(members: &[u8]) -> [bool; 256] {
    table(members, true)
}

/// A table that is true for every byte but these.
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
