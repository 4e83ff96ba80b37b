//! Runs a plan on real servers and writes down what happens: *(plan, servers, clock) → trace*.
//!
//! - `agenda` is what is due and in which order; `slot` are the tasks that wait on it; `sched` is the loop.
//! - `clock` is lesson time; `server` brings the servers to it and looks at their keys; `keys` is what is known of them,
//!   `slips` how a run notices that it cannot be trusted.
//! - `program` are the clients' programs, `recipes` and `release` what they do with a lock, `guards` their watchdogs and
//!   deadlines, `waiting` what they do
//!   between two tries, `notify` how they are told that the lock is free, and `queue` how they stand in line for it.
//! - `ways` is what a lock is made of, and the commands that go with it; `redlock` is a lock on most of several nodes,
//!   `round` the same command on all of them; `acks` is what replicas have, for `WAIT`.
//! - `data` is what they do with the protected data, `database` the other end of that.
//! - `sentinel` is what Sentinels say, and how clients ask them.
//! - `wire` is a command's way to the server and back, `links` what passes on it; `execute` is what happens at the server,
//!   `blocked` the commands that it keeps waiting; `happen` is what happens to clients, nodes and links.
//! - `needs` is what the server must be able to do.

mod acks;
mod agenda;
mod blocked;
mod clock;
mod data;
mod database;
mod execute;
mod fill;
mod guards;
mod happen;
mod jump;
mod keys;
mod lifetimes;
mod links;
mod look;
mod needs;
mod notify;
mod program;
mod queue;
mod recipes;
mod redlock;
mod release;
mod replies;
mod round;
mod sched;
mod sentinel;
mod server;
mod slips;
mod slot;
mod token;
mod waiting;
mod ways;
mod wire;
mod world;

use std::rc::Rc;

pub use clock::ClockKind;
pub use database::Store;

use crate::lesson::{Do, Fence, Persistence as Keeps, Plan, RunFailure, RunLesson, ServersKind};
use crate::servers::{Binary, Fleet, Persistence, Servers, ServersError, Setup, Shape};
use crate::trace::Trace;
use notify::{channel_of, tells};
use queue::{has_line, reach};
use recipes::fence_key;
use world::Trouble;

/// How often a run is begun anew because the machine was too busy for its freeze to hold. A slip needs a deadline within
/// a few ms after a command *and* a descheduled engine, so that even one is rare; a machine that slips so often in a row
/// cannot run this lesson.
const ATTEMPTS: u32 = 20;

/// Runs lessons, one after another, on servers of its own that are used again.
pub struct Engine {
    runtime: Rc<tokio::runtime::Runtime>,
    fleet: Fleet,
    database: Store,
    clock: ClockKind,
    /// Servers that stand ready for a run, and what they were prepared for.
    ready: Option<(Setup, Servers)>,
}

impl Engine {
    /// An engine that starts `binary` when the first lesson needs it.
    ///
    /// # Errors
    /// When the operating system refuses the runtime.
    pub fn new(binary: Binary, clock: ClockKind) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self {
            runtime: Rc::new(runtime),
            fleet: Fleet::new(binary),
            database: Store::default(),
            clock,
            ready: None,
        })
    }

    /// Fresh servers for a plan: those that stand ready, if they are of this kind and alive.
    async fn servers(&mut self, plan: &Plan) -> Result<Servers, ServersError> {
        let setup = setup(plan);
        match self.ready.take() {
            Some((prepared, servers)) if prepared == setup && servers.answer() => Ok(servers),
            _ => self.fleet.prepare(&setup).await,
        }
    }

    async fn run_plan(&mut self, plan: &Plan) -> Result<Trace, RunFailure> {
        let environment = |error: ServersError| RunFailure::Environment(error.to_string());
        let mut disturbed = false;
        for _ in 0..ATTEMPTS {
            let servers = Rc::new(self.servers(plan).await.map_err(environment)?);
            if let Some(why) = needs::unmet(plan, self.fleet.binary(), &servers).await.map_err(failure)? {
                return Err(RunFailure::Skipped(why));
            }
            match run_on(&servers, &self.database, self.fleet.binary(), plan, self.clock).await {
                Ok(Some(trace)) => return Ok(trace),
                Ok(None) => {}
                // A Sentinel has changed a node just when something was done to it.
                Err(RunFailure::Environment(_)) if plan.is_on_real_clock() && !disturbed => disturbed = true,
                Err(failure) => return Err(failure),
            }
        }
        Err(RunFailure::Engine(format!(
            "{}/{}: this machine is so busy that keys expired, or servers were missed, before their time in {ATTEMPTS} runs in a row",
            plan.lesson, plan.variant
        )))
    }
}

