//! Lessons that must load, and what they must mean.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use std::collections::HashSet;
use std::path::Path;

use lockscope::lesson::*;
use lockscope::trace::{EventKind, LessonTime};

/// Loads every lesson of a folder, and shows all their errors if there are any.
fn load_folder(folder: &str) -> Vec<Lesson> {
    let sources = catalogue::load_dir(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let mut lessons = Vec::new();
    let mut errors = String::new();
    for source in sources {
        match load(source.clone()) {
            Ok(lesson) => lessons.push(lesson),
            Err(found) => errors.push_str(&render_all(&source, &found)),
        }
    }
    assert!(errors.is_empty(), "\n{errors}");
    lessons
}

#[test]
fn the_seven_examples_load() {
    let lessons = load_folder("tests/lessons/examples");
    let variants: Vec<(&str, usize)> = lessons.iter().map(|l| (l.id.as_str(), l.plans.len())).collect();
    assert_eq!(
        variants,
        [
            ("failover-lost-lock", 4),
            ("get-then-del", 2),
            ("redlock-restart", 3),
            ("refused-what-now", 4),
            ("unlock-before-commit", 3),
            ("watchdog", 3),
            ("wrong-delete", 3),
        ]
    );
}

fn valid(name: &str) -> Lesson {
    let lessons = load_folder("tests/lessons/valid");
    lessons.into_iter().find(|lesson| lesson.id == name).unwrap()
}

#[test]
fn the_whole_format_is_read() {
    let lesson = valid("everything");
    assert_eq!(lesson.misconceptions.len(), 3);
    let plan = &lesson.plans[0];
    assert_eq!((plan.variant.as_str(), plan.seed, plan.until), ("", 7, Some(LessonTime(600_000))));
    assert_eq!(plan.needs, Needs { redis: Some((7, 0)), command: vec!["DELEX".into(), "DELIFEQ".into()] });
    let kinds: HashSet<EventKind> = plan.events.iter().map(Event::kind).collect();
    // All kinds but promote and demote, which need replicas.
    assert_eq!(kinds.len(), 23);

    let Do::Acquire(first) = &plan.events[0].what else { panic!("{:?}", plan.events[0]) };
    assert_eq!(first.how, AcquireHow::SetnxExpire { gap: LessonTime(100) });
    assert_eq!(first.ttl, Some(LessonTime(20_000)));
    let watchdog = first.watchdog.as_ref().unwrap();
    // A third of what this acquire asks for, not of what the lock says.
    assert_eq!((watchdog.every, watchdog.max_renewals), (LessonTime(6666), Some(3)));
    assert!(watchdog.dies_on_error && watchdog.arms_on_reply && watchdog.on_loss == OnLoss::Ignore);
    let (every, max, span) = (LessonTime(200), Some(LessonTime(2000)), Some(LessonTime(60_000)));
    assert_eq!(first.wait, Wait::Retry { every, jitter: 0.5, backoff: 2.0, max, span, new_token: true });
    let reply = |text: &str| ReplyPattern::Text(text.to_owned());
    let list = vec![reply("OK"), ReplyPattern::Int(1), ReplyPattern::Nil, reply("1")];
    assert_eq!(plan.events[0].reply.as_ref().unwrap().value, ReplyPattern::List(list));

    // `A/main` in front of an action is A itself; aimed at by a happening, a task stays a task.
    let subject = |at: usize| plan.events[at].subject.clone();
    let client = |task: Option<&str>| Subject::Client { client: "A".into(), task: task.map(str::to_owned) };
    assert_eq!((subject(5), subject(3), subject(21)), (client(None), client(Some("log")), client(Some("watchdog"))));

    let Do::Redis(run) = &plan.events[16].what else { panic!("{:?}", plan.events[16]) };
    assert_eq!(run.commands[1].words, ["LPUSH", "queue:1", "a b", "{now}", "{token:B}"]);
    let Do::Redis(script) = &plan.events[17].what else { panic!("{:?}", plan.events[17]) };
    let words = ["EVAL", "return redis.call('GET', KEYS[1])", "1", "{key:y}", "{reply:get}", "5"];
    assert_eq!(script.commands[0].words, words);

    assert_eq!(plan.events[18].at, Some(At::Anchor { event: 16, start: true, plus: LessonTime(1000) }));
    let all = ["A", "B", "C"].map(str::to_owned).to_vec();
    assert_eq!(subject(29), Subject::Link(all, vec!["redis".into()]));
    let net = |at: usize| plan.events[at].net.unwrap();
    assert_eq!(net(2), Net { change: LinkChange::Cut, way: Way::Reply });
    assert_eq!(net(11), Net { change: LinkChange::Slow { by: LessonTime(5000) }, way: Way::Request });
    assert_eq!(net(12), Net { change: LinkChange::Slow { by: LessonTime(5000) }, way: Way::Reply });

    // A finding names its clients in the lesson's order.
    let Expected::Finding { who, .. } = &plan.expect[0].what else { panic!() };
    assert_eq!(*who, ["A", "B"]);
    assert_eq!(plan.expect[0].to, Some(ExpectTime::Between(LessonTime(12_000), LessonTime(13_000))));
    assert_eq!(plan.expect.len(), 36);
}

#[test]
fn what_is_not_written_has_a_default() {
    let lesson = valid("nodes");
    let plan = &lesson.plans[0];
    assert_eq!(plan.locks[0].name, "lock");
    let client = &plan.clients[0];
    assert_eq!((client.process.as_str(), client.thread, client.timeout), ("A", 1, LessonTime(1000)));
    let Do::Acquire(acquire) = &plan.events[0].what else { panic!() };
    assert_eq!(
        (&acquire.how, &acquire.token, acquire.ttl),
        (&AcquireHow::SetNxPx, &Token::Unique, Some(LessonTime(9000)))
    );
    assert_eq!(acquire.wait_replicas, Some(WaitReplicas { n: 1, timeout: LessonTime(1000), check: true }));
    let watchdog = acquire.watchdog.as_ref().unwrap();
    assert_eq!(
        (watchdog.every, &watchdog.how, watchdog.on_loss),
        (LessonTime(3000), &RenewHow::PexpireIfMine, OnLoss::Stop)
    );
    assert_eq!((plan.events[0].lock, plan.events[0].lock_named), (Some(0), false));
    let Do::Release(release) = &plan.events[3].what else { panic!() };
    assert_eq!((&release.how, release.token_of, release.publish), (&ReleaseHow::Lua, None, None));
}

#[test]
fn a_variant_sets_drops_adds_and_merges() {
    let lesson = valid("nodes");
    let ids = |plan: &Plan| plan.events.iter().filter_map(|event| event.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&lesson.plans[0]), ["a", "w", "b", "after-b", "dies", "last"]);
    // What asks how `b` ended goes with it; what is added after one event stays in the order written.
    let dropped = &lesson.plans[1];
    assert_eq!(ids(dropped), ["c0", "a", "c1", "c2", "w", "dies", "last", "bye"]);
    let clients: Vec<(&str, u32, u64)> =
        dropped.clients.iter().map(|client| (client.name.as_str(), client.resend, client.timeout.ms())).collect();
    assert_eq!(clients, [("A", 2, 1000), ("B", 0, 1000), ("C", 0, 2000)]);
    assert_eq!((dropped.locks[0].permits, dropped.locks[0].ttl), (2, Some(LessonTime(9000))));
    assert_eq!(dropped.until, Some(LessonTime(60_000)));
    let At::Anchor { event, .. } = dropped.events[5 + 1].at.unwrap() else { panic!() };
    assert_eq!(dropped.events[event].id.as_deref(), Some("dies"));

    let quorum = &lesson.plans[2];
    assert_eq!(quorum.servers.kind, ServersKind::Quorum { nodes: 5, node_timeout: LessonTime(10) });
    assert_eq!(ids(quorum), ["a", "w", "b", "after-b", "last"]);
    let Do::Acquire(acquire) = &quorum.events[0].what else { panic!() };
    assert_eq!(acquire.how, AcquireHow::Redlock { cleanup: false, sequential: true });
    assert!(acquire.validity.checked && acquire.watchdog.is_none());
}

/// What ships must load as it stands, and an id must be its file's name: that is how a lesson is asked for.
#[test]
fn the_lessons_that_ship_load() {
    let entries = catalogue::load_all(builtin());
    for entry in &entries {
        if let Err(errors) = &entry.lesson {
            panic!("\n{}", render_all(&entry.source, errors));
        }
        assert_eq!(format!("lessons/{}.yaml", entry.id()), entry.source.name);
    }
    let levels: Vec<_> = entries.iter().filter_map(|entry| Some(entry.lesson.as_ref().ok()?.level)).collect();
    assert!(levels.is_sorted(), "{levels:?}");
    assert!(!entries.is_empty());
}
