"""What providers write when a prompt does not fit: data, one row a text.

A row is the provider's own words with its numbers as fields:

    {limit}    the most that goes in          {total}    prompt and asked output together
    {prompt}   the prompt's tokens            {output}   the output asked for
    {tools}    more of the prompt's tokens    {excess}   what the prompt has too much
    …          up to 80 characters            {number}   a number that means none of these

Rows are whole sentences and decide by themselves; `overflow_words` has what is known beyond them. Texts are compared in
the form that `plain` gives them. Sources: public issues, the source of the servers, documentation, November 2026.
"""

import re
from functools import cache
from typing import Literal

import msgspec

__all__ = ["EXACT", "NUMBER", "Kind", "OverflowText", "plain"]

Kind = Literal["tokens", "bytes", "silent"]

_GAP = ".{0,80}?"
NUMBER = r"(?<![\d,])(?P<%s>\d{1,3}(?:[,_']\d{3}){1,5}(?!\d)|\d{1,15})(?!\d)(?:\.0(?!\d))?"
"""A count as a group of a name to be given; TensorRT-LLM divides its own, and writes 9351.0."""
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3})")
_UNQUOTED = str.maketrans({"`": None, '"': None, "\\": None, "’": "'", "‘": "'", "“": None, "”": None})


class OverflowText(msgspec.Struct, frozen=True):
    """One text of one provider (`source`); `kind` is what its numbers count."""

    source: str
    template: str
    kind: Kind = "tokens"

    @property
    def pattern(self) -> re.Pattern[str]:
        """The row as a regular expression over plain text; each number is a group of its name."""
        return _compiled(self.template)


def plain(text: str) -> str:
    """A text in the form the rows are compared in: lower case, no quotes, single spaces."""
    text = _BETWEEN_DIGITS.sub(",", text).replace("\\n", " ").translate(_UNQUOTED)
    return " ".join(text.lower().split())


@cache
def _compiled(template: str) -> re.Pattern[str]:
    pieces = re.split(r"(…|\{\w+\})", plain(template))
    return re.compile("".join(_GAP if piece == "…" else _field(piece) for piece in pieces))


def _field(piece: str) -> str:
    return NUMBER % piece[1:-1] if piece.startswith("{") and piece.endswith("}") else re.escape(piece)


def _rows(source: str, *templates: str, kind: Kind = "tokens") -> tuple[OverflowText, ...]:
    return tuple(OverflowText(source, template, kind) for template in templates)


_WINDOW = "maximum context length is {limit} tokens"

