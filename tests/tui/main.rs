//! The player on runs that were written by hand: no Redis, no terminal, and every record is known.

mod command;
mod compare;
mod data;
mod far;
mod interview;
mod keys;
mod lanes;
mod progress;
mod screens;
mod scribe;
mod sizes;
mod strings;
mod timeline;
mod truth;
mod whatif;
mod worker;
mod wrong_delete;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use lockscope::tui::{App, keys::dispatch, view};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Types keys by name, as the loop would see them.
fn press(app: &mut App, keys: &str) {
    for key in keys.split_whitespace() {
        let (code, modifiers) = match key {
            "space" => (KeyCode::Char(' '), KeyModifiers::NONE),
            "enter" => (KeyCode::Enter, KeyModifiers::NONE),
            "esc" => (KeyCode::Esc, KeyModifiers::NONE),
            "left" => (KeyCode::Left, KeyModifiers::NONE),
            "right" => (KeyCode::Right, KeyModifiers::NONE),
            "up" => (KeyCode::Up, KeyModifiers::NONE),
            "down" => (KeyCode::Down, KeyModifiers::NONE),
            "shift-right" => (KeyCode::Right, KeyModifiers::SHIFT),
            "shift-left" => (KeyCode::Left, KeyModifiers::SHIFT),
            "home" => (KeyCode::Home, KeyModifiers::NONE),
            "end" => (KeyCode::End, KeyModifiers::NONE),
            "pagedown" => (KeyCode::PageDown, KeyModifiers::NONE),
            "pageup" => (KeyCode::PageUp, KeyModifiers::NONE),
            "tab" => (KeyCode::Tab, KeyModifiers::NONE),
            "backspace" => (KeyCode::Backspace, KeyModifiers::NONE),
            "ctrl-r" => (KeyCode::Char('r'), KeyModifiers::CONTROL),
            "ctrl-c" => (KeyCode::Char('c'), KeyModifiers::CONTROL),
            key => (KeyCode::Char(key.chars().next().expect("a key")), KeyModifiers::NONE),
        };
        let action = dispatch(&app.layers(), KeyEvent::new(code, modifiers));
        if let Some(action) = action {
            app.update(action);
        }
    }
}

/// What the screen shows.
fn screen(app: &App, width: u16, height: u16) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    view::draw(app, &mut buffer);
    text_of(&buffer)
}

/// The text of a buffer, without trailing blanks. The second cell of a wide character is skipped.
fn text_of(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width.max(1));
    let mut text = String::new();
    for row in buffer.content.chunks(width) {
        let mut line = String::new();
        let mut skip = 0;
        for cell in row {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            line.push_str(cell.symbol());
            skip = lockscope::tui::text::width(cell.symbol()).saturating_sub(1);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
