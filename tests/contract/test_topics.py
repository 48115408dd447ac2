"""topics.yaml is the one source: what the code produces and consumes is what stands there."""

from __future__ import annotations

import re
from pathlib import Path
from uuid import UUID

import pytest

from schemas.asyncapi import events_of
from schemas.events import EVENTS
from schemas.topics import catalogue
from services.core.bus.processor import Processor
from services.pipeline import NAMES, PROCESSORS

TOPICS = catalogue().topics
ROOT = Path(__file__).parents[2]
ACTING_FOLDERS = {*NAMES, "console"}  # the console publishes requests only


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_the_topic_of_an_event_exists_and_its_key_is_an_id(name: str) -> None:
    """Every event goes to a known topic and has that topic's key as a field that is always an id."""
    event = EVENTS[name]
    assert event.TOPIC in TOPICS
    assert event.model_fields[TOPICS[event.TOPIC].key].annotation is UUID


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_a_type_is_lower_case_with_a_major_version(name: str) -> None:
    """A type's name is words, dots and a major version, and the class carries it."""
    stem, _, major = name.rpartition(".v")
    assert major.isdigit()
    assert stem.replace(".", "").replace("_", "").isalpha()
    assert stem == stem.lower()
    assert name == EVENTS[name].TYPE


@pytest.mark.parametrize("name", sorted(TOPICS))
def test_a_topic_carries_events_between_folders_that_exist(name: str) -> None:
    """No topic is without an event, and its producers and consumers are parts of the pipeline."""
    assert list(TOPICS[name].types) == events_of(name)
    assert events_of(name)
    assert set(TOPICS[name].consumers) <= set(NAMES)
    assert set(TOPICS[name].producers) <= ACTING_FOLDERS
    assert TOPICS[name].producers


@pytest.mark.parametrize("processor", PROCESSORS, ids=lambda one: one.name)
def test_a_processor_consumes_what_it_handles(processor: Processor) -> None:
    """topics.yaml names the types that a processor has handlers for, each at its topic, and no other."""
    handled = {(event.TOPIC, event.TYPE) for event in processor.handlers}
    assert handled == {(topic, kind) for topic, name, kind in catalogue().handled() if name == processor.name}
    assert {topic for topic, _ in handled} == set(processor.topics)


def test_the_page_says_of_each_aggregate_who_decides_and_what_holds_its_twins_together() -> None:
    """A row each in ARCHITECTURE.md: the processor that applies its events, and files that exist."""
    table = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Deciders")[2].partition("## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.*) \| (.*) \|$", table, re.M)
    owners = {event.AGGREGATE: one.name for one in PROCESSORS for event in one.appliers}
    assert {kind: owner for kind, owner, _, _ in rows} == owners
    for _, owner, decides, evolves in rows:
        named = re.findall(r"`([\w/]+\.py)`", decides + evolves)
        assert named
        for file in named:
            assert (ROOT / "services" / owner / file).is_file() or (ROOT / file).is_file(), f"{owner}: {file}"


@pytest.mark.parametrize("processor", PROCESSORS, ids=lambda one: one.name)
def test_a_processor_that_applies_events_is_their_producer(processor: Processor) -> None:
    """Who folds an aggregate's event into tables is a producer of the event's topic."""
    assert all(processor.name in TOPICS[event.TOPIC].producers for event in processor.appliers)


@pytest.mark.parametrize("name", sorted(name for name, event in EVENTS.items() if event.AGGREGATE))
def test_an_event_of_an_aggregate_is_applied_by_one_processor(name: str) -> None:
    """One aggregate, one topic, one writer; read_email's mail included."""
    assert len([one.name for one in PROCESSORS if EVENTS[name] in one.appliers]) == 1
