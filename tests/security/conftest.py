"""One product and one campaign for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from deploy.local import Endpoints
from tests.security import campaign as campaigns
from tests.security.campaign import Campaign
from tests.security.mails import zone_of
from tests.security.product import running_product
from tests.security.surroundings import Zone
from tests.support.stack import fresh_database

DOMAINS = ("acme.example", "evil.example", "fold.example", "signed.example", "matrix.example")


@pytest.fixture(scope="session")
def campaign(stack: Endpoints, template_database: str) -> Iterator[Campaign]:
    """The whole campaign, over."""
    with fresh_database(stack.database, template=template_database) as url:
        zone = Zone(zone_of(*DOMAINS))
        with running_product(zone, replace(stack, database=url)) as product:
            yield campaigns.run(product)
