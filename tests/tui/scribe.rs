//! Writes traces record by record, the way a run would.

use lockscope::trace::{
    Cause, ClientInfo, EventInfo, Header, KeyOp, KeyState, LessonTime, LockInfo, NodeInfo, Outcome, Record, Reply,
    Role, Trace, Value, What,
};

pub const KEY: &str = "lock:order:123";

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
            locks: vec![LockInfo {
                name: "lock".to_owned(),
                key: KEY.to_owned(),
                ttl: Some(LessonTime(10_000)),
                ..LockInfo::default()
            }],
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
        self.push(What::Belief { client: client.to_owned(), lock: "lock".to_owned(), on, read: false })
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
            also: Vec::new(),
        }
    }

    pub fn expires(&mut self) -> &mut Self {
        let node = self.trace.header.nodes[0].name.clone();
        self.push(What::Key { node, key: KEY.to_owned(), op: KeyOp::Expired, cause: Cause::Expiry, now: None })
    }

    pub fn task_ended(&mut self, client: &str) -> &mut Self {
        self.push(What::TaskEnded { client: client.to_owned(), task: "main".to_owned() })
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
