//! SHA-256 digests.

use std::fmt;

use sha2::Digest;

/// A SHA-256 digest, printed in hexadecimal.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sha256([u8; 32]);

/// Computes a digest of several parts.
#[derive(Default)]
pub(crate) struct Hasher(sha2::Sha256);

impl Sha256 {
    /// Computes the digest of bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(bytes);
        hasher.finish()
    }
}

impl Hasher {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Adds a text with its length, so that no other sequence of texts has the same digest.
    pub(crate) fn add(&mut self, text: &str) {
        self.update(&(text.len() as u64).to_be_bytes());
        self.update(text.as_bytes());
    }

    /// Adds the number of texts that follow, and then each of them.
    pub(crate) fn add_all(&mut self, texts: &[&str]) {
        self.update(&(texts.len() as u64).to_be_bytes());
        for text in texts {
            self.add(text);
        }
    }

    pub(crate) fn finish(self) -> Sha256 {
        Sha256(self.0.finalize().into())
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
