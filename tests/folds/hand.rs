//! Traces written by hand, as the engine would record them.

use lockscope::trace::data::{Guarded, ResourceInfo, Shape, Sql, Stored};
use lockscope::trace::event::{ClientInfo, EventInfo, LockInfo, NodeInfo};
use lockscope::trace::{
    Cause, DATABASE, EventKind, Finding, Header, KeyOp, KeyState, LessonTime, Outcome, Record, Reply, Role, Text,
    Trace, Value, What, Why, findings,
};

/// The lock that there is where a test speaks of none.
pub const LOCK: &str = "lock";
/// Its TTL.
pub const TTL: u64 = 10_000;

/// A trace in the making.
pub struct Hand {
    trace: Trace,
    now: u64,
    cmd: u32,
}

impl Hand {
    /// One server `redis`, one lock of 10 s.
    pub fn single(clients: &[&str]) -> Self {
        Self::on(&[("redis", Role::Master)], clients, &[LOCK])
    }

    /// A master `m` and its replica `r1`.
    pub fn replicated(clients: &[&str]) -> Self {
        Self::on(&[("m", Role::Master), ("r1", Role::Replica)], clients, &[LOCK])
    }

    /// Three masters `n1` to `n3` that know nothing of each other.
    pub fn quorum(clients: &[&str]) -> Self {
        Self::on(&[("n1", Role::Master), ("n2", Role::Master), ("n3", Role::Master)], clients, &[LOCK])
    }

    /// One server and several locks.
    pub fn with_locks(clients: &[&str], locks: &[&str]) -> Self {
        Self::on(&[("redis", Role::Master)], clients, locks)
    }

    fn on(nodes: &[(&str, Role)], clients: &[&str], locks: &[&str]) -> Self {
        let header = Header {
            lesson: "by-hand".to_owned(),
            title: Text::plain("By hand"),
            clock: "warp".to_owned(),
            seed: 1,
            server: "redis 7.0.15".to_owned(),
            nodes: nodes.iter().map(|(name, role)| NodeInfo { name: (*name).to_owned(), role: *role }).collect(),
            clients: clients.iter().map(|name| ClientInfo { name: (*name).to_owned() }).collect(),
            locks: locks
                .iter()
                .map(|name| LockInfo {
                    name: (*name).to_owned(),
                    key: key(name),
                    ttl: Some(LessonTime(TTL)),
                    ..LockInfo::default()
                })
                .collect(),
            ..Header::default()
        };
        Self { trace: Trace { header, records: Vec::new() }, now: 0, cmd: 0 }
    }

    /// Makes the first lock another one.
    pub fn lock(&mut self, change: impl FnOnce(&mut LockInfo)) -> &mut Self {
        change(&mut self.trace.header.locks[0]);
        self
    }

    /// The clock moves to `ms`.
    pub fn at(&mut self, ms: u64) -> &mut Self {
        assert!(ms >= self.now, "time only moves forward");
        self.now = ms;
        self
    }

    /// Something happens now.
    pub fn rec(&mut self, what: What) -> &mut Self {
        self.trace.records.push(Record { t: LessonTime(self.now), real_us: Some(self.now * 7 + 3), what });
        self
    }

    /// An event of the lesson, about the first lock; it stands in line 10, 11, … of its file.
    pub fn event(&mut self, kind: EventKind, subject: &str) -> usize {
        let lock = self.trace.header.locks[0].name.clone();
        self.event_on(kind, subject, &lock)
    }

    /// An event about this lock.
    pub fn event_on(&mut self, kind: EventKind, subject: &str, lock: &str) -> usize {
        let index = self.trace.header.events.len();
        let lock = Some(lock.to_owned());
        let subject = subject.to_owned();
        self.trace.header.events.push(EventInfo { id: None, line: 10 + index, kind, subject, lock, say: None });
        index
    }

    /// Gives the latest event an id.
    pub fn id(&mut self, id: &str) -> &mut Self {
        self.trace.header.events.last_mut().unwrap().id = Some(id.to_owned());
        self
    }

    pub fn start(&mut self, event: usize) -> &mut Self {
        self.rec(What::EventStart { event })
    }

    pub fn end(&mut self, event: usize, outcome: Outcome) -> &mut Self {
        self.rec(What::EventEnd { event, outcome, why: None, reply: None })
    }

    pub fn end_why(&mut self, event: usize, outcome: Outcome, why: Why) -> &mut Self {
        self.rec(What::EventEnd { event, outcome, why: Some(why), reply: None })
    }

    pub fn end_reply(&mut self, event: usize, outcome: Outcome, reply: Reply) -> &mut Self {
        self.rec(What::EventEnd { event, outcome, why: None, reply: Some(reply) })
    }

    /// The event starts and a command of it is sent.
    pub fn send(&mut self, event: usize, client: &str, argv: &[&str]) -> &mut Self {
        self.cmd += 1;
        self.rec(What::Send {
            cmd: self.cmd,
            client: client.to_owned(),
            task: "main".to_owned(),
            node: self.trace.header.nodes[0].name.clone(),
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            event: Some(event),
        })
    }

