"""What an OpenID provider says of who signs in, by an authorization code with PKCE.

OpenID Connect Core and Discovery 1.0, RFC 7636, RFC 9207. Authlib speaks to the provider; joserfc verifies signatures,
Authlib's claims the rest.

Invariants
- Nothing is believed but an ID token that the provider's published keys sign, made for us, for this sign-in, and now.
- Symmetric algorithms and none are never accepted, whatever the provider offers: our secret is no key.
- A document is read up to a limit, uncompressed, without following redirects, over https (or on this machine).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, cast

import httpx2
import structlog
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import get_well_known_url
from joserfc import jwt
from joserfc.errors import BadSignatureError, ExpiredTokenError, InvalidClaimError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet, KeySetSerialization
from joserfc.jws import JWSRegistry

from services.core.clock import monotonic
from services.core.errors import Permanent, Temporary
from services.core.settings import OidcSettings
from services.core.settings.web import is_provider_address
from services.operations.sign_in.on_the_way import ProviderAway, ProviderWrong, Question, SignInRefused

log = structlog.get_logger(__name__)

TIMEOUT_S = 15.0  # of one document
MOST_BYTES = 512 * 1024
SKEW_S = 60  # by which the provider's clock and ours may differ
KEPT_S = 3600.0  # what the provider publishes
AGAIN_S = 5.0  # keys are not asked for sooner than this after they were
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
MISCONFIGURED = frozenset({"invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope"})
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,60}")  # of an error

Claims = Mapping[str, Any]
Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Published:
    """What the provider's discovery document says."""

    authorize_url: str
    token_url: str
    keys_url: str
    user_url: str
    auth_method: str
    names_itself: bool  # in its answers (RFC 9207)


