//! What is on, and how actions change it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::keys::{Action, Layer};
use super::player::{Given, Player};
use super::recording::Recording;
use super::theme::Theme;
use crate::lesson::catalogue::Entry;
use crate::lesson::{Answer, Ask, Do, Lesson, Plan};
use crate::trace::{Lang, LessonTime};

/// Everything the screen is drawn from.
#[derive(Debug)]
pub struct App {
    /// How meanings look.
    pub theme: Theme,
    /// In which language.
    pub lang: Lang,
    /// The lessons, in the order in which they are listed.
    pub entries: Vec<Entry>,
    /// Which line of the catalogue is selected.
    pub selected: usize,
    /// How far the text beside the catalogue is scrolled.
    pub details_scroll: u16,
    /// The lesson being played; none: the catalogue is shown.
    pub player: Option<Player>,
    /// The help is open, scrolled so far.
    pub help: Option<u16>,
    /// What has been run so far.
    pub runs: BTreeMap<RunKey, Run>,
    /// The user wants to go.
    pub quit: bool,
    requests: Vec<Request>,
}

/// Which run: entry and variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunKey {
    /// Index into [`App::entries`].
    pub entry: usize,
    /// Index into the lesson's plans.
    pub variant: usize,
}

/// A run, as far as it has come.
#[derive(Clone, Debug)]
pub enum Run {
    /// It is being made.
    Running,
    /// It can be played.
    Ready(Arc<Recording>),
    /// There is none, and this is why.
    Failed(String),
}

/// A run that is wanted.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which.
    pub key: RunKey,
    /// What to run.
    pub plan: Plan,
}

impl App {
    /// The catalogue, or, with `start`, that lesson.
    #[must_use]
    pub fn new(entries: Vec<Entry>, start: Option<usize>, theme: Theme, lang: Lang) -> Self {
        let mut app = Self {
            theme,
            lang,
            selected: start.filter(|start| *start < entries.len()).unwrap_or(0),
            details_scroll: 0,
            player: None,
            help: None,
            runs: BTreeMap::new(),
            quit: false,
            requests: Vec::new(),
            entries,
        };
        if start.is_some() {
            app.open();
        }
        app
    }

    /// The lesson of entry `i`, if it could be read.
    #[must_use]
    pub fn lesson(&self, i: usize) -> Option<&Lesson> {
        self.entries.get(i)?.lesson.as_ref().ok()
    }

