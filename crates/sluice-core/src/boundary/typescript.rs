//! Generates the TypeScript types of the boundary from the Rust types and compares them with the committed file.
//! `UPDATE_EXPECT=1 cargo test -p sluice-core typescript` rewrites it.

use expect_test::expect_file;
use ts_rs::{Config, TS};

use super::*;
use crate::editor::{
    DEMO_BASE_URL, Reader, RejectedAnswer, ReportFacts, ShownRejection, StatusBarFacts, StatusBarView,
};
use crate::environment::{Environment, KEY_VARIABLES};
use crate::exchange::{
    Action, CompletionDetails, Drain, Elsewhere, Ending, ExchangeOptions, PromptDetails, Report, VsCodeUsage,
};
use crate::failure::{BodyRule, HttpResponse, Transport};
use crate::keys::KeptKey;
use crate::ledger::{Begun, Ended, LedgerModel};
use crate::message::{Language, Message, MessageCode};
use crate::models::ListState;
use crate::pace::Pace;
use crate::probe::{Card, Check, CheckResult, ProbeAnswer, ProbeEvent, ProbeFailure, ProbeOptions, ProbeStep, Topic};
use crate::receive::StreamOptions;
use crate::recording::Recording;
use crate::send::{Effort, Endpoint, Parameter};
use crate::sources::{GroupSource, SignInSource, SourceKey, Sources};
use crate::vault::QuestionId;
use crate::vercel::{NewSession, TokenState, VercelChoice, VercelProject, VercelSession, VercelTask, VercelTeam};

