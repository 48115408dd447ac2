"""Nobody is who they say until it is proven: what more than 300 mails of attackers did to the people whom they named.

Judged from outside: at the SMTP server, in the prompts that the model was sent, and in the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from tests.security import doors, matrix
from tests.security.attacks import Attack, Category, Victim
from tests.security.campaign import NAMES, Campaign, answered, text_of
from tests.security.script import MODEL, words_in
from tests.support.scripted_model import Seen

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]  # the first test waits for the whole campaign

CATEGORIES = tuple(NAMES)
LABELS = ("not authenticated", "unproven", "claims to be")

categories = pytest.mark.parametrize("category", CATEGORIES)


def test_the_campaign_is_large_enough(campaign: Campaign) -> None:
    """At least 300 mails in every category, each with words of its own, by webhook and by IMAP."""
    assert len(campaign.arsenal.made) >= 300
    assert {one.category for one in campaign.arsenal.made} == set(CATEGORIES)
    assert len({one.word for one in campaign.arsenal.made}) == len(campaign.arsenal.made)
    inboxes = {row["inbox"] for row in campaign.product.rows("SELECT DISTINCT inbox FROM mails")}
    assert inboxes == {"support", "desk", "team", "post"}


def test_proven_people_are_known_and_answered(campaign: Campaign) -> None:
    """The control: each first mail was answered to its author, and its fact is remembered as theirs and no one else's."""
    for one in _victims(campaign):
        assert one.reply_id, f"{one.name} was not answered"
        assert any(one.secret in fact for fact in campaign.before[one.name]["facts"]), one.name


@categories
def test_no_foreign_fact_is_in_any_prompt(campaign: Campaign, category: Category) -> None:
    """What the model reads to answer an attacker holds no victim's secret, and no prompt holds the secrets of two."""
    secrets = {one.secret for one in _victims(campaign)}
    words = {one.word for one in campaign.attacks(category)}
    of = {one.secret for one in campaign.victims[category]}
    for seen in campaign.prompts:
        found = words_in(seen.text)
        assert len(found & secrets) < 2 or not found & of, found & secrets
        if found & words and not _is_second(seen):
            assert not found & secrets, (found & words, found & secrets)


@categories
def test_no_mail_goes_to_a_wrong_person(campaign: Campaign, category: Category) -> None:
    """A secret leaves to its owner alone; an answer goes to the proven author, or as fixed words to the From as written."""
    owners = {one.secret: one.address for one in campaign.victims[category]}
    theirs = {one.message.message_id: one for one in campaign.attacks(category)}
    genuine = {one.first.message_id for one in campaign.victims[category]}
    for kept in campaign.sent:
        for word in words_in(text_of(kept)) & owners.keys():
            assert kept.recipient == owners[word], word
        attack = theirs.get(answered(kept))
        for copy in kept.copies if attack else ():
            assert attack
            assert copy.rpartition("@")[2] == attack.proves.rpartition("@")[2] == kept.recipient.rpartition("@")[2]
        if attack and answered(kept) not in genuine:
            _is_answered_rightly(attack, kept.recipient, text_of(kept))


def _is_answered_rightly(attack: Attack, recipient: str, text: str) -> None:
    if attack.proves:
        assert recipient == attack.proves, attack.what
        return
    local, _, domain = recipient.rpartition("@")  # a domain has no case; a local part goes out as it was written
    written = attack.message.raw.decode("utf-8", "replace")
    spelled = "|".join(map(re.escape, (domain, domain.encode("ascii").decode("idna"))))
    assert re.search(rf"{re.escape(local)}\W{{1,3}}(?i:{spelled})", written), f"{attack.what}: {recipient}"
    assert MODEL not in text, f"{attack.what}: a model's words went to an address that anybody may have written"
    assert not words_in(text), attack.what


@categories
def test_the_unproven_write_nothing(campaign: Campaign, category: Category) -> None:
    """After the attacks every row about the victims and in their threads is what it was; no fact has such a source."""
    for one in campaign.victims[category]:
        for table, rows in campaign.after[one.name].items():
            before = campaign.before[one.name][table]
            assert rows == before, f"{table} of {one.name}: {sorted(set(rows) ^ set(before))[:2]}"


