"""Mailbox lists (RFC 5322, 3.4), read strictly enough to be identities.

Invariants: structure is read before RFC 2047 words are decoded, so an encoded word can hide no address; what two
readers could take for two different mailboxes is no mailbox (CVE-2023-27043: `alice@example.org<bob@evil.example>`);
nothing raises and reading is linear. Unread pieces stand in `AddressList.rejected`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from services.core.mailbox import MailboxKey, domain_name
from services.mail import headers
from services.mail.message import Address

MAX_ADDRESSES = 1_000
MAX_ADDRESS_LENGTH = 320

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<quoted>"(?:[^"\\]|\\.)*+")
      | (?P<broken>"(?:[^"\\]|\\.)*+\\?\Z)
      | (?P<word>=\?[^?\s]{1,80}\?[bBqQ]\?[^?]*\?=)
      | (?P<literal>\[[^\[\]\\\s@<>]*\])
      | (?P<special>[<>,;:@()"\\])
      | (?P<atom>[^\s<>,;:@()"\\]+)""",
    re.VERBOSE | re.DOTALL,
)
_LOCAL = re.compile(r"[^\s\x00-\x20\x7f-\x9f<>(),;:@\\\"\[\]]+\Z")

Token = tuple[str, str]


@dataclass(frozen=True, slots=True)
class AddressList:
    """What a header's mailbox list holds: the addresses, and the pieces that are none."""

    addresses: tuple[Address, ...]
    rejected: tuple[str, ...] = ()


def parse_addresses(value: str) -> AddressList:
    """The mailboxes of an unfolded but undecoded From, To, Cc, Reply-To or Sender value, groups opened."""
    found: list[Address] = []
    rejected: list[str] = []
    for piece in _pieces(_tokens(value)):
        address = _mailbox(piece)
        if address is not None:
            found.append(address)
        elif any(kind != "space" for kind, _ in piece):
            rejected.append(headers.clean("".join(text for _, text in piece))[:200])
        if len(found) + len(rejected) >= MAX_ADDRESSES:
            rejected.append("more addresses than are read")
            break
    return AddressList(tuple(found), tuple(rejected))


def single_author(values: list[str]) -> Address | None:
    """The author: exactly one From header with exactly one mailbox and nothing else in it; else None."""
    if len(values) != 1:
        return None
    read = parse_addresses(values[0])
    return read.addresses[0] if len(read.addresses) == 1 and not read.rejected else None


def parse_address(text: str) -> Address | None:
    """The one mailbox that `text` names, or None."""
    return single_author([text])


def _tokens(value: str) -> list[Token]:
    """Lexical tokens, comments as one token each; an unclosed comment or quote is the token `broken`."""
    tokens: list[Token] = []
    comment: list[str] = []
    depth = 0
    for match in _TOKEN.finditer(value):
        kind, text = match.lastgroup or "", match.group()
        depth += (text == "(") - (text == ")" and depth > 0)
        if depth or comment:
            comment.append(text)
            if depth == 0:
                tokens.append(("comment", "".join(comment)[1:-1]))
                comment = []
        else:
            tokens.append(("broken" if text in '"\\)' else kind, text))
    return [*tokens, ("broken", "".join(comment))] if comment else tokens


def _pieces(tokens: list[Token]) -> Iterator[list[Token]]:
    """Tokens between the commas of the list; a group's name and its `:` and `;` are left out."""
    piece: list[Token] = []
    angle = False
    for kind, text in tokens:
        if kind == "special" and text in "<>":
            angle = text == "<"
        if kind == "special" and not angle and text in ",;:":
            if text != ":":
                yield piece
            elif any(token == ("special", "@") for token in piece):
                yield [*piece, (kind, text)]
            piece = []
        else:
            piece.append((kind, text))
    yield piece


def _mailbox(piece: list[Token]) -> Address | None:
    """The mailbox of one piece, or None where it is not exactly one."""
    specials = [text for kind, text in piece if kind == "special"]
    if any(kind == "broken" for kind, _ in piece):
        return None
    if "<" not in specials and ">" not in specials:
        addr = _addr_spec([token for token in piece if token[0] != "comment"])
        return Address(_comments(piece), addr) if addr else None
    if specials.count("<") != 1 or specials.count(">") != 1:
        return None
    opening, closing = piece.index(("special", "<")), piece.index(("special", ">"))
    if any(kind not in ("space", "comment") for kind, _ in piece[closing + 1 :]):
        return None
    addr = _addr_spec([token for token in piece[opening + 1 : closing] if token[0] != "comment"])
    return _named(piece[:opening], piece, addr) if addr else None


def _named(phrase: list[Token], piece: list[Token], addr: str) -> Address | None:
    """An address with its display name; a bare `@` in the name is allowed only where it repeats the address."""
    if any(token == ("special", "@") for token in phrase):
        repeated = _addr_spec([token for token in phrase if token[0] != "comment"])
        return Address(repeated, addr) if repeated and MailboxKey(repeated) == MailboxKey(addr) else None
    name = _phrase([token for token in phrase if token[0] != "comment"])
    return Address(name or _comments(piece), addr)


def _phrase(tokens: list[Token]) -> str:
    text = "".join(_unquote(text) if kind == "quoted" else text for kind, text in tokens)
    return " ".join(headers.decode_words(" ".join(text.split())).split())


def _comments(piece: list[Token]) -> str:
    return " ".join(headers.decode_words(" ".join(text for kind, text in piece if kind == "comment")).split())


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def _addr_spec(tokens: list[Token]) -> str:
    """`local@domain`, canonical, or "" where the tokens are not one addr-spec (RFC 5322, 3.4.1; RFC 6531)."""
    while tokens and tokens[0][0] == "space":
        tokens = tokens[1:]
    while tokens and tokens[-1][0] == "space":
        tokens = tokens[:-1]
    kinds = [kind for kind, _ in tokens]
    texts = [text for _, text in tokens]
    if texts.count("@") != 1 or "space" in kinds or sum(map(len, texts)) > MAX_ADDRESS_LENGTH:
        return ""
    at = texts.index("@")
    local, domain = _local_part(tokens[:at]), domain_name("".join(texts[at + 1 :]))
    return f"{local}@{domain}" if local and domain else ""


def _local_part(tokens: list[Token]) -> str:
    """The local part as written; quotes that are not needed are taken off, so that both spellings are one.

    It is not normalized: NFC would make an ASCII `K` of the Kelvin sign, and so one mailbox of two.
    """
    if len(tokens) == 1 and tokens[0][0] == "quoted":
        content = _unquote(tokens[0][1])
        if headers.clean(content) != content.strip() or not content:
            return ""
        if _is_dot_atom(content):
            return content
        return '"' + re.sub(r'(["\\])', r"\\\1", content) + '"'
    text = "".join(text for _, text in tokens)
    if any(kind not in ("atom", "word") for kind, _ in tokens) or not _LOCAL.match(text) or text.startswith("=?"):
        return ""
    return text


def _is_dot_atom(text: str) -> bool:
    return bool(_LOCAL.match(text)) and not text.startswith(".") and not text.endswith(".") and ".." not in text
