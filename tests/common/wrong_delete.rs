//! `wrong-delete` as a run records it: the naive DEL, and the Lua release.

use std::collections::BTreeMap;

use lockscope::lesson::{Lesson, Level, Plan, RunFailure, RunLesson};
use lockscope::trace::{
    EventInfo, EventKind, Finding, FindingKind, KeyOp, LessonTime, Outcome, Reply, Role, Text, Trace, What,
};
use lockscope::tui::proof::Proof;
use lockscope::tui::{App, Entry, Judge, Recording, RunKey, Theme, app::Run};

use super::scribe::{KEY, Scribe, ask, event, info, lesson, plan, text, token};

const RELEASE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/// Index of the question.
pub const ASK: usize = 4;

fn events() -> Vec<EventInfo> {
    let mut events = vec![
        info(EventKind::Acquire, "A", 11),
        info(EventKind::Work, "A", 12),
        info(EventKind::Acquire, "B", 13),
        info(EventKind::Work, "B", 14),
        info(EventKind::Ask, "", 15),
        info(EventKind::Release, "A", 20),
        info(EventKind::Acquire, "C", 21),
        info(EventKind::Work, "C", 22),
    ];
    events[2].say = Some(text(
        "The lease ran out a second ago. B asks, and Redis has no reason to say no.",
        "租约一秒前就到期了。B 来加锁，Redis 没有理由拒绝。",
    ));
    events[5].say = Some(text(
        "A finishes its 12-second job and tidies up. DEL asks nobody whose lock it is.",
        "A 做完 12 秒的活，顺手清理。DEL 不问这把锁是谁的。",
    ));
    events
}

fn trace(variant: &str) -> Trace {
    let mut s = Scribe::new(&[("redis", Role::Master)], &["A", "B", "C"], events());
    s.trace.header.variant = variant.to_owned();
    let del = variant == "del";
    s.at(0).granted("A", 0, 10_000).start(1).works("A", true);
    s.at(10_000).expires();
    s.at(11_000).granted("B", 2, 10_000).start(3).works("B", true);
    s.at(12_000).works("A", false).end(1, Outcome::Done).start(ASK).start(5).believes("A", false);
    if del {
        s.command("A", "main", 5, &["DEL", KEY], Reply::Int(1), Some((KeyOp::Removed, None)));
        s.end(5, Outcome::Released);
    } else {
        s.command("A", "main", 5, &["EVAL", RELEASE, "1", KEY, &token("A")], Reply::Int(0), None);
        s.end(5, Outcome::NotOwner);
    }
    s.task_ended("A");
    s.at(12_500);
    if del {
        s.granted("C", 6, 10_000).start(7).works("C", true);
        s.at(14_500).works("C", false).end(7, Outcome::Done).believes("C", false).task_ended("C");
    } else {
        s.refused("C", 6, 10_000).push(What::EventSkipped { event: 7 }).task_ended("C");
    }
    s.at(16_000).works("B", false).end(3, Outcome::Done).believes("B", false).task_ended("B").push(What::End);
    s.trace
}

fn overlap(trace: &Trace, who: [&str; 2], from: &str, until: &str) -> Finding {
    let begins = Scribe::find(trace, |r| matches!(&r.what, What::Belief { client, on: true, .. } if client == from));
    let ends = Scribe::find(trace, |r| matches!(&r.what, What::Belief { client, on: false, .. } if client == until));
    Finding {
        kind: FindingKind::Overlap,
        who: who.map(str::to_owned).to_vec(),
        fields: BTreeMap::new(),
        lock: Some("lock".to_owned()),
        from: trace.records[begins].t,
        to: Some(trace.records[ends].t),
        record: begins,
        end_record: Some(ends),
    }
}

fn findings(trace: &Trace) -> Vec<Finding> {
    let mut findings = vec![overlap(trace, ["A", "B"], "B", "A")];
    if trace.header.variant == "del" {
        let removed = Scribe::find(trace, |r| matches!(r.what, What::Key { op: KeyOp::Removed, .. }));
        findings.push(Finding {
            kind: FindingKind::WrongDelete,
            who: Vec::new(),
            fields: [("by".to_owned(), "A".to_owned()), ("owner".to_owned(), "B".to_owned())].into(),
            lock: Some("lock".to_owned()),
            from: LessonTime(12_000),
            to: None,
            record: removed,
            end_record: None,
        });
        findings.push(overlap(trace, ["B", "C"], "C", "C"));
    }
    findings
}

