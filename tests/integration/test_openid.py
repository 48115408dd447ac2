"""Signing in by an account at an OpenID provider, over real HTTP; and what a hostile one, or a hostile page, gets."""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from joserfc.jwk import RSAKey

from deploy.local import Endpoints
from services.core.settings import ConsoleSettings, OidcSettings
from services.operations import users
from services.operations.sign_in import INVITATION_LASTS, make_link, openid
from services.web.console.openid import safe_place
from tests.support.console import a_user, browser, form, signed_in, text_of
from tests.support.oidc_provider import CLIENT, OidcProvider
from tests.support.tending import Tended, tending

KEY = RSAKey.generate_key(2048, auto_kid=True)
DOMAIN = "harborline.example"
MAIL = {"email": f"grace@{DOMAIN}", "email_verified": True}
START = "/console/sign-in/oidc"
ROOT = Path(__file__).parents[2]
SOURCES = (
    "services/operations/users/identities.py",
    "services/operations/sign_in/on_the_way.py",
    "services/operations/sign_in/openid.py",
    "services/web/console/openid.py",
)


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment with one user, the admin Ann."""
    async with tending(stack, database, topic_prefix, tmp_path) as one:
        await a_user(one.app, "Ann")
        yield one


@pytest.fixture
async def provider(app: Tended) -> AsyncIterator[OidcProvider]:
    """A provider by the deployment's clock."""
    async with OidcProvider(app.clock, key=KEY) as one:
        yield one


def with_provider(app: Tended, provider: OidcProvider, **more: Any) -> Any:
    """The deployment as it is with these settings of `console.oidc`."""
    console = ConsoleSettings.model_validate(provider.settings(**more)["console"])
    return replace(app.app, settings=app.app.settings.model_copy(update={"console": console}))


async def at_provider(client: httpx.AsyncClient, start: str = START) -> str:
    """Set out and sign in at the provider: the address that it sends the browser back to."""
    left = await client.get(start, follow_redirects=False)
    assert left.status_code == 303, text_of(left)
    return await consented(left.headers["location"])


async def consented(address: str) -> str:
    """What the provider answers to the browser that it was sent."""
    async with httpx.AsyncClient() as outside:
        return (await outside.get(address)).headers["location"]


async def come_in(client: httpx.AsyncClient, start: str = START) -> httpx.Response:
    """All of it: the page on which somebody ends."""
    return await client.get(await at_provider(client, start))


def onward(page: httpx.Response) -> str:
    """Where the page goes on to by itself."""
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]*)"', page.text)
    assert found, text_of(page)
    return unescape(found[1])


async def test_an_account_that_is_a_users_signs_in(app: Tended, provider: OidcProvider) -> None:
    """By issuer and subject, whatever name and address the provider says; the record says how, and the session ends alike."""
    console = with_provider(app, provider)
    grace = await a_user(console, "Grace", "agent")
    async with signed_in(console, "Grace", role="agent") as client:
        await link_account(client)
    async with browser(console) as client:
        shown = await client.get("/console/inbox")
        assert "Sign in with Harborline Login" in text_of(shown)
        provider.claims = {"sub": "grace-1", "name": "Somebody else", "email": "elsewhere@x.example"}
        page = await come_in(client, f"{START}?next=/console/drafts")
        assert onward(page) == "/console/drafts"
        assert (await client.get("/console/drafts")).status_code == 200
        await form(await client.get("/console/inbox"), "/sign-out").send(client)
        assert (await client.get("/console/inbox")).status_code == 401
        await come_in(client)
        await users.remove_user(console, grace.user_id)
        assert (await client.get("/console/inbox")).status_code == 401
        refused = await come_in(client)
        assert (refused.status_code, "an admin removed you" in text_of(refused)) == (403, True)
    acts = await app.rows(
        "SELECT by, act, subject, status FROM console_audit WHERE act LIKE '%%sign%%' OR act LIKE '%%link%%'"
    )
    assert [one["by"] for one in acts if "Harborline Login" in one["subject"] and one["status"] == 200] == ["Grace"] * 3
    assert [one["act"] for one in acts if one["status"] == 401] == ["sign-in refused"]


