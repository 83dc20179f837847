//! Errors about the gateway's own budgets: whose budget is used up, and when it starts again.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use sluice_core::{Failure, HttpResponse};

/// Sunday, 6 November 1994, 08:49:37 GMT.
const NOW: u64 = 784_111_777;

fn check(status: u16, body: &str, expected: Expect) {
    let failure = Failure::from_http(&HttpResponse { status, headers: Vec::new(), body: body.to_owned() }, NOW);
    assert!(!failure.may_retry);
    expected.assert_eq(&format!("{:?}, final: {}", failure.kind, failure.sentence()));
}

#[test]
fn an_error_says_whose_budget_is_used_up_and_when_it_starts_again() {
    let budget = |more: &str| {
        let message = r#"Quota limit exceeded for \"api_key_id_x\". Current spend: $25.00, limit: $25.00."#;
        format!(r#"{{"error":{{"message":"{message}","type":"quota_for_entity_exceeded"{more}}}}}"#)
    };
    check(
        402,
        &budget(""),
        expect![[
            r#"NoCredit, final: Quota limit exceeded for "api_key_id_x". Current spend: $25.00, limit: $25.00. It is the budget of this API key. The gateway did not say when it starts again. Budgets by day, week or month start again at midnight (UTC). Add credit or raise the budget."#
        ]],
    );
    check(
        402,
        &budget(r#","param":{"refreshPeriod":"daily","scopeType":"user"}"#),
        expect![[
            r#"NoCredit, final: Quota limit exceeded for "api_key_id_x". Current spend: $25.00, limit: $25.00. It is your own budget in the team. It starts again on 1994-11-07 (UTC). Add credit or raise the budget."#
        ]],
    );
    check(
        402,
        &budget(r#","refreshPeriod":"weekly","scopeType":"project""#),
        expect![[
            r#"NoCredit, final: Quota limit exceeded for "api_key_id_x". Current spend: $25.00, limit: $25.00. It is the budget of the project. It starts again on 1994-11-07 (UTC). Add credit or raise the budget."#
        ]],
    );
    check(
        402,
        &budget(r#","refreshPeriod":"monthly","scopeType":"team""#),
        expect![[
            r#"NoCredit, final: Quota limit exceeded for "api_key_id_x". Current spend: $25.00, limit: $25.00. It is the budget of the team. It starts again on 1994-12-01 (UTC). Add credit or raise the budget."#
        ]],
    );
    check(
        402,
        &budget(r#","refreshPeriod":"none""#),
        expect![[
            r#"NoCredit, final: Quota limit exceeded for "api_key_id_x". Current spend: $25.00, limit: $25.00. It is the budget of this API key. It does not start again by itself. Add credit or raise the budget."#
        ]],
    );
    check(
        402,
        &budget(r#","resetsAt":"2026-12-01T00:00:00.000Z""#),
        expect![[
            r#"NoCredit, final: Quota limit exceeded for "api_key_id_x". Current spend: $25.00, limit: $25.00. It is the budget of this API key. It starts again on 2026-12-01 00:00 (UTC). Add credit or raise the budget."#
        ]],
    );
    check(
        402,
        &budget(r#","resetsAt":"2026-12-01[x](command:y)""#),
        expect![[
            r#"NoCredit, final: Quota limit exceeded for "api_key_id_x". Current spend: $25.00, limit: $25.00. It is the budget of this API key. The gateway did not say when it starts again. Budgets by day, week or month start again at midnight (UTC). Add credit or raise the budget."#
        ]],
    );
}
