"""What templates show: times, ages, names that cannot hide what they are, addresses that run nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from math import inf
from types import MappingProxyType
from urllib.parse import urlsplit

from markupsafe import Markup

from services.core.printable import printable
from services.web.console import recorded
from services.web.console.language import Kind, Message, moment_of, translated

STATES: Mapping[str, Message] = MappingProxyType(
    {
        "new": Message("new"),
        "in_progress": Message("in progress"),
        "awaiting_reply": Message("waiting for customer"),
        "escalated": Message("needs a person"),
        "resolved": Message("resolved"),
        "closed": Message("closed"),
    }
)
IDENTITIES: Mapping[str, tuple[Message, Message]] = MappingProxyType(
    {
        "verified": (Message("verified sender"), Message("The sender's domain proves that this address wrote it.")),
        "vouched": (Message("vouched for"), Message("An operator vouches for the senders of this inbox.")),
        "unverified": (
            Message("not verified"),
            Message("Nothing proves who wrote this. No memory was shown, and nothing was learned."),
        ),
        "failed": (
            Message("check failed"),
            Message("The proof that this mail carries does not hold. It may be forged."),
        ),
    }
)
DEEPEST = 3  # values within values of a recorded text: "Grace: missed a deadline: Ada answered"
REJECTIONS = (
    Message("wrong facts"),
    Message("wrong tone"),
    Message("incomplete"),
    Message("not needed"),
    Message("a person will answer"),
    Message("other"),
)
AGES = (  # units, their seconds, and until how many seconds each is used
    (Message("%(number)s s"), 1, 120),
    (Message("%(number)s min"), 60, 7200),
    (Message("%(number)s h"), 3600, 172_800),
    (Message("%(number)s d"), 86_400, inf),
)
YES_NO = (Message("yes"), Message("no"))
NAMED: Mapping[str, tuple[Message, ...]] = MappingProxyType(  # names of code that people read, as words
    {
        "priorities": (Message("low"), Message("normal"), Message("high"), Message("urgent")),
        "risks": (Message("medium"),),
        "deadlines": (
            Message("first response"),
            Message("next response"),
            Message("resolution"),
            Message("running"),
            Message("paused"),
            Message("met"),
            Message("missed"),
            Message("dropped"),
            Message("breached"),
        ),
        "authors": (Message("customer"), Message("agent"), Message("human"), Message("ai"), Message("system")),
        "roles": (Message("viewer"), Message("admin")),
        "verdicts": (
            Message("answer"),
            Message("park"),
            Message("bounce"),
            Message("complaint"),
            Message("duplicate"),
            Message("loop"),
            Message("colleague"),
        ),
        "replies": (
            Message("draft"),
            Message("approved"),
            Message("sending"),
            Message("sent"),
            Message("unknown"),
            Message("failed"),
            Message("bounced"),
            Message("discarded"),
            Message("refused"),
            Message("rejected"),
            Message("superseded"),
            Message("human took over"),
            Message("escalated"),
        ),
        "decisions": (Message("reply"), Message("no reply"), Message("escalate"), Message("suggestion")),
        "actions": (Message("escalated to a human"), Message("missed a deadline")),
        "processors": (
            Message("alert people"),
            Message("condense memory"),
            Message("earn approval"),
            Message("generate reply"),
            Message("investigate"),
            Message("keep time"),
            Message("learn documents"),
            Message("learn facts"),
            Message("load memory"),
            Message("reach out"),
            Message("read email"),
            Message("receive email"),
            Message("reflect"),
            Message("send email"),
            Message("send webhooks"),
            Message("summarize threads"),
            Message("track threads"),
            Message("watch incidents"),
            Message("web"),
        ),
        "grounds": (Message("passage"), Message("fact"), Message("mail"), Message("rule")),
        "facts": (
            Message("current"),
            Message("stale"),
            Message("expired"),
            Message("past"),
            Message("merged"),
            Message("withdrawn"),
        ),
        "kinds of facts": (
            Message("customer info"),
            Message("order info"),
            Message("preference"),
            Message("issue history"),
            Message("contact info"),
            Message("identity"),
            Message("goal"),
            Message("event"),
            Message("relationship"),
            Message("interaction"),
            Message("note"),
        ),
        "purposes": (
            Message("replies"),
            Message("suggestions"),
            Message("learning"),
            Message("periods"),
            Message("investigations"),
        ),
        "lengths": (
            Message("daily"),
            Message("weekly"),
            Message("monthly"),
            Message("quarterly"),
            Message("yearly"),
        ),
        "trust": (Message("authenticated"), Message("inferred"), Message("ours")),
        "people": (
            Message("prospect"),
            Message("vip"),
            Message("at risk"),
            Message("churned"),
            Message("returning"),
        ),
        "restores": (
            Message("looking"),
            Message("looked"),
            Message("restoring"),
            Message("done"),
            Message("stopped"),
        ),
        "investigations": (
            Message("finished"),
            Message("out of rounds"),
            Message("out of tokens"),
            Message("declined"),
        ),
        "proposals": (Message("accepted"),),
        "files": (Message("changed"), Message("deleted")),
        "webhooks": (Message("waiting"), Message("delivered")),
        "held": (
            Message("mails"),
            Message("threads"),
            Message("facts"),
            Message("replies"),
            Message("events"),
            Message("keys"),
        ),
        "layers": (
            Message("persona"),
            Message("behaviours"),
            Message("guidance"),
            Message("today"),
            Message("profile"),
            Message("participant"),
            Message("brief"),
            Message("session"),
            Message("earlier"),
            Message("summary"),
            Message("thread"),
            Message("period summaries"),
            Message("patterns"),
            Message("incidents"),
            Message("knowledge"),
            Message("recent"),
            Message("own words"),
        ),
        "acts": (
            Message("reply accepted"),
            Message("human answered"),
            Message("looked in the knowledge base"),
            Message("looked in memory"),
            Message("noted a fact"),
            Message("corrected a fact"),
            Message("took a fact back"),
            Message("kept in mind"),
            Message("keeps no longer in mind"),
            Message("proposed a step of the customer's lifecycle"),
        ),
        "why a fact is given": (Message("asked for"), Message("bears on the mail")),
        "sources of settings": (Message("default"), Message("set")),
        "backlog": (
            Message("mails not yet read"),
            Message("mails waiting for an answer"),
            Message("turns still to be learned from"),
            Message("drafts waiting for a person"),
            Message("threads escalated to a person"),
            Message("deadlines missed and not yet met"),
            Message("replies of which nobody knows whether they arrived"),
            Message("replies of the last 7 days without a copy in Sent"),
            Message("dead letters"),
            Message("events stored and not yet on the log"),
            Message("stored events that the broker refuses"),
            Message("timers overdue"),
        ),
    }
)
CODE_NAMES: Mapping[str, str] = MappingProxyType({"grains": "period summaries"})  # of which the words are others
KNOWN: Mapping[str, Message] = MappingProxyType(
    {one: one for some in (*NAMED.values(), REJECTIONS, YES_NO, STATES.values()) for one in some}
)


def line(text: object, limit: int = 200) -> str:
    """One line that others wrote: no character in it hides or turns the text around."""
    said = printable(" ".join(str(text or "").split()))
    return said if len(said) <= limit else said[: limit - 1] + "…"


def body(text: object) -> str:
    """Text of several lines that others wrote."""
    return printable(str(text or "").replace("\r\n", "\n"), keep="\n\t")


def moment(at: datetime | None, kind: Kind = "minute") -> Markup:
    """A time in UTC, which a module of ours rewrites for the viewer's zone."""
    if at is None:
        return Markup("")
    utc = at.astimezone(UTC)
    return Markup('<time datetime="{}" data-show="{}">{} UTC</time>').format(
        utc.isoformat(timespec="milliseconds"), kind, moment_of(utc, kind)
    )


