//! The thread that runs lessons while the screen stays alive.
//!
//! The servers are started on it too, so the first frame never waits for them. A panic in here becomes a message.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::app::{Request, Run, RunKey};
use super::recording::Recording;
use crate::lesson::{RunFailure, RunLesson};

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
        let thread = std::thread::Builder::new().name("lessons".to_owned()).spawn(move || {
            let work = AssertUnwindSafe(|| work(make_runner, &todo, &done));
            if catch_unwind(work).is_err() {
                // Nobody listens only if the player has ended, and then it does not matter.
                let _ = done.send(Message::Panicked);
            }
        })?;
        Ok(Self { requests: Some(requests), messages, thread: Some(thread) })
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

/// Waits for the thread: the runner's servers are stopped there.
impl Drop for Worker {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // A panic has been reported as a message.
            let _ = thread.join();
        }
    }
}

fn work(make_runner: impl FnOnce() -> Box<dyn RunLesson>, todo: &Receiver<Request>, done: &Sender<Message>) {
    let mut runner = make_runner();
    while let Ok(Request { key, plan }) = todo.recv() {
        let run = match runner.run(&plan) {
            Ok(trace) => Run::Ready(Arc::new(Recording::new(&plan, trace))),
            Err(RunFailure::Refused(places)) => {
                let lines = places.iter().map(|(span, what)| format!("{}: {what}", plan.source.at(*span)));
                let lines: Vec<String> = lines.collect();
                Run::Failed(format!("{}\n{}", RunFailure::Refused(Vec::new()), lines.join("\n")))
            }
            Err(failure) => Run::Failed(failure.to_string()),
        };
        if done.send(Message::Ran(key, run)).is_err() {
            return;
        }
    }
}
