//! How many tokens a request has: what servers really counted, and an estimate for the rest.

mod calibration;
mod fingerprint;
mod known;

pub use calibration::Calibration;
pub(crate) use calibration::Factor;
pub(crate) use fingerprint::SCHEME;
pub(crate) use known::{Entry, Quality};
pub use known::{Estimate, InstallKey, Known, Measured, Piece};
