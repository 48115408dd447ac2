"""The handler of read_email on real tables: whose mail it is, and what a reply token is worth after a rotation."""

from __future__ import annotations

import io
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid4

import numpy as np
import pytest

from deploy.local import Endpoints
from schemas.events.mail import EmailRead, MailReceived
from services.core.app import App
from services.core.bus.event_row import EventRow
from services.core.bus.runner import Runner
from services.core.clock import utc_now
from services.core.db import fetch_all
from services.core.keys import SubjectKey
from services.core.settings import Settings
from services.load_memory.layers import mail as layer
from services.load_memory.turn import MailToAnswer, Turn, load_mails
from services.mail.report_tokens import make_report_token
from services.mail.tokens import SigningKeys, make_token, own_message_id
from services.read_email import PROCESSOR
from services.receive_email.accept import accept
from tests.support.app import INBOX, settings_for
from tests.support.brokerless import opened_brokerless
from tests.support.letters import letter
from tests.unit.mail.test_authentication import KEY_RECORD
from tests.unit.mail.test_dkim_replay import ALL, NOW, mail, signed

ANN = "ann@acme.example"
FORMER, NEWEST = "a secret of last year's, still known", "the secret of this year, quite long"
SUPPORT, BILLING = {**INBOX, "vouched_by": ""}, {"name": "billing", "address": "billing@ourcompany.example"}


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    settings = settings_for(stack, database, topic_prefix, tmp_path, inboxes=[SUPPORT, BILLING], secret=NEWEST)
    async with opened_brokerless(settings) as opened:
        yield opened


def changed(app: App, **changes: object) -> App:
    """The same deployment with other settings."""
    return replace(app, settings=Settings.model_validate({**app.settings.model_dump(), **changes}))


async def read_in(app: App, raw: bytes, inbox: str = "support", vouched_by: str = "") -> EmailRead:
    """A mail let in at an inbox and read; `vouched_by`: its sender is as good as proven."""
    to = app.settings.inbox(inbox)
    taken = await accept(app, to, raw, source="file", source_key=str(uuid4()), vouched_by=vouched_by)
    return await read_taken(app, taken.mail_id)


async def read_taken(app: App, mail_id: UUID) -> EmailRead:
    """A mail that has been let in, read."""
    (received,) = await events_of(app, mail_id)
    await Runner(PROCESSOR, app).process(EventRow.of(**received).envelope())
    (read,) = [row for row in await events_of(app, mail_id) if row["version"]]
    data = EventRow.of(**read).envelope().data
    assert isinstance(data, EmailRead)
    return data


async def events_of(app: App, mail_id: UUID) -> list[dict[str, Any]]:
    query = "SELECT * FROM events WHERE data ->> 'mail_id' = %(id)s ORDER BY version"
    async with app.database.reading() as conn:
        return await fetch_all(conn, query, {"id": str(mail_id)})


def with_files(*files: tuple[str, bytes], text: str = "See the files.") -> bytes:
    """A mail with attachments, by name and content."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Message-ID"] = ANN, INBOX["address"], "<files@acme.example>"
    mail.set_content(text)
    for name, content in files:
        mail.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return mail.as_bytes()


def zipped(name: str, *, encrypted: bool = False) -> bytes:
    """An archive with one file; `encrypted` sets the mark that a password is needed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, b"inside")
    content = bytearray(out.getvalue())
    if encrypted:
        content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def turn_of(app: App, mail: MailToAnswer) -> Turn:
    """A turn about one mail."""
    inbox = app.settings.inboxes[0]
    return Turn(app, app.settings.workspace, mail.received_at, uuid4(), None, inbox, (mail,), np.zeros(384))


async def test_attachments_are_read_by_what_they_are(app: App) -> None:
    """Words of a text, names in an archive, and why something was not read; the mail is answered with them."""
    files = (
        ("orders.csv", b"order,state\n4711,lost\n"),
        ("photos.zip", zipped("lamp.jpg")),
        ("x.bin", b"\x01\x02\x03"),
    )
    read = await read_in(app, with_files(*files))
    assert [one.text for one in read.attachments] == ["order,state\n4711,lost", "lamp.jpg (6 bytes)", ""]
    assert [bool(one.unread) for one in read.attachments] == [False, False, True]
    assert [await app.blobs.get(one.blob) for one in read.attachments] == [content for _, content in files]
    assert read.verdict.kind == "answer"
    async with app.database.reading() as conn:
        (mail,) = await load_mails(conn, [read.mail_id])
        shown = (await layer.load(turn_of(app, mail), conn)).entries[0].text
    assert "Attachment orders.csv (text/csv, 22 bytes):\norder,state\n4711,lost" in shown
    assert "Attachment x.bin (application/octet-stream, 3 bytes): not read, " in shown


