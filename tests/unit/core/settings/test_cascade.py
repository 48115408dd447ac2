"""The cascade: turn over participant over mailbox over workspace over default, and where each value was said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.events.replies import ChosenSetting
from services.core.settings import Settings, context_of, shaped

SUPPORT = {"name": "support", "address": "s@x.example"}


@pytest.fixture(autouse=True)
def _no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CORRESPONDENT_CONFIG", str(tmp_path / "none.toml"))


def said(**changes: Any) -> Settings:
    return Settings.model_validate({"inboxes": [SUPPORT], **changes})


def test_without_a_word_every_value_is_the_default() -> None:
    """Everything that shapes a reply has a value, and says that nobody set it."""
    plain = said()
    chosen = shaped(plain, plain.inbox("support"))
    assert {one.source for one in chosen.values()} == {"default"}
    assert (chosen["approval"].value, chosen["quiet_s"].value, chosen["disclose_ai"].value) == ("auto", 20, True)
    assert chosen["recent_tokens"].value == plain.context.recent_tokens
    assert chosen["model"].value == plain.model.model


def test_a_persona_for_all_mailboxes_is_the_workspaces() -> None:
    """One persona holds in every mailbox that has none of its own."""
    whole = said(
        context={"persona": "You are formal."}, inboxes=[SUPPORT, {**SUPPORT, "name": "b", "persona": "Brief."}]
    )
    found = [shaped(whole, whole.inbox(name))["persona"] for name in ("support", "b")]
    assert [(one.value, one.source) for one in found] == [("You are formal.", "workspace"), ("Brief.", "inbox b")]


LEVELS: list[tuple[dict[str, Any], list[tuple[str, dict[str, Any]]], Any, str]] = [
    ({}, [], "auto", "default"),
    ({"send": {"approval": "review"}}, [], "review", "workspace"),
    ({"inboxes": [{**SUPPORT, "reply": {"approval": "review"}}]}, [], "review", "inbox support"),
    (
        {
            "send": {"approval": "auto"},
            "inboxes": [{**SUPPORT, "reply": {"approval": "auto"}}],
            "participants": [{"match": "*@acme.example", "reply": {"approval": "review"}}],
        },
        [],
        "review",
        "participant *@acme.example",
    ),
    (
        {"participants": [{"match": "ada@acme.example", "reply": {"approval": "auto"}}]},
        [("turn angry", {"approval": "review"}), ("turn calm", {"approval": "auto"})],
        "review",
        "turn angry",
    ),
]


@pytest.mark.parametrize(("given", "turn", "value", "source"), LEVELS)
def test_the_nearer_word_counts(
    given: dict[str, Any], turn: list[tuple[str, dict[str, Any]]], value: str, source: str
) -> None:
    """Turn, participant, mailbox, workspace, default: the first that says it, and of a turn's rules the first one."""
    settings = said(**given)
    chosen = shaped(settings, settings.inbox("support"), "Ada@Acme.example", turn)["approval"]
    assert (chosen.value, chosen.source) == (value, source)


def test_each_value_is_looked_for_by_itself() -> None:
    """A participant who says one thing has the mailbox's and the workspace's word on all others."""
    settings = said(
        threads={"quiet_s": 5},
        inboxes=[{**SUPPORT, "persona": "You are brief.", "reply": {"recent_messages": 3}}],
        participants=[{"match": "ada@acme.example", "reply": {"disclose_ai": False}}],
    )
    chosen = shaped(settings, settings.inbox("support"), "ada@acme.example")
    assert {name: one.source for name, one in chosen.items() if one.source != "default"} == {
        "quiet_s": "workspace",
        "persona": "inbox support",
        "recent_messages": "inbox support",
        "disclose_ai": "participant ada@acme.example",
    }
    assert context_of(settings, chosen).recent_messages == 3
    assert context_of(settings, chosen).facts_tokens == settings.context.facts_tokens


def test_nobody_is_a_participant_who_is_not_authenticated() -> None:
    """Without an address, as for an author whom we cannot believe, no participant's setting holds."""
    settings = said(participants=[{"match": "*@*", "reply": {"approval": "review"}}])
    assert shaped(settings, settings.inbox("support"), "")["approval"].source == "default"


def test_the_first_participant_that_matches_counts() -> None:
    """Entries are looked through in their order; a later one adds nothing."""
    settings = said(
        participants=[
            {"match": "ada@acme.example", "reply": {"quiet_s": 1}},
            {"match": "*@acme.example", "reply": {"quiet_s": 2, "approval": "review"}},
        ]
    )
    chosen = shaped(settings, None, "ada@acme.example")
    assert (chosen["quiet_s"].value, chosen["approval"].value) == (1, "auto")
    assert shaped(settings, None, "bob@acme.example")["quiet_s"].value == 2


def test_a_mailbox_that_is_gone_has_the_workspaces_word() -> None:
    """A thread of an inbox that is no longer in the settings is still led."""
    settings = said(threads={"quiet_s": 7})
    assert shaped(settings, settings.known_inbox("gone"))["quiet_s"].value == 7


def test_a_value_of_a_group_says_nothing_of_its_neighbours() -> None:
    """One budget that the workspace sets leaves the others at their defaults, and they say so."""
    settings = said(context={"recent_messages": 3})
    chosen = shaped(settings, None)
    assert (chosen["recent_messages"].source, chosen["recent_tokens"].source) == ("workspace", "default")


@pytest.mark.parametrize(
    "where",
    [
        {"inboxes": [{**SUPPORT, "persona": "x" * 12_001}]},
        {"context": {"persona": "x" * 12_001}},
        {"participants": [{"match": "*@acme.example", "reply": {"persona": "x" * 12_001}}]},
    ],
)
def test_a_persona_that_is_too_long_is_refused_when_it_is_set(where: dict[str, Any]) -> None:
    """It is never cut in a prompt, so its length is bounded where it is said, by name."""
    with pytest.raises(ValidationError, match=r"persona[\s\S]*at most 12000 characters"):
        said(**where)


def test_how_facts_are_recalled_is_said_per_mailbox_too() -> None:
    """A mailbox that must be fast searches on a cue, while the others always do."""
    app = said(inboxes=[{**SUPPORT, "reply": {"recall": "on_cue", "recall_every": 9}}])
    context = context_of(app, shaped(app, app.inbox("support")))
    assert (context.recall, context.recall_every, app.context.recall) == ("on_cue", 9, "always")


@pytest.mark.parametrize(
    ("stored", "read"),
    [("mailbox b", "inbox b"), ("mailbox", "inbox"), ("participant mailbox@x.example",) * 2, ("turn mailbox",) * 2],
)
def test_older_events_called_an_inbox_a_mailbox(stored: str, read: str) -> None:
    """Where a setting came from is read in the word of today."""
    assert ChosenSetting(value="Brief.", source=stored).source == read
