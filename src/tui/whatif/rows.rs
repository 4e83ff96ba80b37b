//! What can be changed at a moment: numbers and ways of the lesson, what was already changed, and what could happen now.

use crate::lesson::whatif::{Edit, Happening, Target};
use crate::lesson::{AcquireHow, At, Do, Event, Plan, ReleaseHow, Subject};
use crate::trace::{LessonTime, LinkState, Role, State, Trace, What};

/// A line of the list. Events and locks are indices into the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// Which variant.
    Variant,
    /// How long a lease is.
    Ttl(usize),
    /// How long a job or an idle time takes.
    Length(usize),
    /// When an event is due.
    Start(usize),
    /// With which commands.
    How(usize),
    /// Whether there is a watchdog.
    Watchdog(usize),
    /// Something that was made to happen: an index into the changes.
    Made(usize),
    /// Something that could happen.
    New(Edit),
}

/// A pause and a delay begin with this; ←/→ changes it.
const PAUSE: LessonTime = LessonTime(3000);

/// The moment at which something is to be changed.
pub struct Moment<'a> {
    /// What is to be run, with all changes so far.
    pub plan: &'a Plan,
    /// The changes.
    pub edits: &'a [Edit],
    /// How many variants there are.
    pub variants: usize,
    /// The run that is seen, and its plan.
    pub seen: (&'a Plan, &'a Trace),
    /// What is true at the playhead.
    pub state: &'a State,
    /// The playhead.
    pub pos: usize,
    /// Its time.
    pub t: LessonTime,
}

impl Moment<'_> {
    /// All lines, by whom they are about.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        rows.extend((0..self.plan.locks.len()).filter(|i| self.plan.locks[*i].ttl.is_some()).map(Row::Ttl));
        for client in &self.plan.clients {
            self.client(&client.name, &mut rows);
        }
        let nodes: Vec<String> = self.state.nodes.keys().cloned().collect();
        for node in &nodes {
            self.node(node, &mut rows);
        }
        self.links(&nodes, &mut rows);
        if self.variants > 1 {
            rows.push(Row::Variant);
        }
        rows
    }

    fn happens(&self, to: Target, what: Happening) -> Row {
        Row::New(Edit::Happens { to, what, at: self.t })
    }

    fn made(&self, rows: &mut Vec<Row>, is_it: impl Fn(&Edit) -> bool) {
        rows.extend(self.edits.iter().enumerate().filter(|(_, edit)| is_it(edit)).map(|(i, _)| Row::Made(i)));
    }

    fn client(&self, name: &str, rows: &mut Vec<Row>) {
        let own = |event: &Event| matches!(&event.subject, Subject::Client { client, .. } if client == name);
        for (i, event) in self.plan.events.iter().enumerate().filter(|(_, event)| own(event)) {
            of_event(i, event, rows);
        }
        self.made(rows, |edit| match edit {
            Edit::Happens { to: Target::Client(client), .. } | Edit::Delay { client, .. } => client == name,
            _ => false,
        });
        if self.state.clients.get(name).is_some_and(|client| client.crashed) {
            return;
        }
        rows.push(self.happens(Target::Client(name.to_owned()), Happening::Crash));
        rows.push(self.happens(Target::Client(name.to_owned()), Happening::Pause(PAUSE)));
        rows.extend(self.delay(name));
    }

    /// A client may be late with what it does next, if nothing but its own program decides when that is.
    fn delay(&self, name: &str) -> Option<Row> {
        let (plan, trace) = self.seen;
        let is_next = |event: usize| {
            plan.events.get(event).filter(|event| {
                let main = matches!(&event.subject, Subject::Client { client, task: None } if client == name);
                main && !matches!(event.what, Do::Crash { .. } | Do::Pause { .. }) && event.id.is_some()
            })
        };
        let coming = trace.records.get(self.pos..).unwrap_or_default();
        let next = coming.iter().find_map(|record| match record.what {
            What::EventStart { event } => is_next(event),
            _ => None,
        })?;
        let before = next.id.clone().filter(|_| next.at.is_none())?;
        Some(Row::New(Edit::Delay { client: name.to_owned(), before, span: PAUSE }))
    }

    fn node(&self, name: &str, rows: &mut Vec<Row>) {
        let own = |event: &Event| matches!(&event.subject, Subject::Node(node) if node == name);
        for (i, event) in self.plan.events.iter().enumerate().filter(|(_, event)| own(event)) {
            of_event(i, event, rows);
        }
        self.made(rows, |edit| matches!(edit, Edit::Happens { to: Target::Node(node), .. } if node == name));
        let Some(node) = self.state.nodes.get(name) else { return };
        let to = || Target::Node(name.to_owned());
        if !node.up {
            rows.push(self.happens(to(), Happening::Restart));
            return;
        }
        rows.push(self.happens(to(), Happening::Crash));
        // With Sentinels nobody promotes by hand.
        if node.role == Role::Replica && !self.plan.is_on_real_clock() {
            rows.push(self.happens(to(), Happening::Promote));
        }
    }

    fn links(&self, nodes: &[String], rows: &mut Vec<Row>) {
        for (i, event) in self.plan.events.iter().enumerate() {
            if matches!(event.subject, Subject::Link(..)) {
                of_event(i, event, rows);
            }
        }
        self.made(rows, |edit| matches!(edit, Edit::Happens { to: Target::Link(..), .. }));
        let masters = nodes.iter().filter(|node| self.state.nodes[*node].role == Role::Master);
        let replicas: Vec<&String> =
            nodes.iter().filter(|node| self.state.nodes[*node].role == Role::Replica).collect();
        for master in masters.filter(|master| self.state.nodes[*master].up) {
            for replica in &replicas {
                self.link(master, std::slice::from_ref(*replica), rows);
            }
        }
        for client in &self.plan.clients {
            self.link(&client.name, nodes, rows);
        }
    }

    fn link(&self, a: &str, others: &[String], rows: &mut Vec<Row>) {
        let is_it = |(x, y): &(String, String)| (x == a && others.contains(y)) || (y == a && others.contains(x));
        let mut states = self.state.links.iter().filter(|(ends, _)| is_it(ends)).map(|(_, link)| link.state);
        let to = || Target::Link(a.to_owned(), others.to_vec());
        if states.any(|state| state != LinkState::Open) {
            rows.push(self.happens(to(), Happening::Heal));
        } else {
            rows.push(self.happens(to(), Happening::Hold));
            rows.push(self.happens(to(), Happening::Cut));
        }
    }
}

