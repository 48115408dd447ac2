"""Which settings may be changed while the deployment runs, and what becomes of stored values: laid over, or left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.secret_values import is_secret
from services.core.settings import Settings, SettingsWrong
from services.core.settings.changeable import OF_INBOX, OF_WORKSPACE, changeable, laid_over, value_of
from services.operations.settings_changes.fields import read_value, typed_value

INBOXES = [
    {
        "name": "support",
        "address": "support@ourcompany.example",
        "imap": {"host": "imap.example", "username": "u", "password": "s3cret"},
    },
    {
        "name": "sales team",
        "address": "sales@ourcompany.example",
        "service_levels": {"high": {"first_response_hours": 2}},
    },
]


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Settings:
    """Two inboxes, and nothing of this machine's."""
    monkeypatch.chdir(tmp_path)
    return Settings(inboxes=INBOXES, limits={"thread_per_hour": 7})


def test_no_secret_server_or_address_may_be_changed(settings: Settings) -> None:
    """The list is closed: what holds a secret, or says where something is reached, is not on it."""
    names = set(changeable(settings))
    for forbidden in ("database", "redis", "kafka", "smtp", "imap", "dkim", "secret", "password", "token", "address"):
        assert not [one for one in names if forbidden in one], forbidden
    for forbidden in ("forwarders", "colleagues", "vouched_by", "aliases", "memory", "model", "paused", "url"):
        assert not [one for one in names if forbidden in one], forbidden


def test_what_is_listed_exists_and_can_be_read(settings: Settings) -> None:
    """Each listed name leads to a setting, with a description or a plain name, whose value goes to a field and back."""
    known = changeable(settings)
    listed = sum(map(len, OF_WORKSPACE.values())) + len(INBOXES) * sum(map(len, OF_INBOX.values()))
    assert len(known) == listed
    for name, one in known.items():
        value = value_of(settings, name)
        json.dumps(value)
        typed = read_value(one, typed_value(one, value))
        laid = laid_over(settings, {name: typed})
        assert not laid.ignored, name
        assert value_of(laid.settings, name) == value, name


def test_a_value_is_laid_over_and_what_it_is_laid_over_stays(settings: Settings) -> None:
    """Of one inbox or of all; secrets and everything else stay as they were, and what nobody set stays unset."""
    stored = {"inboxes[support].persona": "Be brief.", "limits.thread_per_hour": 3, "send.approval": "review"}
    laid = laid_over(settings, stored)
    support, sales = laid.settings.inboxes
    assert (support.persona, sales.persona) == ("Be brief.", "")
    assert (laid.settings.limits.thread_per_hour, laid.settings.limits.same_words) == (3, 3)
    assert support.imap == settings.inboxes[0].imap
    assert sales is settings.inboxes[1]
    assert support.model_fields_set == settings.inboxes[0].model_fields_set | {"persona"}
    assert (settings.limits.thread_per_hour, settings.inboxes[0].persona) == (7, "")


def test_an_inbox_without_levels_of_its_own_begins_with_those_of_all(settings: Settings) -> None:
    """One value that is its own leaves the others as they are for all inboxes, changed ones too."""
    of_all, own = "service_levels.high.next_response_hours", "inboxes[support].service_levels.high.first_response_hours"
    laid = laid_over(settings, {own: 1, of_all: 5}).settings
    levels = laid.inboxes[0].service_levels
    assert levels is not None
    assert (levels.high.first_response_hours, levels.high.next_response_hours) == (1, 5)
    of_sales = laid.inboxes[1].service_levels
    assert of_sales is not None
    assert of_sales.high.next_response_hours == 0


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("limits.thread_per_hour", 0, "greater than or equal to 1"),
        ("limits.thread_per_hour", "many", "integer"),
        ("limits.no_such", 1, "no such setting"),
        ("inboxes[gone].persona", "x", "no inbox named 'gone'"),
        ("inboxes[support].address", "x@y.example", "no such setting"),
        ("inboxes[support].imap.password", "x", "no such setting"),
        ("database_url", "postgresql://evil", "no such setting"),
        ("office_hours.time_zone", "Mars/Olympus", "no time zone"),
        ("office_hours.hours", {"mon": "25:00-26:00"}, "end"),
        ("send.approval", "never", "'auto', 'review'"),
        ("inboxes[support].persona", "x" * 20_000, "12000"),
        ("inboxes[support].layout.signature", {"a": 1}, "string"),
        ("", 1, "no such setting"),
        ("inboxes[support]", 1, "no such setting"),
        ("inboxes[[support]].persona", 1, "no such setting"),
        ("send.__class__", 1, "no such setting"),
    ],
)
def test_a_value_that_does_not_fit_is_left_out_with_its_reason(
    settings: Settings, name: str, value: Any, reason: str
) -> None:
    """What an upgrade, an inbox that is gone or a hand in the table made wrong stops nobody; other values count."""
    laid = laid_over(settings, {name: value, "limits.same_words": 9})
    assert set(laid.ignored) == {name}
    assert reason in laid.ignored[name]
    assert laid.settings.limits.same_words == 9
    assert laid.settings.inboxes == settings.inboxes


def test_values_that_fit_only_together_are_taken_together(settings: Settings) -> None:
    """Bodies may go after 150 days only where raw mail and answers go as early; one of the three alone does not fit."""
    together = {"retention.bodies_days": 150, "retention.blobs_days": 150, "retention.checkpoints_days": 150}
    assert not laid_over(settings, together).ignored
    assert set(laid_over(settings, {"retention.bodies_days": 150}).ignored) == {"retention.bodies_days"}


def test_a_setting_that_is_not_listed_has_no_value_here(settings: Settings) -> None:
    """Not even to be read."""
    with pytest.raises(SettingsWrong):
        value_of(settings, "inboxes[support].imap.password")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


@pytest.fixture(scope="module")
def any_settings() -> Settings:
    """Made once for every example."""
    return Settings(inboxes=INBOXES)


@given(value=JSON, index=st.integers(0, 10_000))
def test_no_value_makes_it_fail(any_settings: Settings, value: Any, index: int) -> None:
    """Whatever JSON stands in the table, the settings are made, and the value counts or has a reason."""
    names = list(changeable(any_settings))
    name = names[index % len(names)]
    laid = laid_over(any_settings, {name: value})
    assert bool(laid.ignored.get(name)) or json.dumps(value_of(laid.settings, name))
    assert laid.ignored.keys() <= {name}


def test_no_listed_setting_is_a_secret(settings: Settings) -> None:
    """By the types that secrets have."""
    inbox = settings.inboxes[0]
    places = [(settings, OF_WORKSPACE), (inbox, OF_INBOX)]
    for holder, listed in places:
        for group, names in listed.items():
            inner = type(holder) if not group else type(getattr(holder, group) or getattr(settings, group))
            assert not [one for one in names if is_secret(inner.model_fields[one.partition(".")[0]])], group
