//! The command line: what may be written, nothing of what it does.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{CommandFactory, Parser, ValueEnum};

/// See why a Redis lock fails: lessons run on real Redis servers and play back as a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(name = "lockscope", version, after_help = EXAMPLES, after_long_help = LONG_EXAMPLES)]
pub struct Cli {
    /// A lesson's id, or a lesson file; for --check also folders. None: the catalogue, or all built-in lessons
    #[arg(value_name = "LESSON")]
    pub lessons: Vec<String>,

    /// Run lessons without a screen and compare each run with what its lesson says
    #[arg(long, conflicts_with = "list")]
    pub check: bool,

    /// List the lessons and their variants
    #[arg(long)]
    pub list: bool,

    /// How many variants to run at once [default: one per core]
    #[arg(long, value_name = "N", requires = "check")]
    pub jobs: Option<NonZeroUsize>,

    /// Run each variant N times and demand the same trace each time
    #[arg(long, value_name = "N", requires = "check", default_value = "1", hide_default_value = true)]
    pub repeat: NonZeroUsize,

    /// Only variants whose LESSON/VARIANT contains this text
    #[arg(long, value_name = "TEXT", requires = "check")]
    pub filter: Option<String>,

    /// Keep the trace of each run in this folder, as JSON Lines
    #[arg(long, value_name = "DIR", requires = "check")]
    pub trace: Option<PathBuf>,

    /// `warp` skips the waiting; `wall` really waits, and must show the same
    #[arg(long, value_enum, default_value_t = Clock::Warp)]
    pub clock: Clock,

    /// The server program to start [default: `$LOCKSCOPE_REDIS_SERVER`, else redis-server or valkey-server on PATH]
    #[arg(long, value_name = "PATH")]
    pub redis_server: Option<PathBuf>,

    /// The language of the program and of the lessons [default: the locale's]
    #[arg(long, value_enum)]
    pub lang: Option<Language>,

    /// Draw with plain ASCII characters only
    #[arg(long)]
    pub ascii: bool,
}

/// How lesson time passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Clock {
    /// Keys' remaining time is moved forward; nobody waits.
    #[default]
    Warp,
    /// Real sleeps.
    Wall,
}

/// A language, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// English.
    En,
    /// 中文.
    Zh,
}

impl Language {
    /// Its code, as lessons write it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  lockscope                           open the catalogue
  lockscope wrong-delete              open one lesson
  lockscope --check                   check all built-in lessons
  lockscope --check my-lessons/       check your own";

const LONG_EXAMPLES: &str = "\
Examples:
  lockscope                                 open the catalogue
  lockscope wrong-delete                    open one lesson
  lockscope my-lesson.yaml --lang zh        open your own, in Chinese
  lockscope --check                         check all built-in lessons
  lockscope --check my-lessons/             check your own
  lockscope --check --filter watchdog       only what has this in its name
  lockscope --check --repeat 200            the same trace 200 times?

Exit codes:
  0  all as expected
  1  the command line is wrong, or selects nothing
  2  a lesson cannot be read, or needs what lockscope cannot do yet
  3  no Redis server, or one that cannot be used
  4  a run was not as its lesson says
  5  nothing can be said of a run
Of several, the lowest of 2 to 5.";

impl Cli {
    /// Reads a command line; `args` begins with the program's name.
    ///
    /// # Errors
    /// What is wrong with it, ready to be printed; also `--help` and `--version`, which are no failures. See
    /// [`exit_code`].
    pub fn read<I, T>(args: I) -> Result<Self, clap::Error>
    where
        I: IntoIterator<Item = T>,
        T: Into<OsString> + Clone,
    {
        let cli = Self::try_parse_from(args)?;
        if !cli.check && !cli.list && cli.lessons.len() > 1 {
            let text = "one lesson can be opened at a time; to check several, write --check";
            return Err(Self::command().error(clap::error::ErrorKind::TooManyValues, text));
        }
        Ok(cli)
    }
}

/// The exit code after `error` has been printed: 1 for wrong usage (the shell's 2 means something else here), 0 for
/// help and version.
#[must_use]
pub fn exit_code(error: &clap::Error) -> u8 {
    u8::from(error.use_stderr())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Cli, clap::Error> {
        Cli::read(std::iter::once("lockscope").chain(line.split_whitespace()))
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_may_be_written_is_understood() {
        let nothing = read("").unwrap();
        assert!(!nothing.check && nothing.lessons.is_empty() && nothing.repeat.get() == 1);
        assert_eq!(nothing.clock, Clock::Warp);
        let check = read("--check a b/ --repeat 200 --jobs 2 --filter del --trace out --clock wall --lang zh").unwrap();
        assert_eq!(check.lessons, ["a", "b/"]);
        assert_eq!((check.repeat.get(), check.jobs.map(NonZeroUsize::get)), (200, Some(2)));
        assert_eq!(check.lang.map(Language::code), Some("zh"));
        assert_eq!(read("wrong-delete --ascii").unwrap().lessons, ["wrong-delete"]);
    }

    #[test]
    fn wrong_usage_is_exit_1_and_help_is_none() {
        let wrong = ["--dance", "a b", "--repeat 2", "--check --repeat 0", "--check --jobs x", "--clock sundial"];
        for line in wrong {
            assert_eq!(exit_code(&read(line).unwrap_err()), 1, "{line}");
        }
        for line in ["--help", "-h", "--version"] {
            assert_eq!(exit_code(&read(line).unwrap_err()), 0, "{line}");
        }
    }
}
