//! The servers that count some models in a way of their own, and how they are recognized.

/// A server that counts some models in a way of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Server {
    /// The gateway, or any server that nothing is known about.
    Gateway,
    /// Google's AI Studio.
    Studio,
    Azure,
    Bedrock,
    Cerebras,
    DeepSeek,
    Groq,
    HuggingFace,
    OpenRouter,
    Together,
}

impl Server {
    /// Returns the server at an address.
    pub(super) fn at(base_url: &str) -> Self {
        let hosts = [
            ("generativelanguage.googleapis.com", Self::Studio),
            (".azure.com", Self::Azure),
            ("bedrock-", Self::Bedrock),
            ("api.cerebras.ai", Self::Cerebras),
            ("api.deepseek.com", Self::DeepSeek),
            ("api.groq.com", Self::Groq),
            ("router.huggingface.co", Self::HuggingFace),
            ("openrouter.ai", Self::OpenRouter),
            ("api.together.", Self::Together),
        ];
        let address = base_url.to_ascii_lowercase();
        hosts.iter().find(|(host, _)| address.contains(host)).map_or(Self::Gateway, |(_, server)| *server)
    }

    /// Returns the server that a model's id names, as in `moonshotai/kimi-k2:groq`, or whose way of naming it follows, as
    /// in `meta.llama3-3-70b-instruct-v1:0`.
    pub(super) fn named_in(model: &str) -> Option<Self> {
        let (name, variant) = model.rsplit_once(':').unwrap_or((model, ""));
        match variant {
            "groq" => Some(Self::Groq),
            _ if name.ends_with("-v1") => Some(Self::Bedrock),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenizer::Family;

    #[test]
    fn servers_are_known_by_their_address_or_by_the_models_id() {
        let cases = [
            ("https://ai-gateway.vercel.sh/v1", "moonshotai/kimi-k2", Server::Gateway, 18),
            ("https://generativelanguage.googleapis.com/v1beta", "gemini-3-pro", Server::Studio, 0),
            ("https://name.openai.azure.com/openai/v1", "grok-4-fast-reasoning", Server::Azure, 0),
            ("https://api.deepseek.com", "deepseek-v4-flash", Server::DeepSeek, 82),
            ("https://API.groq.com/openai/v1", "moonshotai/kimi-k2-instruct", Server::Groq, 18),
            ("https://router.huggingface.co/v1", "moonshotai/kimi-k2-instruct:groq", Server::HuggingFace, 18),
        ];
        for (address, model, server, added) in cases {
            assert_eq!(Server::at(address), server, "{address}");
            let row = Family::at_server(model, server);
            assert_eq!(if row.default_prompt > 0 { row.default_prompt } else { row.request }, added, "{model}");
        }
        let long = Family::at_server("llama-3.1-8b", Server::at("https://router.huggingface.co/v1"));
        assert_eq!(long.tools, Family::at_server("llama3.1-8b", Server::at("https://api.cerebras.ai/v1")).tools);
        assert_ne!(long.tools, Family::of("llama-3.1-8b").tools);
        let by_id = Family::at_server("moonshotai/kimi-k2-instruct:groq", Server::Gateway);
        assert_eq!(by_id.tools, Family::at_server("moonshotai/kimi-k2-instruct", Server::Groq).tools);
        assert_ne!(by_id.tools, Family::of("moonshotai/kimi-k2-instruct").tools);
        let bedrock = Family::at_server("llama-3.3-70b", Server::at("https://bedrock-runtime.eu-west-1.amazonaws.com"));
        assert_eq!(Family::at_server("us.meta.llama3-3-70b-instruct-v1:0", Server::Gateway).tools, bedrock.tools);
    }
}
