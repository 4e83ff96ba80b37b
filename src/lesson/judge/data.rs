//! What a state says of the protected data.

use crate::trace::{ResourceState, State};

/// The value of a row.
pub(super) fn row(state: &State, resource: &str) -> Option<i64> {
    match state.resources.get(resource)? {
        ResourceState::Row { value, .. } => Some(*value),
        ResourceState::Log(_) => None,
    }
}

/// How many effects a log has.
pub(super) fn effects(state: &State, resource: &str) -> Option<u64> {
    match state.resources.get(resource)? {
        ResourceState::Log(lines) => Some(lines.len() as u64),
        ResourceState::Row { .. } => None,
    }
}
