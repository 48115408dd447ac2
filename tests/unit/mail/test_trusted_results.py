"""Authentication-Results: which of them our own server wrote, and what becomes of those that contradict each other."""

from __future__ import annotations

import pytest

from services.mail.authentication import authenticate, trusted_results
from services.mail.authentication.trusted_results import is_delivery_hop
from services.mail.mime import read_mail
from tests.unit.mail.test_authentication import MESSAGE, zone

IDS = ("mx.ours.example",)
AR = "Authentication-Results: mx.ours.example; "
PASS = AR + "dmarc=pass header.from=my-shop.example"
FAIL = AR + "dmarc=fail header.from=my-shop.example"
ARRIVED = "Received: from evil.example (evil.example [192.0.2.66]) by mx.ours.example with ESMTPS; Mon, 1 Jan 2024 10:00:00 +0000"
LMTP = "Received: from mx.ours.example by mx.ours.example with LMTP id x; Mon, 1 Jan 2024 10:00:00 +0000"
STORE = (
    "Received: from mx.ours.example (mx [10.0.0.4]) by store.ours.example with ESMTP; Mon, 1 Jan 2024 10:00:00 +0000"
)
FOREIGN = "Received: from a.example by b.evil.example; Mon, 1 Jan 2024 10:00:00 +0000"


def level(
    *headers: str, dmarc: str = "v=DMARC1; p=none", stripping: tuple[str, ...] = (), ids: tuple[str, ...] = IDS
) -> str:
    """The level of an unsigned mail under these headers."""
    raw = "".join(f"{one}\r\n" for one in headers).encode() + MESSAGE
    return authenticate(raw, read_mail(raw), None, zone(dmarc), ids, stripping_ids=stripping).level


@pytest.mark.parametrize(
    "headers",
    [
        (ARRIVED, PASS),
        (ARRIVED, PASS, FOREIGN),
        (LMTP, ARRIVED, PASS),
        (STORE, ARRIVED, PASS),
        (STORE, PASS, ARRIVED),
        (FOREIGN, PASS),
        (FAIL, ARRIVED, PASS),
        ("Received: from mx.ours.example (evil.example [192.0.2.66]) by mx.ours.example with ESMTP; x", PASS),
        ("Received: from x with LMTP by mx.ours.example (evil [192.0.2.66]) with ESMTP; x", PASS),
        ("Received: from [10.0.0.4] (evil.example [192.0.2.66]) by mx.ours.example with ESMTP; x", PASS),
        ("Received: from x by mx.ours.example with LMTP by mx.ours.example with ESMTP; x", PASS),
        ("Received: from x by mx.other.example with LMTP; x", PASS),
    ],
)
def test_a_result_below_the_trace_of_the_arrival_is_never_believed(headers: tuple[str, ...]) -> None:
    """What stands below the Received line with which our server took the mail was written by whoever sent it."""
    assert level(*headers) == "unverified"


@pytest.mark.parametrize("headers", [(PASS, ARRIVED), (LMTP, PASS, ARRIVED), (LMTP, PASS, ARRIVED, FAIL)])
def test_a_result_above_the_arrival_is_believed(headers: tuple[str, ...]) -> None:
    """Hops of our own delivery (LMTP) may stand above our server's result."""
    assert level(*headers) == "verified"


@pytest.mark.parametrize(
    "results",
    [
        (PASS, FAIL),
        (FAIL, PASS),
        (PASS + "; dmarc=fail header.from=my-shop.example",),
        (FAIL + "; dmarc=pass header.from=my-shop.example",),
        (PASS, AR + "dmarc=pass header.from=evil.example"),
        (AR + "dkim=pass header.d=my-shop.example header.s=a; dkim=fail header.d=my-shop.example header.s=a",),
        (AR + "spf=pass smtp.mailfrom=my-shop.example", AR + "spf=softfail smtp.mailfrom=my-shop.example"),
    ],
)
def test_results_that_contradict_each_other_prove_nobody(results: tuple[str, ...]) -> None:
    """Of several results of one check the first counts, and where they differ nobody is verified."""
    assert level(*results, ARRIVED) == "unverified"


def test_a_contradiction_lifts_nobody() -> None:
    """Where our server says that DMARC failed, a second result does not take it back."""
    assert level(FAIL, PASS, ARRIVED, dmarc="v=DMARC1; p=reject") == "failed"


@pytest.mark.parametrize(
    "top",
    [
        AR + "none",
        AR + "dkim=none",
        AR + "spf=none smtp.mailfrom=evil.example",
        AR + "auth=pass smtp.auth=evil",
        AR + "dmarc=temperror header.from=my-shop.example",
        AR + "dmarc=pass header.from=evil.example",
        "Authentication-Results: mx.ours.example",
        AR + 'spf=pass smtp.mailfrom="a;b(@evil.example',
        "Authentication-Results: old.ours.example; none",
    ],
)
@pytest.mark.parametrize(
    "forged",
    [
        (PASS,),
        (AR + "dkim=pass header.d=my-shop.example",),
        (AR + "spf=pass smtp.mailfrom=my-shop.example",),
        (PASS, ARRIVED),
        (LMTP, PASS),
        ("X-Any: thing", PASS),
    ],
)
def test_nothing_is_added_below_the_topmost_header_of_ours(top: str, forged: tuple[str, ...]) -> None:
    """Where our server strips nothing its topmost header decides alone, whatever it says: others come with the mail."""
    assert level(top, *forged, ids=(*IDS, "old.ours.example")) == "unverified"


