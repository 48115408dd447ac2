"""Two spellings of one mailbox share a key, and no two mailboxes do."""

from __future__ import annotations

from itertools import combinations
from uuid import UUID

import pytest

from services.core.ids import participant_id
from services.core.mailbox import MailboxKey
from services.mail.tokens import SigningKeys, check_token, make_token

RING = SigningKeys((b"a key of 16 bytes",))
THREAD = UUID(int=7)
# Each row: mailboxes that full case folding, NFC or NFKC makes one of.
APART = [
    ("weiß@x.example", "weiss@x.example", "weiẞ@x.example"),
    ("\u212aelvin@x.example", "kelvin@x.example"),
    ("\u017fam@x.example", "sam@x.example"),
    ("o\ufb03ce@x.example", "office@x.example"),
    ("\ufb02o@x.example", "flo@x.example"),
    ("Ünal@x.example", "ünal@x.example"),
    ("jos\u00e9@x.example", "jose\u0301@x.example"),
    ("ΣΊΣΥΦΟΣ@x.example", "σίσυφος@x.example", "σίσυφοσ@x.example"),
    ("\uff41nn@x.example", "ann@x.example"),
    ("ırmak@x.example", "irmak@x.example", "İrmak@x.example"),
]


@pytest.mark.parametrize("people", APART)
def test_what_only_full_folding_joins_stays_apart(people: tuple[str, ...]) -> None:
    """Mailboxes that differ in more than ASCII case have different keys, ids and reply tokens."""
    for one, other in combinations(people, 2):
        assert MailboxKey(one) != MailboxKey(other)
        assert participant_id("main", MailboxKey(one)) != participant_id("main", MailboxKey(other))
        assert check_token(RING, make_token(RING, "main", THREAD, MailboxKey(one)), "main", [MailboxKey(other)]) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann@X.Example", "ann@x.example"),
        ("ann@münchen.example", "ANN@xn--mnchen-3ya.example"),
        ("ann@MÜNCHEN.example", "ann@münchen.example"),
        ("ann@münchen\u3002example", "ann@münchen.example"),
        ("ann@x.example.", "ann@x.example"),
        ("weiß@Straße.example", "weiß@xn--strae-oqa.example"),
        ("ann@[IPv6:2001:DB8::1]", "ann@[ipv6:2001:db8::1]"),
    ],
)
def test_spellings_of_one_mailbox_share_a_key(one: str, other: str) -> None:
    """ASCII case and the spelling of an international domain make no other person."""
    assert MailboxKey(one) == MailboxKey(other)
    assert participant_id("main", MailboxKey(one)) == participant_id("main", MailboxKey(other))


@pytest.mark.parametrize(
    "text", ["", "@", "no address", "a@b@c", "ann@", "x@" + "y" * 5000, "a@\u2488.de", "a@xn--a", "\ud800@x"]
)
def test_a_key_is_made_of_anything_and_is_its_own_key(text: str) -> None:
    """What is no address has a key too, and nothing raises."""
    assert MailboxKey(MailboxKey(text)) == MailboxKey(str(MailboxKey(text))) == MailboxKey(text)
