//! Lessons that must not load, and exactly what their authors are told.
//!
//! `tests/lessons/invalid/NAME.yaml` has its errors in `NAME.txt` beside it. Run with `BLESS=1` to write these afresh,
//! and read the difference: these texts are what an instructor sees.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lockscope::lesson::{self, Source, catalogue, render_all};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lessons").join(name)
}

#[test]
fn every_invalid_lesson_is_refused_with_these_words() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut different = String::new();
    for read in catalogue::load_dir(&folder("invalid")).unwrap() {
        let path = PathBuf::from(&read.name);
        // The path of the checkout is no part of what is expected.
        let source = Source::new(path.file_name().unwrap().to_string_lossy(), read.text.as_str());
        let shown = match lesson::load(source.clone()) {
            Ok(_) => "no errors\n".to_owned(),
            Err(errors) => render_all(&source, &errors) + "\n",
        };
        let expected = path.with_extension("txt");
        if bless {
            fs::write(&expected, &shown).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != shown {
            let _ = write!(different, "\n==== {} now says:\n{shown}", source.name);
        }
        assert_ne!(shown, "no errors\n", "{} loads", source.name);
    }
    assert!(different.is_empty(), "{different}");
}

/// Errors of a text that must not load, without their places.
fn messages(text: &str) -> Vec<String> {
    let errors = lesson::load(Source::new("l.yaml", text)).map(|_| "it loads").unwrap_err();
    errors.into_iter().map(|error| error.message).collect()
}

const HEAD: &str = "format: 1\nid: l\nlevel: intro\ntitle: t\nlock: {key: l, ttl: 10s}\nclients: [A, B]\n";

#[test]
fn all_errors_come_at_once_and_in_the_order_of_the_file() {
    let text = format!(
        "{HEAD}evnts: []\nevents:\n  - {{client: D, do: acquire}}\n  - {{client: A, do: work, for: 5}}\nverdict: hold\n"
    );
    let errors = lesson::load(Source::new("l.yaml", text)).map(|_| "it loads").unwrap_err();
    let places: Vec<(usize, usize)> = errors.iter().map(|error| (error.span.line, error.span.column)).collect();
    assert_eq!(places, [(7, 1), (9, 14), (10, 32), (11, 10)]);
}

#[test]
fn an_error_of_all_variants_is_told_once_and_one_of_some_with_their_names() {
    let text = format!(
        "{HEAD}events:\n  - {{client: D, do: acquire}}\n  - {{client: A, do: work, for: ttl/2}}\nvariants:\n  \
         - {{id: one, title: t, verdict: held}}\n  - {{id: two, title: t, verdict: held, lock: {{ttl: forever}}}}\n  \
         - {{id: three, title: t, verdict: held, lock: {{ttl: forever}}}}\n"
    );
    let errors = lesson::load(Source::new("l.yaml", text)).map(|_| "it loads").unwrap_err();
    let told: Vec<(&str, &[String])> = errors.iter().map(|e| (e.message.as_str(), e.help.as_slice())).collect();
    let some = ["in variant `two`, `three`".to_owned()];
    assert_eq!(
        told,
        [("unknown client `D`; the lesson has A, B", &[][..]), ("`for`: `ttl/2`, but the lock has no TTL", &some[..])]
    );
}

/// How long this thread has been computing: on a machine that is busy with other things, the clock on the wall says
/// nothing of the reader.
fn busy() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(now.tv_sec).unwrap(), u32::try_from(now.tv_nsec).unwrap())
}

