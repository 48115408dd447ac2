"""What templates show: times, ages, names that cannot hide what they are, addresses that run nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from urllib.parse import urlsplit

from markupsafe import Markup

from services.core.printable import printable

STATES: Mapping[str, str] = MappingProxyType(
    {
        "new": "new",
        "in_progress": "in progress",
        "awaiting_reply": "waiting for customer",
        "escalated": "needs a person",
        "resolved": "resolved",
        "closed": "closed",
    }
)
IDENTITIES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "verified": ("verified sender", "The sender's domain proves that this address wrote it."),
        "vouched": ("vouched for", "An operator vouches for the senders of this inbox."),
        "unverified": ("not verified", "Nothing proves who wrote this. No memory was shown, and nothing was learned."),
        "failed": ("check failed", "The proof that this mail carries does not hold. It may be forged."),
    }
)


def line(text: object, limit: int = 200) -> str:
    """One line that others wrote: no character in it hides or turns the text around."""
    said = printable(" ".join(str(text or "").split()))
    return said if len(said) <= limit else said[: limit - 1] + "…"


def body(text: object) -> str:
    """Text of several lines that others wrote."""
    return printable(str(text or "").replace("\r\n", "\n"), keep="\n\t")


def moment(at: datetime | None, kind: str = "minute") -> Markup:
    """A time in UTC, which a module of ours rewrites for the viewer's zone."""
    if at is None:
        return Markup("")
    utc = at.astimezone(UTC)
    form = {"minute": "%Y-%m-%d %H:%M", "second": "%Y-%m-%d %H:%M:%S", "day": "%Y-%m-%d"}[kind]
    return Markup('<time datetime="{}" data-show="{}">{} UTC</time>').format(
        utc.isoformat(timespec="milliseconds"), kind, utc.strftime(form)
    )


def age(passed: timedelta) -> str:
    """How long, in one unit."""
    seconds = max(0, int(passed.total_seconds()))
    for unit, length, until in (("s", 1, 120), ("min", 60, 7200), ("h", 3600, 172_800)):
        if seconds < until:
            return f"{seconds // length} {unit}"
    return f"{seconds // 86_400} d"


def ages(now: Callable[[], datetime]) -> tuple[Callable[[datetime], str], Callable[[datetime], str]]:
    """How long ago something was, and in how long something is or since when it is overdue."""

    def ago(at: datetime) -> str:
        return age(now() - at)

    def ahead(at: datetime) -> str:
        return f"due in {age(at - now())}" if at > now() else f"overdue by {age(now() - at)}"

    return ago, ahead


def web_address(address: object) -> str:
    """The address where it is one of the web, else "": a link to anything else may run something."""
    said = str(address or "")
    try:
        parts = urlsplit(said)
    except ValueError:
        return ""
    return said if parts.scheme in ("http", "https") and parts.netloc else ""


def saved_as(name: str) -> str:
    """A file name that names a file and no place."""
    bare = line(name.replace("\\", "/").rpartition("/")[2], 120).strip(". ")
    return bare or "attachment"


def words(name: object) -> str:
    """A name of code as words."""
    return str(name).replace("_", " ")
