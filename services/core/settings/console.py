"""The console's sign-in over an OpenID provider."""

from __future__ import annotations

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator

from services.core.settings.group import Group

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
UserRole = Literal["viewer", "agent", "admin"]


class OidcSettings(Group):
    """Signing in to the console by an account at an OpenID provider, next to passwords and links."""

    issuer: str = Field(description="the provider, as its discovery document says it: https://login.shop.example")
    client_id: str = Field(min_length=1, description="what the provider knows this deployment as")
    client_secret: SecretStr = Field(SecretStr(""), description="where the provider gave one; PKCE is used in any case")
    name: str = Field("single sign-on", min_length=1, max_length=60, description="as the button says it")
    scopes: tuple[str, ...] = Field(("openid", "profile", "email"), description="what is asked for; one is openid")
    allowed_domains: tuple[str, ...] = Field(
        (), description="of verified mail addresses; others are refused; empty: whoever is a user"
    )
    link_by_mail: bool = Field(
        False, description="an account whose verified address is that of a user here is theirs from its first sign-in"
    )
    create_users: bool = Field(
        False, description="make a user at the first sign-in; needs allowed_domains; false: who was invited alone"
    )
    default_role: Literal["none", "viewer", "agent", "admin"] = Field(
        "viewer", description="of a user who is made, and of one of whom role_claim says nothing; none: refused"
    )
    role_claim: str = Field(
        "", description="the claim that says the role at each sign-in: groups, or realm_access.roles; empty: admins do"
    )
    roles: dict[str, UserRole] = Field(
        {}, description="{ support-leads = 'admin' }: what the claim says; empty: it says viewer, agent or admin itself"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not is_provider_address(self.issuer, own=self.issuer) or urlsplit(self.issuer).query:
            raise ValueError("console.oidc.issuer has to be an https address: what the provider calls itself")
        if "openid" not in self.scopes:
            raise ValueError("console.oidc.scopes needs openid: without it the provider says nothing of who signs in")
        if self.create_users and not self.allowed_domains:
            raise ValueError(
                "console.oidc.create_users needs allowed_domains: else whoever has an account at the provider is let in"
            )
        if self.roles and not self.role_claim:
            raise ValueError("console.oidc.roles needs role_claim: the claim whose words they are")
        return self


def is_provider_address(address: str, *, own: str) -> bool:
    """Whether it is an address that a provider may be asked at: https, or http where it and `own` are this machine."""
    try:
        parts, place = urlsplit(address), urlsplit(own)
    except ValueError:
        return False
    if "@" in parts.netloc or parts.fragment or not parts.hostname:
        return False
    here = parts.hostname in LOOPBACK and place.hostname in LOOPBACK
    return parts.scheme == "https" or (parts.scheme == "http" and here)


class ConsoleSettings(Group):
    """The console."""

    oidc: OidcSettings | None = Field(None, description="sign in by an OpenID provider, next to passwords and links")
