"""The embedded stack: Kafka, Postgres, Valkey and an SMTP sink from Python wheels alone, for trial and for tests."""

from deploy.local.endpoints import Endpoints, running_endpoints
from deploy.local.errors import EmbeddedStackFailed, HomeInUse, PartFailed
from deploy.local.stack import EmbeddedStack

__all__ = ["EmbeddedStack", "EmbeddedStackFailed", "Endpoints", "HomeInUse", "PartFailed", "running_endpoints"]