class Provider:
    """The provider of the settings. What it publishes is kept for an hour, and asked for again by a key that is new."""

    def __init__(self, settings: OidcSettings, now: Callable[[], datetime]) -> None:
        self._settings, self._now = settings, now
        self._published: tuple[float, Published] | None = None
        self._keys: tuple[float, KeySet] | None = None

    async def address(self, question: Question) -> str:
        """Where a browser is sent to sign in. Raises `ProviderAway`, `ProviderWrong`."""
        published = await self._discovered()
        async with self._client(published, question) as client:
            address, _ = client.create_authorization_url(
                published.authorize_url, state=question.state, nonce=question.nonce, code_verifier=question.verifier
            )
        return str(address)

    async def claims(self, question: Question, answer: Mapping[str, str]) -> Claims:
        """What is said of who signed in, by the parameters that the browser came back with.

        Raises `ProviderAway`, `ProviderWrong`, `SignInRefused`.
        """
        published = await self._discovered()
        said = answer.get("iss", "")
        if said != self._settings.issuer and (said or published.names_itself):
            raise SignInRefused("this answer is of another provider")
        if error := answer.get("error"):
            raise _refusal(error)
        if not answer.get("code"):
            raise SignInRefused("the provider's answer holds no code")
        token = await self._token(published, question, answer["code"])
        claims = await self._verified(published, question, token)
        return {**await self._more(published, claims, token), **claims}

    async def _discovered(self) -> Published:
        if self._published and monotonic() - self._published[0] < KEPT_S:
            return self._published[1]
        said = await self._document(get_well_known_url(self._settings.issuer, external=True))
        found = _published(said, self._settings)
        self._published = (monotonic(), found)
        return found

    async def _token(self, published: Published, question: Question, code: str) -> dict[str, Any]:
        async def exchanged() -> dict[str, Any]:
            async with self._client(published, question) as client:
                given = {"grant_type": "authorization_code", "code": code, "code_verifier": question.verifier}
                found: dict[str, Any] = await client.fetch_token(published.token_url, **given)
                return found

        return await _read(published.token_url, exchanged)

    async def _verified(self, published: Published, question: Question, token: Mapping[str, Any]) -> Claims:
        """The claims of the ID token, once its signature and they hold; an unknown key is looked for once more."""
        signed = token.get("id_token")
        if not isinstance(signed, str):
            raise SignInRefused("the provider gave no ID token: openid has to be among the scopes")
        try:
            try:
                decoded = _decoded(signed, await self._keyset(published))
            except (InvalidKeyIdError, BadSignatureError):
                decoded = _decoded(signed, await self._keyset(published, again=True))
            claims = CodeIDToken(decoded.claims, decoded.header, _expected(self._settings, question), _params(token))
            claims.params |= {"nonce": question.nonce, "client_id": self._settings.client_id}
            claims.validate(now=int(self._now().timestamp()), leeway=SKEW_S)
        except (JoseError, ValueError, TypeError) as error:
            raise _unproven(error) from None
        return dict(claims)

    async def _keyset(self, published: Published, *, again: bool = False) -> KeySet:
        """The provider's public keys; shared secrets among them are none."""
        if self._keys and monotonic() - self._keys[0] < (AGAIN_S if again else KEPT_S):
            return self._keys[1]
        said = await self._document(published.keys_url)
        try:
            found = [one for one in KeySet.import_key_set(cast("KeySetSerialization", said)) if one.key_type != "oct"]
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise ProviderWrong(f"the keys at {published.keys_url} cannot be read: {type(error).__name__}") from None
        self._keys = (monotonic(), KeySet(found))
        return self._keys[1]

    async def _more(self, published: Published, claims: Claims, token: Mapping[str, Any]) -> Claims:
        """What only the provider's page about its user says; nothing where the ID token has the address already."""
        if "email" in claims or not published.user_url:
            return {}
        headers = {"authorization": f"Bearer {token.get('access_token', '')}"}
        said = await self._document(published.user_url, headers)
        if said.get("sub") != claims["sub"]:
            raise SignInRefused("the provider's page about its user is about somebody else")
        return said

    async def _document(self, url: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        async def got() -> Any:
            async with httpx2.AsyncClient(**_LIMITED) as client:
                answer = await client.get(url, headers=headers)
                if answer.status_code != httpx2.codes.OK:
                    raise _status(url, answer.status_code)
                return answer.json()

        said = await _read(url, got)
        if not isinstance(said, dict):
            raise ProviderWrong(f"{url} holds no JSON object")
        return said

    def _client(self, published: Published, question: Question) -> AsyncOAuth2Client:
        mine = self._settings
        return AsyncOAuth2Client(
            mine.client_id,
            mine.client_secret.get_secret_value() or None,
            scope=" ".join(mine.scopes),
            redirect_uri=question.redirect,
            code_challenge_method="S256",
            token_endpoint_auth_method=published.auth_method,
            **_LIMITED,
        )


class _Counted(httpx2.AsyncByteStream):
    """A body of at most `MOST_BYTES`."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken = 0
        async for part in self._stream:
            taken += len(part)
            if taken > MOST_BYTES:
                raise ProviderWrong(f"a document of the provider is larger than {MOST_BYTES} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _limit(response: httpx2.Response) -> None:
    """Read no more of an answer than the limit, and nothing that grows when it is unpacked."""
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise ProviderWrong(f"{response.url.copy_with(query=None)} is compressed, which was not asked for")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _Counted(response.stream)


_LIMITED: dict[str, Any] = {
    "timeout": TIMEOUT_S,
    "headers": {"accept": "application/json", "accept-encoding": "identity"},
    "event_hooks": {"response": [_limit]},
}


async def _read(url: str, ask: Callable[[], Awaitable[Read]]) -> Read:
    """What a call gives, within `TIMEOUT_S`; what goes wrong on the way is said with the address."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await ask()
    except OAuthError as error:
        raise _refusal(str(error.error)) from None
    except httpx2.HTTPStatusError as error:
        raise _status(url, error.response.status_code) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
        raise ProviderAway(f"{url} does not answer: {type(error).__name__}") from None
    except (ValueError, RecursionError):
        raise ProviderWrong(f"{url} holds no JSON object") from None


def _status(url: str, status: int) -> Permanent | Temporary:
    said = f"{url} answered {status}"
    return ProviderAway(said) if status >= 500 or status == httpx2.codes.TOO_MANY_REQUESTS else ProviderWrong(said)


def _refusal(error: str) -> Permanent | Temporary:
    """An error that the provider says by its code (RFC 6749, 4.1.2.1 and 5.2)."""
    code = error if _CODE.fullmatch(error) else "an error without a name"
    if code in ("temporarily_unavailable", "server_error"):
        return ProviderAway(f"it says {code}")
    if code in MISCONFIGURED:
        return ProviderWrong(f"the provider says {code}: look at client_id, client_secret and scopes")
    return SignInRefused(f"the provider says {code}")


def _published(said: Mapping[str, Any], settings: OidcSettings) -> Published:
    """The discovery document as far as it is used. Raises `ProviderWrong`."""
    if said.get("issuer") != settings.issuer:
        raise ProviderWrong(f"the provider calls itself {str(said.get('issuer'))[:200]!r}, and not as issuer says")

    def address(name: str) -> str:
        url = said.get(name)
        if not isinstance(url, str) or not is_provider_address(url, own=settings.issuer):
            raise ProviderWrong(f"{name} of the discovery document is no https address")
        return url

    methods = said.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    # Providers differ in how they read a secret with special characters in a header; in a form all read it alike.
    method = "client_secret_post" if "client_secret_post" in methods else "client_secret_basic"
    return Published(
        authorize_url=address("authorization_endpoint"),
        token_url=address("token_endpoint"),
        keys_url=address("jwks_uri"),
        user_url=address("userinfo_endpoint") if said.get("userinfo_endpoint") else "",
        auth_method=method if settings.client_secret.get_secret_value() else "none",
        names_itself=said.get("authorization_response_iss_parameter_supported") is True,
    )


def _decoded(signed: str, keys: KeySet) -> jwt.Token:
    return jwt.decode(signed, keys, registry=JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False))


def _expected(settings: OidcSettings, question: Question) -> dict[str, Any]:
    exactly = {"iss": settings.issuer, "aud": settings.client_id, "nonce": question.nonce}
    return {name: {"essential": True, "value": value} for name, value in exactly.items()} | {
        "sub": {"essential": True},
        "exp": {"essential": True},
    }


def _params(token: Mapping[str, Any]) -> dict[str, Any]:
    return {"access_token": token.get("access_token")}


def _unproven(error: Exception) -> SignInRefused:
    """Why an ID token does not hold. What is in it is in the log's words only."""
    log.warning("id token refused", error=type(error).__name__, reason=str(error)[:200])
    early = isinstance(error, InvalidClaimError) and error.claim in ("iat", "nbf")
    if early or isinstance(error, ExpiredTokenError):
        said = f"what the provider says is {'not valid yet' if early else 'over'}"
        return SignInRefused(f"{said}: its clock and the one here have to agree within {SKEW_S} seconds")
    return SignInRefused("what the provider says of you cannot be proven")
