//! How meanings look. Nobody else names a colour or a glyph.
//!
//! A meaning is carried by a letter or a word first, by a fill pattern second, and only then by a hue: the screen reads
//! the same on a monochrome terminal. Body text keeps the terminal's own colour, so light and dark both work; accents
//! are the six ANSI hues, which every palette chooses to be legible.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

/// How to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Only ASCII, borders included.
    pub ascii: bool,
    /// With hues.
    pub colour: bool,
}

/// Things that have a sign of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they stand for")]
pub enum Glyph {
    Works,
    WorksLeft,
    WorksRight,
    Master,
    Replica,
    Squeezed,
    Differs,
    Parting,
    Waits,
    Paused,
    Down,
    Held,
    Slow,
    Cut,
    Inside,
    Stuck,
    Expired,
    Freed,
    Violation,
    ViolationBegins,
    Renewed,
    Refused,
    Crashed,
    Restarted,
    Promoted,
    Demoted,
    Ask,
    Happening,
    Contained,
    Playhead,
    Current,
    Playing,
    Pausing,
    Right,
    Wrong,
    Selected,
    Begun,
    BarFull,
    BarEmpty,
    Tick,
    Hidden,
    More,
}

const FILLS: [&str; 6] = ["▓", "▒", "░", "▤", "▥", "▦"];
const FILLS_ASCII: [&str; 6] = ["#", "=", "+", "%", "&", "$"];
const HUES: [Color; 5] = [Color::Cyan, Color::Yellow, Color::Magenta, Color::Green, Color::Blue];

const ASCII_BORDER: border::Set = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

impl Theme {
    /// What the environment asks for: `NO_COLOR` set and not empty means no hue at all.
    #[must_use]
    pub fn from_env(ascii: bool) -> Self {
        Self { ascii, colour: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
    }

    const fn hue(self, style: Style, hue: Color) -> Style {
        if self.colour { style.fg(hue) } else { style }
    }

    /// The pattern that fills what belongs to the `i`-th client.
    #[must_use]
    pub const fn owner_fill(self, i: usize) -> &'static str {
        if self.ascii { FILLS_ASCII[i % FILLS_ASCII.len()] } else { FILLS[i % FILLS.len()] }
    }

    /// The hue of the `i`-th client.
    #[must_use]
    pub const fn owner(self, i: usize) -> Style {
        self.hue(Style::new(), HUES[i % HUES.len()])
    }

    /// The pattern for a key that nobody of the lesson wrote.
    #[must_use]
    pub const fn foreign_fill(self) -> &'static str {
        if self.ascii { "." } else { "·" }
    }

    /// Body text.
    #[must_use]
    pub const fn text(self) -> Style {
        Style::new()
    }

    /// What is less important.
    #[must_use]
    pub const fn secondary(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// What is more important.
    #[must_use]
    pub const fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What is chosen.
    #[must_use]
    pub const fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Something that broke.
    #[must_use]
    pub const fn violation(self) -> Style {
        self.hue(Style::new().add_modifier(Modifier::BOLD), Color::Red)
    }

    /// Somebody who cannot go on, or a danger that has not struck.
    #[must_use]
    pub const fn warning(self) -> Style {
        self.hue(Style::new().add_modifier(Modifier::BOLD), Color::Yellow)
    }

    /// All is well.
    #[must_use]
    pub const fn safe(self) -> Style {
        self.hue(Style::new().add_modifier(Modifier::BOLD), Color::Green)
    }

    /// A key of the keyboard, in footer and help; a title.
    #[must_use]
    pub const fn accent(self) -> Style {
        self.hue(Style::new().add_modifier(Modifier::BOLD), Color::Blue)
    }

    /// The playhead: it crosses what has a hue or is dimmed, and takes on neither.
    #[must_use]
    pub const fn playhead(self) -> Style {
        Style::new().fg(Color::Reset).remove_modifier(Modifier::DIM).add_modifier(Modifier::BOLD)
    }

    /// A pane's border.
    #[must_use]
    pub const fn border(self, focused: bool) -> Style {
        if focused { self.accent() } else { self.secondary() }
    }

    /// The signs that borders are made of.
    #[must_use]
    pub const fn border_set(self) -> border::Set<'static> {
        if self.ascii { ASCII_BORDER } else { border::PLAIN }
    }

    /// The sign of a meaning; one cell wide.
    #[must_use]
    pub const fn glyph(self, glyph: Glyph) -> &'static str {
        let (fine, ascii) = match glyph {
            Glyph::Works => ("━", "-"),
            Glyph::WorksLeft => ("╸", "-"),
            Glyph::WorksRight => ("╺", "-"),
            Glyph::Master => ("─", "-"),
            Glyph::Replica => ("┈", "."),
            Glyph::Differs => ("≠", "#"),
            Glyph::Parting => ("┊", ":"),
            Glyph::Squeezed => ("≈", "~"),
            Glyph::Waits => ("┄", "."),
            Glyph::Paused => ("z", "z"),
            Glyph::Down => ("╳", "x"),
            Glyph::Held => ("▪", ":"),
            Glyph::Slow => ("~", "~"),
            Glyph::Cut => ("╌", "/"),
            Glyph::Inside | Glyph::ViolationBegins => ("!", "!"),
            Glyph::Stuck => ("∞", "8"),
            Glyph::Expired => ("◷", "o"),
            Glyph::Freed => ("┤", "]"),
            Glyph::Violation | Glyph::Wrong => ("✘", "X"),
            Glyph::Renewed => ("↻", "^"),
            Glyph::Refused => ("×", "x"),
            Glyph::Crashed => ("†", "*"),
            Glyph::Restarted => ("○", "O"),
            Glyph::Promoted => ("▲", "M"),
            Glyph::Demoted => ("▼", "R"),
            Glyph::Ask => ("?", "?"),
            Glyph::Happening => ("◆", "*"),
            Glyph::Contained => ("◇", "c"),
            Glyph::Playhead => ("┃", "|"),
            Glyph::Current | Glyph::Playing | Glyph::Selected => ("►", ">"),
            Glyph::Pausing => ("‖", "="),
            Glyph::Right => ("✓", "+"),
            Glyph::Begun => ("◦", "o"),
            Glyph::BarFull => ("━", "="),
            Glyph::BarEmpty => ("╌", "."),
            Glyph::Tick => ("╵", "'"),
            Glyph::Hidden => ("·", "."),
            Glyph::More => ("…", "~"),
        };
        if self.ascii { ascii } else { fine }
    }

    /// A text with what `--ascii` cannot show replaced. Letters of other scripts stay: they are the text.
    #[must_use]
    pub fn plain(self, text: &str) -> std::borrow::Cow<'_, str> {
        if !self.ascii || text.is_ascii() {
            return text.into();
        }
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '…' => out.push_str("..."),
                '·' | '–' | '—' => out.push('-'),
                '→' => out.push_str("->"),
                '←' => out.push_str("<-"),
                '↑' => out.push('^'),
                '↓' => out.push('v'),
                '≤' => out.push_str("<="),
                '≥' => out.push_str(">="),
                '‘' | '’' => out.push('\''),
                '“' | '”' => out.push('"'),
                '×' => out.push('x'),
                '►' => out.push('>'),
                other => out.push(other),
            }
        }
        out.into()
    }
}
