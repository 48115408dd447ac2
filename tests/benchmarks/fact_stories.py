"""False facts of stories that no rule was made from, and true ones that were lost or doubted.

Each story is told by two mails; the second one is extracted without a fault and with each plausible mistake of a model
(`tests/stories`), and decided by the product's own rules. A set in fact_stories/ was written before anybody read the
rules. Which one is still blind, docs/benchmarks.md says: what led to a rule is measured here no longer as such.

`python -m tests.benchmarks.fact_stories`; `--every` prints each case that went wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from services.learn_facts.facts.values import same_value
from tests.benchmarks.measured import Measured, at_most, percent
from tests.benchmarks.recall_support import Options, run
from tests.stories.driving import Heard, believed_alone, heard_of
from tests.stories.story import TOLD, Story, stories

SETS = {path.stem: [path] for path in sorted(Path(__file__).with_name("fact_stories").glob("*.txt"))}
LEARNS = ("faultless", "another key", "a loose quote", "both, the old one first", "both, the old one last")
"""Extractions of an update from which the new value is learned."""


def is_false(told: Story, values: Sequence[str]) -> bool:
    """Whether something is believed that is not so, or two values at once."""
    return len(values) > 1 or any(same_value(one, false) for one in values for false in told.false)


def is_lost(one: Heard) -> bool | None:
    """Whether what is so is not believed without a doubt; None where nothing has to be."""
    told = one.story
    if told.true is None or (told.what == "replaces" and one.proposed not in LEARNS):
        return None
    return not any(same_value(value, told.true) for value in one.values)


def false_alone(told: Story) -> Iterator[str]:
    """The faulty extractions by which something false is believed of somebody of whom nothing was known."""
    if told.what in ("keeps", "unclear"):
        for name, proposals in told.faulty().items():
            if is_false(told, believed_alone(told, proposals)):
                yield name


def unlearned(told: Sequence[Story]) -> Iterator[tuple[Story, bool]]:
    """Each mail that states something, told alone to a faultless model, and whether what it states is not believed."""
    for one in told:
        if one.what != "unclear" and one.before in one.first:
            first = replace(one, value=one.before, second=one.first, quote=one.first, asked="")
            yield first, not believed_alone(first, [one.opening])
        if one.what in ("replaces", "same"):
            yield one, not believed_alone(one, one.faultless())


def lines(name: str, told: Sequence[Story], *, every: bool = False) -> Iterator[Measured]:
    """What became of one set."""
    heard = list(heard_of(told))
    false = [one for one in heard if is_false(one.story, one.values)]
    alone = [(one, fault) for one in told for fault in false_alone(one)]
    judged = [(one, lost) for one in heard if (lost := is_lost(one)) is not None]
    alone_lost = list(unlearned(told))
    if every:
        for one in (one for one, lost in alone_lost if lost):
            print(f"UNLEARNED {one.name}: {one.value!r} of {one.second!r}")
        for one in false:
            print(f"FALSE {one.story.name} ({one.proposed}): {one.values} after {one.story.second!r}")
        for story, fault in alone:
            print(f"ALONE {story.name} ({fault}): {story.value!r} after {story.second!r}")
        for one in (one for one, lost in judged if lost):
            print(f"LOST {one.story.what} {one.story.name} ({one.proposed}): {one.values} after {one.story.second!r}")
    yield at_most(
        f"{name}, stories with a false current fact", len({one.story.name for one in false}), "", 0, len(told)
    )
    yield Measured(f"{name}, cases with one", len(false), "", n=len(heard))
    yield at_most(
        f"{name}, stories with one where nothing stood", len({one.name for one, _ in alone}), "", 0, len(told)
    )
    yield Measured(
        f"{name}, statements not learned where nothing stood",
        percent(sum(lost for _, lost in alone_lost), len(alone_lost)),
        "%",
        n=len(alone_lost),
    )
    for what, words in (("replaces", "updates not learned"), ("keeps", "standing values doubted")):
        of_it = [lost for one, lost in judged if one.story.what == what]
        yield Measured(f"{name}, {words}", percent(sum(of_it), len(of_it)) if of_it else 0.0, "%", n=len(of_it))


def measure(options: Options, *, every: bool = False) -> Sequence[Measured]:
    """Each blind set, and the stories of the tests."""
    sets = {**SETS, **({} if options.quick else {"told": TOLD})}
    return [line for name, files in sets.items() for line in lines(name, stories(files), every=every)]


if __name__ == "__main__":
    every = "--every" in sys.argv
    sys.argv = [one for one in sys.argv if one != "--every"]
    sys.exit(run("fact_stories", lambda options: measure(options, every=every)))
