"""An OAuth provider for tests, over real HTTP: consent page, device codes and tokens, as strict as the real ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlencode

from aiohttp import web

from services.operations.oauth_providers import Provider
from tests.support.local_web import challenge_of, started

REFRESH = "the-refresh-token"


@dataclass
class OAuthServer:
    """Consents to everything, unless it is told otherwise; `pending` polls of a device code come too early."""

    refuses: str = ""
    pending: int = 0
    gives_refresh: bool = True
    renews: bool = False
    forms: list[dict[str, str]] = field(default_factory=list)
    _challenge: str = ""
    _runner: web.AppRunner | None = None
    port: int = 0

    def provider(self) -> Provider:
        """Its addresses."""
        base = f"http://127.0.0.1:{self.port}"
        return Provider(
            "test", f"{base}/authorize", f"{base}/token", f"{base}/device", "mail offline", "i.example", "s.example"
        )

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/authorize", self._authorize)
        app.router.add_post("/device", self._device)
        app.router.add_post("/token", self._token)
        self._runner, self.port = await started(app)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _authorize(self, request: web.Request) -> web.Response:
        asked = request.query
        assert asked["code_challenge_method"] == "S256"
        self._challenge = asked["code_challenge"]
        said = {"error": self.refuses} if self.refuses else {"code": "the-code"}
        raise web.HTTPFound(f"{asked['redirect_uri']}?{urlencode({**said, 'state': asked['state']})}")

    async def _device(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["client_id"] == "me"
        return web.json_response(
            {
                "device_code": "d",
                "user_code": "ABCD-EFGH",
                "verification_uri": "https://x.example/device",
                "interval": 0,
            }
        )

    async def _token(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.forms.append(form)
        if error := self._objection(form):
            return web.json_response({"error": error}, status=400)
        given = {"access_token": "a", "token_type": "Bearer", "expires_in": 3600}
        if form["grant_type"] == "refresh_token":
            return web.json_response({**given, **({"refresh_token": "renewed"} if self.renews else {})})
        return web.json_response({**given, **({"refresh_token": REFRESH} if self.gives_refresh else {})})

    def _objection(self, form: dict[str, str]) -> str:
        if form["grant_type"] == "authorization_code":
            challenge = challenge_of(form["code_verifier"])
            return "" if (challenge, form["code"]) == (self._challenge, "the-code") else "invalid_grant"
        if form["grant_type"].endswith("device_code") and self.pending:
            self.pending -= 1
            return "authorization_pending"
        return self.refuses
