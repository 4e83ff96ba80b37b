//! The one table of keys: it dispatches, and it draws the footer and the help.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What can be done. [`super::App::update`] says what it means where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they do")]
pub enum Action {
    Quit,
    Back,
    Help,
    Language,
    Up,
    Down,
    PageUp,
    PageDown,
    Open,
    TogglePlay,
    Previous,
    Next,
    FrameBack,
    FrameForward,
    TenthBack,
    TenthForward,
    /// To this many tenths of the run.
    Jump(u8),
    PreviousMarker,
    NextMarker,
    FirstViolation,
    Faster,
    Slower,
    Home,
    End,
    FocusNext,
    FocusPrevious,
    NextVariant,
    PreviousVariant,
    Hint,
    /// This choice, from 1.
    Choose(u8),
    Type(char),
    Erase,
    Submit,
    Skip,
    /// The own answer was as good as the model answer (1), half (2), or not (3).
    Grade(u8),
    Filter,
    Forget,
    ForgetAll,
    Confirm,
    /// The page after the last event.
    Ending,
    /// The command at the playhead, in full.
    OpenCommand,
    /// Another variant beside this one; the next one; none any more.
    Compare,
    CompareEnd,
    /// To the first difference between the two.
    Parting,
    ZoomIn,
    ZoomOut,
    Squeeze,
    /// The timeline alone, to the left or right; the playhead stays.
    LookBack,
    LookAhead,
    /// The list of what can be changed, or away with it.
    WhatIf,
    Undo,
    Redo,
    /// The changed lesson as a file.
    Save,
    /// A number down or up, by one step or by several.
    Less,
    More,
    MuchLess,
    MuchMore,
}

impl Action {
    /// Whether it asks for what comes next: an open question does not give it.
    #[must_use]
    pub const fn leads_on(self) -> bool {
        matches!(self, Self::TogglePlay | Self::Next | Self::FrameForward | Self::TenthForward | Self::NextMarker)
    }
}

/// Where a key means something. Several layers are active at once; the first that knows the key decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// The help is open.
    Help,
    /// Something is asked before it is done.
    Confirm,
    /// The filter of the catalogue is typed.
    Filter,
    /// A question with choices is open.
    Choices,
    /// A question that wants a number is open.
    Number,
    /// A question to think about is open.
    Reveal,
    /// The model answer is shown, and the own one is to be graded.
    Grading,
    /// The page after the last event.
    Ending,
    /// The playhead is where nothing more comes.
    AtEnd,
    /// A command is shown in full.
    Command,
    /// Two variants are compared.
    Compare,
    /// A variant is being changed.
    WhatIf,
    /// The list of lessons.
    Catalogue,
    /// A lesson.
    Player,
    /// Everywhere.
    Global,
}

/// A key, or a family of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character, however it is typed.
    Char(char),
    /// Whatever writes a character, in any script.
    Any,
    /// A digit of this range.
    Digits(char, char),
    /// A key without a character, without shift.
    Code(KeyCode),
    /// The same with shift.
    Shift(KeyCode),
    /// A character with control.
    Ctrl(char),
}

/// What a binding does.
#[derive(Clone, Copy, Debug)]
pub enum Does {
    /// This.
    Just(Action),
    /// Something with the digit.
    Digit(fn(u8) -> Action),
    /// Something with the character.
    Write(fn(char) -> Action),
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Where.
    pub layer: Layer,
    /// Which keys.
    pub keys: &'static [Key],
    /// What they do.
    pub does: Does,
    /// The keys as footer and help show them.
    pub shown: &'static str,
    /// The text key of what they do (`key.…`).
    pub label: &'static str,
    /// Place in the footer, the lowest number is the last to be dropped; none: only in the help.
    pub footer: Option<u8>,
}

const fn b(
    layer: Layer,
    keys: &'static [Key],
    action: Action,
    shown: &'static str,
    label: &'static str,
    footer: Option<u8>,
) -> Binding {
    Binding { layer, keys, does: Does::Just(action), shown, label, footer }
}

use Key::{Char, Code, Ctrl, Digits, Shift};
use KeyCode as C;

