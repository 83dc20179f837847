//! The rounds in which VS Code asks for models.

#![expect(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::ModelRounds;

/// Checks what is done after these events. Each may list models, whose first is the default.
fn check(events: &[Value], expected: Expect) {
    let mut rounds = ModelRounds::default();
    let mut seen = String::new();
    for event in events {
        let view = rounds.handle(serde_json::from_value(event.clone()).unwrap());
        let names = view.names.iter().map(|(id, name)| format!("{id} = {name}"));
        let demo = view.demo.map(|id| format!("{id} is {}", if view.is_demo_offered { "offered" } else { "hidden" }));
        let dialogs = view.dialogs.iter().map(|(name, dialog)| format!("{name}: {dialog:?}"));
        let more = [(view.awaits_groups, "awaits groups"), (view.must_repeat, "must repeat")];
        let more = more.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| what.to_owned());
        let all: Vec<String> = names.chain(demo).chain(more).chain(dialogs).collect();
        let name = event.as_str().or_else(|| event.as_object()?.keys().next().map(String::as_str)).unwrap();
        seen += &format!("{name}: {}\n", all.join(", "));
    }
    expected.assert_eq(&seen);
}

fn list(label: &str, ids: &[&str]) -> Value {
    let model = |(index, id): (usize, &&str)| json!({"id": id, "name": id.to_uppercase(), "isDefault": index == 0});
    json!({"label": label, "models": ids.iter().enumerate().map(model).collect::<Vec<_>>()})
}

fn began() -> Value {
    json!("began")
}

fn ungrouped(lists: &[Value]) -> Value {
    json!({ "ungrouped": lists })
}

fn group(ids: &[&str]) -> Value {
    json!({"group": list("group", ids)})
}

#[test]
fn the_demo_is_offered_while_there_are_no_other_models() {
    check(
        &[began(), ungrouped(&[]), began(), ungrouped(&[list("a", &[])])],
        expect![[r#"
            began: 
            ungrouped: sluice/demo is offered, greeted: Greet
            began: 
            ungrouped: sluice/demo is offered, greeted: Greet
        "#]],
    );
    check(
        &[began(), ungrouped(&[list("a", &["m"])])],
        expect![[r#"
            began: 
            ungrouped: m = M, choseDefault: StartWith("m")
        "#]],
    );
}

#[test]
fn a_demo_that_was_offered_is_only_hidden() {
    let own = ungrouped(&[list("a", &["m"])]);
    check(
        &[began(), ungrouped(&[]), began(), own.clone(), began(), own],
        expect![[r#"
            began: 
            ungrouped: sluice/demo is offered, greeted: Greet
            began: 
            ungrouped: m = M, sluice/demo is hidden, choseDefault: StartWith("m")
            began: 
            ungrouped: m = M, sluice/demo is hidden, choseDefault: StartWith("m")
        "#]],
    );
    // A server has a model with the same id, which must not get the demo's answers.
    check(
        &[began(), ungrouped(&[]), began(), ungrouped(&[list("a", &["sluice/demo"])])],
        expect![[r#"
            began: 
            ungrouped: sluice/demo is offered, greeted: Greet
            began: 
            ungrouped: sluice/demo = SLUICE/DEMO, choseDefault: StartWith("sluice/demo")
        "#]],
    );
}

#[test]
fn the_models_of_a_group_hide_the_demo() {
    check(
        &[
            began(),
            ungrouped(&[]),
            group(&[]),
            group(&["m"]),
            began(),
            ungrouped(&[]),
            group(&["m"]),
            json!("groupsDue"),
        ],
        expect![[r#"
            began: 
            ungrouped: sluice/demo is offered, greeted: Greet
            group: 
            group: m = M, must repeat, choseDefault: StartWith("m")
            began: 
            ungrouped: sluice/demo is hidden, awaits groups
            group: m = M, choseDefault: StartWith("m")
            groupsDue: 
        "#]],
    );
}

#[test]
fn a_round_is_repeated_when_a_group_disappears() {
    check(
        &[began(), ungrouped(&[]), group(&["m"]), began(), ungrouped(&[]), json!("groupsDue"), began(), ungrouped(&[])],
        expect![[r#"
            began: 
            ungrouped: sluice/demo is offered, greeted: Greet
            group: m = M, must repeat, choseDefault: StartWith("m")
            began: 
            ungrouped: sluice/demo is hidden, awaits groups
            groupsDue: must repeat
            began: 
            ungrouped: sluice/demo is offered, greeted: Greet
        "#]],
    );
}

#[test]
fn models_of_several_connections_have_different_names() {
    check(
        &[began(), ungrouped(&[list("a", &["m"]), list("b", &["m", "n"])]), group(&["m"]), began(), group(&["m"])],
        expect![[r#"
            began: 
            ungrouped: m = M, m#b = M (b), n = N, choseDefault: StartWith("m")
            group: m#group-2 = M (group 2), choseDefault: StartWith("m#group-2")
            began: 
            group: m = M, choseDefault: StartWith("m")
        "#]],
    );
}
