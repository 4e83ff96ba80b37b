//! The lessons that come with lockscope teach what they promise: nothing that a reader needs is missing, in either
//! language, and what a lesson claims can be seen in one of its runs.

mod common;

use std::collections::BTreeSet;

use lockscope::lesson::{self, Answer, Choice, Do, Lesson, See};
use lockscope::trace::{Lang, Text};

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
        let verdicts: BTreeSet<_> = lesson.plans.iter().map(|plan| plan.verdict.value).collect();
        assert!(verdicts.len() >= 2, "{id}: no variant changes the verdict");
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
            let trace = common::prove(&mut engine, plan);
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