    /// The value that `owner` wrote, with a deadline in ms.
    pub fn value(owner: &str, deadline: Option<u64>) -> KeyState {
        KeyState {
            value: Value::String(format!("token-of-{owner}")),
            deadline: deadline.map(LessonTime),
            approximate: false,
            owner: Some(owner.to_owned()),
            also: Vec::new(),
        }
    }

    /// A key changes on a node.
    pub fn key_on(&mut self, node: &str, lock: &str, op: KeyOp, cause: Cause, now: Option<KeyState>) -> &mut Self {
        self.rec(What::Key { node: node.to_owned(), key: key(lock), op, cause, now })
    }

    /// The first lock's key changes on the first node by a command of `client`: the one sent last.
    pub fn by(&mut self, client: &str, op: KeyOp, now: Option<KeyState>) -> &mut Self {
        let node = self.trace.header.nodes[0].name.clone();
        let lock = self.trace.header.locks[0].name.clone();
        let cause = self.command(client);
        self.key_on(&node, &lock, op, cause, now)
    }

    pub fn command(&self, client: &str) -> Cause {
        Cause::Command { cmd: self.cmd, client: client.to_owned() }
    }

    /// `client` takes the first lock: `SET … NX PX 10000`. Answers the event.
    pub fn grant(&mut self, client: &str) -> usize {
        let deadline = Some(self.now + TTL);
        self.grant_until(client, LOCK, deadline)
    }

    /// The same with a lock and a deadline of one's own.
    pub fn grant_until(&mut self, client: &str, lock: &str, deadline: Option<u64>) -> usize {
        let event = self.event_on(EventKind::Acquire, client, lock);
        let node = self.trace.header.nodes[0].name.clone();
        self.start(event).send(event, client, &["SET", &key(lock), "token", "NX", "PX", "10000"]);
        let cause = self.command(client);
        self.key_on(&node, lock, KeyOp::Created, cause, Some(Self::value(client, deadline)));
        let cmd = self.cmd;
        self.rec(What::Exec { cmd, reply: Reply::Status("OK".to_owned()) }).rec(What::Read { cmd });
        self.believes_in(client, lock, true).end(event, Outcome::Granted);
        event
    }

    /// `client` asks once and is refused.
    pub fn refuse(&mut self, client: &str) -> usize {
        let event = self.event(EventKind::Acquire, client);
        self.start(event).send(event, client, &["SET", "…"]).end_why(event, Outcome::Refused, Why::Held);
        event
    }

    /// `client` asks, is refused, and waits for its next try.
    pub fn wait_for(&mut self, client: &str, lock: &str) -> usize {
        let event = self.event_on(EventKind::Acquire, client, lock);
        self.start(event).rec(What::TryFailed { event, outcome: Outcome::Refused });
        event
    }

    pub fn believes(&mut self, client: &str, on: bool) -> &mut Self {
        self.believes_in(client, LOCK, on)
    }

    pub fn believes_in(&mut self, client: &str, lock: &str, on: bool) -> &mut Self {
        self.rec(What::Belief { client: client.to_owned(), lock: lock.to_owned(), on, read: false })
    }

    pub fn works(&mut self, client: &str, on: bool) -> &mut Self {
        let locks = vec![self.trace.header.locks[0].name.clone()];
        self.rec(What::Works { client: client.to_owned(), task: "main".to_owned(), on, locks })
    }

    /// The first lock's key runs out.
    pub fn expire(&mut self) -> &mut Self {
        let node = self.trace.header.nodes[0].name.clone();
        self.key_on(&node, LOCK, KeyOp::Expired, Cause::Expiry, None)
    }

    /// `client` sends its release (belief ends) and the server deletes the key.
    pub fn release(&mut self, client: &str) -> usize {
        let event = self.event(EventKind::Release, client);
        self.start(event).believes(client, false).send(event, client, &["DEL", "lock:lock"]);
        self.by(client, KeyOp::Removed, None).end(event, Outcome::Released);
        event
    }

    /// A protected row.
    pub fn row(&mut self, name: &str, value: i64, min: Option<i64>) -> &mut Self {
        self.trace.header.resources.push(ResourceInfo { name: name.to_owned(), shape: Shape::Row { value, min } });
        self
    }

    /// A protected log.
    pub fn log(&mut self, name: &str, once: &[&str]) -> &mut Self {
        let once = once.iter().map(|key| (*key).to_owned()).collect();
        self.trace.header.resources.push(ResourceInfo { name: name.to_owned(), shape: Shape::Log { once } });
        self
    }

    /// `client` sends a statement to the database, for `event`; answers its number.
    pub fn sends_to_data(&mut self, client: &str, event: usize) -> u32 {
        self.cmd += 1;
        self.rec(What::Send {
            cmd: self.cmd,
            client: client.to_owned(),
            task: "main".to_owned(),
            node: DATABASE.to_owned(),
            argv: vec!["UPDATE …".to_owned()],
            event: Some(event),
        });
        self.cmd
    }

