"""The single keys of the console: which key does what, as each user has chosen.

A row holds what a user chose alone. An act that they left as it is goes by the default, unless they gave that key to
another act: then it has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from psycopg.types.json import Jsonb

from services.core.app import App
from services.core.errors import Permanent
from services.operations.users import SQL, User

DEFAULTS: Mapping[str, str] = MappingProxyType(
    {
        "next": "j",
        "previous": "k",
        "choose": "x",
        "search": "/",
        "inbox": "i",
        "draft": "d",
        "edit": "e",
        "approve": "a",
        "snooze": "s",
        "write": "w",
        "note": "n",
        "newer": "r",
        "help": "?",
    }
)


class KeyRefused(Permanent):
    """What was typed is no key that an act can have: `key` as it was typed, `acts` that it was for."""

    def __init__(self, key: str, *acts: str) -> None:
        super().__init__(f"{key!r} cannot be the key of {' and of '.join(acts)}")
        self.key = key
        self.acts = acts


def keys_of(user: User) -> dict[str, str]:
    """The key of each act, "" for one that has none."""
    own = {act: key for act, key in user.keys.items() if act in DEFAULTS}
    taken = set(own.values())
    return {act: own.get(act, "" if key in taken else key) for act, key in DEFAULTS.items()}


async def set_keys(app: App, user: User, keys: Mapping[str, str]) -> None:
    """Give each act its key: one character that can be seen, "" for none. Raises `KeyRefused`."""
    chosen = {act: keys.get(act, "").strip() for act in DEFAULTS}
    for act, key in chosen.items():
        if key and (len(key) != 1 or not key.isprintable()):
            raise KeyRefused(key, act)
    for key, times in Counter(filter(None, chosen.values())).items():
        if times > 1:
            raise KeyRefused(key, *(act for act, other in chosen.items() if other == key))
    own = {act: key for act, key in chosen.items() if key != DEFAULTS[act]}
    args = {"workspace": app.settings.workspace, "user_id": user.user_id, "keys": Jsonb(own)}
    async with app.database.reading() as conn:
        await conn.execute(SQL.set_keys, args)