async def test_an_encrypted_attachment_is_for_a_human(app: App) -> None:
    """The agent cannot know what it says, so it does not pretend to have read it."""
    read = await read_in(app, with_files(("orders.zip", zipped("orders.csv", encrypted=True))))
    assert (read.verdict.kind, read.verdict.filter) == ("human", "unreadable")
    assert "orders.zip is encrypted" in read.verdict.reason


async def test_what_attachments_say_has_its_room(app: App) -> None:
    """8,000 characters a mail, the first files first, each cut one marked; ten files are opened, the rest are kept."""
    files = tuple((f"{number}.txt", b"word " * 1000) for number in range(12))
    read = await read_in(app, with_files(*files))
    assert [len(one.text) for one in read.attachments] == [4999, 3001, *[0] * 10]
    assert [one.cut for one in read.attachments] == [False, *[True] * 9, False, False]
    assert len({one.blob for one in read.attachments}) == 1


async def test_attachments_that_nobody_will_answer_are_not_opened(app: App) -> None:
    """History, and what colleagues sent, is stored whole and costs no child process."""
    raw, inbox = with_files(("orders.csv", b"a,b\n")), app.settings.inbox("support")
    taken = await accept(app, inbox, raw, source="file", source_key="old", mode="history")
    read = await read_taken(app, taken.mail_id)
    assert [(one.text, one.unread) for one in read.attachments] == [("", "")]


@pytest.mark.parametrize("where", ["Message-ID", "plus-address"])
@pytest.mark.parametrize(("former", "honoured"), [((FORMER,), True), ((), False)])
async def test_a_token_of_a_former_secret_is_honoured_as_long_as_that_is_listed(
    app: App, where: str, former: tuple[str, ...], honoured: bool
) -> None:
    """A proven customer who answers a mail of before the rotation comes into the same thread."""
    thread = uuid4()
    token = make_token(SigningKeys((FORMER.encode(),)), app.settings.workspace, thread, ANN)
    ours = own_message_id(token, uuid4(), "ourcompany.example") if where == "Message-ID" else ""
    to = INBOX["address"] if ours else INBOX["address"].replace("@", f"+{token}@")
    answer = letter("Thanks.", sender=ANN, to=to, in_reply_to=f"<{ours}>" if ours else "")
    read = await read_in(changed(app, former_secrets=former), answer, vouched_by="the test")
    assert (read.thread_id == thread, read.identity.reply_token) == (honoured,) * 2


@pytest.mark.parametrize("where", ["Message-ID", "plus-address"])
async def test_a_reply_token_proves_nobody(app: App, where: str) -> None:
    """The Message-ID and the address of a reply of ours are no bearer credential: who is not proven stays so with them."""
    first = await read_in(app, letter("Hi", sender=ANN, message_id="<a@acme.example>"), vouched_by="the test")
    token = make_token(app.signing_keys, app.settings.workspace, first.thread_id, ANN)
    ours = own_message_id(token, uuid4(), "ourcompany.example") if where == "Message-ID" else ""
    to = INBOX["address"] if ours else INBOX["address"].replace("@", f"+{token}@")
    forged = letter("And?", sender=ANN, to=to, message_id="<f@evil.example>", in_reply_to=f"<{ours}>" if ours else "")
    read = await read_in(app, forged)
    assert not read.identity.trusted
    assert read.thread_id != first.thread_id
    assert (read.linked_from, read.flags) == (first.thread_id, ("claims_to_be",))


