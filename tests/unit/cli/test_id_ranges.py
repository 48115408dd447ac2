"""The beginning of an id is looked for as a range, which an index answers."""

from __future__ import annotations

from uuid import UUID

import pytest

from services.operations.ids import id_range

ID = UUID("4be0643f-1d98-573b-97cd-ca98a65347dd")


@pytest.mark.parametrize("length", range(1, 37))
def test_every_beginning_of_an_id_has_it_in_its_range(length: int) -> None:
    """However much is typed, dashes included, the id is within; all of it is the id alone."""
    least, most = id_range(str(ID)[:length])
    assert least <= ID <= most
    assert length < 36 or least == most == ID


@pytest.mark.parametrize("typed", ["-", "4be0643-", "4be0643f1", "4be0643f-1d9-", "4" * 36])
def test_what_no_id_begins_with_has_an_empty_range(typed: str) -> None:
    """A dash in a wrong place finds nothing, and is no error."""
    least, most = id_range(typed)
    assert not least <= ID <= most
