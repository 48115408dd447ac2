"""What is the same for every deployment of a process, and is worked out once.

A text's vector, what FastAPI makes of a route, and whom a client trusts over TLS: each as the product has it, the first
time; another test's deployment, with a database of its own, gets the same.
"""

from __future__ import annotations

import os
import ssl
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from unittest import mock

import httpx._transports.default
import httpx2._transports.default
from fastapi import APIRouter
from fastapi.routing import APIRoute, request_response

from services.memory.embeddings import Vector
from services.memory.multilingual import Multilingual

MOST_VECTORS = 5_000
_vectors: OrderedDict[str, Vector] = OrderedDict()
_embed, _add_api_route = Multilingual.embed_now, APIRouter.add_api_route


@dataclass(frozen=True, slots=True)
class Analysed:
    """A route, and what it was made of beside its code and its address."""

    route: APIRoute
    given: Any


_routes: dict[tuple[Any, str], Analysed] = {}
_contexts: dict[tuple[Any, ...], ssl.SSLContext] = {}


@contextmanager
def worked_out_once() -> Iterator[None]:
    """For the block, each is worked out only where this process has not done it before."""
    with (
        mock.patch.object(Multilingual, "embed_now", _embedded_once),
        mock.patch.object(APIRouter, "add_api_route", _analysed_once),
        _trusted_once(httpx._transports.default),
        _trusted_once(httpx2._transports.default),
    ):
        yield


def _trusted_once(clients: Any) -> Any:
    """A client that says nothing of TLS reads 140 certificates: 18 ms, whether it speaks TLS or not."""
    return mock.patch.object(clients, "create_ssl_context", partial(_context, clients.create_ssl_context))


def _context(
    make: Callable[..., ssl.SSLContext], verify: Any = True, cert: Any = None, trust_env: bool = True
) -> ssl.SSLContext:
    if not isinstance(verify, bool) or cert:
        return make(verify, cert, trust_env)
    place = (make, verify, trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    if place not in _contexts:
        _contexts[place] = make(verify, cert, trust_env)
    return _contexts[place]


def _embedded_once(self: Multilingual, texts: Sequence[str]) -> list[Vector]:
    missing = [text for text in dict.fromkeys(texts) if text not in _vectors]
    found = dict(zip(missing, _embed(self, missing), strict=True))
    found |= {text: _vectors[text] for text in texts if text in _vectors}
    _vectors.update(found)
    while len(_vectors) > MOST_VECTORS:
        _vectors.popitem(last=False)
    return [found[text].copy() for text in texts]


def _analysed_once(self: APIRouter, path: str, endpoint: Callable[..., Any], **given: Any) -> None:
    """A closure over another deployment is the same code with the same parameters: only what is called is another."""
    place = (getattr(endpoint, "__code__", endpoint), self.prefix + path)
    made_of = (given, getattr(endpoint, "__defaults__", None), self.dependencies, self.tags, self.responses)
    known = _routes.get(place)
    if known is None or known.given != made_of:
        _add_api_route(self, path, endpoint, **given)
        route = self.routes[-1]
        assert isinstance(route, APIRoute)
        _routes[place] = Analysed(route, made_of)
        return
    route = copy(known.route)
    route.__class__ = self.route_class
    route.endpoint, route.dependant = endpoint, replace(route.dependant, call=endpoint)
    route.app = request_response(route.get_route_handler())
    self.routes.append(route)
