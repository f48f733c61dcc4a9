//! Who owns objects and fields, and what to do about it.

/// What to do if another field manager owns a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnConflict {
    /// Report the conflict.
    Fail,
    /// Take the field over.
    Force,
}

/// Whose object it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// transship created or adopted it.
    Ours,
    /// It existed before and stays someone else's.
    Found,
}

/// Whether `--adopt` was given: objects that others created are taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adoption {
    /// Objects that others created stay theirs.
    #[default]
    Off,
    /// Objects that others created become transship's.
    On,
}
