"""`correspondent inbox test` on sender results: what the newest mails show of the server that takes them."""

from __future__ import annotations

import pytest

from services.mail.check.steps import Fault
from services.mail.message import ParsedMail
from services.mail.mime import read_mail
from services.receive_email.check.results import judge_results

OURS = "mx.ours.example"
AR = f"Authentication-Results: {OURS}; spf=pass smtp.mailfrom=a.example"
DMARC = f"{AR}; dmarc=pass header.from=a.example"
ARRIVED = f"Received: from a.example (a.example [192.0.2.1]) by {OURS} with ESMTP; Mon, 1 Jan 2024 10:00:00 +0000"
SENT = "Received: from laptop by a.example with ESMTPSA; Mon, 1 Jan 2024 09:59:00 +0000"


def mail(*headers: str) -> ParsedMail:
    """A mail as its server keeps it."""
    return read_mail(("\r\n".join((*headers, "From: ann@a.example", "", "Hi.")) + "\r\n").encode())


def fault(*mails: ParsedMail, stripping: tuple[str, ...] = ()) -> Fault:
    """What is wrong."""
    with pytest.raises(Fault) as raised:
        judge_results(mails, {OURS}, set(stripping))
    return raised.value


def test_results_above_the_arrival_pass() -> None:
    """What is believed is counted, and whether DMARC is among it."""
    found = judge_results([mail(DMARC, ARRIVED, SENT), mail(ARRIVED, SENT)], {OURS}, set())
    assert found == f"1 of the newest 2 mails have results of {OURS}; DMARC is told"
    assert judge_results([mail(AR, ARRIVED)], {OURS}, set()).endswith("DMARC is not told: it is computed here")


def test_results_below_the_arrival_are_a_fault() -> None:
    """A layout in which nothing is believed is said, with both ways out."""
    finding = fault(mail(ARRIVED, DMARC, SENT)).finding
    assert "below the server's own Received line" in finding.found
    assert "stripping_authserv_ids" in finding.remedy
    assert judge_results([mail(ARRIVED, DMARC, SENT)], {OURS}, {OURS}).startswith("1 of the newest 1")


def test_further_headers_of_one_server_are_said_not_to_count() -> None:
    """Whose server writes a header for each check reads that the topmost alone counts, and what lets the others count."""
    dkim = f"Authentication-Results: {OURS}; dkim=none"
    found = judge_results([mail(dkim, DMARC, ARRIVED), mail(AR, ARRIVED)], {OURS}, set())
    assert "2 of the newest 2 mails" in found
    assert "DMARC is not told" in found
    assert "1 have further ones below the topmost" in found
    stripped = judge_results([mail(dkim, DMARC, ARRIVED)], {OURS}, {OURS})
    assert stripped.endswith("; DMARC is told")


def test_a_server_that_strips_nothing_is_found_out() -> None:
    """A mail that came with a result in our server's name shows that it is not removed."""
    finding = fault(mail(ARRIVED, AR, SENT, DMARC), stripping=(OURS,)).finding
    assert "in the name of" in finding.found
    assert "take it out of stripping_authserv_ids" in finding.remedy


def test_another_name_than_the_servers_is_a_fault() -> None:
    """The name that the server really writes is shown."""
    finding = fault(mail("Authentication-Results: mx2.ours.example; dmarc=pass", ARRIVED)).finding
    assert "there are: mx2.ours.example" in finding.found


def test_without_settings_it_is_a_hint() -> None:
    """Nothing is wrong where nobody is believed; what could be is named."""
    assert "own_authserv_ids can name it" in judge_results([mail(DMARC, ARRIVED)], set(), set())
    assert "writes no Authentication-Results" in judge_results([mail(ARRIVED)], set(), set())
    assert "no mail yet" in judge_results([], {OURS}, set())