@pytest.mark.parametrize("forger", [ANN, "eve@evil.example"])
async def test_a_copy_that_came_first_under_the_mails_id_swallows_nothing(app: App, forger: str) -> None:
    """Whoever sends the customer's words under the customer's Message-ID before them takes neither mail nor thread away."""
    mail = {"message_id": "<a@acme.example>", "subject": "Lamp"}
    forged = await read_in(app, letter("Broken", sender=forger, **mail))
    real = await read_in(app, letter("Broken", sender=ANN, **mail), vouched_by="the test")
    assert (real.verdict.kind, real.identity.level) == ("answer", "vouched")
    assert real.thread_id != forged.thread_id
    answer = letter("Still", sender=ANN, message_id="<b@acme.example>", in_reply_to="<a@acme.example>", subject="Lamp")
    assert (await read_in(app, answer, vouched_by="the test")).thread_id == real.thread_id
    again = await read_in(app, letter("Broken", sender=ANN, **mail))
    assert again.verdict.kind == "duplicate"


async def test_a_mail_that_joined_two_threads_did_not_say_so(app: App) -> None:
    """Answers came before their questions and began two threads; the mail between them names the one that it is not in."""
    later = await read_in(app, letter("3", sender=ANN, message_id="<c@acme.example>", in_reply_to="<b@acme.example>"))
    other = await read_in(app, letter("1", sender=ANN, message_id="<d@acme.example>", in_reply_to="<a@acme.example>"))
    joins = await read_in(app, letter("2", sender=ANN, message_id="<b@acme.example>", in_reply_to="<a@acme.example>"))
    assert {joins.thread_id, joins.linked_from} == {later.thread_id, other.thread_id}


async def test_the_newest_secret_alone_makes_tokens(app: App) -> None:
    """Former ones prove what was sent before, and sign nothing any more."""
    signing_keys = changed(app, former_secrets=(FORMER,)).signing_keys
    args = ("main", UUID(int=1), ANN)
    assert make_token(signing_keys, *args) == make_token(SigningKeys((NEWEST.encode(),)), *args)
    assert make_token(signing_keys, *args) != make_token(SigningKeys((FORMER.encode(),)), *args)


@pytest.mark.parametrize("order", [("support", "billing"), ("billing", "support")])
async def test_a_mail_to_several_inboxes_is_the_first_addressed_ones(app: App, order: tuple[str, str]) -> None:
    """Whichever copy is read first, one is answered, by the inbox addressed first; the other is a duplicate."""
    raw = letter("Both of you?", sender=ANN, to=f"{BILLING['address']}, {SUPPORT['address']}")
    first, second = [await read_in(app, raw, inbox) for inbox in order]
    assert (first.inbox, first.verdict.kind) == ("billing", "answer")
    assert (second.inbox, second.verdict.kind) == (order[1], "duplicate")


async def test_a_mail_that_names_no_inbox_is_the_ones_that_got_it(app: App) -> None:
    """A blind copy, or a forwarded address, is answered where it came in."""
    read = await read_in(app, letter("Hi", sender=ANN, to="info@elsewhere.example"), "billing")
    assert (read.inbox, read.verdict.kind) == ("billing", "answer")


async def test_a_paused_inbox_gets_no_mail_of_another(app: App) -> None:
    """What is addressed to it first, and to another of ours, is answered by the one that is read."""
    paused = changed(app, inboxes=[{**SUPPORT, "paused": True}, BILLING])
    read = await read_in(paused, letter("Hi", sender=ANN, to=f"{SUPPORT['address']}, {BILLING['address']}"), "billing")
    assert (read.inbox, read.verdict.kind) == ("billing", "answer")


class Keys:
    """A DNS that holds the key of one domain."""

    def lookup(self, name: str, kind: str) -> tuple[str, ...]:
        """The key's record, whatever is asked of it."""
        return (KEY_RECORD,) if name.startswith("s._domainkey.my-shop.example") else ()


@pytest.mark.parametrize(("covered", "joins"), [(True, True), (False, False)])
async def test_references_that_no_signature_covers_find_no_thread(app: App, covered: bool, joins: bool) -> None:
    """Whoever sends a signed mail on can write In-Reply-To above it: the author is proven, the thread is not."""
    at_noon = replace(app, now=lambda: NOW, resolver=Keys())
    covers = [one for one in ALL if covered or one not in ("in-reply-to", "references")]
    to = {"to": SUPPORT["address"], "cc": ""}
    first = signed(mail(message_id="<a@my-shop.example>", in_reply_to="", references="", **to))
    answer = signed(mail(in_reply_to="<a@my-shop.example>", references="", **to), covers)
    read = [await read_in(at_noon, raw) for raw in (first, answer)]
    assert [one.identity.level for one in read] == ["verified"] * 2
    assert (read[0].thread_id == read[1].thread_id) == joins
    assert read[1].identity.unsigned == (() if covered else ("in-reply-to",))


