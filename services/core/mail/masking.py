"""Card numbers, IBANs and keys are masked before a text reaches a model or a log.

Numbers are masked only where their check digits hold (Luhn, ISO 7064 mod 97-10), so that order and
phone numbers stay. The last four characters of a number stay too: enough to talk about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_SEPARATOR = r"[ \-\u00a0\u2009\u2011.]?"
_CARD = re.compile(rf"(?<![\d])(?:\d{_SEPARATOR}){{12,18}}\d(?!\d)")
_IBAN = re.compile(r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?:[ \-\u00a0]?[A-Z0-9]){11,30}(?![A-Z0-9])", re.I)
_IBAN_LENGTHS = {
    entry[:2]: int(entry[2:])
    for entry in re.findall(
        r"[A-Z]{2}\d\d",
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 "
        "EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 "
        "JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 "
        "NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 "
        "TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30",
    )
}
_CARD_STARTS = re.compile(r"^(?:4|5[0-8]|2[2-7]|3[04-9]|6)")
_SECRETS = (
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
    r"\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,}",
    r"\b[sprw]k_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/=]{20,}",
    r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}\b",
    r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}|\bglpat-[A-Za-z0-9_-]{20,}",
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{20,}",
    r"\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}",
    r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\bkey-[0-9a-f]{32}\b|\bnpm_[A-Za-z0-9]{36}|\bhf_[A-Za-z0-9]{30,}",
    r"\bpypi-[A-Za-z0-9_-]{40,}|\bdop_v1_[0-9a-f]{64}|\bEAA[A-Za-z0-9]{60,}|\b\d{8,10}:AA[A-Za-z0-9_-]{32,}",
    r"\beyJ[A-Za-z0-9_-]{8,500}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,}",
)
_SECRET = re.compile("|".join(f"(?:{s})" for s in _SECRETS))
_NAMED_SECRET = re.compile(
    r"(?P<name>\b(?:api[ _-]?key|secret(?:[ _-]?(?:access[ _-]?)?key)?|access[ _-]?token|"
    r"auth[ _-]?token|client[ _-]?secret|bearer|"
    r"passw(?:or)?d|passwort|kennwort|mot de passe|contraseña|senha|пароль|passphrase)\b"
    r"[\"']?(?:\s+(?:is|lautet|ist|est|es|é))?\s*[:=]?\s*[\"']?)(?P<value>[^\s\"'<>,;]{4,})",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Found:
    """One thing masked: its kind ("card", "iban", "secret") and what stands in its place."""

    kind: str
    shown: str


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and what was taken out, in order of kind."""

    text: str
    found: tuple[Found, ...]


def mask(text: str) -> Masked:
    """Mask secrets, then IBANs, then card numbers. Masking twice changes nothing more."""
    found: list[Found] = []
    text = _SECRET.sub(_replaced("secret", found, lambda _: True), text)
    text = _NAMED_SECRET.sub(lambda m: _named(m, found), text)
    text = _IBAN.sub(lambda m: _iban(m.group(0), found), text)
    return Masked(_CARD.sub(lambda m: _card(m.group(0), found), text), tuple(found))


def _replaced(kind: str, found: list[Found], holds: Callable[[str], bool]) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        return _put(kind, "", found) if holds(match.group(0)) else match.group(0)

    return replace


def _put(kind: str, tail: str, found: list[Found]) -> str:
    shown = f"[{kind} …{tail}]" if tail else f"[{kind}]"
    found.append(Found(kind, shown))
    return shown


def _named(match: re.Match[str], found: list[Found]) -> str:
    """A value after "password:" and its like is masked where it looks made up: a digit or sign among the letters."""
    value, assigned = match["value"], bool(re.search(r"[:=]", match["name"]))
    odd = bool(re.search(r"\d|[^\w.]", value.rstrip(".!?)")))
    made_up = odd and (assigned or bool(re.search(r"[A-Za-z]", value)))
    if value.startswith("[") or not (made_up or (assigned and len(value) >= 16)):
        return match.group(0)
    return match["name"] + _put("secret", "", found)


def _iban(text: str, found: list[Found]) -> str:
    """The longest leading part of a candidate that is an IBAN is masked; what follows it stays."""
    compact = re.sub(r"[^A-Za-z0-9]", "", text).upper()
    length = _IBAN_LENGTHS.get(compact[:2], 0)
    if not length or len(compact) < length or not iban_holds(compact[:length]):
        return text
    kept, at = 0, 0
    while kept < length:
        kept += text[at].isalnum()
        at += 1
    return _put("iban", compact[length - 4 : length], found) + text[at:]


def _card(text: str, found: list[Found]) -> str:
    digits = re.sub(r"\D", "", text)
    if not (_CARD_STARTS.match(digits) and luhn_holds(digits) and len(set(digits)) > 1):
        return text
    return _put("card", digits[-4:], found)


def luhn_holds(digits: str) -> bool:
    """Whether the last digit checks the others (ISO/IEC 7812-1)."""
    doubled = (int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits)))
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0


def iban_holds(iban: str) -> bool:
    """Whether the two check digits hold (ISO 13616, mod 97)."""
    return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1
