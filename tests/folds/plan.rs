//! Plans for the judge, by hand: entries with their text, so that spans are real.

use std::collections::BTreeMap;

use lockscope::lesson::{
    Answer, Ask, At, Choice, Do, Event, Expect, ExpectTime, Expected, Fact, Lesson, Level, Needs, OnLoss, Persistence,
    Plan, ReplyPattern, Servers, ServersKind, Source, Span, Spanned, Subject, When,
};
use lockscope::trace::{FindingKind, LessonTime, Text, Trace, Verdict};

/// An entry of `expect` in the making.
#[derive(Clone)]
pub struct Entry {
    text: String,
    expect: Expect,
}

/// A finding: `finding("overlap: [A, B]", Overlap, &["A", "B"])`.
pub fn finding(kind: FindingKind, who: &[&str]) -> Entry {
    let who: Vec<String> = who.iter().map(|name| (*name).to_owned()).collect();
    let text = format!("{}: [{}]", kind.name(), who.join(", "));
    entry(text, Expected::Finding { kind, who, fields: BTreeMap::new() })
}

/// A fact, with the text that stands for it.
pub fn fact(text: &str, fact: Fact) -> Entry {
    entry(text.to_owned(), Expected::Fact(fact))
}

/// `otherwise`
pub fn otherwise() -> Entry {
    entry("otherwise".to_owned(), Expected::Otherwise)
}

fn entry(text: String, what: Expected) -> Entry {
    Entry { text, expect: Expect { span: Span::default(), what, at: None, to: None, lock: None, times: 1 } }
}

impl Entry {
    pub fn with(mut self, field: &str, value: &str) -> Self {
        let Expected::Finding { fields, .. } = &mut self.expect.what else { panic!("facts have no fields") };
        fields.insert(field.to_owned(), Spanned { value: value.to_owned(), span: Span::default() });
        self.text = format!("{}{}", self.text, format_args!(", {field}: {value}"));
        self
    }

    pub fn at(self, ms: u64) -> Self {
        self.when(ExpectTime::At(LessonTime(ms)))
    }

    pub fn between(self, a: u64, b: u64) -> Self {
        self.when(ExpectTime::Between(LessonTime(a), LessonTime(b)))
    }

    pub fn when(mut self, at: ExpectTime) -> Self {
        self.expect.at = Some(at);
        self.text = format!("{}{}", self.text, format_args!(", at: {}", time(at)));
        self
    }

    pub fn until(mut self, to: ExpectTime) -> Self {
        self.expect.to = Some(to);
        self.text = format!("{}{}", self.text, format_args!(", to: {}", time(to)));
        self
    }

    pub fn until_ms(self, ms: u64) -> Self {
        self.until(ExpectTime::At(LessonTime(ms)))
    }

    pub fn lock(mut self, lock: &str) -> Self {
        self.expect.lock = Some(lock.to_owned());
        self
    }

    pub fn times(mut self, times: u32) -> Self {
        self.expect.times = times;
        self.text = format!("{}{}", self.text, format_args!(", times: {times}"));
        self
    }

    pub fn expect(self) -> Expect {
        self.expect
    }
}

fn time(time: ExpectTime) -> String {
    match time {
        ExpectTime::At(t) => t.yaml(),
        ExpectTime::Between(a, b) => format!("[{}, {}]", a.yaml(), b.yaml()),
        ExpectTime::End => "end".to_owned(),
        ExpectTime::Asked => "_".to_owned(),
    }
}

