//! Models that several keys have.

use std::collections::BTreeMap;

use crate::link_free::link_free;

/// Returns an id and a name to show for each model of a connection, other than those of the models that were listed before. The agent
/// host selects a model by its id, and a subagent by its name, and neither knows which key a model belongs to.
///
/// `listed` has the server's ids of the models that were listed before, `label` is the name of the connection, and `models` are
/// its models with their ids and names.
pub(crate) fn distinguish(listed: &[String], label: &str, models: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for id in listed {
        *times.entry(id).or_default() += 1;
    }
    let other = |(id, name): (String, String)| match times.get(id.as_str()) {
        None => (id, name),
        Some(times) => {
            // Two keys may have the same name.
            let label = if *times > 1 { format!("{label} {times}") } else { label.to_owned() };
            (format!("{id}#{}", label.replace(' ', "-")), format!("{name} ({label})"))
        }
    };
    let shown = |(id, name): (String, String)| (link_free(&id), link_free(&name));
    models.into_iter().map(other).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::distinguish;

    #[test]
    fn a_model_that_was_listed_gets_the_name_of_its_key() {
        let listed = |times: usize| vec!["a/m".to_owned(); times];
        let named = |times| distinguish(&listed(times), "My key", vec![("a/m".to_owned(), "M".to_owned())]).remove(0);
        let name = |id: &str, name: &str| (id.to_owned(), name.to_owned());
        assert_eq!(named(0), name("a/m", "M"));
        assert_eq!(named(1), name("a/m#My-key", "M (My key)"));
        assert_eq!(named(2), name("a/m#My-key-2", "M (My key 2)"));
    }
}