async def test_a_replayed_mail_is_not_believed(app: App) -> None:
    """Signed for somebody else, or long ago, it comes from nobody who is known."""
    at_noon = replace(app, now=lambda: NOW, resolver=Keys())
    old = replace(app, now=lambda: NOW + timedelta(days=30), resolver=Keys())
    read = await read_in(at_noon, signed(mail()))
    assert (read.identity.level, read.identity.reasons[0]) == (
        "unverified",
        "no signed To or Cc names one of our addresses",
    )
    again = await read_in(old, signed(mail(to=SUPPORT["address"], message_id="<old@my-shop.example>")))
    assert (again.identity.level, again.identity.trusted) == ("unverified", False)


async def test_a_signed_mail_is_read_once_whatever_message_id_it_carries(app: App) -> None:
    """An uncovered Message-ID is anybody's: a mail that the customer signed once is known again by what they signed."""
    at_noon = replace(app, now=lambda: NOW, resolver=Keys())
    raw = signed(mail(to=SUPPORT["address"], cc=""), [one for one in ALL if one != "message-id"])
    replayed = raw.replace(b"<first@my-shop.example>", b"<second@evil.example>")
    assert replayed != raw
    read = [await read_in(at_noon, one) for one in (raw, replayed, b"X-Also: y\r\n" + replayed)]
    assert [one.identity.level for one in read] == ["verified"] * 3
    assert [one.verdict.kind for one in read] == ["answer", "duplicate", "duplicate"]


async def test_a_copy_that_was_set_aside_takes_nothing_away(app: App) -> None:
    """Whoever holds a signed mail can send it first, with a header that sets it aside: the customer's own is answered."""
    at_noon = replace(app, now=lambda: NOW, resolver=Keys())
    raw = signed(mail(to=SUPPORT["address"], cc=""))
    read = [await read_in(at_noon, one) for one in (b"Auto-Submitted: auto-replied\r\n" + raw, raw, raw)]
    assert [one.identity.level for one in read] == ["verified"] * 3
    assert [one.verdict.kind for one in read] == ["park", "answer", "duplicate"]


def letters(count: int, **parts: Any) -> list[bytes]:
    """Mails with words and ids of their own."""
    return [letter(f"Word {n}.", **{"sender": ANN, "message_id": f"<{n}@acme.example>"} | parts) for n in range(count)]


async def test_a_sender_over_the_rate_goes_to_a_person_and_another_does_not(app: App) -> None:
    """The numbers are settings; what is over one is nobody's silence: a person has it, with the limit as the reason."""
    strict = changed(app, limits={"sender_per_hour": 2})
    read = [await read_in(strict, raw, vouched_by="the test") for raw in letters(3)]
    ben = letter("Hi", sender="ben@acme.example", message_id="<ben@acme.example>")
    other = await read_in(strict, ben, vouched_by="the test")
    assert [one.verdict.kind for one in (*read, other)] == ["answer", "answer", "human", "answer"]
    assert (read[2].verdict.filter, "more than 2 mails" in read[2].verdict.reason) == ("rates", True)


async def test_the_breaker_opens_for_all_proven_senders(app: App) -> None:
    """However many senders there are, and however new; what comes then is a person's."""
    strict = changed(app, limits={"all_per_hour": 2})
    senders = [f"{name}@acme.example" for name in ("ann", "ben", "cem")]
    raws = [letter(f"From {one}", sender=one, message_id=f"<{one}>") for one in senders]
    read = [await read_in(strict, raw, vouched_by="the test") for raw in raws]
    assert [one.verdict.kind for one in read] == ["answer", "answer", "human"]
    assert "the breaker is open" in read[2].verdict.reason


