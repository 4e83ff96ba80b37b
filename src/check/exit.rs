//! The exit codes.

/// What the program's exit code says. Of several failures the lowest code counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exit {
    /// 0: all as expected.
    Fine,
    /// 1: the command line is wrong, or selects nothing.
    Usage,
    /// 2: a lesson cannot be read, or needs what lockscope cannot do yet.
    Lesson,
    /// 3: no server, or one that cannot be used.
    Environment,
    /// 4: a run was not as its lesson says.
    Failed,
    /// 5: nothing can be said of a run.
    Inconclusive,
}

impl Exit {
    /// The number for the shell.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Usage => 1,
            Self::Lesson => 2,
            Self::Environment => 3,
            Self::Failed => 4,
            Self::Inconclusive => 5,
        }
    }

    /// The one that counts of two: a failure before none, the lower code before the higher.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fine, other) => other,
            (this, Self::Fine) => this,
            (this, other) => this.min(other),
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
