"""authenticate: how far a From address is believed, with a made-up DNS and real signatures."""

from __future__ import annotations

import base64
import threading
from concurrent.futures import ThreadPoolExecutor

import dkim
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from hypothesis import given
from hypothesis import strategies as st

from services.mail.authentication import Authentication, DnsFailed, Peer, RecordType, authenticate
from services.mail.authentication.results import Budgeted
from services.mail.authentication.sender_checks import aligned, organizational
from services.mail.mime import read_mail
from tests.benchmarks.mail_sender_auth import auth_cases, symbols
from tests.support.corpora import corpus

KEY = ed25519.Ed25519PrivateKey.from_private_bytes(b"k" * 32)
SEED = base64.b64encode(b"k" * 32)
PUBLIC = base64.b64encode(
    KEY.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
).decode()
KEY_RECORD = f"v=DKIM1; k=ed25519; p={PUBLIC}"
PEER = Peer("192.0.2.1", "mx.my-shop.example", "ann@my-shop.example")
MESSAGE = b"From: Ann <ann@my-shop.example>\r\nTo: support@shop.example\r\nSubject: Hi\r\n\r\nHello.\r\n"


class Zone:
    """A DNS of TXT and A records; a name with the value None fails. Counts the look-ups."""

    def __init__(self, **records: str | None) -> None:
        self.records = {name.replace("__", "."): value for name, value in records.items()}
        self.asked = 0

    def put(self, name: str, value: str | None) -> Zone:
        """Add a record."""
        self.records[name] = value
        return self

    def lookup(self, name: str, kind: RecordType) -> tuple[str, ...]:
        """See `Resolver.lookup`."""
        self.asked += 1
        value = self.records.get(name.rstrip(".").lower(), "")
        if value is None:
            raise DnsFailed(name)
        return (value,) if value else ()


def signed(message: bytes = MESSAGE, domain: str = "my-shop.example", **options: object) -> bytes:
    """The message with an ed25519 signature of `domain`."""
    header: bytes = dkim.sign(message, b"s", domain.encode(), SEED, signature_algorithm=b"ed25519-sha256", **options)
    return header + message


def zone(dmarc: str = "", spf: str = "", key_at: str = "my-shop.example") -> Zone:
    """The DNS of my-shop.example."""
    records = {"_dmarc.my-shop.example": dmarc, "my-shop.example": spf, f"s._domainkey.{key_at}": KEY_RECORD}
    found = Zone()
    for name, value in records.items():
        found.put(name, value)
    return found


def judged(raw: bytes, dns: Zone, peer: Peer | None = None, ids: tuple[str, ...] = ()) -> Authentication:
    """What authenticate says of a raw mail."""
    return authenticate(raw, read_mail(raw), peer, dns, ids)


def test_aligned_dkim_verifies() -> None:
    """A valid signature of the author's own domain verifies, with a DMARC policy and without."""
    assert judged(signed(), zone()).level == "verified"
    assert judged(signed(), zone(dmarc="v=DMARC1; p=reject")).method == "dmarc"


def test_foreign_dkim_verifies_nobody() -> None:
    """A valid signature of another domain says nothing about the author, and fails a policy."""
    raw = signed(domain="evil.example")
    assert judged(raw, zone(key_at="evil.example")).level == "unverified"
    assert judged(raw, zone("v=DMARC1; p=reject", key_at="evil.example")).level == "failed"


def test_hyphenated_domains_are_whole() -> None:
    """`my-shop.example` and `my-bank.example` share no organization (a known library reads both as "my")."""
    assert judged(signed(domain="my-bank.example"), zone(key_at="my-bank.example")).level == "unverified"


def test_changed_mail_is_not_verified() -> None:
    """A body or subject changed after signing breaks the signature."""
    for old, new in ((b"Hello.", b"Hello!"), (b"Subject: Hi", b"Subject: Ho")):
        assert judged(signed().replace(old, new), zone()).level == "unverified"
        assert judged(signed().replace(old, new), zone("v=DMARC1; p=quarantine")).level == "failed"