async def test_the_addresses_of_one_domain_used_up_what_all_customers_have(app: App) -> None:
    """Who has a domain has as many proven addresses as they like: past their limit, a person has theirs alone."""
    strict = changed(app, limits={"sender_per_hour": 2, "company_per_hour": 4})
    senders = [f"{n}@{'mail.' * (n % 2)}flood.example" for n in range(6)]
    raws = [letter(f"From {one}", sender=one, message_id=f"<{one}>") for one in senders]
    read = [await read_in(strict, raw, vouched_by="the test") for raw in raws]
    assert [one.verdict.kind for one in read] == ["answer"] * 4 + ["human"] * 2
    assert "more than 4 mails of this sender's company" in read[4].verdict.reason
    for number in range(4):  # at a public provider, and at a name that only ends alike, others are others
        other = f"n{number}@{('gmail.com', 'notflood.example')[number % 2]}"
        mail = letter(f"From {other}", sender=other, message_id=f"<n{number}>")
        assert (await read_in(strict, mail, vouched_by="the test")).verdict.kind == "answer"


async def test_a_mailbox_had_a_bucket_for_each_of_its_plus_addresses(app: App) -> None:
    """One mailbox is one sender, whatever it writes behind its plus; at a public provider, too."""
    strict = changed(app, limits={"sender_per_hour": 2})
    senders = [f"eve+{n}@gmail.com" for n in range(3)]
    raws = [letter(f"From {one}", sender=one, message_id=f"<{one}>") for one in senders]
    read = [await read_in(strict, raw, vouched_by="the test") for raw in raws]
    assert [one.verdict.kind for one in read] == ["answer", "answer", "human"]


async def test_twenty_spoofed_mails_do_not_silence_the_proven_customer(app: App) -> None:
    """What is sent in a customer's name, or in anybody's, uses up no limit of theirs: not theirs, not everybody's."""
    strict = changed(app, limits={"sender_per_hour": 2, "all_per_hour": 3, "same_words": 2})
    senders = [ANN, *(f"{n}@acme.example" for n in range(20))]
    for number, sender in enumerate(senders):
        await read_in(strict, letter("Help", sender=sender, message_id=f"<s{number}@evil.example>"))
    real = await read_in(strict, letter("Help", sender=ANN, message_id="<a@acme.example>"), vouched_by="the test")
    assert real.verdict.kind == "answer"


async def test_unproven_senders_share_one_small_bucket_of_their_inbox(app: App) -> None:
    """New addresses are free, so they count together; an inbox that is full of them leaves the other's bucket alone."""
    strict = changed(app, limits={"unproven_per_hour": 2})
    raws = [letter("Hi", sender=f"{n}@acme.example", message_id=f"<{n}@acme.example>") for n in range(4)]
    read = [await read_in(strict, raw) for raw in raws[:3]]
    assert [one.verdict.kind for one in read] == ["answer", "answer", "human"]
    assert "2 mails of unproven senders" in read[2].verdict.reason
    to_billing = letter("Hi", sender="dan@acme.example", to=BILLING["address"], message_id="<dan@acme.example>")
    assert (await read_in(strict, to_billing)).verdict.kind == "answer"


async def test_the_mails_of_one_unproven_address_have_a_bucket_of_their_own(app: App) -> None:
    """One address that many write in the name of does not use up what there is for all others."""
    read = [await read_in(app, raw) for raw in letters(4)]
    other = await read_in(app, letter("Hi", sender="ben@acme.example", message_id="<ben@acme.example>"))
    assert [one.verdict.kind for one in (*read, other)] == ["answer", "answer", "answer", "human", "answer"]


async def test_an_inbox_may_leave_whoever_is_not_proven_to_people(app: App) -> None:
    """`unproven = "human"` holds for the inbox that a mail is addressed to, and for unproven senders alone."""
    by_hand = changed(app, inboxes=[{**SUPPORT, "unproven": "human"}, BILLING])
    unproven = await read_in(by_hand, letter("Hi", sender=ANN, message_id="<1@acme.example>"), "billing")
    assert (unproven.inbox, unproven.verdict.kind, unproven.verdict.filter) == ("support", "human", "unproven_sender")
    vouched = letter("Hi again", sender=ANN, message_id="<2@acme.example>")
    assert (await read_in(by_hand, vouched, vouched_by="the test")).verdict.kind == "answer"


