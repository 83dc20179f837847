//! Converts the server's list of models to what VS Code shows: only models that can chat, under the names that Copilot's
//! prompts look for, with limits, capabilities and prices.
//!
//! 1. `wire/models.rs` reads the list.
//! 2. `models/catalog.rs` keeps it, knows how old it is, and survives bad responses.
//! 3. `models/identity.rs`, `capabilities.rs`, `limits.rs` and `prices.rs` each answer one question about a model;
//!    `families.rs` has what is known about families.
//! 4. `models/rules.rs` decides which models are hidden, favourites or the default.
//! 5. `models/overrides.rs` applies what the user set for single models, and `models/recommend.rs` chooses among many.
//! 6. `models/describe.rs` describes a model to people.
//! 7. `models/credits.rs` decides whether a key is valid.
//! 8. `models/lists.rs` does all of this for the connections of an editor.

mod capabilities;
mod catalog;
mod credits;
mod describe;
mod distinguish;
mod families;
mod identity;
mod limits;
mod lists;
mod overrides;
mod prices;
mod recommend;
mod rules;

use std::collections::{BTreeMap, BTreeSet};

use crate::boundary::{
    ChatModel, ModelList, ModelOverride, ModelProvider, ModelSettings, Note, NoteKind, OtherModel, Prices,
};
use crate::message::{Message, MessageCode};
use crate::send::Parameter;
use crate::wire::{MOST_WORDS, Model, Models, ProviderEndpoint};

use identity::Identity;
use limits::{LimitSources, TokenLimits};
pub(crate) use overrides::Overrides;
pub use overrides::{OverrideField, edit_override, override_form};
pub(crate) use rules::Pattern;
use rules::Rules;

pub(crate) use capabilities::EFFORTS;
pub use catalog::{ListState, ModelCatalog, Refresh};
pub use credits::{Credit, KeyCheck, KeyState, check_key};
pub(crate) use describe::capitalized;
pub(crate) use distinguish::distinguish;
pub use lists::ModelLists;
pub use rules::{finds_model, similar_models};

/// The maximum number of notes about single models. Further ones are only counted.
const MOST_NOTES: usize = 10;

/// What is known about a model in addition to the list.
#[derive(Clone, Debug, Default)]
struct Facts {
    endpoints: Option<(Model, Vec<ProviderEndpoint>)>,
    learned: Option<u32>,
    refused: Vec<Parameter>,
}

