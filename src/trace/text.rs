//! A text for readers, in one or more languages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The languages the program itself speaks. Lessons may have more; they are kept and not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

impl Lang {
    /// The key that this language has in a lesson's map of languages.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// The language with this code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        [Self::En, Self::Zh].into_iter().find(|lang| lang.code() == code)
    }

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::En => Self::Zh,
            Self::Zh => Self::En,
        }
    }
}

/// A text by language code. A plain string in a lesson stands under the empty code and serves every language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text(pub BTreeMap<String, String>);

impl Text {
    /// A text that is the same in every language.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self(BTreeMap::from([(String::new(), text.into())]))
    }

    /// The text in `lang`; where it is missing, the one for all languages, then the other language, then any.
    #[must_use]
    pub fn get(&self, lang: Lang) -> &str {
        [lang.code(), "", lang.other().code()]
            .iter()
            .find_map(|code| self.0.get(*code))
            .or_else(|| self.0.values().next())
            .map_or("", String::as_str)
    }
}
