"""Each text that means "the prompt does not fit" is known, with its numbers; what only looks like one is not."""
# ruff: noqa: E501 - one text a line, as it is sent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.messages import Message, TextPart, Usage
from aaa.wire.fault_body import Fault, fault_from
from aaa.wire.overflow import ContextOverflow, look_alike, overflow_of_finish, recognize
from aaa.wire.overflow_texts import EXACT, plain


def tokens(limit=None, requested=None, output=None, excess=None, *, both=False):
    return ContextOverflow(limit=limit, requested=requested, counts_output=both, output=output, excess=excess)


def of_bytes(limit=None, requested=None):
    return ContextOverflow(limit=limit, requested=requested, kind="bytes")


WINDOW = "This model's maximum context length is 8192 tokens."
VLLM_END = "Please reduce the length of the input prompt or the number of requested output tokens."

# fmt: off
TEXTS = [
    # OpenAI, Azure, DeepSeek
    (f"{WINDOW} However, your messages resulted in 9001 tokens. Please reduce the length of the messages.", tokens(8192, 9001)),
    (f"{WINDOW} However, you requested 10025 tokens (9001 in the messages, 1024 in the completion). Please reduce the length of the messages or completion.", tokens(8192, 9001, 1024)),
    (f"{WINDOW} However, your messages resulted in 9051 tokens (9001 in the messages, 50 in the functions). Please reduce the length of the messages or functions.", tokens(8192, 9051)),
    (f"{WINDOW} However, you requested 10075 tokens (9001 in the messages, 50 in the functions, and 1024 in the completion). Please reduce the length of the messages, functions, or completion.", tokens(8192, 9051, 1024)),
    ("This model's maximum context length is 4097 tokens, however you requested 5360 tokens (5104 in your prompt; 256 for the completion). Please reduce your prompt; or completion length.", tokens(4097, 5104, 256)),
    ("This model's maximum context length is 4097 tokens, however you requested 4696 tokens (3672 in your prompt, 1024 for the completion).", tokens(4097, 3672, 1024)),
    ("This model's maximum context length is 8193 tokens. However, you requested 9000 tokens (8000 in the prompt; 1000 for the completion).", tokens(8193, 8000, 1000)),
    (f"{WINDOW} However, you requested 10025 tokens. Please reduce the length.", tokens(8192, 10025, both=True)),
    ("Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 280123 tokens. Please reduce the length of the messages.", tokens(272000, 280123)),
    ("Your input exceeds the context window of this model. Please adjust your input and try again.", tokens()),
    # Anthropic, Bedrock, Vertex
    ("prompt is too long: 210094 tokens > 200000 maximum", tokens(200000, 210094)),
    ("prompt is too long: 210,094 tokens > 200,000 maximum", tokens(200000, 210094)),
    ("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again", tokens(200000, 188240, 21333)),
    ("Request exceeds the maximum size", of_bytes()),
    ("The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum", tokens(200000, 200049)),
    ("The model returned the following errors: Input is too long for requested model.", tokens()),
    ("The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.", tokens()),
    ("This model's maximum context length is 131072 tokens. Please reduce the length of the prompt", tokens(131072)),
    ("too many total text bytes", of_bytes()),
    ("Malformed input request: expected maxLength: 50000, actual: 61234, please reformat your input and try again.", of_bytes(50000, 61234)),
    ("Malformed input request: #/texts/0: expected maxLength: 2048, actual: 9000", of_bytes(2048, 9000)),
    ("1 validation error detected: Value at 'body' failed to satisfy constraint: Member must have length less than or equal to 25000000", of_bytes(25000000)),
    ("Too many input tokens", tokens()),
    ("Too many input tokens. Max input tokens: 8192, request input token count: 9917", tokens(8192, 9917)),
    ("prompt tokens (140000) exceed model maximum (131072)", tokens(131072, 140000)),
    # Gemini
    ("The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).", tokens(1048576, 1200293)),
    ("The input token count exceeds the maximum number of tokens allowed (1048576).", tokens(1048576)),
    ("The input token count exceeds the maximum number of tokens allowed 1048576.", tokens(1048576)),
    ("The request's total size exceeds 20 MB limit for inline data.", of_bytes()),
    ("Unable to submit request because the input token count is 40000 but model only supports up to 32768.", tokens(32768, 40000)),
    ("Request payload size exceeds the limit: 20971520 bytes", of_bytes(20971520)),
    ("Sent message larger than max (29971520 vs. 20971520)", of_bytes(20971520, 29971520)),
    # Mistral, Cohere, Groq, xAI, Together, Fireworks, OpenRouter, Cerebras
    ("Prompt contains 40960 tokens and 0 draft tokens, too large for model with 32768 maximum context length", tokens(32768, 40960)),
    ("too many tokens: size limit exceeded by 1100 tokens. Try using shorter or fewer inputs. The limit for this model is 128000 tokens.", tokens(128000, 129100, excess=1100)),
    ("too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.", tokens(4081, 5000)),
    ("too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354.", tokens(2048, 6354, both=True)),
    ("too many tokens: minimal context could not be added to prompt (size limit exceeded by 77 tokens)", tokens(excess=77)),
    ("Please reduce the length of the messages or completion.", tokens()),
    ("This model's maximum prompt length is 131072 but the request contains 136973 tokens.", tokens(131072, 136973)),
    ("The input (140000 tokens) is longer than the model's context length (131072 tokens).", tokens(131072, 140000)),
    ("The input (140000 tokens) is longer than the model’s context length (131072 tokens).", tokens(131072, 140000)),
    ("The prompt is too long: 140000, model maximum context length: 131072", tokens(131072, 140000)),
    ("This endpoint's maximum context length is 200000 tokens. However, you requested about 213555 tokens (200001 of text input, 3555 of tool input, 9999 in the output). Please reduce the length of either one, or use the context-compression plugin to compress your prompt automatically.", tokens(200000, 203556, 9999)),
    ("This endpoint's maximum context length is 200000 tokens. However, you requested about 210000 tokens (200001 of text input, 9999 in the output). Please reduce the length of either one.", tokens(200000, 200001, 9999)),
    ("This endpoint's maximum context length is 200000 tokens. However, you requested about 201326 tokens (197771 of text input, 3555 of tool input). Please reduce the length of either one, or use the \"middle-out\" transform.", tokens(200000, 201326)),
    ("Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192", tokens(8192, 9000)),
    # TGI, vLLM, SGLang
    ("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 512 `max_new_tokens`", tokens(4096, 4000, 512)),
    ("Input validation error: `inputs` must have less than 4095 tokens. Given: 5000", tokens(4095, 5000)),
    ("length limit exceeded", tokens()),
    (f"{WINDOW} However, you requested 512 output tokens and your prompt contains 8000 input tokens, for a total of 8512 tokens. {VLLM_END}", tokens(8192, 8000, 512)),
    (f"{WINDOW} However, you requested 0 output tokens and your prompt contains at least 8193 input tokens, for a total of at least 8193 tokens. {VLLM_END} (parameter=input_tokens, value=8193)", tokens(8192, 8193, 0)),
    ("You passed 8000 input tokens and requested 512 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 7680 tokens. Please reduce the length of the input prompt.", tokens(8192, 8000, 512)),
    ("You passed 80000 input characters and requested 512 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 7680 tokens.", tokens(8192, None, 512)),
    (f"{WINDOW} However, your request has 9000 input tokens. Please reduce the length of the input messages. (parameter=input_tokens, value=9000)", tokens(8192, 9000)),
    (f"'max_tokens' or 'max_completion_tokens' is too large: 1024. {WINDOW[:-1]} and your request has 7500 input tokens (1024 > 8192 - 7500).", tokens(8192, 7500, 1024)),
    ("max_tokens must be at least 1, got -186.", tokens(excess=186)),
    ("The decoder prompt (length 9000) is longer than the maximum model length of 8192.", tokens(8192, 9000)),
    ("Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 140000 tokens: 130000 tokens from the input messages and 10000 tokens for the completion. Please reduce it.", tokens(131072, 130000, 10000)),
    ("503 litellm.ServiceUnavailableError: APIConnectionError: OpenAIException - Requested token count exceeds the model's maximum context length of 131072 tokens.", tokens(131072)),
    ("The sum of prompt length (9351.0), query length (0) should not exceed max_num_tokens (8192)", tokens(8192, 9351)),
    ("The sum of prompt length (32000.0) and query length (8) max_tokens (2000) should not exceed max_seq_len (32768)", tokens(32768, 32008, 2000)),
    # llama.cpp, Ollama, LM Studio, transformers
    ("prompt (7912 tokens) exceeds the available context size (4096 tokens)", tokens(4096, 7912)),
    ("n_tokens (9000) >= n_ctx (8192)", tokens(8192, 9000)),
    ("request (60179 tokens) exceeds the available context size (60160 tokens), try increasing it", tokens(60160, 60179)),
    ("the request exceeds the available context size. try increasing the context size or enable context shift", tokens()),
    ("Requested tokens (9000) exceed context window of 8192", tokens(8192, 9000)),
    ("Requested tokens (9000) exceed batch size of 512", tokens(512, 9000)),
    ("the prompt is longer than the context length currently available to the model; shorten the prompt, adjust the context length in settings, or use a model with a longer context length", tokens()),
    ("the input length exceeds the context length", tokens()),
    ("prompt too long; exceeded max context length by 100918 tokens", tokens(excess=100918)),
    ("The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length.", tokens()),
    ("The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096).", tokens(4096, 13055)),
    ("The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 10247 >= n_ctx: 4096). Try to load", tokens(4096, 10247)),
    ("Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.", tokens(32768, 111490)),
    ("Cannot truncate prompt with n_keep (5000) >= n_ctx (4096)", tokens(4096, 5000)),
    ("litellm.ContextWindowExceededError: AnthropicException - prompt is too long: 210094 tokens > 200000 maximum", tokens(200000, 210094)),
    ("Token indices sequence length is longer than the specified maximum sequence length for this model (5000 > 1024). Running this sequence through the model will result in indexing errors", tokens(1024, 5000)),
    ("Input length of input_ids is 500, but `max_length` is set to 20. This can lead to unexpected behavior.", tokens(None, 500)),
    # others
    ("Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)", tokens(262144, 291351)),
    ("invalid params, context window exceeds limit (2013)", tokens()),
    ("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]", tokens(129024)),
    ("Prompt too long", tokens()),
    ("Prompt 超长", tokens()),
    ("Prompt exceeds max length", tokens()),
    ("prompt token count of 65446 exceeds the limit of 64000", tokens(64000, 65446)),
    ("The estimated number of input and maximum output tokens (33000) exceeded this model context window limit (32000)", tokens(32000, 33000, both=True)),
    ("Input length 131393 exceeds the maximum allowed input length of 131040 tokens.", tokens(131040, 131393)),
    ("Input length (265330) exceeds model's maximum context length (262144).", tokens(262144, 265330)),
    ("Prompt has 5,958,968 tokens, but the configured context size is 256,000 tokens", tokens(256000, 5958968)),
    ("Prompt too long: 9000 tokens exceeds max_seq_len 8192", tokens(8192, 9000)),
    ("Prompt has too many tokens", tokens()),
    ("Prompt has too many tokens: 300000, max allowed 262144", tokens(262144, 300000)),
    ("max tokens of 200000 exceeded", tokens(200000)),
    ("max_tokens + prompt_tokens should be less than the model's context length 32768, but got 33000", tokens(32768, 33000, both=True)),
    ("kimi supports only 256K context. Your request is too long.", tokens()),
    ("Codex ran out of room in the model's context window. Start a new thread or clear earlier history.", tokens()),
    ("the max input characters is 516096", tokens()),
    ("Total message token length exceed model limit (131072 tokens).", tokens(131072)),
    ("input is too long", tokens()),
    ("The total length of all messages is too long.", tokens()),
    ("Total tokens of image and text exceed max message tokens.", tokens()),
    ("tokens in request more than max tokens allowed", tokens()),
    # nobody's in particular
    ("context window exceeded", tokens()),
    ("Context size limit reached", tokens()),
    ("The conversation is too long for this model", tokens()),
    ("Your request of 9,000 tokens exceeds the context window of 8,192 tokens", tokens(8192, 9000)),
    ("sequence too big (9000 > 8192): larger than the model's context length", tokens(8192, 9000)),
    ("This model's maximum context length is 128,000 tokens", tokens(128000)),
    ("Too long for a context window of 8192 tokens", tokens(8192)),
    ("Token limit exceeded", tokens()),
    ("Prompt length 12000 exceeds maximum input length 8192", tokens(8192, 12000)),
    ("Input length 133121 exceeds the maximum length 131072", tokens(131072, 133121)),
    ("length of prompt_tokens (163841) must be less than max_seq_len (163840).", tokens(163840, 163841)),
    ("The number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model.", tokens(8192, 9000)),
    ("The number of tokens in the prompt (9001) exceeds the model's context window (8192)", tokens(8192, 9001)),
    ("Your request exceeds the maximum number of input tokens: 128000", tokens(128000)),
    ("request exceeds 128000 tokens", tokens(128000)),
    ("token count 203783 exceeds model max context 202752", tokens(202752, 203783)),
    ("Prompt has 40000 tokens which exceeds the maximum context of 32768", tokens(32768, 40000)),
    ("total tokens exceeds the model's max of 4096", tokens(4096)),
    ("Total tokens 9000 exceed limit 8192 of the model", tokens(8192, 9000)),
    ("input length exceeds the limit of 32000 tokens", tokens(32000)),
    ("Prompt tokens too long", tokens()),
    ("Request too long: 9000 tokens (limit: 8192)", tokens(8192, 9000)),
    ("The request has 9000 tokens, but this model supports at most 8192", tokens(8192, 9000)),
    ("the prompt has 9000 tokens which is more than the 8192 tokens the model can handle", tokens(8192, 9000)),
    ("Prompt (9000 tokens) does not fit into the context of 8192 tokens", tokens(8192, 9000)),
    ("prompt length 9000 over context window 8192", tokens(8192, 9000)),
    ("This model only supports 8192 tokens of context, but you sent 9000", tokens(8192, 9000)),
    ("Conversation is too long for this model (9,000 tokens, max 8,192)", tokens(8192, 9000)),
    ("max_model_len=8192 exceeded by prompt of 9000 tokens", tokens(8192, 9000)),
    ("Context limit reached: 9000/8192 tokens", tokens(8192, 9000)),
    ("input tokens (9000) > max input tokens (8192)", tokens(8192, 9000)),
    ("prompt tokens (300) + max_tokens (50000) > max model len (40960)", tokens()),
    ("input_tokens + max_tokens must be less than the context length", tokens()),
    ("The document exceeds the context window of 8192 tokens", tokens(8192)),
    ("input is too long for this model: got 33000 tokens, limit 32768", tokens(32768, 33000)),
    ("Token limit exceeded. Max context: 32000, got: 35000", tokens(32000, 35000)),
    ("Your request exceeded model token limit: 131072", tokens(131072)),
    ("Request body too large for gpt-4o model. Max size: 8000 tokens.", tokens(8000)),
    ("prompt tokens (40961) + max_tokens (100) > max model len (40960)", tokens()),
    ("input length exceeds session_len", tokens()),
    ("Input tokens exceed the model's limit", tokens()),
    ("CONTENT_LENGTH_EXCEEDS_THRESHOLD", tokens()),
    ("Prompt is too long: an input of 5000000 characters exceeds 4000000 characters", tokens()),
    ("total message size 4200000 exceeds limit 2097152", of_bytes(2097152, 4200000)),
    ("Too many tokens", tokens()),
    ("slot unavailable, n_ctx too small", tokens()),
    ("输入内容超出模型的最大长度限制", tokens()),
    ("模型上下文长度为8192，请求长度为9000，超出限制", tokens(8192, 9000)),
    ("您的请求超过了模型的最大上下文长度限制 8192 tokens", tokens(8192)),
    ("コンテキスト長を超えています (9000 > 8192)", tokens(8192, 9000)),
    ("Maximum content size limit (26214400) exceeded (26296321 bytes read)", of_bytes(26214400, 26296321)),
    ("upstream: Request Entity Too Large", of_bytes()),
    ("request body size exceeds the configured maximum", of_bytes()),
    ("Failed to buffer the request body: length limit exceeded", of_bytes()),
]
# fmt: on


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_a_text_is_known_with_its_numbers_whatever_the_status(text, expected):
    for status in (None, 200, 400, 413, 422, 500):
        assert recognize(fault_from(status, {}, {"error": {"message": text}})) == expected


