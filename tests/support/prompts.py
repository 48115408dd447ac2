"""What two prompts have in common for the provider's cache."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

from services.model.port import Request
from services.model.prompt import render


def prefix_sha256(request: Request) -> str:
    """The hash (hex) of what stands before the cache mark: the tools, then the stable part."""
    tools = json.dumps([asdict(tool) for tool in request.tools], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(f"{tools}\n{render(request).stable}".encode("utf-8", "surrogatepass")).hexdigest()
