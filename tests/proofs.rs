//! What the lessons prove, as a page can show it: the table of protections and failures in the guide is made from the
//! lessons, and whatever else the guide names of them exists.
//!
//! `BLESS=1 cargo test --test proofs` writes the table anew.

#![expect(clippy::unwrap_used, reason = "a test that cannot read the guide has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use lockscope::lesson::{
    self, Acquire, AcquireHow, Do, Event, Expected, Guard, Lesson, Plan, ReleaseHow, ServersKind, Subject, Token,
};
use lockscope::trace::{FindingKind, LessonTime, Verdict};

/// A row or a column: what it is called, and which runs may stand in it.
type Axis = (&'static str, fn(&Lesson, &Plan) -> bool);

/// The rows: what somebody relies on.
const PROTECTIONS: &[Axis] = &[
    ("SETNX, then a TTL", |_, plan| acquires(plan).any(setnx)),
    ("SET NX PX", |_, plan| set_nx_px(plan)),
    ("token and Lua", |_, plan| set_nx_px(plan) && compares(plan)),
    ("watchdog", |_, plan| acquires(plan).any(|acquire| acquire.watchdog.is_some())),
    ("fencing token", |_, plan| guards(plan).any(|guard| guard == Guard::Fence)),
    ("condition, version, once", |_, plan| guards(plan).any(|guard| !matches!(guard, Guard::None | Guard::Fence))),
    ("WAIT", |_, plan| acquires(plan).any(|acquire| acquire.wait_replicas.is_some())),
    ("Redlock", |_, plan| acquires(plan).any(|acquire| matches!(acquire.how, AcquireHow::Redlock { .. }))),
];

/// The columns: what goes wrong.
const FAILURES: &[Axis] = &[
    ("crash", |_, plan| happens(plan, |event| matches!(event.what, Do::Crash { .. }) && of_client(event))),
    ("overrun", |_, plan| plan.events.iter().any(|event| outlives(plan, event))),
    ("pause", |_, plan| happens(plan, |event| matches!(event.what, Do::Pause { .. }))),
    ("wrong delete", |lesson, _| expects(lesson, &[FindingKind::WrongDelete])),
    ("failover", |_, plan| {
        let by_itself = matches!(plan.servers.kind, ServersKind::Sentinel { .. });
        by_itself || happens(plan, |event| matches!(event.what, Do::Promote { .. }))
    }),
    ("restart", |_, plan| happens(plan, |event| matches!(event.what, Do::Restart))),
    ("clock jump", |_, plan| happens(plan, |event| matches!(event.what, Do::ClockJump { .. }))),
    ("late write", |lesson, _| expects(lesson, &[FindingKind::StaleWrite, FindingKind::RejectedWrite])),
];

/// Which runs are shown where: protection, failure, `lesson/variant`. That they belong there, and how they end, is read
/// from the lessons.
const CELLS: &[(&str, &str, &[&str])] = &[
    ("SETNX, then a TTL", "crash", &["setnx-crash/setnx-expire"]),
    ("SET NX PX", "crash", &["setnx-crash/set-nx-px", "first-lock/crash", "ttl-too-short-too-long/long"]),
    ("SET NX PX", "overrun", &["task-outlives-ttl/ttl-30s", "task-outlives-ttl/ttl-5m", "chain-reaction/del"]),
    (
        "SET NX PX",
        "wrong delete",
        &[
            "wrong-delete/del",
            "get-then-del/get-del",
            "fixed-token/fixed",
            "thread-identity/free",
            "finally-unlock/del",
        ],
    ),
    ("SET NX PX", "failover", &["failover-lost-lock/lagging"]),
    ("token and Lua", "crash", &["first-lock/crash"]),
    ("token and Lua", "overrun", &["wrong-delete/lua", "chain-reaction/lua", "fixed-token/unique"]),
    ("token and Lua", "wrong delete", &["get-then-del/lua", "finally-unlock/lua"]),
    ("token and Lua", "failover", &["failover-lost-lock/lagging"]),
    ("watchdog", "crash", &["watchdog/crash", "ttl-too-short-too-long/sized-crash"]),
    ("watchdog", "overrun", &["task-outlives-ttl/watchdog", "watchdog/watchdog", "ttl-too-short-too-long/sized-slow"]),
    ("watchdog", "pause", &["renewal-without-check/blind", "renewal-without-check/checked"]),
    ("watchdog", "wrong delete", &["wrong-delete/watchdog", "chain-reaction/watchdog", "fixed-token/watchdog"]),
];

fn acquires(plan: &Plan) -> impl Iterator<Item = &Acquire> {
    plan.events.iter().filter_map(|event| match &event.what {
        Do::Acquire(acquire) => Some(&**acquire),
        _ => None,
    })
}

fn guards(plan: &Plan) -> impl Iterator<Item = Guard> {
    plan.events.iter().filter_map(|event| match event.what {
        Do::Write { guard, .. } => Some(guard),
        _ => None,
    })
}

const fn setnx(acquire: &Acquire) -> bool {
    matches!(acquire.how, AcquireHow::Setnx | AcquireHow::SetnxExpire { .. })
}

/// The plain lock on one key, with nothing else to rely on.
fn set_nx_px(plan: &Plan) -> bool {
    let alone = |acquire: &Acquire| {
        acquire.how == AcquireHow::SetNxPx && acquire.watchdog.is_none() && acquire.wait_replicas.is_none()
    };
    acquires(plan).all(alone) && guards(plan).all(|guard| guard == Guard::None)
}

/// Whether every acquisition has a token of its own, and every release compares it.
fn compares(plan: &Plan) -> bool {
    let releases = |event: &Event| match &event.what {
        Do::Release(release) => matches!(release.how, ReleaseHow::Lua | ReleaseHow::Delex),
        _ => true,
    };
    acquires(plan).all(|acquire| matches!(acquire.token, Token::Unique | Token::Of(_)))
        && plan.events.iter().all(releases)
}

fn happens(plan: &Plan, is: impl Fn(&Event) -> bool) -> bool {
    plan.events.iter().any(is)
}

const fn of_client(event: &Event) -> bool {
    matches!(event.subject, Subject::Client { .. })
}

/// A job that takes longer than a lease.
fn outlives(plan: &Plan, event: &Event) -> bool {
    let lease: Option<LessonTime> = plan.locks.iter().filter_map(|lock| lock.ttl).min();
    match event.what {
        Do::Work { span, .. } => lease.is_some_and(|lease| span.is_none_or(|span| span > lease)),
        _ => false,
    }
}

/// Whether one of the lesson's variants expects one of these.
fn expects(lesson: &Lesson, kinds: &[FindingKind]) -> bool {
    let mut all = lesson.plans.iter().flat_map(|plan| &plan.expect);
    all.any(|expect| matches!(&expect.what, Expected::Finding { kind, .. } if kinds.contains(kind)))
}

fn lessons() -> Vec<Lesson> {
    lesson::builtin().into_iter().map(|source| lesson::load(source).unwrap()).collect()
}

fn guide() -> (PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/README.md");
    let text = fs::read_to_string(&path).unwrap();
    (path, text)
}

/// The variants of all lessons, by the name that the guide uses.
fn variants(lessons: &[Lesson]) -> BTreeMap<String, (&Lesson, &Plan)> {
    let all = lessons.iter().flat_map(|lesson| lesson.plans.iter().map(move |plan| (lesson, plan)));
    all.map(|(lesson, plan)| (format!("{}/{}", lesson.id, plan.variant), (lesson, plan))).collect()
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "held",
        Verdict::Contained => "contained",
        Verdict::Stuck => "stuck",
        Verdict::Broken => "broken",
        Verdict::Inconclusive => "inconclusive",
    }
}

