//! Everything that an editor asks the core apart from reading answers: where requests go, what is sent, which models
//! there are.
//!
//! It is a separate module because the adapter package, which only reads answers, needs none of it, and because the
//! first answer must not wait for it. How questions and answers cross is documented in `sluice-bridge`.

use std::cell::RefCell;

use sluice_bridge::{ANSWER, PROBLEM, to_json};
use sluice_core::{
    BadAddress, BodyRule, BuildRequest, Counter, DialogWork, EditorState, Endpoint, HttpRequest, Language,
    PreparedRequest, Probe, Reader, RequestsQuestion, RequestsTask, Secrets, ToolOrder, Vault, WorkTask, log_line,
    log_outcome, logged_model, question_id, read_settings, settings_schema, vercel_session,
};

thread_local! {
    /// The loader gives the vault in it to every new instance.
    static STATE: EditorState = EditorState::default();
    static TOOL_ORDER: RefCell<ToolOrder> = RefCell::default();
    /// The running test of a server.
    static PROBE: RefCell<Option<Probe>> = const { RefCell::new(None) };
    /// The dialog with the user.
    static DIALOG: RefCell<Option<DialogWork>> = const { RefCell::new(None) };
}

/// Answers the [`RequestsQuestion`] in the first `length` bytes of the window.
#[unsafe(no_mangle)]
pub extern "C" fn ask(length: u32) {
    sluice_bridge::answer(length, answer);
}

/// Carries out a [`WorkTask`]. The bridge's function explains the numbers.
#[unsafe(no_mangle)]
pub extern "C" fn work(length: u32, number: u32, is_content: u32) {
    sluice_bridge::work(length, number, is_content, |task: WorkTask<RequestsTask>| {
        STATE.with(|state| task.start(state))
    });
}

/// Answers with the text in the first `length` bytes of the window, in which nothing can be clicked.
#[unsafe(no_mangle)]
pub extern "C" fn link_free(length: u32) {
    sluice_bridge::with(|bridge| {
        let (text, answer) = bridge.parts(length);
        let text = sluice_core::link_free(&String::from_utf8_lossy(text));
        answer.clear();
        answer.row(ANSWER, &text);
        answer.publish([0; 2]);
    });
}

fn with_vault<R>(use_vault: impl FnOnce(&mut Vault) -> R) -> R {
    STATE.with(|state| state.vault.with(use_vault))
}

fn with_language<R>(use_language: impl FnOnce(&Language) -> R) -> R {
    STATE.with(|state| state.language.with(|language| use_language(language)))
}

