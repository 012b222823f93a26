"""The words that overflows share, for texts and codes that are not listed.

`GENERAL` patterns decide only where none of `overflow_look_alikes` says otherwise, and never against a row of
`overflow_texts`. They read the same plain text.
"""

import re

from aaa.wire.overflow_texts import NUMBER, Kind

__all__ = ["CODES", "COMPARED", "GENERAL", "GENERAL_BYTES", "GENERAL_LIMITS", "GENERAL_NUMBERS"]

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
_REQUEST = rf"(?:request|{_SUBJECT})"
_MEASURE = (
    r"(?:context[ _](?:window|length|size|limit)|max(?:imum)? context|n_ctx|num_ctx|max[_ ]model[_ ]len\w*"
    r"|max[_ ]seq[_ ]len\w*|session_len|max_position_embeddings"
    r"|(?:max|maximum|model's|model|configured) (?:input|prompt|sequence|model|total) (?:length|size|tokens?)"
    r"|(?:max|maximum) (?:allowed )?number of (?:input|prompt|context) tokens"
    r"|(?:input|prompt|sequence) (?:length|size|token|tokens) limit)"
)
_EXCEEDS = (
    r"(?:exceed\w*|overflow\w*|surpass\w*|longer than|larger than|greater than|more than|too (?:long|large|big) for"
    rf"|does(?: not|n't) fit|beyond|over(?= (?:the |its |model's )?{_MEASURE}))"
)
_N = r"\d[\d,]{0,15}"

_BODY, _OF_BODY = r"(?:request|payload|body|entity)", r"(?:'s)?(?: total)?(?: body| size| entity| payload)?"

GENERAL: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b{_SUBJECT}(?: tokens?| length)?(?: is| are| was)?(?: far)? too (?:long|large|big)\b",
        r"\brequest(?: is| was)? too long\b",
        rf"\b{_EXCEEDS}.{{0,60}}?\b{_MEASURE}",
        rf"\b{_MEASURE}.{{0,60}}?\b(?:exceed\w*|overflow\w*|reached|too small|is full|full)\b",
        rf"\bout of (?:room|space)\b.{{0,30}}?\b{_MEASURE}",
        rf">=? ?(?:the )?{_MEASURE}",
        rf"\b(?:must|should) be (?:less than|at most|below|within) .{{0,20}}?\b{_MEASURE}",
        r"\b(?:(?:prompt|input|context|sequence) (?:length|tokens?|token count)"
        r"|total(?: message| input| prompt)? tokens?(?: count| length)?)\b"
        rf"\W{{0,3}}(?:of )?[\d,]{{0,15}}\W{{0,3}}(?:tokens? )?(?:is )?{_EXCEEDS}",
        rf"\b{_REQUEST}(?: size| length)? exceed\w*(?:(?!output|completion|generat)[^.]){{0,50}}? tokens\b"
        r"(?! (?:left|remaining|available|today))",
        r"\btoo many (?:input |prompt |context )?tokens\b",
        rf"\btokens? (?:limit|count)(?: is| was| has been)?\W{{0,3}}(?:{_N})?\W{{0,3}}exceed",
        r"\bexceed\w*(?: the| this)?(?: \S{1,20}){0,3} tokens? limit",
        r"\breduce the (?:length|size|number of tokens) (?:of|in) (?:the |your )?(?:messages|prompt|input)",
        r"\b(?:max|maximum) (?:context|prompt) (?:length|size|window)\b",
        r"\bmax(?:imum)? (?:input|prompt) (?:tokens|characters|length)(?: is|:) \d",  # Baidu, of characters
        rf"\b{_N} tokens of context\b.{{0,20}}?\b(?:got|sent|received|requested|has|have)\b",
        r"(?:^|: )length limit exceeded",  # Hugging Face's hosted models
        r"(?:输入|上下文|提示词|prompt|tokens?)[^。]{0,40}?(?:超出|超过|超长|过长)",
        r"(?:超出|超过)[^。]{0,20}?(?:上下文|最大长度|长度限制|最大输入)",
        r"(?:コンテキスト|入力|プロンプト)[^。]{0,20}?(?:超え|超過|長すぎ)",
    )
)