/// Files that are made to keep a reader busy, or to fill its memory.
#[test]
fn hostile_files_end_in_an_error_quickly() {
    let mut aliases = "format: 1\na: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (name, of) in "bcdefghij".chars().zip("abcdefghi".chars()) {
        let list = vec![format!("*{of}"); 10].join(", ");
        let _ = writeln!(aliases, "{name}: &{name} [{list}]");
    }
    let long = format!("format: 1\na: &a \"{}\"\nb: [{}]\n", "x".repeat(100_000), vec!["*a"; 5000].join(", "));
    let repeat = |times: usize, line: &dyn Fn(usize) -> String| (0..times).map(line).collect::<String>();
    let events = repeat(1900, &|n| format!("  - {{id: e{n}, at: x{n}, client: c{n}}}\n"));
    let variants = repeat(1000, &|n| format!("  - {{id: v{n}}}\n"));
    let lines = |line: &str, times: usize| format!("{HEAD}events:\n{}verdict: hold\n", line.repeat(times));
    let cases = [
        ("alias bomb", aliases),
        ("long aliased text", long),
        ("deep flow", format!("format: 1\na: {}", "[".repeat(100_000))),
        ("deep maps", format!("format: 1\na: {}", "{a: ".repeat(50_000))),
        ("deep blocks", (0..5000).fold(String::new(), |text, n| text + &" ".repeat(n % 500) + "a:\n")),
        ("huge", format!("{HEAD}story: {}\n", "x".repeat(20_000_000))),
        ("many values", format!("format: 1\na: [{}]\n", "1, ".repeat(150_000))),
        ("many names", format!("{HEAD}events:\n{events}variants:\n{variants}")),
        ("many keys", (0..9000).fold(String::new(), |text, n| text + &format!("k{n}: 1\n"))),
        ("many braces", lines(&format!("  - {{client: A, do: redis, run: \"GET {}\"}}\n", "{".repeat(400_000)), 1)),
        (
            "many brackets",
            lines(&format!("  - {{client: A, do: redis, run: {{lua: \"{}\"}}}}\n", "[=".repeat(200_000)), 1),
        ),
        (
            "stars",
            format!(
                "{HEAD}keys: [\"{}x\"]\nevents:\n  - {{client: A, do: redis, run: \"GET {}\"}}\nverdict: held\n",
                "a*".repeat(99),
                "a".repeat(400_000)
            ),
        ),
        ("many links", lines("  - {link: [all, all], do: cut, at: 1s}\n", 1000)),
        (
            "a circle of anchors",
            (0..900).fold(format!("{HEAD}verdict: held\nevents:\n"), |text, n| {
                text + &format!("  - {{node: redis, do: flush, id: e{n}, at: e{}}}\n", (n + 1) % 900)
            }),
        ),
    ];
    // An unoptimised build is several times slower than what people run.
    let limit = Duration::from_secs(if cfg!(debug_assertions) { 3 } else { 1 });
    for (what, text) in cases {
        let start = busy();
        let source = Source::new("l.yaml", text);
        let errors = lesson::load(source.clone()).map(|_| "it loads").expect_err(what);
        let shown = render_all(&source, &errors);
        let took = busy().saturating_sub(start);
        assert!(took < limit, "{what}: {took:?}");
        assert!(shown.len() < 1_000_000, "{what}: {} bytes of errors", shown.len());
    }
}

/// Lessons with a few characters changed: whatever comes of it, it is no panic, and an error can be shown.
#[test]
fn no_change_of_a_lesson_makes_the_reader_panic() {
    let mut texts: Vec<String> = Vec::new();
    for name in ["examples", "invalid", "valid"] {
        texts.extend(catalogue::load_dir(&folder(name)).unwrap().iter().map(|source| source.text.clone()));
    }
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "'",
        "\n",
        "  ",
        "- ",
        "null",
        "~",
        "&a ",
        "*a",
        "!x ",
        "锁",
        "\u{0}",
        "\t",
        "|\n",
        "ttl/0",
        "ttl*9999999999999",
        "18446744073709551616s",
        "-1",
        "0ms",
        "forever",
        "a-lock",
        "{key}",
        "all",
        "\u{feff}",
        "#",
        "---\n",
    ];
    // A fixed sequence (xorshift): a failure can be repeated.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below.max(1)).unwrap()).unwrap()
    };
    for round in 0..400 {
        let mut chars: Vec<char> = texts[round % texts.len()].chars().collect();
        for _ in 0..=next(3) {
            let at = next(chars.len() + 1);
            match next(4) {
                0 => drop(chars.splice(at..(at + next(6)).min(chars.len()).max(at), [])),
                1 => drop(chars.splice(at..at, pieces[next(pieces.len())].chars())),
                2 => {
                    let to = (at + next(40)).min(chars.len());
                    let copy: Vec<char> = chars[at..to].to_vec();
                    let there = next(chars.len() + 1);
                    drop(chars.splice(there..there, copy));
                }
                _ => {
                    let to = (at + 1).min(chars.len());
                    drop(chars.splice(at..to, pieces[next(pieces.len())].chars()));
                }
            }
        }
        let source = Source::new("l.yaml", chars.into_iter().collect::<String>());
        if let Err(errors) = lesson::load(source.clone()) {
            assert!(!errors.is_empty());
            assert!(!render_all(&source, &errors[..errors.len().min(5)]).is_empty());
        }
    }
}

#[test]
fn an_id_that_two_lessons_share_is_an_error_of_the_second() {
    let text = format!("{HEAD}events: [{{client: A, do: acquire}}]\nverdict: held\n");
    let entries = catalogue::load_all([Source::new("one.yaml", text.as_str()), Source::new("two.yaml", text)]);
    assert!(entries[0].lesson.is_ok());
    let errors = entries[1].lesson.as_ref().map(|_| "it loads").unwrap_err();
    assert_eq!(errors[0].message, "the id `l` belongs to one.yaml already");
    assert_eq!((errors[0].span.line, entries[1].id()), (2, "two"));
}

#[test]
fn a_lesson_that_is_not_there_is_named() {
    let text = catalogue::find("wrong-delte").unwrap_err().to_string();
    assert!(text.contains("wrong-delte"), "{text}");
    assert!(catalogue::find("no/such/file.yaml").unwrap_err().to_string().contains("no/such/file.yaml"));
    assert!(catalogue::read(&folder("invalid")).unwrap_err().to_string().contains("not a file"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latin1.yaml");
    fs::write(&path, b"format: 1\ntitle: caf\xe9\n").unwrap();
    assert!(catalogue::read(&path).unwrap_err().to_string().contains("latin1.yaml:2: not UTF-8"));
    assert_eq!(messages("")[0], "the file is empty");
}
