"""The worlds' mails before our own mail side: read, authenticated and judged as their stories say."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.core.mailbox import MailboxKey
from services.demo.world import Mail, Sent, SentReply, World, ZoneResolver, make_world
from services.mail.authentication import authenticate
from services.mail.filters import FilterContext, judge
from services.mail.mime import read_mail
from services.mail.reports import read_report

SEEDS = (0, 1, 7, 42)
_VERDICTS = {"parked": "park", "bounce": "bounce", "human": "human"}  # anything else may be answered
OURS = SentReply(
    "r1@ours.example",
    ("x@y.example",),
    "Re: hello",
    "Hi,\n\nyes.\n",
    datetime(2026, 3, 3, 10, tzinfo=UTC),
    "abcdefghijkl2345",
)


def _raw(world: World, mail: Mail) -> bytes:
    return mail.render(Sent({one.key: OURS for one in world.mails}))


@pytest.mark.parametrize("seed", SEEDS)
def test_identity_is_computed_as_the_story_says(seed: int) -> None:
    """Genuine mails are verified by DMARC, the forged one fails; the zone is all the DNS there is."""
    world = make_world(seed)
    for mail in world.mails:
        raw = _raw(world, mail)
        own, zone = [MailboxKey(one) for one in world.inboxes], ZoneResolver(world.dns_zone)
        level = authenticate(raw, read_mail(raw), None, zone, own_addresses=own, arrived=mail.received_at).level
        assert level == {"none": "unverified"}.get(mail.authentication, mail.authentication), mail.key


@pytest.mark.parametrize("seed", SEEDS)
def test_filters_judge_as_the_story_says(seed: int) -> None:
    """Out-of-office and newsletter are parked, the bounce is a bounce of ours, the forgery goes to a person."""
    world = make_world(seed)
    for mail in world.mails:
        raw = _raw(world, mail)
        parsed = read_mail(raw)
        report = read_report(parsed, raw)
        context = FilterContext(
            own_addresses=frozenset(world.inboxes),
            envelope_from=mail.envelope_from,
            identity=authenticate(raw, parsed, None, ZoneResolver(world.dns_zone)).level,
            report=report,
            report_names_ours=bool(report and report.original_message_id == OURS.message_id),
            report_proven=bool(report and report.token == OURS.report_token),
        )
        verdict = judge(parsed, context)
        assert verdict.kind == _VERDICTS.get(mail.expected.outcome, "answer"), (mail.key, verdict)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_new_text_is_what_the_customer_wrote(seed: int) -> None:
    """Below our quoted reply, the new text holds the customer's words and none of ours."""
    world = make_world(seed)
    for mail in world.mails:
        if mail.answers:
            new = read_mail(_raw(world, mail)).reply.new
            assert new.split()[:4] == mail.message.text.split()[:4], mail.key
            assert "yes." not in new
