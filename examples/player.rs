//! dev only
#[path = "../tests/common/mod.rs"]
mod common;
use common::wrong_delete::*;
use lockscope::tui::{Options, run};
fn main() -> anyhow::Result<()> {
    let lang =
        if std::env::args().any(|a| a == "zh") { lockscope::trace::Lang::Zh } else { lockscope::trace::Lang::En };
    let ascii = std::env::args().any(|a| a == "ascii");
    run(entries(), None, || Box::new(ByHand), Options { lang, ascii, judge: JUDGE })
}