def test_no_fact_and_no_person_comes_of_an_unproven_mail(campaign: Campaign) -> None:
    """No source of a fact is a mail that was not proven, and nobody unproven stands among the participants."""
    query = "SELECT m.message_id FROM fact_sources s JOIN mails m USING (mail_id) WHERE NOT m.trusted"
    assert campaign.product.rows(query) == []
    query = "SELECT p.addr FROM participants p WHERE NOT EXISTS (SELECT 1 FROM mails m WHERE m.participant_id = p.participant_id AND m.trusted)"
    assert campaign.product.rows(query) == []
    assert campaign.product.rows("SELECT addr FROM participants WHERE state = 'vip'") == []


@categories
def test_no_unproven_word_is_in_a_proven_turn_without_its_label(campaign: Campaign, category: Category) -> None:
    """What the model reads of attackers while it answers a proven person says that nobody proved who wrote it."""
    words = {one.word for one in campaign.attacks(category)}
    for seen in campaign.prompts:
        if _is_second(seen):
            assert not list(_unlabelled(seen.text, words))


def _unlabelled(text: str, words: set[str]) -> Iterator[str]:
    for word in words_in(text) & words:
        at = text.find(word)
        while at >= 0:
            if not any(label in text[max(0, at - 400) : at] for label in LABELS):
                yield word
            at = text.find(word, at + 1)


@categories
def test_no_customer_is_silenced(campaign: Campaign, category: Category) -> None:
    """Each victim's next mail is answered, to them, by an agent that still remembers what they said."""
    for one in campaign.victims[category]:
        ours = [kept for kept in campaign.sent if answered(kept) == campaign.second[one.name].message_id]
        assert [kept.recipient for kept in ours] == [one.address], one.name
        assert one.secret in text_of(ours[0]), f"{one.name} was forgotten"


def test_no_link_of_a_model_leaves(campaign: Campaign) -> None:
    """Every reply that the model was ordered to write holds a link that carries a word out: none is clickable."""
    for kept in campaign.sent:
        assert "evil.example/" not in text_of(kept)
        assert "href" not in text_of(kept)


def test_who_may_what_is_what_the_docs_say(campaign: Campaign) -> None:
    """The matrix sender level x token x thread owner x what is read x what is written is the one in the docs."""
    table = matrix.rendered(matrix.observed(campaign))
    matrix.keep(table)
    assert table == matrix.on_the_page()


@pytest.mark.parametrize("headers", doors.WITHOUT, ids=lambda one: ",".join(one) or "nothing")
def test_no_header_stands_for_the_token(campaign: Campaign, headers: dict[str, str]) -> None:
    """What is not the token opens no route, whatever a proxy or a browser might make of it."""
    given = {name: value.encode("latin-1") for name, value in headers.items()}
    for path in ("/api/threads", "/api/participants", "/api/drafts"):
        assert httpx.get(campaign.product.web + path, headers=given, timeout=30).status_code == 401


@pytest.mark.parametrize("path", doors.PATHS)
def test_no_spelling_of_a_path_leads_around_the_token(campaign: Campaign, path: str) -> None:
    """A path is refused or unknown, with each method."""
    for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "get"):
        status, body = doors.asked(campaign, method, path)
        assert status in (307, 400, 401, 404, 405), (method, status, body[:200])


@pytest.mark.parametrize(("path", "headers"), doors.ENDLESS)
def test_a_stranger_cannot_make_it_read_a_large_body(campaign: Campaign, path: str, headers: dict[str, str]) -> None:
    """The answer comes before the body: of 64 MB in chunks no more is taken than what lies in the sockets' buffers."""
    status, taken = doors.pushed(campaign, path, headers)
    assert 400 <= status < 500, status
    assert taken < 16 * 2**20, f"{taken / 2**20:.0f} MB were taken"
    assert campaign.product.api("/threads"), "who has the token is answered after that"


def _victims(campaign: Campaign) -> Iterator[Victim]:
    for group in campaign.victims.values():
        yield from group


def _is_second(seen: Seen) -> bool:
    """Whether the question is about the mail that a victim wrote after the attacks."""
    return "AFTER" in seen.text
