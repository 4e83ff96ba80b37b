//! `lockscope --check` can fail, says where, and says so to a shell: the real program, on real servers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cli_support;

use std::fs::File;
use std::io::BufReader;
use std::os::unix::fs::symlink;

use cli_support::{Home, WRONG_DELETE, changed, line_of, ran};
use lockscope::trace::{Outcome, What, jsonl};

/// The end of the first variant's head: what it promises begins here.
const PROMISE: &str = "    verdict: broken
    expect:
      - {overlap: [A, B], from: 11s, to: 12s}
      - {wrong_delete: {by: A, owner: B}, at: 12s}
";
const NOT_OWNER: &str = "      - {not_owner: B, at: 16s}\n";

/// A lesson that is as it says.
const GOOD: &str = "\
format: 1
id: good
level: intro
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

/// A lesson of which nothing can be said: what B waits for never comes.
const NEVER: &str = "\
format: 1
id: never
level: intro
title: B waits for something that never comes
lock: {key: \"lock:1\", ttl: 10s}
clients: [A, B]
events:
  - {client: A, do: acquire}
  - {client: A, do: work, for: 9s, id: long}
  - {client: B, at: long, do: acquire}
until: 5s
verdict: held
expect: [{granted: A, at: 0s}]
";

#[test]
fn who_has_read_enough_hears_no_complaint() {
    let home = Home::new().with("good.yaml", GOOD);
    for args in [&["--list"][..], &["--check", "good.yaml"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = home.command(args).stdout(writer).stderr(std::process::Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(141), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

fn unkept() -> String {
    changed(&changed(GOOD, "id: good", "id: unkept"), "at: 4s}]", "at: 3s}]")
}

#[test]
fn a_flipped_verdict_fails_at_its_line() {
    let flipped = changed(WRONG_DELETE, PROMISE, &PROMISE.replacen("broken", "held", 1));
    let ran = Home::new().with("lesson.yaml", &flipped).check(&["lesson.yaml"]).exits(4);
    let line = line_of(WRONG_DELETE, PROMISE);
    assert_eq!(
        ran.failure(&format!("lesson.yaml:{line}")),
        [format!("lesson.yaml:{line}"), "expected  verdict: held".into(), "seen      verdict: broken".into()]
    );
    ran.line("FAILED", "wrong-delete/del").line("ok", "wrong-delete/lua").closes(2, 1, 0);
}

#[test]
fn a_changed_expectation_fails_at_its_line_and_what_was_seen_can_be_pasted() {
    let other = NOT_OWNER.replace("16s", "15s");
    let text = changed(WRONG_DELETE, NOT_OWNER, &other);
    let home = Home::new().with("lesson.yaml", &text);
    let ran = home.check(&["lesson.yaml"]).exits(4).closes(2, 1, 0);
    let failure = ran.failure(&format!("lesson.yaml:{}", line_of(&text, &other)));
    let release = line_of(WRONG_DELETE, "  - client: B\n    do: release\n");
    assert_eq!(
        failure[1..],
        [
            "expected  {not_owner: B, at: 15s}".to_owned(),
            format!("seen      - {{not_owner: B, at: 16s}}   # by the event in line {release}"),
        ]
    );

    // The report gives what to write instead, and with that the lesson passes.
    let seen = failure[2].strip_prefix("seen").unwrap().trim();
    home.write("lesson.yaml", &changed(&text, other.trim(), seen));
    home.check(&["lesson.yaml"]).exits(0).closes(3, 0, 0);
}

#[test]
fn a_dropped_expectation_fails_because_something_happens_that_nobody_expects() {
    let text = changed(WRONG_DELETE, NOT_OWNER, "");
    let ran = Home::new().with("lesson.yaml", &text).check(&["lesson.yaml"]).exits(4).closes(2, 1, 0);
    let failure = ran.failure(&format!("lesson.yaml:{}", line_of(&text, PROMISE)));
    assert!(failure[1].starts_with("expected  nothing else"), "{failure:?}");
    assert!(failure[2].starts_with("seen      - {not_owner: B, at: 16s}"), "{failure:?}");
}

#[test]
fn a_release_with_another_script_fails_at_everything_that_it_changes() {
    for other in ["how: lua", "how: get_del"] {
        let text = changed(WRONG_DELETE, "    how: del\n", &format!("    {other}\n"));
        let ran = Home::new().with("lesson.yaml", &text).check(&["lesson.yaml"]).exits(4).closes(2, 1, 0);
        let line = line_of(&text, "      - {wrong_delete: {by: A, owner: B}, at: 12s}");
        assert_eq!(
            ran.failure(&format!("lesson.yaml:{line}"))[1..],
            ["expected  {wrong_delete: {by: A, owner: B}, at: 12s}", "seen      nothing of the kind",]
        );
        let verdict = line_of(&text, PROMISE);
        let also = ran.failure(&format!("lesson.yaml:{verdict}"));
        assert!(also[2].starts_with("seen      - {refused: C, at: 12500ms}"), "{also:?}");
    }
    // The other way round: the script that compares was promised, and a bare DEL is run.
    let lua = "    set:\n      a-release:\n        how: lua\n";
    let text = changed(WRONG_DELETE, lua, &lua.replace("lua", "del"));
    let ran = Home::new().with("lesson.yaml", &text).check(&["lesson.yaml", "--filter", "/lua"]).exits(4);
    let line = line_of(&text, "      - {not_owner: A, at: 12s}");
    assert_eq!(ran.failure(&format!("lesson.yaml:{line}"))[1], "expected  {not_owner: A, at: 12s}");
    ran.says("{wrong_delete: {by: A, owner: B}, at: 12s}").closes(0, 1, 0);
}

#[test]
fn what_cannot_be_read_is_shown_with_line_column_and_caret_all_of_it_at_once() {
    let text = changed(GOOD, "lock: {key: \"lock:1\", ttl: 10s}", "lock: {key: \"lock:1\", ttl: 10s, tll: 3s}");
    let text = changed(&text, "for: 5s", "fro: 5s");
    let ran = Home::new().with("lesson.yaml", &text).check(&["lesson.yaml"]).exits(2).closes(0, 1, 0);
    let errors = ran.errors();
    assert_eq!(errors.len(), 2, "{}", ran.all());
    assert!(errors[0].0.contains("`tll`") && errors[1].0.contains("`fro`"), "{errors:?}");
    for (needle, (_, place)) in ["tll: 3s", "fro: 5s"].iter().zip(&errors) {
        let (line, source) = text.lines().enumerate().find(|(_, source)| source.contains(needle)).unwrap();
        let column = source.find(needle).unwrap();
        assert_eq!(*place, format!("lesson.yaml:{}:{}", line + 1, column + 1));
        // The caret stands under the very place.
        let mut shown = ran.out.lines().skip_while(|shown| !shown.ends_with(source));
        let source_at = shown.next().unwrap().find(source).unwrap();
        assert_eq!(shown.next().unwrap().find('^'), Some(source_at + column), "{}", ran.all());
    }
    ran.says("did you mean `ttl`?").says("did you mean `for`?");
}

#[test]
fn without_a_server_the_install_command_is_printed() {
    let home = Home::new().with("lesson.yaml", GOOD);
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    symlink("/bin/sh", bin.join("apt-get")).unwrap();
    let run = |args: &[&str]| ran(home.command(args).env_clear().env("PATH", &bin).env("TMPDIR", home.temporary()));
    run(&["--check", "lesson.yaml"])
        .exits(3)
        .line("not run", "good")
        .says("no redis-server found")
        .says("sudo apt-get install redis-server")
        .closes(0, 1, 0);
    // A server that was named is used or refused, never passed over.
    home.check(&["lesson.yaml", "--redis-server", "/bin/echo"]).exits(3).says("/bin/echo").closes(0, 1, 0);
    home.check(&["lesson.yaml", "--redis-server", "no/such/server"]).exits(3).says("no/such/server");
}

#[test]
fn an_event_that_never_ran_leaves_nothing_to_say() {
    let home = Home::new().with("lesson.yaml", NEVER);
    let line = line_of(NEVER, "  - {client: B, at: long");
    home.check(&["lesson.yaml"])
        .exits(5)
        .line("no answer", "never")
        .says(&format!("lesson.yaml:{line}: this event never ran"))
        .closes(0, 1, 0);
}

#[test]
fn wrong_usage_is_1_whatever_is_wrong() {
    let home = Home::new().with("lesson.yaml", GOOD).with("empty/readme.txt", "no lesson");
    home.check(&["--no-such-option"]).exits(1).complains("--no-such-option");
    home.check(&["lesson.yaml", "--jobs", "0"]).exits(1).complains("--jobs");
    home.check(&["lesson.yaml", "--clock", "sundial"]).exits(1).complains("sundial");
    home.run(&["--filter", "x"]).exits(1).complains("--check");
    home.check(&["no-such-file.yaml"]).exits(1).complains("no-such-file.yaml");
    home.check(&["wrong-delet"]).exits(1).complains("did you mean `wrong-delete`?");
    home.run(&["lesson.yaml", "wrong-delete"]).exits(1).complains("--check");
    // Nothing selected is not "all fine".
    home.check(&["lesson.yaml", "--filter", "nothing"]).exits(1).says("`nothing`").closes(0, 0, 0);
    home.check(&["empty"]).exits(1).closes(0, 0, 0);
}

#[test]
fn of_several_failures_the_lowest_code_counts_and_what_is_good_still_runs() {
    let home = Home::new()
        .with("good.yaml", GOOD)
        .with("never.yaml", NEVER)
        .with("unkept.yaml", &unkept())
        .with("unreadable.yaml", "format: 1\nid: [");
    home.check(&["good.yaml", "never.yaml"]).exits(5).line("ok", "good").closes(1, 1, 0);
    home.check(&["never.yaml", "unkept.yaml", "good.yaml"]).exits(4).line("ok", "good").closes(1, 2, 0);
    home.check(&["."])
        .exits(2)
        .line("ok", "good")
        .line("no answer", "never")
        .line("FAILED", "unkept")
        .line("unreadable", "./unreadable.yaml")
        .closes(1, 3, 0);
    // Without a server: 3, but 2 where a file cannot be read either. A filter hides no unreadable file.
    let nowhere = ["--redis-server", "no/such/server"];
    home.check(&[&nowhere[..], &["never.yaml", "unkept.yaml"]].concat()).exits(3);
    home.check(&[&nowhere[..], &["unkept.yaml", "unreadable.yaml"]].concat()).exits(2);
    home.check(&["unreadable.yaml", "good.yaml", "--filter", "good"]).exits(2).closes(1, 1, 0);
}

#[test]
fn the_report_speaks_chinese_when_asked_and_where_the_locale_does() {
    let home = Home::new().with("lesson.yaml", &changed(WRONG_DELETE, PROMISE, &PROMISE.replacen("broken", "held", 1)));
    let chinese = |ran: cli_support::Ran| {
        let line = line_of(WRONG_DELETE, PROMISE);
        let ran = ran.exits(4).says("失败").says("通过").says("失效").says(&format!("lesson.yaml:{line}"));
        assert_eq!(ran.failure(&format!("lesson.yaml:{line}"))[1..], ["预期  verdict: held", "实际  verdict: broken"]);
        assert_eq!(ran.out.lines().last(), Some("通过 2，失败 1，跳过 0"));
    };
    chinese(home.check(&["lesson.yaml", "--lang", "zh"]));
    chinese(ran(home.command(&["--check", "lesson.yaml"]).env("LANG", "zh_CN.UTF-8")));
    ran(home.command(&["--check", "lesson.yaml", "--lang", "en"]).env("LANG", "zh_CN.UTF-8")).exits(4).closes(2, 1, 0);
}

#[test]
fn traces_are_kept_as_they_were_judged() {
    let home = Home::new().with("good.yaml", GOOD);
    home.check(&["wrong-delete", "good.yaml", "--trace", "kept/traces"]).exits(0).closes(4, 0, 0);
    let mut names: Vec<_> = std::fs::read_dir(home.path().join("kept/traces"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = ["good.jsonl", "wrong-delete.del.jsonl", "wrong-delete.lua.jsonl", "wrong-delete.watchdog.jsonl"];
    assert_eq!(names, expected);

    let file = File::open(home.path().join("kept/traces/wrong-delete.del.jsonl")).unwrap();
    let trace = jsonl::read(BufReader::new(file)).unwrap();
    assert_eq!((trace.header.lesson.as_str(), trace.header.variant.as_str()), ("wrong-delete", "del"));
    let ends: Vec<_> = trace
        .records
        .iter()
        .filter_map(|record| match &record.what {
            What::EventEnd { event, outcome, .. } if trace.header.events[*event].id.as_deref() == Some("a-release") => {
                Some((record.t.ms(), *outcome))
            }
            _ => None,
        })
        .collect();
    assert_eq!(ends, [(12_000, Outcome::Released)]);
    // A folder that cannot be written is said, not passed over.
    home.check(&["good.yaml", "--trace", "good.yaml/inside"]).exits(3).says("good.yaml/inside");
}

#[test]
fn the_lessons_in_the_program_need_no_repository() {
    let home = Home::new();
    let ran = home.check(&[]).exits(0);
    let ok = ran.out.lines().filter(|line| line.starts_with("ok ")).count();
    let lessons: std::collections::BTreeSet<_> =
        ran.out.lines().filter_map(|line| line.strip_prefix("ok ")?.trim().split('/').next()).collect();
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/lessons")).unwrap();
    let yaml = files.filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|ending| ending == "yaml"));
    assert_eq!(lessons.len(), yaml.count(), "{}", ran.all());
    let skipped = ran.out.lines().filter(|line| line.starts_with("skipped ")).count();
    ran.closes(ok, 0, skipped);
    assert_eq!(home.left_behind(), Vec::<std::path::PathBuf>::new(), "temporary files were left behind");
}

#[test]
fn the_same_run_again_gives_the_same_trace() {
    let home = Home::new().with("good.yaml", GOOD);
    home.check(&["good.yaml", "--repeat", "20", "--trace", "one"]).exits(0).closes(1, 0, 0);
    home.check(&["good.yaml", "--jobs", "1", "--trace", "two"]).exits(0).closes(1, 0, 0);
    let trace = |folder: &str| {
        let file = File::open(home.path().join(folder).join("good.jsonl")).unwrap();
        jsonl::read(BufReader::new(file)).unwrap().without_real_times()
    };
    assert_eq!(trace("one"), trace("two"));
}