/// What of an event can be changed.
fn of_event(i: usize, event: &Event, rows: &mut Vec<Row>) {
    // What a change has added is changed where that stands.
    if event.id.is_none() {
        return;
    }
    if matches!(event.at, Some(At::Time(_))) {
        rows.push(Row::Start(i));
    }
    match &event.what {
        Do::Work { span: Some(_), .. } | Do::Idle { span: Some(_) } => rows.push(Row::Length(i)),
        Do::Acquire(acquire) if acquire_how(&acquire.how).is_some() => {
            rows.push(Row::How(i));
            rows.push(Row::Watchdog(i));
        }
        Do::Release(release) if release_how(&release.how).is_some() => rows.push(Row::How(i)),
        _ => {}
    }
}

/// The ways of acquiring that can be exchanged for one another, as the format names them.
pub const ACQUIRES: [&str; 3] = ["set_nx_px", "setnx", "setnx_expire"];
/// The ways of releasing.
pub const RELEASES: [&str; 3] = ["lua", "get_del", "del"];

/// The name of a way, if it can be exchanged.
#[must_use]
pub const fn acquire_how(how: &AcquireHow) -> Option<&'static str> {
    match how {
        AcquireHow::SetNxPx => Some("set_nx_px"),
        AcquireHow::Setnx => Some("setnx"),
        AcquireHow::SetnxExpire { .. } => Some("setnx_expire"),
        AcquireHow::Reentrant | AcquireHow::Redlock { .. } | AcquireHow::Run(_) => None,
    }
}

/// The name of a way, if it can be exchanged.
#[must_use]
pub const fn release_how(how: &ReleaseHow) -> Option<&'static str> {
    match how {
        ReleaseHow::Lua => Some("lua"),
        ReleaseHow::Del => Some("del"),
        ReleaseHow::GetDel { .. } => Some("get_del"),
        ReleaseHow::Delex | ReleaseHow::Run(_) => None,
    }
}

/// The way of an event, and all that it can be exchanged for.
#[must_use]
pub fn ways(event: &Event) -> Option<(&'static str, &'static [&'static str])> {
    match &event.what {
        Do::Acquire(acquire) => Some((acquire_how(&acquire.how)?, &ACQUIRES)),
        Do::Release(release) => Some((release_how(&release.how)?, &RELEASES)),
        _ => None,
    }
}
