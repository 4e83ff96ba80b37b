//! What a record is about: its event, its command, its client.

use super::{Cause, Sql, What};

impl What {
    /// The event of the lesson that this is about, as an index into [`super::Header::events`].
    #[must_use]
    pub const fn event(&self) -> Option<usize> {
        match self {
            Self::EventStart { event }
            | Self::EventEnd { event, .. }
            | Self::EventSkipped { event }
            | Self::EventNotRun { event, .. }
            | Self::News { event, .. }
            | Self::TryFailed { event, .. } => Some(*event),
            Self::Send { event, .. }
            | Self::Waits { event, .. }
            | Self::Warning { event, .. }
            | Self::Sql(Sql { event, .. }) => *event,
            _ => None,
        }
    }

    /// The command that this is about.
    #[must_use]
    pub const fn cmd(&self) -> Option<u32> {
        match self {
            Self::Send { cmd, .. }
            | Self::Waits { cmd, .. }
            | Self::Exec { cmd, .. }
            | Self::Read { cmd }
            | Self::Dropped { cmd, .. }
            | Self::Refused { cmd }
            | Self::Timeout { cmd }
            | Self::Sql(Sql { cmd, .. })
            | Self::Key { cause: Cause::Command { cmd, .. }, .. } => Some(*cmd),
            _ => None,
        }
    }

    /// The client whose belief, work, loss or crash this is.
    #[must_use]
    pub fn client(&self) -> Option<&str> {
        match self {
            Self::Belief { client, .. }
            | Self::Works { client, .. }
            | Self::ToldLost { client, .. }
            | Self::Tick { client, .. }
            | Self::News { client, .. }
            | Self::Sql(Sql { client, .. })
            | Self::ClientCrashed { client, .. }
            | Self::TaskEnded { client, .. } => Some(client),
            _ => None,
        }
    }
}
