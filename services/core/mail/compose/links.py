"""Which links a reply may hold: what the settings allow by host or prefix, and whole URLs of the knowledge base.

Any other address on the web is shown as its host alone, with the dots bracketed: no mail program makes it clickable,
and no path or query carries anything out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

_URL = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,20}:/{1,3}|www\.)[^\s<>\"']+|\b(?:javascript|data|vbscript):[^\s<>\"']+"
    r"|(?<![\w@.-])(?:[a-z0-9-]+\.)+[a-z]{2,24}(?::\d+)?/[^\s<>\"']*",
    re.I,
)
_TRAILING = ".,;:!?)]}'\"*_…»”’>"


@dataclass(frozen=True, slots=True)
class Found:
    """A link in a text: the URL without the punctuation behind it, and where it begins."""

    url: str
    start: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.url)


@dataclass(frozen=True, slots=True)
class LinkPolicy:
    """`hosts` are hosts ("docs.example.org") or URL prefixes; `known` are whole URLs, and nothing longer."""

    hosts: Sequence[str] = ()
    known: AbstractSet[str] = frozenset()

    def allows(self, url: str) -> bool:
        """Whether a URL may be a link: http(s), no user part, and known or its host or a prefix of it on the list."""
        parts = _split(url)
        if parts is None or parts.scheme not in ("http", "https") or "@" in parts.netloc or "\\" in url:
            return False
        host = (parts.hostname or "").casefold()
        return bool(host) and (url in self.known or any(_fits(url, host, one) for one in self.hosts))


def find_links(text: str) -> Iterator[Found]:
    """Everything in a text that a mail program might make clickable, in order."""
    for match in _URL.finditer(text):
        yield Found(match.group(0).rstrip(_TRAILING), match.start())


def links_in(text: str) -> list[str]:
    """The web addresses that stand in a text, also as Markdown writes them, each once."""
    urls = [found.url for found in find_links(text)]
    return list(dict.fromkeys([*urls, *(url.partition(")")[0] for url in urls)]))


def shown(url: str) -> str:
    """How a link that is not allowed is written: `evil[.]example`, its host alone."""
    if re.match(r"(?:javascript|data|vbscript):", url, re.I):
        return "[link removed]"
    parts = _split(url if "://" in url else "//" + url)
    host = (parts.hostname or "") if parts else ""
    return host.replace(".", "[.]") or "[link removed]"


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.hostname
    except ValueError:
        return None
    return parts


def _fits(url: str, host: str, allowed: str) -> bool:
    return host == allowed.casefold() if "/" not in allowed else _under(url, allowed)


def _under(url: str, prefix: str) -> bool:
    """Whether `url` lies at or below `prefix`, by whole path segments."""
    return "/.." not in url and (url == prefix or url.startswith(prefix if prefix[-1] in "/?#" else prefix + "/"))
