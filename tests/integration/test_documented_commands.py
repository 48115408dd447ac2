"""Every command and question that the demo, the README, the quickstart and the how-tos suggest, on one running demo."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest

from services.demo.world import make_world
from tests.support.documented import ROOT, mentioned, missing_arguments, suggested
from tests.support.documented_demo import Demo, running_demo
from tests.support.documented_steps import NOT_RUN, STEPS, Step
from tests.support.queries import BROKER, HEAVY, QUERIES, Asked, ask_all
from tests.support.stack import uses_apache_kafka

pytestmark = pytest.mark.skipif(uses_apache_kafka(), reason="the demo has an embedded stack of its own")
WORLD = make_world(0)
SUGGESTED = suggested()


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    """The demo, and the page's own document to hand in."""
    with running_demo() as running:
        page = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
        shown = re.search(r"\$ cat plans\.md\n(.*?)\n    \$ ", page, re.S)
        assert shown
        running.kept["plans.md"] = re.sub("^    ", "", shown[1], flags=re.M)
        yield running


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_command_that_the_demo_prints_works(demo: Demo) -> None:
    """The suggested question gets the price of the top plan, from somebody greeted by no pronoun, disclosed once."""
    printed = re.findall(r"^  (correspondent .*)$", demo.printed, re.M)
    assert len(printed) >= 2, demo.printed[-2000:]
    answers = [demo.run(line).line for line in printed]
    top = WORLD.product.plans[2]
    assert f"The {top.name} plan costs ${top.price} per user per month" in answers[0]
    assert "I find no answer" not in answers[0]
    assert "Hi You" not in answers[0]
    assert answers[0].count("AI assistant") == 1
    assert "a reply was sent" in answers[1]


@pytest.mark.slow
def test_no_line_of_a_log_breaks_what_the_demo_shows(demo: Demo) -> None:
    """Everything that is logged lies in a file."""
    assert "Timer" not in demo.printed
    assert not re.search(r"^\{|warning|\[error|\[info", demo.printed, re.M)
    assert (demo.folder / "var" / "demo" / "logs" / "correspondent.log").exists()


@pytest.fixture(scope="module")
def asked(demo: Demo) -> dict[str, Asked]:
    """Every query, asked of the demo."""
    return ask_all(demo)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("query", QUERIES)
def test_a_query_loads_nothing_that_it_does_not_need(asked: dict[str, Asked], query: str) -> None:
    """A command that only looks loads no processor, web server or mail library, and most need no broker."""
    done = asked[query]
    assert done.code == 0
    assert done.asks_postgres or query == "settings"
    assert done.loaded & (HEAVY | BROKER) <= QUERIES[query]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.command)
def test_a_documented_command_does_what_its_page_says(demo: Demo, step: Step) -> None:
    """Each is typed as it is printed, the page's names and ids replaced by the demo's, and its answer is right."""
    if step.before:
        step.before(demo)
    words = shlex.split(step.command)
    for name, value in step.uses.items():
        given = value if isinstance(value, str) else value(demo)
        words = [part for word in words for part in (shlex.split(given) if word == name else [word])]
    done = demo.run(shlex.join(words), typed=step.typed, until=step.until, **step.variables(demo))
    assert "Traceback" not in done.told, done.printed
    assert done.code in ((0, 130) if step.until else (step.code,)), done.printed
    assert [words for words in step.says if words not in done.line] == [], done.printed


def test_every_documented_command_is_tried() -> None:
    """A command that a page suggests is run above, or named with the reason why it cannot be."""
    tried = {step.command for step in STEPS} | NOT_RUN.keys()
    programs = {command: where for command, where in SUGGESTED.items() if not command.startswith("make ")}
    assert {one: where for one, where in programs.items() if one not in tried and not missing_arguments(one)} == {}
    assert tried - programs.keys() == set(), "no page suggests these any more"


@pytest.mark.parametrize("command", [one for one in SUGGESTED if not one.startswith("make ")])
def test_every_documented_command_exists_with_its_options(command: str) -> None:
    """What cannot be run is at least no command, and has no option, that there is not."""
    missing_arguments(command)


def test_the_readme_starts_a_deployment_before_it_hands_documents_in() -> None:
    """`knowledge add` talks to a deployment that runs, and no command is found before the environment is activated."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    places = [text.index(one) for one in ("activate`", "`correspondent up`", "`correspondent knowledge add")]
    assert places == sorted(places)


def test_every_documented_make_target_exists() -> None:
    """`make X` is a rule of the Makefile, and its variables are used there."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in (one for one in SUGGESTED if one.startswith("make ")):
        target, *given = shlex.split(command)[1:]
        assert re.search(rf"^{target}:", makefile, re.M), command
        assert [one for one in given if f"$({one.partition('=')[0]})" not in makefile] == []


@pytest.mark.parametrize("command", mentioned())
def test_every_command_of_the_readmes_table_exists(command: str) -> None:
    """A row that names several commands leaves out the program, and the group, from the second on."""
    missing_arguments(command)