async def link_account(client: httpx.AsyncClient) -> httpx.Response:
    """A user who is signed in links the account that the provider says; the page on which they end."""
    going = await form(await client.get("/console/me"), "/me/oidc").send(client)
    return await client.get(await consented(onward(going)))


async def test_a_verified_address_links_where_the_settings_say_so(app: Tended, provider: OidcProvider) -> None:
    """Somebody who was invited joins by their account; without the setting, or with an address nobody verified, they do not."""
    await users.add_user(app.app, "Grace", "agent", by="Ann", email=MAIL["email"])  # type: ignore[arg-type]
    for settings, claims in (
        ({}, MAIL),
        ({"link_by_mail": True}, MAIL | {"email_verified": False}),
        ({"link_by_mail": True}, {"email": MAIL["email"]}),
        ({"link_by_mail": True}, MAIL | {"email": "grace@elsewhere.example"}),
        ({"link_by_mail": True, "allowed_domains": ["elsewhere.example"]}, MAIL),
    ):
        provider.claims = {"sub": "grace-1", **claims}
        async with browser(with_provider(app, provider, **settings)) as client:
            assert (await come_in(client)).status_code == 403, (settings, claims)
            assert (await client.get("/console/inbox")).status_code == 401
    provider.claims = {"sub": "grace-1", **MAIL}
    async with browser(with_provider(app, provider, link_by_mail=True, allowed_domains=[DOMAIN.upper()])) as client:
        await client.get(onward(await come_in(client)))
        assert "Grace" in (await client.get("/console/me")).text
    (row,) = await app.rows("SELECT joined_at FROM users WHERE name = 'Grace'")
    assert row["joined_at"]
    async with browser(with_provider(app, provider)) as client:  # linked is linked, without the setting too
        provider.claims = {"sub": "grace-1"}
        assert (await come_in(client)).status_code == 200


async def test_an_address_that_was_given_to_somebody_new_signs_nobody_in_as_the_former(
    app: Tended, provider: OidcProvider
) -> None:
    """A user who has an account at the provider is led to by no second one with the same address."""
    await users.add_user(app.app, "Grace", "agent", by="Ann", email=MAIL["email"])  # type: ignore[arg-type]
    async with browser(with_provider(app, provider, link_by_mail=True)) as client:
        provider.claims = {"sub": "grace-1", **MAIL}
        assert (await come_in(client)).status_code == 200
        provider.claims = {"sub": "another-grace", **MAIL}
        assert (await come_in(client)).status_code == 403


async def test_users_are_made_where_the_settings_say_so(app: Tended, provider: OidcProvider) -> None:
    """Under a name that nobody has, with a verified address of the domains; two tabs at once make one."""
    settings = {"create_users": True, "allowed_domains": [DOMAIN], "default_role": "agent"}
    provider.claims = {"sub": "ann-2", "name": "ANN", "email": f"ann@{DOMAIN}", "email_verified": "true"}
    async with browser(with_provider(app, provider, **settings)) as client:
        back = [await at_provider(client), await at_provider(client)]
        assert [one.status_code for one in await asyncio.gather(*map(client.get, back))] == [200, 200]
        for wrong in ({"email_verified": False}, {"email": f"ann@{DOMAIN}.evil.example"}, {"email": f'"@{DOMAIN}'}):
            provider.claims = {"sub": "eve", "name": "Eve", "email": f"eve@{DOMAIN}", "email_verified": True} | wrong
            assert (await come_in(client)).status_code == 403, wrong
    rows = await app.rows("SELECT name, email, role, joined_at IS NOT NULL AS joined FROM users ORDER BY name_key")
    assert [tuple(row.values()) for row in rows] == [
        ("Ann", "", "admin", True),
        (f"ANN (ann@{DOMAIN})", f"ann@{DOMAIN}", "agent", True),
    ]
    (row,) = await app.rows("SELECT count(*) AS n FROM oidc_identities")
    assert row["n"] == 1


