"""Any event, invented: every text leaf carries MARK, so that a leak of data into headers can be seen."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin
from uuid import UUID

from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from schemas.events import EVENTS
from services.core.bus.envelope import Envelope

MARK = "leak"
OFFSETS = (UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8)))

texts = st.text(max_size=8).map(lambda some: f"{some} {MARK}@example.org")
FIRST, LAST = datetime(1990, 1, 1), datetime(2099, 1, 1)  # noqa: DTZ001 - hypothesis adds the offset
times = st.datetimes(FIRST, LAST, timezones=st.sampled_from(OFFSETS))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | texts, lambda one: st.lists(one, max_size=2)
)

LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    UUID: st.uuids(),
    datetime: times,
    date: st.dates(),
    bool: st.booleans(),
    int: st.integers(0, 10_000),
    float: st.floats(0, 1),
    Any: json_values,
    NoneType: st.none(),
}


def values(annotation: Any) -> st.SearchStrategy[Any]:
    """A strategy for one annotation of an event's field; an annotation that it does not know is an error."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in LEAVES:
        return LEAVES[annotation]
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return st.one_of(*map(values, arguments))
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(texts, values(arguments[1]), max_size=2)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return models(annotation)
    raise TypeError(f"no strategy for {annotation!r}; add one to tests/contract/generated.py")


def models(model: type[BaseModel]) -> st.SearchStrategy[Any]:
    """Instances of a model with every field given."""
    return st.fixed_dictionaries({name: _field(info) for name, info in model.model_fields.items()}).map(
        lambda given: model(**given)
    )


def _field(info: FieldInfo) -> st.SearchStrategy[Any]:
    return values(info.annotation)


events = st.sampled_from(sorted(EVENTS)).flatmap(lambda name: models(EVENTS[name]))
envelopes = st.builds(
    Envelope,
    id=st.uuids(),
    source=st.sampled_from(["read_email", "track_threads", "console"]),
    time=times,
    workspace=st.sampled_from(["main", "second"]),
    data=events,
    correlation_id=st.uuids(),
    causation_id=st.none() | st.uuids(),
    version=st.none() | st.integers(1, 1_000_000),
)