fn model_list(wire: Models, facts: &BTreeMap<String, Facts>, settings: &ModelSettings, now: u64) -> ModelList {
    let mut list = ModelList::default();
    let mut problems = Vec::new();
    let hide = Rules::parse(&settings.hide, &mut problems);
    let favourites = Rules::parse(&settings.favourites, &mut problems);
    let default = Rules::parse(&settings.default, &mut problems);
    let overrides = Overrides::parse(settings, &mut problems);

    let (mut nameless, mut repeated) = (0, BTreeSet::new());
    let mut seen = BTreeSet::new();
    for mut model in wire.models {
        let Some(id) = model.id.take() else {
            nameless += 1;
            continue;
        };
        if !seen.insert(id.clone()) {
            repeated.insert(id);
            continue;
        }
        if let Some(kind) = capabilities::other_kind(&model, &id) {
            list.others.push(other_model(id, &model, kind));
            continue;
        }
        let none = Facts::default();
        let facts = facts.get(&id).unwrap_or(&none);
        let setting = overrides.of(&id);
        let model = chat_model(id, model, facts, setting, settings.effort.as_deref(), now);
        list.models.push(ChatModel { is_favourite: favourites.hold_for(&model.id), ..model });
    }

    if !seen.is_empty() {
        problems.extend(overrides.unused(&seen).map(|text| Message::new(MessageCode::OverrideUnused, [&text])));
    }
    hide_models(&mut list, &hide, &mut problems);
    let ids: Vec<&str> = list.models.iter().map(|model| model.id.as_str()).collect();
    let chosen = default.first_of(&ids).and_then(|id| list.models.iter().position(|model| model.id == id));
    let chosen = chosen.or_else(|| recommend::default_model(&list.models));
    let small = recommend::small_model(&list.models).or(chosen);
    let has_favourites = list.models.iter().any(|model| model.is_favourite);
    let featured = if has_favourites { Vec::new() } else { recommend::featured(&list.models) };
    for (code, rules) in [(MessageCode::FavouriteUnknown, &favourites), (MessageCode::DefaultUnknown, &default)] {
        // Before the first list has arrived, no pattern can match. That is not a mistake.
        let unknown = rules.idle(&ids).filter(|_| !ids.is_empty());
        problems.extend(unknown.map(|pattern| Message::new(code, [&pattern])));
    }
    for (index, model) in list.models.iter_mut().enumerate() {
        model.is_default = chosen == Some(index);
        model.is_small_default = small == Some(index);
        model.is_featured = model.is_default || model.is_favourite || featured.contains(&index);
    }
    list.models.sort_by_key(|model| !model.is_favourite);

    let mut note = |message| list.notes.push(Note::for_people(NoteKind::ModelList, vec![message]));
    if wire.left_out > 0 {
        note(Message::new(MessageCode::ListTooLong, [&wire.left_out]));
    }
    if nameless > 0 {
        note(Message::new(MessageCode::ListUnreadable, [&nameless]));
    }
    repeated.iter().take(MOST_NOTES).for_each(|id| note(Message::new(MessageCode::ListedTwice, [id])));
    if repeated.len() > MOST_NOTES {
        note(Message::new(MessageCode::MoreListedTwice, [&(repeated.len() - MOST_NOTES)]));
    }
    list.notes.extend(problems.into_iter().map(|problem| Note::for_people(NoteKind::Setting, vec![problem])));
    list
}

fn chat_model(
    id: String,
    mut model: Model,
    facts: &Facts,
    setting: ModelOverride,
    effort: Option<&str>,
    now: u64,
) -> ChatModel {
    let mut providers = Vec::new();
    if let Some((more, endpoints)) = &facts.endpoints {
        enrich(&mut model, more, endpoints);
        providers = endpoints.iter().map(model_provider).collect();
    }
    let Identity { creator, family, version } = Identity::of(&id);
    let creator = if creator.is_empty() { model.creator.clone().unwrap_or_default() } else { creator };
    let most_output = facts.refused.iter().find_map(|parameter| match parameter {
        Parameter::MostOutputTokens(most) => Some(u64::from(*most)),
        _ => None,
    });
    let limits = TokenLimits::of(LimitSources {
        window: model.context_window,
        output: model.max_output.into_iter().chain(most_output).min(),
        providers: &providers,
        learned: facts.learned,
        setting: Some(&setting),
    });
    let prices = Prices::of(&model.pricing);
    let tail = || id.rsplit('/').next().filter(|tail| !tail.is_empty()).unwrap_or(&id).to_owned();
    let name = model.name.clone().unwrap_or_else(tail);
    let mut chat = ChatModel {
        family,
        version,
        max_input_tokens: limits.input,
        max_output_tokens: limits.output,
        context_window: limits.window,
        limits_from: limits.from,
        sent_output_tokens: limits.sent_output,
        capabilities: capabilities::capabilities(&model, &id, Some(&setting)),
        detail: describe::creator_name(&creator),
        tooltip: Vec::new(),
        pricing: prices.as_ref().map(Prices::messages).unwrap_or_default(),
        price: prices.as_ref().and_then(Prices::in_and_out),
        price_category: prices.as_ref().and_then(Prices::category),
        prices,
        category: describe::category(&id),
        info: Vec::new(),
        warning: None,
        context_sizes: limits::smaller_windows(limits.window),
        effort: capabilities::effort_choices(&model, setting.effort.as_deref().or(effort)),
        is_user_selectable: true,
        is_favourite: false,
        is_featured: false,
        is_default: false,
        is_small_default: false,
        creator,
        description: model.description,
        released: model.released,
        deprecated_at: model.deprecated_at,
        knowledge: model.knowledge,
        tags: model.tags,
        regions: model.regions,
        parameters: model.parameters,
        zero_data_retention: model.zero_data_retention,
        providers,
        refused: facts.refused.clone(),
        overrides: setting,
        id,
        name,
    };
    chat.tooltip = describe::tooltip(&chat);
    chat.info = describe::info(&chat);
    chat.warning = describe::warning(&chat, now);
    chat
}

