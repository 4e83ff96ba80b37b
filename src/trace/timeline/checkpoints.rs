//! The state at any playhead without folding from the beginning: a copy of it is kept every so many records.

use crate::trace::{State, Trace};

/// Records between two copies. A fold of this many costs about as much as cloning a state of a few clients.
const EVERY: usize = 64;

/// Copies of the state after 0, 64, 128, … records.
#[derive(Clone, Debug)]
pub(super) struct Checkpoints(Vec<State>);

impl Checkpoints {
    pub(super) fn new(trace: &Trace) -> Self {
        let mut state = State::new(&trace.header);
        let mut copies = vec![state.clone()];
        for (i, record) in trace.records.iter().enumerate() {
            state.apply(&trace.header, record);
            if (i + 1) % EVERY == 0 {
                copies.push(state.clone());
            }
        }
        Self(copies)
    }

    pub(super) fn state_at(&self, trace: &Trace, pos: usize) -> State {
        let pos = pos.min(trace.records.len());
        let copy = (pos / EVERY).min(self.0.len() - 1);
        let mut state = self.0[copy].clone();
        for record in &trace.records[copy * EVERY..pos] {
            state.apply(&trace.header, record);
        }
        state
    }
}
