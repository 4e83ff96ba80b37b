//! The player in a real terminal: what is seen, and what is left when it goes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cli_support;

use cli_support::pty::{CTRL_C, DOWN, END, ENTER, ESC, HOME, LEFT, Left, RIGHT, Terminal};
use cli_support::{Home, LOCKSCOPE, WRONG_DELETE, changed, kill, until};
use rustix::process::Signal;

/// Opens the player, and waits for its first complete frame.
fn open(home: &Home, size: (u16, u16), args: &[&str]) -> Terminal {
    let terminal = Terminal::open(size, LOCKSCOPE.as_ref(), args, home.path(), &home.environment());
    // The program hides the cursor once before it draws; so the first frame is one with something in it.
    terminal.wait("a first frame", |picture| !picture.trim().is_empty());
    terminal
}

/// Opens a lesson, and waits until it has been run.
fn open_lesson(home: &Home, size: (u16, u16)) -> Terminal {
    let terminal = open(home, size, &["wrong-delete"]);
    terminal.wait("the run", |picture| picture.contains("0.000 / 16 s"));
    terminal
}

/// The lesson time that the first line shows, in ms.
fn time(picture: &str) -> u64 {
    let first = picture.lines().next().unwrap();
    let shown = first.split(" / ").next().unwrap().split_whitespace().last().unwrap();
    let (seconds, thousandths) = shown.split_once('.').unwrap_or_else(|| panic!("no time in {first:?}"));
    seconds.parse::<u64>().unwrap() * 1000 + thousandths.parse::<u64>().unwrap()
}

/// The line that begins so, inside its frame.
fn row<'a>(picture: &'a str, label: &str) -> &'a str {
    let found = picture.lines().find(|line| line.trim_start_matches('│').trim_start().starts_with(label));
    found.unwrap_or_else(|| panic!("no line {label:?} in\n{picture}"))
}

/// In which column (from 0, in characters: none of the lines in question has wide ones) something stands.
fn column(line: &str, what: &str) -> usize {
    let at = line.find(what).unwrap_or_else(|| panic!("no {what:?} in {line:?}"));
    line[..at].chars().count()
}

fn leave(mut terminal: Terminal) -> Left {
    assert!(!terminal.is_as_before(), "the terminal is in raw mode while the player runs");
    terminal.send("q");
    let left = terminal.left();
    assert!(left.status.success(), "{:?}\n{}", left.status, left.picture);
    left.is_sane();
    left
}

/// Steps to the question at 12 s, answers it, and steps to the delete.
fn step_to_the_delete(terminal: &mut Terminal) -> String {
    let mut picture = terminal.press(HOME);
    while time(&picture) < 12_000 {
        let before = time(&picture);
        picture = terminal.press(RIGHT);
        // Each event is landed on, none is jumped over.
        assert!([0, 10_000, 11_000, 12_000].contains(&time(&picture)) && time(&picture) >= before, "{picture}");
    }
    assert!(
        picture.contains("the interviewer asks") && picture.contains("1 A's") && picture.contains("3 nobody's"),
        "{picture}"
    );
    assert!(!picture.contains("removed by A"), "the answer can be seen before the question is answered\n{picture}");
    // A question is a wall.
    assert_eq!(terminal.press(RIGHT), picture);
    let answered = terminal.press("2");
    assert!(answered.contains("✓ 2 B's") && answered.contains("Right: the run shows it."), "{answered}");
    terminal.press(RIGHT)
}

#[test]
fn wrong_delete_shows_whose_lock_goes_and_who_comes_in() {
    let home = Home::new();
    let mut terminal = open_lesson(&home, (120, 36));
    let picture = step_to_the_delete(&mut terminal);
    assert_eq!(time(&picture), 12_000);
    assert!(picture.contains("BROKEN since 11 s"), "{picture}");
    assert!(picture.contains("Wrong delete: A removed the lock that B holds."), "{picture}");

    // The axis says where a time stands; the lanes are held against it. 12 s is where the playhead is.
    let axis = picture.lines().find(|line| line.contains("2s") && line.contains("16s")).unwrap();
    let (at_10, at_12, at_14) = (column(axis, "10s"), column(axis, "┃"), column(axis, "14s"));
    let per_second = (at_14 - at_10) / 4;
    let overlaps = row(&picture, "overlap");
    let first = column(overlaps, "!A+B");
    assert!(first.abs_diff(at_12 - per_second) <= 1, "A and B overlap from 11 s on\n{picture}");
    let between: String = overlaps.chars().skip(first).take(at_12 - first).collect();
    assert!(between.ends_with('!') && !between.contains(' '), "… to 12 s\n{picture}");
    let second = column(overlaps, "!B+C");
    assert!(second > at_12 && second.abs_diff(at_12 + per_second / 2) <= 1, "B and C from 12.5 s on\n{picture}");
    // The DEL is marked where it struck: on the key's lane, and among the markers, and in words.
    assert_eq!(column(row(&picture, "redis"), "✘"), at_12, "{picture}");
    assert_eq!(column(row(&picture, "markers"), "✘"), at_12, "{picture}");
    assert!(picture.contains("removed by A"), "{picture}");
    assert!(row(&picture, "►").contains("A> DEL lock:order:123"), "{picture}");

    let entry = terminal.press(RIGHT);
    assert_eq!(time(&entry), 12_500);
    assert!(entry.contains("C> SET lock:order:123"), "{entry}");
    assert!(entry.contains("B and C are inside at the same time"), "{entry}");
    leave(terminal);
}

