"""What looks like an older mail and is the writer's own: prompts, comparisons, lists and things that they show.

Each rule asks for what no mail program writes, so that a quote stays one. When in doubt a line is the writer's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.mail.reply_text import header_block, shapes

NEAR = 4  # lines below a separator among which the head of the older mail begins

_PROMPT = re.compile(r"[ \t]{0,20}>>>(?: |\Z)")
_SHALLOW = re.compile(r"[ \t]{0,20}>{1,2}(?!>)")
_COMPARED = re.compile(
    r"[ \t]{0,20}>=?[ \t]?[€$£]?\d[\d., ]{0,15}(?:[^\s\d]{1,12}(?: [^\s\d]{1,12}){0,3})?[ \t]{0,20}\Z"
)
_SHOWN = (":", "：")
_ENDED = (".", "!", "?", "。", "！", "？", "…", ",", "،")


def prompts(lines: Sequence[str]) -> bool:
    """Whether `>>>` is Python's prompt here: a third quotation stands among first and second ones."""
    deep = any(_PROMPT.match(line) for line in lines)
    return deep and not any(_SHALLOW.match(line) for line in lines)


def is_prompt(line: str) -> bool:
    """Whether a line begins as a prompt of Python does."""
    return bool(_PROMPT.match(line))


def is_comparison(line: str) -> bool:
    """Whether a line says "more than so much" and nothing else: `> 500 g`."""
    return bool(_COMPARED.match(line))


def shows(line: str) -> bool:
    """Whether a line of the writer's introduces what stands below: a colon, and nothing of an attribution."""
    said = shapes.plain(line)
    if not said.endswith(_SHOWN):
        return False
    found = (shapes.has_date, shapes.has_time, shapes.has_mailbox, shapes.has_verb)
    return not any(one(said) for one in found)


def is_named(lines: Sequence[str], index: int) -> bool:
    """Whether a separator is spoken of: in the middle of a sentence, or shown, and no mail's head stands below it."""
    below = [line for line in lines[index + 1 : index + 1 + NEAR] if line.strip()]
    if any(header_block.role(line) or line.lstrip().startswith(">") for line in below):
        return False
    above = next((line.strip() for line in reversed(lines[max(index - 2, 0) : index]) if line.strip()), "")
    touches = index > 0 and bool(lines[index - 1].strip())
    return (touches and not above.endswith(_ENDED)) or (bool(above) and shows(above))


def is_pasted(lines: Sequence[str], start: int, end: int) -> bool:
    """Whether a mail's head from `start` to `end` is shown within a paragraph: no mail program leaves no empty line."""
    inside = start > 0 and end < len(lines) and lines[start - 1].strip() and lines[end].strip()
    return bool(inside) and shows(lines[start - 1])


# Signatures: the usenet mark, what phones and apps append, and the small print of firms.
MAX_APP_LINE = 160
MAX_RULE = 200
MAX_UNDERLINE_DIFFERENCE = 2
MAX_SENTENCE = 500
MAX_SIGNATURE_LINES = 10
MAX_SIGNATURE_CHARACTERS = 600
LEAST_SMALL_PRINT = 2
LEAST_SMALL_PRINT_CHARACTERS = 100
SIGNATURE_RULE = 20

_MARK = re.compile(r"[ \t\u00a0]*(?:--|—|–|- -)[ \t\u00a0]*\Z")
_RULE = re.compile(r"[ \t]*(?:[-_=+~#*ᐧ—–,]{2,}|_ ?_[_ ]*)[ \t]*\Z")
_MINE = re.compile(r"\bfrom my [\w-]{1,20}(?: [\w-]{1,20}){0,2}[\W_]{0,3}\Z(?<!\.)", re.IGNORECASE)
_APP = re.compile(rf"[\W_]{{0,6}}(?:{'|'.join(shapes.SENT_FROM)})[\W_]{{0,6}}\Z", re.IGNORECASE)
_WORDS = re.compile(r"(?<![\w'’-])\w++(?:[ ,]++[\w'’-]++){3}")
_STOPS = (".", "!", "?", "。", "！", "？", "।", "…")
_QUESTIONS = ("?", "？", "؟", ";?", "՞")
_LISTED = re.compile(r"(?:(?:\d{1,2}|[a-z])[.)]|[-*+•◦▪])[ \t]{1,9}\S")
_KEY = re.compile(r"[a-z_][a-z0-9_-]{0,40}:(?: [^@]{0,200})?\Z")
MAX_NOTICE_LINES = 3
_PAGE = re.compile(r"<?(?:https?://|www\.)\S{4,200}", re.IGNORECASE)
LONG_NUMBER = 7  # digits of a telephone number, which no key of a configuration has
_SMALL_PRINT = re.compile("|".join(map(re.escape, shapes.DISCLAIMERS)), re.IGNORECASE)


