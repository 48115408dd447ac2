"""MIME trees and header tables against those of another parser (stalwartlabs/mail-parser).

Shapes, texts and files are compared apart, texts after collapsing white space. The malformed mails of that corpus are
adversarial: where two readings are possible ours need not be theirs, so these lines have no target.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from services.mail import charsets, headers, parts
from services.mail.addresses import parse_addresses
from services.mail.headers import parse_date
from services.mail.message import Limits
from tests.benchmarks.measured import Measured

ADDRESS_HEADERS = {"from", "sender", "reply_to", "to", "cc", "bcc"}

Leaf = tuple[str, str | bytes]
Json = dict[str, Any]


def measure(data: Path) -> list[Measured]:
    """Agreement with the trees and tables below `data`/mime."""
    return [*_trees(data / "mime" / "eml"), *_tables(data / "mime")]


def _trees(folder: Path) -> Iterator[Measured]:
    pairs = [(parts.split(raw, Limits()).root, expected) for raw, expected in _mails(folder)]
    if not pairs:
        return
    shapes = texts = addresses = listed = 0
    for root, expected in pairs:
        ours, theirs = _our_tree(root), _their_tree(expected["parts"], 0)
        shapes += _shape(ours) == _shape(theirs)
        texts += [leaf for leaf in _leaves(ours) if leaf[0] == "T"] == [
            leaf for leaf in _leaves(theirs) if leaf[0] == "T"
        ]
        for name, mailboxes in _address_headers(expected):
            listed += 1
            addresses += mailboxes == _our_mailboxes(root, name)
    yield Measured("MIME trees: same shape", 100 * shapes / len(pairs), "%", n=len(pairs))
    yield Measured("MIME trees: same texts", 100 * texts / len(pairs), "%", n=len(pairs))
    yield Measured("MIME trees: same addresses", 100 * addresses / listed, "%", n=listed)


def _mails(folder: Path) -> Iterator[tuple[bytes, Json]]:
    for path in sorted(folder.rglob("*.json")):
        mail = path.with_name(path.name.replace(".crlf.json", ".json")).with_suffix(".eml")
        if mail.exists():
            raw = mail.read_bytes()
            if ".crlf." in path.name:
                raw = raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            yield raw, json.loads(path.read_text())


def _our_tree(part: parts.Part) -> Any:
    if part.content_type.startswith("multipart/") and part.children:
        return [_our_tree(child) for child in part.children]
    if part.content_type.startswith("text/"):
        return "T", " ".join(charsets.decode(part.content(), part.parameters.get("charset", "")).split())
    return ("E", "") if part.content_type == "message/rfc822" else ("B", part.content())


def _their_tree(expected: Sequence[Json], index: int) -> Any:
    ((kind, value),) = expected[index]["body"].items()
    if kind == "Multipart":
        return [_their_tree(expected, child) for child in value]
    if kind in ("Text", "Html"):
        return "T", " ".join(value.split())
    return ("E", "") if kind == "Message" else ("B", bytes(value))


def _shape(tree: Any) -> Any:
    return [_shape(child) for child in tree] if isinstance(tree, list) else tree[0]


def _leaves(tree: Any) -> list[Leaf]:
    return [leaf for child in tree for leaf in _leaves(child)] if isinstance(tree, list) else [tree]


def _address_headers(expected: Json) -> Iterator[tuple[str, list[str]]]:
    seen: set[str] = set()
    for header in expected["parts"][0]["headers"]:
        name, value = header["name"], header["value"]
        if isinstance(name, str) and name in ADDRESS_HEADERS - seen and isinstance(value, dict) and "Address" in value:
            seen.add(name)
            groups = value["Address"].get("Group") or [{"addresses": value["Address"]["List"]}]
            found = [one.get("address") or "" for group in groups for one in group["addresses"]]
            yield name.replace("_", "-"), [address.lower() for address in found]


def _our_mailboxes(root: parts.Part, name: str) -> list[str]:
    return [address.addr.lower() for address in parse_addresses(root.value(name)).addresses]


def _tables(folder: Path) -> Iterator[Measured]:
    for name, agrees in (("date", _same_date), ("unstructured", _same_text)):
        table = folder / f"{name}.json"
        if table.exists():
            rows = json.loads(table.read_text())
            right = sum(agrees(row["header"], row["expected"]) for row in rows)
            yield Measured(f"header table {name}: same", 100 * right / len(rows), "%", n=len(rows))


def _same_date(header: str, expected: Json | None) -> bool:
    moment = parse_date(header)
    if moment is None or expected is None:
        return (moment is None) == (expected is None)
    minutes = (expected["tz_hour"] * 60 + expected["tz_minute"]) * (-1 if expected["tz_before_gmt"] else 1)
    offset = moment.utcoffset()
    fields = [expected[name] for name in ("year", "month", "day", "hour", "minute", "second")]
    return [*moment.timetuple()[:6]] == fields and offset is not None and offset.total_seconds() == minutes * 60


def _same_text(header: str, expected: str | None) -> bool:
    raw = header.encode("utf-8", "surrogateescape")
    fields, _, _ = headers.split_block(b"X:" + raw, 100_000)
    return headers.decode_words(headers.unfold(fields[0][1])).split() == (expected or "").split()
