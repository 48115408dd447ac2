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
