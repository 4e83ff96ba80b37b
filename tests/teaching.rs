//! The lessons that come with lockscope teach what they promise: nothing that a reader needs is missing, in either
//! language, and what a lesson claims can be seen in one of its runs.

mod common;

use std::collections::BTreeSet;

use lockscope::lesson::judge::Promise;
use lockscope::lesson::{self, Answer, Choice, Do, Expect, ExpectTime, Expected, Fact, Lesson, Plan, See, Source};
use lockscope::trace::{Group, Lang, Record, Text, Trace, Verdict, What};

fn lessons() -> Vec<Lesson> {
    let sources = lesson::builtin();
    assert!(!sources.is_empty(), "no lesson is built in");
    sources
        .into_iter()
        .map(|source| {
            let name = source.name.clone();
            lesson::load(source).unwrap_or_else(|diagnostics| panic!("{name}: {diagnostics:#?}"))
        })
        .collect()
}

/// Every text of a lesson that a reader can meet, and where.
fn texts(lesson: &Lesson) -> Vec<(&'static str, &Text)> {
    let mut texts = vec![("title", &lesson.title)];
    for (place, text) in [("story", &lesson.story), ("question", &lesson.question)] {
        texts.extend(text.iter().map(|text| (place, text)));
    }
    for (place, text) in [("answer", &lesson.answer), ("hook", &lesson.hook)] {
        texts.extend(text.iter().map(|text| (place, text)));
    }
    for misconception in &lesson.misconceptions {
        texts.extend([("claim", &misconception.claim), ("truth", &misconception.truth)]);
    }
    for follow_up in &lesson.follow_ups {
        texts.extend([("follow-up", &follow_up.question), ("its answer", &follow_up.answer)]);
    }
    for plan in &lesson.plans {
        texts.push(("variant's title", &plan.variant_title));
        for event in &plan.events {
            texts.extend(event.say.iter().map(|say| ("say", say)));
            let Do::Ask(ask) = &event.what else { continue };
            texts.push(("ask", &ask.text));
            texts.extend(ask.hint.iter().map(|hint| ("hint", hint)));
            texts.extend(ask.why.iter().map(|why| ("why", why)));
            match &ask.answer {
                Answer::Choices(choices) => texts.extend(choices.iter().map(|choice| ("choice", &choice.text))),
                Answer::Model(model) => texts.push(("model", model)),
                Answer::Predict(_) => {}
            }
        }
    }
    texts
}

#[test]
fn nothing_that_a_reader_needs_is_missing() {
    for lesson in lessons() {
        let id = &lesson.id;
        assert_eq!(lesson.source.name, format!("lessons/{id}.yaml"), "a lesson's file is named after it");
        for (part, there) in [
            ("story", lesson.story.is_some()),
            ("question", lesson.question.is_some()),
            ("answer", lesson.answer.is_some()),
            ("hook", lesson.hook.is_some()),
            ("two misconceptions", lesson.misconceptions.len() >= 2),
            ("where each misconception is refuted", lesson.misconceptions.iter().all(|m| m.see.is_some())),
            ("two follow-up questions", lesson.follow_ups.len() >= 2),
        ] {
            assert!(there, "{id}: {part} is missing");
        }
        for plan in &lesson.plans {
            let proven = plan
                .events
                .iter()
                .any(|event| matches!(&event.what, Do::Ask(ask) if !matches!(ask.answer, Answer::Model(_))));
            assert!(proven, "{id}/{}: no question that the run answers", plan.variant);
            let told = plan.events.iter().filter(|event| event.say.is_some()).count();
            assert!(told >= 4, "{id}/{}: only {told} events say what they mean", plan.variant);
        }
    }
}

fn is_cjk(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// What is wrong with a Chinese text's typography, if anything.
fn typo(text: &str) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    for three in chars.windows(3) {
        if is_cjk(three[0]) && three[1] == ' ' && is_cjk(three[2]) {
            return Some(format!("a blank inside a sentence: {}", three.iter().collect::<String>()));
        }
    }
    for two in chars.windows(2) {
        if is_cjk(two[0]) && ",;:?!.()".contains(two[1]) {
            return Some(format!("a half-width mark after a Chinese character: {}", two.iter().collect::<String>()));
        }
    }
    None
}

#[test]
fn every_text_is_there_in_both_languages() {
    for lesson in lessons() {
        for (place, text) in texts(&lesson) {
            let languages: Vec<_> = text.0.keys().map(String::as_str).collect();
            assert_eq!(languages, ["en", "zh"], "{}, {place}: {}", lesson.id, text.get(Lang::En));
            let (en, zh) = (text.get(Lang::En), text.get(Lang::Zh));
            assert!(!en.chars().any(is_cjk), "{}, {place}: Chinese in the English text: {en}", lesson.id);
            assert_eq!(typo(zh), None, "{}, {place}: {zh}", lesson.id);
            for text in [en, zh] {
                assert!(!text.is_empty() && text.trim() == text && !text.contains("  "), "{}: {text:?}", lesson.id);
            }
        }
    }
    assert!(typo("两条 命令").is_some() && typo("两条命令,").is_some(), "this check can fail");
    assert_eq!(typo("用 SETNX 加锁，再 EXPIRE。"), None);
}

