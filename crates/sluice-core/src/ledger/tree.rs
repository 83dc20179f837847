//! Which request of a conversation continues which. Agents continue, go back, and start other requests at the same
//! time.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::boundary::RequestUsage;

/// The maximum number of conversations, and of requests in each. The oldest are removed first.
const MAX_CONVERSATIONS: usize = 100;
const MAX_REQUESTS: usize = 100;

/// One request of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TreeNode {
    /// The id of the request.
    pub id: String,
    /// The request whose prompt shares the longest prefix with this one.
    pub continues: Option<String>,
    /// How many pieces (frame, tools, instructions, items) it has, and how many of them it shares with that request.
    pub pieces: usize,
    /// How many pieces of the prompt this request repeats from its parent.
    pub shared_pieces: usize,
    /// What it used; `None` while it runs.
    pub used: Option<RequestUsage>,
}

#[derive(Debug, Default)]
pub(super) struct RequestTree {
    conversations: BTreeMap<String, ConversationTree>,
    begun: u64,
}

#[derive(Debug, Default)]
struct ConversationTree {
    /// The number of its newest request. Later requests have higher numbers.
    newest: u64,
    nodes: Vec<TreeNode>,
    /// For every node, the hashes of its prefixes. Two prompts with a common prefix have the same ones.
    chains: Vec<Vec<u128>>,
}

impl RequestTree {
    /// Adds a request. Returns the request with the longest common prefix, and how many pieces that prefix has.
    pub(super) fn begin(&mut self, conversation: &str, id: &str, chain: Vec<u128>) -> Option<(String, usize)> {
        self.begun += 1;
        let known = self.conversations.entry(conversation.to_owned()).or_default();
        known.newest = self.begun;
        let shared = |other: &Vec<u128>| other.iter().zip(&chain).take_while(|(a, b)| a == b).count();
        // If several have the same amount in common, this is the newest of them.
        let parent = known
            .chains
            .iter()
            .zip(&known.nodes)
            .map(|(chain, node)| (shared(chain), node))
            .max_by_key(|(shared, _)| *shared);
        let parent = parent.filter(|(shared, _)| *shared > 0);
        let parent = parent.map(|(shared, node)| (node.id.clone(), shared));
        let node = TreeNode {
            id: id.to_owned(),
            continues: parent.as_ref().map(|(id, _)| id.clone()),
            pieces: chain.len(),
            shared_pieces: parent.as_ref().map_or(0, |(_, shared)| *shared),
            used: None,
        };
        if known.nodes.len() == MAX_REQUESTS {
            known.nodes.remove(0);
            known.chains.remove(0);
        }
        known.nodes.push(node);
        known.chains.push(chain);
        if self.conversations.len() > MAX_CONVERSATIONS {
            let oldest = self.conversations.iter().min_by_key(|(_, conversation)| conversation.newest);
            let oldest = oldest.map(|(id, _)| id.clone());
            oldest.map(|id| self.conversations.remove(&id));
        }
        parent
    }

    pub(super) fn end(&mut self, conversation: &str, used: &RequestUsage) {
        let Some(conversation) = self.conversations.get_mut(conversation) else { return };
        if let Some(node) = conversation.nodes.iter_mut().rev().find(|node| node.id == used.id) {
            node.used = Some(used.clone());
        }
    }

    pub(super) fn of(&self, conversation: &str) -> &[TreeNode] {
        self.conversations.get(conversation).map_or(&[], |conversation| &conversation.nodes)
    }
}
