//! The thread that runs lessons while the screen stays alive.
//!
//! The servers are started on it too, so the first frame never waits for them. A panic in here becomes a message.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::app::{Request, Run, RunKey};
use super::recording::Recording;
use crate::lesson::RunLesson;

/// How long the thread has to stop its servers. Only a lesson that is still being run takes longer.
const GRACE: Duration = Duration::from_secs(1);

/// What the worker has to say.
#[derive(Debug)]
pub enum Message {
    /// A run is there, or is not going to be.
    Ran(RunKey, Run),
    /// The worker panicked; the program is not to be trusted any more.
    Panicked,
}

/// The running thread.
#[derive(Debug)]
pub struct Worker {
    requests: Option<Sender<Request>>,
    messages: Receiver<Message>,
    /// Nothing ever comes through; it ends as the thread does.
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread; the runner is made on it, and dropped on it when the worker is.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(make_runner: impl FnOnce() -> Box<dyn RunLesson> + Send + 'static) -> std::io::Result<Self> {
        let (requests, todo) = channel::<Request>();
        let (done, messages) = channel();
        let (ends, ended) = channel();
        let thread = std::thread::Builder::new().name("lessons".to_owned()).spawn(move || {
            let _ends: Sender<()> = ends;
            let work = AssertUnwindSafe(|| work(make_runner, &todo, &done));
            if catch_unwind(work).is_err() {
                // Nobody listens only if the player has ended, and then it does not matter.
                let _ = done.send(Message::Panicked);
            }
        })?;
        Ok(Self { requests: Some(requests), messages, ended, thread: Some(thread) })
    }

    /// Asks for a run.
    pub fn request(&self, request: Request) {
        if let Some(requests) = &self.requests {
            // A worker that is gone has sent `Panicked` before.
            let _ = requests.send(request);
        }
    }

    /// What the worker has said since the last call, one by one.
    #[must_use]
    pub fn message(&self) -> Option<Message> {
        self.messages.try_recv().ok()
    }
}

/// Waits for the thread: the runner's servers are stopped there. One that is in the middle of a long lesson is left
/// behind after a moment: who quits must not wait for a run of many hours, and the servers end with the process.
impl Drop for Worker {
    fn drop(&mut self) {
        self.requests = None;
        // Runs that were still asked for have nobody to come to: their place is given up, so none of them begins.
        self.messages = channel().1;
        let Some(thread) = self.thread.take() else { return };
        if self.ended.recv_timeout(GRACE) == Err(RecvTimeoutError::Disconnected) {
            // A panic has been reported as a message.
            let _ = thread.join();
        }
    }
}

/// The next run to make: what somebody waits for at the keyboard first, and of changed variants the latest alone. None:
/// nobody wants any more.
fn next(todo: &Receiver<Request>, waiting: &mut VecDeque<Request>) -> Option<Request> {
    if waiting.is_empty() {
        waiting.push_back(todo.recv().ok()?);
    }
    waiting.extend(todo.try_iter());
    let latest = waiting.iter().map(|request| request.key.whatif).max().unwrap_or(0);
    waiting.retain(|request| matches!(request.key.whatif, 0) || request.key.whatif == latest);
    let changed = waiting.iter().position(|request| request.key.whatif != 0);
    waiting.remove(changed.unwrap_or(0))
}

fn work(make_runner: impl FnOnce() -> Box<dyn RunLesson>, todo: &Receiver<Request>, done: &Sender<Message>) {
    let mut runner = make_runner();
    let mut waiting = VecDeque::new();
    while let Some(Request { key, plan }) = next(todo, &mut waiting) {
        let run = match runner.run(&plan) {
            Ok(trace) => Run::Ready(Arc::new(Recording::new(&plan, trace))),
            Err(failure) => Run::Failed(failure.to_string()),
        };
        if done.send(Message::Ran(key, run)).is_err() {
            return;
        }
        // Whoever looks at this run may change something next: then its servers stand ready.
        waiting.extend(todo.try_iter());
        if waiting.is_empty() {
            runner.get_ready(&plan);
        }
    }
}
