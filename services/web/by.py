"""Who asks, where a route takes it from its address: by default the caller's token names them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from services.web.bodies import By
from services.web.caller import name_of_caller

ByQuery = Annotated[By, Query(default_factory=name_of_caller)]