EXACT: tuple[OverflowText, ...] = (
    *_rows(
        "OpenAI, Azure, DeepSeek",
        _WINDOW + "… requested {total} tokens ({prompt} in the messages, {output} in the completion)",
        _WINDOW + "… requested {total} tokens ({prompt} in the messages, {tools} in the functions)",
        _WINDOW + "… requested {total} tokens ({prompt} in the messages, {tools} in the functions, and {output} in the "
        "completion)",
        _WINDOW + "… requested {total} tokens ({prompt} in… prompt… {output} for the completion)",
        _WINDOW + "… messages resulted in {prompt} tokens",
        _WINDOW + "… requested {total} tokens",
        "input tokens exceed the configured limit of {limit} tokens… messages resulted in {prompt} tokens",
        "input exceeds the context window",
    ),
    *_rows(
        "OpenRouter",
        _WINDOW + "… requested about {total} tokens ({prompt} of text input)",
        _WINDOW + "… requested about {total} tokens ({prompt} of text input, {tools} of tool input)",
        _WINDOW + "… requested about {total} tokens ({prompt} of text input, {output} in the output)",
        _WINDOW
        + "… requested about {total} tokens ({prompt} of text input, {tools} of tool input, {output} in the output)",
        _WINDOW + "… requested about {total} tokens",
    ),
    *_rows(
        "Anthropic",
        "prompt is too long: {prompt} tokens > {limit} maximum",
        "input length and max_tokens exceed context limit: {prompt} + {output} > {limit}",
    ),
    *_rows(
        "Amazon Bedrock",
        "input is too long for requested model",
        "input tokens exceeded: number of input tokens exceeds maximum length",
        "number of input tokens exceeds maximum length",
        "prompt tokens ({prompt}) exceed model maximum ({limit})",
        _WINDOW + ". please reduce the length of the prompt",
    ),
    *_rows(
        "Amazon Bedrock",  # characters of one text
        "malformed input request: … expected maxlength: {limit}, actual: {prompt}",
        "malformed input request: … expected maxlength:",
        "malformed input request: expected maxlength: {limit}, actual: {prompt}",
        "malformed input request: expected maxlength:",
        "too many total text bytes",
        "value at 'body' failed to satisfy constraint: member must have length less than or equal to {limit}",
        kind="bytes",
    ),
    *_rows(
        "Gemini, Vertex",
        "input token count ({prompt}) exceeds the maximum number of tokens allowed ({limit})",
        "input token count exceeds the maximum number of tokens allowed ({limit})",
        "input token count exceeds the maximum number of tokens allowed {limit}",
        "input token count is {prompt} but model only supports up to {limit}",
    ),
    *_rows(
        "Gemini",
        "request payload size exceeds the limit: {limit} bytes",
        "message larger than max ({prompt} vs. {limit})",
        kind="bytes",
    ),
    *_rows(
        "Mistral",
        "prompt contains {prompt} tokens and {number} draft tokens, too large for model with {limit} maximum context",
        "prompt contains {prompt} tokens, too large for model with {limit} maximum context",
        "too large for model with {limit} maximum context length",
    ),
    *_rows(
        "Cohere",
        "size limit exceeded by {excess} tokens… the limit for this model is {limit} tokens",
        "size limit exceeded by {excess} tokens",
        "total number of tokens in the prompt cannot exceed {limit} - received {prompt}",
        "total number of tokens (prompt and prediction) cannot exceed {limit} - received {total}",
    ),
    *_rows(
        "Groq, Cerebras",
        "reduce the length of the messages or completion. current length is {prompt} while limit is {limit}",
        "please reduce the length of the messages or completion",
    ),
    *_rows("xAI", "maximum prompt length is {limit} but the request contains {prompt} tokens"),
    *_rows(
        "Together, SGLang, Fireworks",
        "input ({prompt} tokens) is longer than the model's context length ({limit} tokens)",
        "exceeds the model's maximum context length of {limit} tokens. you requested a total of {total} tokens: "
        "{prompt} tokens from the input messages and {output} tokens for the completion",
        "exceeds the model's maximum context length of {limit} tokens",
        "the prompt is too long: {prompt}, model maximum context length: {limit}",
    ),
    *_rows(
        "TGI, Hugging Face",
        "inputs tokens + max_new_tokens must be <= {limit}. given: {prompt} inputs tokens and {output} max_new_tokens",
        "inputs must have less than {limit} tokens. given: {prompt}",
    ),
    *_rows("axum, under TGI and others", "failed to buffer the request body: length limit exceeded", kind="bytes"),
    *_rows(
        "vLLM",
        _WINDOW + "… requested {output} output tokens and your prompt contains {prompt} input tokens",
        _WINDOW + "… requested {output} output tokens and your prompt contains at least {prompt} input tokens",
        _WINDOW + "… your prompt contains {number} characters",
        _WINDOW + "… your prompt contains at least {number} characters",
        _WINDOW + "… your request has {prompt} input tokens",
        "you passed {prompt} input tokens and requested {output} output tokens… context length is only {limit} tokens",
        "you passed {number} input characters and requested {output} output tokens… context length is only {limit} "
        "tokens",
        "too large: {output}. this model's " + _WINDOW + " and your request has {prompt} input tokens",
        "max_tokens must be at least 1, got -{excess}",
        "max_completion_tokens must be at least 1, got -{excess}",
        "prompt (length {prompt}) is longer than the maximum model length of {limit}",
        "prompt (total length {prompt}) is longer than the maximum model length of {limit}",
    ),
    *_rows(
        "llama-server",
        "({prompt} tokens) exceeds the available context size ({limit} tokens)",  # of a request, a prompt
        "exceeds the available context size",
    ),
    *_rows(
        "llama-cpp-python",
        "requested tokens ({prompt}) exceed context window of {limit}",
        "requested tokens ({prompt}) exceed batch size of {limit}",
    ),
    *_rows(
        "Ollama",
        "prompt is longer than the context length currently available to the model",
        "input length exceeds the context length",
        "input length exceeds maximum context length",
        "exceeded max context length by {excess} tokens",
    ),
    *_rows(
        "LM Studio",
        "is greater than the context length (n_keep: {prompt}>= n_ctx: {limit})",
        "is greater than the context length (n_keep: {prompt} >= n_ctx: {limit})",
        "tokens to keep from the initial prompt is greater than the context length",
        "trying to keep the first {prompt} tokens when context the overflows. however, the model is loaded with "
        "context length of only {limit} tokens",
        "cannot truncate prompt with n_keep ({prompt}) >= n_ctx ({limit})",
    ),
    *_rows(
        "transformers",
        "token indices sequence length is longer than the specified maximum sequence length for this model "
        "({prompt} > {limit})",
        "input length of input_ids is {prompt}, but max_length is set to {number}",  # a parameter, not the window
    ),
    *_rows(
        "TensorRT-LLM",
        "sum of prompt length ({prompt}), query length ({tools}) should not exceed max_num_tokens ({limit})",
        "sum of prompt length ({prompt})… query length ({tools})… max_tokens ({output}) should not exceed… ({limit})",
    ),
    *_rows(
        "Moonshot",
        "exceeded model token limit: {limit} (requested: {prompt})",
        "supports only {number}k context",  # with status 401: what the plan has of it
    ),
    *_rows("Moonshot", "total message size {prompt} exceeds limit {limit}", kind="bytes"),
    *_rows("SiliconFlow", "length of prompt_tokens ({prompt}) must be less than max_seq_len ({limit})"),
    *_rows("GitHub Models", "request body too large for … model. max size: {limit} tokens"),
    *_rows("MiniMax", "context window exceeds limit"),  # followed by (2013), which is a code
    *_rows("Qwen", "range of input length should be [1, {limit}]"),
    *_rows("z.ai", "prompt exceeds max length", "prompt 超长", "tokens in request more than max tokens allowed"),
    *_rows("Volcengine", "total tokens of image and text exceed max message tokens"),
    *_rows("GitHub Copilot", "prompt token count of {prompt} exceeds the limit of {limit}"),
    *_rows(
        "Cloudflare Workers AI",
        "estimated number of input and maximum output tokens ({total}) exceeded this model context window limit "
        "({limit})",
    ),
    *_rows("Snowflake", "max tokens of {limit} exceeded"),
    *_rows(
        "StepFun", "max_tokens + prompt_tokens should be less than the model's context length {limit}, but got {total}"
    ),
    *_rows("Poolside", "input length {prompt} exceeds the maximum allowed input length of {limit} tokens"),
    *_rows(
        "compatible servers",
        "input length ({prompt}) exceeds model's maximum context length ({limit})",
        "prompt has {prompt} tokens, but the configured context size is {limit} tokens",
        "prompt too long: {prompt} tokens exceeds max_seq_len {limit}",
        "total length of all messages is too long",
    ),
    *_rows("AI21", "prompt has too many tokens"),
    *_rows("Anthropic", "request exceeds the maximum size", "maximum allowed number of bytes", kind="bytes"),
    *_rows("OpenAI", "maximum content size limit ({limit}) exceeded ({prompt} bytes", kind="bytes"),
    *_rows(
        "web servers and gateways",
        "request entity too large",
        "payload too large",
        "request body too large",
        "request body is too large",
        "request too large: {prompt} bytes",
        kind="bytes",
    ),
)
"""Whole sentences. Of those that match, the one that gives most numbers counts; among equals the first."""
