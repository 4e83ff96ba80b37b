//! `oversold`: there is less than there can be.

use super::spells::Spells;
use super::{Detector, Finding, FindingKind, Step};
use crate::trace::What;
use crate::trace::data::{ResourceState, Shape};

/// Opens when a row's value falls below its `min`; closes when it no longer is.
#[derive(Default)]
pub(super) struct Oversold(Spells<String>);

impl Detector for Oversold {
    fn see(&mut self, step: &Step<'_>) {
        if step.index > 0 && !matches!(step.record.what, What::Sql(_)) {
            return;
        }
        for info in &step.header.resources {
            let Shape::Row { min: Some(min), .. } = info.shape else { continue };
            let Some(ResourceState::Row { value, .. }) = step.after.resources.get(&info.name) else { continue };
            if *value < min {
                self.0.open(step, &info.name, || step.finding(FindingKind::Oversold, None).of(&info.name));
            } else {
                self.0.close(step, &info.name);
            }
        }
    }

    fn found(self: Box<Self>) -> Vec<Finding> {
        self.0.all()
    }
}