impl RunLesson for Engine {
    fn run(&mut self, plan: &Plan) -> Result<Trace, RunFailure> {
        let runtime = Rc::clone(&self.runtime);
        runtime.block_on(self.run_plan(plan))
    }

    fn get_ready(&mut self, plan: &Plan) {
        // Sentinels live on the real clock: they would grow old.
        if plan.is_on_real_clock() {
            return;
        }
        let setup = setup(plan);
        // What stood ready goes back first: it may be just what is needed.
        self.ready = None;
        if let Ok(servers) = self.runtime.block_on(self.fleet.prepare(&setup)) {
            self.ready = Some((setup, servers));
        }
    }
}

/// Runs a plan once, on servers that are as [`setup`] says and fresh, with a database that may have been used. None: the machine was so busy that the freeze did
/// not hold; nothing is known, and the plan can be run again.
///
/// # Errors
/// When a server fails, or the engine.
pub async fn run_on(
    servers: &Rc<Servers>,
    database: &Store,
    binary: &Binary,
    plan: &Plan,
    clock: ClockKind,
) -> Result<Option<Trace>, RunFailure> {
    let clock = if plan.is_on_real_clock() { ClockKind::Wall } else { clock };
    match sched::run(Rc::new(plan.clone()), Rc::clone(servers), database.clone(), clock, binary).await {
        Ok(trace) => Ok(Some(trace)),
        Err(Trouble::Slip) => Ok(None),
        Err(trouble) => Err(failure(trouble)),
    }
}

fn failure(trouble: Trouble) -> RunFailure {
    match trouble {
        Trouble::Environment(text) => RunFailure::Environment(text),
        Trouble::Engine(text) => RunFailure::Engine(text),
        Trouble::Slip => RunFailure::Engine("keys expired before their time".to_owned()),
    }
}

/// The servers that a plan needs.
#[must_use]
pub fn setup(plan: &Plan) -> Setup {
    let shape = match plan.servers.kind {
        ServersKind::Replicated { replicas } => Shape::Replicated { replicas },
        ServersKind::Quorum { nodes, .. } => Shape::Quorum { nodes },
        ServersKind::Sentinel { replicas } => Shape::Sentinel { replicas },
        ServersKind::Single => Shape::Single,
    };
    let persistence = match plan.servers.persistence {
        Keeps::None => Persistence::None,
        Keeps::EverySec => Persistence::EverySec,
        Keeps::Always => Persistence::Always,
    };
    let locks = plan.locks.iter().map(|lock| lock.key.clone());
    let fences = plan.events.iter().filter_map(|event| match &event.what {
        Do::Acquire(acquire) if acquire.fence == Fence::Script => Some(fence_key(&plan.locks[event.lock?].key)),
        _ => None,
    });
    let told = plan.locks.iter().enumerate().filter(|(lock, _)| {
        let asked = |event: &crate::lesson::Event| match &event.what {
            Do::Release(release) => event.lock == Some(*lock) && release.publish == Some(true),
            _ => false,
        };
        tells(plan, *lock) || plan.events.iter().any(asked)
    });
    let channels = told.map(|(_, lock)| channel_of(&lock.key));
    let fair = plan.locks.iter().enumerate().filter(|(lock, _)| has_line(plan, *lock));
    let lines = fair.flat_map(|(_, lock)| reach(&lock.key));
    let keys = locks
        .chain(fences)
        .chain(channels)
        .chain(lines)
        .chain(plan.keys.iter().map(|pattern| pattern.value.clone()))
        .collect();
    let config = plan.servers.config.iter().map(|(name, value)| (name.value.clone(), value.clone())).collect();
    Setup { shape, persistence, config, keys, scripts: vec![look::CLOCK] }
}

/// SHA-1 of the clock script, as `EVALSHA` wants it.
fn clock_script_sha() -> &'static str {
    static SHA: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    SHA.get_or_init(|| redis::Script::new(look::CLOCK).get_hash().to_owned())
}