async def test_who_was_removed_is_not_made_again_and_comes_back_by_an_invitation(
    app: Tended, provider: OidcProvider
) -> None:
    """Neither by their account nor by another one with their address, also where the deployment has a new secret since."""
    settings = {"create_users": True, "link_by_mail": True, "allowed_domains": [DOMAIN]}
    invited = await users.add_user(app.app, "Grace", "agent", by="Ann", email=MAIL["email"])  # type: ignore[arg-type]
    await users.remove_user(app.app, invited.user_id)
    renewed = replace(with_provider(app, provider, **settings), secret=b"another secret of this deployment")
    former = renewed.settings.model_copy(update={"former_secrets": (app.app.settings.secret,)})
    provider.claims = {"sub": "grace-1", "name": "Grace H.", **MAIL}
    for one in (with_provider(app, provider, **settings), replace(renewed, settings=former)):
        async with browser(one) as client:
            assert "an admin removed you" in text_of(await come_in(client))
    provider.claims |= {"sub": "grace-2"}
    async with browser(with_provider(app, provider, **settings)) as client:
        assert "an admin removed you" in text_of(await come_in(client))
        await users.add_user(app.app, "Grace again", "viewer", by="Ann", email=MAIL["email"])  # type: ignore[arg-type]
        assert (await come_in(client)).status_code == 200
    (row,) = await app.rows("SELECT left_address FROM users WHERE removed_at IS NOT NULL")
    assert re.fullmatch(r"[0-9a-f]{64}", row["left_address"])


async def test_an_invitation_signed_in_for_a_week_whoever_had_it_after_its_user_joined_by_an_account(
    app: Tended, provider: OidcProvider
) -> None:
    """The link of the mail asks for no password once its user joined, and no second factor: it counts for nothing then."""
    console = with_provider(app, provider, link_by_mail=True, allowed_domains=[DOMAIN])
    grace = await users.add_user(console, "Grace", "agent", by="Ann", email=MAIL["email"])  # type: ignore[arg-type]
    token = await make_link(console, grace, INVITATION_LASTS)
    provider.claims = {"sub": "grace-1", **MAIL}
    async with browser(console) as client, browser(console) as thief:
        assert (await thief.get(f"/console/sign-in/{token}")).status_code == 200
        assert (await come_in(client)).status_code == 200
        assert (await thief.get(f"/console/sign-in/{token}")).status_code == 401
        assert (await thief.post("/console/sign-in/link", data={"token": token})).status_code == 401
        assert (await client.get("/console/inbox")).status_code == 200


@pytest.mark.parametrize(
    ("settings", "said", "role"),
    [
        (
            {"role_claim": "groups", "roles": {"leads": "admin", "desk": "agent"}},
            {"groups": ["desk", "leads"]},
            "admin",
        ),
        ({"role_claim": "groups", "roles": {"desk": "agent"}}, {"groups": ["admin"]}, "viewer"),
        ({"role_claim": "realm_access.roles"}, {"realm_access": {"roles": ["agent", "x"]}}, "agent"),
        ({"role_claim": "https://x.example/role"}, {"https://x.example/role": "admin"}, "admin"),
        ({"role_claim": "groups", "default_role": "none"}, {"groups": "nothing"}, None),
        ({"role_claim": "groups.a", "default_role": "none"}, {"groups": [{"a": "admin"}]}, None),
        ({"role_claim": "groups", "default_role": "none"}, {"groups": {"admin": True}}, None),
    ],
)
async def test_the_role_is_what_the_claim_says_at_each_sign_in(
    app: Tended, provider: OidcProvider, settings: dict[str, Any], said: dict[str, Any], role: str | None
) -> None:
    """The highest that it says; the default where it says none of ours; with the default `none` they are refused."""
    more = {"create_users": True, "allowed_domains": [DOMAIN]} | settings
    provider.claims = {"sub": "grace-1", "name": "Grace", **MAIL, **said}
    async with browser(with_provider(app, provider, **more)) as client:
        assert (await come_in(client)).status_code == (200 if role else 403)
        await come_in(client)
    rows = await app.rows("SELECT role FROM users WHERE name = 'Grace'")
    assert [row["role"] for row in rows] == ([role] if role else [])


