"""What an operator sets of recall, as searching and judging take it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from services.core.settings import RecallSettings
from services.memory.candidates import SearchSettings
from services.memory.cue import FACT_CUES, CueSettings
from services.memory.ranking import HALF_LIVES, RankingSettings


@dataclass(frozen=True, slots=True)
class Tuning:
    """How facts are searched, how many of a large memory are taken, and what makes an answer sure.

    `brought_up` are what one question brings up; `all_candidates`, all that a search of one person may look at.
    """

    search: SearchSettings
    best: int
    cue: CueSettings
    brought_up: int

    @property
    def all_candidates(self) -> int:
        """As many facts as words and meaning nominate together."""
        return 2 * self.search.candidates


def tuned(said: RecallSettings) -> Tuning:
    """The settings in force; half-lives by kind are put over the standard ones."""
    floors = {f"{name}_floor": value for name, value in said.floors.model_dump().items()}
    ranking = RankingSettings({**HALF_LIVES, **said.half_life_days}, said.other_half_life_days, **floors)
    search = SearchSettings(
        candidates=said.candidates,
        whole_up_to=said.whole_up_to,
        dense_share=said.dense_share,
        breadth=said.breadth,
        cap=said.rare_matches,
        stale_weight=said.stale_weight,
        ranking=ranking,
    )
    cue = replace(FACT_CUES, sure_from=said.sure_from, bell_from=said.bell_from, confirmed_from=said.confirmed_from)
    return Tuning(search, said.best, cue, said.brought_up)
