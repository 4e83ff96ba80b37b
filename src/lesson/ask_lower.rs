//! Questions (FORMAT §11).

use super::event_lower::text_of;
use super::expect::{Expect, ExpectTime, Expected};
use super::expect_lower::expect;
use super::model::{Answer, Ask, Choice, Do};
use super::reader::{Cx, Fields};
use super::scene::Scene;
use super::yaml::Node;
use crate::trace::Text;

/// `ask:` with `choices`, `predict` or `model`.
pub(super) fn ask(cx: &mut Cx, scene: &Scene, f: &mut Fields<'_>) -> Do {
    let text = text_of(cx, f, "ask");
    let hint = text_of(cx, f, "hint");
    let why = text_of(cx, f, "why");
    let answers = [f.take(cx, "choices"), f.take(cx, "predict"), f.take(cx, "model")];
    match answers.iter().flatten().count() {
        0 => drop(cx.error(f.span, "an `ask` needs `choices`, `predict` or `model`")),
        1 => {}
        _ => drop(cx.error(f.span, "an `ask` has one of `choices`, `predict` and `model`")),
    }
    let [by_choice, by_time, by_text] = answers;
    let by_choice = by_choice.map(|node| choices(cx, scene, node));
    let by_time = by_time.and_then(|node| predict(cx, scene, node));
    let by_text = by_text.and_then(|node| cx.text(node, "model")).map(Answer::Model);
    let answer = by_choice.or(by_time).or(by_text);
    let answer = answer.unwrap_or_else(|| Answer::Model(Text::default()));
    Do::Ask(Box::new(Ask { text: text.unwrap_or_default(), answer, hint, why }))
}

fn choices(cx: &mut Cx, scene: &Scene, node: &Node) -> Answer {
    let items = cx.list(node, "choices", false);
    if items.len() < 2 && matches!(node.kind, super::yaml::Kind::List(_)) {
        cx.error(node.span, "a question has at least two choices");
    }
    let mut otherwise = 0;
    let mut choices = Vec::new();
    for item in items {
        let Some(mut f) = Fields::of(cx, item, "a choice") else { continue };
        let text = f.need(cx, "text", "a choice", "\"…\"").and_then(|node| cx.text(node, "text"));
        let condition = f.need(cx, "if", "a choice", "{holder: A, at: 12s}");
        let mut when = Vec::new();
        if let Some(condition) = condition {
            if condition.scalar() == Some("otherwise") {
                otherwise += 1;
                when.push(Expect {
                    span: condition.span,
                    what: Expected::Otherwise,
                    at: None,
                    to: None,
                    lock: None,
                    times: 1,
                });
                if otherwise > 1 {
                    cx.error(condition.span, "only one choice can be `otherwise`");
                }
            } else {
                let all = cx.list(condition, "if", true);
                if all.is_empty() {
                    cx.error(condition.span, "`if: []` would always hold");
                }
                when.extend(all.iter().filter_map(|node| expect(cx, scene, node, false)));
            }
        }
        f.end(cx, "a choice");
        choices.push(Choice { text: text.unwrap_or_default(), when });
    }
    Answer::Choices(choices)
}

fn predict(cx: &mut Cx, scene: &Scene, node: &Node) -> Option<Answer> {
    let expect = expect(cx, scene, node, true)?;
    let asked = [expect.at, expect.to].into_iter().filter(|time| *time == Some(ExpectTime::Asked)).count();
    if asked != 1 {
        cx.error(node.span, "`predict` has one `_`: the time that the student types")
            .help("for example `predict: {granted: B, at: _}`");
    }
    Some(Answer::Predict(Box::new(expect)))
}