#[test]
fn typescript_types_are_fresh() {
    let config = Config::default();
    let declarations = [
        Part::decl(&config),
        ThinkingReplay::decl(&config),
        ReplayItem::decl(&config),
        ReplayMessage::decl(&config),
        ReasoningItem::decl(&config),
        Citation::decl(&config),
        Note::decl(&config),
        NoteKind::decl(&config),
        Outcome::decl(&config),
        Status::decl(&config),
        Empty::decl(&config),
        Failure::decl(&config),
        FailureKind::decl(&config),
        LoggedOutcome::decl(&config),
        LoggedFailure::decl(&config),
        Overflow::decl(&config),
        Usage::decl(&config),
        TokenDetails::decl(&config),
        Gateway::decl(&config),
        ChatRequest::decl(&config),
        ChatMessage::decl(&config),
        Role::decl(&config),
        ChatPart::decl(&config),
        ToolDefinition::decl(&config),
        ToolMode::decl(&config),
        ChatOptions::decl(&config),
        Routing::decl(&config),
        HttpRequest::decl(&config),
        Endpoint::decl(&config),
        KeptKey::decl(&config),
        Environment::decl(&config),
        Sources::decl(&config),
        SignInSource::decl(&config),
        GroupSource::decl(&config),
        SourceKey::decl(&config),
        ConnectionTask::decl(&config),
        ConnectionResult::decl(&config),
        FoundConnection::decl(&config),
        AddressQuestion::decl(&config),
        RoundEvent::decl(&config),
        RoundList::decl(&config),
        RoundModel::decl(&config),
        RoundView::decl(&config),
        HttpResponse::decl(&config),
        Transport::decl(&config),
        BodyRule::decl(&config),
        ExchangeOptions::decl(&config),
        StreamOptions::decl(&config),
        Pace::decl(&config),
        Effort::decl(&config),
        Parameter::decl(&config),
        Action::decl(&config),
        Report::decl(&config),
        Ending::decl(&config),
        Drain::decl(&config),
        Elsewhere::decl(&config),
        VsCodeUsage::decl(&config),
        PromptDetails::decl(&config),
        CompletionDetails::decl(&config),
        ModelList::decl(&config),
        ChatModel::decl(&config),
        ListedModel::decl(&config),
        ShownModel::decl(&config),
        LimitsFrom::decl(&config),
        ModelCapabilities::decl(&config),
        EffortChoices::decl(&config),
        Prices::decl(&config),
        PriceTier::decl(&config),
        ModelProvider::decl(&config),
        OtherModel::decl(&config),
        ModelSettings::decl(&config),
        ModelOverride::decl(&config),
        PriceCategory::decl(&config),
        ModelCategory::decl(&config),
        Settings::decl(&config),
        SettingProblem::decl(&config),
        ThinkingFallback::decl(&config),
        ListState::decl(&config),
        Estimate::decl(&config),
        RequestKind::decl(&config),
        QuestionId::decl(&config),
        RequestUsage::decl(&config),
        Totals::decl(&config),
        StatusLine::decl(&config),
        Level::decl(&config),
        Activity::decl(&config),
        TooltipLine::decl(&config),
        Reader::decl(&config),
        RejectedAnswer::decl(&config),
        ShownRejection::decl(&config),
        StatusBarFacts::decl(&config),
        StatusBarView::decl(&config),
        ReportFacts::decl(&config),
        Preflight::decl(&config),
        Message::decl(&config),
        Language::decl(&config),
        LedgerModel::decl(&config),
        Begun::decl(&config),
        Ended::decl(&config),
        Dialog::decl(&config),
        DialogStep::decl(&config),
        DialogRow::decl(&config),
        DialogInput::decl(&config),
        InputAnswer::decl(&config),
        DialogLevel::decl(&config),
        DialogModel::decl(&config),
        DialogConnection::decl(&config),
        ServerCheck::decl(&config),
        ConnectionTest::decl(&config),
        VercelAnswer::decl(&config),
        WorkStep::decl(&config),
        WorkResult::decl(&config),
        FileEntry::decl(&config),
        WorkTask::<VaultTask>::decl(&config),
        LedgerTask::decl(&config),
        VaultTask::decl(&config),
        RequestsTask::decl(&config),
        RecordingTask::decl(&config),
        SignInTask::decl(&config),
        SignInWork::decl(&config),
        SignInResult::decl(&config),
        ListTask::decl(&config),
        ListWork::decl(&config),
        Received::decl(&config),
        SpendLimits::decl(&config),
        SpendLimit::decl(&config),
        Verdict::decl(&config),
        SpendAction::decl(&config),
        LimitState::decl(&config),
        SpendPeriod::decl(&config),
        SpendChoice::decl(&config),
        RequestRecord::decl(&config),
        Timeline::decl(&config),
        CallTime::decl(&config),
        PieceRecord::decl(&config),
        PieceKind::decl(&config),
        PieceGroup::decl(&config),
        TokenUse::decl(&config),
        Cost::decl(&config),
        CostBasis::decl(&config),
        Forecast::decl(&config),
        CostRange::decl(&config),
        Lens::decl(&config),
        CacheBreak::decl(&config),
        Retry::decl(&config),
        Route::decl(&config),
        NoteCount::decl(&config),
        Finish::decl(&config),
        Recording::decl(&config),
        RecordsQuestion::decl(&config),
        TreeRow::decl(&config),
        TreeKind::decl(&config),
        RequestDetail::decl(&config),
        Expected::decl(&config),
        Phase::decl(&config),
        GroupTokens::decl(&config),
        PieceRow::decl(&config),
        OtherRequest::decl(&config),
        Comparison::decl(&config),
        ComparedRow::decl(&config),
        Change::decl(&config),
        VercelTask::decl(&config),
        VercelTeam::decl(&config),
        VercelProject::decl(&config),
        VercelChoice::decl(&config),
        VercelSession::decl(&config),
        NewSession::decl(&config),
        TokenState::decl(&config),
        ProbeOptions::decl(&config),
        ProbeStep::decl(&config),
        ProbeEvent::decl(&config),
        ProbeAnswer::decl(&config),
        ProbeFailure::decl(&config),
        Card::decl(&config),
        Check::decl(&config),
        CheckResult::decl(&config),
        Topic::decl(&config),
        RequestsQuestion::decl(&config),
        PreparedRequest::decl(&config),
        CatalogView::decl(&config),
        LogLevel::decl(&config),
        TokensQuestion::decl(&config),
        HistoryPeriod::decl(&config),
        HistoryRow::decl(&config),
    ];
    let mut file = String::from(
        "// Generated from crates/sluice-core/src/boundary by `UPDATE_EXPECT=1 cargo test -p sluice-core typescript`.\n\n\
         import type { MessageCode } from \"./messages.js\";\n",
    );
    for declaration in declarations {
        file.push_str("\nexport ");
        file.push_str(&declaration);
        file.push('\n');
    }
    file.push_str(&format!(
        "\n/** The rest of a longer response isn't recorded. */\nexport const MAX_RECORDED_RESPONSE = {};\n",
        Recording::MAX_RESPONSE
    ));
    let names = serde_json::json!(KEY_VARIABLES);
    file.push_str(&format!(
        "\n/** The environment variables that can have a key, in order of preference. */\nexport const KEY_VARIABLES = {names} as const;\n"
    ));
    file.push_str(&format!(
        "\n/** The address of the gateway inside an editor, to which nothing is sent. */\nexport const DEMO_BASE_URL = \"{DEMO_BASE_URL}\";\n"
    ));
    expect_file!["../../../../packages/loader/src/boundary.ts"].assert_eq(&file);
}

#[test]
fn typescript_messages_are_fresh() {
    let mut file = String::from(
        "// Generated from crates/sluice-core/src/message.rs by `UPDATE_EXPECT=1 cargo test -p sluice-core typescript`.\n\n\
         /** Every sentence that the core has for people, in English. */\nexport const MESSAGES = {\n",
    );
    for code in MessageCode::ALL {
        let (name, english) = (serde_json::json!(code), serde_json::json!(code.english()));
        file.push_str(&format!("  {}: {english},\n", name.as_str().unwrap_or_default()));
    }
    file.push_str("} as const;\n\nexport type MessageCode = keyof typeof MESSAGES;\n");
    expect_file!["../../../../packages/loader/src/messages.ts"].assert_eq(&file);
}
