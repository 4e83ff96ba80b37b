//! What is told of those who wait for a lock: messages that come to them, and the line in which they stand.

use super::short_value;
use crate::tui::strings::Ui;

/// A message (its channel, its text) that `by` has sent: `who` has got it, or it was lost.
pub(super) fn news(ui: Ui, who: &str, by: &str, (channel, text): (&str, &str), got: bool) -> String {
    let key = if got { "story.news" } else { "story.news_lost" };
    ui.fill(key, &[("who", who), ("by", by), ("channel", &short_value(channel)), ("text", text)])
}

/// Who stands in line, the first one first.
pub(super) fn line(ui: Ui, waiting: &[String]) -> String {
    if waiting.is_empty() {
        return ui.get("story.line_empty").to_owned();
    }
    let waiting: Vec<String> = waiting.iter().map(|who| short_value(who)).collect();
    ui.fill("story.line", &[("who", &waiting.join(ui.get("list.comma")))])
}
