"""Whose Authentication-Results an inbox's newest mails carry, and whether they can be believed (RFC 8601, section 5).

A result counts where it stands above our server's own Received line. Below it, it counts only if the server removes
what senders write in its name: a mail that kept such a header shows that it does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from services.mail.authentication.trusted_results import authserv_id, is_by_ours, trusted_headers
from services.mail.check.steps import Fault, Finding
from services.mail.message import ParsedMail

STEP = "sender results"


def judge_results(mails: Sequence[ParsedMail], ids: Collection[str], stripping: Collection[str]) -> str:
    """What the newest mails show, in words. Raises `Fault` where the settings do not fit what the server writes."""
    if not mails:
        return "no mail yet that would show whose Authentication-Results the server writes"
    if not ids:
        return _hint(mails)
    believed = [trusted_headers(mail, ids, stripping) for mail in mails]
    _must_strip(mails, ids, stripping)
    count = sum(bool(one) for one in believed)
    if not count:
        raise Fault(_none_believed(mails, ids))
    dmarc = sum(any("dmarc=" in "".join(value.split()).lower() for value in one) for one in believed)
    told = "DMARC is told" if dmarc else "DMARC is not told: it is computed here"
    found = f"{count} of the newest {len(mails)} mails have results of {', '.join(sorted(ids))}; {told}"
    left = sum(len(trusted_headers(mail, ids, ids)) > len(one) > 0 for mail, one in zip(mails, believed, strict=True))
    return _with_further(found, left) if left else found


def _with_further(found: str, left: int) -> str:
    """What was found, and that so many mails have further headers of a server that writes several."""
    return (
        f"{found}; {left} have further ones below the topmost, which do not count: a sender may have written them. "
        "Where the server removes what others wrote in its name, name it in stripping_authserv_ids too"
    )


def _hint(mails: Sequence[ParsedMail]) -> str:
    names = Counter(one for mail in mails for one in _ids(mail)[:1])
    if not names:
        return "the server writes no Authentication-Results: SPF is not known, DKIM and DMARC are computed here"
    name, count = names.most_common(1)[0]
    return (
        f"DKIM and DMARC are computed here, SPF is not known; {count} of the newest {len(mails)} mails have results of "
        f"{name[:100]!r}: where that is your own server, own_authserv_ids can name it"
    )


def _none_believed(mails: Sequence[ParsedMail], ids: Collection[str]) -> Finding:
    names = ", ".join(sorted(ids))
    if any(set(_ids(mail)) & set(ids) for mail in mails):
        remedy = (
            "have the server put its results above its Received line; or, where your provider says that it removes "
            "results which others wrote in its name (Gmail does), name it in stripping_authserv_ids too"
        )
        return Finding(STEP, False, f"the results of {names} stand below the server's own Received line", remedy)
    found = ", ".join(sorted({one[:100] for mail in mails for one in _ids(mail)[:1]})[:5]) or "none"
    remedy = "set own_authserv_ids to the name that your own server writes, or take it out"
    return Finding(STEP, False, f"no mail has results of {names}; there are: {found}", remedy)


def _must_strip(mails: Sequence[ParsedMail], ids: Collection[str], stripping: Collection[str]) -> None:
    """Raise `Fault` where a server that is said to remove others' results has left one of its name."""
    forged = [mail for mail in mails if set(_below_arrival(mail, ids)) & set(stripping)]
    if forged:
        remedy = "take it out of stripping_authserv_ids: what senders write in its name would be believed"
        found = f"{len(forged)} of the newest mails came with results in the name of {', '.join(sorted(stripping))}"
        raise Fault(Finding(STEP, False, found, remedy))


def _below_arrival(mail: ParsedMail, ids: Collection[str]) -> list[str]:
    """The ids of results below the trace of a server before ours: none of ours wrote them when the mail arrived."""
    arrived, below, found = False, False, list[str]()
    for name, value in mail.headers:
        if name.lower() == "received":
            by_ours = is_by_ours(value, ids)
            below = below or (arrived and not by_ours)
            arrived = arrived or by_ours
        elif name.lower() == "authentication-results" and below:
            found.append(authserv_id(value))
    return found


def _ids(mail: ParsedMail) -> list[str]:
    return [one for value in mail.all("Authentication-Results") if (one := authserv_id(value))]