def test_added_from_is_not_verified() -> None:
    """A second From header makes a mail unverified, whichever of the two was signed."""
    for raw in (b"From: eve@evil.example\r\n" + signed(), signed() + b""):
        two = raw.replace(b"To: support", b"From: eve@evil.example\r\nTo: support", 1)
        assert judged(two, zone()).level == "unverified"


def test_partly_signed_body_is_not_verified() -> None:
    """A signature with l= lets anybody append: it does not count."""
    raw = signed(length=True)
    assert judged(raw, zone()).level == "unverified"
    assert judged(raw, zone()).dkim[0].result == "permerror"


def test_one_valid_signature_of_several_is_enough() -> None:
    """A broken signature above a valid aligned one does no harm."""
    broken = signed(domain="list.example").partition(b"From:")[0]
    assert judged(broken + signed(), zone()).level == "verified"


def test_spf_verifies_the_aligned_envelope() -> None:
    """A passing SPF verifies where MAIL FROM is of the author's organization, and not where it is another's."""
    spf = "v=spf1 ip4:192.0.2.1 -all"
    assert judged(MESSAGE, zone(spf=spf), PEER).level == "verified"
    other = Zone().put("evil.example", spf)
    assert judged(MESSAGE, other, Peer("192.0.2.1", "x", "eve@evil.example")).level == "unverified"


def test_spf_fail_without_dmarc_is_failed() -> None:
    """A host that the author's own domain excludes fails; a softfail is only unverified."""
    assert judged(MESSAGE, zone(spf="v=spf1 -all"), PEER).level == "failed"
    assert judged(MESSAGE, zone(spf="v=spf1 ~all"), PEER).level == "unverified"


@pytest.mark.parametrize(
    ("record", "level"),
    [
        ("v=DMARC1; p=none", "unverified"),
        ("v=DMARC1; p=quarantine", "failed"),
        ("v=DMARC1;p=reject;", "failed"),
        ("v=DMARC1; p=reject; pct=0", "failed"),
        ("v=DMARC1; p=quarantine; pct=0", "unverified"),
        ("v=DMARC1; p=quarantine; pct=000", "unverified"),
        ("v=DMARC1; p=quarantine; pct=no", "failed"),
        ("v=DMARC1; p=quarantine; pct=101", "failed"),
        ("v=DMARC1; p=reject; pct=50", "failed"),
        ("v=DMARC2; p=reject", "unverified"),
        ("p=reject; v=DMARC1", "unverified"),
        ("v=DMARC1; garbage", "unverified"),
    ],
)
def test_policies(record: str, level: str) -> None:
    """A mail that nothing authenticates is failed where its domain's record asks for it."""
    assert judged(MESSAGE, zone(record)).level == level


def test_subdomain_policy_and_strict_alignment() -> None:
    """sp= governs subdomains, and adkim=s wants the very domain."""
    message = MESSAGE.replace(b"ann@my-shop", b"ann@mail.my-shop")
    assert judged(message, zone("v=DMARC1; p=none; sp=reject")).level == "failed"
    assert judged(signed(message), zone("v=DMARC1; p=reject")).level == "verified"
    assert judged(signed(message), zone("v=DMARC1; p=reject; adkim=s")).level == "failed"


def test_outage_neither_verifies_nor_fails() -> None:
    """Where the DNS does not answer, nobody is verified and nobody failed."""
    assert judged(signed(), zone().put("_dmarc.my-shop.example", None)).level == "unverified"
    down = zone("v=DMARC1; p=reject").put("s._domainkey.my-shop.example", None)
    assert judged(signed(), down).level == "unverified"


def test_sender_cannot_feign_an_outage() -> None:
    """Failing or endless look-ups of the sender's own domains do not turn `failed` into `unverified`."""
    dns = zone("v=DMARC1; p=reject", key_at="nowhere.example").put("evil.example", None)
    raw = signed(domain="evil.example")
    assert judged(raw, dns, Peer("192.0.2.1", "x", "eve@evil.example")).level == "failed"
    dns = zone("v=DMARC1; p=reject").put("evil.example", "v=spf1 " + " ".join(f"mx:m{i}.example" for i in range(60)))
    headers = b"".join(signed(domain=f"d{i}.example").partition(b"From:")[0] for i in range(60))
    assert judged(headers + MESSAGE, dns, Peer("192.0.2.1", "x", "eve@evil.example")).level == "failed"


