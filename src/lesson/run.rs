//! The one thing that the checker and the player ask for: run this plan.

use super::model::Plan;
use crate::trace::Trace;

/// Something that runs a plan on real servers. `main` hands the engine to whoever needs a run as one of these, so that
/// neither the checker nor the player knows the engine.
pub trait RunLesson {
    /// Runs `plan` from beginning to end.
    ///
    /// # Errors
    /// See [`RunFailure`].
    fn run(&mut self, plan: &Plan) -> Result<Trace, RunFailure>;

    /// Says that a run like this one may be wanted soon: what can be done ahead is done now. What goes wrong here is
    /// for the run to find out. Who has nothing to prepare does nothing.
    fn get_ready(&mut self, _plan: &Plan) {}
}

/// Why there is no trace.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RunFailure {
    /// `needs:` is not met, or the server cannot do it: the variant is skipped, with this reason.
    #[error("skipped: {0}")]
    Skipped(String),
    /// No server, or one that cannot be used: exit code 3.
    #[error("{0}")]
    Environment(String),
    /// The engine lost its footing: nothing can be said of the lesson. Exit code 5.
    #[error("{0}")]
    Engine(String),
}
