//! Each kind of action, happening and expectation has a test lesson that shows it, and one that shows what is said where it
//! is written wrongly. Which kinds there are is what lockscope itself says, so a new one is missed here at once.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use lockscope::lesson::{self, Expected, Fact, Plan, Source, Subject, catalogue};

/// The words that an unknown one is answered with: `…; there is a, b, c`.
fn named(events: &str, expect: &str) -> Vec<String> {
    let text = format!(
        "format: 1\nid: l\nlevel: intro\ntitle: t\nservers: replicated\nlock: {{key: l, ttl: 10s}}\nclients: [A]\n\
         events: [{events}]\nverdict: held\nexpect: [{expect}]\n"
    );
    let errors = lesson::load(Source::new("l.yaml", text)).map(|_| "it loads").unwrap_err();
    let mut said = errors.iter().flat_map(|error| [&[error.message.clone()][..], &error.help].concat());
    let list = said.find_map(|line| Some(line.split_once("there is ")?.1.to_owned())).unwrap();
    list.split(", ").map(str::to_owned).collect()
}

/// Every action and happening with its subject, such as `node crash`.
fn actions() -> BTreeSet<String> {
    let subjects = [("client", "A"), ("node", "m"), ("link", "[A, m]")];
    let of = |(subject, name): (&str, &str)| {
        let words = named(&format!("{{{subject}: {name}, do: xyz}}"), "");
        words.into_iter().map(|word| format!("{subject} {word}")).collect::<Vec<_>>()
    };
    subjects.into_iter().flat_map(of).collect()
}

/// Everything that can be expected.
fn expectations() -> BTreeSet<String> {
    named("", "{xyz: A}").into_iter().collect()
}

fn folder(name: &str) -> Vec<Arc<Source>> {
    catalogue::load_dir(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lessons").join(name)).unwrap()
}

const fn fact_name(fact: &Fact) -> &'static str {
    match fact {
        Fact::Holder { .. } => "holder",
        Fact::Believes(_) => "believes",
        Fact::Granted { .. } => "granted",
        Fact::Waited { .. } => "waited",
        Fact::Commands { .. } => "commands",
        Fact::Order(_) => "order",
        Fact::Key { .. } => "key",
        Fact::Expired(_) => "expired",
        Fact::Unprotected(_) => "unprotected",
        Fact::Row { .. } => "row",
        Fact::Effects { .. } => "effects",
        Fact::Stopped(_) => "stopped",
    }
}

/// What a variant shows. (That it comes out as it says is proven where it is run.)
fn shown(plan: &Plan) -> impl Iterator<Item = String> {
    let events = plan.events.iter().filter_map(|event| {
        let subject = match event.subject {
            Subject::Client { .. } => "client",
            Subject::Node(_) => "node",
            Subject::Link(..) => "link",
            Subject::None => return None,
        };
        let kind = serde_json::to_value(event.kind()).unwrap();
        Some(format!("{subject} {}", kind.as_str().unwrap()))
    });
    let expected = plan.expect.iter().filter_map(|expect| match &expect.what {
        Expected::Finding { kind, .. } => Some(kind.name().to_owned()),
        Expected::Fact(fact) => Some(fact_name(fact).to_owned()),
        Expected::Otherwise => None,
    });
    events.chain(expected)
}

/// The entry of a list in which a line stands (counted from 1): from its dash to the next line that is not deeper.
fn entry(text: &str, line: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let upto = &lines[..line.min(lines.len())];
    let first = upto.iter().rposition(|line| line.trim_start().starts_with("- ")).unwrap_or(0);
    let own = lines.get(first).map_or(0, |line| depth(line));
    let rest = lines.iter().skip(first + 1).take_while(|line| depth(line) > own);
    lines.get(first).into_iter().chain(rest).copied().collect::<Vec<_>>().join(" ")
}

/// The actions and happenings, and the expectations, that an entry writes.
fn written(entry: &str, actions: &BTreeSet<String>, expectations: &BTreeSet<String>) -> BTreeSet<String> {
    let words: Vec<&str> = entry.split(|c: char| " {}[],\"".contains(c)).filter(|word| !word.is_empty()).collect();
    let is_event = |kind: &&String| {
        let (subject, word) = kind.split_once(' ').unwrap();
        words.contains(&format!("{subject}:").as_str()) && words.windows(2).any(|two| two == ["do:", word])
    };
    let events = actions.iter().filter(is_event);
    events.chain(expectations.iter().filter(|kind| words.contains(&format!("{kind}:").as_str()))).cloned().collect()
}

#[test]
fn each_kind_is_shown_and_so_is_its_error() {
    let (actions, expectations) = (actions(), expectations());
    assert!(actions.len() >= 24 && expectations.len() >= 35, "{actions:?} {expectations:?}");
    let all: BTreeSet<String> = actions.union(&expectations).cloned().collect();

    let lessons = folder("engine").into_iter().map(|source| lesson::load(source).unwrap());
    let shown: BTreeSet<String> =
        lessons.flat_map(|lesson| lesson.plans).flat_map(|plan| shown(&plan).collect::<Vec<_>>()).collect();
    let missing: Vec<_> = all.difference(&shown).collect();
    assert_eq!(missing, Vec::<&String>::new(), "no lesson in tests/lessons/engine shows these");

    let mut wrong = BTreeSet::new();
    for source in folder("invalid") {
        for error in lesson::load(source.clone()).map(|_| "it loads").unwrap_err() {
            wrong.extend(written(&entry(&source.text, error.span.line), &actions, &expectations));
        }
    }
    let missing: Vec<_> = all.difference(&wrong).collect();
    assert_eq!(missing, Vec::<&String>::new(), "no lesson in tests/lessons/invalid shows an error in these");
}

#[test]
fn an_entry_is_what_stands_at_its_dash() {
    let text =
        "events:\n  - client: A\n    do: work\n    for: 5\n  - {node: r1, do: crash}\nexpect:\n  - {order: [A]}\n";
    let actions = BTreeSet::from(["client work", "node crash", "client crash"].map(str::to_owned));
    let expectations = BTreeSet::from(["order".to_owned()]);
    for (line, kind) in [(2, "client work"), (4, "client work"), (5, "node crash"), (7, "order")] {
        let found = written(&entry(text, line), &actions, &expectations);
        assert_eq!(found, BTreeSet::from([kind.to_owned()]), "line {line}");
    }
}