#[test]
fn every_step_back_lands_on_the_same_screen() {
    let home = Home::new();
    let mut terminal = open_lesson(&home, (120, 36));
    step_to_the_delete(&mut terminal);
    let mut screens = vec![terminal.press(HOME)];
    loop {
        let next = terminal.press(RIGHT);
        if screens.last() == Some(&next) {
            break;
        }
        screens.push(next);
        assert!(screens.len() < 60, "the steps do not end");
    }
    let times: Vec<u64> = screens.iter().map(|screen| time(screen)).collect();
    for event in [0, 10_000, 11_000, 12_000, 12_500, 14_500, 16_000] {
        assert!(times.contains(&event), "no step lands on {event} ms: {times:?}");
    }
    assert!(times.is_sorted(), "{times:?}");
    for screen in screens.iter().rev().skip(1) {
        assert_eq!(terminal.press(LEFT), *screen);
    }
    for screen in &screens[1..] {
        assert_eq!(terminal.press(RIGHT), *screen);
    }
    assert_eq!(&terminal.press(END), screens.last().unwrap());
    leave(terminal);
}

#[test]
fn jumps_variants_and_languages() {
    let home = Home::new();
    let mut terminal = open_lesson(&home, (120, 36));
    let delete = step_to_the_delete(&mut terminal);

    let violation = terminal.press("!");
    assert_eq!(time(&violation), 11_000, "the first violation is the overlap");
    assert!(violation.contains("A and B are inside at the same time"), "{violation}");

    // The same moment in Chinese, and back.
    while terminal.press(RIGHT) != delete {}
    let chinese = terminal.press("l");
    assert_eq!(time(&chinese), 12_000);
    for text in ["误删：A 删掉了 B 持有的锁。", "失效", "重叠", "被 A 删除", "时间线", "此刻的事实"]
    {
        assert!(chinese.contains(text), "no {text:?} in\n{chinese}");
    }
    assert!(!chinese.contains("overlap") && !chinese.contains("BROKEN"), "{chinese}");
    assert_eq!(terminal.press("l"), delete);

    // The variant that was promised to hold does; its run was made while the first was being watched.
    terminal.press("v");
    terminal.press("v");
    terminal.wait("the third variant", |picture| picture.contains("variant 3/3") && picture.contains("/ 14.5 s"));
    let mut picture = terminal.press(END);
    if picture.contains("s: skip") {
        terminal.press("s");
        picture = terminal.press(END);
    }
    assert!(picture.contains("SAFE") && picture.contains("Mutual exclusion was never broken."), "{picture}");

    let help = terminal.press("?");
    assert!(help.contains("help") && help != picture, "{help}");
    assert_eq!(terminal.press("?"), picture);
    leave(terminal);
}

#[test]
fn playing_comes_to_the_question_and_waits_there() {
    let home = Home::new();
    let mut terminal = open_lesson(&home, (120, 36));
    for _ in 0..8 {
        terminal.press("+");
    }
    terminal.press(" ");
    let asked = terminal.wait("the question", |picture| picture.contains("Whose lock does it remove?"));
    assert_eq!(time(&asked), 12_000);
    leave(terminal);
}

#[test]
fn the_catalogue_opens_lessons_and_shows_what_is_wrong_with_files() {
    let home = Home::new();
    let mut terminal = open(&home, (120, 36), &[]);
    let first = terminal.press(HOME);
    assert!(first.contains("setnx-crash") || first.contains("SETNX"), "{first}");
    let second = terminal.press(DOWN);
    assert_ne!(first, second);
    terminal.press(ENTER);
    let opened = terminal.wait("a run", |picture| picture.contains("0.000 / "));
    assert!(opened.contains("SAFE"), "{opened}");
    assert_eq!(terminal.press(ESC), second, "esc comes back to where it left");
    leave(terminal);

    let home = home.with("mine/bad.yaml", &changed(WRONG_DELETE, "level: intro", "levl: intro"));
    home.write("mine/good.yaml", WRONG_DELETE);
    for args in [["mine"], ["mine/bad.yaml"]] {
        let mut terminal = open(&home, (120, 36), &args);
        let picture = terminal.press(END);
        assert!(picture.contains("bad.yaml:3:1"), "{picture}");
        assert!(picture.contains("`levl`") && picture.contains("did you mean `level`?"), "{picture}");
        leave(terminal);
    }
}