async def test_the_last_admin_stays_one_whatever_the_provider_says(app: Tended, provider: OidcProvider) -> None:
    """Another one is given what the claim says."""
    console = with_provider(app, provider, role_claim="groups")
    async with signed_in(console, "Ann") as client:
        await link_account(client)
        assert (await come_in(client)).status_code == 200
        assert (await client.get("/console/users")).status_code == 200
        await a_user(console, "Bea", "admin")
        await come_in(client)
        assert (await client.get("/console/users")).status_code == 403


async def test_nobody_is_the_first_user_by_an_account(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A deployment that has users has an admin: the first one is made by a link."""
    async with tending(stack, database, topic_prefix, tmp_path) as app, OidcProvider(app.clock, key=KEY) as provider:
        provider.claims = {"sub": "grace-1", "name": "Grace", **MAIL}
        async with browser(with_provider(app, provider, create_users=True, allowed_domains=[DOMAIN])) as client:
            assert "Sign in with" not in text_of(await client.get("/console/inbox"))
            assert (await come_in(client)).status_code == 403
        assert await app.rows("SELECT name FROM users") == []


async def test_a_deployment_without_a_provider_shows_no_way_to_one(app: Tended) -> None:
    """No button, no address, nothing on the page of a user."""
    async with browser(app.app) as client, signed_in(app.app, "Ann") as ann:
        assert "Sign in with" not in text_of(await client.get("/console/sign-in"))
        assert (await client.get(START)).status_code == 401  # an unknown link
        assert (await client.get(f"{START}/callback?state=x&code=y")).status_code == 401
        assert "/me/oidc" not in (await ann.get("/console/me")).text


# What is hostile.


async def test_an_answer_counts_once_in_the_browser_that_set_out(app: Tended, provider: OidcProvider) -> None:
    """A replayed state, one that nobody gave, one of another browser and one of ten minutes ago sign nobody in."""
    console = await linked(app, provider)
    async with browser(console) as client, browser(console) as other:
        back = await at_provider(client)
        stolen = await other.get(back)
        assert (stolen.status_code, "begun in another browser" in text_of(stolen)) == (401, True)
        assert (await client.get(back)).status_code == 200  # nobody else could use it up
        assert (await client.get(back)).status_code == 401
        for wrong in ("", "?state=&code=x", "?state=guessed&code=x", "?code=x", "?state=%00%ff&code=x&code=y"):
            assert (await client.get(f"{START}/callback{wrong}")).status_code == 401, wrong
        late = await at_provider(client)
        app.clock.forward(app.clock() + timedelta(minutes=11))
        assert (await client.get(late)).status_code == 401
    tokens = [path for path in provider.asked if path == "/token"]
    assert len(tokens) == 2  # linking, and the one that counted
    assert await app.rows("SELECT * FROM oidc_sign_ins WHERE expires_at > now() + interval '200 years'") == []


async def linked(app: Tended, provider: OidcProvider, **more: Any) -> Any:
    """The deployment with a user Grace whose account the provider says."""
    console = with_provider(app, provider, **more)
    async with signed_in(console, "Grace", role="agent") as client:
        page = await link_account(client)
        assert "Linked" in text_of(page)
    return console


async def test_two_tabs_of_a_browser_both_sign_in(app: Tended, provider: OidcProvider) -> None:
    """Each has its own state, and goes on to its own page."""
    async with browser(await linked(app, provider)) as client:
        first = await at_provider(client, f"{START}?next=/console/drafts")
        second = await at_provider(client, f"{START}?next=/console/people")
        assert onward(await client.get(first)) == "/console/drafts"
        assert onward(await client.get(second)) == "/console/people"


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "of another sign-in"},
        {"nonce": None},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another-client"},
        {"aud": ["another-client", "a third"]},
        {"aud": [CLIENT, "another-client"], "azp": "another-client"},
        {"aud": [CLIENT, "another-client"]},
        {"azp": "another-client"},
        {"aud": None},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "x" * 300},
        {"sub": "a\x00b"},
        {"exp": None},
        {"exp": "tomorrow"},
        {"exp": float("inf")},
        {"iat": None},
        {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
    ],
)
async def test_a_token_that_is_not_for_this_sign_in_signs_nobody_in(
    app: Tended, provider: OidcProvider, claims: dict[str, Any]
) -> None:
    """Issuer, audience, nonce, subject and times have to be there and right, though the signature is."""
    console = await linked(app, provider)
    provider.claims |= claims
    async with browser(console) as client:
        page = await come_in(client)
        assert page.status_code in (401, 403), text_of(page)
        assert (await client.get("/console/inbox")).status_code == 401


@pytest.mark.parametrize(("exp", "iat", "status"), [(-30, -300, 200), (-90, -300, 401), (300, 30, 200), (300, 90, 401)])
async def test_clocks_may_differ_by_a_minute(
    app: Tended, provider: OidcProvider, exp: int, iat: int, status: int
) -> None:
    """Beyond that the page says that it is the clocks."""
    console = await linked(app, provider)
    now = int(app.clock().timestamp())
    provider.claims |= {"exp": now + exp, "iat": now + iat}
    async with browser(console) as client:
        page = await come_in(client)
    assert page.status_code == status
    assert ("clock" in text_of(page)) == (status == 401)


def none(provider: OidcProvider) -> None:
    """No signature at all."""
    provider.algorithm = "none"


def confused(provider: OidcProvider) -> None:
    """Signed with the public key as if it were a shared secret."""
    provider.algorithm = "HS256"


def shared(provider: OidcProvider) -> None:
    """Signed with the client's secret, which the key set offers, too."""
    provider.algorithm = "HS256"
    provider.key = RSAKey.import_key(provider.key.as_dict(private=True) | {"kid": "shared"})


def unpublished(provider: OidcProvider) -> None:
    """Signed with a key that the provider does not publish."""
    provider.rotate(publish=False)


def renamed(provider: OidcProvider) -> None:
    """The same, under the name of the key that it does."""
    kid = provider.key.kid
    provider.key = RSAKey.import_key(RSAKey.generate_key(2048).as_dict(private=True) | {"kid": kid})


@pytest.mark.parametrize("attack", [none, confused, shared, unpublished, renamed])
async def test_a_signature_that_is_not_the_providers_signs_nobody_in(
    app: Tended, provider: OidcProvider, attack: Callable[[OidcProvider], None]
) -> None:
    """Whatever the token's head says of its algorithm."""
    console = await linked(app, provider)
    attack(provider)
    async with browser(console) as client:
        page = await come_in(client)
        assert (page.status_code, "cannot be proven" in text_of(page)) == (401, True)


async def test_a_new_key_is_looked_for_once(
    app: Tended, provider: OidcProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A provider that rotates its keys signs in without a restart; keys are not asked for at each sign-in."""
    monkeypatch.setattr(openid, "AGAIN_S", 0.0)
    async with browser(await linked(app, provider)) as client:
        await come_in(client)
        await come_in(client)
        before = provider.asked.count("/keys")
        provider.rotate()
        assert (await come_in(client)).status_code == 200
        assert (before, provider.asked.count("/keys")) == (2, 3)  # one of who linked, in another process


@pytest.mark.parametrize(
    ("path", "answer", "status", "says"),
    [
        ("/realm/.well-known/openid-configuration", (404, b"{}"), 502, "answered 404"),
        ("/realm/.well-known/openid-configuration", (200, b"<html>"), 502, "no JSON object"),
        ("/realm/.well-known/openid-configuration", (200, b"[]"), 502, "no JSON object"),
        ("/realm/.well-known/openid-configuration", (200, b"[" * 200_000), 502, "no JSON object"),
        ("/realm/.well-known/openid-configuration", (200, b'"' + b"x" * 600_000 + b'"'), 502, "larger than"),
        ("/realm/.well-known/openid-configuration", (503, b""), 503, "does not answer now"),
        ("/keys", (200, b"{}"), 502, "cannot be read"),
        ("/keys", (200, b'{"keys": [{"kty": "RSA", "n": 3}]}'), 502, "cannot be read"),
        ("/keys", (200, b'{"keys": "' + b"x" * 600_000 + b'"}'), 502, "larger than"),
        ("/keys", (500, b""), 503, "does not answer now"),
        ("/token", (200, b"<html>"), 502, "no JSON object"),
        ("/token", (200, b"{}"), 401, "no ID token"),
        ("/token", (200, b'{"id_token": "a.b"}'), 401, "cannot be proven"),
        ("/token", (200, b'{"id_token": "' + b"x" * 300_000 + b'"}'), 401, "cannot be proven"),
        ("/token", (200, b'{"id_token": "' + b"x" * 600_000 + b'"}'), 502, "larger than"),
        ("/token", (400, b'{"error": "invalid_client"}'), 502, "look at client_id"),
        ("/token", (400, b'{"error": "<script>alert(1)</script>"}'), 401, "an error without a name"),
        ("/token", (429, b""), 503, "does not answer now"),
        ("/user", (200, b'{"sub": "somebody-else", "email": "x@x.example"}'), 401, "about somebody else"),
    ],
)
async def test_a_provider_that_is_away_or_set_up_wrong_is_said(
    app: Tended, provider: OidcProvider, path: str, answer: tuple[int, bytes], status: int, says: str
) -> None:
    """Each with what to do, and nobody signed in; the next sign-in works once it is right."""
    provider.user_page = {"sub": "grace-1"}
    console = await linked(app, provider)
    provider.broken = {path: answer}
    async with browser(console) as client:
        left = await client.get(START, follow_redirects=False)
        page = await client.get(await consented(left.headers["location"])) if left.status_code == 303 else left
        assert (page.status_code, says in text_of(page)) == (status, True), text_of(page)
        assert "<script>alert" not in page.text
        provider.broken = {}
        assert (await come_in(client)).status_code == 200


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"issuer": "https://evil.example"}, "calls itself"),
        ({"token_endpoint": "http://evil.example/token"}, "token_endpoint"),
        ({"token_endpoint": None}, "token_endpoint"),
        ({"jwks_uri": "file:///etc/passwd"}, "jwks_uri"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "authorization_endpoint"),
        ({"authorization_endpoint": "https://a@evil.example"}, "authorization_endpoint"),
    ],
)
async def test_a_discovery_document_leads_nowhere_but_to_https(
    app: Tended, provider: OidcProvider, document: dict[str, Any], says: str
) -> None:
    """One that is another provider's, or names other places than https ones, is refused before anybody goes there."""
    provider.document = document
    async with browser(with_provider(app, provider)) as client:
        page = await client.get(START)
        assert (page.status_code, says in text_of(page)) == (502, True)


async def test_a_provider_that_is_not_there_is_said(app: Tended) -> None:
    """The password still signs in."""
    async with OidcProvider(app.clock, key=KEY) as gone:
        console = with_provider(app, gone)
    async with browser(console) as client, signed_in(console, "Ann") as ann:
        page = await client.get(START)
        assert (page.status_code, "does not answer now" in text_of(page)) == (503, True)
        assert form(page, "/sign-in")
        assert (await form(await ann.get("/console/me"), "/me/oidc").send(ann)).status_code == 503


async def test_a_compressed_answer_is_not_unpacked(app: Tended, provider: OidcProvider) -> None:
    """What was not asked for in a compressed form is not read in one."""
    console = await linked(app, provider)
    provider.compresses = True
    async with browser(console) as client:
        page = await client.get(START)
        assert (page.status_code, "compressed" in text_of(page)) == (502, True)


async def test_a_refusal_of_the_person_or_the_provider_is_said(app: Tended, provider: OidcProvider) -> None:
    """Denied, away, set up wrong, and an answer that another provider gives (RFC 9207)."""
    async with browser(await linked(app, provider)) as client:
        for said, status in (("access_denied", 401), ("temporarily_unavailable", 503), ("invalid_scope", 502)):
            provider.refuses = said
            page = await come_in(client)
            assert (page.status_code, said in text_of(page)) == (status, True)
        provider.refuses = ""
        back = await at_provider(client)
        assert (await client.get(f"{back}&iss=https%3A%2F%2Fevil.example")).status_code == 401
        back = await at_provider(client)
        assert (await client.get(f"{back}&iss={provider.issuer}")).status_code == 200
        provider.document = {"authorization_response_iss_parameter_supported": True}
        async with browser(with_provider(app, provider)) as strict:
            assert (await come_in(strict)).status_code == 401


async def test_the_page_about_the_user_says_what_the_token_does_not(app: Tended, provider: OidcProvider) -> None:
    """Address and groups may stand there; it is asked only where the token holds no address."""
    settings = {"create_users": True, "allowed_domains": [DOMAIN], "role_claim": "groups"}
    provider.user_page = {"sub": "grace-1", "name": "Grace", "groups": ["agent"], "iss": "https://evil.example", **MAIL}
    async with browser(with_provider(app, provider, **settings)) as client:
        assert (await come_in(client)).status_code == 200
        provider.claims |= MAIL | {"groups": "admin"}
        assert (await come_in(client)).status_code == 200
    assert provider.asked.count("/user") == 1
    (row,) = await app.rows("SELECT role FROM users WHERE name = 'Grace'")
    assert row["role"] == "admin"


async def test_an_account_of_another_user_is_not_linked(app: Tended, provider: OidcProvider) -> None:
    """It stays with whom it is, and whoever takes theirs off signs in by a link again."""
    console = await linked(app, provider)
    async with signed_in(console, "Bob", role="viewer") as bob, signed_in(console, "Grace") as grace:
        page = await link_account(bob)
        assert (page.status_code, "another user" in text_of(page)) == (403, True)
        page = await grace.get("/console/me")
        await form(page, "/me/oidc-off").send(grace)
        assert "Linked" in text_of(await link_account(bob))


async def test_linking_needs_a_form_of_ones_own_session(app: Tended, provider: OidcProvider) -> None:
    """Another site's page cannot have somebody link an account that is not theirs."""
    async with signed_in(with_provider(app, provider), "Ann") as ann:
        assert (await ann.post("/console/me/oidc", data={"form_token": "x"})).status_code == 403
        assert (await ann.get("/console/me/oidc")).status_code == 405
    assert provider.asked == []


async def test_a_stolen_session_linked_an_account_of_its_thief(app: Tended, provider: OidcProvider) -> None:
    """Who has a password is asked for it before the provider is."""
    console = with_provider(app, provider)
    user = await users.add_user(console, "Grace", "admin", by="", email=MAIL["email"], joined=True)  # type: ignore[arg-type]
    await users.set_password(console, user.user_id, "correct horse battery")
    async with signed_in(console) as grace:
        link = form(await grace.get("/console/me"), "/me/oidc")
        assert (await link.send(grace, now="guess")).status_code == 422
        assert provider.asked == []
        assert onward(await link.send(grace, now="correct horse battery"))


@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic"])
async def test_the_client_says_its_secret_as_the_provider_wants(
    app: Tended, provider: OidcProvider, method: str
) -> None:
    """In the form or in the header; a wrong one is a matter of the settings."""
    provider.document = {"token_endpoint_auth_methods_supported": [method]}
    async with browser(await linked(app, provider)) as client:
        assert (await come_in(client)).status_code == 200
        provider.secret = "renewed"
        page = await come_in(client)
        assert (page.status_code, "invalid_client" in text_of(page)) == (502, True)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("/console/threads/7", "/console/threads/7"),
        ("/console/people/ada@acme.example", "/console/people/ada%40acme.example"),
        ("https://evil.example", "/console/inbox"),
        ("//evil.example", "/console/inbox"),
        ("/\\evil.example", "/console/inbox"),
        ("/console//evil.example", "/console/inbox"),
        ("/console/../../evil", "/console/inbox"),
        ("/console/x\\..\\y", "/console/x%5C..%5Cy"),
        ("/console/%2e%2e/x", "/console/%252e%252e/x"),
        ("/console/x?done=approved", "/console/x%3Fdone%3Dapproved"),
        ("/console/x\r\nset-cookie: a=b", "/console/x%0D%0Aset-cookie%3A%20a%3Db"),
        ("/console/x\x00", "/console/inbox"),
        ("/console/\ud800", "/console/inbox"),
        ("/console/" + "x" * 600, "/console/inbox"),
        ("/console/sign-in/oidc", "/console/inbox"),
        ("/consoles/x", "/console/inbox"),
        ("javascript:alert(1)", "/console/inbox"),
        ("", "/console/inbox"),
    ],
)
def test_whoever_signs_in_goes_on_to_a_page_of_the_console_alone(said: str, place: str) -> None:
    """What a link says of where to go on is no way out of it."""
    assert safe_place(said) == place


