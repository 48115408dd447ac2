"""judge: which mail may be answered, and which filter says why not."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil

import pytest

from services.mail import filters
from services.mail.filters import FILTERS, FilterContext, Verdict, judge
from services.mail.message import ParsedMail
from services.mail.mime import read_mail
from services.mail.reports import Report, read_report
from tests.benchmarks.mail_judging import AUTO_REPLY, BOUNCE, COMPLAINT
from tests.support.auto_senders import automatic_mails
from tests.support.corpora import corpus


def raw_mail(
    body: str = "Where is my order 4711?", sender: str = "Ann Lee <ann@customer.example>", **headers: str
) -> bytes:
    """A mail to support with some headers; underscores in names stand for hyphens."""
    given = {"From": sender, "To": "support@shop.example", "Subject": "Order 4711", **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in given.items())
    return f"{head}Content-Type: text/plain; charset=utf-8\r\n\r\n{body}\r\n".encode()


def verdict(raw: bytes, **context: object) -> Verdict:
    """The verdict on a raw mail, its report read first as read_email does."""
    mail = read_mail(raw)
    return judge(mail, dataclasses.replace(FilterContext(report=read_report(mail, raw)), **context))  # type: ignore[arg-type]


def test_a_filter_that_is_not_listed_never_ran() -> None:
    """Every function of a mail and its context in the package's modules is one of `FILTERS`."""
    found = set()
    for module in pkgutil.iter_modules(filters.__path__, "services.mail.filters."):
        for name, one in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction):
            if not name.startswith("_") and list(inspect.signature(one).parameters) == ["mail", "ctx"]:
                found.add(one)
    assert found - {judge} == set(FILTERS)


def test_ordinary_mail_is_answered() -> None:
    """A question from a person with one From address is answered."""
    assert verdict(raw_mail()) == Verdict("answer", "no filter objects", "none")


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        ({"Auto_Submitted": "auto-replied"}, "auto_submitted"),
        ({"Auto_Submitted": "auto-generated; owner-email=x@y"}, "auto_submitted"),
        ({"Auto_Submitted": "(comment) Auto-Notified"}, "auto_submitted"),
        ({"X_Autoreply": "yes"}, "auto_submitted"),
        ({"X_Autorespond": "Order 4711"}, "auto_submitted"),
        ({"Precedence": "auto_reply"}, "auto_submitted"),
        ({"Return_Path": "<>"}, "null_return_path"),
        ({"Precedence": "bulk"}, "mailing_list"),
        ({"Precedence": "List"}, "mailing_list"),
        ({"List_Id": "<talk.example>"}, "mailing_list"),
        ({"List_Unsubscribe": "<mailto:u@x>"}, "mailing_list"),
        ({"Mailing_List": "contact x; run by ezmlm"}, "mailing_list"),
        ({"X_Boxtrapper": "1"}, "challenge"),
        ({"X_Auto_Response_Suppress": "DR, OOF, AutoReply"}, "response_suppressed"),
        ({"X_Auto_Response_Suppress": "All"}, "response_suppressed"),
        ({"X_Spam_Flag": "YES"}, "spam"),
        ({"X_Spam_Status": "Yes, score=9.1"}, "spam"),
    ],
)
def test_headers_of_automatic_mail(headers: dict[str, str], name: str) -> None:
    """Each header that marks automatic, bulk or spam mail parks it, and the filter of that concern says so."""
    assert (verdict(raw_mail(**headers)).kind, verdict(raw_mail(**headers)).filter) == ("park", name)


@pytest.mark.parametrize(
    "headers",
    [
        {"Auto_Submitted": "no"},
        {"Auto_Submitted": "No (a person)"},
        {"X_Auto_Response_Suppress": "DR, RN, NRN"},
        {"Precedence": "normal"},
        {"Return_Path": "<ann@customer.example>"},
        {"X_Spam_Status": "No, score=1.0"},
        {"X_Spam_Flag": "NO"},
        {"X_Autoreply": "no"},
        {"X_TMDA_Fingerprint": "vV3Gvz"},
        {"X_TMDA_Confirm_Done": "1033.1"},
        {"X_ASK_Auth": "ab12"},
        {"Newsgroups": "example.talk"},
        {"Message_ID": "<1.2@vacation-homes.example>"},
    ],
)
def test_headers_that_say_nothing_against_an_answer(headers: dict[str, str]) -> None:
    """The same headers with a harmless value leave a mail answerable."""
    assert verdict(raw_mail(**headers)).kind == "answer"


