"""One product and one campaign for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.security import campaign as campaigns
from tests.security.campaign import Campaign
from tests.security.mails import zone_of
from tests.security.product import running_product
from tests.security.surroundings import Zone

DOMAINS = ("acme.example", "evil.example", "fold.example", "signed.example", "matrix.example")


@pytest.fixture(scope="session")
def campaign() -> Iterator[Campaign]:
    """The whole campaign, over."""
    with running_product(Zone(zone_of(*DOMAINS))) as product:
        yield campaigns.run(product)
