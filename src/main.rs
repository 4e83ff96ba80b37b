//! The wiring: the command line, and who is handed what. Neither the checker nor the player knows the engine; they are
//! handed something that runs a lesson.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use lockscope::check::{self, Exit, Job};
use lockscope::cli::{self, Cli, Clock};
use lockscope::engine::{ClockKind, Engine};
use lockscope::lesson::catalogue::{self, Entry};
use lockscope::lesson::{Plan, RunFailure, RunLesson, Source, render_all};
use lockscope::servers::Binary;
use lockscope::trace::{Lang, Trace};
use lockscope::tui;

fn main() -> ExitCode {
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => {
            // Nothing can be done where even this cannot be printed.
            let _ = error.print();
            return ExitCode::from(cli::exit_code(&error));
        }
    };
    match run(&cli) {
        Ok(exit) => ExitCode::from(exit.code()),
        // `lockscope --list | head`: whoever reads has enough. No word, and the exit code that the shell has for it.
        Err(error) if is_closed_pipe(&error) => ExitCode::from(CLOSED_PIPE),
        Err(error) => {
            eprintln!("lockscope: {error:#}");
            ExitCode::from(Exit::Usage.code())
        }
    }
}

/// 128 + SIGPIPE (13), as a shell reports a program that was ended by it.
const CLOSED_PIPE: u8 = 141;

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

fn run(cli: &Cli) -> anyhow::Result<Exit> {
    let lang = check::language(cli.lang.and_then(|lang| Lang::from_code(lang.code())), |name| std::env::var(name).ok());
    let sources = sources(&cli.lessons)?;
    let entries = catalogue::load_all(sources);
    if cli.list {
        return list(&entries, lang);
    }
    let runner = Runner { server: cli.redis_server.clone(), clock: clock(cli.clock) };
    if cli.check { check_all(cli, entries, &runner, lang) } else { play(cli, entries, runner, lang) }
}

const fn clock(clock: Clock) -> ClockKind {
    match clock {
        Clock::Warp => ClockKind::Warp,
        Clock::Wall => ClockKind::Wall,
    }
}

/// The lesson files that the command line names; without any, those in the binary.
fn sources(names: &[String]) -> std::io::Result<Vec<Arc<Source>>> {
    if names.is_empty() {
        return Ok(catalogue::builtin());
    }
    let mut sources = Vec::new();
    for name in names {
        if Path::new(name).is_dir() {
            sources.extend(catalogue::load_dir(Path::new(name))?);
        } else {
            sources.push(catalogue::find(name)?);
        }
    }
    Ok(sources)
}

fn list(entries: &[Entry], lang: Lang) -> anyhow::Result<Exit> {
    let mut out = std::io::stdout().lock();
    let mut exit = Exit::Fine;
    for entry in entries {
        match &entry.lesson {
            Ok(lesson) => {
                writeln!(out, "{}  {}", lesson.id, lesson.title.get(lang))?;
                for plan in lesson.plans.iter().filter(|plan| !plan.variant.is_empty()) {
                    writeln!(out, "  {}/{}  {}", lesson.id, plan.variant, plan.variant_title.get(lang))?;
                }
            }
            Err(errors) => {
                writeln!(out, "{}\n", render_all(&entry.source, errors))?;
                exit = Exit::Lesson;
            }
        }
    }
    Ok(exit)
}

fn check_all(cli: &Cli, entries: Vec<Entry>, runner: &Runner, lang: Lang) -> anyhow::Result<Exit> {
    let jobs: Vec<Job> = entries
        .into_iter()
        .map(|entry| match entry.lesson {
            Ok(lesson) => Job::Lesson(Box::new(lesson)),
            Err(errors) => {
                Job::Broken { name: entry.source.name.clone(), diagnostics: render_all(&entry.source, &errors) }
            }
        })
        .collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let options = check::Options {
        jobs: cli.jobs.map_or(cores, usize::from),
        repeat: usize::from(cli.repeat),
        filter: cli.filter.clone(),
        lang,
        colour: check::colour_wanted(std::io::stdout().is_terminal(), std::env::var("NO_COLOR").ok().as_deref()),
        traces: cli.trace.clone(),
    };
    let summary = check::check(&jobs, &options, &|| runner.make(), &mut std::io::stdout().lock())?;
    Ok(summary.exit)
}

fn play(cli: &Cli, entries: Vec<Entry>, runner: Runner, lang: Lang) -> anyhow::Result<Exit> {
    // A lesson that is named is opened; several, or a folder, are a catalogue of their own.
    let start = match cli.lessons.as_slice() {
        [one] if !Path::new(one).is_dir() => Some(0),
        _ => None,
    };
    let options = tui::Options { lang, ascii: cli.ascii };
    tui::run(entries, start, move || runner.make(), options)?;
    Ok(Exit::Fine)
}

/// Makes engines: one for each thread that runs lessons.
#[derive(Clone)]
struct Runner {
    server: Option<PathBuf>,
    clock: ClockKind,
}

impl Runner {
    fn make(&self) -> Box<dyn RunLesson> {
        let found = Binary::find(self.server.as_deref()).map_err(|error| error.to_string());
        let engine = found.and_then(|binary| Engine::new(binary, self.clock).map_err(|error| error.to_string()));
        match engine {
            Ok(engine) => Box::new(engine),
            Err(text) => Box::new(NoServer(text)),
        }
    }
}

/// Answers every run with the reason why there is no server.
struct NoServer(String);

impl RunLesson for NoServer {
    fn run(&mut self, _: &Plan) -> Result<Trace, RunFailure> {
        Err(RunFailure::Environment(self.0.clone()))
    }
}
