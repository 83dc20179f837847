//! The rounds in which VS Code asks for models: which names they get, when the demo is offered, and when another round is needed.

use crate::boundary::{Dialog, RoundEvent, RoundList, RoundView};
use crate::models::distinguish;

/// The built-in gateway's model for conversations; its other models are for tests.
const DEMO_MODEL: &str = "sluice/demo";

/// The current round, and what is known from earlier ones.
#[derive(Debug, Default)]
pub struct ModelRounds {
    /// The server's ids of the models that were listed in this round, except the demo.
    listed: Vec<String>,
    /// Whether a group has listed models in this round, and in the one before.
    group_has_models: bool,
    group_had_models: bool,
    demo: Demo,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Demo {
    /// It was never offered.
    #[default]
    Unknown,
    /// The user can choose it.
    Offered,
    /// It was offered, and a chat may still be using it.
    Hidden,
}

impl ModelRounds {
    /// Something happened. Returns what to do about it.
    pub fn handle(&mut self, event: RoundEvent) -> RoundView {
        let mut view = RoundView::default();
        match event {
            RoundEvent::Began => {
                self.group_had_models = std::mem::take(&mut self.group_has_models);
                self.listed.clear();
            }
            RoundEvent::Ungrouped(lists) => {
                for list in lists {
                    self.list(list, &mut view);
                }
                let has_models = !view.names.is_empty();
                // The group may have been removed.
                view.awaits_groups = self.group_had_models && !has_models;
                if !self.group_had_models && !has_models {
                    self.demo = Demo::Offered;
                    view.dialogs.push(("greeted", Dialog::Greet));
                } else if self.demo == Demo::Offered {
                    self.demo = Demo::Hidden;
                }
                // A server may have a model with the same id, which would get the demo's answers.
                let is_taken = view.names.iter().any(|(id, _)| id == DEMO_MODEL);
                view.demo = (self.demo != Demo::Unknown && !is_taken).then(|| DEMO_MODEL.to_owned());
                view.is_demo_offered = self.demo == Demo::Offered;
            }
            RoundEvent::Group(list) => {
                self.list(list, &mut view);
                self.group_has_models |= !view.names.is_empty();
                view.must_repeat = self.group_has_models && self.demo == Demo::Offered;
            }
            // If there is no group any more, another round offers the demo.
            RoundEvent::GroupsDue => view.must_repeat = !self.group_has_models,
        }
        view
    }

    /// Adds the models of a connection to the current round.
    fn list(&mut self, RoundList { label, models }: RoundList, view: &mut RoundView) {
        let names = models.iter().map(|model| (model.id.clone(), model.name.clone())).collect();
        let names = distinguish(&self.listed, &label, names);
        if view.dialogs.is_empty()
            && let Some((_, (id, _))) = models.iter().zip(&names).find(|(model, _)| model.is_default)
        {
            view.dialogs.push(("choseDefault", Dialog::StartWith(id.clone())));
        }
        self.listed.extend(models.into_iter().map(|model| model.id));
        view.names.extend(names);
    }
}
