"""Sender authentication, measured against a made-up DNS. Called by `tests.benchmarks.mail_judging`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from services.mail.authentication import Authentication, DnsFailed, Peer, RecordType, authenticate
from services.mail.authentication.results import Dmarc
from services.mail.mime import read_mail
from tests.benchmarks.measured import Measured, at_least

DMARC_SYMBOLS = {
    "pass": "DMARC_POLICY_ALLOW",
    "none": "DMARC_NA",
    "temperror": "DMARC_DNSFAIL",
    "permerror": "DMARC_BAD_POLICY",
}
DMARC_FAILED = {
    "none": "DMARC_POLICY_SOFTFAIL",
    "quarantine": "DMARC_POLICY_QUARANTINE",
    "reject": "DMARC_POLICY_REJECT",
}
SPF_SYMBOLS = {
    "pass": "R_SPF_ALLOW",
    "fail": "R_SPF_FAIL",
    "none": "R_SPF_NA",
    "permerror": "R_SPF_PERMFAIL",
    "temperror": "R_SPF_DNSFAIL",
}
DKIM_SYMBOLS = {
    "pass": "R_DKIM_ALLOW",
    "fail": "R_DKIM_REJECT",
    "permerror": "R_DKIM_PERMFAIL",
    "temperror": "R_DKIM_TEMPFAIL",
    "none": "R_DKIM_NA",
}


class Zone:
    """The corpus's made-up DNS."""

    def __init__(self, path: Path) -> None:
        self._zone = {(r["name"].lower(), r["type"].upper()): r for r in json.loads(path.read_text())}

    def lookup(self, name: str, kind: RecordType) -> tuple[str, ...]:
        record = self._zone.get((name.lower().rstrip("."), kind), {"rcode": "nxdomain", "replies": []})
        if record["rcode"] in ("timeout", "servfail"):
            raise DnsFailed(name)
        return tuple(record["replies"])


def auth_cases(folder: Path) -> Iterator[tuple[dict[str, Any], Authentication]]:
    """Each row of the corpus whose mail is here, with what we make of it."""
    zone = Zone(folder / "fake_dns.json")
    for rows_ in json.loads((folder / "expected_symbols.json").read_text()).values():
        for row in rows_:
            if (folder / row["file"]).is_file():
                raw = (folder / row["file"]).read_bytes()
                peer = Peer(row["ip"], row["helo"] or "", row["mail_from"] or "") if row["ip"] else None
                yield row, authenticate(raw, read_mail(raw), peer, zone)


def measure(data: Path) -> list[Measured]:
    """The share of right outcomes, for each of DMARC, SPF and DKIM."""
    judged = [(row, symbols(found)) for row, found in auth_cases(data / "sender-auth")]
    lines = []
    for name, prefix in (("DMARC", "DMARC_"), ("SPF", "R_SPF_"), ("DKIM", "R_DKIM_")):
        asked = [(row, told) for row, told in judged if any(s.startswith(prefix) for s in row["expect"])]
        right = sum(told[name] in row["expect"] for row, told in asked)
        if asked:
            lines.append(at_least(f"judging: {name} outcomes right", 100 * right / len(asked), "%", 100, len(asked)))
    return lines


def dmarc_symbol(found: Dmarc) -> str:
    """The policy counts for a failure alone: an outage, and a domain without a record, have words of their own."""
    return DMARC_FAILED.get(found.policy, "") if found.result == "fail" else DMARC_SYMBOLS[found.result]


def symbols(found: Authentication) -> dict[str, str | None]:
    """What we found, in the corpus's words."""
    return {
        "DMARC": dmarc_symbol(found.dmarc),
        "SPF": SPF_SYMBOLS.get(found.spf.result),
        "DKIM": DKIM_SYMBOLS.get(found.dkim[0].result if found.dkim else "none"),
    }