fn right(_: &Plan, trace: &Trace, _: &[Finding], event: usize) -> Proof {
    assert_eq!(event, ASK);
    Proof::Choice(if trace.header.variant == "del" { 1 } else { 2 })
}

/// Says what these traces show.
pub const JUDGE: Judge = Judge { findings, right };

/// "Runs" a plan of this lesson: hands out the trace that was written for it.
pub struct ByHand;

impl RunLesson for ByHand {
    fn run(&mut self, plan: &Plan) -> Result<Trace, RunFailure> {
        match plan.variant.as_str() {
            "broken-server" => Err(RunFailure::Environment("no redis-server was found".to_owned())),
            variant => Ok(trace(variant)),
        }
    }
}

/// The lesson.
pub fn the_lesson() -> Lesson {
    let title = text("A deletes B's lock", "误删：A 删掉了 B 的锁");
    let question = ask(
        text("A finishes at 12 s. Whose lock does its release remove?", "A 在 12 秒做完。它的释放删掉了谁的锁？"),
        &[text("A's", "A 的"), text("B's", "B 的"), text("nobody's", "谁的都没删")],
    );
    let events =
        || events().iter().map(|info| event(info, (info.kind == EventKind::Ask).then(|| question.clone()))).collect();
    let variant = |id, name: Text| plan("wrong-delete", &title, id, name, events());
    let plans = vec![
        variant("del", text("naive DEL", "直接 DEL")),
        variant("lua", text("compare and delete in Lua", "Lua 校验后删除")),
    ];
    lesson(
        "wrong-delete",
        Level::Intro,
        title.clone(),
        text("Your job outlives its lock and then calls DEL. What happens?", "任务比锁活得久，最后直接 DEL，会怎样？"),
        text(
            "A takes the lock for 10 s, but its job takes 12. B comes at 11 s, C at 12.5 s.",
            "A 加锁 10 秒，任务却要 12 秒。B 在 11 秒来，C 在 12.5 秒来。",
        ),
        plans,
    )
}

/// A catalogue with this lesson, one that is only listed, and one that does not load.
pub fn entries() -> Vec<Entry> {
    let mut other = the_lesson();
    other.id = "failover-lost-lock".to_owned();
    other.level = Level::Advanced;
    other.title = text("The lock that never arrived", "没同步过去的锁");
    other.plans.truncate(1);
    other.plans[0].variant = "broken-server".to_owned();
    vec![
        Entry::Failed {
            name: "lessons/typo.yaml".to_owned(),
            errors: "error: unknown client `D`; the lesson has A, B, C\n --> lessons/typo.yaml:9:14\n  |\n9 |   - {client: D, do: acquire}\n  |              ^ write one of A, B, C".to_owned(),
        },
        Entry::Lesson(Box::new(other)),
        Entry::Lesson(Box::new(the_lesson())),
    ]
}

pub const PLAIN: Theme = Theme { ascii: false, colour: false };

/// The player on this lesson, its runs done.
pub fn opened(theme: Theme) -> App {
    let mut app = App::new(entries(), Some(2), theme, lockscope::trace::Lang::En);
    run_all(&mut app);
    app
}

/// Does what the worker would do.
pub fn run_all(app: &mut App) {
    for request in app.take_requests() {
        let run = match ByHand.run(&request.plan) {
            Ok(trace) => Run::Ready(std::sync::Arc::new(Recording::new(&request.plan, trace, &JUDGE))),
            Err(failure) => Run::Failed(failure.to_string()),
        };
        app.ran(request.key, run);
    }
}

/// The run of the first variant.
pub fn recording(app: &App) -> std::sync::Arc<Recording> {
    let Some(Run::Ready(recording)) = app.runs.get(&RunKey { entry: app.selected, variant: 0 }) else {
        panic!("the lesson has been run")
    };
    std::sync::Arc::clone(recording)
}
