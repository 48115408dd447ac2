"""What a validation found, in one plain sentence, without the words that the library puts around it."""

from __future__ import annotations

import re
from typing import Any

_BEFORE = re.compile(r"^(?:Value|Assertion) error, ")
_SHOULD = re.compile(r"^(?:Input|String|List|Set|Tuple|Dictionary|Value|Number|Data|URL)\b[\w ]{0,40}? should ")
_AFTER = re.compile(r", (?:unable to (?:parse|interpret)|got a number with|invalid|input is).*", re.S)
_SAID = {"Field required": "is missing", "Extra inputs are not permitted": "is not known here"}


def plain_words(message: str) -> str:
    """`must be a number` for `Input should be a valid number, unable to parse string as a number`."""
    message = _BEFORE.sub("", message)
    if message in _SAID:
        return _SAID[message]
    if not _SHOULD.match(message):
        return message
    return _AFTER.sub("", _SHOULD.sub("must ", message)).replace("a valid ", "a ", 1)


def named(error: Any) -> tuple[str, str]:
    """What one of pydantic's errors is about ("" for the whole), and what is wrong with it."""
    return ".".join(str(part) for part in error["loc"]), plain_words(str(error["msg"]))
