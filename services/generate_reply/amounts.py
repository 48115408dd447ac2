"""Amounts of money and shares in a text: a number with a currency or per cent beside it, before or behind. Pure.

A currency is any sign that Unicode has for one, any code of ISO 4217, or a name of the eight languages of `risk.toml`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

NUMBER = r"\d{1,18}(?:[.,'’\u00a0\u202f]\d{1,18}){0,6}"
_PLANES = 0x20000  # where letters and signs stand; behind it come ideographs, a tenth of a second of each start
_SIGNS = "".join(one for one in map(chr, range(_PLANES)) if unicodedata.category(one) == "Sc")
_CODES = (  # in capitals alone: `all` and `try` are words
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTC BTN BWP BYN BZD "
    "CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB ETH EUR FJD FKP GBP GEL GHS GIP GMD "
    "GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK "
    "LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR "
    "PAB PEN PGK PHP PKR PLN PYG QAR RMB RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC "
    "SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USDT USDC UYU UZS VES VND VUV WST XAF XCD XOF XPF "
    "YER ZAR ZMW ZWL"
).replace(" ", "|")
_NAMES = (
    r"eur|usd|gbp|chf|pln|euros?|cents?|dollars?|pounds?|quid|bucks|francs?|franken|rappen|yens?|yuan|rupees?|roubles?|rubles?"
    r"|kronor|kroner|kr|crowns?|kronen|pesos?|lira|bitcoins?|percent|per cent|prozent|pour cent|por ciento|per cento"
    r"|d[oó]lar(?:es)?|dollari|libras?|sterline|franchi|złot\w{1,5}|zł|zlot\w{1,5}|procent\w{0,3}|грн|руб\w{0,4}|евро"
    r"|доллар\w{0,3}|процент\w{0,3}"
)
_APART = r"[\s(-]{0,4}"  # what may stand between
_CURRENCY = rf"(?:[%‰{re.escape(_SIGNS)}]|(?:{_CODES}|(?i:{_NAMES}))(?!\w)|[円元]|ユーロ|ドル|パーセント)"
_AMOUNTS = re.compile(
    rf"(?:[{re.escape(_SIGNS)}]|(?<!\w)(?:{_CODES}|(?i:{_NAMES})))\.?{_APART}(?P<before>{NUMBER})"
    rf"|(?P<after>(?<!\d){NUMBER})(?:,[-–—]{{1,2}})?{_APART}{_CURRENCY}"
)


def amounts_in(text: str) -> Iterator[tuple[str, str]]:
    """Each amount as it is written, and its number."""
    for match in _AMOUNTS.finditer(text):
        yield match[0], match["before"] or match["after"]