/// Adds the capabilities of a model's providers: the gateway picks a provider that can do what is asked.
fn enrich(model: &mut Model, more: &Model, endpoints: &[ProviderEndpoint]) {
    let add = |list: &mut Vec<String>, more: &mut dyn Iterator<Item = &String>| {
        let mut known: BTreeSet<String> = list.iter().cloned().collect();
        for word in more {
            if list.len() < MOST_WORDS && known.insert(word.clone()) {
                list.push(word.clone());
            }
        }
    };
    let active = || endpoints.iter().filter(|endpoint| is_active(endpoint));
    add(&mut model.parameters, &mut active().flat_map(|endpoint| &endpoint.parameters));
    let caching = "implicit-caching".to_owned();
    let caching = active().any(|endpoint| endpoint.implicit_caching == Some(true)).then_some(&caching);
    add(&mut model.tags, &mut active().flat_map(|endpoint| &endpoint.tags).chain(caching));
    add(&mut model.inputs, &mut more.inputs.iter());
    add(&mut model.outputs, &mut more.outputs.iter());
    model.reasoning_mandatory = model.reasoning_mandatory.or(more.reasoning_mandatory);
    model.description = model.description.take().or_else(|| more.description.clone());
    if Prices::of(&model.pricing).is_none() {
        let cheapest = |a: &&ProviderEndpoint, b: &&ProviderEndpoint| {
            let price = |endpoint: &ProviderEndpoint| endpoint.pricing.output.unwrap_or(f64::MAX);
            price(a).total_cmp(&price(b))
        };
        let offer = active().min_by(cheapest);
        model.pricing = offer.map(|endpoint| endpoint.pricing.clone()).unwrap_or_default();
    }
}

fn is_active(endpoint: &ProviderEndpoint) -> bool {
    endpoint.status.is_none_or(|status| status >= 0)
}

fn model_provider(endpoint: &ProviderEndpoint) -> ModelProvider {
    let tokens = |tokens: Option<u64>| tokens.and_then(limits::plausible_window);
    ModelProvider {
        name: endpoint.provider.clone().unwrap_or_else(|| "unknown".to_owned()),
        is_active: is_active(endpoint),
        context_window: tokens(endpoint.context_window),
        max_output_tokens: tokens(endpoint.max_output),
        max_input_tokens: tokens(endpoint.max_input),
        prices: Prices::of(&endpoint.pricing),
        quantization: endpoint.quantization.clone(),
        uptime: endpoint.uptime,
        latency_ms: endpoint.latency_ms,
        tokens_per_second: endpoint.tokens_per_second,
    }
}

fn other_model(id: String, model: &Model, kind: String) -> OtherModel {
    let prices = Prices::of(&model.pricing);
    OtherModel { name: model.name.clone().unwrap_or_else(|| id.clone()), id, kind, prices }
}

/// Moves hidden models to the other models. If the rules hide every model, none is hidden, because VS Code forgets the
/// selected model as soon as a list is empty.
fn hide_models(list: &mut ModelList, hide: &Rules, problems: &mut Vec<Message>) {
    let is_hidden = |model: &ChatModel| model.overrides.hidden.unwrap_or_else(|| hide.hold_for(&model.id));
    if !list.models.is_empty() && list.models.iter().all(is_hidden) {
        problems.push(MessageCode::EverythingHidden.into());
        return;
    }
    let (hidden, shown) = std::mem::take(&mut list.models).into_iter().partition(is_hidden);
    list.models = shown;
    let hidden: Vec<ChatModel> = hidden;
    list.others.extend(hidden.into_iter().map(|model| OtherModel {
        id: model.id,
        name: model.name,
        kind: "hidden".to_owned(),
        prices: model.prices,
    }));
}