/// A terminal of 80 × 24 leaves some six lines of 36 columns for what is told at an event.
#[test]
fn what_is_told_fits_a_small_terminal() {
    for lesson in lessons() {
        for (place, text) in texts(&lesson) {
            let most = match place {
                "say" | "hint" | "why" | "claim" => 200,
                "hook" | "ask" | "question" => 130,
                "choice" | "variant's title" | "title" => 60,
                _ => continue,
            };
            for lang in [Lang::En, Lang::Zh] {
                let columns: usize = text.get(lang).chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
                assert!(columns <= most, "{}, {place}: {columns} columns: {}", lesson.id, text.get(lang));
            }
        }
    }
}

#[test]
fn every_claim_can_be_seen() {
    let mut engine = common::engine();
    for lesson in lessons() {
        let mut unseen: Vec<_> = lesson.misconceptions.iter().collect();
        for plan in &lesson.plans {
            let Some(trace) = common::trace(&mut engine, plan) else { continue };
            let findings = lockscope::trace::findings(&trace);
            let end = trace.records.last().map(|record| record.t);
            unseen.retain(|misconception| match &misconception.see {
                Some(See::Time(t)) => Some(*t) > end,
                Some(See::Expect(expect)) => {
                    let choice = Choice { text: Text::default(), when: vec![(**expect).clone()] };
                    lesson::judge::choice_holds(&trace, &findings, &[choice]) != [true]
                }
                None => true,
            });
        }
        let unseen: Vec<_> = unseen.iter().map(|misconception| misconception.truth.get(Lang::En)).collect();
        assert!(unseen.is_empty(), "{}: no variant shows this: {unseen:#?}", lesson.id);
    }
}

/// What is wrong in a variant, as it says itself: its verdict, and each violation with those who take part in it.
fn wrong(plan: &Plan) -> (Verdict, BTreeSet<String>) {
    let violations = plan.expect.iter().filter_map(|expect| match &expect.what {
        Expected::Finding { kind, who, fields } if kind.group() != Group::Note => {
            let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name} {}", value.value)).collect();
            Some(format!("{} {who:?} {fields:?}", kind.name()))
        }
        _ => None,
    });
    (plan.verdict.value, violations.collect())
}

/// Lessons whose variants all hold: what they compare is who is let in and who is refused.
const ALL_HOLD: &[&str] = &["redlock-majority", "refused-what-now"];

#[test]
fn some_variant_makes_a_difference() {
    for lesson in lessons() {
        let different: BTreeSet<_> = lesson.plans.iter().map(wrong).collect();
        if ALL_HOLD.contains(&lesson.id.as_str()) {
            let only = [(Verdict::Held, BTreeSet::new())];
            assert!(different.iter().eq(&only), "{}: not all of it holds: {different:?}", lesson.id);
        } else {
            assert!(different.len() >= 2, "{}: in all variants the same goes wrong: {different:?}", lesson.id);
        }
    }
}

/// A lesson's text without one key of the top level and all that belongs to it.
fn without(text: &str, key: &str) -> String {
    let mut inside = false;
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        if line.starts_with(|first: char| first.is_ascii_alphabetic()) {
            inside = line.split(':').next() == Some(key);
        }
        if !inside {
            kept.push_str(line);
        }
    }
    kept
}

/// The ids of a lesson's variants that change the story: those that do more than judge it.
fn changing(text: &str) -> BTreeSet<String> {
    let changes = ["set", "drop", "add", "servers", "lock", "locks", "clients", "resources"];
    let mut of = None;
    let mut ids = BTreeSet::new();
    for line in text.split_once("\nvariants:\n").map_or("", |(_, variants)| variants).lines() {
        if line.starts_with(|first: char| first.is_ascii_alphabetic()) {
            break;
        }
        if let Some(id) = line.strip_prefix("  - id: ") {
            of = Some(id);
        }
        let key = line.strip_prefix("    ").and_then(|line| line.split(':').next());
        if let (Some(of), Some(key)) = (of, key)
            && changes.contains(&key)
        {
            ids.insert(of.to_owned());
        }
    }
    ids
}