#[test]
fn without_a_server_the_player_says_what_to_install() {
    let home = Home::new();
    let terminal = open(&home, (80, 24), &["wrong-delete", "--redis-server", "no/such/server"]);
    terminal.wait("the reason", |picture| picture.contains("no/such/server"));
    leave(terminal);
}

#[test]
fn every_size_is_survived() {
    let home = Home::new();
    let mut terminal = open_lesson(&home, (80, 24));
    let picture = step_to_the_delete(&mut terminal);
    for text in ["BROKEN since 11 s", "A+B", "B+C", "✘", "Wrong delete", "A> DEL lock:order:123", "q quit"] {
        assert!(picture.contains(text), "no {text:?} at 80×24\n{picture}");
    }
    terminal.resize((20, 5), "that it is too small", |picture| picture.contains("60") && picture.contains("16"));
    // Keys still work where nothing can be seen.
    terminal.press("l");
    terminal.press("l");
    terminal.resize((1, 1), "a frame of one cell", |_| true);
    terminal.resize((200, 60), "the lesson again", |picture| picture.contains("Wrong delete: A removed the lock"));
    let again = terminal.resize((80, 24), "the old size", |picture| picture.contains("q quit"));
    assert_eq!(again, picture);
    leave(terminal);

    let terminal = open(&home, (20, 5), &["wrong-delete"]);
    terminal.wait("that it is too small", |picture| picture.contains("60") && picture.contains("16"));
    leave(terminal);
}

#[test]
fn colour_and_signs_can_be_done_without() {
    let home = Home::new();
    let mut coloured = open_lesson(&home, (120, 36));
    step_to_the_delete(&mut coloured);
    assert!(coloured.shows_colour(), "nothing here could fail");
    leave(coloured);

    // Another home: in the first one the lesson would be opened where it was left.
    let home = Home::new();
    let mut environment = home.environment();
    environment.push(("NO_COLOR".to_owned(), "1".to_owned()));
    let args = ["wrong-delete", "--ascii"];
    let mut plain = Terminal::open((120, 36), LOCKSCOPE.as_ref(), &args, home.path(), &environment);
    plain.wait("the run", |picture| picture.contains("0.000 / 16 s"));
    while !plain.press(RIGHT).contains("1 A's") {
        assert!(!plain.shows_colour());
    }
    plain.press("2");
    let picture = plain.press(RIGHT);
    assert!(picture.contains("Wrong delete: A removed the lock that B holds."), "{picture}");
    assert!(!plain.shows_colour());
    let left = leave(plain);
    // The key of the language switch is named in the other language, whatever is asked for.
    let text = String::from_utf8(left.bytes).unwrap();
    let strange: String = text.chars().filter(|c| !c.is_ascii() && !"中文".contains(*c)).collect();
    assert_eq!(strange, "", "not ASCII");
}

#[test]
fn signals_and_ctrl_c_give_the_terminal_back() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let home = Home::new();
        let terminal = open_lesson(&home, (80, 24));
        assert!(!terminal.is_as_before());
        kill(terminal.pid(), signal);
        terminal.left().is_sane();
        // The servers went with it, and so did their folder.
        until("nothing is left behind", || home.left_behind().is_empty());
    }
    let home = Home::new();
    let mut terminal = open_lesson(&home, (80, 24));
    terminal.send(CTRL_C);
    let left = terminal.left();
    assert!(left.status.success(), "{:?}", left.status);
    left.is_sane();
}

#[test]
fn a_closed_window_ends_the_player_and_its_servers() {
    let home = Home::new();
    let terminal = open_lesson(&home, (80, 24));
    assert!(!home.left_behind().is_empty(), "servers run for the lesson");
    terminal.hang_up();
    until("nothing is left behind", || home.left_behind().is_empty());
}

#[test]
fn without_a_terminal_the_player_points_to_check() {
    let home = Home::new();
    let ran = home.run(&["wrong-delete"]).exits(1).complains("lockscope --check");
    assert_eq!(ran.out, "", "nothing is drawn into a pipe");
    home.run(&[]).exits(1).complains("lockscope --check");
}
