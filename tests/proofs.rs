//! What the lessons are and what they prove, as pages show it: the lists of lessons in the READMEs and the table of
//! protections and failures in the guide are made from the lessons, and whatever else the guide names of them exists.
//!
//! `BLESS=1 cargo test --test proofs` writes lists and table anew.

#![expect(clippy::unwrap_used, reason = "a test that cannot read the guide has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use lockscope::lesson::{
    self, Acquire, AcquireHow, Do, Event, Expected, Guard, Lesson, Level, LinkChange, Plan, ReleaseHow, ServersKind,
    Token,
};
use lockscope::trace::{FindingKind, Lang, LessonTime, Verdict};

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
    ("crash", |_, plan| happens(plan, |event| matches!(event.what, Do::Crash { .. }))),
    ("overrun", |_, plan| plan.events.iter().any(|event| outlives(plan, event))),
    ("pause", |_, plan| happens(plan, |event| matches!(event.what, Do::Pause { .. }))),
    ("wrong delete", |lesson, _| expects(lesson, &[FindingKind::WrongDelete])),
    ("failover", |_, plan| {
        let by_itself = matches!(plan.servers.kind, ServersKind::Sentinel { .. });
        by_itself || happens(plan, |event| matches!(event.what, Do::Promote { .. }))
    }),
    ("restart", |_, plan| happens(plan, |event| matches!(event.what, Do::Restart))),
    ("clock jump", |_, plan| happens(plan, |event| matches!(event.what, Do::ClockJump { .. }))),
    ("partition", |_, plan| happens(plan, |event| cut(&event.what))),
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
    ("SET NX PX", "pause", &["interview-final/naive"]),
    ("SET NX PX", "failover", &["failover-lost-lock/lagging"]),
    ("SET NX PX", "late write", &["interview-final/naive", "late-request/unguarded", "late-request/crashed"]),
    ("token and Lua", "crash", &["first-lock/crash"]),
    ("token and Lua", "overrun", &["wrong-delete/lua", "chain-reaction/lua", "fixed-token/unique"]),
    ("token and Lua", "wrong delete", &["get-then-del/lua", "finally-unlock/lua"]),
    ("token and Lua", "failover", &["failover-lost-lock/lagging"]),
    ("watchdog", "crash", &["watchdog/crash", "ttl-too-short-too-long/sized-crash"]),
    ("watchdog", "overrun", &["task-outlives-ttl/watchdog", "watchdog/watchdog", "ttl-too-short-too-long/sized-slow"]),
    ("watchdog", "pause", &["renewal-without-check/blind", "renewal-without-check/checked", "interview-final/careful"]),
    ("watchdog", "wrong delete", &["wrong-delete/watchdog", "chain-reaction/watchdog", "fixed-token/watchdog"]),
    ("watchdog", "late write", &["interview-final/careful"]),
    ("fencing token", "pause", &["gc-pause/fence", "interview-final/fence"]),
    ("fencing token", "failover", &["interview-final/failover"]),
    (
        "fencing token",
        "late write",
        &[
            "fencing-token/compared",
            "fencing-token/database",
            "fencing-token/counter-lost",
            "fencing-token/arrives-first",
            "late-request/fence",
            "interview-final/fence",
        ],
    ),
    ("Redlock", "pause", &["redlock-pause/unguarded", "redlock-pause/fence", "interview-final/redlock"]),
    (
        "condition, version, once",
        "overrun",
        &["oversell/conditional", "idempotent-business/key", "idempotent-business/version"],
    ),
    ("condition, version, once", "late write", &["unlock-before-commit/version"]),
    (
        "token and Lua",
        "restart",
        &["restart-without-disk/memory", "restart-without-disk/always", "restart-without-disk/delayed"],
    ),
    (
        "Redlock",
        "partition",
        &[
            "redlock-partition/two-away",
            "redlock-partition/three-away",
            "redlock-partition/cut-later",
            "redlock-partition/deadline",
        ],
    ),
    ("WAIT", "failover", &["failover-lost-lock/wait", "failover-lost-lock/wait-other"]),
    ("Redlock", "crash", &["redlock-majority/two-down", "redlock-majority/three-down"]),
    ("Redlock", "restart", &["redlock-restart/at-once", "redlock-restart/delayed", "redlock-restart/fsync"]),
    ("Redlock", "clock jump", &["redlock-clock-jump/jump"]),
    ("fencing token", "clock jump", &["redlock-clock-jump/fence"]),
    ("watchdog", "partition", &["split-brain/off", "split-brain/on", "split-brain/deaf"]),
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

const fn cut(what: &Do) -> bool {
    matches!(what, Do::Link { change: LinkChange::Cut, .. })
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

fn guide() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/README.md")).unwrap()
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

/// Between these two lines a page shows what is made here.
const BEGIN: &str = "<!-- made from the lessons: BLESS=1 cargo test --test proofs -->\n";
const END: &str = "<!-- end of what is made -->\n";

/// Holds what `page` shows against what it should show, or writes it.
fn keep(page: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, format!("{before}{BEGIN}{made}{END}{after}")).unwrap();
    } else {
        assert_eq!(shown, made, "{page}: run `BLESS=1 cargo test --test proofs`");
    }
}

#[test]
fn the_table_is_what_the_lessons_prove() {
    keep("lessons/README.md", &table(&lessons()));
}

/// All lessons in the order of the catalogue, with the question that each answers.
fn list(lang: Lang, head: &str, levels: [&str; 3]) -> String {
    let mut lines = vec![head.to_owned(), "| --- | --- | --- |".to_owned()];
    for entry in lesson::catalogue::load_all(lesson::builtin()) {
        let lesson = entry.lesson.unwrap();
        let level = match lesson.level {
            Level::Intro => levels[0],
            Level::Core => levels[1],
            Level::Advanced => levels[2],
        };
        lines.push(format!("| {level} | `{}` | {} |", lesson.id, lesson.question.unwrap().get(lang)));
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_lists_are_those_of_the_catalogue() {
    keep("README.md", &list(Lang::En, "| level | lesson | the question |", ["intro", "core", "advanced"]));
    keep("README.zh.md", &list(Lang::Zh, "| 级别 | 课程 | 问题 |", ["入门", "核心", "进阶"]));
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
    let text = guide();
    let lessons = lessons();
    let mut known: BTreeSet<String> = variants(&lessons).into_keys().collect();
    known.extend(lessons.iter().map(|lesson| lesson.id.clone()));
    let is_name = |text: &&str| text.contains('/') && !text.contains(' ');
    let unknown: Vec<_> = quoted(shown(&text)).filter(is_name).filter(|name| !known.contains(*name)).collect();
    assert_eq!(unknown, Vec::<&str>::new(), "the guide names variants that no lesson has");
}

#[test]
fn no_lesson_is_left_out_of_what_is_shown() {
    let text = guide();
    let named: BTreeSet<&str> = quoted(shown(&text)).filter_map(|name| name.split('/').next()).collect();
    let left_out: Vec<_> =
        lessons().into_iter().map(|lesson| lesson.id).filter(|id| !named.contains(id.as_str())).collect();
    assert_eq!(left_out, Vec::<String>::new(), "lessons that the guide's last part does not mention");
}