fn answer(question: RequestsQuestion) -> Result<String, String> {
    match question {
        RequestsQuestion::SetLanguage(language) => {
            STATE.with(|state| state.language.with(|known| *known = language));
            to_json(&())
        }
        RequestsQuestion::ParseEndpoint(address) => match Endpoint::parse_confirmed(&address) {
            Ok(endpoint) => to_json(&endpoint),
            Err(BadAddress(problem)) => to_json(&problem),
        },
        RequestsQuestion::Round(event) => {
            to_json(&STATE.with(|state| state.rounds.with(|rounds| rounds.handle(event))))
        }
        RequestsQuestion::OpenVault { file, now_ms } => {
            with_vault(|vault| vault.merge(Vault::read(file.as_bytes()), now_ms));
            to_json(&())
        }
        RequestsQuestion::Remember { entry, question, refused, now_ms } => to_json(&with_vault(|vault| {
            if let Some(chat) = &refused {
                vault.reject(chat, now_ms);
            }
            vault.remember(&entry, question, now_ms) || refused.is_some()
        })),
        RequestsQuestion::SaveVault {} => {
            to_json(&with_vault(|vault| String::from_utf8(vault.to_bytes()).unwrap_or_default()))
        }
        RequestsQuestion::ClearVault { now_ms } => {
            with_vault(|vault| vault.clear(now_ms));
            to_json(&())
        }
        RequestsQuestion::LeaveOut { body, parameters } => {
            let request = HttpRequest { method: String::new(), url: String::new(), headers: Vec::new(), body };
            to_json(&request.without(&parameters).body)
        }
        RequestsQuestion::BodyRule { status } => match BodyRule::for_status(status) {
            Ok(rule) => to_json(&rule),
            Err(transport) => to_json(&transport),
        },
        RequestsQuestion::EstimateText { model, text } => to_json(&Counter::estimating().text(&model, &text)),
        RequestsQuestion::EstimateMessage { model, message } => {
            to_json(&Counter::estimating().message(&model, &message))
        }
        RequestsQuestion::ReadSettings { values, environment } => to_json(&read_settings(&values, &environment)),
        RequestsQuestion::VercelSession { stored, now } => to_json(&vercel_session(&stored, now, 0.0)),
        RequestsQuestion::StartProbe(options) => {
            let probe = Probe::new(options);
            let step = to_json(&probe.poll());
            PROBE.set(Some(probe));
            step
        }
        RequestsQuestion::ContinueProbe(event) => PROBE.with_borrow_mut(|probe| {
            let probe = probe.as_mut().ok_or("no test is running")?;
            probe.handle(&event);
            to_json(&probe.poll())
        }),
        RequestsQuestion::StartDialog(dialog) => {
            let mut dialog = DialogWork::new(dialog);
            let step = to_json(&dialog.next(None));
            DIALOG.set(Some(dialog));
            step
        }
        RequestsQuestion::ContinueDialog(answer) => DIALOG.with_borrow_mut(|dialog| {
            let dialog = dialog.as_mut().ok_or("there is no dialog")?;
            to_json(&dialog.next(Some(answer)))
        }),
        RequestsQuestion::AnnounceProbe {} => to_json(&Probe::announcement()),
        RequestsQuestion::ShowCard { card, label, title, nonce, secrets } => {
            with_language(|language| to_json(&card.show((&label, &title, &nonce), language, &Secrets::new(secrets))))
        }
        RequestsQuestion::Reader { initiator, is_incremental } => {
            let reader = Reader::of(&initiator);
            to_json(&(reader, reader.pace(is_incremental)))
        }
        RequestsQuestion::ShowRejection(answer) => with_language(|language| to_json(&answer.show(language))),
        RequestsQuestion::ShowStatus(facts) => with_language(|language| to_json(&facts.show(language))),
        RequestsQuestion::Report(facts) => to_json(&facts.into_report()),
        RequestsQuestion::SettingsSchema(ids) => to_json(&settings_schema(&ids)),
        RequestsQuestion::LogOutcome { model, outcome, message, retry_ms } => {
            to_json(&log_outcome(&model, &outcome, message.as_deref(), retry_ms))
        }
        RequestsQuestion::LoggedModel(id) => to_json(&logged_model(&id)),
        RequestsQuestion::Redact { secrets, text } => to_json(&log_line(&Secrets::new(secrets), &text)),
        RequestsQuestion::Mask { secrets, mut value } => {
            Secrets::new(secrets).mask_value(&mut value);
            to_json(&value)
        }
    }
}

/// Turns a chat into a request. The first `length` bytes of the window are [`BuildRequest`] as JSON. Answers with the
/// [`PreparedRequest`], then the body as bytes, then the JSON of the chat if the vault changed it. As parts of a JSON
/// answer, the last two would be escaped and copied several times.
#[unsafe(no_mangle)]
pub extern "C" fn build_request(length: u32) {
    sluice_bridge::with(|bridge| {
        let prepared = bridge.read(length).and_then(prepare);
        bridge.answer.clear();
        match prepared {
            Ok((prepared, body, chat)) => {
                bridge.answer.json_row(ANSWER, &prepared);
                bridge.answer.bytes_row(body.as_bytes());
                if let Some(chat) = chat {
                    bridge.answer.bytes_row(chat.as_bytes());
                }
            }
            Err(problem) => bridge.answer.row(PROBLEM, &problem),
        }
        bridge.answer.publish([0; 2]);
    });
}

fn parse(address: &str) -> Result<Endpoint, String> {
    // The shell asked the user whether the address may be used, if necessary.
    Endpoint::parse_confirmed(address).map_err(|problem| problem.to_string())
}

/// Returns a request without its body, the body, and the chat as JSON with what the vault added or removed and with its tools
/// in their usual order, if that changed anything. This is what is sent and counted.
fn prepare(question: BuildRequest) -> Result<(PreparedRequest, String, Option<String>), String> {
    let BuildRequest { mut chat, base_url, without, now_ms } = question;
    let endpoint = parse(&base_url)?;
    let mut is_restored = with_vault(|vault| vault.restore(&mut chat, &endpoint.origin, now_ms));
    is_restored |= TOOL_ORDER.with_borrow_mut(|order| order.restore(&chat.model, &mut chat.tools));
    let mut built = sluice_core::build_request(&chat, &endpoint).without(&without);
    let body = std::mem::take(&mut built.request.body);
    let restored = if is_restored { Some(to_json(&chat)?) } else { None };
    let question = question_id(&chat);
    let Endpoint { origin, base_url, .. } = endpoint;
    Ok((PreparedRequest { built, origin, base_url, model: chat.model, question }, body, restored))
}