def test_what_our_server_did_not_check_is_checked() -> None:
    """Where our server tells SPF alone, DKIM is computed before anything fails."""
    dns = zone("v=DMARC1; p=reject")
    told = OWN + "spf=pass smtp.mailfrom=forwarder.example\r\n"
    raw = told.encode() + signed()
    assert judged(raw, dns, ids=("mx.ours.example",)).level == "verified"
    assert judged(raw.replace(b"Hello.", b"Hullo."), dns, ids=("mx.ours.example",)).level == "failed"


OWN = "Authentication-Results: mx.ours.example; "


def with_results(*headers: str, received: str = "Received: from x by mx.ours.example\r\n") -> bytes:
    """The message under the given headers and our server's trace."""
    return "".join(f"{h}\r\n" for h in headers).encode() + received.encode() + MESSAGE


@pytest.mark.parametrize(
    ("result", "level"),
    [
        ("dmarc=pass header.from=my-shop.example", "verified"),
        ("dmarc=fail (p=REJECT sp=NONE dis=NONE) header.from=my-shop.example", "failed"),
        ("dmarc=fail (p=NONE) header.from=my-shop.example", "unverified"),
        ("dkim=pass header.d=my-shop.example", "verified"),
        ("dkim=pass header.i=@mail.my-shop.example", "verified"),
        ("dkim=pass header.d=evil.example", "unverified"),
        ("spf=pass smtp.mailfrom=ann@my-shop.example", "verified"),
        ("spf=pass smtp.mailfrom=evil.example", "unverified"),
        ("dmarc=pass header.from=evil.example", "unverified"),
        ("none", "unverified"),
    ],
)
def test_our_own_servers_results(result: str, level: str) -> None:
    """What our server wrote is believed, as far as it speaks of this author."""
    found = judged(with_results(OWN + result), zone(), ids=("MX.ours.example",))
    assert found.level == level


@pytest.mark.parametrize(
    "raw",
    [
        with_results("Authentication-Results: mx.evil.example; dmarc=pass header.from=my-shop.example"),
        with_results("Authentication-Results: mx.evil.example; none", OWN + "dmarc=pass header.from=my-shop.example"),
        with_results(OWN + "dkim=fail header.d=my-shop.example").replace(
            b"From: Ann", OWN.encode() + b"dmarc=pass header.from=my-shop.example\r\nFrom: Ann"
        ),
        with_results('Authentication-Results: "mx.ours.example" (;) .evil; dmarc=pass header.from=my-shop.example'),
        with_results("Authentication-Results: mx.ours.example.evil.example; dmarc=pass header.from=my-shop.example"),
        with_results("Authentication-Results: (mx.ours.example;) evil; dmarc=pass header.from=my-shop.example"),
        with_results("X-Authentication-Results: mx.ours.example; dmarc=pass header.from=my-shop.example"),
        with_results("Subject: x\r\n Authentication-Results: mx.ours.example; dmarc=pass header.from=my-shop.example"),
    ],
)
def test_forged_results_are_not_believed(raw: bytes) -> None:
    """Foreign, buried or look-alike Authentication-Results verify nobody."""
    assert judged(raw, zone(), ids=("mx.ours.example",)).level == "unverified"


def test_results_are_not_believed_without_a_trusted_server() -> None:
    """With no trusted server configured, no such header counts."""
    assert judged(with_results(OWN + "dmarc=pass header.from=my-shop.example"), zone()).level == "unverified"


def test_look_ups_are_bounded() -> None:
    """A mail that asks for endless look-ups gets forty at most."""
    dns = zone(spf="v=spf1 " + " ".join(f"include:i{i}.example" for i in range(60)) + " -all")
    for i in range(60):
        dns.put(f"i{i}.example", "v=spf1 " + " ".join(f"a:a{i}-{j}.example" for j in range(10)))
    raw = b"".join(signed(domain=f"d{i}.example").partition(b"From:")[0] for i in range(30)) + MESSAGE
    judged(raw, dns, PEER)
    assert dns.asked <= 40


