//! `duplicate` and `never_done`: what must happen exactly once happened twice, or not at all.

use super::{Detector, Finding, FindingKind, Step};
use crate::trace::What;
use crate::trace::data::{ResourceState, Shape, Stored};

/// - `duplicate`: a key that is to be in a log once was appended, and was there already.
/// - `never_done`: such a key is missing when the run ends.
#[derive(Default)]
pub(super) struct Once(Vec<Finding>);

impl Detector for Once {
    fn see(&mut self, step: &Step<'_>) {
        match &step.record.what {
            What::Sql(sql) => {
                let (Some(log), Some(Stored::Line(key))) = (&sql.resource, &sql.now) else { return };
                if is_to_be_once(step, log, key) && is_there(step, log, key) {
                    self.find(step, FindingKind::Duplicate, log, key);
                }
            }
            What::End => {
                for info in &step.header.resources {
                    let Shape::Log { once } = &info.shape else { continue };
                    for key in once.iter().filter(|key| !is_there(step, &info.name, key)) {
                        self.find(step, FindingKind::NeverDone, &info.name, key);
                    }
                }
            }
            _ => {}
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.0
    }
}

impl Once {
    fn find(&mut self, step: &Step<'_>, kind: FindingKind, log: &str, key: &str) {
        self.0.push(step.finding(kind, None).with("log", log).with("key", key));
    }
}

fn is_to_be_once(step: &Step<'_>, log: &str, key: &str) -> bool {
    step.header.resources.iter().any(|info| {
        info.name == log && matches!(&info.shape, Shape::Log { once } if once.iter().any(|known| known == key))
    })
}

/// Whether the log had the key before this record.
fn is_there(step: &Step<'_>, log: &str, key: &str) -> bool {
    match step.before.resources.get(log) {
        Some(ResourceState::Log(lines)) => lines.iter().any(|(known, _)| known == key),
        _ => false,
    }
}
