//! One pane a file. A pane reads the scene and draws; it changes nothing.

pub mod catalogue;
pub mod command;
pub mod compare;
pub mod ending;
pub mod footer;
pub mod header;
pub mod help;
pub mod inspector;
pub mod log;
pub mod message;
pub mod prose;
pub mod question;
pub mod story;
pub mod timeline;
pub mod whatif;
