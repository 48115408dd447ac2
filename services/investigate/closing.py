"""When an investigation ends, and what comes of it: note, diff, what is kept, and the proposals that stand. Pure.

A proposed fact stands if its quote is the customer's own words in a mail that was in the folder, and if the fact that
it would change was there, too. Whether it is true a person decides.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID, uuid5

from schemas.events.investigations import (
    InvestigationClosed,
    InvestigationOpened,
    Outcome,
    Proposed,
    RoundTaken,
    WorkFile,
)
from schemas.events.replies import TokenUsage
from schemas.model_output import FinishInput, ProposedFact
from schemas.words import clip_words
from services.core.settings import InvestigateSettings
from services.core.storable import storable
from services.investigate.folder import HOT_CONTEXT, OUTPUTS, Tree, is_kept, is_writable, size, tree_of
from services.investigate.merge import comparable, merged
from services.investigate.story import Story
from services.investigate.tool_calls import OpenFolder
from services.mail.masking import mask
from services.mail.reply_text import without_quoted
from services.memory.quotes import find_quote
from services.model.port import Answer
from services.model.usage import added, tokens_of

LONGEST_DIFF = 100_000  # bytes as JSON
MOST_DROPPED = 20


@dataclass(frozen=True, slots=True)
class Ending:
    """How it ended: what the model said last, if it ended it itself, else the reason."""

    outcome: Outcome
    finish: FinishInput | None
    reason: str
    rounds: int
    usage: TokenUsage


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """What is there at its end: the texts of the mails that are quoted, what others kept, room in a brief."""

    mails: Mapping[UUID, str]
    kept: Tree
    brief_words: int


def ending_of(
    story: Story, this: RoundTaken, answer: Answer, worked: OpenFolder, settings: InvestigateSettings
) -> Ending | None:
    """How it ends with this round: the model finished or declined, or its bounds are reached; None where it goes on."""
    usage = added(story.usage, this.usage)

    def ends(outcome: Outcome, reason: str = "", finish: FinishInput | None = None) -> Ending:
        return Ending(outcome, finish, reason, this.number, usage)

    if worked.finish:
        return ends("finished", finish=worked.finish)
    if answer.stop == "refusal":
        return ends("declined", storable(f"the model declined: {answer.text[:300]}"))
    if this.number >= settings.rounds:
        return ends("out_of_rounds", f"it was not over after {settings.rounds} rounds (investigate.rounds)")
    if tokens_of(usage) >= settings.tokens:
        return ends("out_of_tokens", f"its calls took {tokens_of(usage):,} tokens (investigate.tokens)")
    return None


def closed(opened: InvestigationOpened, tree: Tree, ending: Ending, now: Meanwhile) -> InvestigationClosed:
    """The end of an investigation whose folder is `tree` by now."""
    before = tree_of(opened.files)
    kept, conflicts = _kept(before, tree, now.kept)
    proposals, dropped = _proposals(opened, before, tree, ending.finish, now)
    return InvestigationClosed(
        investigation_id=opened.investigation_id,
        participant_id=opened.participant_id,
        thread_id=opened.thread_id,
        outcome=ending.outcome,
        question=opened.question,
        by=opened.by,
        reason=ending.reason,
        note=_clean(ending.finish.note) if ending.finish else "",
        diff=diff_of(before, tree),
        outputs=tuple(WorkFile(path=path, text=tree[path]) for path in sorted(tree) if path.startswith(OUTPUTS)),
        kept=kept,
        conflicts=conflicts,
        proposals=proposals,
        dropped=dropped[:MOST_DROPPED],
        rounds=ending.rounds,
        usage=ending.usage,
    )


def diff_of(before: Tree, after: Tree) -> str:
    """What was changed, as a unified diff; cut where it is long."""
    lines: list[str] = []
    left = LONGEST_DIFF
    for line in _diff(before, after):
        left -= size(line)
        if left < 0:
            return "".join([*lines, "[cut here]\n"])
        lines.append(line)
    return "".join(lines)


def _diff(before: Tree, after: Tree) -> Iterator[str]:
    for path in sorted(before.keys() | after.keys()):
        was, now = before.get(path, "").splitlines(), after.get(path, "").splitlines()
        if was == now or not is_writable(path):
            continue
        if comparable(was, now):
            yield from (f"{one}\n" for one in difflib.unified_diff(was, now, f"a/{path}", f"b/{path}", lineterm=""))
        else:
            yield f"--- a/{path}\n+++ b/{path}\n@@ -1,{len(was)} +1,{len(now)} @@\n"
            yield from (f"-{line}\n" for line in was)
            yield from (f"+{line}\n" for line in now)


def _kept(before: Tree, tree: Tree, others: Tree) -> tuple[tuple[WorkFile, ...], tuple[str, ...]]:
    """What the next investigation finds where this one changed it, merged, and the files with a conflict."""
    files, conflicts = [], []
    for path in sorted(path for path in before.keys() | tree.keys() if is_kept(path)):
        was, ours, theirs = before.get(path, ""), tree.get(path, ""), others.get(path, "")
        text, conflict = merged(was, ours, theirs)
        if text != theirs:
            files.append(WorkFile(path=path, text=text or None))
        if conflict:
            conflicts.append(path)
    return tuple(files), tuple(conflicts)


def _proposals(
    opened: InvestigationOpened, before: Tree, tree: Tree, finish: FinishInput | None, now: Meanwhile
) -> tuple[tuple[Proposed, ...], tuple[str, ...]]:
    """Those that stand, the brief first, and why others do not."""
    stand: list[Proposed] = []
    dropped: list[str] = []
    brief = _clean(clip_words(tree.get(HOT_CONTEXT, ""), now.brief_words).strip())
    if brief and brief != before.get(HOT_CONTEXT, "").strip():
        stand.append(Proposed(proposal_id=_id(opened, "brief"), op="brief", text=brief, base=opened.brief))
    for number, fact in enumerate(finish.facts if finish else ()):
        proposed = _fact(opened, number, fact, now.mails)
        if isinstance(proposed, Proposed):
            stand.append(proposed)
        else:
            dropped.append(f"{fact.op} {fact.key}: {proposed}")
    return tuple(stand), tuple(dropped)


def _fact(opened: InvestigationOpened, number: int, fact: ProposedFact, mails: Mapping[UUID, str]) -> Proposed | str:
    """The proposal, or why it does not stand."""
    if fact.op != "add" and fact.fact_id not in opened.fact_ids:
        return "the folder has no such fact"
    if fact.mail_id not in opened.mail_ids or fact.mail_id not in mails:
        return "the folder has no such mail of the customer"
    span = find_quote(fact.quote, without_quoted(mails[fact.mail_id]))
    if span is None:
        return "the quote does not stand in the mail in the customer's own words"
    said = {"kind": fact.kind, "key": fact.key, "value": _clean(fact.value), "text": _clean(fact.text)}
    return Proposed(
        proposal_id=_id(opened, str(number)),
        op=fact.op,
        fact_id=fact.fact_id if fact.op != "add" else None,
        quote=_clean(span.quote),
        mail_id=fact.mail_id,
        **said,
    )


def quoted_mails(finish: FinishInput | None) -> list[UUID]:
    """The mails that the proposals quote."""
    return sorted({fact.mail_id for fact in finish.facts}) if finish else []


def note_for_people(end: InvestigationClosed) -> str:
    """The note that stands on the thread."""
    return "\n\n".join(filter(None, _paragraphs(end)))


def _counted(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _paragraphs(end: InvestigationClosed) -> Iterable[str]:
    yield f"Investigation: {end.question}" if end.question else "Investigation"
    yield end.note or f"It ended without a note ({end.outcome.replace('_', ' ')}): {end.reason}"
    if end.outputs:
        yield f"Written: {', '.join(one.path for one in end.outputs)}."
    if end.proposals:
        yield (
            _counted(len(end.proposals), "proposed change of memory waits", "proposed changes of memory wait")
            + " for a person."
        )
    if end.dropped:
        yield (
            _counted(len(end.dropped), "proposal does not stand and is", "proposals do not stand and are")
            + " left out."
        )
    if end.conflicts:
        yield f"Another investigation wrote the same lines; both stand in {', '.join(end.conflicts)}."
    yield f"`correspondent investigate show {end.investigation_id}` has the diff and the rest."


def _clean(text: str) -> str:
    return storable(mask(text).text)


def _id(opened: InvestigationOpened, name: str) -> UUID:
    return uuid5(opened.investigation_id, f"proposal/{name}")
