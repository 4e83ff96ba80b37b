//! Tokens and jitter from the run's seed: the same lesson, the same tokens.

use fastrand::Rng;
use uuid::Builder;

/// A generator for one name (a client, a process) of one run. Each name has a sequence of its own, so what one client
/// draws does not depend on what the others do.
pub(super) fn generator(seed: u64, name: &str) -> Rng {
    // FNV-1a, 64 bit: offset basis and prime from the algorithm's reference page.
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    Rng::with_seed(seed ^ hash)
}

/// A random UUID (version 4) with a name in front, so that a reader sees whose it is: `A:7f3e…`.
pub(super) fn unique(rng: &mut Rng, name: &str) -> String {
    let bytes = rng.u128(..).to_le_bytes();
    format!("{name}:{}", Builder::from_random_bytes(bytes).into_uuid())
}

/// `pause` ± `jitter` (a share of it), in ms.
pub(super) fn jittered(rng: &mut Rng, pause: u64, jitter: f64) -> u64 {
    if jitter <= 0.0 {
        return pause;
    }
    scaled(pause, 1.0 + jitter * (2.0 * rng.f64() - 1.0))
}

/// A pause times a small factor, in ms.
pub(super) fn scaled(pause: u64, factor: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "milliseconds times a small factor; the cast saturates"
    )]
    let scaled = (pause as f64 * factor) as u64;
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_tokens_and_names_differ() {
        let draw = |seed, name: &str| unique(&mut generator(seed, name), name);
        assert_eq!(draw(1, "A"), draw(1, "A"));
        assert_ne!(draw(1, "A")[2..], draw(1, "B")[2..]);
        assert_ne!(draw(1, "A"), draw(2, "A"));
        let mut rng = generator(1, "A");
        assert_ne!(unique(&mut rng, "A"), unique(&mut rng, "A"));
    }

    #[test]
    fn jitter_stays_within_its_share() {
        let mut rng = generator(1, "A");
        let drawn: Vec<u64> = (0..1000).map(|_| jittered(&mut rng, 200, 0.5)).collect();
        assert!(drawn.iter().all(|pause| (100..=300).contains(pause)));
        assert!(drawn.iter().any(|pause| *pause < 150) && drawn.iter().any(|pause| *pause > 250));
        assert_eq!(jittered(&mut rng, 200, 0.0), 200);
    }
}