/// All keys there are, in the order in which footer and help show them.
pub const BINDINGS: &[Binding] = &[
    b(Layer::Help, &[Code(C::Esc), Char('?'), Char('q')], Action::Back, "esc", "key.close", Some(0)),
    b(Layer::Help, &[Code(C::Up), Char('k')], Action::Up, "↑", "key.up", None),
    b(Layer::Help, &[Code(C::Down), Char('j')], Action::Down, "↓", "key.down", Some(1)),
    b(Layer::Help, &[Code(C::PageUp)], Action::PageUp, "page up", "key.page_up", None),
    b(Layer::Help, &[Code(C::PageDown), Char(' ')], Action::PageDown, "page down", "key.page_down", None),
    b(Layer::Confirm, &[Char('y'), Code(C::Enter)], Action::Confirm, "y", "key.yes", Some(0)),
    b(Layer::Confirm, &[Char('n'), Code(C::Esc)], Action::Back, "n", "key.no", Some(1)),
    Binding {
        layer: Layer::Filter,
        keys: &[Key::Any],
        does: Does::Write(Action::Type),
        shown: "a–z",
        label: "key.filter_type",
        footer: Some(2),
    },
    b(Layer::Filter, &[Code(C::Backspace)], Action::Erase, "backspace", "key.erase", None),
    b(Layer::Filter, &[Code(C::Enter)], Action::Submit, "enter", "key.filter_done", Some(0)),
    b(Layer::Filter, &[Code(C::Esc)], Action::Back, "esc", "key.filter_clear", Some(1)),
    b(Layer::Filter, &[Code(C::Up)], Action::Up, "↑", "key.up", None),
    b(Layer::Filter, &[Code(C::Down)], Action::Down, "↓", "key.down", Some(3)),
    b(Layer::Ending, &[Code(C::Enter), Code(C::Right), Char(' ')], Action::Open, "enter", "key.item", Some(0)),
    b(Layer::Ending, &[Code(C::Up), Char('k')], Action::Up, "↑", "key.up", Some(3)),
    b(Layer::Ending, &[Code(C::Down), Char('j')], Action::Down, "↓", "key.down", Some(2)),
    b(Layer::Ending, &[Code(C::PageUp)], Action::PageUp, "page up", "key.page_up", None),
    b(Layer::Ending, &[Code(C::PageDown)], Action::PageDown, "page down", "key.page_down", None),
    b(Layer::Ending, &[Code(C::Home)], Action::Home, "home", "key.home", None),
    b(Layer::Ending, &[Code(C::End)], Action::End, "end", "key.end", None),
    b(Layer::Ending, &[Code(C::Esc), Char('e'), Code(C::Left)], Action::Back, "esc", "key.timeline", Some(1)),
    b(Layer::Command, &[Code(C::Esc), Code(C::Enter), Code(C::Left)], Action::Back, "esc", "key.timeline", Some(0)),
    b(Layer::Command, &[Code(C::Up), Char('k')], Action::Up, "↑", "key.up", Some(2)),
    b(Layer::Command, &[Code(C::Down), Char('j')], Action::Down, "↓", "key.down", Some(1)),
    b(Layer::Command, &[Code(C::PageUp)], Action::PageUp, "page up", "key.page_up", None),
    b(Layer::Command, &[Code(C::PageDown)], Action::PageDown, "page down", "key.page_down", None),
    b(Layer::Compare, &[Char('c')], Action::Compare, "c", "key.compare_next", Some(2)),
    b(Layer::Compare, &[Char('d')], Action::Parting, "d", "key.parting", Some(0)),
    b(Layer::Compare, &[Code(C::Esc)], Action::CompareEnd, "esc", "key.compare_end", Some(1)),
    b(Layer::WhatIf, &[Code(C::Up), Char('k')], Action::Up, "↑", "key.up", None),
    b(Layer::WhatIf, &[Code(C::Down), Char('j')], Action::Down, "↓", "key.choose", Some(2)),
    b(Layer::WhatIf, &[Code(C::Left)], Action::Less, "←", "key.less", Some(0)),
    b(Layer::WhatIf, &[Code(C::Right)], Action::More, "→", "key.more", Some(0)),
    b(Layer::WhatIf, &[Code(C::Enter)], Action::Submit, "enter", "key.switch", Some(1)),
    b(Layer::WhatIf, &[Shift(C::Left)], Action::MuchLess, "shift ←", "key.much_less", None),
    b(Layer::WhatIf, &[Shift(C::Right)], Action::MuchMore, "shift →", "key.much_more", None),
    b(Layer::WhatIf, &[Char('u')], Action::Undo, "u", "key.undo", Some(1)),
    b(Layer::WhatIf, &[Char('U'), Ctrl('r')], Action::Redo, "U", "key.redo", Some(4)),
    b(Layer::WhatIf, &[Char('S')], Action::Save, "S", "key.save", Some(1)),
    b(Layer::WhatIf, &[Char('c')], Action::Compare, "c", "key.compare", Some(4)),
    b(Layer::WhatIf, &[Code(C::Esc), Char('w')], Action::Back, "esc", "key.timeline", Some(2)),
    b(Layer::AtEnd, &[Char('e')], Action::Ending, "e", "key.ending", Some(0)),
    Binding {
        layer: Layer::Choices,
        keys: &[Digits('1', '9')],
        does: Does::Digit(Action::Choose),
        shown: "1–9",
        label: "key.answer",
        footer: Some(0),
    },
    b(Layer::Choices, &[Char('h')], Action::Hint, "h", "key.hint", Some(2)),
    b(Layer::Choices, &[Char('s')], Action::Skip, "s", "key.skip", Some(1)),
    Binding {
        layer: Layer::Number,
        keys: &[Digits('0', '9')],
        does: Does::Digit(|digit| Action::Type((b'0' + digit) as char)),
        shown: "0–9",
        label: "key.type",
        footer: Some(1),
    },
    b(Layer::Number, &[Char('m')], Action::Type('m'), "m", "key.unit", None),
    b(Layer::Number, &[Char('秒')], Action::Type('秒'), "秒", "key.unit", None),
    b(Layer::Number, &[Char('毫')], Action::Type('毫'), "毫", "key.unit", None),
    b(Layer::Number, &[Char('.')], Action::Type('.'), ".", "key.point", None),
    b(Layer::Number, &[Code(C::Backspace)], Action::Erase, "backspace", "key.erase", None),
    b(Layer::Number, &[Code(C::Enter)], Action::Submit, "enter", "key.answer", Some(0)),
    b(Layer::Number, &[Char('h')], Action::Hint, "h", "key.hint", Some(3)),
    b(Layer::Number, &[Char('s')], Action::Skip, "s", "key.skip", Some(2)),
    b(Layer::Reveal, &[Code(C::Enter)], Action::Submit, "enter", "key.reveal", Some(0)),
    b(Layer::Reveal, &[Char('h')], Action::Hint, "h", "key.hint", Some(2)),
    b(Layer::Reveal, &[Char('s')], Action::Skip, "s", "key.skip", Some(1)),
    Binding {
        layer: Layer::Grading,
        keys: &[Digits('1', '3')],
        does: Does::Digit(Action::Grade),
        shown: "1–3",
        label: "key.grade",
        footer: Some(0),
    },
    b(Layer::Catalogue, &[Code(C::Enter), Code(C::Right), Char(' ')], Action::Open, "enter", "key.open", Some(0)),
    b(Layer::Catalogue, &[Code(C::Up), Char('k')], Action::Up, "↑", "key.up", Some(2)),
    b(Layer::Catalogue, &[Code(C::Down), Char('j')], Action::Down, "↓", "key.down", Some(1)),
    b(Layer::Catalogue, &[Code(C::PageUp)], Action::PageUp, "page up", "key.text_up", None),
    b(Layer::Catalogue, &[Code(C::PageDown)], Action::PageDown, "page down", "key.text_down", None),
    b(Layer::Catalogue, &[Char('/')], Action::Filter, "/", "key.filter", Some(3)),
    b(Layer::Catalogue, &[Code(C::Esc)], Action::Back, "esc", "key.filter_clear", None),
    b(Layer::Catalogue, &[Char('x')], Action::Forget, "x", "key.forget", Some(7)),
    b(Layer::Catalogue, &[Char('X')], Action::ForgetAll, "X", "key.forget_all", None),
    b(Layer::Catalogue, &[Code(C::Home)], Action::Home, "home", "key.first", None),
    b(Layer::Catalogue, &[Code(C::End)], Action::End, "end", "key.last", None),
    b(Layer::Player, &[Char(' ')], Action::TogglePlay, "space", "key.play", Some(1)),
    b(Layer::Player, &[Code(C::Enter)], Action::OpenCommand, "enter", "key.command", Some(8)),
    b(Layer::Player, &[Code(C::Left)], Action::Previous, "←", "key.previous", Some(6)),
    b(Layer::Player, &[Code(C::Right)], Action::Next, "→", "key.next", Some(2)),
    b(Layer::Player, &[Char('[')], Action::PreviousMarker, "[", "key.previous_marker", None),
    b(Layer::Player, &[Char(']')], Action::NextMarker, "]", "key.next_marker", Some(10)),
    b(Layer::Player, &[Char('!')], Action::FirstViolation, "!", "key.violation", Some(3)),
    b(Layer::Player, &[Char('v')], Action::NextVariant, "v", "key.variant", Some(4)),
    b(Layer::Player, &[Char('V')], Action::PreviousVariant, "V", "key.variant_back", None),
    b(Layer::Player, &[Char('+'), Char('=')], Action::Faster, "+", "key.faster", Some(9)),
    b(Layer::Player, &[Char('-'), Char('_')], Action::Slower, "-", "key.slower", None),
    b(Layer::Player, &[Char(',')], Action::FrameBack, ",", "key.frame_back", None),
    b(Layer::Player, &[Char('.')], Action::FrameForward, ".", "key.frame", None),
    b(Layer::Player, &[Shift(C::Left)], Action::TenthBack, "shift ←", "key.tenth_back", None),
    b(Layer::Player, &[Shift(C::Right)], Action::TenthForward, "shift →", "key.tenth", None),
    Binding {
        layer: Layer::Player,
        keys: &[Digits('0', '9')],
        does: Does::Digit(Action::Jump),
        shown: "0–9",
        label: "key.jump",
        footer: None,
    },
    b(Layer::Player, &[Char('w')], Action::WhatIf, "w", "key.what_if", Some(4)),
    b(Layer::Player, &[Char('u')], Action::Undo, "u", "key.undo", None),
    b(Layer::Player, &[Char('U'), Ctrl('r')], Action::Redo, "U", "key.redo", None),
    b(Layer::Player, &[Char('S')], Action::Save, "S", "key.save_lesson", None),
    b(Layer::Player, &[Char('c')], Action::Compare, "c", "key.compare", Some(5)),
    b(Layer::Player, &[Char('{')], Action::LookBack, "{", "key.look_back", None),
    b(Layer::Player, &[Char('}')], Action::LookAhead, "}", "key.look_ahead", None),
    b(Layer::Player, &[Char('z')], Action::ZoomIn, "z", "key.zoom", Some(11)),
    b(Layer::Player, &[Char('Z')], Action::ZoomOut, "Z", "key.zoom_out", None),
    b(Layer::Player, &[Char('s')], Action::Squeeze, "s", "key.squeeze", None),
    b(Layer::Player, &[Code(C::Home)], Action::Home, "home", "key.home", None),
    b(Layer::Player, &[Code(C::End)], Action::End, "end", "key.end", None),
    b(Layer::Player, &[Code(C::Tab)], Action::FocusNext, "tab", "key.focus", Some(8)),
    b(Layer::Player, &[Code(C::BackTab)], Action::FocusPrevious, "shift tab", "key.focus_back", None),
    b(Layer::Player, &[Code(C::Up)], Action::Up, "↑", "key.scroll_up", None),
    b(Layer::Player, &[Code(C::Down)], Action::Down, "↓", "key.scroll_down", None),
    b(Layer::Player, &[Code(C::PageUp)], Action::PageUp, "page up", "key.page_up", None),
    b(Layer::Player, &[Code(C::PageDown)], Action::PageDown, "page down", "key.page_down", None),
    b(Layer::Player, &[Char('e')], Action::Ending, "e", "key.ending", None),
    b(Layer::Player, &[Char('h')], Action::Hint, "h", "key.hint", None),
    b(Layer::Player, &[Code(C::Esc)], Action::Back, "esc", "key.back", Some(5)),
    b(Layer::Global, &[Char('l')], Action::Language, "l", "key.language", Some(6)),
    b(Layer::Global, &[Char('?')], Action::Help, "?", "key.help", Some(2)),
    b(Layer::Global, &[Char('q'), Ctrl('c')], Action::Quit, "q", "key.quit", Some(3)),
];

