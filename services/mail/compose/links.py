"""Which links a reply may hold: what the settings allow by host or prefix, and what stands whole in the knowledge base.

Anything else that looks like a name or a scheme is written so that no mail program makes it clickable. It need not be
a link by the book: programs guess. Bare domains, IP addresses, mail addresses, `mailto:` and `tel:`, ports, full-width
dots and network shares count too, and of a host only its end is shown, since a host carries data as well as a path.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, pairwise
from urllib.parse import SplitResult, urlsplit

REMOVED = "[link removed]"
_OPAQUE = (
    r"mailto|tel|telprompt|smsto|sms|mmsto|mms|callto|skype|facetime-audio|facetime|sips?|xmpp|jabber|im|imessage|iax2?|h323"
    r"|news|nntp|geo|maps|urn|magnet|data|javascript|vbscript|livescript|blob|about|file|cid|mid|view-source|intent"
    r"|market|whatsapp|tg|viber|signal|bitcoin|bitcoincash|ethereum|litecoin|monero|lightning|ms-[a-z-]{1,30}|itms[a-z-]{0,20}"
    r"|webcals?|feed|spotify|steam|slack|zoommtg|zoomus|msteams|ldaps?|acct|wtai|openpgp4fpr|web\+[a-z]{1,30}|ssh|git"
    r"|shortcuts|callshow|ymsgr|aim|gtalk|fb|x-[a-z-]{1,30}|search-ms|onenote|jar|resource|chrome|help|res|mk|pkcs11|otpauth"
)
_DOTS = r".\u3002\uff0e\uff61\u2024\ufe52"
# The marks of every script: ideographs, Hangul and private characters, which have none, are not looked through.
_LOOKED_AT = chain(range(0x300, 0x3100), range(0xA000, 0xAC00), range(0xFB00, 0x10000))
_MARKS = "".join(one for one in map(chr, _LOOKED_AT) if unicodedata.category(one)[0] == "M")
_LABEL = (  # letters with their marks, which `\w` leaves out, in any script; signs that programs read over; emoji
    r"[\w\-\u00ad\u0900-\u0fff\u1000-\u109f\u1780-\u17ff\u200b-\u200d\u2060\u2460-\u24ff\u2600-\u27bf"
    rf"\ufeff\U00010000-\U0001ffff\U000e0100-\U000e01ef{_MARKS}]"
)
_LOCAL = r"[\w.!#$%&*+/=?^`|~-]"
_END = r"[^\s<>\"']"
_HOST = rf"{_LABEL}+(?:[{_DOTS}]{_LABEL}+)+"
_LINK = re.compile(
    rf"(?P<slashed>\b[a-z][a-z0-9+.-]{{1,30}}[:：][/／]{{1,3}}{_END}+)"
    rf"|(?P<share>(?<!\\)\\\\[^\W_]{_END}*)"
    rf"|(?P<opaque>\b(?:{_OPAQUE})[:：]{_END}+)"
    rf"|(?P<mail>(?<!{_LOCAL}){_LOCAL}+[@＠]{_HOST})"
    rf"|(?P<host>(?<!{_LABEL}){_HOST})(?P<rest>(?:[:：]\d{{1,5}})?(?:[/?#\\]{_END}*)?)",
    re.I,
)
_SCHEME_LIKE = re.compile(rf"(?<![\w.+-])((?!(?:{_OPAQUE}):)[a-z][a-z0-9+.-]{{1,30}}):(?=[a-z+%@?])", re.I)
_TRAILING = ".,;:!?)]}'\"*_…»”’>"
_PLAIN = re.compile(r"[\w.~:/?#@&=%+$-]+", re.ASCII)  # of a URL: every program reads on behind these
_FILE = re.compile(  # endings of files that are no top-level domains
    r"pdf|docx?|xlsx?|pptx?|od[tsp]|csv|tsv|txt|rtf|log|json|xml|ya?ml|html?|css|jsx?|tsx?|png|jpe?g|gif|svg|webp|bmp"
    r"|tiff?|heic|mp[34]|wav|avi|mkv|exe|msi|dmg|deb|rpm|jar|t?gz|tar|rar|iso|ics|eml|vcf|toml|ini|cfg|conf|env|sql|cpp"
    r"|ipynb",
    re.I,
)


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
    """`hosts` are hosts ("docs.example.org", "docs.example.org:8443") or URL prefixes; `known` are whole links, and
    nothing longer: URLs, names, mail addresses.
    """

    hosts: Sequence[str] = ()
    known: AbstractSet[str] = frozenset()

    def allows(self, url: str) -> bool:
        """Whether a link may stand: known, or http(s) without a user part to a host or below a prefix on the list.

        A bare name is allowed like its https URL, a mail address by its host. What is not known has only characters at
        which no mail program ends a link, since behind such an end another one may begin.
        """
        if url in self.known or (is_web(url) is False and _lower(url) in map(_lower, self.known)):
            return True
        if "@" in url and "/" not in url:
            return any(_lower(url.rpartition("@")[2]) == _lower(one) for one in self.hosts)
        parts = _split(url if ":" in url else f"https://{url}")
        if parts is None or parts.scheme not in ("http", "https") or "@" in parts.netloc or "\\" in url:
            return False
        host = _lower(parts.netloc).removesuffix(":443" if parts.scheme == "https" else ":80")
        return bool(host) and _PLAIN.fullmatch(url) is not None and any(_fits(url, host, one) for one in self.hosts)

    def kept(self, url: str) -> str:
        """As much of a link as may stand: all of it, or what stands before a bracket or comma; "" for nothing."""
        if self.allows(url):
            return url
        beginning = _PLAIN.match(url)
        start = beginning.group().rstrip(_TRAILING) if beginning else ""
        return start if start and _same_host(start, url) and not _climbs(url) and self.allows(start) else ""


def is_web(url: str) -> bool:
    """Whether it is an address of the web with its scheme: what HTML may point to."""
    return url[:8].lower().startswith(("http://", "https://"))


def find_links(text: str, at: int = 0) -> Iterator[Found]:
    """Everything in a text, from `at` on, that a mail program might make clickable, in order."""
    while match := _LINK.search(text, at):
        at, url = match.end(), match.group().rstrip(_TRAILING)
        length = len(match["host"] or "")
        if length and not _is_name(url[:length], url[length:]):
            at = match.end("host")
        elif url and not (match["opaque"] and re.fullmatch(_OPAQUE, url, re.I)):  # `tel:,` points nowhere
            yield Found(url, match.start())


def links_in(text: str) -> list[str]:
    """The links that stand in a text, also as Markdown writes them, each once."""
    urls = [found.url for found in find_links(text)]
    return list(dict.fromkeys([*urls, *(url.partition(")")[0] for url in urls)]))


def shown(url: str) -> str:
    """How a link that is not allowed is written: `evil[.]example`, the end of its host alone."""
    if "@" in url and not re.search(r"[:/：／\\]", url):
        name, _, host = unicodedata.normalize("NFKC", url).rpartition("@")
        return f"{name.replace('.', ' ')} at {_bracketed(host.split('.'))}"
    if re.match(rf"(?:(?:{_OPAQUE})[:：]|\\\\)", url, re.I):
        return REMOVED
    if found := re.fullmatch(_HOST, url):
        return _bare(found.group())
    parts = _split(unicodedata.normalize("NFKC", url if re.search(r"[:：][/／]", url) else "//" + url))
    host = (parts.hostname or "") if parts else ""
    return _bracketed(_end_of(host)) if re.fullmatch(rf"{_LABEL}+(?:\.{_LABEL}+)*", host) else REMOVED


def unschemed(text: str) -> str:
    """A text between links, with a blank behind each word and colon that could pass for a scheme."""
    return _SCHEME_LIKE.sub(r"\1: ", text)


def _is_name(host: str, rest: str) -> bool:
    """Whether words could be a name on the web: not `www`, `3.5`, `e.g`, `report.pdf`, nor two sentences in CJK."""
    labels = re.split(rf"[{_DOTS}]", host)
    if len(labels) == 1:
        return False
    plain = [unicodedata.normalize("NFKC", one) for one in labels]
    if all(one.isascii() and one.isdigit() for one in plain):
        return len(plain) == 4 and all(int(one[:4]) < 256 for one in plain)
    if re.search("[\u3002\uff61]", host) and not "".join(plain).isascii():
        return any(a.isascii() and b.isascii() for a, b in pairwise(plain))
    last = re.sub(r"[\u00ad\u200b-\u200d\u2060\ufeff]", "", plain[-1])
    return len(last) > 1 and not last[0].isdigit() and (bool(rest) or not _FILE.fullmatch(last))


def _bare(host: str) -> str:
    """`evil[.]example`; where two sentences lost the blank between them ("done.Please"), they get it."""
    labels = re.split(rf"[{_DOTS}]", host)
    return ". ".join(labels) if len(labels) == 2 and labels[1].istitle() else _bracketed(labels)


def _bracketed(labels: Sequence[str]) -> str:
    return "[.]".join(labels)


def _end_of(host: str) -> list[str]:
    """The labels that somebody had to register, as far as that shows: two, and one more before `co.uk`."""
    labels = host.rstrip(".").split(".")
    short = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3
    return labels if labels[-1].isdigit() else labels[-3 if short else -2 :]


def _lower(text: str) -> str:
    """ASCII letters in lower case, others as they are: full case folding makes one name of two."""
    return text.translate({code: code + 32 for code in range(ord("A"), ord("Z") + 1)})


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.hostname
    except ValueError:
        return None
    return parts


def _same_host(one: str, other: str) -> bool:
    first, second = _split(one), _split(other)
    return first is not None and second is not None and bool(first.netloc) and first.netloc == second.netloc


def _fits(url: str, host: str, allowed: str) -> bool:
    return host == _lower(allowed) if "/" not in allowed else _under(url, allowed)


def _under(url: str, prefix: str) -> bool:
    """Whether `url` lies at or below `prefix`, by whole path segments."""
    return not _climbs(url) and (url == prefix or url.startswith(prefix if prefix[-1] in "/?#" else prefix + "/"))


def _climbs(url: str) -> bool:
    """Whether a path leads upwards: a browser reads `%2e` as a dot there, and `\\` as a slash."""
    return "/.." in url.casefold().replace("%2e", ".").replace("\\", "/")