def test_each_name_is_asked_once() -> None:
    """One mail's look-ups are remembered, failures too."""
    dns = Zone().put("down.example", None)
    budget = Budgeted(dns)
    for _ in range(3):
        with pytest.raises(DnsFailed):
            budget.lookup("Down.example.", "TXT")
        assert budget.lookup("a.example", "TXT") == ()
    assert dns.asked == 2


def test_resolvers_do_not_mix_between_threads() -> None:
    """Mails judged at once, each with its own DNS, get each its own answer."""
    good, bad = zone(spf="v=spf1 ip4:192.0.2.1 -all"), zone(spf="v=spf1 -all")
    barrier = threading.Barrier(4)

    def one(number: int) -> list[str]:
        barrier.wait()
        return [judged(MESSAGE, good if number % 2 else bad, PEER).level for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        levels = list(pool.map(one, range(4)))
    assert levels == [["failed"] * 20, ["verified"] * 20] * 2


def test_a_tenant_of_one_provider_passed_for_another() -> None:
    """Anybody gets a domain below it: neither alignment nor a copy to a colleague goes over it."""
    assert organizational("evil.onmicrosoft.com") == "evil.onmicrosoft.com"
    assert not aligned("evil.onmicrosoft.com", "acme.onmicrosoft.com", "r")
    assert aligned("mail.acme.onmicrosoft.com", "acme.onmicrosoft.com", "r")


def test_organizational_domains() -> None:
    """The public suffix list decides, and a suffix itself is nobody's organization."""
    assert organizational("mail.example.co.uk") == "example.co.uk"
    assert organizational("co.uk") == ""
    assert not aligned("a.github.io", "b.github.io", "r")
    assert aligned("a.example.com", "b.example.com", "r")
    assert not aligned("a.example.com", "example.com", "s")
    assert not aligned("com", "example.com", "r")


names = st.sampled_from(["v", "a", "b", "bh", "c", "d", "h", "i", "l", "q", "s", "t", "x", "z"])
tags = st.dictionaries(names, st.text(max_size=20), max_size=14)


@given(tags, st.text(max_size=60), st.text(max_size=30), st.text(max_size=30))
def test_hostile_input_raises_nothing(tags: dict[str, str], record: str, ip: str, mail_from: str) -> None:
    """Any signature, any DNS answer and any peer end in a level other than verified."""
    header = "DKIM-Signature: " + "; ".join(f"{k}={v}" for k, v in tags.items())
    raw = header.replace("\r", "").replace("\n", "").encode("utf-8", "replace") + b"\r\n" + MESSAGE
    dns = zone(dmarc=record, spf=f"v=spf1 {record}")
    assert judged(raw, dns, Peer(ip, record, mail_from)).level != "verified"


@pytest.mark.parametrize(
    "value", ["", ";", "mx.ours.example", "mx.ours.example;;;", "mx.ours.example; dmarc=", "(((", '"']
)
def test_broken_results_raise_nothing(value: str) -> None:
    """An Authentication-Results header that cannot be read says nothing."""
    assert (
        judged(with_results(f"Authentication-Results: {value}"), zone(), ids=("mx.ours.example",)).level == "unverified"
    )


def test_corpus_outcomes() -> None:
    """Every DMARC, SPF and DKIM outcome of the corpus is the expected one."""
    asked = wrong = 0
    for row, found in auth_cases(corpus("sender-auth")):
        told = set(symbols(found).values())
        expected = [s for s in row["expect"] if s.startswith(("DMARC_", "R_SPF_", "R_DKIM_"))]
        kinds = {s.split("_POLICY")[0].rsplit("_", 1)[0] for s in expected}
        asked += len(kinds)
        wrong += not any(s in told for s in expected) if expected else 0
    assert asked > 10
    assert wrong == 0