@pytest.mark.parametrize("dmarc", ["fail", "fail (p=reject)"])
def test_what_fails_below_the_topmost_header_of_ours_is_heard(dmarc: str) -> None:
    """Further filters of our server write headers of their own: what they say against a mail leaves nobody verified."""
    told = AR + "spf=pass smtp.mailfrom=my-shop.example"
    assert level(told, ARRIVED) == "verified"
    assert level(told, AR + f"dmarc={dmarc} header.from=my-shop.example", ARRIVED) == "unverified"
    assert level(told, AR + "dmarc=none header.from=my-shop.example", ARRIVED) == "verified"


def test_filters_that_write_a_header_each_are_all_heard_where_the_server_strips() -> None:
    """A server that removes what others wrote in its name wrote every header of its name in the run itself."""
    spf = AR + "spf=pass smtp.mailfrom=my-shop.example"
    assert level(AR + "dkim=none", spf, ARRIVED, stripping=IDS) == "verified"
    assert level(ARRIVED, AR + "dkim=none", spf, FOREIGN, stripping=IDS) == "verified"
    other = "Authentication-Results: old.ours.example; dkim=none"
    both = (*IDS, "old.ours.example")
    assert level(other, spf, ARRIVED, ids=both, stripping=IDS) == "unverified"
    assert level(other, spf, ARRIVED, ids=both, stripping=both) == "unverified", "only the other server took the mail"


def test_a_server_of_ours_that_strips_nothing_lets_in_no_results_of_one_that_does() -> None:
    """Mail that one server took proves nothing by results in the name of another of ours."""
    told = "Authentication-Results: mx.provider.example; dmarc=pass header.from=my-shop.example"
    both, stripping = (*IDS, "mx.provider.example"), ("mx.provider.example",)
    relay = "Received: by 2001:db8::1 with SMTP id x; Mon, 1 Jan 2024 10:00:00 +0000"
    assert level(relay, told, ids=both, stripping=stripping) == "verified"
    assert level(ARRIVED, told, ids=both, stripping=stripping) == "unverified"
    assert level(relay, ARRIVED, told, ids=both, stripping=stripping) == "unverified"


def test_two_signatures_of_one_domain_are_no_contradiction() -> None:
    """A mail signed with two keys, one of which cannot be read, is signed."""
    told = "dkim=neutral header.d=my-shop.example header.s=ed; dkim=pass header.d=my-shop.example header.s=rsa"
    assert level(AR + told, ARRIVED) == "verified"


def test_the_policy_is_read_from_dmarcs_own_comment() -> None:
    """A `p=none` that stands anywhere else in the header lowers no policy."""
    told = 'spf=pass smtp.mailfrom="(p=none)"@evil.example; dmarc=fail (p=REJECT) header.from=my-shop.example'
    assert level(AR + told, ARRIVED) == "failed"
    told = "spf=fail (dmarc=fail p=none) smtp.mailfrom=evil.example; dmarc=fail header.from=my-shop.example"
    assert level(AR + told, ARRIVED, dmarc="v=DMARC1; p=reject") == "failed"


def test_a_stripping_servers_results_count_below_its_own_trace() -> None:
    """Where the operator says that a server removes what others wrote in its name, its layout does not matter."""
    relay = "Received: by 2001:db8::1 with SMTP id x; Mon, 1 Jan 2024 10:00:00 +0000"
    assert level(relay, ARRIVED, PASS, FOREIGN, stripping=IDS) == "verified"
    assert level(STORE, ARRIVED, PASS, FOREIGN, stripping=IDS) == "verified"
    assert level(relay, ARRIVED, FOREIGN, PASS, stripping=IDS) == "unverified"
    assert level(relay, ARRIVED, PASS, FOREIGN, stripping=("other.example",)) == "unverified"


@pytest.mark.parametrize(
    "value",
    [
        "",
        ";",
        "by",
        "by ;",
        "x" * 100_000,
        "by mx.ours.example " * 5_000,
        "[" * 50_000,
        "from [1.2.3.4.5.6] by mx.ours.example",
    ],
)
def test_a_trace_of_any_shape_is_read(value: str) -> None:
    """A Received value that makes no sense is no hop of ours."""
    assert not is_delivery_hop(value, IDS)


def test_a_hop_that_two_readers_see_differently_is_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """mail-parser must find the same server and LMTP as our pattern does: trust rests on what both read."""
    ours = f"from a by {IDS[0]} with LMTP id 7; Mon, 1 Jan 2024 10:00:00 +0000"
    assert is_delivery_hop(ours, IDS)
    for clauses in ({"by": "other.example", "with": "lmtp"}, {"by": IDS[0], "with": "esmtp"}, {"by": IDS[0]}):
        monkeypatch.setattr(trusted_results, "parse_received", lambda _, said=clauses: said)
        assert not is_delivery_hop(ours, IDS)