@pytest.mark.parametrize(
    "sender",
    [
        "MAILER-DAEMON@mx.example",
        "postmaster@mx.example",
        "no-reply@shop.example.org",
        "noreply@x.example",
        "Do.Not.Reply@x.example",
        "nicht-antworten@x.example",
        "talk-request@lists.example",
        "owner-talk@lists.example",
        "bounces+123=a.b@mail.example",
        "notifications@github.example",
        "cron@host.example",
    ],
)
def test_machines_are_not_answered(sender: str) -> None:
    """Daemons, no-reply addresses and list machinery are nobody to answer."""
    assert (verdict(raw_mail(sender=sender)).kind, verdict(raw_mail(sender=sender)).filter) == (
        "park",
        "machine_sender",
    )


@pytest.mark.parametrize(
    "sender",
    [
        "reply@x.example",
        "norbert.reply@x.example",
        "jane.root@x.example",
        "delivery@x.example",
        "System Administrator <it@x.example>",
        "Vacation Rentals <ann@rentals.example>",
        "vacation.planner@x.example",
    ],
)
def test_people_with_names_like_machines(sender: str) -> None:
    """A name that only begins like a machine's is a person's."""
    assert verdict(raw_mail(sender=sender)).kind == "answer"


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ("Order 4711", "I am on vacation from tomorrow, so please deliver before Friday."),
        ("Order 4711", "I'm out of the office until Monday. Can you call me on Tuesday?"),
        ("Delivery problem", "My package could not be delivered. I bought 450 - blue shirt."),
        ("Delivery failed", "The driver said the address does not exist. It does: 5 High Street."),
        ("Undelivered parcel", "The parcel was returned to you on 5.5.2026."),
        ("Returned mail order", "I returned the shoes; where is my refund?"),
        ("Your mail delivery service", "It was great, thank you."),
        ("Re: Undelivered Mail Returned to Sender", "What does this mean? I keep getting these when I write to you."),
        ("Please confirm my order", "Please confirm that you received my message, I ordered at https://shop.example/x"),
        ("Confirm", "Can you verify your address for the return parcel?"),
        ("Zwrot zamówienia 4711", "Dzień dobry, chcę zwrócić buty."),
        ("Respuesta a su correo", "Gracias, la talla es la 42."),
        ("Отсутствие доставки", "Здравствуйте, заказ 4711 не доставлен."),
        ("Bezorging te laat", "Mijn pakket is niet bezorgd."),
        ("Urlaub", "Ich fahre morgen in den Urlaub und brauche das Paket vorher."),
        ("Absence de facture", "Bonjour, je n'ai pas reçu ma facture."),
        ("Ausencia de factura", "Hola, no he recibido mi factura."),
        ("Auto parts", "Do you have brake pads for a 2009 Golf?"),
        ("Automatic watch", "Does the automatic watch come with a second strap?"),
        ("Out of office chairs?", "Are you out of office chairs? The shop says zero."),
        ("Not in the mail", "The invoice was not in the mail you sent."),
        ("Spam", "Your newsletter goes to my spam folder, please approve my new address as a sender."),
        ("配送について", "注文した商品がまだ届きません。"),
    ],
)
def test_customers_who_sound_like_robots(subject: str, body: str) -> None:
    """A customer who mentions a journey, a parcel that came back or a confirmation is answered."""
    assert (
        verdict(raw_mail(body, Subject=f"=?utf-8?q?{''.join(f'={b:02X}' for b in subject.encode())}?=")).kind
        == "answer"
    )


@pytest.mark.parametrize("mail", list(automatic_mails()), ids=lambda mail: f"{mail.kind}-{mail.language}-{mail.maker}")
def test_robots_are_never_answered(mail: object) -> None:
    """No vacation note, acknowledgement, challenge, bounce or list post of any language gets an answer."""
    assert verdict(mail.raw).kind != "answer"  # type: ignore[attr-defined]


def test_receipts_and_calendars_are_known_for_what_they_are() -> None:
    """By their own parts, in whatever language the words beside them are."""
    robots = [one for one in automatic_mails() if one.kind in ("receipt", "calendar")]
    told = {(one.kind, verdict(one.raw).filter, verdict(one.raw).kind) for one in robots}
    assert told == {("receipt", "receipt", "park"), ("calendar", "calendar_reply", "park")}


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (b"END:VEVENT", b"COMMENT:Could we make it Tuesday?\r\nEND:VEVENT", "human"),
        (b"METHOD:REPLY", b"METHOD:REQUEST", "answer"),
        (b"METHOD:REPLY", b"METHOD:\r\n REPLY", "park"),
    ],
)
def test_a_person_may_speak_through_a_calendar(old: bytes, new: bytes, kind: str) -> None:
    """A comment beside the answer goes to a human; an invitation is a person's own mail; lines may be folded."""
    (robot,) = [one for one in automatic_mails() if (one.kind, one.language, one.maker) == ("calendar", "en", "file")]
    raw = robot.raw.decode()
    head, _, rest = raw.partition("BEGIN:VCALENDAR") if "BEGIN:VCALENDAR" in raw else (raw, "", "")
    assert rest, "the calendar stands in the mail as it is"
    eol = "\r\n" if "\r\n" in rest else "\n"
    changed = (head + "BEGIN:VCALENDAR" + rest).replace(old.decode(), new.decode().replace("\r\n", eol))
    assert verdict(changed.encode()).kind == kind