@pytest.mark.parametrize("row", EXACT, ids=lambda row: row.template[:60])
def test_every_row_knows_its_own_words(row):
    numbers = iter(range(1001, 1100))
    text = "".join(
        str(next(numbers)) if piece.startswith("{") else piece
        for piece in row.template.replace("…", " – ").replace("{", "\0{").replace("}", "}\0").split("\0")
    )

    found = recognize(Fault(400, {}, text, text))

    assert found is not None
    assert found.kind == row.kind


LOOK_ALIKES = {
    "OpenAI, tokens a minute": (
        "rate",
        "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 31538. "
        "The input or output tokens must be reduced in order to run successfully.",
    ),
    "OpenAI, wait": (
        "rate",
        "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 28000, "
        "Requested 4000. Please try again in 4s.",
    ),
    "Groq, 413": (
        "rate",
        "Request too large for model `m` in organization `o` service tier `on_demand` on tokens per minute (TPM): "
        "Limit 8000, Requested 14137, please reduce your message size and try again.",
    ),
    "Bedrock": ("rate", "ThrottlingException: Too many tokens, please wait before trying again."),
    "Cerebras": ("rate", "Tokens per day limit exceeded - too many tokens processed. (token_quota_reached)"),
    "a minute": ("rate", "Too many tokens per minute"),
    "limit of a minute": ("rate", "This request exceeds the limit of 30000 tokens per minute"),
    "a minute, with a slash": ("rate", "Request too large for the model. Tokens/min limit 30000, requested 31538"),
    "a day": ("rate", "Daily token limit exceeded"),
    "a plan": ("rate", "You've hit your limit · resets 3pm"),
    "OpenAI, output": (
        "output",
        "max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided "
        "200000.",
    ),
    "Anthropic, output": (
        "output",
        "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for claude",
    ),
    "Bedrock, output": ("output", "The maximum tokens you requested exceeds the model limit of 4096."),
    "Cohere, output": (
        "output",
        "too many tokens: max tokens must be less than or equal to 4096, the maximum output length for this model - "
        "received 100000.",
    ),
    "Groq, output": (
        "output",
        "`max_completion_tokens` must be less than or equal to `32768`, the maximum value for `max_completion_tokens` "
        "is less than the `context_window` for this model",
    ),
    "DeepSeek, output": ("output", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"),
    "Gemini, output": (
        "output",
        "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 "
        "(inclusive) to 65537 (exclusive).",
    ),
    "more output than the window": (
        "output",
        "This endpoint's maximum context length is 262144 tokens. However, you requested about 284283 tokens (8963 of "
        "text input, 13176 of tool input, 262144 in the output).",
    ),
    "a long string": (
        "field",
        "Invalid 'messages[5].content': string too long. Expected a string with maximum length 10485760, but got a "
        "string with length 10605342 instead.",
    ),
    "many tools": ("field", "Invalid 'tools': array too long. Expected an array with maximum length 128, but got 200."),
    "a field above its most": ("output", "Invalid value for 'max_output_tokens': 200000. Must be at most 128000."),
    "an output limit": ("output", "Output token limit exceeded: max_tokens 70000 exceeds the limit of 65536"),
    "Anthropic, images": ("media", "Too much media: 0 document pages + 104 images > 100"),
    "Anthropic, large images": (
        "media",
        "messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size "
        "for many-image requests: 2000 pixels",
    ),
    "Anthropic, one image": (
        "media",
        "messages.7.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
    ),
    "Groq, images": ("media", "Too many images provided. This model supports up to 5 images"),
    "vLLM, images": ("media", "At most 1 image(s) may be provided in one prompt."),
    "a sound": ("media", "Audio file too large: 30 MB > 25 MB"),
    "more output than allowed": ("output", "The request exceeds the maximum number of output tokens: 8192"),
    "llama-server, shared cache": ("shared cache", "Context size has been exceeded."),
}


@pytest.mark.parametrize(("kind", "text"), LOOK_ALIKES.values(), ids=LOOK_ALIKES)
def test_what_looks_like_an_overflow_is_none_whatever_the_status(kind, text):
    for status in (None, 200, 400, 413, 429, 500):
        fault = fault_from(status, {}, {"error": {"message": text}})
        assert recognize(fault) is None
        assert look_alike(fault) == kind


@pytest.mark.parametrize(
    "text", ["prompt tokens limit exceeded: 14000 > 9000", "prompt is too long: 9 tokens > 8 maximum"]
)
def test_what_is_not_paid_for_is_no_overflow_whatever_the_words(text):
    assert recognize(fault_from(402, {}, {"error": {"message": text, "code": 402}})) is None


def test_words_that_overflows_share_are_those_of_a_rate_limit_or_a_key_under_their_status():
    assert recognize(fault_from(429, {}, "Too many tokens")) is None
    assert recognize(fault_from(401, {}, "token expired, or token limit exceeded for this key")) is None
    assert recognize(fault_from(401, {}, "the model supports only 256K context")) == tokens()
    assert recognize(fault_from(429, {}, "prompt is too long: 210094 tokens > 200000 maximum")) == tokens(
        200000, 210094
    )


@pytest.mark.parametrize(
    "text",
    [
        "Overloaded",
        "context deadline exceeded",
        "net/http: request canceled (Client.Timeout exceeded while awaiting headers)",
        "invalid function arguments json string, tool_call_id: call_function_1 (2013)",
        "messages: text content blocks must be non-empty",
        "Unterminated string in the tool call arguments",
        "model runner crashed unexpectedly",
        "The model `x` does not exist",
        "1 validation error detected: Value at 'toolConfig.tools.1.member.toolSpec.name' failed to satisfy constraint: "
        "Member must have length less than or equal to 64",
        "max_tokens must be at least 1, got 0.",
        "Requested 20000 output tokens but the model supports at most 8192",
        "max_tokens (20000) exceeds the model's maximum output of 8192",
        "The request has 200 tools, but this model supports at most 128",
        "The input has 300 messages but at most 100 are allowed",
        "Function description of 1500 tokens exceeds 1024 tokens",
        "stop: total length exceeds 4096",
        "The image is too small",
        "Could not process image",
        "The request exceeds the number of tokens left today",
        "",
    ],
)
def test_other_failures_are_no_overflow(text):
    assert recognize(fault_from(400, {}, {"error": {"message": text}})) is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"type": "error", "error": {"type": "invalid_request_error", "code": "context_length_exceeded"}}, tokens()),
        ({"type": "response.failed", "response": {"error": {"code": "context_length_exceeded"}}}, tokens()),
        ({"error": {"type": "request_too_large"}}, of_bytes()),
        (
            {"error": {"type": "exceed_context_size_error", "message": "?", "n_prompt_tokens": 1407, "n_ctx": 256}},
            tokens(256, 1407),
        ),
        ({"error": {"code": "string_above_max_length", "type": "context_length_exceeded"}}, None),
        ({"error": {"code": "rate_limit_exceeded", "message": "Please reduce your input"}}, None),
        ({"error": {"code": "1261", "message": "Prompt exceeds max length"}}, tokens()),
    ],
)
def test_codes_decide_where_the_text_is_lost(body, expected):
    assert recognize(fault_from(None, {}, body)) == expected


