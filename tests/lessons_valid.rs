//! Lessons that must load, and what they must mean.

use std::path::Path;

use lockscope::lesson::{self, catalogue, render_all};

/// Loads every lesson of a folder, and shows all their errors if there are any.
fn load_folder(folder: &str) -> Vec<lesson::Lesson> {
    let sources = catalogue::load_dir(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let mut lessons = Vec::new();
    let mut errors = String::new();
    for source in sources {
        match lesson::load(source.clone()) {
            Ok(lesson) => lessons.push(lesson),
            Err(found) => errors.push_str(&render_all(&source, &found)),
        }
    }
    assert!(errors.is_empty(), "\n{errors}");
    lessons
}

#[test]
fn the_seven_examples_load() {
    let lessons = load_folder("tests/lessons/examples");
    let variants: Vec<(&str, usize)> = lessons.iter().map(|l| (l.id.as_str(), l.plans.len())).collect();
    assert_eq!(
        variants,
        [
            ("failover-lost-lock", 4),
            ("get-then-del", 2),
            ("redlock-restart", 3),
            ("refused-what-now", 4),
            ("unlock-before-commit", 3),
            ("watchdog", 3),
            ("wrong-delete", 3),
        ]
    );
}
