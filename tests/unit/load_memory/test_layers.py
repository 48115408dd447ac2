"""The layers: their order, and what each shows of the rows it is given."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from schemas.events.memory import Trust
from schemas.summary_limit import limited
from schemas.words import BYTES_A_WORD, clip_words
from services.core.settings import ContextSettings, InboxSettings, LearningSettings, MemorySettings
from services.load_memory.layers import LAYERS, brief, earlier, mail, participant, persona, session, summary
from services.load_memory.participant_lines import care, fact_entry, issue_entry, mood
from services.load_memory.section import entry, fit, section
from services.load_memory.turn import MailToAnswer
from services.memory.facts import Fact
from services.memory.said import Said
from services.memory.search import Hit

TURN: Any = SimpleNamespace(
    settings=ContextSettings(), app=SimpleNamespace(settings=SimpleNamespace(learning=LearningSettings()))
)
NOW = datetime(2026, 3, 9, tzinfo=UTC)


def answered(number: int, text: str, **given: str) -> MailToAnswer:
    fields: dict[str, Any] = {"quoted": "", "signature": "", **given}
    return MailToAnswer(
        mail_id=UUID(int=number),
        participant_id=UUID(int=1),
        message_id=f"{number}@example.org",
        subject=f"subject {number}",
        text=text,
        author_name="Ada",
        author_addr="ada@example.org",
        received_at=datetime(2026, 3, number, tzinfo=UTC),
        language="en",
        flags=[],
        attachments=[],
        **fields,
    )


def test_what_all_mails_share_comes_first() -> None:
    """The shared layers are a prefix, so that the provider can cache them, and the new mail comes last."""
    shared = [layer.SHARED for layer in LAYERS]
    assert shared == sorted(shared, reverse=True)
    assert LAYERS[-1].NAME == "mail"
    assert len({layer.NAME for layer in LAYERS}) == len(LAYERS)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.NAME)
def test_a_layer_has_a_budget_and_only_our_own_words_are_trusted(layer: Any) -> None:
    """What grows with a customer has a budget, and what customers or models wrote is fenced and masked."""
    assert layer.ABOUT.endswith(".")
    assert "\n" not in layer.ABOUT
    assert layer.budget(TURN) is None or layer.budget(TURN) > 0
    assert layer.TRUSTED is (layer.NAME in {"persona", "behaviours", "guidance", "today", "profile"})


async def test_the_replys_tools_are_told_what_the_mailbox_stores() -> None:
    """Kinds, examples and instructions of a mailbox stand in its persona, for what is stored while the mail is read."""
    own = MemorySettings(
        instructions="You keep the memory of a school.",
        kinds={"class": "which class a child attends"},
        examples=("class: 4b",),
    )
    for memory, entries in ((MemorySettings(), 1), (own, 4)):
        box = InboxSettings(name="school", address="school@ourcompany.example", memory=memory)
        turn = SimpleNamespace(inbox=box, chosen={"persona": SimpleNamespace(value="You are kind.")})
        found = await persona.load(turn, None)  # type: ignore[arg-type]
        layer = fit("persona", found, None, shared=True, trusted=True)
        assert layer.text.startswith("You are kind.")
        assert len(layer.items) == entries
    for told in ("When you store facts: You keep the memory of a school.", "- class: which class", "- class: 4b"):
        assert told in layer.text


async def test_a_burst_is_read_oldest_first() -> None:
    """The mails of a turn stand in the order in which they came."""
    found = await mail.load(SimpleNamespace(mails=(answered(1, "first"), answered(2, "second"))), None)  # type: ignore[arg-type]
    layer = fit("mail", found, mail.budget(TURN), shared=False, trusted=False)
    assert [one["text"] for one in layer.items] == ["first", "second"]


async def test_a_quote_beside_a_few_words_is_marked_as_one() -> None:
    """Where the new text is a few words, signature and quote stand below it, each said to be what it was taken for."""
    short = answered(1, "On Thursday.", quoted="When shall we come?\nSupport", signature="Ann")
    found = await mail.load(SimpleNamespace(mails=(short,)), None)  # type: ignore[arg-type]
    text = fit("mail", found, mail.budget(TURN), shared=False, trusted=False).text
    assert text.index("On Thursday.") < text.index(mail.SIGNATURE) < text.index("> Ann") < text.index(mail.QUOTED)
    assert text.index(mail.QUOTED) < text.index("> When shall we come?\n> Support")


async def test_the_newest_mail_is_never_left_out_for_an_older_one() -> None:
    """Where a burst is longer than the budget, the newest mail is what the reply must know."""
    long = "word " * 6000
    mails = (answered(1, long), answered(2, long), answered(3, "the newest question"))
    found = await mail.load(SimpleNamespace(mails=mails), None)  # type: ignore[arg-type]
    layer = fit("mail", found, mail.budget(TURN), shared=False, trusted=False)
    assert layer.items[-1]["text"] == "the newest question"
    assert layer.left_out == 1


@pytest.mark.parametrize("word", ["export", "Выгрузка", "客户", "ரசீதுகளைச்", "ส่งออก", "x" * 90, "🙂"])
@pytest.mark.parametrize("layer", [summary, session], ids=lambda layer: layer.NAME)
def test_a_full_summary_lost_its_end_in_other_scripts(layer: Any, word: str) -> None:
    """What is pending stands last: a summary of as many words as it may have is shown to its end, in any script."""
    text = f"{limited((word + ' ') * 900, 190)}. Pending: 4471 LAST"
    shown = fit(layer.NAME, section([entry(text, text=text)]), layer.budget(TURN), shared=False, trusted=False)
    assert shown.text.endswith("Pending: 4471 LAST")


@pytest.mark.parametrize("word", ["export", "Выгрузка", "客户", "ரசீதுகளைச்"])
def test_a_full_brief_is_shown_whole(word: str) -> None:
    """Five hundred words of any script have room."""
    text = clip_words((word + " ") * 900, 500)
    assert fit("brief", section([entry(text)]), brief.budget(TURN), shared=False, trusted=False).text == text


def test_of_five_earlier_threads_one_or_two_were_shown() -> None:
    """As many threads as the settings say are shown, each with the longest summary, reply and passages that it may have."""
    of = UUID(int=1), UUID(int=2), "Export", "resolved"
    summary, reply = (" ".join(["x" * (BYTES_A_WORD - 1)] * words) for words in (200, earlier.REPLY_WORDS))
    answered = Said(*of, role="agent", at=NOW, text=reply, author="")
    heard = Said(*of, role="customer", at=NOW, text="y" * 400, author="Ada Miller-Lindström")
    entries = [
        earlier.thread_entry(
            "Export", "resolved", NOW, summary, [answered, *[heard] * (earlier.PASSAGES if bears else 0)]
        )
        for bears in (True, True, True, False, False)
    ]
    shown = fit("earlier", section(entries), earlier.budget(TURN), shared=False, trusted=False)
    assert (shown.text.count("«"), shown.text.count("y" * 400), shown.left_out) == (5, 6, 0)


def test_a_hundred_ordinary_facts_are_shown_whole() -> None:
    """What counts as a small memory fits its budget: none of a hundred facts of a usual length is left out."""
    words = "Ada Miller told us that her team at Acme works with the Enterprise plan."
    facts = [
        fact_entry(Hit(a_fact(number, words), 0.5, 0.5, 0.5, 1.0, 0.5), "bears on the mail", NOW, 0.7)
        for number in range(100)
    ]
    layer = fit("participant", section(facts), participant.budget(TURN), shared=False, trusted=False)
    assert layer.left_out == 0


@pytest.mark.parametrize(
    ("trust", "said"),
    [
        ("authenticated", "the customer's word"),
        ("inferred", "the customer's word"),
        ("human", "a colleague's word"),
        ("ours", "our own word"),
    ],
)
def test_a_customers_claim_about_us_stood_in_the_prompt_like_a_fact_of_ours(trust: Trust, said: str) -> None:
    """Each fact says whose word it is, in whatever language it claims that we promised something."""
    fact = replace(a_fact(1, "貴社は5000ドルを払うと言いました。"), trust=trust)
    assert f"({said}, since" in fact_entry(Hit(fact, 0.5, 0.5, 0.5, 1.0, 0.5), "bears on the mail", NOW, 0.7).text


def test_what_happened_once_read_as_if_it_went_on() -> None:
    """An occurrence is told with its day; what is so, since when; what goes on until its own end, with that."""

    def told(fact: Fact) -> str:
        return fact_entry(Hit(fact, 0.5, 0.5, 0.5, 1.0, 0.5), "bears on the mail", NOW, 0.7).text

    day, fact = f"{NOW:%Y-%m-%d}", a_fact(1, "The export failed.")
    for kind in ("event", "interaction", "resolution", "issue_history", "action", "note"):
        assert f", on {day})" in told(replace(fact, kind=kind))
    assert f", since {day})" in told(fact)
    end = NOW + timedelta(days=9)
    assert f", since {day}, ends {end:%Y-%m-%d})" in told(replace(fact, kind="event", expires_at=end))
    assert f", on {day}, not so any more)" in told(replace(fact, kind="event", superseded_at=NOW))
    assert f", {day} to {day}, not so any more)" in told(replace(fact, valid_to=NOW))


def a_fact(number: int, text: str) -> Fact:
    return Fact(
        fact_id=UUID(int=number), participant_id=UUID(int=1), kind="customer_info", key=f"plan {number}", value="v",
        text=text, confidence=0.8, importance=0.5, weight=1, trust="inferred", pinned=False, valid_from=NOW,
        valid_to=None, expires_at=None, recorded_at=NOW, superseded_at=None, source_message_id=None, quote=None,
    )  # fmt: skip


def test_the_prompt_said_three_mails_whatever_the_setting() -> None:
    """How many mails in a row made the risk high is told as the settings have it."""
    assert "frustrated 5 mails in a row: take special care" in care(5)
    assert "frustrated in their last mail: take special care" in care(1)


def test_three_threads_bear_on_a_mail_each_with_its_two_best_messages() -> None:
    """The best hit of a thread gives its place; a summary counts for its thread and is not quoted twice."""

    def hit(thread: int, number: int, role: str = "customer") -> Said:
        return Said(UUID(int=number), UUID(int=thread), "Smudges", "closed", role, NOW, f"text {number}", "Ada")  # type: ignore[arg-type]

    hits = [hit(1, 1), hit(2, 2, "summary"), hit(1, 3), hit(3, 4), hit(1, 5), hit(4, 6), hit(2, 7)]
    found = earlier.relevant(hits, 3)
    assert {id.int: [one.id.int for one in some] for id, some in found.items()} == {1: [1, 3], 2: [7], 3: [4]}
    late = replace(hit(1, 3), at=NOW + timedelta(days=2))
    shown = earlier.thread_entry("Smudges", "closed", NOW, "They smudged.", [late, hit(1, 1)]).text
    assert shown.splitlines()[1:] == [f"  {NOW:%Y-%m-%d} Ada: “text 1”", f"  {late.at:%Y-%m-%d} Ada: “text 3”"]


@pytest.mark.parametrize(("threads", "recalls"), [(0, True), (3, False)])
async def test_other_threads_are_not_searched_where_none_are_shown_or_the_mail_asks_nothing(
    threads: int, recalls: bool
) -> None:
    """Where no thread that bears on a mail is to be shown, or memory is not asked, no search is made."""
    turn: Any = SimpleNamespace(settings=ContextSettings(relevant_threads=threads), recalls=recalls)
    assert await earlier.bearing(turn, UUID(int=1), None) == []  # type: ignore[arg-type]


async def test_an_author_whom_nothing_proves_has_no_other_threads() -> None:
    """Nothing is read of the person whom they claim to be."""
    for layer in (earlier, participant):
        assert (await layer.load(SimpleNamespace(participant_id=None), None)).entries == ()  # type: ignore[arg-type]


def test_what_nobody_confirmed_says_so() -> None:
    """A fact below the operator's bound is marked, one above it is not."""
    found = Hit(replace(a_fact(1, "Team plan."), confidence=0.69), 0.5, 0.5, 0.5, 1.0, 0.5)
    assert ", not confirmed)" in fact_entry(found, "bears on the mail", NOW, 0.7).text
    assert "not confirmed" not in fact_entry(found, "bears on the mail", NOW, 0.69).text


def test_a_mood_that_hardly_moved_is_steady() -> None:
    """A step below a twentieth is no trend; where none was noted before there is none either."""
    assert mood(0.30, 0.26).endswith(", steady")
    assert mood(0.30, 0.10).endswith(", rising from +0.10")
    assert mood(0.30, None).endswith("delighted)")


def test_a_repeated_issue_says_which_report_the_next_one_is() -> None:
    """Of the fifth time the model is told that it is the fifth; a first report is told as one."""
    row = {"issue_key": "export fails", "reports": 4, "resolved": False, "last_at": NOW}
    assert "Not new: a further report is number 5" in issue_entry(row).text
    assert "Not new" not in issue_entry({**row, "reports": 1}).text