def test_the_class_of_an_exception_decides_where_all_else_is_lost():
    assert recognize(fault_from(400, {}, "", type_name="ContextWindowExceededError")) == tokens()
    assert recognize(fault_from(None, {}, ValueError("Requested tokens (9) exceed context window of 8"))) == tokens(
        8, 9
    )


@pytest.mark.parametrize("nothing", [None, "", b"", {}, "413 status code (no body)", "400 status code (no body)"])
def test_an_empty_413_is_one_of_bytes_and_an_empty_400_says_nothing_but_at_cerebras(nothing):
    assert recognize(fault_from(413, {}, nothing)) == of_bytes()
    assert recognize(fault_from(400, {}, nothing)) is None
    assert recognize(fault_from(400, {}, nothing), provider="cerebras") == tokens()
    assert recognize(fault_from(413, {}, nothing), provider="cerebras") == tokens()
    assert recognize(fault_from(429, {}, nothing), provider="cerebras") is None


def test_the_outermost_message_that_says_something_decides():
    inner = {"message": "prompt is too long: 210094 tokens > 200000 maximum"}
    outer = {"error": {"message": "Provider returned error", "metadata": {"previous_errors": [inner]}}}
    limited = {"error": {"message": "Rate limit reached", "metadata": {"previous_errors": [inner]}}}

    assert recognize(fault_from(400, {}, outer)) == tokens(200000, 210094)
    assert recognize(fault_from(429, {}, limited)) is None


