//! What a lesson says must come of a run (FORMAT §10), as data.

#![expect(missing_docs, reason = "fields are named in the doc of their variant, and as the format spells them")]

use std::collections::BTreeMap;

use super::model::ReplyPattern;
use super::source::{Span, Spanned};
use crate::trace::{FindingKind, LessonTime};

/// One entry of `expect`, or one condition of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// The whole entry.
    pub span: Span,
    /// What is expected.
    pub what: Expected,
    /// When it is expected (a finding's instant or beginning; a fact's instant).
    pub at: Option<ExpectTime>,
    /// When it ends: `to:`.
    pub to: Option<ExpectTime>,
    /// Which lock, by name.
    pub lock: Option<String>,
    /// How many such findings it stands for.
    pub times: u32,
}

/// A time in an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectTime {
    /// Exactly then.
    At(LessonTime),
    /// Both ends included.
    Between(LessonTime, LessonTime),
    /// When the run ends (for `to:`: it is still open then).
    End,
    /// `_`: the value that the student types (in `predict:` only).
    Asked,
}

/// A finding, or a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// A violation or a note. Fields that are not written are not compared.
    Finding {
        /// Which kind.
        kind: FindingKind,
        /// Its subjects, where written.
        who: Vec<String>,
        /// `by`, `owner`, `of`, `victim`, `why`, `event`, `while`, …
        fields: BTreeMap<String, Spanned<String>>,
    },
    /// A statement about the run that may be made or left out.
    Fact(Fact),
    /// `otherwise`: none of the other choices holds.
    Otherwise,
}

/// The facts of FORMAT §10.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// `{holder: B, at}`; none: `nobody`. With `node:`, the owner on that node.
    Holder { client: Option<String>, node: Option<String> },
    /// `{believes: A, at}`
    Believes(String),
    /// `{granted: B, at}`: an acquire of B ended granted (then). `event:` to be exact.
    Granted { client: String, event: Option<String> },
    /// `{waited: B, at_most: 3s}`: from the start of an acquire to its end; the longest of them.
    Waited { client: String, at_most: LessonTime },
    /// `{commands: B, at_most: 12}`: commands that B sent.
    Commands { client: String, at_most: u64 },
    /// `{order: [B, C, D]}`: the grants, in this order.
    Order(Vec<String>),
    /// `{key: {value, ttl, count}, at, node}`.
    Key {
        key: Option<String>,
        value: Option<ReplyPattern>,
        ttl: Option<KeyTtl>,
        count: Option<i64>,
        node: Option<String>,
    },
    /// `{expired: lock, at}`: the lock's key expired.
    Expired(String),
    /// `{unprotected: A, from, to}`: believes and does not hold.
    Unprotected(String),
    /// `{row: stock, is: 232}`
    Row { resource: String, is: i64 },
    /// `{effects: charges, count: 2}`
    Effects { resource: String, count: u64 },
    /// `{stopped: A, at}`: a `work` of A was stopped.
    Stopped(String),
}

/// A TTL in `{key: {ttl: …}}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyTtl {
    /// So much is left.
    Left(LessonTime),
    /// `none` (or `forever`): the key is there and has no TTL.
    None,
}
