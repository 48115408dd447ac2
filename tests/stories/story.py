"""A story: what stands, what the second mail says, and what models make of it. Pure.

`replaces`: the second mail makes another value current. `keeps`: it asserts nothing of the author. `ends`: it says that
the value is so no longer. `same`: it says the same value in another form. `unclear`: it says the value of something that
no word tells from the author's, so that the value that stands may be to be confirmed afterwards, and no other is believed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from schemas.events.replies import FactProposal
from services.memory.keys import key_of

TOLD = sorted((Path(__file__).parent / "told").glob("*.txt"))
CONTACT = frozenset({"phone", "email"})
PARAPHRASED = "the customer said that it is "  # no words of any mail


@dataclass(frozen=True, slots=True)
class Story:
    """One line of a file."""

    name: str
    what: str
    key: str
    other_key: str
    before: str
    first: str
    value: str
    second: str
    quote: str
    asked: str = ""  # what we wrote to them before the second mail
    also: str = ""  # other values in the second mail, parted by `;`: a model may take them for the one of the key

    @property
    def opening(self) -> FactProposal:
        """What a faultless model proposes of the first mail."""
        return self._fact(self.key, self.before, self.first)

    @property
    def true(self) -> str | None:
        """The value that a faultless model leaves current; None where there is none."""
        return {"replaces": self.value, "keeps": self.before, "same": self.before}.get(self.what)

    @property
    def false(self) -> frozenset[str]:
        """What nobody may believe after the second mail."""
        gone = {"replaces": self.before, "ends": self.before, "keeps": self.value, "unclear": self.value}
        return frozenset({gone[self.what], *self.others} if self.what in gone else self.others)

    @property
    def others(self) -> list[str]:
        """The other values in the second mail."""
        return [one.strip() for one in self.also.split(";") if one.strip()]

    def faultless(self) -> list[FactProposal]:
        """What a model proposes that makes no mistake."""
        if self.what in ("keeps", "unclear"):
            return []
        if self.what == "ends":
            return [self._fact(self.key, self.before, self.quote, op="delete")]
        return [self._fact(self.key, self.value, self.quote)]

    def faulty(self) -> Mapping[str, list[FactProposal]]:
        """What models propose that make one plausible mistake each."""
        return {**self._usual_faults(), **{name: [one] for name, one in self._taken_for_it()}}

    def _taken_for_it(self) -> Iterator[tuple[str, FactProposal]]:
        """Each other value in the second mail as that of the key, with the right quote and with all of the mail."""
        for one in self.others:
            yield f"{one!r} with its quote", self._fact(self.key, one, self.quote)
            yield f"{one!r}, all of it quoted", self._fact(self.key, one, self.second)

    def _usual_faults(self) -> Mapping[str, list[FactProposal]]:
        new = self._fact(self.key, self.value, self.quote)
        old = self._fact(self.key, self.before, self.second)
        whole = self._fact(self.key, self.value, self.second)
        other = self._fact(self.other_key, self.value, self.quote)
        loose = self._fact(self.key, self.value, _loose(self.quote))
        said_otherwise = self._fact(self.key, self.value, PARAPHRASED + self.value)
        match self.what:
            case "replaces":
                return {
                    "the old value": [old],
                    "both, the old one last": [new, old],
                    "both, the old one first": [old, new],
                    "another key": [other],
                    "a loose quote": [loose],
                    "no quote": [said_otherwise],
                }
            case "keeps" | "unclear" | "ends":
                return {
                    "as a fact": [new],
                    "as a fact, all of it quoted": [whole],
                    "under another key": [other],
                    "a short quote": [self._fact(self.key, self.value, self.value)],
                    "a loose quote": [loose],
                    "no quote": [said_otherwise],
                }
            case _:
                return {"another key": [other], "a loose quote": [loose], "twice": [new, whole]}

    def _fact(self, key: str, value: str, quote: str, **given: str) -> FactProposal:
        kind = "contact_info" if key_of(self.key) in CONTACT else "customer_info"
        fields = {"op": "add", "kind": kind, "key": key, "value": value, "quote": quote, "importance": 6}
        text = f"Their {key} is {value}." if given.get("op") != "delete" else ""
        return FactProposal.model_validate({**fields, "text": text, **given})


def stories(files: Iterable[Path] = TOLD) -> list[Story]:
    """All of them, by file, in the order of the files, in which `\\n` ends a line of a mail."""
    return [
        Story(f"{file.stem} {number}", *(part.strip().replace("\\n", "\n") for part in line.split("|")))
        for file in files
        for number, line in enumerate(_lines(file), start=1)
    ]


def _lines(file: Path) -> list[str]:
    return [one for one in file.read_text(encoding="utf-8").splitlines() if one and not one.startswith("#")]


def _loose(quote: str) -> str:
    """The quote as a model retypes it: other apostrophes and dashes, a capital, a stop."""
    retyped = quote.replace("'", "’").replace("-", "–").rstrip("?.")
    return retyped[0].upper() + retyped[1:] + "."
