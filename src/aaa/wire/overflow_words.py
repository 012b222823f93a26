"""The words that overflows share, for texts and codes that are not listed, and the words of what only looks like one.

`GENERAL` patterns decide only where none of `LOOK_ALIKES` says otherwise, and never against a row of `overflow_texts`.
They read the same plain text.
"""

import re

from aaa.wire.overflow_texts import NUMBER, Kind

__all__ = ["CODES", "GENERAL", "GENERAL_BYTES", "GENERAL_LIMIT", "GENERAL_NUMBERS", "LOOK_ALIKES"]

CODES: dict[str, Kind] = {
    "context_length_exceeded": "tokens",
    "context_window_exceeded": "tokens",
    "model_context_window_exceeded": "tokens",
    "exceed_context_size_error": "tokens",
    "contextwindowexceedederror": "tokens",  # LiteLLM's class
    "contextoverflowerror": "tokens",  # LangChain's, and ours
    "outofcontexterror": "tokens",  # Volcengine
    "content_length_exceeds_threshold": "tokens",  # Amazon Q
    "tokens_limit_reached": "tokens",  # GitHub Models, with status 413
    "request_too_large": "bytes",
    "requesttoolarge": "bytes",
    "payload_too_large": "bytes",
}
"""Codes, types and class names that mean it, for bodies that lost their text."""

_SUBJECT = r"(?:prompt|input|inputs|conversation|context|history|messages)"
_MEASURE = (
    r"(?:context[ _](?:window|length|size|limit)|n_ctx|num_ctx|max[_ ]model[_ ]len\w*|max[_ ]seq[_ ]len\w*|session_len"
    r"|max_position_embeddings"
    r"|(?:max|maximum|model's|model|configured) (?:input|prompt|sequence|model|total) (?:length|size|tokens?)"
    r"|(?:input|prompt|sequence) (?:length|size|token|tokens) limit)"
)
_EXCEEDS = (
    r"(?:exceed\w*|overflow\w*|surpass\w*|longer than|larger than|greater than|more than|too (?:long|large|big) for"
    r"|does(?: not|n't) fit|beyond)"
)

_BODY, _OF_BODY = r"(?:request|payload|body|entity)", r"(?: body| size| entity| payload)?"

GENERAL: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b{_SUBJECT}(?: is| are| was)?(?: far)? too (?:long|large|big)\b",
        rf"\b{_EXCEEDS}.{{0,60}}?\b{_MEASURE}",
        rf"\b{_MEASURE}.{{0,60}}?\b(?:exceed\w*|overflow\w*|reached|too small|is full|full)\b",
        rf"> ?(?:the )?{_MEASURE}",
        rf"\b(?:prompt|input|context|sequence) (?:length|tokens?|token count)\b\W{{0,3}}(?:of )?[\d,]{{0,15}}\W{{0,3}}"
        rf"(?:tokens? )?(?:is )?{_EXCEEDS}",
        r"\btoo many (?:input |prompt |context )?tokens\b",
        r"\btokens? (?:limit|count)(?: is| was| has been)? exceed",
        r"\bexceed\w*(?: the| this)?(?: \S{1,20}){0,3} tokens? limit",
        r"\breduce the (?:length|size|number of tokens) (?:of|in) (?:the |your )?(?:messages|prompt|input)",
        r"\b(?:max|maximum) (?:context|prompt) (?:length|size|window)\b",
        r"(?:^|: )length limit exceeded",  # Hugging Face's hosted models
        r"(?:输入|上下文|提示词|prompt|tokens?)[^。]{0,20}?(?:超出|超过|超长|过长)",
        r"(?:超出|超过)[^。]{0,20}?(?:上下文|最大长度|长度限制|最大输入)",
    )
)

GENERAL_BYTES: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:{_BODY}|content|message){_OF_BODY}(?: is| was)? too (?:large|big)",
        rf"\b{_BODY}{_OF_BODY}(?: size)? exceed",
        r"\bexceed\w*.{0,40}?\b(?:request|payload|body|message) size",
    )
)