GENERAL_BYTES: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:{_BODY}|content|message){_OF_BODY}(?: is| was)? too (?:large|big)",
        rf"\b{_BODY}{_OF_BODY}(?: size)? exceed(?![^.]{{0,60}}?\btokens?\b)",
        r"\bexceed\w*.{0,40}?\b(?:request|payload|body|message) size",
    )
)

_NO_TOKENS = r"(?! ?(?:characters|chars|bytes|[kmg]i?b\b|pages|images|lines|output|completion|new\b))"
_COUNTED = r"\b(?:prompt|input|inputs|context|sequence|length|size|count|n_tokens|tokens?|requested)\b"
_GOT = rf"\b(?:got|received|sent|has|contains|requested|count|exceeded by(?: the| a| your)? {_SUBJECT})\b"
_MOST = r"\b(?:limit|max(?!_(?:new_|output_|completion_)?tokens)\w*|at most|up to|supports only|only supports)\b"

_PROMPT, _LIMIT = NUMBER % "prompt", NUMBER % "limit"

COMPARED: tuple[re.Pattern[str], ...] = (
    re.compile(
        rf"\b{_REQUEST}(?: has| contains?| is| of| with|:)? \(?{_PROMPT} (?:input |prompt )?tokens\b\)?"
        rf"\D{{0,40}}?(?:{_MOST}|\b{_EXCEEDS})\D{{0,30}}?{_LIMIT}{_NO_TOKENS}"
    ),
)
"""What says that a prompt has more tokens than something takes, by its numbers alone: the first above the second."""

GENERAL_NUMBERS: tuple[re.Pattern[str], ...] = (
    *COMPARED,
    *(
        re.compile(pattern)
        for pattern in (
            rf"{_PROMPT}(?: tokens)? > {_LIMIT}",
            rf"{_COUNTED}\W{{0,3}}{_PROMPT}(?: tokens)?\)? ?>=? ?\D{{0,30}}?{_LIMIT}{_NO_TOKENS}",
            rf"{_PROMPT} tokens?\b\)?\D{{0,60}}?\b{_EXCEEDS}\D{{0,60}}?{_LIMIT}",
            rf"{_COUNTED}\D{{0,15}}?{_PROMPT}\D{{0,40}}?\b{_EXCEEDS}\D{{0,60}}?{_LIMIT}{_NO_TOKENS}",
            rf"{_GOT}\D{{0,18}}?{_PROMPT}\D{{0,30}}?{_MOST}\D{{0,30}}?{_LIMIT}{_NO_TOKENS}",
            rf"{_MOST}\D{{0,30}}?{_LIMIT}\D{{0,30}}?{_GOT}\D{{0,15}}?{_PROMPT}{_NO_TOKENS}",
            rf"{_LIMIT} tokens of context\D{{0,30}}?{_GOT}\D{{0,15}}?{_PROMPT}{_NO_TOKENS}",
            rf"{_PROMPT} tokens?\b\D{{0,10}}?{_MOST}\D{{0,15}}?{_LIMIT}{_NO_TOKENS}",
            rf"{_PROMPT} ?/ ?{_LIMIT} tokens\b",
            rf"上下文[^\d。]{{0,10}}?{_LIMIT}[^\d。]{{0,10}}?(?:请求|输入|当前|实际)[^\d。]{{0,10}}?{_PROMPT}",
        )
    ),
)
"""Numbers of a text that only `GENERAL` knows; they count if the prompt is above the limit."""

GENERAL_LIMITS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:{_MEASURE}|model limit|limit of)(?: is| of|:)? \(?{_LIMIT} tokens",
        rf"\btokens? limit(?: is| of|:) \(?{_LIMIT}{_NO_TOKENS}",
        rf"\b(?:input|prompt|context) tokens: {_LIMIT}{_NO_TOKENS}",
        rf"\bmodel's max(?:imum)? of {_LIMIT}{_NO_TOKENS}",
        rf"\b{_REQUEST} exceed\w* {_LIMIT} tokens\b",
        rf"上下文[^\d。]{{0,10}}?{_LIMIT} ?tokens\b",
    )
)
"""The limit of such a text, where it is alone."""