def age(passed: timedelta) -> str:
    """How long, in one unit."""
    seconds = max(0, int(passed.total_seconds()))
    said, length, _ = next(one for one in AGES if seconds < one[2])
    return translated(said, number=seconds // length)


def ages(now: Callable[[], datetime]) -> tuple[Callable[[datetime], str], Callable[[datetime], str]]:
    """How long ago something was, and in how long something is or since when it is overdue."""

    def ago(at: datetime) -> str:
        return age(now() - at)

    def ahead(at: datetime) -> str:
        if at > now():
            return translated("due in %(age)s", age=age(at - now()))
        return translated("overdue by %(age)s", age=age(now() - at))

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


def known(text: object, deepest: int = DEEPEST) -> str:
    """A text that code recorded, in the reader's language where it is one of ours, else as it is.

    Its values are said as well, and theirs, to `deepest` levels: what a person typed may look like many of ours.
    """
    said = str.__str__(text) if isinstance(text, str) else str(text)
    if one := KNOWN.get(said) or STATES.get(said):
        return str(one)
    if not deepest:
        return said
    return recorded.said(said, partial(known, deepest=deepest - 1)) or said


def words(name: object) -> str:
    """A name of code as words, in the reader's language where it is one of ours."""
    said = str.__str__(name) if isinstance(name, str) else str(name)
    return known(CODE_NAMES.get(said, said.replace("_", " ")))


def state(name: str) -> str:
    """The state of a thread in words."""
    return str(STATES.get(name) or words(name))


def too_many(wait_s: float) -> str:
    """What somebody is told who tries too often."""
    return translated("Too many attempts. Wait %(seconds)s seconds, and try again.", seconds=int(wait_s) + 1)
