//! What Sentinels say and do, as sentences.

use crate::trace::What;
use crate::tui::strings::Ui;

/// A record that there is with Sentinels only, as a sentence; none: it goes without saying.
pub(super) fn sentence(ui: Ui, what: &What) -> Option<String> {
    Some(match what {
        What::NodePromoted { node, by: Some(by), .. } => ui.fill("story.promoted_by", &[("node", node), ("by", by)]),
        What::ClientFollows { client, node } => ui.fill("story.follows", &[("who", client), ("node", node)]),
        What::SentinelSays { sentinel, event, about } => {
            let node = about.as_deref().unwrap_or_default();
            let key = match event.as_str() {
                "+sdown" => "story.sentinel_misses",
                "-sdown" => "story.sentinel_hears",
                "+odown" => "story.sentinels_agree",
                "+elected-leader" => "story.sentinel_leads",
                "+convert-to-slave" => "story.sentinel_converts",
                "restarted" => return Some(ui.fill("story.node_restarted", &[("node", sentinel)])),
                other if other.starts_with("-failover-abort") => "story.sentinel_gives_up",
                // The switch itself is told by the promotion.
                _ => return None,
            };
            ui.fill(key, &[("sentinel", sentinel), ("node", node)])
        }
        _ => return None,
    })
}
