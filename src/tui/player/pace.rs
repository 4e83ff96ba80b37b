//! How fast a run is played.

use crate::trace::LessonTime;

/// Slowest and fastest speed, as powers of two.
pub const SPEEDS: std::ops::RangeInclusive<i8> = -3..=7;

/// A run is played in about this many seconds unless another speed is chosen.
const COMFORTABLE_S: u64 = 24;

/// The speed at which a run of this length takes about [`COMFORTABLE_S`] seconds.
pub(super) fn comfortable(end: LessonTime) -> i8 {
    let mut speed = 0;
    while end.ms() >> speed > COMFORTABLE_S * 1000 && speed < *SPEEDS.end() {
        speed += 1;
    }
    speed
}

/// `us` times two to the power of `speed`.
pub(super) const fn shifted(us: u64, speed: i8) -> u64 {
    if speed >= 0 { us << speed } else { us >> -speed }
}

/// `4x`, `1/2x`.
#[must_use]
pub fn speed_text(speed: i8) -> String {
    if speed >= 0 { format!("{}x", 1_u32 << speed) } else { format!("1/{}x", 1_u32 << -speed) }
}
