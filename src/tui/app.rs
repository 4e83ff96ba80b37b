//! What is on, and how actions change it.

mod answering;
mod changed;
mod lesson;
mod list;
mod memory;
mod whatif;

pub use list::{Asking, Filter};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::answer::Given;
use super::keys::{Action, Layer};
use super::player::Player;
use super::progress::Progress;
use super::recording::Recording;
use super::theme::Theme;
use crate::lesson::catalogue::Entry;
use crate::lesson::whatif::Written;
use crate::lesson::{Answer, Ask, Do, Lesson, Plan};
use crate::trace::Lang;

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
    /// What the student has done so far.
    pub progress: Progress,
    /// What the catalogue is narrowed down to.
    pub filter: Option<Filter>,
    /// What has to be answered before anything else.
    pub asking: Option<Asking>,
    /// Something the user should know, until the next key.
    pub notice: Option<String>,
    /// The user wants to go.
    pub quit: bool,
    requests: Vec<Request>,
    touched: BTreeSet<String>,
    written: Option<Written>,
    /// How many runs of changed variants were asked for.
    asked: u32,
}

/// Which run: entry and variant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunKey {
    /// Index into [`App::entries`].
    pub entry: usize,
    /// Index into the lesson's plans.
    pub variant: usize,
    /// The variant as it is: 0. With changes: their revision.
    pub whatif: u32,
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
        Self::remembering(entries, start, theme, lang, Progress::default())
    }

    /// The same, with what the student has done before; what should come next is selected.
    #[must_use]
    pub fn remembering(
        entries: Vec<Entry>,
        start: Option<usize>,
        theme: Theme,
        lang: Lang,
        progress: Progress,
    ) -> Self {
        let next = progress.next(&entries).entry();
        let mut app = Self {
            theme,
            lang,
            selected: start.filter(|start| *start < entries.len()).or(next).unwrap_or(0),
            details_scroll: 0,
            player: None,
            help: None,
            runs: BTreeMap::new(),
            progress,
            filter: None,
            asking: None,
            notice: None,
            quit: false,
            requests: Vec::new(),
            touched: BTreeSet::new(),
            written: None,
            asked: 0,
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
        if key.whatif != 0 {
            return self.ran_whatif(key, run);
        }
        self.runs.insert(key, run);
        self.resume();
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
        match self.shown() {
            Some(shown) => Some(&shown.plan),
            None => self.lesson(player.entry)?.plans.get(player.variant),
        }
    }

    /// The run of the variant being played, as its author wrote it.
    #[must_use]
    pub fn current_run(&self) -> Option<&Run> {
        let player = self.player.as_ref()?;
        self.runs.get(&RunKey { entry: player.entry, variant: player.variant, whatif: 0 })
    }

    /// What is played, once there is something.
    #[must_use]
    pub fn recording(&self) -> Option<Arc<Recording>> {
        if let Some(shown) = self.shown() {
            return Some(Arc::clone(&shown.recording));
        }
        match self.current_run()? {
            Run::Ready(recording) => Some(Arc::clone(recording)),
            _ => None,
        }
    }

    /// The question at the playhead, with what was answered.
    #[must_use]
    pub fn question(&self) -> Option<(&Ask, Option<Given>)> {
        let (stop, given) = self.player.as_ref()?.question(&*self.recording()?)?;
        // What was answered was answered for the run without changes.
        if given.is_some() && self.shown().is_some() {
            return None;
        }
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
        if self.asking.is_some() {
            return vec![Layer::Confirm, Layer::Global];
        }
        if self.is_filtering() {
            return vec![Layer::Filter, Layer::Global];
        }
        if self.ending().is_some() {
            return vec![Layer::Ending, Layer::Global];
        }
        if self.opened_command().is_some() {
            return vec![Layer::Command, Layer::Global];
        }
        if self.is_changing() {
            return vec![Layer::WhatIf, Layer::Player, Layer::Global];
        }
        match self.question() {
            Some((ask, None)) => layers.push(match ask.answer {
                Answer::Choices(_) => Layer::Choices,
                Answer::Predict(_) => Layer::Number,
                Answer::Model(_) => Layer::Reveal,
            }),
            Some((_, Some(Given::Revealed))) => layers.push(Layer::Grading),
            _ => {}
        }
        if self.is_comparing() {
            layers.push(Layer::Compare);
        }
        if self.is_at_end() {
            layers.push(Layer::AtEnd);
        }
        layers.push(if self.player.is_some() { Layer::Player } else { Layer::Catalogue });
        layers.push(Layer::Global);
        layers
    }

    /// Whether the keyboard types into the filter.
    #[must_use]
    pub fn is_filtering(&self) -> bool {
        self.player.is_none() && self.filter.as_ref().is_some_and(|filter| filter.typing)
    }

    /// Does what `action` means where we are.
    pub fn update(&mut self, action: Action) {
        self.notice = None;
        self.act(action);
        self.remember();
    }

    fn act(&mut self, action: Action) {
        if self.asking.is_some() {
            self.update_asking(action);
            return;
        }
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
        if self.ending().is_some() {
            self.update_ending(action);
            return;
        }
        if self.opened_command().is_some() {
            self.update_command(action);
            return;
        }
        if self.player.is_some() && self.update_whatif(action) {
            return;
        }
        match action {
            Action::Ending => self.open_ending(),
            Action::OpenCommand => self.open_command(),
            Action::Compare => self.compare(),
            Action::CompareEnd => self.end_compare(),
            Action::Quit => self.quit = true,
            Action::Language => self.lang = self.lang.other(),
            Action::Help => {
                self.help = Some(0);
                if let Some(player) = &mut self.player {
                    player.playing = false;
                }
            }
            Action::Back if self.player.is_some() => {
                self.settle();
                self.player = None;
            }
            Action::NextVariant => self.turn_variant(1),
            Action::PreviousVariant => self.turn_variant(-1),
            Action::Submit if self.player.is_some() => self.submit(),
            Action::Grade(number) => self.self_grade(number),
            // After a digit it is the unit of the time that is being typed.
            Action::Skip if self.is_typing_a_time() => self.act(Action::Type('s')),
            Action::Choose(number) if !self.has_choice(number) => {}
            // Who types a second answer must not be thrown to another place.
            Action::Jump(_) if matches!(self.question(), Some((Ask { answer: Answer::Choices(_), .. }, Some(_)))) => {}
            _ if self.player.is_some() => {
                if let Some(recording) = self.recording()
                    && let Some(player) = &mut self.player
                {
                    player.update(action, &recording);
                    player.settle_down();
                    if action.leads_on() {
                        self.remind();
                    }
                }
            }
            action => self.update_catalogue(action),
        }
    }

    /// Time goes by: `us` microseconds. Returns whether the picture has changed.
    pub fn tick(&mut self, us: u64) -> bool {
        let Some(recording) = self.recording() else { return false };
        let Some(player) = &mut self.player else { return false };
        let was_playing = player.playing;
        let changed = player.tick(us, &recording);
        player.settle_down();
        if was_playing && !player.playing {
            self.remember();
        }
        changed
    }

    /// Whether time moves the picture.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.player.as_ref().is_some_and(|player| player.playing)
    }

    /// Opens the selected lesson. All its variants are run at once, the shown one first: they take milliseconds, and
    /// changing the variant is then immediate.
    fn open(&mut self) {
        let entry = self.selected;
        let Some(lesson) = self.lesson(entry) else { return };
        let plans = lesson.plans.clone();
        for (variant, plan) in plans.into_iter().enumerate() {
            let key = RunKey { entry, variant, whatif: 0 };
            // What failed may work now (a server was installed, say); what is there is kept.
            if !matches!(self.runs.get(&key), Some(Run::Ready(_) | Run::Running)) {
                self.runs.insert(key, Run::Running);
                self.requests.push(Request { key, plan });
            }
        }
        self.player = self.player_of(entry);
        self.resume();
    }

    fn turn_variant(&mut self, by: isize) {
        self.settle();
        let Some(player) = &mut self.player else { return };
        let Some(Ok(lesson)) = self.entries.get(player.entry).map(|entry| &entry.lesson) else { return };
        let count = isize::try_from(lesson.plans.len()).unwrap_or(1);
        let here = isize::try_from(player.variant).unwrap_or(0);
        let next = usize::try_from((here + by).rem_euclid(count.max(1))).unwrap_or(0);
        if next != player.variant {
            let before = player.variant;
            player.change_variant(next);
            self.compare_again(before);
        }
    }
}
