//! The last line: the keys that matter here, drawn from the table of keys; what does not fit is dropped, the least
//! important first.

use ratatui::layout::Rect;

use crate::tui::canvas::Canvas;
use crate::tui::keys::{Action, BINDINGS, Binding, Does, Key, Layer};
use crate::tui::strings::Ui;
use crate::tui::text::width;

/// Draws the keys of `layers`.
pub fn draw(canvas: &mut Canvas<'_>, ui: Ui, layers: &[Layer], area: Rect) {
    let theme = canvas.theme;
    let room = usize::from(area.width);
    // An open question is a wall: what leads past it does nothing, and is not offered.
    let asked = matches!(layers.first(), Some(Layer::Choices | Layer::Number | Layer::Reveal));
    let walled = |does| matches!(does, Does::Just(Action::TogglePlay | Action::Next | Action::NextMarker));
    let mut candidates: Vec<(usize, u8, String, &str)> = Vec::new();
    for (depth, layer) in layers.iter().enumerate() {
        // What a layer above has taken means something else now.
        let taken = |key: &Key| {
            let above = BINDINGS.iter().filter(|binding| layers[..depth].contains(&binding.layer));
            above.flat_map(|binding| binding.keys).any(|other| other == key)
        };
        let offered = |binding: &&Binding| binding.layer == *layer && !(asked && walled(binding.does));
        for binding in BINDINGS.iter().filter(offered).filter(|binding| !binding.keys.iter().all(taken)) {
            if let Some(rank) = binding.footer {
                // A question's own keys come before the player's.
                let rank = if *layer == Layer::Global { rank } else { rank + u8::try_from(depth).unwrap_or(0) * 4 };
                candidates.push((candidates.len(), rank, theme.plain(binding.shown).into_owned(), binding.label));
            }
        }
    }
    let cost = |keys: &str, label: &str| width(keys) + 1 + width(ui.get(label)) + 2;
    let mut by_rank: Vec<usize> = (0..candidates.len()).collect();
    by_rank.sort_by_key(|i| candidates[*i].1);
    let mut used = 1;
    let mut chosen = Vec::new();
    for i in by_rank {
        let (_, _, keys, label) = &candidates[i];
        if used + cost(keys, label) <= room {
            used += cost(keys, label);
            chosen.push(i);
        }
    }
    chosen.sort_unstable();
    let mut x = area.x + 1;
    for i in chosen {
        let (_, _, keys, label) = &candidates[i];
        x = canvas.put(x, area.y, area.right().saturating_sub(x), keys, theme.accent());
        x = canvas.put(x + 1, area.y, area.right().saturating_sub(x + 1), ui.get(label), theme.secondary()) + 2;
    }
}

/// Draws something the user should know, in place of the keys.
pub fn notice(canvas: &mut Canvas<'_>, notice: &str, area: Rect) {
    let style = canvas.theme.warning();
    canvas.put(area.x + 1, area.y, area.width.saturating_sub(2), notice, style);
}