impl Key {
    /// Whether `event` is this key, and which digit it is.
    fn matches(self, event: KeyEvent) -> bool {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let shift = event.modifiers.contains(KeyModifiers::SHIFT);
        let alt = event.modifiers.contains(KeyModifiers::ALT);
        match (self, event.code) {
            (Self::Ctrl(wanted), C::Char(c)) => ctrl && c.eq_ignore_ascii_case(&wanted),
            // A capital letter is a character of its own; terminals disagree on whether shift is reported with it.
            (Self::Char(wanted), C::Char(c)) => !ctrl && !alt && c == wanted,
            (Self::Any, C::Char(_)) => !ctrl && !alt,
            (Self::Digits(from, to), C::Char(c)) => !ctrl && !alt && (from..=to).contains(&c),
            (Self::Code(C::BackTab), C::BackTab) => true,
            (Self::Code(wanted), code) => !shift && !ctrl && code == wanted,
            (Self::Shift(wanted), code) => shift && code == wanted,
            _ => false,
        }
    }
}

/// What `event` does where `layers` are active, the first of them on top.
#[must_use]
pub fn dispatch(layers: &[Layer], event: KeyEvent) -> Option<Action> {
    let in_layer = |layer: Layer| BINDINGS.iter().filter(move |b| b.layer == layer);
    let mut bindings = layers.iter().copied().flat_map(in_layer);
    let binding = bindings.find(|b| b.keys.iter().any(|key| key.matches(event)))?;
    Some(match (binding.does, event.code) {
        (Does::Just(action), _) => action,
        (Does::Digit(action), C::Char(c)) => action(u8::try_from(c.to_digit(10)?).ok()?),
        (Does::Write(action), C::Char(c)) => action(c),
        (Does::Digit(_) | Does::Write(_), _) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Every single key of a binding, digits spelled out.
    fn spelled(binding: &Binding) -> Vec<String> {
        let one = |key: &Key| match *key {
            Digits(from, to) => (from..=to).map(|c| format!("{:?}", Char(c))).collect(),
            key => vec![format!("{key:?}")],
        };
        binding.keys.iter().flat_map(one).collect()
    }

    #[test]
    fn no_key_is_bound_twice_in_a_layer() {
        let mut seen = HashSet::new();
        for binding in BINDINGS {
            for key in spelled(binding) {
                assert!(seen.insert((binding.layer, key.clone())), "{key} twice in {:?}", binding.layer);
            }
        }
    }

    /// Only what lies on top for a moment (help, a question) may take a key away from what is below.
    #[test]
    fn catalogue_and_player_hide_no_global_key() {
        let keys = |layer: Layer| -> HashSet<String> {
            BINDINGS.iter().filter(|b| b.layer == layer).flat_map(spelled).collect()
        };
        for layer in [Layer::Catalogue, Layer::Player] {
            assert_eq!(keys(layer).intersection(&keys(Layer::Global)).count(), 0, "{layer:?}");
        }
    }

    #[test]
    fn the_top_layer_decides() {
        let digit = KeyEvent::new(C::Char('2'), KeyModifiers::NONE);
        assert_eq!(dispatch(&[Layer::Player, Layer::Global], digit), Some(Action::Jump(2)));
        assert_eq!(dispatch(&[Layer::Choices, Layer::Player, Layer::Global], digit), Some(Action::Choose(2)));
        assert_eq!(dispatch(&[Layer::Number, Layer::Player, Layer::Global], digit), Some(Action::Type('2')));
    }

    #[test]
    fn shift_and_control_are_told_apart() {
        let layers = [Layer::Player, Layer::Global];
        let press = |code, modifiers| dispatch(&layers, KeyEvent::new(code, modifiers));
        assert_eq!(press(C::Right, KeyModifiers::NONE), Some(Action::Next));
        assert_eq!(press(C::Right, KeyModifiers::SHIFT), Some(Action::TenthForward));
        assert_eq!(press(C::Char('c'), KeyModifiers::CONTROL), Some(Action::Quit));
        assert_eq!(press(C::Char('l'), KeyModifiers::CONTROL), None);
        assert_eq!(press(C::Char('V'), KeyModifiers::SHIFT), Some(Action::PreviousVariant));
        assert_eq!(press(C::Char('!'), KeyModifiers::SHIFT), Some(Action::FirstViolation));
        assert_eq!(press(C::BackTab, KeyModifiers::SHIFT), Some(Action::FocusPrevious));
    }
}