def is_mark(line: str) -> bool:
    """Whether a line is the signature separator `-- ` (RFC 3676, 4.3) or the dash some clients put there."""
    return bool(_MARK.match(line))


def is_rule(line: str) -> bool:
    """Whether a line is drawn from dashes, underscores, stars or the like."""
    return len(line) <= MAX_RULE and bool(_RULE.match(line))


def underlines(rule: str, title: str) -> bool:
    """Whether a rule is drawn below a title, as long as it."""
    return bool(title.strip()) and abs(len(rule.strip()) - len(title.strip())) <= MAX_UNDERLINE_DIFFERENCE


def is_app_line(line: str) -> bool:
    """Whether a line was appended by a phone or an app: "Sent from my iPhone"."""
    if len(line) > MAX_APP_LINE:
        return False
    lower = line.lower()
    if not any(map(lower.__contains__, shapes.DEVICES)) and not ("from my" in lower and _MINE.search(line)):
        return False
    return bool(_APP.match(line.strip()))


def is_signature(rule: str, lines: Sequence[str]) -> bool:
    """Whether what stands under a rule or a mark, up to the end of the mail, can be a signature or small print.

    No question, no list and no configuration is one: those are the writer's, whatever stands above them. Nor is a
    sentence, but below the long line of underscores that is drawn for a signature alone.
    """
    filled = [line.strip() for line in lines if line.strip()]
    if any(map(_asks_or_lists, filled)) or _is_configuration(filled):
        return False
    if _is_small_print(filled):
        return True
    short = len(filled) <= MAX_SIGNATURE_LINES and sum(map(len, filled)) <= MAX_SIGNATURE_CHARACTERS
    drawn_for_it = rule.strip("_ \t") == "" and len(rule.strip()) >= SIGNATURE_RULE
    return short and (drawn_for_it or not any(map(_is_sentence, filled)))


def is_footer(lines: Sequence[str]) -> bool:
    """Whether what stands behind a long quote is small print, and no answer to it."""
    filled = [line.strip() for line in lines if line.strip()]
    return _is_small_print(filled) and not any(map(_asks_or_lists, filled))


def names_a_page(lines: Sequence[str]) -> bool:
    """Whether a text under a mark is a notice of two or three lines that ends with a page, and asks nothing."""
    filled = [line.strip() for line in lines if line.strip()]
    return (
        1 < len(filled) <= MAX_NOTICE_LINES
        and bool(_PAGE.fullmatch(filled[-1]))
        and not any(map(_asks_or_lists, filled))
    )


def _is_small_print(filled: Sequence[str]) -> bool:
    """Whether a text says two of the things that disclaimers and the footers of lists say."""
    found = {word.casefold() for line in filled for word in _SMALL_PRINT.findall(line)}
    of_a_list = any("://" in line or "@" in line for line in filled)
    return len(found) >= LEAST_SMALL_PRINT and (of_a_list or sum(map(len, filled)) >= LEAST_SMALL_PRINT_CHARACTERS)


def _asks_or_lists(line: str) -> bool:
    return line.endswith(_QUESTIONS) or bool(_LISTED.match(line))


def _is_configuration(filled: Sequence[str]) -> bool:
    """Whether all lines are keys and values, as in YAML, and none says how to reach anybody."""
    return len(filled) > 1 and all(map(_is_setting, filled))


def _is_setting(line: str) -> bool:
    return bool(_KEY.match(line)) and "://" not in line and sum(map(str.isdigit, line)) < LONG_NUMBER


def _is_sentence(line: str) -> bool:
    line = line[-MAX_SENTENCE:]
    return line.endswith(_STOPS) and bool(_WORDS.search(line)) and not is_app_line(line)