def test_own_address_is_a_loop() -> None:
    """A mail from one of our own addresses, in From, Reply-To or the envelope, is a loop."""
    ours = frozenset({"support@shop.example"})
    assert verdict(raw_mail(sender="Support@shop.example"), own_addresses=ours).kind == "loop"
    assert verdict(raw_mail(Reply_To="support@shop.example"), own_addresses=ours).kind == "loop"
    assert verdict(raw_mail(), own_addresses=ours, envelope_from="support@shop.example").kind == "loop"
    assert verdict(raw_mail(), message_id_is_ours=True).kind == "loop"
    assert verdict(raw_mail(), own_addresses=ours).kind == "answer"


CUSTOMER = {"Reply_To": "Ann Lee <ann@customer.example>"}


@pytest.mark.parametrize(
    ("sender", "headers"),
    [
        ("Shop <no-reply@shop-forms.example>", {}),
        ("www-data@web1.hoster.example", {}),
        ("Forms <forms@hoster.example>", {"Auto_Submitted": "auto-generated"}),
        ("Forms <forms@hoster.example>", {"X_Auto_Response_Suppress": "All"}),
        ("Forms <forms@hoster.example>", {"Return_Path": "<>"}),
        ("Shop <support@shop.example>", {}),
    ],
)
def test_a_machines_mail_with_a_persons_reply_to_is_never_silent(sender: str, headers: dict[str, str]) -> None:
    """A contact form writes as a machine, or as ourselves: a human is told, with whom it asks to answer."""
    ours = frozenset({"support@shop.example"})
    found = verdict(raw_mail(sender=sender, **CUSTOMER, **headers), own_addresses=ours)
    assert found.kind == "human"
    assert "ann@customer.example" in found.reason
    assert verdict(raw_mail(sender=sender, **headers), own_addresses=ours).kind in ("park", "loop")


@pytest.mark.parametrize(
    "headers",
    [
        {"Reply_To": "office@shop-forms.example"},
        {"Reply_To": "bounces@customer.example"},
        {"Reply_To": "support+token@shop.example"},
        {**CUSTOMER, "List_Unsubscribe": "<mailto:u@x.example>"},
        {**CUSTOMER, "Precedence": "bulk"},
        {**CUSTOMER, "Auto_Submitted": "auto-replied"},
    ],
)
def test_machines_that_speak_for_themselves_stay_parked(headers: dict[str, str]) -> None:
    """Their own desk, a machine, ourselves, a mail to many and a robot's answer call nobody."""
    ours = frozenset({"support@shop.example"})
    assert verdict(raw_mail(sender="no-reply@shop-forms.example", **headers), own_addresses=ours).kind == "park"


def test_envelope_outranks_the_return_path_header() -> None:
    """Where the source tells the envelope sender, a Return-Path header in the mail decides nothing."""
    assert verdict(raw_mail(), envelope_from="").filter == "null_return_path"
    assert verdict(raw_mail(), envelope_from="ann@customer.example").kind == "answer"


def test_failed_identity_is_never_answered() -> None:
    """A sender whose authentication failed goes to a human; all other levels are answered."""
    assert verdict(raw_mail(), identity="failed").kind == "human"
    assert {verdict(raw_mail(), identity=level).kind for level in ("verified", "unverified", "vouched")} == {"answer"}


@pytest.mark.parametrize("sender", ["a@b.example, c@d.example", "undisclosed"])
def test_not_exactly_one_author(sender: str) -> None:
    """Without exactly one From address nobody can be answered for certain."""
    assert verdict(raw_mail(sender=sender)).kind == "human"


