"""HTML to lines, only as good as finding addresses and phrases in a report needs."""

from __future__ import annotations

import html
import re

_DROPPED = re.compile(r"<(style|script|head|title)\b.*?</\1\s*>|<!--.*?-->", re.I | re.S)
_BREAK = re.compile(r"<(?:br|/p|/div|/tr|/h\d|/li|/td|p|div|tr|table)\b[^>]*>", re.I)
_TAG = re.compile(r"</?[a-z!][^>]{0,2000}>", re.I)


def text_of_html(source: str) -> str:
    """The visible text, one line a block; an address in escaped angle brackets keeps them."""
    text = _DROPPED.sub(" ", source)
    text = _TAG.sub("", _BREAK.sub("\n", text))
    return re.sub(r"[ \t\xa0]+", " ", html.unescape(text))
