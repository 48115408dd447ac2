"""Single keys: what each does, in words, and for the browser the keys of whoever is signed in."""

from __future__ import annotations

import json
from collections.abc import Mapping

from services.operations.users import User
from services.operations.users.keys import DEFAULTS, KeyRefused, keys_of
from services.web.console.language import Message

ACTS: Mapping[str, str] = {
    "next": Message("next row"),
    "previous": Message("previous row"),
    "choose": Message("choose the row, for acts on several threads"),
    "search": Message("search"),
    "inbox": Message("inbox"),
    "draft": Message("next draft"),
    "edit": Message("edit the draft; in the inbox go to “Resolve”"),
    "approve": Message("go to “Approve”, else to “Assign”; Enter does it"),
    "snooze": Message("snooze: go to “until when”"),
    "write": Message("write an answer"),
    "note": Message("write a note"),
    "newer": Message("show what is newer"),
    "help": Message("this list"),
}
assert ACTS.keys() == DEFAULTS.keys()
NOT_ONE = Message("“%(key)s” is no single key, for “%(act)s”: type one character, or leave it empty.")
TWICE = Message("“%(key)s” cannot do both: “%(act)s” and “%(other)s”. Give one of them another key.")


def by_key(user: User) -> str:
    """JSON for the browser: what each key does."""
    return json.dumps({key: act for act, key in keys_of(user).items() if key}, ensure_ascii=False)


def words_of(error: KeyRefused) -> str:
    """Why a key was refused."""
    act, *others = (str(ACTS[one]) for one in error.acts)
    if others:
        return str(TWICE) % {"key": error.key, "act": act, "other": others[0]}
    return str(NOT_ONE) % {"key": error.key[:20], "act": act}