def test_a_reply_that_speaks_of_overflows_is_none():
    reply = {"choices": [{"message": {"role": "assistant", "content": "The prompt is too long, you say?"}}]}
    stream = f'data: {{"choices": [{{"delta": {{"content": "{TEXTS[8][0]}"}}}}]}}\n\ndata: [DONE]\n'

    assert recognize(fault_from(200, {}, reply)) is None
    assert recognize(fault_from(200, {}, stream)) is None


SAID, USED = Message("assistant", "half a sen"), Usage(199_000, 1_000)


def test_a_reply_that_ended_because_the_window_was_full_is_an_overflow():
    assert overflow_of_finish("model_context_window_exceeded", SAID, USED) == tokens(200_000, 199_000)
    assert overflow_of_finish("model_context_window_exceeded", None, None) == tokens()
    assert overflow_of_finish("model_context_window_exceeded", None, Usage(150_000), window=128_000) == tokens(
        128_000, 150_000
    )


@pytest.mark.parametrize(
    ("finish", "message", "usage", "window", "limit"),
    [
        ("length", Message("assistant", ""), Usage(32_767, 1), 32_768, 32_768),
        ("length", Message("assistant"), Usage(32_768, 0), None, 32_768),
        ("max_tokens", None, Usage(32_768, 0), None, 32_768),
        ("length", Message("assistant", ""), Usage(3_000, 1), 32_768, None),
        ("length", Message("assistant", ""), Usage(3_000, 1), None, None),
        ("length", SAID, Usage(3_000, 512), 65_536, None),
        ("length", Message("assistant", (TextPart("x"),)), Usage(32_768, 0), None, None),
        ("length", None, None, None, None),
        ("stop", Message("assistant", ""), Usage(32_768, 0), 32_768, None),
        (None, None, Usage(32_768, 0), 32_768, None),
    ],
)
def test_an_empty_reply_cut_for_its_length_is_a_full_window(finish, message, usage, window, limit):
    found = overflow_of_finish(finish, message, usage, window=window)

    assert found == (ContextOverflow(limit=limit, kind="silent") if limit else None)


