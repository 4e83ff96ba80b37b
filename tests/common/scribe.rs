//! Writes traces record by record, the way a run would.

use lockscope::lesson::{
    Answer, Ask, Choice, Client, Do, Event, Lesson, Level, Lock, Needs, OnLoss, Persistence, Plan, Release, ReleaseHow,
    Servers, ServersKind, Source, Span, Spanned, Subject, When,
};
use lockscope::trace::{
    Cause, ClientInfo, EventInfo, EventKind, Header, KeyOp, KeyState, LessonTime, LockInfo, NodeInfo, Outcome, Record,
    Reply, Role, Text, Trace, Value, Verdict, What,
};
use std::sync::Arc;

pub const KEY: &str = "lock:order:123";

pub fn text(en: &str, zh: &str) -> Text {
    Text([("en".to_owned(), en.to_owned()), ("zh".to_owned(), zh.to_owned())].into())
}

/// A trace in the making.
pub struct Scribe {
    pub trace: Trace,
    t: u64,
    cmd: u32,
}

impl Scribe {
    pub fn new(nodes: &[(&str, Role)], clients: &[&str], events: Vec<EventInfo>) -> Self {
        let header = Header {
            nodes: nodes.iter().map(|(name, role)| NodeInfo { name: (*name).to_owned(), role: *role }).collect(),
            clients: clients.iter().map(|name| ClientInfo { name: (*name).to_owned() }).collect(),
            locks: vec![LockInfo { name: "lock".to_owned(), key: KEY.to_owned(), ttl: Some(LessonTime(10_000)) }],
            clock: "warp".to_owned(),
            server: "redis 7.0.15".to_owned(),
            events,
            ..Header::default()
        };
        Self { trace: Trace { header, records: Vec::new() }, t: 0, cmd: 0 }
    }

    pub fn at(&mut self, t: u64) -> &mut Self {
        self.t = t;
        self
    }

    pub fn push(&mut self, what: What) -> &mut Self {
        self.trace.records.push(Record { t: LessonTime(self.t), real_us: None, what });
        self
    }

    pub fn start(&mut self, event: usize) -> &mut Self {
        self.push(What::EventStart { event })
    }

    pub fn end(&mut self, event: usize, outcome: Outcome) -> &mut Self {
        self.push(What::EventEnd { event, outcome, why: None, reply: None })
    }

    pub fn believes(&mut self, client: &str, on: bool) -> &mut Self {
        self.push(What::Belief { client: client.to_owned(), lock: "lock".to_owned(), on })
    }

    pub fn works(&mut self, client: &str, on: bool) -> &mut Self {
        let locks = vec!["lock".to_owned()];
        self.push(What::Works { client: client.to_owned(), task: "main".to_owned(), on, locks })
    }

    /// A command, executed and answered at once; `changes` is what it does to the lock's key.
    pub fn command(
        &mut self,
        client: &str,
        task: &str,
        event: usize,
        argv: &[&str],
        reply: Reply,
        changes: Option<(KeyOp, Option<KeyState>)>,
    ) -> &mut Self {
        self.cmd += 1;
        let cmd = self.cmd;
        let node = self.trace.header.nodes[0].name.clone();
        self.push(What::Send {
            cmd,
            client: client.to_owned(),
            task: task.to_owned(),
            node: node.clone(),
            argv: argv.iter().map(ToString::to_string).collect(),
            event: Some(event),
        });
        self.push(What::Exec { cmd, reply });
        if let Some((op, now)) = changes {
            let cause = Cause::Command { cmd, client: client.to_owned() };
            self.push(What::Key { node, key: KEY.to_owned(), op, cause, now });
        }
        self.push(What::Read { cmd })
    }

    /// `SET NX PX` that is granted.
    pub fn granted(&mut self, client: &str, event: usize, ttl: u64) -> &mut Self {
        let token = token(client);
        let now = self.key(client, ttl);
        self.start(event);
        self.command(
            client,
            "main",
            event,
            &["SET", KEY, &token, "NX", "PX", &ttl.to_string()],
            Reply::Status("OK".to_owned()),
            Some((KeyOp::Created, Some(now))),
        );
        self.believes(client, true).end(event, Outcome::Granted)
    }

    /// `SET NX PX` that is refused.
    pub fn refused(&mut self, client: &str, event: usize, ttl: u64) -> &mut Self {
        let token = token(client);
        self.start(event);
        self.command(client, "main", event, &["SET", KEY, &token, "NX", "PX", &ttl.to_string()], Reply::Nil, None);
        self.end(event, Outcome::Refused)
    }