async def test_the_same_words_again_and_again_are_a_storm(app: App) -> None:
    """Under new ids each time, from one sender: two robots, or a form gone mad."""
    raws = [letter("Help", sender=ANN, message_id=f"<{n}@acme.example>") for n in range(4)]
    read = [await read_in(app, raw) for raw in raws]
    assert [one.verdict.kind for one in read] == ["answer"] * 3 + ["loop"]
    assert read[3].verdict.filter == "storm"


async def test_history_counts_for_no_limit(app: App) -> None:
    """An import of years of mail opens no breaker."""
    strict, inbox = changed(app, limits={"all_per_hour": 1}), app.settings.inbox("support")
    for number, raw in enumerate(letters(3)):
        taken = await accept(app, inbox, raw, source="file", source_key=f"old-{number}", mode="history")
        assert (await read_taken(strict, taken.mail_id)).verdict.kind == "answer"
    live = letter("Now", sender=ANN, message_id="<now@acme.example>")
    assert (await read_in(strict, live)).verdict.kind == "answer"


OURS = "ours.of.before@ourcompany.example"
ON_LEAVE = "I am on leave. My deputy has all the files and knows the project by heart."


async def we_wrote(app: App, seconds_ago: float, *, counted: bool = False) -> UUID:
    """A reply of ours to Ann that left a while ago, or one of those counted by departure; its id."""
    row = {"reply": uuid4(), "workspace": app.settings.workspace, "ours": OURS, "ann": ANN}
    row |= {"left": utc_now() - timedelta(seconds=seconds_ago)}
    row |= {"departs": row["left"] if counted else None}
    async with app.database.transaction(app.settings.workspace) as conn:
        await conn.execute(
            """INSERT INTO deliveries (reply_id, workspace, thread_id, turn_id, inbox, state, message_id, recipient,
                                       detail, created_at, changed_at, departs_at)
               VALUES (%(reply)s, %(workspace)s, %(reply)s, %(reply)s, 'support', 'sent', %(ours)s, %(ann)s, '',
                       %(left)s, %(left)s, %(departs)s)""",
            row,
        )
        await conn.execute(
            """INSERT INTO delivery_attempts (reply_id, version, workspace, at, attempt, result, detail)
               VALUES (%(reply)s, 1, %(workspace)s, %(left)s, 1, 'sent', '')""",
            row,
        )
    return cast(UUID, row["reply"])


@pytest.mark.parametrize(("seconds", "kind"), [(3, "park"), (600, "answer")])
async def test_a_note_within_seconds_of_our_mail_is_a_robots(app: App, seconds: float, kind: str) -> None:
    """One manner of a robot, and an answer faster than a person writes, are two kinds of evidence."""
    await we_wrote(app, seconds)
    answer = letter(ON_LEAVE, sender=ANN, subject="Re: Lamp", message_id="<note@acme.example>", in_reply_to=f"<{OURS}>")
    assert (await read_in(app, answer)).verdict.kind == kind


@pytest.mark.parametrize(
    ("answer", "seconds", "doubted"),
    [
        ({"in_reply_to": f"<{OURS}>"}, 3, True),
        ({"in_reply_to": f"<{OURS}>"}, 600, False),
        ({}, 3, True),
        ({}, 600, False),
        ({"sender": "bob@acme.example"}, 3, False),
        ({"subject": "Another lamp"}, 3, False),
        ({"in_reply_to": "<their-own@acme.example>"}, 3, False),
    ],
)
async def test_what_answers_ours_before_anyone_can_have_read_it_goes_to_a_colleague(
    app: App, answer: dict[str, str], seconds: float, doubted: bool
) -> None:
    """A question made a person of a responder; who writes again by themselves at that moment is judged as ever."""
    await we_wrote(app, seconds, counted=True)
    note = {"sender": ANN, "subject": "Re: Lamp", "message_id": "<note@acme.example>"} | answer
    found = (await read_in(app, letter("Is it urgent? Then ring the bell.", **note))).verdict
    assert (found.filter == "automatic_wording") is doubted
    assert found.kind == ("human" if doubted or note["sender"] == ANN else "answer")