@pytest.mark.parametrize(
    ("report", "unproven", "proven"),
    [
        (Report("bounce", "hard", original_message_id="x@y"), "human", "bounce"),
        (Report("bounce", "soft", original_message_id="x@y"), "park", "bounce"),
        (Report("complaint", original_message_id="x@y"), "human", "complaint"),
    ],
)
def test_unproven_bounce_suppresses_nobody(report: Report, unproven: str, proven: str) -> None:
    """A report counts only where it is proven to be about a mail of ours; what only names one is for a person."""
    mail = read_mail(raw_mail())
    assert judge(mail, FilterContext(report=report)).kind == "park"
    assert judge(mail, FilterContext(report=report, report_names_ours=True)).kind == unproven
    assert judge(mail, FilterContext(report=report, report_names_ours=True, report_proven=True)).kind == proven


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("human", "human"),
        ("'Human'.\r\n\r\nAnn", "human"),
        ("HUMAN!\r\n\r\nOn Monday we wrote:\r\n> Answer 'human'", "human"),
        ("I am human.", "answer"),
        ("Thanks.\r\n\r\n> human", "answer"),
        ("What does human resources cost?", "answer"),
    ],
)
def test_the_word_that_we_offer_brings_a_person(body: str, kind: str) -> None:
    """Where the first line of an answer is the word alone, a person takes over, without asking a model."""
    assert verdict(raw_mail(body)).kind == kind


@pytest.mark.parametrize(
    ("context", "kind", "name"),
    [
        ({"duplicate_of": "m-1"}, "duplicate", "duplicate"),
        ({"identical_bodies": 3}, "loop", "storm"),
        ({"from_sender": 20}, "human", "rates"),
        ({"in_thread": 10}, "human", "rates"),
        ({"in_all": 2000}, "human", "rates"),
        ({"replies_in_a_day": 30}, "human", "rates"),
        ({"automatic_replies": 10}, "human", "long_monologue"),
    ],
)
def test_counts_at_their_limits(context: dict[str, object], kind: str, name: str) -> None:
    """Each count objects at its limit and not one below it."""
    assert (verdict(raw_mail(), **context).kind, verdict(raw_mail(), **context).filter) == (kind, name)
    below = {key: value - 1 for key, value in context.items() if isinstance(value, int)}
    assert verdict(raw_mail(), **below).kind == "answer"


@pytest.mark.parametrize(
    ("count", "identity", "kind"),
    [(199, "verified", "answer"), (200, "verified", "human"), (200, "unverified", "answer")],
)
def test_a_company_has_a_part_of_what_is_answered(count: int, identity: str, kind: str) -> None:
    """Of proven senders alone: anybody may write in a company's name, and must not use up what is the company's."""
    assert verdict(raw_mail(), from_company=count, identity=identity).kind == kind


@pytest.mark.parametrize(("identity", "kind"), [("unverified", "human"), ("verified", "answer"), ("vouched", "answer")])
def test_an_inbox_that_leaves_unproven_senders_to_people(identity: str, kind: str) -> None:
    """Nobody but a person answers whom nothing proves, where the inbox says so."""
    assert verdict(raw_mail(), identity=identity, unproven_for_person=True).kind == kind
    assert verdict(raw_mail(), identity=identity).kind == "answer"


def test_encrypted_and_empty_mail_goes_to_a_human() -> None:
    """What the agent cannot read is for a person."""
    assert verdict(raw_mail("-----BEGIN PGP MESSAGE-----\n\nhQEMA...")).filter == "unreadable"
    assert verdict(raw_mail("", Subject="")).filter == "unreadable"


def test_forwarded_bounce_goes_to_a_human() -> None:
    """A person who forwards a delivery failure with its transcript reaches a person."""
    body = "See below.\n\n> Final-Recipient: rfc822; a@b.example\n> Action: failed"
    assert verdict(raw_mail(body, Subject="Fwd: Returned mail: see transcript")).filter == "forwarded_bounce"


def test_parked_by_the_reader() -> None:
    """A mail over a limit is parked before anything else is asked."""
    mail: ParsedMail = dataclasses.replace(read_mail(raw_mail()), parked="more than 1000 parts")
    assert judge(mail, FilterContext(duplicate_of="x")) == Verdict("park", "more than 1000 parts", "over_limits")


def test_every_filter_names_itself() -> None:
    """The name in a verdict is the function's: it says where to look."""
    for each in FILTERS:
        assert f'"{each.__name__}"' in inspect.getsource(importlib.import_module(each.__module__))  # type: ignore[attr-defined]


def test_corpus_of_automatic_mail_is_never_answered() -> None:
    """No bounce, complaint or automatic reply of the corpus gets the verdict `answer`."""
    folder = corpus("bounces")
    automatic = [p for p in folder.rglob("*.eml") if any(k.match(p.name) for k in (BOUNCE, COMPLAINT, AUTO_REPLY))]
    assert len(automatic) > 300
    assert [p.name for p in automatic if verdict(p.read_bytes()).kind == "answer"] == []