/// One cell: each verdict, with the variants that end so.
fn cell(names: &[&str], variants: &BTreeMap<String, (&Lesson, &Plan)>) -> String {
    let mut by_verdict: BTreeMap<Verdict, Vec<&str>> = BTreeMap::new();
    for name in names {
        by_verdict.entry(variants[*name].1.verdict.value).or_default().push(name);
    }
    let parts = by_verdict.into_iter().map(|(verdict, names)| {
        let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
        format!("**{}**<br>{}", word(verdict), names.join("<br>"))
    });
    parts.collect::<Vec<_>>().join("<br>")
}

fn table(lessons: &[Lesson]) -> String {
    let variants = variants(lessons);
    for (protection, failure, names) in CELLS {
        let axis = |axes: &[Axis], name: &str| axes.iter().find(|axis| axis.0 == name).map(|axis| axis.1);
        let row = axis(PROTECTIONS, protection).unwrap_or_else(|| panic!("there is no row `{protection}`"));
        let column = axis(FAILURES, failure).unwrap_or_else(|| panic!("there is no column `{failure}`"));
        for name in *names {
            let (lesson, plan) = variants.get(*name).unwrap_or_else(|| panic!("there is no variant `{name}`"));
            assert!(row(lesson, plan), "`{name}` does not show what comes of `{protection}`");
            assert!(column(lesson, plan), "in `{name}` there is no {failure}");
        }
    }
    let mut lines = vec![
        format!("| | {} |", FAILURES.iter().map(|axis| axis.0).collect::<Vec<_>>().join(" | ")),
        format!("| --- |{}", " --- |".repeat(FAILURES.len())),
    ];
    let shown = PROTECTIONS.iter().filter(|(protection, _)| CELLS.iter().any(|cell| cell.0 == *protection));
    for (protection, _) in shown {
        let cells = FAILURES.iter().map(|(failure, _)| {
            let here = CELLS.iter().filter(|(row, column, _)| row == protection && column == failure);
            here.map(|(_, _, names)| cell(names, &variants)).collect::<String>()
        });
        lines.push(format!("| **{protection}** | {} |", cells.collect::<Vec<_>>().join(" | ")));
    }
    lines.join("\n") + "\n"
}

const BEGIN: &str = "<!-- The table is made by: BLESS=1 cargo test --test proofs -->\n";
const END: &str = "<!-- end of the table -->\n";

#[test]
fn the_table_is_what_the_lessons_prove() {
    let (path, text) = guide();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    let made = table(&lessons());
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, format!("{before}{BEGIN}{made}{END}{after}")).unwrap();
    } else {
        assert_eq!(shown, made, "run `BLESS=1 cargo test --test proofs`");
    }
}

/// What stands in backticks in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The part of the guide that lists what the lessons show.
fn shown(guide: &str) -> &str {
    let rest = guide.split_once("\n# What the lessons show\n").unwrap().1;
    rest.split_once("\n# Every key\n").unwrap().0
}

#[test]
fn what_the_guide_names_exists() {
    let (_, text) = guide();
    let lessons = lessons();
    let mut known: BTreeSet<String> = variants(&lessons).into_keys().collect();
    known.extend(lessons.iter().map(|lesson| lesson.id.clone()));
    let is_name = |text: &&str| text.contains('/') && !text.contains(' ');
    let unknown: Vec<_> = quoted(shown(&text)).filter(is_name).filter(|name| !known.contains(*name)).collect();
    assert_eq!(unknown, Vec::<&str>::new(), "the guide names variants that no lesson has");
}
