"""What the mail benchmark measures is what the product does: its targets hold where the corpora are."""

from __future__ import annotations

import random

import pytest

from services.mail.authentication.results import Dmarc
from tests.benchmarks import mail_robots, mail_sender_auth, mail_threads
from tests.support.corpora import corpus

# Words that were not seen when the tables were made: docs/benchmarks.md says how far they are from their targets, and
# test_automatic_replies.py holds what is reached.
NOT_REACHED = {
    *(
        f"judging: robots answered, {name} notes, words alone"
        for name in ("written apart", "frozen", "drawn", "concept", "later", "further", "held-out", "fresh")
    ),
    *(f"judging: robots answered, {name} notes, at once" for name in ("drawn", "concept", "later", "further")),
    "judging: people parked, later mails",
}


@pytest.mark.slow
def test_the_simulators_targets_are_met() -> None:
    """No robot with a header or prefix is answered, and no sentence of a person who sounds like one is parked."""
    assert {line.name for line in mail_robots.simulator() if line.met is False} <= NOT_REACHED


def test_conversations_are_the_corpus_trees_in_any_order_of_arrival() -> None:
    """The resolver that the product runs groups the mails of Mail::Thread's tests as their trees do."""
    for box, trees in mail_threads.expected(corpus("threading")):
        mails = list(mail_threads.facts(box))
        for seed in range(10):
            random.Random(seed).shuffle(mails)
            assert mail_threads.placed(mail_threads.by_one_author(mails)).groups() == trees
            for group in mail_threads.placed(mails).groups(linked=False):
                assert any(group <= tree for tree in trees)


@pytest.mark.parametrize(
    ("found", "symbol"),
    [
        (Dmarc("none"), "DMARC_NA"),
        (Dmarc("temperror", "reject"), "DMARC_DNSFAIL"),
        (Dmarc("temperror"), "DMARC_DNSFAIL"),
        (Dmarc("permerror"), "DMARC_BAD_POLICY"),
        (Dmarc("pass", "reject"), "DMARC_POLICY_ALLOW"),
        (Dmarc("fail", "none"), "DMARC_POLICY_SOFTFAIL"),
        (Dmarc("fail", "reject"), "DMARC_POLICY_REJECT"),
    ],
)
def test_every_dmarc_result_has_a_word_in_the_score(found: Dmarc, symbol: str) -> None:
    """An outage and a domain without a record are outcomes of their own, not unknown ones."""
    assert mail_sender_auth.dmarc_symbol(found) == symbol
