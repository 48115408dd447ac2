"""The words of robots and mail systems are looked for in bounded time."""

from __future__ import annotations

import importlib.resources
import re

import pytest

from services.core.wording import bounded, folded, lines_of
from services.mail.mime import read_mail
from services.mail.reports.automatic.evidence import LANGUAGES, PACKAGE, PARTS, TABLES, read_wording, shares
from services.mail.reports.automatic.judgement import judge_automatic, read_subject
from services.mail.reports.automatic.phrases import is_unspaced, read_line
from services.mail.reports.wording import find_wording, opens_with_wording
from tests.support.cpu import at_most

SIGNS = ("!", " ", "-", "[", "日", "\u200b", "\ufdfa", "a ", "1 ", "a@b ", "\n\n")
RUNS = (
    *SIGNS,
    "re:",
    "Re: ",
    "r : ",
    "aw:!",
    "auto",
    "ticket id ",
    "delivery ",
    "automatic reply ",
    "urlaub ",
    "在休假",
)
ALL_TABLES = (*TABLES, "mailing", "subject_statements", "subjects")
IN_LANGUAGES = sorted(
    one.name.removesuffix(".txt") for one in importlib.resources.files(LANGUAGES).iterdir() if one.name.endswith(".txt")
)
LONG = 200_000


def repeated(run: str) -> str:
    """A text of 200 kB that says one thing."""
    return run * (LONG // len(run))


@pytest.mark.parametrize("run", RUNS)
def test_a_subject_of_one_repeated_sign_stopped_the_reader(run: str) -> None:
    """A subject of 200 kB is matched in far less than a second, whatever it repeats."""
    with at_most(1.0, f"a run of {run!r}"):
        opens_with_wording("bounce_subjects", repeated(run))
        read_subject(repeated(run))
        read_subject(f"Re: {repeated(run)}: {repeated(run)}")


@pytest.mark.parametrize("run", RUNS)
def test_a_body_of_one_repeated_word_is_matched_in_bounded_time(run: str) -> None:
    """A body is matched up to a limit, so that no caller has to cap it."""
    with at_most(2.0, f"a run of {run!r}"):
        for name in ("bounce_sentences", "challenge_sentences"):
            find_wording(name, repeated(run))
        read_wording(repeated(run))
        shares(repeated(run))


@pytest.mark.parametrize("run", RUNS)
def test_a_mail_of_one_repeated_sign_is_judged_in_bounded_time(run: str) -> None:
    """Subject and body of one repeated sign in one mail: whether a robot wrote it is known at once."""
    head = f"From: a@b.example\nIn-Reply-To: <x@y>\nSubject: Automatic {repeated(run)[:20_000]}".replace("\n\n", "\n ")
    mail = read_mail(f"{head}\nContent-Type: text/plain; charset=utf-8\n\n{repeated(run)}".encode())
    with at_most(2.0, f"a run of {run!r}"):
        judge_automatic(mail, within_seconds=True, seen_before=True)


@pytest.mark.parametrize("table", ALL_TABLES)
def test_a_body_of_a_tables_own_words_is_matched_in_bounded_time(table: str) -> None:
    """What a phrase begins with, repeated without its end, takes no phrase more than a fraction of a second."""
    for line in lines_of(PACKAGE, table):
        if line.startswith("*") or is_unspaced(line):
            runs = [line.strip("*").split("...")[0].strip("()?").partition("|")[0]]
        else:
            runs = [" ".join(word.rstrip("*") for word in row) + " x " for row, _ in read_line(folded(line))][:3]
        for run in filter(None, runs):
            with at_most(0.5, f"{table}: a run of {run!r}"):
                read_wording(repeated(run)[:10_000])


@pytest.mark.parametrize("subject", ["Automatic reply: x", "!!! Automatic reply Re: x", "Out of Office: AW: x"])
def test_a_mail_programs_prefix_is_known_behind_signs(subject: str) -> None:
    """Signs before a robot's words, and the reply prefix behind them, do not hide them."""
    assert read_subject(subject).prefix


@pytest.mark.parametrize(
    "subject", ["Auto: x", "[Automatic reply] x", "Re: On vacation", "Ann Lee is out of the office"]
)
def test_a_subject_that_people_use_too_is_a_hint_alone(subject: str) -> None:
    """Words that are not a mail program's own prefix, or behind brackets, `Re:` or a name, need a second kind."""
    assert not read_subject(subject).prefix
    assert read_subject(subject).hint


@pytest.mark.parametrize(
    "subject",
    [
        *("Report: automatic reply of our server", "How do I set an automatic reply?"),
        *("Re: [AW: automatic reply", "My lamp is out of order", "Is the office of Ann open?"),
    ],
)
def test_a_persons_subject_about_robots_is_not_a_robots(subject: str) -> None:
    """Words before a robot's words make them a person's, and its text decides."""
    assert not read_subject(subject).prefix
    body = "The lamp arrived, thank you. Our server has a bulb now as well."
    assert not judge_automatic(read_mail(f"From: a@b.example\nSubject: {subject}\n\n{body}".encode())).why


def test_what_a_line_repeats_is_bounded() -> None:
    """Classes repeat at most sixty times, and what is bounded or escaped stays as it is."""
    assert bounded(r"a\S* ?\w+.{0,40}x") == r"a\S{0,60} ?\w{1,60}.{0,40}x"
    assert bounded(r"( bis\b.*)?$") == r"( bis\b.{0,300})?$"
    assert bounded(r"a\.*\++") == r"a\.*\++"


@pytest.mark.parametrize("table", ALL_TABLES)
def test_no_line_of_a_table_has_a_choice_within_a_choice(table: str) -> None:
    """The language of phrases has no nested choices: such a line would match nothing, and say so nowhere."""
    nested = [line for line in lines_of(PACKAGE, table) if re.search(r"\([^()]{0,2000}\(", line)]
    assert nested == []


@pytest.mark.parametrize("language", IN_LANGUAGES)
def test_a_body_of_a_languages_own_parts_is_matched_in_bounded_time(language: str) -> None:
    """All that a language's table begins with, repeated to the limit of what is read, takes a fraction of a second."""
    lines = [line.partition(":")[2].strip() for line in lines_of(LANGUAGES, language)]
    run = " ".join(line.split("...")[0].strip("()* ?").partition("|")[0] for line in lines)
    with at_most(1.0, language):
        read_wording(repeated(f"{run} ")[:10_000], language)
        shares(repeated(f"{run} ")[:10_000], language)


@pytest.mark.parametrize("language", IN_LANGUAGES)
def test_every_line_of_a_languages_table_says_a_known_part(language: str) -> None:
    """A part that nobody reads, and a choice within a choice, would match nothing and say so nowhere."""
    lines = lines_of(LANGUAGES, language)
    assert {line.partition(":")[0] for line in lines} <= PARTS
    assert [line for line in lines if re.search(r"\([^()]{0,2000}\(", line)] == []
