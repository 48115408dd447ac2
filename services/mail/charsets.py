"""Bytes to text, whatever the mail says about its character set.

Invariants: decoding never raises, the claimed character set is tried first, and the web's supersets stand in for
the old labels (WHATWG Encoding: ISO-8859-1 is read as windows-1252), because that is what senders mean. A byte order
mark and the escapes of ISO-2022 outweigh a claim: no text in another character set begins or looks like that.
"""

from __future__ import annotations

import codecs
from functools import lru_cache

GUESS_SAMPLE_BYTES = 4096
FEW_ACCENTS = 16  # bytes to each one that is not ASCII, as in French and German; too little to guess by
LAST_ASCII = 0x7F

_MEANT = {
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
}

_NOT_OF_MAIL = {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"}

_ALIASES = {
    "unicode-1-1-utf-8": "utf-8",
    "unicode-1-1-utf-7": "utf-7",
    "utf-8-mac": "utf-8",
    "iso-8859-8-i": "iso8859-8",
    "iso-8859-8-e": "iso8859-8",
    "ks_c_5601": "cp949",
    "ks_c_5601-1987": "cp949",
    "ks_c_5601-1989": "cp949",
    "x-sjis": "cp932",
    "x-gbk": "gb18030",
    "gb18030-2005": "gb18030",
    "gb_2312-80": "gb18030",
    "cn-gb": "gb18030",
    "cn-big5": "big5hkscs",
    "x-mac-roman": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "x-windows-949": "cp949",
    "ansi": "cp1252",
    "iso-2022-jp-ms": "iso2022_jp_ext",
    "cp50220": "iso2022_jp_ext",
    "x-euc-jp": "euc_jp",
}


@lru_cache(maxsize=512)
def codec_name(charset: str) -> str:
    """The Python codec meant by a charset label, or "" when nobody knows it."""
    label = charset.strip().strip("\"'").lower()
    label = _ALIASES.get(label, label)
    for spelling in (label, label.replace("cp-", "cp"), label.removeprefix("x-")):
        try:
            info = codecs.lookup(spelling)
        except (LookupError, ValueError):
            continue
        if getattr(info, "_is_text_encoding", True) and info.name not in _NOT_OF_MAIL:
            return _MEANT.get(info.name, info.name)
    return ""


def decode(data: bytes, charset: str = "") -> str:
    """Text of `data`; the claimed `charset` first, then UTF-8, then a guess. Never raises."""
    return decode_checked(data, charset)[0]


def decode_checked(data: bytes, charset: str = "") -> tuple[str, str]:
    """Text of `data` and what was wrong with the claim, "" where it was right."""
    name = codec_name(charset) if charset else ""
    shown = _shown(data)
    if shown and not name.startswith((shown, "iso2022", "utf-7", "hz")) and (text := _strict(data, shown)) is not None:
        return text, f"{shown}, not {charset[:40]!r}"
    if data.isascii() and not (name.startswith(("utf-16", "utf-32", "utf-7", "iso2022", "hz")) or b"\x1b" in data):
        return data.decode("ascii"), "" if name or not charset else f"unknown charset {charset[:40]!r}"
    text = _strict(data, "utf-8" if name in ("", "cp1252") else name)
    if text is not None:
        return text, "" if name or not charset else f"unknown charset {charset[:40]!r}"
    if name == "utf-8" and not _is_mostly_utf8(data):
        return _guess(data), f"bytes outside {charset[:40]!r}"
    if name:
        return _lenient(data, name), "" if name == "cp1252" else f"bytes outside {charset[:40]!r}"
    return _guess(data), f"unknown charset {charset[:40]!r}" if charset else "8-bit text without a charset"


def _shown(data: bytes) -> str:
    """The codec that the bytes themselves announce, or ""."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\x1b$" not in data or not data.isascii():
        return ""
    return "iso2022_kr" if b"\x1b$)C" in data else "iso2022_jp_ext"


def _strict(data: bytes, name: str) -> str | None:
    try:
        text = data.decode(name).removeprefix("\ufeff")
        return _without_surrogates(text) if name == "utf-7" else text
    except (UnicodeError, ValueError):
        return None


def _without_surrogates(text: str) -> str:
    """UTF-7 can spell half a character, which no other encoding and no database will take."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _is_mostly_utf8(data: bytes) -> bool:
    """Whether more of the 8-bit text is UTF-8 than is not: a letter cut in two is no other character set."""
    text = data.decode("utf-8", "replace")
    return 2 * text.count("\ufffd") <= sum(not one.isascii() for one in text)


def _lenient(data: bytes, name: str) -> str:
    """The claimed codec where it reads at least most of the data, else UTF-8 or a guess."""
    if name != "cp1252" and (utf8 := _strict(data, "utf-8")) is not None:
        return utf8
    try:
        return _without_surrogates(data.decode(name, "replace").removeprefix("\ufeff"))
    except (UnicodeError, ValueError, LookupError):
        return data.decode("latin-1")


def _guess(data: bytes) -> str:
    """The most likely codec of an unlabelled text, judged by its first bytes; windows-1252 when in doubt."""
    sample = data[:GUESS_SAMPLE_BYTES]
    if FEW_ACCENTS * sum(byte > LAST_ASCII for byte in sample) < len(sample):
        return _lenient(data, "cp1252")
    from charset_normalizer import from_bytes  # large, and needed for mail that lies about its charset only

    best = from_bytes(sample).best() if len(sample) > 16 else None
    return _lenient(data, best.encoding if best else "cp1252")
