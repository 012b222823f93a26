"""The words of what looks like an overflow and is none, in the plain text of `overflow_texts`."""

import re

__all__ = ["LOOK_ALIKES"]

_MEDIA = r"(?:images?|pictures?|photos?|videos?|audio|pdfs?|documents?|files?|attachments?|media)"

LOOK_ALIKES: dict[str, re.Pattern[str]] = {
    "rate": re.compile(
        r"\b(?:tokens?|requests?|images?|calls?|queries|limit)(?: \S{1,20}){0,3}? ?(?:per[ _-]?|/ ?)"
        r"(?:min|minute|hour|day|second|month)\b|\b(?:tpm|rpm|tpd|rpd|itpm|otpm|qps)\b|rate[ _-]?limit"
        r"|\b(?:hourly|daily|weekly|monthly) (?:\S{1,20} ){0,2}?(?:limit|allowance)\b|\bhit your (?:\w{1,12} )?limit\b"
        r"|(?<!context )\busage limit\b|\bcredit balance\b"
        r"|too[ _]?many[ _]?requests|throttl|quota|please wait before|slow down|频率|限流|并发"
    ),
    "output": re.compile(
        r"\bmax(?:imum)?[ _]?(?:completion[ _]|output[ _]|new[ _])?tokens?(?: is| value)? too (?:large|high|big)"
        r"|max_tokens: \d{1,15} > \d"
        r"|maximum tokens you requested exceeds"
        r"|(?<!\+ )\b(?:max[ _](?:completion[ _]|output[ _]|new[ _])?tokens|maxoutputtokens|num_predict|max_length)"
        r"\W{0,2} ?(?:(?:must|should) be (?!at least|greater|more|positive|an? )|can(?:not| not|'t)|may not"
        r"|supports at most)"
        r"|range of max_\w{0,20}tokens|maxoutputtokens value of|invalid(?: value for)? '?max_\w{0,20}tokens"
        r"|\b(?:output|completion)[ _]tokens?[ _]limit"
        r"|(?:completion|output) tokens,? whereas|at most \d{1,15} (?:completion|output) tokens"
        r"|maximum (?:allowed )?(?:number of )?(?:completion|output)[ _](?:tokens|length)|output length limit"
    ),
    "field": re.compile(r"(?:string|array)_above_max_length|(?:string|array) too long|above maximum length"),
    "media": re.compile(
        r"\btoo much media\b|\btoo many (?:images|pictures|videos|documents|files|attachments|pages)\b"
        r"|\bmaximum of \d{1,9} (?:pdf|document) pages|\b(?:pdf|document) pages exceed"
        rf"|\b{_MEDIA}(?:[ _]file)?(?:[ _]size| dimensions?| count)?(?: is| are)?[ _]"
        r"(?:exceed|too[ _](?:large|big|many))(?!.{0,40}?(?:context|tokens))"
        r"|\bat most \d{1,9} (?:image|video|audio)"  # vLLM
    ),
    # llama-server, when requests at the same time have used up a cache they share: it passes (measured).
    "shared cache": re.compile(r"^context size has been exceeded\.?$"),
}
"""What shares words with an overflow and is none; "media" is too much of it, or too large."""