async def test_who_tries_the_product_and_answers_at_once_is_answered(app: App) -> None:
    """An operator who vouches for the sender, as `correspondent write` does, has said that a person writes."""
    await we_wrote(app, 3)
    answer = letter("Thanks!", sender=ANN, subject="Re: Lamp", message_id="<a@acme.example>", in_reply_to=f"<{OURS}>")
    assert (await read_in(app, answer, vouched_by="operator at this machine")).verdict.kind == "answer"


async def test_the_same_note_once_more_is_a_robots(app: App) -> None:
    """A text that its author sent before is evidence, whatever the subject; somebody else's equal text is none."""
    await we_wrote(app, 600)
    verdicts = []
    for number, sender in enumerate((ANN, "bob@acme.example", ANN)):
        note = letter(
            ON_LEAVE,
            sender=sender,
            subject=f"Re: Lamp {number}",
            message_id=f"<note{number}@acme.example>",
            in_reply_to=f"<{OURS}>",
        )
        verdicts.append((await read_in(app, note)).verdict.kind)
    assert verdicts == ["answer", "answer", "park"]


async def test_a_report_is_about_whom_we_wrote_to(app: App) -> None:
    """Another recipient's hard failure is not ours: the fate of the address that we wrote to decides."""
    token = make_report_token(app.signing_keys, app.settings.workspace, await we_wrote(app, 60))
    fields = (
        "Reporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822; other@acme.example\nAction: failed\nStatus: 5.1.1\n\n"
        f"Final-Recipient: rfc822; {ANN}\nAction: failed\nStatus: 4.2.2\nDiagnostic-Code: smtp; 452 mailbox full\n"
    )
    raw = (
        "From: MAILER-DAEMON@mx.example\nTo: support@ourcompany.example\nSubject: Undelivered\nMessage-ID: <r@mx.example>\n"
        'MIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary="b"\n\n'
        f"--b\nContent-Type: text/plain\n\nIt failed.\n--b\nContent-Type: message/delivery-status\n\n{fields}\n"
        f"--b\nContent-Type: text/rfc822-headers\n\nMessage-ID: <{OURS}>\nTo: {ANN}\nSubject: Lamp\n"
        f"X-Report-Token: {token}\n\n--b--\n"
    )
    report = (await read_in(app, raw.encode())).report
    assert report is not None
    assert (report.kind, report.status) == ("soft", "4.2.2")
    assert report.recipients == ("other@acme.example", ANN)


async def test_a_mail_was_lost_when_postgres_crashed_between_the_key_of_its_bytes_and_its_event(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key's commit waits for no disk. Where it is gone when the event is stored, the bytes are kept again."""
    put = app.blobs.put

    async def crash(content: bytes, key: SubjectKey | None = None) -> str:
        monkeypatch.undo()
        name = await put(content, key)
        async with app.database.transaction() as conn:
            await conn.execute("DELETE FROM subject_keys")
        app.keys.forget(key.id if key else None)  # whoever reads the mail is another process
        return name

    monkeypatch.setattr(app.blobs, "put", crash)
    taken = await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key="1")
    (row,) = await events_of(app, taken.mail_id)
    await Runner(PROCESSOR, app).process(EventRow.of(**row).envelope())
    assert {one["type"] for one in await events_of(app, taken.mail_id)} == {"mail.received.v1", "email.read.v1"}


async def test_a_mail_whose_bytes_went_with_an_erase_was_given_up(app: App) -> None:
    """Its event may be somebody else's, and stays: it is done, and nothing comes of it."""
    taken = await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key="1")
    (row,) = await events_of(app, taken.mail_id)
    received = EventRow.of(**row).envelope()
    assert isinstance(received.data, MailReceived)
    destroyed = f"{uuid4().hex}/{received.data.blob.partition('/')[2]}"
    unreadable = replace(received, data=received.data.model_copy(update={"blob": destroyed}))
    await Runner(PROCESSOR, app).process(unreadable)
    assert len(await events_of(app, taken.mail_id)) == 1
    async with app.database.reading() as conn:
        done = await fetch_all(conn, "SELECT consumer FROM journal WHERE event_id = %(id)s", {"id": received.id})
    assert [one["consumer"] for one in done] == ["read_email"]
