"""An OpenID provider for tests, over real HTTP: discovery, keys, sign-in page, tokens, and the page about its user.

As strict as the real ones about client, redirect, PKCE and codes that count once. What it says can be made wrong.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Self
from urllib.parse import urlencode

from aiohttp import web
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.support.local_web import base64url, challenge_of, started

CLIENT, SECRET = "the-console", "the-client's-secret:100%"


@cache
def _first_key() -> RSAKey:
    """Of every provider: to make one takes a tenth of a second and more."""
    return RSAKey.generate_key(2048, auto_kid=True)


@dataclass
class OidcProvider:
    """Signs in whoever `claims` says, unless it is told otherwise."""

    now: Callable[[], datetime]
    claims: dict[str, Any] = field(default_factory=lambda: {"sub": "grace-1", "name": "Grace"})
    document: dict[str, Any] = field(default_factory=dict)  # over the right one
    user_page: dict[str, Any] | None = None
    refuses: str = ""  # at the sign-in page
    refuses_code: str = ""  # at the token endpoint
    broken: dict[str, tuple[int, bytes]] = field(default_factory=dict)  # a path, and what it answers in place of JSON
    compresses: bool = False  # whatever is asked for
    algorithm: str = "RS256"
    secret: str = SECRET
    asked: list[str] = field(default_factory=list)  # paths, in their order
    key: RSAKey = field(default_factory=_first_key)
    published: list[RSAKey] = field(default_factory=list)
    port: int = 0
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)
    _runner: web.AppRunner | None = None

    @property
    def issuer(self) -> str:
        """What it calls itself."""
        return f"http://127.0.0.1:{self.port}/realm"

    def settings(self, **more: Any) -> dict[str, Any]:
        """The settings of a console that it signs in to."""
        mine = {"issuer": self.issuer, "client_id": CLIENT, "client_secret": self.secret, "name": "Harborline Login"}
        return {"console": {"oidc": mine | more}}

    def rotate(self, *, publish: bool = True) -> None:
        """Sign with another key from now on."""
        self.key = RSAKey.generate_key(2048, auto_kid=True)
        if publish:
            self.published = [self.key]

    async def __aenter__(self) -> Self:
        self.published = self.published or [self.key]
        app = web.Application(middlewares=[self._noted])
        app.router.add_get("/realm/.well-known/openid-configuration", self._discovery)
        app.router.add_get("/keys", self._keys)
        app.router.add_get("/authorize", self._authorize)
        app.router.add_post("/token", self._token)
        app.router.add_get("/user", self._user)
        self._runner, self.port = await started(app)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    @web.middleware
    async def _noted(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.asked.append(request.path)
        if request.path in self.broken:
            status, body = self.broken[request.path]
            return web.Response(status=status, body=body, content_type="application/json")
        answer: web.StreamResponse = await handler(request)
        if self.compresses:
            answer.enable_compression(web.ContentCoding.gzip)
        return answer

    async def _discovery(self, request: web.Request) -> web.Response:
        base = f"http://127.0.0.1:{self.port}"
        said = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
            "jwks_uri": f"{base}/keys",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
        }
        if self.user_page is not None:
            said["userinfo_endpoint"] = f"{base}/user"
        return web.json_response(said | self.document)

    async def _keys(self, request: web.Request) -> web.Response:
        keys = [{**one.as_dict(private=False), "use": "sig"} for one in self.published]
        shared = {"kty": "oct", "kid": "shared", "k": base64url(SECRET.encode())}
        return web.json_response({"keys": [*keys, shared, {"kty": "ML-DSA", "kid": "of tomorrow"}]})

    async def _authorize(self, request: web.Request) -> web.Response:
        asked = dict(request.query)
        assert asked["client_id"] == CLIENT
        assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
        assert "openid" in asked["scope"].split()
        code = f"code-{len(self._codes)}"
        self._codes[code] = asked
        said = {"error": self.refuses} if self.refuses else {"code": code}
        raise web.HTTPFound(f"{asked['redirect_uri']}?{urlencode({**said, 'state': asked['state']})}")

    async def _token(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        if error := self._objection(request, form):
            return web.json_response({"error": error}, status=401 if error == "invalid_client" else 400)
        asked = self._codes.pop(form["code"])
        given = {"access_token": "for-the-user-page", "token_type": "Bearer", "expires_in": 300}
        return web.json_response(given | {"id_token": self._signed(asked["nonce"])})

    def _objection(self, request: web.Request, form: dict[str, str]) -> str:
        asked = self._codes.get(form.get("code", ""))
        if _client_of(request, form) != (CLIENT, self.secret):
            return "invalid_client"
        challenge = challenge_of(form.get("code_verifier", ""))
        if asked is None or (asked["code_challenge"], asked["redirect_uri"]) != (challenge, form.get("redirect_uri")):
            return "invalid_grant"
        return self.refuses_code

    def _signed(self, nonce: str) -> str:
        now = self.now()
        said = {
            "iss": self.issuer,
            "aud": CLIENT,
            "nonce": nonce,
            "iat": int(now.timestamp()),
            "exp": int((now + timedelta(minutes=5)).timestamp()),
        }
        claims = {name: value for name, value in (said | self.claims).items() if value is not None}
        header = {"alg": self.algorithm, "kid": self.key.kid}
        if self.algorithm == "RS256":
            return jwt.encode(header, claims, self.key, algorithms=["RS256"])
        # By hand, since joserfc signs neither so: no signature, or the public key or the client's secret as a shared one.
        signed = ".".join(base64url(json.dumps(one).encode()) for one in (header, claims))
        shared = self.key.as_pem(private=False) if header["kid"] != "shared" else SECRET.encode()
        mac = hmac.new(shared, signed.encode(), hashlib.sha256).digest() if self.algorithm == "HS256" else b""
        return f"{signed}.{base64url(mac)}"

    async def _user(self, request: web.Request) -> web.Response:
        assert request.headers["authorization"] == "Bearer for-the-user-page"
        return web.json_response(self.user_page)


def _client_of(request: web.Request, form: dict[str, str]) -> tuple[str, str]:
    if "client_secret" in form:
        return form["client_id"], form["client_secret"]
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    assert scheme == "Basic"
    name, _, secret = base64.b64decode(given).decode().partition(":")
    return name, secret
