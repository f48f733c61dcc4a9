//! The values of issued objects: certificates, kubeconfigs, authorities. Nothing here talks to a cluster.
//!
//! | file | purpose |
//! |---|---|
//! | `clock` | the time of day |
//! | `values` | the values of a Secret, which nothing prints |
//! | `certificate` | reads certificates |
//! | `signer` | signs certificates; creates a signer |
//! | `serving` | certificates for Services |
//! | `kubeconfig` | kubeconfigs for the guest |
//! | `bundle` | the authorities that clients trust while a signer changes |
//! | `due` | why something is issued |

pub(crate) mod bundle;
pub(crate) mod certificate;
pub(crate) mod clock;
pub(crate) mod due;
pub(crate) mod kubeconfig;
pub(crate) mod serving;
pub(crate) mod signer;
pub(crate) mod values;
