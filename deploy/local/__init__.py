"""The embedded stack: Kafka, Postgres, Valkey and an SMTP sink from Python wheels alone, for trial and for tests.

The names are imported when they are first used, so that the sink's own process does not load the clients of the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deploy.local.endpoints import Endpoints, running_endpoints
    from deploy.local.errors import EmbeddedStackFailed, HomeInUse, PartFailed
    from deploy.local.stack import EmbeddedStack

__all__ = ["EmbeddedStack", "EmbeddedStackFailed", "Endpoints", "HomeInUse", "PartFailed", "running_endpoints"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = {"EmbeddedStack": "stack", "Endpoints": "endpoints", "running_endpoints": "endpoints"}.get(name, "errors")
    return getattr(import_module(f"deploy.local.{module}"), name)