_NO_TOKENS = r"(?! ?(?:characters|chars|bytes|[kmg]i?b\b|pages|images|lines))"
_COUNTED = r"\b(?:prompt|input|inputs|context|sequence|length|size|count|tokens?|requested)\b"
_GOT, _MOST = r"\b(?:got|received|has|contains|requested)\b", r"\b(?:limit|max\w*)\b"

GENERAL_NUMBERS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{NUMBER % 'prompt'}(?: tokens)? > {NUMBER % 'limit'}",
        rf"{NUMBER % 'prompt'} tokens?\b\)?[^\d]{{0,60}}?\b{_EXCEEDS}[^\d]{{0,60}}?{NUMBER % 'limit'}",
        rf"{_COUNTED}\D{{0,15}}?{NUMBER % 'prompt'}\D{{0,40}}?\b{_EXCEEDS}\D{{0,60}}?{NUMBER % 'limit'}{_NO_TOKENS}",
        rf"{_GOT}\D{{0,15}}?{NUMBER % 'prompt'}\D{{0,30}}?{_MOST}\D{{0,30}}?{NUMBER % 'limit'}{_NO_TOKENS}",
        rf"{_MOST}\D{{0,30}}?{NUMBER % 'limit'}\D{{0,30}}?{_GOT}\D{{0,15}}?{NUMBER % 'prompt'}{_NO_TOKENS}",
    )
)
"""Numbers of a text that only `GENERAL` knows; they count if the prompt is above the limit."""

GENERAL_LIMIT = re.compile(
    rf"\b{_MEASURE}(?: is| of|:)? \(?{NUMBER % 'limit'} tokens"
    rf"|\btokens? limit(?: is| of|:) \(?{NUMBER % 'alone'}{_NO_TOKENS}"
)
"""The limit of such a text, where it is alone."""

LOOK_ALIKES: dict[str, re.Pattern[str]] = {
    "rate": re.compile(
        r"\b(?:tokens?|requests?|calls?|queries|limit)(?: \S{1,20}){0,3}? ?per[ _-]?"
        r"(?:min|minute|hour|day|second|month)\b|\b(?:tpm|rpm|tpd|rpd|itpm|otpm)\b|rate[ _-]?limit"
        r"|too[ _]?many[ _]?requests|throttl|quota|please wait before|slow down|频率|限流|并发"
    ),
    "output": re.compile(
        r"\bmax(?:imum)?[ _]?(?:completion[ _]|output[ _]|new[ _])?tokens?(?: is| value)? too (?:large|high|big)"
        r"|max_tokens: \d{1,15} > \d"
        r"|maximum tokens you requested exceeds"
        r"|\b(?:max[ _](?:completion[ _]|output[ _]|new[ _])?tokens|maxoutputtokens|num_predict|max_length)\W{0,2}"
        r" ?(?:(?:must|should) be (?!at least|greater|more|positive|an? )|can(?:not| not|'t)|may not|supports at most)"
        r"|range of max_\w{0,20}tokens|maxoutputtokens value of|invalid(?: value for)? '?max_\w{0,20}tokens"
        r"|\b(?:output|completion)[ _]tokens?[ _]limit"
        r"|(?:completion|output) tokens,? whereas|at most \d{1,15} (?:completion|output) tokens"
        r"|maximum (?:allowed )?(?:number of )?(?:completion|output)[ _](?:tokens|length)|output length limit"
    ),
    "field": re.compile(r"(?:string|array)_above_max_length|(?:string|array) too long|above maximum length"),
    "media": re.compile(r"too much media|image dimensions?|(?:pdf|document) pages|too many images|image exceeds"),
    # llama-server, when requests at the same time have used up a cache they share: it passes (measured).
    "shared cache": re.compile(r"^context size has been exceeded\.?$"),
}
"""What shares words with an overflow and is none."""