async def test_nothing_is_begun_where_somebody_could_listen(app: Tended, provider: OidcProvider) -> None:
    """Over plain http from elsewhere the way is closed; over https both cookies are bound to the host."""
    console = await linked(app, provider)
    async with browser(console, "http://desk.example") as client:
        assert (await client.get(START)).status_code == 403
        assert (await client.get(f"{START}/callback?state=x")).status_code == 403
    async with browser(console, "https://desk.example") as client:
        left = await client.get(START, follow_redirects=False)
        cookie = left.headers["set-cookie"]
        assert cookie.startswith("__Host-correspondent-way=")
        assert all(word in cookie for word in ("HttpOnly", "Secure", "SameSite=lax", "Path=/"))
        page = await client.get(await consented(left.headers["location"]))
        assert "__Host-correspondent=" in page.headers["set-cookie"]
        assert "SameSite=strict" in page.headers["set-cookie"]
        assert "code-" not in page.text


async def test_too_many_tries_wait(app: Tended, provider: OidcProvider) -> None:
    """Thirty a minute of an address, each way."""
    async with browser(with_provider(app, provider)) as client:
        said = [(await client.get(f"{START}/callback?state=x")).status_code for _ in range(32)]
        assert said == [401] * 30 + [429] * 2


def test_the_how_to_says_what_the_pages_say() -> None:
    """Its settings are taken, and each sentence of its table is one of the program's."""
    page = (ROOT / "docs" / "how-to" / "single-sign-on.md").read_text(encoding="utf-8")
    blocks = [tomllib.loads(one) for one in re.findall(r"```toml\n(.*?)```", page, re.DOTALL)]
    taken = [ConsoleSettings.model_validate(one["console"]) for one in without_secrets(blocks)]
    assert [bool(one.oidc) for one in taken] == [True, True]
    assert [name for name in OidcSettings.model_fields if name not in page and name != "scopes"] == []
    said = "".join((ROOT / one).read_text(encoding="utf-8") for one in SOURCES)
    told = re.findall(r'^\| "(.*?)"', page, re.MULTILINE)
    assert len(told) > 8
    joined = re.sub(r'"\s*\n\s*f?"', "", said).replace("{SKEW_S}", "60").replace("{code}", "access_denied")
    assert [one for one in told if one not in joined] == []


def without_secrets(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The blocks about the console, with a secret in place of the name of one."""
    mine = [one for one in blocks if "console" in one]
    for one in mine:
        assert one["console"]["oidc"].pop("client_secret").startswith("${")
    return mine


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"issuer": "http://login.example"}, "https address"),
        ({"issuer": "https://login.example?x=y"}, "https address"),
        ({"issuer": "https://a:b@login.example"}, "https address"),
        ({"issuer": "login.example"}, "https address"),
        ({"scopes": ["email"]}, "needs openid"),
        ({"create_users": True}, "needs allowed_domains"),
        ({"roles": {"a": "admin"}}, "needs role_claim"),
        ({"roles": {"a": "owner"}, "role_claim": "groups"}, "viewer"),
    ],
)
def test_settings_that_let_in_too_many_are_refused(wrong: dict[str, Any], says: str) -> None:
    """With what is wrong, before anybody signs in."""
    right = {"issuer": "https://login.example", "client_id": "x"}
    assert ConsoleSettings.model_validate({"oidc": right}).oidc
    with pytest.raises(ValueError, match=says):
        ConsoleSettings.model_validate({"oidc": right | wrong})