    /// The runs that are wanted since the last call.
    pub fn take_requests(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.requests)
    }

    /// A run has been made, or has failed. Returns whether it is the one that is shown: those of the other variants are
    /// only put by.
    pub fn ran(&mut self, key: RunKey, run: Run) -> bool {
        self.runs.insert(key, run);
        self.player.as_ref().is_some_and(|player| (player.entry, player.variant) == (key.entry, key.variant))
    }

    /// Whether a run is still being made.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.runs.values().any(|run| matches!(run, Run::Running))
    }

    /// The plan being played.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        let player = self.player.as_ref()?;
        self.lesson(player.entry)?.plans.get(player.variant)
    }

    /// The run of the plan being played.
    #[must_use]
    pub fn current_run(&self) -> Option<&Run> {
        let player = self.player.as_ref()?;
        self.runs.get(&RunKey { entry: player.entry, variant: player.variant })
    }

    /// Its recording, once there is one.
    #[must_use]
    pub fn recording(&self) -> Option<Arc<Recording>> {
        match self.current_run()? {
            Run::Ready(recording) => Some(Arc::clone(recording)),
            _ => None,
        }
    }

    /// The question at the playhead, with what was answered.
    #[must_use]
    pub fn question(&self) -> Option<(&Ask, Option<Given>)> {
        let (stop, given) = self.player.as_ref()?.question(&*self.recording()?)?;
        match &self.plan()?.events.get(stop.event)?.what {
            Do::Ask(ask) => Some((ask, given)),
            _ => None,
        }
    }

    /// Where keys are looked up, the topmost first.
    #[must_use]
    pub fn layers(&self) -> Vec<Layer> {
        let mut layers = Vec::with_capacity(3);
        if self.help.is_some() {
            // The help covers all, so nothing below it may be hit by accident; ctrl-c still quits.
            return vec![Layer::Help, Layer::Global];
        }
        if let Some((ask, None)) = self.question() {
            layers.push(match ask.answer {
                Answer::Choices(_) => Layer::Choices,
                Answer::Predict(_) => Layer::Number,
                Answer::Model(_) => Layer::Reveal,
            });
        }
        layers.push(if self.player.is_some() { Layer::Player } else { Layer::Catalogue });
        layers.push(Layer::Global);
        layers
    }

    /// Does what `action` means where we are.
    pub fn update(&mut self, action: Action) {
        if let Some(scroll) = &mut self.help {
            match action {
                Action::Back | Action::Help => self.help = None,
                Action::Up => *scroll = scroll.saturating_sub(1),
                Action::Down => *scroll = scroll.saturating_add(1).min(200),
                Action::PageUp => *scroll = scroll.saturating_sub(10),
                Action::PageDown => *scroll = scroll.saturating_add(10).min(200),
                Action::Language => self.lang = self.lang.other(),
                Action::Quit => self.quit = true,
                _ => {}
            }
            return;
        }
        match action {
            Action::Quit => self.quit = true,
            Action::Language => self.lang = self.lang.other(),
            Action::Help => {
                self.help = Some(0);
                if let Some(player) = &mut self.player {
                    player.playing = false;
                }
            }
            Action::Back => self.player = None,
            Action::NextVariant => self.turn_variant(1),
            Action::PreviousVariant => self.turn_variant(-1),
            Action::Submit => self.submit(),
            Action::Choose(number) if !self.has_choice(number) => {}
            // Who types a second answer must not be thrown to another place.
            Action::Jump(_) if matches!(self.question(), Some((Ask { answer: Answer::Choices(_), .. }, Some(_)))) => {}
            _ if self.player.is_some() => {
                if let Some(recording) = self.recording()
                    && let Some(player) = &mut self.player
                {
                    player.update(action, &recording);
                }
            }
            action => self.update_catalogue(action),
        }
    }

    /// Time goes by: `us` microseconds. Returns whether the picture has changed.
    pub fn tick(&mut self, us: u64) -> bool {
        let Some(recording) = self.recording() else { return false };
        self.player.as_mut().is_some_and(|player| player.tick(us, &recording))
    }

    /// Whether time moves the picture.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.player.as_ref().is_some_and(|player| player.playing)
    }

    fn update_catalogue(&mut self, action: Action) {
        let last = self.entries.len().saturating_sub(1);
        let before = self.selected;
        match action {
            Action::Up => self.selected = self.selected.saturating_sub(1),
            Action::Down => self.selected = (self.selected + 1).min(last),
            Action::Home => self.selected = 0,
            Action::End => self.selected = last,
            Action::PageUp => self.details_scroll = self.details_scroll.saturating_sub(5),
            Action::PageDown => self.details_scroll = self.details_scroll.saturating_add(5).min(1000),
            Action::Open => self.open(),
            _ => {}
        }
        if self.selected != before {
            self.details_scroll = 0;
        }
    }

    /// Opens the selected lesson. All its variants are run at once, the shown one first: they take milliseconds, and
    /// changing the variant is then immediate.
    fn open(&mut self) {
        let entry = self.selected;
        let Some(lesson) = self.lesson(entry) else { return };
        let plans = lesson.plans.clone();
        for (variant, plan) in plans.into_iter().enumerate() {
            let key = RunKey { entry, variant };
            // What failed may work now (a server was installed, say); what is there is kept.
            if !matches!(self.runs.get(&key), Some(Run::Ready(_) | Run::Running)) {
                self.runs.insert(key, Run::Running);
                self.requests.push(Request { key, plan });
            }
        }
        self.player = Some(Player::new(entry, 0));
    }

    fn turn_variant(&mut self, by: isize) {
        let Some(player) = &mut self.player else { return };
        let Some(Ok(lesson)) = self.entries.get(player.entry).map(|entry| &entry.lesson) else { return };
        let count = isize::try_from(lesson.plans.len()).unwrap_or(1);
        let here = isize::try_from(player.variant).unwrap_or(0);
        let next = usize::try_from((here + by).rem_euclid(count.max(1))).unwrap_or(0);
        if next != player.variant {
            player.change_variant(next);
        }
    }

    fn has_choice(&self, number: u8) -> bool {
        matches!(self.question(), Some((Ask { answer: Answer::Choices(choices), .. }, None))
            if (1..=choices.len()).contains(&usize::from(number)))
    }

    fn submit(&mut self) {
        let Some((ask, None)) = self.question() else { return };
        let given = match &ask.answer {
            Answer::Choices(_) => None,
            Answer::Model(_) => Some(Given::Revealed),
            Answer::Predict(_) => self.player.as_ref().and_then(|player| seconds(&player.typed)).map(Given::Time),
        };
        if let (Some(given), Some(recording), Some(player)) = (given, self.recording(), &mut self.player) {
            player.answer(given, &recording);
        }
    }
}

/// Seconds as typed, `12` or `12.5`, to the millisecond.
fn seconds(typed: &str) -> Option<LessonTime> {
    let (whole, part) = typed.split_once('.').unwrap_or((typed, ""));
    if (whole.is_empty() && part.is_empty()) || part.len() > 3 {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let part: u64 = format!("{part:0<3}").parse().ok()?;
    Some(LessonTime(whole.checked_mul(1000)? + part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_to_the_millisecond() {
        assert_eq!(seconds("12"), Some(LessonTime(12_000)));
        assert_eq!(seconds("12.5"), Some(LessonTime(12_500)));
        assert_eq!(seconds(".05"), Some(LessonTime(50)));
        assert_eq!(seconds("12."), Some(LessonTime(12_000)));
        for typed in ["", ".", "1.2.3", "1.2345"] {
            assert_eq!(seconds(typed), None, "{typed}");
        }
    }
}