def test_texts_are_compared_without_quotes_breaks_and_capitals():
    assert plain("The  `prompt`\nis\\n “too”\tLONG: 210\u00a0094") == "the prompt is too long: 210,094"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from([t for t, _ in TEXTS]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "type", "status", "detail", "n_ctx", "response", "x"]), inner
        )
    ),
    max_leaves=10,
)


@given(st.none() | st.integers(100, 599), JSON | st.binary(max_size=60) | st.text(max_size=60))
def test_any_body_is_read_the_same_each_time(status, body):
    first, second = fault_from(status, {}, body), fault_from(status, {}, body)

    assert recognize(first) == recognize(second)
    assert look_alike(first) == look_alike(second)


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1,000",
        "1,",
        " ",
        "prompt is too long: ",
        "maximum context length is 1 tokens ",
        "maximum context length is 1 tokens requested 1 tokens (1 of text input, ",
        "exceed context ",
        "1 tokens exceed 1",
        "9 tokens exceed exceed context length ",
        "limit 1 ",
        "per per tokens ",
        "{",
        '{"error":',
        "data: {\n",
        "[[",
        "'",
        "try again in 1s 1s ",
    ],
)
@pytest.mark.parametrize("end", ["", "context length exceeded"])
def test_a_long_text_of_one_piece_is_read_to_its_end(piece, end):
    """Linear in the text: what is quadratic does not come back from 200,000 characters in the time a test has."""
    text = piece * (200_000 // len(piece)) + end

    assert recognize(fault_from(400, {}, text)) == recognize(fault_from(400, {}, {"error": {"message": text}}))


@pytest.mark.parametrize(
    ("limit", "requested", "room"), [(200, 170, 30), (200, 210, None), (200, None, None), (None, 10, None)]
)
def test_a_prompt_that_fits_leaves_room_for_less_output(limit, requested, room):
    assert ContextOverflow(limit=limit, requested=requested).room_for_output == room
    assert ContextOverflow(limit=limit, requested=requested, counts_output=True).room_for_output is None
