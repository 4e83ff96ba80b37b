//! The thread that runs lessons.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use lockscope::lesson::{Plan, RunFailure, RunLesson};
use lockscope::trace::Trace;
use lockscope::tui::app::Run;
use lockscope::tui::worker::{Message, Worker};
use lockscope::tui::{Request, RunKey};

use super::wrong_delete::{ByHand, plan};

const KEY: RunKey = RunKey { entry: 0, variant: 0, whatif: 0 };

/// The next message; a thread that says nothing for this long is broken.
fn next(worker: &Worker) -> Message {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(message) = worker.message() {
            return message;
        }
        assert!(Instant::now() < end, "the worker says nothing");
        std::thread::yield_now();
    }
}

#[test]
fn a_run_comes_back_ready_to_be_played() {
    let worker = Worker::start(|| Box::new(ByHand)).expect("a thread");
    worker.request(Request { key: KEY, plan: plan(0) });
    let Message::Ran(KEY, Run::Ready(recording)) = next(&worker) else { panic!("it can be run") };
    assert_eq!(recording.asks.len(), 1);
}

struct Panics;

impl RunLesson for Panics {
    fn run(&mut self, _: &Plan) -> Result<Trace, RunFailure> {
        panic!("on purpose")
    }
}

#[test]
fn a_panic_is_a_message() {
    let worker = Worker::start(|| Box::new(Panics)).expect("a thread");
    worker.request(Request { key: KEY, plan: plan(0) });
    assert!(matches!(next(&worker), Message::Panicked));
}

/// Says that it has begun, and goes on until it is told to stop.
struct Endless {
    begun: Sender<()>,
    stop: Receiver<()>,
}

impl RunLesson for Endless {
    fn run(&mut self, _: &Plan) -> Result<Trace, RunFailure> {
        self.begun.send(()).expect("the test waits for it");
        self.stop.recv().expect("the test ends it");
        Err(RunFailure::Environment("stopped".to_owned()))
    }
}

#[test]
fn who_leaves_does_not_wait_for_an_endless_lesson() {
    let (begun, has_begun) = channel();
    let (stop, stopped) = channel();
    let worker = Worker::start(|| Box::new(Endless { begun, stop: stopped })).expect("a thread");
    worker.request(Request { key: KEY, plan: plan(0) });
    has_begun.recv().expect("it begins");
    let (left, has_left) = channel();
    std::thread::spawn(move || {
        drop(worker);
        left.send(()).expect("the test waits for it");
    });
    has_left.recv_timeout(Duration::from_secs(30)).expect("the worker lets us go");
    stop.send(()).expect("the lesson is still being run");
}
