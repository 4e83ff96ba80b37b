//! `wrong-delete` as a run records it, written by hand: the naive DEL, and the Lua release. The lesson itself is read
//! from a file as lessons are.

use std::sync::Arc;

use lockscope::lesson::catalogue::{Entry, load_all};
use lockscope::lesson::{Plan, RunFailure, RunLesson, Source};
use lockscope::trace::{EventInfo, KeyOp, Lang, Outcome, Reply, Role, Trace, What};
use lockscope::tui::app::Run;
use lockscope::tui::{App, Recording, Theme};

use super::scribe::{KEY, Scribe, token};

const RELEASE: &str = include_str!("../../assets/lua/release.lua");

/// Indices of the events in the file.
const A_LOCK: usize = 0;
const A_WORK: usize = 1;
const B_LOCK: usize = 2;
const B_WORK: usize = 3;
const ASK: usize = 4;
const A_RELEASE: usize = 5;
const C_LOCK: usize = 6;
const C_WORK: usize = 7;

pub fn infos(plan: &Plan) -> Vec<EventInfo> {
    use lockscope::lesson::Subject;
    let of = |event: &lockscope::lesson::Event| EventInfo {
        id: event.id.clone(),
        line: event.span.line,
        kind: event.kind(),
        subject: match &event.subject {
            Subject::Client { client, .. } => client.clone(),
            _ => String::new(),
        },
        lock: event.lock.map(|_| "lock".to_owned()),
        say: event.say.clone(),
    };
    plan.events.iter().map(of).collect()
}

/// What a run of `plan` records.
pub fn trace(plan: &Plan) -> Trace {
    let mut s = Scribe::new(&[("redis", Role::Master)], &["A", "B", "C"], infos(plan));
    let del = plan.variant == "del";
    s.at(0).granted("A", A_LOCK, 10_000).start(A_WORK).works("A", true);
    s.at(10_000).expires();
    s.at(11_000).granted("B", B_LOCK, 10_000).start(B_WORK).works("B", true);
    s.at(12_000).works("A", false).end(A_WORK, Outcome::Done).start(ASK).start(A_RELEASE).believes("A", false);
    if del {
        s.command("A", "main", A_RELEASE, &["DEL", KEY], Reply::Int(1), Some((KeyOp::Removed, None)));
        s.end(A_RELEASE, Outcome::Released);
    } else {
        s.command("A", "main", A_RELEASE, &["EVAL", RELEASE, "1", KEY, &token("A")], Reply::Int(0), None);
        s.end(A_RELEASE, Outcome::NotOwner);
    }
    s.task_ended("A").at(12_500);
    if del {
        s.granted("C", C_LOCK, 10_000).start(C_WORK).works("C", true);
        s.at(14_500).works("C", false).end(C_WORK, Outcome::Done).believes("C", false).task_ended("C");
    } else {
        s.refused("C", C_LOCK, 10_000).push(What::EventSkipped { event: C_WORK }).task_ended("C");
    }
    s.at(16_000).works("B", false).end(B_WORK, Outcome::Done).believes("B", false).task_ended("B").push(What::End);
    s.trace
}

/// "Runs" a plan: hands out the trace that was written for it.
pub struct ByHand;

impl RunLesson for ByHand {
    fn run(&mut self, plan: &Plan) -> Result<Trace, RunFailure> {
        match plan.lesson.as_str() {
            "wrong-delete" => Ok(trace(plan)),
            _ => Err(RunFailure::Environment("no redis-server was found".to_owned())),
        }
    }
}

const YAML: &str = include_str!("wrong_delete.yaml");

/// A catalogue: this lesson, one that cannot be run, and one that does not load.
pub fn entries() -> Vec<Entry> {
    let other = YAML.replace("id: wrong-delete", "id: other").replace("level: intro", "level: advanced");
    let typo = YAML
        .replace("{client: C, do: work, for: 2s}", "{client: D, do: work, for: 2s}")
        .replace("id: wrong-delete", "id: typo");
    load_all([
        Source::new("lessons/wrong-delete.yaml", YAML),
        Source::new("lessons/other.yaml", other),
        Source::new("lessons/typo.yaml", typo),
    ])
}

pub const PLAIN: Theme = Theme { ascii: false, colour: false };

/// The plan of a variant.
pub fn plan(variant: usize) -> Plan {
    entries()[0].lesson.as_ref().expect("the lesson loads").plans[variant].clone()
}

/// The player on this lesson, its runs done.
pub fn opened(theme: Theme, lang: Lang) -> App {
    let mut app = App::new(entries(), Some(0), theme, lang);
    run_all(&mut app);
    app
}

/// The same lesson with another question, in the format's words; no key is pressed yet.
pub fn opened_asking(ask: &str, lang: Lang) -> App {
    let from = YAML.find("    choices:").expect("the question has choices");
    let to = YAML.find("    hint:").expect("the question has a hint");
    let yaml = format!("{}    {ask}\n{}", &YAML[..from], &YAML[to..]);
    let mut app = App::new(load_all([Source::new("lessons/asking.yaml", yaml)]), Some(0), PLAIN, lang);
    run_all(&mut app);
    app
}

/// Does what the worker does.
pub fn run_all(app: &mut App) {
    for request in app.take_requests() {
        let run = match ByHand.run(&request.plan) {
            Ok(trace) => Run::Ready(Arc::new(Recording::new(&request.plan, trace))),
            Err(failure) => Run::Failed(failure.to_string()),
        };
        app.ran(request.key, run);
    }
}
