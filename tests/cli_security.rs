//! A lesson from the internet can do nothing but what lessons do: what it tries is refused where it is written if that
//! can be seen there, by the server if not, and never stops the rest of a check.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cli_support;

use std::fmt::Write as _;
use std::fs::File;
use std::io::BufReader;

use cli_support::{Home, line_of};
use lockscope::trace::{Reply, Trace, What, jsonl};

/// What no lesson may send, with the word that the error has to name.
const FORBIDDEN: [(&str, &str); 14] = [
    ("CONFIG GET dir", "CONFIG"),
    ("FLUSHALL", "FLUSHALL"),
    ("FLUSHDB", "FLUSHDB"),
    ("SHUTDOWN NOSAVE", "SHUTDOWN"),
    ("MODULE LIST", "MODULE"),
    ("DEBUG SLEEP 0", "DEBUG"),
    ("KEYS *", "KEYS"),
    ("AUTH secret", "AUTH"),
    ("HELLO 3", "HELLO"),
    ("RESET", "RESET"),
    ("QUIT", "QUIT"),
    ("REPLICAOF 127.0.0.1 1", "REPLICAOF"),
    ("ACL WHOAMI", "ACL"),
    ("CLIENT KILL TYPE normal", "CLIENT KILL"),
];

const HEAD: &str = "\
format: 1
id: attempt
level: core
title: It tries to get out
lock: {key: \"lock:1\", ttl: 10s}
keys: [data]
clients: [A]
";

/// A lesson that comes after, and has to run as if nothing had been.
const GOOD: &str = "\
format: 1
id: zz-good
level: core
title: It holds
lock: {key: \"lock:1\", ttl: 10s}
clients: [A, B]
events:
  - {client: A, do: acquire}
  - {client: A, do: work, for: 5s}
  - {client: B, at: 4s, do: acquire}
  - {client: A, do: release}
verdict: held
expect: [{refused: B, at: 4s}]
";

/// `CONFIG GET dir` as the arguments of `redis.call`.
fn lua_words(command: &str) -> String {
    command.split(' ').map(|word| format!("'{word}'")).collect::<Vec<_>>().join(", ")
}

fn read(home: &Home, name: &str) -> Trace {
    jsonl::read(BufReader::new(File::open(home.path().join("traces").join(name)).unwrap())).unwrap()
}

/// What the server answered to the commands of the event with this id, and how long that took in ms.
fn answers(trace: &Trace, id: &str) -> Vec<(Reply, u64)> {
    let event = trace.header.events.iter().position(|event| event.id.as_deref() == Some(id)).unwrap();
    let mut sent = Vec::new();
    let mut answers = Vec::new();
    for record in &trace.records {
        match &record.what {
            What::Send { cmd, event: Some(of), .. } if *of == event => sent.push((*cmd, record.real_us.unwrap())),
            What::Exec { cmd, reply } => {
                let began = sent.iter().find(|(known, _)| known == cmd).map(|(_, began)| *began);
                answers.extend(began.map(|began| (reply.clone(), (record.real_us.unwrap() - began) / 1000)));
            }
            _ => {}
        }
    }
    answers
}

#[test]
fn what_can_be_seen_is_refused_where_it_is_written() {
    let mut text = format!("{HEAD}events:\n");
    let mut expected = Vec::new();
    let mut line = text.lines().count();
    let mut add = |event: String, names: &str| {
        writeln!(text, "  - {event}").unwrap();
        line += 1;
        expected.push((line, names.to_owned()));
    };
    for (command, name) in FORBIDDEN {
        add(format!("{{client: A, do: redis, run: \"{command}\"}}"), name);
        // `CLIENT` as such is allowed, and no literal tells which one a script means.
        if name != "CLIENT KILL" {
            add(format!("{{client: A, do: redis, run: {{lua: \"return redis.call({})\"}}}}", lua_words(command)), name);
            add(format!("{{client: A, do: acquire, ok_if: OK, run: \"{}\"}}", command.to_lowercase()), name);
        }
    }
    add("{client: A, do: redis, run: \"GET other:1\"}".into(), "other:1");
    add("{client: A, do: redis, run: [\"PING\", \"SET other:1 x\"]}".into(), "other:1");
    add(
        "{client: A, do: redis, run: {lua: \"return redis.call('GET', KEYS[1])\", keys: [\"other:1\"]}}".into(),
        "other:1",
    );
    text += "verdict: held\nexpect: []\n";

    let home = Home::new().with("attempt.yaml", &text).with("zz-good.yaml", GOOD);
    let ran = home.check(&["."]).exits(2).line("ok", "zz-good").closes(1, 1, 0);
    let errors = ran.errors();
    for (line, name) in &expected {
        let at = format!("./attempt.yaml:{line}:");
        let here: Vec<_> = errors.iter().filter(|(_, place)| place.starts_with(&at)).collect();
        assert!(here.len() == 1 && here[0].0.contains(name), "line {line} tries {name}: {here:?}\n{}", ran.all());
    }
    assert_eq!(errors.len(), expected.len(), "{}", ran.all());
}

#[test]
fn what_only_the_server_can_see_the_server_refuses() {
    let mut text = format!("{HEAD}events:\n");
    text += "  - {client: A, do: acquire}\n";
    text += "  - {client: A, do: redis, run: \"SET data FLUSHALL\", reply: OK}\n";
    let mut tries = Vec::new();
    let mut attempt = |run: String| {
        let id = format!("try-{}", tries.len());
        writeln!(text, "  - {{client: A, do: redis, id: {id}, run: {run}}}").unwrap();
        tries.push(id);
    };
    for (command, name) in FORBIDDEN {
        // A name that the script puts together.
        let words = lua_words(command);
        let split = words.replacen(&format!("'{}", &name[..2]), &format!("'{}' .. '", &name[..2]), 1);
        assert_ne!(words, split);
        for call in ["call", "pcall"] {
            attempt(format!("{{lua: \"return redis.{call}({split})\"}}"));
        }
    }
    attempt("{lua: \"return redis.call('GET', 'other' .. ':1')\"}".into());
    attempt("{lua: \"return redis.call('SET', 'lockscope' .. ':marker', '0')\"}".into());
    attempt("{lua: \"return redis.call('DEL', KEYS[1], ARGV[1])\", keys: [data], args: [\"other:1\"]}".into());
    attempt("{lua: \"return loadstring('return io.open(1)')()\"}".into());
    text += "  - {client: A, do: redis, run: \"GET data\", reply: FLUSHALL}\n";
    text += "  - {client: A, do: redis, run: \"EXISTS {key} data\", reply: 2}\n";
    text += "  - {client: A, do: release, id: bye}\n";
    text += "verdict: held\nexpect:\n";
    for id in &tries {
        writeln!(text, "  - {{error: A, event: {id}, at: 0s}}").unwrap();
    }

    let home = Home::new().with("attempt.yaml", &text).with("zz-good.yaml", GOOD);
    home.check(&[".", "--jobs", "1", "--trace", "traces"]).exits(0).closes(2, 0, 0);
    let trace = read(&home, "attempt.jsonl");
    for id in &tries {
        let answers = answers(&trace, id);
        assert!(matches!(&answers[..], [(Reply::Error(_), _)]), "{id} was answered by {answers:?}");
    }
    assert_eq!(answers(&trace, "bye")[0].0, Reply::Int(1), "the lock was still there");
    let crashed = trace.records.iter().any(|record| matches!(record.what, What::NodeCrashed { .. }));
    assert!(!crashed, "the server has lived through all of it");
}

#[test]
fn what_a_placeholder_makes_of_a_command_is_looked_at_again() {
    let mut text = format!("{HEAD}events:\n");
    text += "  - {client: A, do: redis, run: \"SET data other:1\"}\n";
    text += "  - {client: A, do: redis, id: name, run: \"GET data\"}\n";
    text += "  - {client: A, do: redis, id: foreign, run: \"SET {reply:name} x\"}\n";
    text += "  - {client: A, do: redis, run: \"GET data\", reply: other:1}\n";
    text += "verdict: held\nexpect: [{error: A, event: foreign, at: 0s}]\n";
    let home = Home::new().with("attempt.yaml", &text);
    home.check(&["attempt.yaml"]).exits(0).closes(1, 0, 0);

    let name = "  - {client: A, do: redis, id: foreign, run: \"{reply:name}\"}\n";
    let text = text.replace("  - {client: A, do: redis, id: foreign, run: \"SET {reply:name} x\"}\n", name);
    let text = text.replace("SET data other:1", "SET data FLUSHALL").replace("reply: other:1", "reply: FLUSHALL");
    home.write("attempt.yaml", &text);
    let ran = home.check(&["attempt.yaml"]);
    if ran.code == Some(2) {
        let at = format!("attempt.yaml:{}:", line_of(&text, name));
        assert!(ran.errors().iter().any(|(_, place)| place.starts_with(&at)), "{}", ran.all());
    } else {
        ran.exits(0).closes(1, 0, 0);
    }
}

#[test]
fn endless_lua_is_an_error_soon_and_the_check_goes_on() {
    // A loop; one that hides in pcall; one that has written, so Redis would not stop it; one inside a single function of
    // Lua's library, where Redis does not even listen.
    let loops = [
        ("read", "while true do end", false),
        ("pcall", "while true do pcall(function() while true do end end) end", false),
        ("write", "redis.call('SET', KEYS[1], 'x') while true do end", true),
        ("deaf", "return string.find(string.rep('a', 40), string.rep('a?', 40) .. string.rep('a', 40))", true),
    ];
    // A replica is only of interest where a node dies under it.
    for (servers, loops) in [("single", &loops[..]), ("replicated", &loops[2..3])] {
        let home = Home::new().with("zz-good.yaml", GOOD);
        for (id, script, _) in loops {
            let text = HEAD.replace("id: attempt", &format!("id: {id}\nservers: {servers}"));
            let text = text
                + "events:\n  - {client: A, do: redis, run: \"SET data 1\"}\n"
                + &format!("  - {{client: A, do: redis, id: loop, run: {{lua: \"{script}\", keys: [data]}}}}\n")
                + "verdict: held\nexpect: [{error: A, event: loop, at: 0s}]\n";
            home.write(&format!("{id}.yaml"), &text);
        }
        home.check(&[".", "--jobs", "1", "--trace", "traces"]).exits(0).closes(loops.len() + 1, 0, 0);
        for (id, _, killed) in loops {
            let trace = read(&home, &format!("{id}.jsonl"));
            let crashed = trace.records.iter().any(|record| matches!(record.what, What::NodeCrashed { .. }));
            assert_eq!(crashed, *killed, "{servers}/{id}: the server had to be killed");
            let answers = answers(&trace, "loop");
            // 0.3 s until the engine has had enough, 0.6 s for a server that does not hear; the rest is the machine's.
            let soon = matches!(&answers[..], [(Reply::Error(_), took)] if *took < 4000);
            assert!(soon, "{servers}/{id}: {answers:?}");
        }
    }
}

#[test]
fn files_made_to_hurt_the_reader_end_in_an_error() {
    let home = Home::new().with("zz-good.yaml", GOOD);
    let bomb = (1..30).fold("a0: &a0 [x, x]\n".to_owned(), |text, i| {
        format!("{text}a{i}: &a{i} [*a{0}, *a{0}, *a{0}, *a{0}]\n", i - 1)
    });
    home.write("bomb.yaml", &bomb);
    home.write("deep.yaml", &format!("format: {}", "[".repeat(100_000)));
    home.write("huge.yaml", &format!("format: 1\nid: {}\n", "x".repeat(20_000_000)));
    std::fs::write(home.path().join("binary.yaml"), b"format: 1\nid: \xff\xfe\n").unwrap();
    let ran = home.check(&["zz-good.yaml", "bomb.yaml", "deep.yaml", "huge.yaml"]).exits(2).closes(1, 3, 0);
    assert!(ran.out.len() < 20_000, "the report is {} bytes long", ran.out.len());
    let ran = home.check(&["binary.yaml"]);
    assert!(matches!(ran.code, Some(1 | 2)) && (ran.err + &ran.out).contains("binary.yaml"), "{:?}", ran.code);
}