    /// The database executes a write of command `cmd`; without `now` its guard refuses it.
    pub fn executes(
        &mut self,
        cmd: u32,
        client: &str,
        event: usize,
        resource: &str,
        guard: Guarded,
        now: Option<Stored>,
    ) -> &mut Self {
        let sql = Sql {
            cmd,
            client: client.to_owned(),
            event: Some(event),
            resource: Some(resource.to_owned()),
            text: "UPDATE …".to_owned(),
            params: Vec::new(),
            affected: u64::from(now.is_some()),
            guard: Some(guard),
            read: None,
            undone: false,
            now,
        };
        self.rec(What::Sql(sql))
    }

    /// The latest statement's value was computed from what its client had read at this version.
    pub fn computed_from(&mut self, version: i64) -> &mut Self {
        match &mut self.trace.records.last_mut().unwrap().what {
            What::Sql(sql) => sql.read = Some(version),
            other => panic!("{other:?} is no statement"),
        }
        self
    }

    /// The latest statement found something, and was rolled back all the same.
    pub fn undone(&mut self) -> &mut Self {
        match &mut self.trace.records.last_mut().unwrap().what {
            What::Sql(sql) => (sql.affected, sql.undone) = (1, true),
            other => panic!("{other:?} is no statement"),
        }
        self
    }

    /// Sent and executed at once.
    pub fn wrote(
        &mut self,
        client: &str,
        event: usize,
        resource: &str,
        guard: Guarded,
        now: Option<Stored>,
    ) -> &mut Self {
        let cmd = self.sends_to_data(client, event);
        self.executes(cmd, client, event, resource, guard, now)
    }

    /// A `write` of `client`, made and executed now.
    pub fn write(&mut self, client: &str, resource: &str, guard: Guarded, now: Option<Stored>) -> usize {
        let event = self.event(EventKind::Write, client);
        self.start(event).wrote(client, event, resource, guard, now);
        event
    }

    /// The client's program is over, and its belief.
    pub fn program_ends(&mut self, client: &str) -> &mut Self {
        self.believes(client, false);
        self.rec(What::TaskEnded { client: client.to_owned(), task: "main".to_owned() })
    }

    pub fn crash(&mut self, client: &str) -> &mut Self {
        self.rec(What::ClientCrashed { client: client.to_owned(), task: None });
        self.believes(client, false)
    }

    pub fn tick(&mut self, client: &str, outcome: Outcome) -> &mut Self {
        self.rec(What::Tick { client: client.to_owned(), lock: LOCK.to_owned(), outcome })
    }

    /// The trace, ended now.
    pub fn done(mut self) -> Trace {
        self.rec(What::End);
        self.trace
    }

    /// How many records there are: the index of the next one.
    pub fn next(&self) -> usize {
        self.trace.records.len()
    }
}

/// What a row is after a write.
#[expect(clippy::unnecessary_wraps, reason = "a refused write stores nothing: `None` stands in its place")]
pub fn row(value: i64, version: i64) -> Option<Stored> {
    Some(Stored::Row { value, version, fence: 0 })
}

/// A line that was appended.
#[expect(clippy::unnecessary_wraps, reason = "a refused write stores nothing: `None` stands in its place")]
pub fn line(key: &str) -> Option<Stored> {
    Some(Stored::Line(key.to_owned()))
}

/// The key of a lock.
pub fn key(lock: &str) -> String {
    format!("lock:{lock}")
}

/// All findings of a trace, as YAML, without the notes.
pub fn violations(trace: &Trace) -> Vec<String> {
    show(trace, |finding| finding.kind.group() != lockscope::trace::Group::Note)
}

/// The notes of a trace, as YAML.
pub fn notes(trace: &Trace) -> Vec<String> {
    show(trace, |finding| finding.kind.group() == lockscope::trace::Group::Note)
}

fn show(trace: &Trace, wanted: impl Fn(&Finding) -> bool) -> Vec<String> {
    let several = trace.header.locks.len() > 1;
    let found = findings(trace);
    found.iter().filter(|f| wanted(f)).map(|f| lockscope::lesson::judge::yaml_of(f, several)).collect()
}

/// The lesson `wrong-delete` with naive DEL, as FORMAT tells it.
pub fn wrong_delete() -> Trace {
    let mut run = Hand::single(&["A", "B", "C"]);
    run.grant("A");
    run.works("A", true);
    run.at(10_000).expire();
    run.at(11_000).grant("B");
    run.works("B", true);
    run.at(12_000).works("A", false);
    run.release("A");
    run.at(12_500).grant("C");
    run.works("C", true);
    run.at(14_500).works("C", false).program_ends("C");
    run.at(16_000).works("B", false).program_ends("B");
    run.done()
}