/// The story as it is without any variant's changes, to be run; `until` where only variants say when it ends.
fn unchanged(lesson: &Lesson) -> Plan {
    let mut text = lesson.source.text.clone();
    for key in ["variants", "misconceptions"] {
        text = without(&text, key);
    }
    text.push_str("verdict: held\nexpect: []\n");
    let until = lesson.plans.iter().filter_map(|plan| plan.until).max();
    if let Some(until) = until.filter(|_| !text.contains("\nuntil:")) {
        text.extend(["until: ", until.yaml().as_str(), "\n"]);
    }
    let name = format!("{} without its variants", lesson.source.name);
    let lesson = lesson::load(Source::new(name.clone(), text)).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
    lesson.plans.into_iter().next().expect("one plan")
}

/// A fix that could be taken away with nobody noticing proves nothing. So each variant that changes the story is held
/// against the story without the change: one of its own promises must be broken there.
#[test]
fn every_fix_is_noticed_when_it_is_taken_away() {
    let mut engine = common::engine();
    let mut looked_at = 0;
    for lesson in lessons() {
        let changing = changing(&lesson.source.text);
        let base = unchanged(&lesson);
        let (trace, _) = common::run(&mut engine, &base);
        for plan in lesson.plans.iter().filter(|plan| changing.contains(&plan.variant)) {
            let promised = Plan { verdict: plan.verdict.clone(), expect: plan.expect.clone(), ..base.clone() };
            let judgement = lesson::judge(&promised, &trace);
            let own = [Promise::Verdict, Promise::Happens, Promise::NothingElse, Promise::Fact];
            let noticed = judgement.verdict != plan.verdict.value
                || judgement.failures.iter().any(|failure| own.contains(&failure.promise));
            assert!(noticed, "{}/{}: all that it expects is so without its change as well", lesson.id, plan.variant);
            looked_at += 1;
        }
    }
    assert!(looked_at >= 15, "only {looked_at} variants were looked at: is this still how lessons are written?");
}

#[test]
fn a_lesson_can_be_taken_apart() {
    let text = "id: x\nvariants:\n  - id: a\n    until: 5s\n  - id: b\n    set:\n      c: {d: 1}\nhook: y\n";
    assert_eq!(changing(text), BTreeSet::from(["b".to_owned()]));
    assert_eq!(without(text, "variants"), "id: x\nhook: y\n");
}

/// The trace as it is when the player stops at `event`, a question; and when that is.
fn until(trace: &Trace, event: usize) -> Option<Trace> {
    let at = trace.records.iter().position(|record| record.what == What::EventStart { event })?;
    let t = trace.records[at].t;
    let mut records = trace.records[..at].to_vec();
    records.push(Record { t, ..trace.records.last()?.clone() });
    Some(Trace { header: trace.header.clone(), records })
}

/// Whether all that makes this choice right has happened by then. A fact about a state (who holds, what the key is) is
/// none that happens: a question may well ask what comes of it.
fn shown(by_then: &Trace, choice: &Choice) -> bool {
    let findings = lockscope::trace::findings(by_then);
    let end = by_then.records.last().map(|record| record.t);
    let early = |expect: &Expect| match (&expect.what, expect.at) {
        (Expected::Finding { .. } | Expected::Fact(Fact::Granted { .. } | Fact::Expired(_) | Fact::Stopped(_)), at) => {
            let choice = Choice { text: Text::default(), when: vec![expect.clone()] };
            match at {
                Some(ExpectTime::At(at)) => Some(at) < end,
                _ => lesson::judge::choice_holds(by_then, &findings, &[choice]) == [true],
            }
        }
        _ => false,
    };
    choice.when.iter().all(early)
}

#[test]
fn no_question_comes_after_its_answer() {
    let mut engine = common::engine();
    let mut asked = 0;
    for lesson in lessons() {
        for plan in &lesson.plans {
            let Some(trace) = common::trace(&mut engine, plan) else { continue };
            let findings = lockscope::trace::findings(&trace);
            for (event, ask) in plan.events.iter().enumerate() {
                let Do::Ask(ask) = &ask.what else { continue };
                let Some(by_then) = until(&trace, event) else { continue };
                let late = match &ask.answer {
                    Answer::Choices(choices) => {
                        let right = lesson::judge::choice_holds(&trace, &findings, choices);
                        choices.iter().zip(right).any(|(choice, right)| right && shown(&by_then, choice))
                    }
                    Answer::Predict(expect) => {
                        let asked = by_then.records.last().map(|record| record.t);
                        lesson::judge::predicted(&trace, expect).is_some_and(|t| Some(t) < asked)
                    }
                    Answer::Model(_) => false,
                };
                assert!(
                    !late,
                    "{}/{}: the answer can be seen before this is asked: {}",
                    lesson.id,
                    plan.variant,
                    ask.text.get(Lang::En)
                );
                asked += 1;
            }
        }
    }
    assert!(asked >= 30, "only {asked} questions were looked at");
}