/// A plan for `trace` with these entries: its events are those of the trace, which wait for nothing.
pub fn plan(trace: &Trace, verdict: Verdict, entries: &[Entry]) -> Plan {
    let mut text = format!("id: {}\nverdict: {}\nexpect:\n", trace.header.lesson, verdict.name());
    let verdict_start = text.find("verdict: ").unwrap() + "verdict: ".len();
    let verdict_span = Span { start: verdict_start, end: verdict_start + verdict.name().len(), line: 2, column: 10 };
    let mut expect = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        let start = text.len() + 4;
        text = format!("{}{}", text, format_args!("  - {{{}}}\n", entry.text));
        let span = Span { start, end: text.len() - 1, line: 4 + i, column: 5 };
        expect.push(Expect { span, ..entry.expect.clone() });
    }
    let events = trace.header.events.iter().map(|info| {
        let (client, task) = match info.subject.split_once('/') {
            Some((client, task)) => (client.to_owned(), Some(task.to_owned())),
            None => (info.subject.clone(), None),
        };
        Event {
            id: info.id.clone(),
            span: Span { start: 0, end: 0, line: info.line, column: 5 },
            subject: Subject::Client { client, task },
            what: Do::Work { span: None, on_loss: OnLoss::Stop },
            at: None,
            when: When::Default,
            say: None,
            reply: None,
            lock: Some(0),
            lock_named: false,
            net: None,
            via: None,
        }
    });
    Plan {
        source: Source::new("lessons/by-hand.yaml", text),
        lesson: trace.header.lesson.clone(),
        title: trace.header.title.clone(),
        variant: String::new(),
        variant_title: Text::default(),
        span: Span { start: 0, end: 0, line: 1, column: 1 },
        servers: Servers {
            kind: ServersKind::Single,
            persistence: Persistence::None,
            config: Vec::new(),
            span: Span::default(),
        },
        locks: Vec::new(),
        clients: Vec::new(),
        resources: Vec::new(),
        keys: Vec::new(),
        events: events.collect(),
        until: None,
        give_up: None,
        needs: Needs::default(),
        seed: 1,
        verdict: Spanned { value: verdict, span: verdict_span },
        expect,
    }
}

/// Adds an event to `plan` (and only there).
pub fn add_event(plan: &mut Plan, what: Do) -> usize {
    let template = plan.events.first().cloned();
    let index = plan.events.len();
    let span = Span { start: 0, end: 0, line: 10 + index, column: 5 };
    plan.events.push(Event { span, what, subject: Subject::None, ..template.expect("a plan with one event at least") });
    index
}

/// A question with choices; each with its conditions.
pub fn choices(conditions: &[&[Entry]]) -> Do {
    let choices = conditions
        .iter()
        .map(|entries| Choice { text: Text::plain("?"), when: entries.iter().cloned().map(Entry::expect).collect() });
    ask(Answer::Choices(choices.collect()))
}

/// A question that is answered like this.
pub fn ask(answer: Answer) -> Do {
    Do::Ask(Box::new(Ask { text: Text::plain("?"), answer, hint: None, why: None }))
}

/// Promises a reply for an event.
pub fn reply(plan: &mut Plan, event: usize, pattern: ReplyPattern) {
    let span = Span { start: 0, end: 2, line: 10 + event, column: 20 };
    plan.events[event].reply = Some(Spanned { value: pattern, span });
}

/// Makes an event wait for the end of another.
pub fn after(plan: &mut Plan, event: usize, anchor: usize) {
    plan.events[event].at = Some(At::Anchor { event: anchor, start: false, plus: LessonTime::ZERO });
}

/// A lesson of these plans; each gets its variant's id.
pub fn lesson(id: &str, variants: Vec<(&str, Plan)>) -> Lesson {
    let source = variants[0].1.source.clone();
    let plans = variants.into_iter().map(|(variant, plan)| Plan {
        lesson: id.to_owned(),
        variant: variant.to_owned(),
        source: source.clone(),
        ..plan
    });
    Lesson {
        source: source.clone(),
        id: id.to_owned(),
        level: Level::Intro,
        title: Text::plain(id),
        story: None,
        question: None,
        answer: None,
        hook: None,
        misconceptions: Vec::new(),
        follow_ups: Vec::new(),
        plans: plans.collect(),
    }
}
