//! What the guide for lesson writers says is so: each whole lesson on that page is loaded (and run), and no key of the
//! format is left unexplained.

#![expect(clippy::unwrap_used, reason = "a test that cannot read the guide has failed")]

mod common;

use std::fs;
use std::path::Path;

use lockscope::lesson::{self, Lesson, Source};

/// A fenced block of the guide.
struct Block {
    /// The line of its fence, from 1.
    line: usize,
    /// What stands after the backticks.
    info: String,
    text: String,
}

fn guide() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/README.md")).unwrap()
}

fn blocks(guide: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in guide.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => open = Some(Block { line: index + 1, info: info.to_owned(), text: String::new() }),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    blocks
}

/// The whole lessons of the guide, by the line of their fence. A block that is not one says so: `yaml fragment`.
fn lessons() -> Vec<(usize, Lesson)> {
    let guide = guide();
    let whole = blocks(&guide).into_iter().filter(|block| block.info == "yaml");
    whole
        .map(|block| {
            let name = format!("lessons/README.md, example at line {}", block.line);
            match lesson::load(Source::new(name.clone(), block.text)) {
                Ok(lesson) => (block.line, lesson),
                Err(diagnostics) => panic!("{name}: {diagnostics:#?}"),
            }
        })
        .collect()
}

#[test]
fn every_example_loads() {
    let lessons = lessons();
    assert!(lessons.len() >= 15, "only {} examples were found: were their fences renamed?", lessons.len());
    for (line, lesson) in &lessons {
        assert!(!lesson.plans.is_empty(), "the example at line {line} has nothing to run");
    }
}

#[test]
fn every_example_runs_as_it_says() {
    let mut engine = common::engine();
    for (_, lesson) in lessons() {
        for plan in &lesson.plans {
            let ran = common::prove_where_it_can(&mut engine, plan);
            assert!(ran || lesson.id == "own-command", "{} was skipped", lesson.id);
        }
    }
}

#[test]
fn blocks_are_what_they_say() {
    for block in blocks(&guide()) {
        let known = ["yaml", "yaml fragment", "sh", "text"].contains(&block.info.as_str());
        assert!(known, "line {}: a block of kind `{}`, which no test looks at", block.line, block.info);
        let whole = block.text.starts_with("format: 1\n");
        assert_eq!(
            whole,
            block.info == "yaml",
            "line {}: a whole lesson is `yaml`, a part `yaml fragment`",
            block.line
        );
    }
}

/// All keys and words of FORMAT version 1 that work now, as a lesson writes them.
const WORDS: &str = "
    format id level intro core advanced title story question answer hook misconceptions claim truth see follow_ups
    servers sentinel lock locks clients keys events until needs redis command seed variants verdict expect
    key ttl process thread timeout resend clock_skew kind single replicated replicas persistence none everysec always
    client node link do at say ask when reply net for
    acquire work idle renew release crash pause restart promote demote flush evict cut hold slow heal
    config clock_jump power wait_replicas check not_replicated
    quorum nodes node_timeout redlock cleanup parallel sequential no_quorum on_short keep
    reentrant permits order any fifo mode unfair first second
    how via set_nx_px setnx setnx_expire gap run ok_if lua args token unique fixed parts of accept_own wait deadline stop ignore
    validity unchecked checked measured_from send first_try too_late
    notify recheck subscribe_after cap publish queue entry refresh retry every jitter backoff max same new watchdog max_renewals max_total on_loss on_error die arms_on grant
    pexpire_if_mine pexpire set set_if_free_or_mine del get_del delex stays by way both request
    choices text if otherwise predict model hint why drop add insert_before insert_after times end
    resources log once min read write begin commit rollback isolation committed snapshot resource add append guard fence version at_least
    script database db accepted rejected stale_write lost_update oversold duplicate never_done wrong_reject rejected_write contained row is effects count
    overlap wrong_delete wrong_renewal wrong_overwrite lost_lock orphan abandoned ghost_renewal deadlock starved
    refused unknown error lost not_owner owner victim own_command while held free event
    holder nobody believes granted waited at_most commands order value expired unprotected from to stopped
    broken stuck inconclusive forever
";

/// All that the format has and the engine refuses: the guide must say so.
const NOT_YET: &str = "
    permits
";

#[test]
fn every_key_is_explained() {
    let guide = guide();
    let (before, rest) = guide.split_once("\n# What the lessons show\n").unwrap();
    let (now, later) = rest.split_once("\n# Every key\n").unwrap().1.split_once("\n## Not yet\n").unwrap();
    let now = &(before.to_owned() + now);
    let missing = |text: &str, words: &str| -> Vec<String> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let known: Vec<&str> = text.split(|c| !is_word(c)).collect();
        words.split_whitespace().filter(|word| !known.contains(word)).map(str::to_owned).collect()
    };
    assert_eq!(missing(now, WORDS), Vec::<String>::new(), "words of the format that the guide does not explain");
    assert_eq!(missing(later, NOT_YET), Vec::<String>::new(), "refused words that the guide does not list");
}
