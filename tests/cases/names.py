"""The names under which a format or a provider is known elsewhere, as `aaa.wire.rules` names it."""

__all__ = ["named"]

_ALIASES = {
    **dict.fromkeys(("chat-completions", "openai-chat-completions", "openai-completions"), "openai-chat"),
    **dict.fromkeys(("litellm", "any-llm", "aisuite"), "chat"),  # OpenAI's format, whoever is behind it
    **dict.fromkeys(("responses", "openai-response"), "openai-responses"),
    **dict.fromkeys(("claude", "anthropic-messages", "messages"), "anthropic"),
    **dict.fromkeys(("vertex-anthropic", "claude-vertex"), "anthropic-vertex"),
    **dict.fromkeys(("converse", "bedrock-converse", "aws-bedrock", "amazon-bedrock", "aws"), "bedrock"),
    **dict.fromkeys(("gemini-api", "google-ai", "google-genai", "generate-content", "generatecontent"), "gemini"),
    **dict.fromkeys(("vertex-ai", "vertexai", "gemini-vertex", "google-vertex"), "vertex"),
    **dict.fromkeys(("azure-openai", "openai-azure"), "azure"),
    **dict.fromkeys(("llama.cpp", "llama-cpp", "llama-cpp-python"), "llamacpp"),
    **dict.fromkeys(("lmstudio", "lm.studio"), "lm-studio"),
    **dict.fromkeys(("text-generation-inference", "hf-tgi"), "tgi"),
    **dict.fromkeys(("hf-inference", "hugging-face"), "huggingface"),
    **dict.fromkeys(("fireworks-ai", "fireworksai"), "fireworks"),
    **dict.fromkeys(("together-ai", "togetherai"), "together"),
    **dict.fromkeys(("grok", "x-ai"), "xai"),
    **dict.fromkeys(("kimi", "moonshot-ai", "moonshotai"), "moonshot"),
    **dict.fromkeys(("dashscope", "qwen"), "alibaba"),
    **dict.fromkeys(("glm", "zhipu", "z-ai", "z.ai"), "zai"),
    **dict.fromkeys(("github-models", "copilot", "github-copilot"), "github"),
    **dict.fromkeys(("mistralai", "mistral-ai"), "mistral"),
    **dict.fromkeys(("nim", "nvidia-nim"), "nvidia"),
    **dict.fromkeys(("open-router",), "openrouter"),
    **dict.fromkeys(("ollama-chat", "ollama-native"), "ollama"),
}


def named(name: str) -> str:
    """The one name of what has several; case, spaces and underscores do not matter."""
    plain = name.strip().lower().replace("_", "-").replace(" ", "-")
    return _ALIASES.get(plain, plain)
