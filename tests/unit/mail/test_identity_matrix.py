"""The matrix of docs/concepts/identity.md: sender level, what the mail names, and whose thread that is."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schemas.events.mail import Identity, IdentityLevel
from schemas.events.replies import ReplyDrafted
from services.core.settings import Settings
from services.mail.thread_ids import KnownThread, MailFacts, place
from services.send_email.unproven import gate

PAGE = Path(__file__).parents[3] / "docs" / "concepts" / "identity.md"
BEGIN, END = "<!-- matrix: made by tests/unit/mail/test_identity_matrix.py -->\n", "<!-- end of matrix -->"
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
ANN, BOB = "ann@customer.example", "bob@customer.example"
LEVELS: tuple[IdentityLevel, ...] = ("verified", "vouched", "unverified", "failed")
NAMED = {
    "the Message-ID of our reply": {"references": ("ours",)},
    "a reply token of ours": {"token": True},
    "both": {"references": ("ours",), "token": True},
}
OWNERS = {
    "the same address, proven": (ANN, "proven"),
    "the same address, unproven": (ANN, "unproven"),
    "somebody else, proven": (BOB, "proven"),
}
SENT: dict[tuple[str, IdentityLevel], str] = {
    ("open", "verified"): "the agent's reply",
    ("open", "vouched"): "the agent's reply",
    ("template", "unverified"): "the fixed reply; a draft for a person; or nothing, as the inbox says",
    ("closed", "failed"): "nothing; a person decides",
}


def outcome(level: IdentityLevel, named: dict[str, Any], owner: str, proof: str) -> str:
    """What becomes of a mail of Ann's that names a thread, in the words of the page."""
    identity = Identity(level=level)
    known = KnownThread(uuid.UUID(int=1), owner, our_ids=frozenset({"ours"}), proof=proof)  # type: ignore[arg-type]
    token = known.thread_id if named.get("token") and owner == ANN else None  # tokens are bound to their participant
    mail = MailFacts(
        "acme", "support", "new", ANN, NOW, references=named.get("references", ()), participants=frozenset({ANN}),
        verified=identity.trusted, failed=level == "failed", token_thread=token,
    )  # fmt: skip
    placed = place(mail, [known], timedelta(days=365))
    if placed.thread_id == known.thread_id:
        return "joins it"
    marks = [*(["linked"] if placed.linked_to else []), *(f"`{flag}`" for flag in placed.flags)]
    return ", ".join(["a thread of its own", *marks])


def sent(level: IdentityLevel) -> str:
    """What leaves without a person for an author of this level."""
    settings = Settings(inboxes=[{"name": "support", "address": "support@ourcompany.example"}])
    ids = dict.fromkeys(("reply_id", "turn_id", "thread_id", "participant_id"), uuid.UUID(int=1))
    draft = ReplyDrafted(**ids, inbox="support", mail_ids=(), trusted=True, decision="reply")
    mail: Any = SimpleNamespace(trusted=Identity(level=level).trusted, identity=level, flags=[])
    app: Any = SimpleNamespace(settings=settings)
    return SENT[gate(draft, mail, app), level]


def matrix() -> Iterator[str]:
    """The lines of the two tables."""
    yield "| the mail names | whose thread it is | " + " | ".join(f"`{level}`" for level in LEVELS) + " |"
    yield "|" + "---|" * (2 + len(LEVELS))
    for name, named in NAMED.items():
        for whose, (owner, proof) in OWNERS.items():
            found = (outcome(level, named, owner, proof) for level in LEVELS)
            yield f"| {name} | {whose} | {' | '.join(found)} |"
    yield ""
    yield "| level | memory is read and written, proposals count | what leaves by itself |"
    yield "|---|---|---|"
    for level in LEVELS:
        yield f"| `{level}` | {'yes' if Identity(level=level).trusted else 'no'} | {sent(level)} |"


def test_the_page_says_what_the_code_does() -> None:
    """The tables of docs/concepts/identity.md are what `place` and the sender's gate give; print them with `-s`."""
    made = "\n".join(matrix()) + "\n"
    print(made)
    page = PAGE.read_text(encoding="utf-8")
    assert page.partition(BEGIN)[2].partition(END)[0] == made


@pytest.mark.parametrize("level", ["unverified", "failed"])
@pytest.mark.parametrize("named", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("token", [False, True])
def test_nothing_that_a_mail_names_makes_its_sender_believed(
    level: IdentityLevel, named: dict[str, Any], *, token: bool
) -> None:
    """Neither a Message-ID of ours nor a token gets an unproven mail into a proven person's thread, or memory."""
    assert not Identity(level=level, reply_token=token).trusted
    for owner, proof in OWNERS.values():
        if proof == "proven":
            assert outcome(level, named, owner, proof).startswith("a thread of its own")
