//! Pages on which users can do something about a failure. They are the only addresses that shells may show as links.

use crate::boundary::FailureKind;

struct Pages {
    origin: &'static str,
    keys: &'static str,
    billing: &'static str,
}

const KNOWN: [Pages; 3] = [
    Pages {
        origin: "https://ai-gateway.vercel.sh",
        keys: "https://vercel.com/d?to=%2F%5Bteam%5D%2F%7E%2Fai-gateway%2Fapi-keys",
        billing: "https://vercel.com/d?to=%2F%5Bteam%5D%2F%7E%2Fai-gateway",
    },
    Pages {
        origin: "https://api.openai.com",
        keys: "https://platform.openai.com/api-keys",
        billing: "https://platform.openai.com/settings/organization/billing",
    },
    Pages {
        origin: "https://openrouter.ai",
        keys: "https://openrouter.ai/settings/keys",
        billing: "https://openrouter.ai/settings/credits",
    },
];

/// Returns the page on which the user can solve a problem with this server.
pub(crate) fn help_page(kind: FailureKind, origin: &str) -> Option<&'static str> {
    match kind {
        FailureKind::SignIn => keys_page(origin),
        FailureKind::NoCredit => Some(pages(origin)?.billing),
        _ => None,
    }
}

/// Returns the page on which users create keys for this server.
pub(crate) fn keys_page(origin: &str) -> Option<&'static str> {
    Some(pages(origin)?.keys)
}

fn pages(origin: &str) -> Option<&'static Pages> {
    KNOWN.iter().find(|pages| pages.origin == origin)
}
