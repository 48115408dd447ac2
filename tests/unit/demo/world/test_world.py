"""The invented worlds: pure, varied, really signed, and honest about what fails."""

from __future__ import annotations

import email
import email.policy
from datetime import UTC, datetime
from itertools import pairwise

import dkim
import pytest

from services.demo.world import Sent, SentReply, World, make_world

SEEDS = (0, 1, 7, 42, 2**31)
OURS = SentReply(
    "reply.1@ours.example",
    ("first@acme.example",),
    "Re: hello",
    "Hi,\n\nthe answer.\n",
    datetime(2026, 3, 3, 10, tzinfo=UTC),
)


def _resolver(world: World):
    def txt(name: bytes | str, **_: object) -> bytes | None:
        plain = (name.decode() if isinstance(name, bytes) else name).rstrip(".").lower()
        records = world.dns_zone.get(plain)
        return records[0].encode() if records else None

    return txt


def _all_sent(world: World) -> Sent:
    return Sent({mail.key: OURS for mail in world.mails})


@pytest.mark.parametrize("seed", SEEDS)
def test_same_seed_same_bytes(seed: int) -> None:
    """Two worlds of one seed are equal, and each mail renders to the same bytes, signature included."""
    one, two = make_world(seed), make_world(seed)
    assert one == two
    for mail in one.mails:
        assert mail.render(_all_sent(one)) == two.mail(mail.key).render(_all_sent(two))


def test_other_seeds_draw_other_worlds() -> None:
    """Ten seeds give ten regulars' first mails, no two alike, and more than one product, plan and wording."""
    worlds = [make_world(seed) for seed in range(1, 11)]
    assert len({world.mail("regular-1").message.text for world in worlds}) == 10
    assert len({world.product.name for world in worlds}) > 2
    assert len({world.product.top.name for world in worlds}) > 1
    assert len({world.mail("regular-4").message.text for world in worlds}) > 2


def test_canonical_world_is_john_of_acme() -> None:
    """Seed 0 tells of John of Acme, who upgrades to Enterprise and comes back in June."""
    world = make_world(0)
    assert world.mail("regular-1").message.sender == "John Miller <john@acme.example>"
    assert "Enterprise" in world.mail("regular-3").message.text
    assert world.mail("regular-4").received_at.month == 6
    assert make_world() == world


@pytest.mark.parametrize("seed", SEEDS)
def test_verified_mails_verify_and_failed_ones_fail(seed: int) -> None:
    """With the world's own zone, DKIM holds for every mail that claims to be verified and for no forged one."""
    world = make_world(seed)
    outcomes = set()
    for mail in world.mails:
        if mail.message.seal is None:
            assert mail.authentication == "none"
            continue
        good = dkim.verify(mail.render(_all_sent(world)), dnsfunc=_resolver(world))
        assert good == (mail.authentication == "verified"), mail.key
        outcomes.add(mail.authentication)
    assert outcomes == {"verified", "failed"}


def test_a_changed_body_breaks_the_signature() -> None:
    """The seal covers the body: one changed word and the mail no longer verifies."""
    world = make_world(0)
    raw = world.mail("regular-1").render(Sent())
    assert dkim.verify(raw, dnsfunc=_resolver(world))
    assert not dkim.verify(raw.replace(b"invoice", b"account"), dnsfunc=_resolver(world))


def test_replies_reference_what_we_really_sent() -> None:
    """A reply's In-Reply-To is our Message-ID known at run time; References hold the whole chain."""
    mail = make_world(0).mail("regular-2")
    parsed = email.message_from_bytes(mail.render(Sent({"regular-1": OURS})), policy=email.policy.default)
    assert parsed["In-Reply-To"] == "<reply.1@ours.example>"
    assert parsed["References"].split() == ["<first@acme.example>", "<reply.1@ours.example>"]
    assert "> the answer." in parsed.get_content()


def test_a_reply_to_nothing_references_the_customers_own_mail() -> None:
    """If we never answered, the customer's next mail refers to their own first one and quotes nothing."""
    world = make_world(0)
    parsed = email.message_from_bytes(world.mail("angry-2").render(Sent()), policy=email.policy.default)
    assert parsed["In-Reply-To"] == f"<{world.mail('angry-1').message.message_id}>"
    assert "wrote:" not in parsed.get_content()


def test_the_bounce_names_our_reply() -> None:
    """The delivery report is a multipart/report with status 5.1.1 whose returned headers hold our Message-ID."""
    world = make_world(3)
    parsed = email.message_from_bytes(world.mail("gone-2").render(Sent({"gone-1": OURS})), policy=email.policy.default)
    kinds = [part.get_content_type() for part in parsed.walk()]
    assert parsed.get_content_type() == "multipart/report"
    assert "message/delivery-status" in kinds
    assert "text/rfc822-headers" in kinds
    assert OURS.message_id in parsed.as_string()
    assert "5.1.1" in parsed.as_string()


@pytest.mark.parametrize("seed", SEEDS)
def test_mails_stand_in_order_of_time_with_their_own_keys(seed: int) -> None:
    """Mails are chronological, keys are unique, and an answered mail comes before its answer."""
    world = make_world(seed)
    assert all(one.received_at <= two.received_at for one, two in pairwise(world.mails))
    assert len({mail.key for mail in world.mails}) == len(world.mails)
    for mail in world.mails:
        for earlier in filter(None, (mail.answers, mail.about)):
            assert world.mail(earlier).received_at < mail.received_at


@pytest.mark.parametrize("seed", SEEDS)
def test_everyone_writes_from_a_domain_of_their_own(seed: int) -> None:
    """No two people share a name, a company or a domain, and every address ends in `.example`."""
    people = make_world(seed).people
    assert len({person.seal.domain for person in people}) == len(people)
    assert len({person.first for person in people}) == len(people)
    assert all(person.address.endswith(".example") for person in people)


@pytest.mark.parametrize("seed", SEEDS)
def test_documents_hold_the_products_figures(seed: int) -> None:
    """Every plan's price and the refund period stand in the knowledge base."""
    world = make_world(seed)
    text = "\n".join(document.text for document in world.documents)
    assert 6 <= len(world.documents) <= 10
    for plan in world.product.plans:
        assert f"The {plan.name} plan costs ${plan.price} per user per month" in text
    assert f"within {world.product.refund_days} days" in text