    pub fn key(&self, client: &str, ttl: u64) -> KeyState {
        KeyState {
            value: Value::String(token(client)),
            deadline: Some(LessonTime(self.t + ttl)),
            approximate: false,
            owner: Some(client.to_owned()),
        }
    }

    pub fn expires(&mut self) -> &mut Self {
        let node = self.trace.header.nodes[0].name.clone();
        self.push(What::Key { node, key: KEY.to_owned(), op: KeyOp::Expired, cause: Cause::Expiry, now: None })
    }

    pub fn task_ended(&mut self, client: &str) -> &mut Self {
        self.push(What::TaskEnded { client: client.to_owned(), task: "main".to_owned() })
    }

    /// The index of the first record for which `test` holds.
    pub fn find(trace: &Trace, test: impl Fn(&Record) -> bool) -> usize {
        trace.records.iter().position(test).expect("the record that the test names")
    }
}

/// A token that is always the same for a client.
pub fn token(client: &str) -> String {
    let head = match client {
        "A" => "7f3e19c2",
        "B" => "c41b0a55",
        _ => "09d7e3b8",
    };
    format!("{head}-0d5b-4c1e-9a77-2b8f6d1c0e44")
}

/// An event as the trace knows it.
pub fn info(kind: EventKind, subject: &str, line: usize) -> EventInfo {
    EventInfo { id: None, line, kind, subject: subject.to_owned(), lock: Some("lock".to_owned()), say: None }
}

/// An event as the plan knows it. Only questions matter to the player; of all else it reads the trace.
pub fn event(info: &EventInfo, ask: Option<Ask>) -> Event {
    let what = match ask {
        Some(ask) => Do::Ask(Box::new(ask)),
        None if info.kind == EventKind::Work => Do::Work { span: Some(LessonTime(1000)), on_loss: OnLoss::Stop },
        None => Do::Release(Release { how: ReleaseHow::Del, token_of: None, publish: None }),
    };
    Event {
        id: info.id.clone(),
        span: Span { line: info.line, ..Span::default() },
        subject: Subject::None,
        what,
        at: None,
        when: When::Default,
        say: info.say.clone(),
        reply: None,
        lock: Some(0),
        lock_named: false,
        net: None,
        via: None,
    }
}

/// A question with choices; which of them is right is for the test's judge to say.
pub fn ask(question: Text, choices: &[Text]) -> Ask {
    let choices = choices.iter().map(|text| Choice { text: text.clone(), when: Vec::new() });
    Ask {
        text: question,
        answer: Answer::Choices(choices.collect()),
        hint: Some(text("DEL takes a name and nothing else.", "DEL 只认键名。")),
        why: Some(text("DEL asks nobody whose lock it is.", "DEL 不问这把锁是谁的。")),
    }
}

/// One variant of a lesson.
pub fn plan(lesson: &str, title: &Text, variant: &str, variant_title: Text, events: Vec<Event>) -> Plan {
    Plan {
        source: Source::new(format!("lessons/{lesson}.yaml"), ""),
        lesson: lesson.to_owned(),
        title: title.clone(),
        variant: variant.to_owned(),
        variant_title,
        span: Span::default(),
        servers: Servers {
            kind: ServersKind::Single,
            persistence: Persistence::None,
            config: Vec::new(),
            span: Span::default(),
        },
        locks: vec![Lock {
            name: "lock".to_owned(),
            key: KEY.to_owned(),
            ttl: Some(LessonTime(10_000)),
            fifo: false,
            permits: 1,
            span: Span::default(),
        }],
        clients: ["A", "B", "C"].map(client).to_vec(),
        resources: Vec::new(),
        keys: Vec::new(),
        events,
        until: None,
        needs: Needs::default(),
        seed: 1,
        verdict: Spanned { value: Verdict::Broken, span: Span::default() },
        expect: Vec::new(),
    }
}

fn client(name: &str) -> Client {
    Client {
        name: name.to_owned(),
        process: name.to_owned(),
        thread: 1,
        timeout: LessonTime(1000),
        resend: 0,
        clock_skew_ms: 0,
        span: Span::default(),
    }
}

/// A lesson around plans.
pub fn lesson(id: &str, level: Level, title: Text, question: Text, story: Text, plans: Vec<Plan>) -> Lesson {
    Lesson {
        source: Arc::clone(&plans[0].source),
        id: id.to_owned(),
        level,
        title,
        story: Some(story),
        question: Some(question),
        answer: None,
        hook: Some(text(
            "A key is only a name: check whose it is, and delete it, in one step.",
            "键只是个名字：先确认是谁的，再删，一步完成。",
        )),
        misconceptions: Vec::new(),
        follow_ups: Vec::new(),
        plans,
    }
}
