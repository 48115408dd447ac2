"""Robots that answer our mail: vacation responders, lists, mail systems, challenges, receipts and calendars.

Each speaks eight languages.

A simulator, not a corpus: each maker writes what its software is known to write, around a mail of ours.
Some say in their headers what they are, the worst (`Courtesy.NONE`) leave only their words.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from enum import Enum


class Courtesy(Enum):
    """How far a responder's headers admit what it is."""

    STANDARD = "standard"  # RFC 3834
    VENDOR = "vendor"  # headers of its maker's own
    NONE = "none"  # only its words


@dataclass(frozen=True)
class Ours:
    """The mail of ours that is answered."""

    address: str = "support@shop.example"
    message_id: str = "c.token.salt@shop.example"
    subject: str = "Re: Order 4711"


@dataclass(frozen=True)
class AutoMail:
    """What a robot sent."""

    kind: str
    language: str
    maker: str
    raw: bytes


VACATION = {
    "en": ("Out of office", "Hello,\n\nI am out of the office until 12 August and will reply when I return.\n\nAnn"),
    "de": (
        "Abwesenheitsnotiz",
        "Guten Tag,\n\nich bin bis 12. August nicht im Büro. Ihre Mail wird nicht weitergeleitet.",
    ),
    "fr": ("Absence du bureau", "Bonjour,\n\nje suis en congés jusqu'au 12 août. Je répondrai à mon retour.\n\nAnne"),
    "es": ("Fuera de la oficina", "Hola:\n\nEstoy fuera de la oficina hasta el 12 de agosto. Responderé a mi regreso."),
    "it": ("Fuori ufficio", "Buongiorno,\n\nsono assente fino al 12 agosto. Risponderò al mio rientro.\n\nAnna"),
    "pl": ("Nieobecność w biurze", "Dzień dobry,\n\njestem na urlopie do 12 sierpnia. Odpowiem po powrocie.\n\nAnna"),
    "ru": ("Нет на месте", "Здравствуйте!\n\nЯ в отпуске до 12 августа. Отвечу по возвращении.\n\nАнна"),
    "ja": ("不在のお知らせ", "お世話になっております。\n\n8月12日まで休暇をいただいております。\n\nアン"),
}
AUTOMATIC_REPLY = {
    "en": "Automatic reply",
    "de": "Automatische Antwort",
    "fr": "Réponse automatique",
    "es": "Respuesta automática",
    "it": "Risposta automatica",
    "pl": "Odpowiedź automatyczna",
    "ru": "Автоматический ответ",
    "ja": "自動応答",
}
ACKNOWLEDGEMENT = {
    "en": ("Request received", "This is an automated message. Your request (#42) has been received."),
    "de": ("Ihre Anfrage #42", "Dies ist eine automatisch generierte E-Mail. Ihre Anfrage ist bei uns eingegangen."),
    "fr": ("Votre demande n° 42", "Ceci est un message automatique. Merci de ne pas y répondre."),
    "es": ("Su solicitud 42", "Este es un mensaje automático. Hemos recibido su solicitud."),
    "it": ("La sua richiesta 42", "Questo è un messaggio automatico. Abbiamo ricevuto la sua richiesta."),
    "pl": ("Zgłoszenie 42", "Ta wiadomość została wygenerowana automatycznie. Prosimy na nią nie odpowiadać."),
    "ru": ("Ваше обращение 42", "Это автоматическое сообщение. Ваше обращение зарегистрировано."),
    "ja": ("お問い合わせ 42", "このメールは自動送信されています。お問い合わせを受け付けました。"),
}
CHALLENGE = {
    "en": (
        "Please confirm your message",
        "Your message is being held. Please confirm that you are a human by clicking below.",
    ),
    "de": (
        "Bitte bestätigen Sie Ihre Nachricht",
        "Bitte bestätigen Sie über den Link, dass Sie ein Mensch sind, damit Ihre Nachricht zugestellt wird.",
    ),
    "fr": (
        "Confirmation requise (anti-spam)",
        "Veuillez confirmer que vous êtes bien l'expéditeur humain de ce message.",
    ),
    "es": ("Confirme su mensaje", "Para entregar su correo, confirme que usted es el remitente del mensaje."),
    "it": ("Verifica antispam", "Per favore confermi di essere il mittente del messaggio facendo clic qui."),
    "pl": ("Potwierdź wiadomość", "Potwierdź, że jesteś nadawcą tej wiadomości, klikając poniższy odnośnik."),
    "ru": ("Подтвердите отправку", "Пожалуйста, подтвердите, что вы отправитель этого письма, перейдя по ссылке."),
    "ja": ("送信者の確認", "迷惑メール対策のため、送信者の確認をお願いします。"),
}  # fmt: skip
FAILURE = {
    "en": ("Undelivered Mail Returned to Sender", "Your message could not be delivered to the following address:"),
    "de": ("Unzustellbar: Re: Order 4711", "Ihre Nachricht konnte nicht zugestellt werden:"),
    "fr": ("Non remis : Re: Order 4711", "Votre message n'a pas pu être remis aux destinataires suivants :"),
    "es": ("No se puede entregar: Re: Order 4711", "No se pudo entregar el mensaje a estos destinatarios:"),
    "it": ("Mancato recapito: Re: Order 4711", "Impossibile recapitare il messaggio ai seguenti destinatari:"),
    "pl": ("Niedoręczona wiadomość", "Nie można dostarczyć wiadomości do następujących odbiorców:"),
    "ru": ("Недоставленное сообщение", "Сообщение не может быть доставлено следующим получателям:"),
    "ja": ("配信不能: Re: Order 4711", "以下の宛先にメールを配信できませんでした。"),
}
READ = {
    "en": ("Read", "Your message was read on 3 August 2026."),
    "de": ("Gelesen", "Ihre Nachricht wurde am 3. August 2026 gelesen."),
    "fr": ("Lu", "Votre message a été lu le 3 août 2026."),
    "es": ("Leído", "Su mensaje fue leído el 3 de agosto de 2026."),
    "it": ("Letto", "Il messaggio è stato letto il 3 agosto 2026."),
    "pl": ("Przeczytano", "Wiadomość została przeczytana 3 sierpnia 2026."),
    "ru": ("Прочитано", "Ваше сообщение было прочитано 3 августа 2026."),
    "ja": ("開封済み", "メッセージは2026年8月3日に開封されました。"),
}
ACCEPTED = {
    "en": ("Accepted", "Ann Lee has accepted this invitation."),
    "de": ("Zugesagt", "Ann Lee hat diese Einladung angenommen."),
    "fr": ("Accepté", "Ann Lee a accepté cette invitation."),
    "es": ("Aceptado", "Ann Lee ha aceptado esta invitación."),
    "it": ("Accettato", "Ann Lee ha accettato questo invito."),
    "pl": ("Zaakceptowane", "Ann Lee przyjęła to zaproszenie."),
    "ru": ("Принято", "Анна Ли приняла это приглашение."),
    "ja": ("承諾", "アン・リーがこの招待を承諾しました。"),
}
LANGUAGES = tuple(VACATION)
GONE = "gone@customer.example"
PERSON = "Ann Lee <ann@customer.example>"


def automatic_mails(ours: Ours = Ours()) -> Iterator[AutoMail]:
    """Everything that the robots send in answer to one mail of ours."""
    for language in LANGUAGES:
        yield from _vacations(language, ours)
        yield from _acknowledgements(language, ours)
        yield from _challenges(language, ours)
        yield from _bounces(language, ours)
        yield from _list_posts(language, ours)
        yield from _receipts(language, ours)
        yield from _calendar_replies(language, ours)


def _mail(ours: Ours, sender: str, subject: str, body: str, **headers: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, ours.address, subject
    message["Message-ID"] = f"<robot.{zlib.crc32(f'{sender}{subject}{body}{headers}'.encode()):x}@customer.example>"
    message["Date"] = "Mon, 03 Aug 2026 10:00:00 +0000"
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    message.set_content(body)
    return message.as_bytes()


def _vacations(language: str, ours: Ours) -> Iterator[AutoMail]:
    subject, body = VACATION[language]
    automatic = AUTOMATIC_REPLY[language]
    answers = {"In_Reply_To": f"<{ours.message_id}>", "References": f"<{ours.message_id}>"}
    makers = {
        "sieve": (f"Auto: {ours.subject}", {"Auto_Submitted": "auto-replied (vacation)", **answers}),
        "exchange": (f"{automatic}: {ours.subject}", {"X_Auto_Response_Suppress": "All"}),
        "outlook without headers": (f"{automatic}: {ours.subject}", {}),
        "gmail": (f"{subject} {ours.subject}", {"Precedence": "bulk", "X_Autoreply": "yes", **answers}),
        "cpanel": (subject, {"X_Autorespond": "Order 4711", "Precedence": "auto_reply"}),
        "freebsd vacation": (subject, {"Precedence": "bulk", "Auto_Submitted": "auto-replied"}),
        "notes without headers": (f"Ann Lee: {subject}", {}),
        "a webmail without headers": (ours.subject, answers),
        "null path": (ours.subject, {"Return_Path": "<>"}),
    }  # fmt: skip
    for maker, (title, headers) in makers.items():
        yield AutoMail("vacation", language, maker, _mail(ours, PERSON, title, body, **headers))


def _acknowledgements(language: str, ours: Ours) -> Iterator[AutoMail]:
    subject, body = ACKNOWLEDGEMENT[language]
    desk = "Desk <desk@supplier.example>"
    yield AutoMail(
        "acknowledgement", language, "standard", _mail(ours, desk, subject, body, Auto_Submitted="auto-generated")
    )
    yield AutoMail("acknowledgement", language, "words only", _mail(ours, desk, subject, body))
    yield AutoMail("acknowledgement", language, "no-reply", _mail(ours, "no-reply@supplier.example", subject, "42"))


def _challenges(language: str, ours: Ours) -> Iterator[AutoMail]:
    subject, body = CHALLENGE[language]
    link = f"{body}\n\nhttps://filter.example/confirm?id=abc123\n"
    yield AutoMail("challenge", language, "words only", _mail(ours, PERSON, subject, link))
    yield AutoMail(
        "challenge",
        language,
        "boxtrapper",
        _mail(ours, PERSON, f"Your email requires verification verify#{language}", link),
    )
    yield AutoMail(
        "challenge",
        language,
        "tmda",
        _mail(ours, "ann-confirm-123.abc@customer.example", subject, link, X_TMDA_Fingerprint="x"),
    )


def _bounces(language: str, ours: Ours) -> Iterator[AutoMail]:
    subject, sentence = FAILURE[language]
    daemon = "Mail Delivery System <MAILER-DAEMON@mx.customer.example>"
    returned = (
        f"Message-ID: <{ours.message_id}>\nFrom: {ours.address}\nTo: {GONE}\nSubject: {ours.subject}\n"
        "MIME-Version: 1.0\n"
    )
    copy = "--- Below this line is a copy of the message."
    plain = f"{sentence}\n\n<{GONE}>:\n550 5.1.1 User unknown\n\n{copy}\n\n{returned}"
    yield AutoMail("bounce", language, "plain", _mail(ours, daemon, subject, plain))
    yield AutoMail(
        "bounce",
        language,
        "plain, null path",
        _mail(ours, "postmaster@mx.customer.example", subject, plain, Return_Path="<>"),
    )
    yield AutoMail("bounce", language, "rfc 3464", _dsn(ours, daemon, subject, sentence, returned, "failed", "5.1.1"))
    yield AutoMail(
        "bounce", language, "rfc 3464, delayed", _dsn(ours, daemon, subject, sentence, returned, "delayed", "4.4.1")
    )


def _dsn(ours: Ours, daemon: str, subject: str, sentence: str, returned: str, action: str, status: str) -> bytes:
    head = f"From: {daemon}\r\nTo: {ours.address}\r\nSubject: =?utf-8?q?{_q(subject)}?=\r\nMIME-Version: 1.0\r\n"
    kind = 'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\r\n\r\n'
    parts = (
        f"--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{sentence}\r\n",
        "--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.customer.example\r\n\r\n"
        f"Final-Recipient: rfc822; {GONE}\r\nAction: {action}\r\nStatus: {status}\r\n",
        f"--b\r\nContent-Type: text/rfc822-headers\r\n\r\n{returned}\r\n--b--\r\n",
    )
    return (head + kind + "".join(parts)).encode()


def _q(text: str) -> str:
    return "".join(f"={byte:02X}" for byte in text.encode())


def _list_posts(language: str, ours: Ours) -> Iterator[AutoMail]:
    body = VACATION[language][1].splitlines()[0] + "\n\n:-)"
    marks = (
        {"List_Id": "<talk.example>"},
        {"Precedence": "list"},
        {"Mailing_List": "list talk@example"},
        {"List_Unsubscribe": "<x:y>"},
    )
    for number, headers in enumerate(marks):
        yield AutoMail("list", language, str(number), _mail(ours, PERSON, "[talk] 4711", body, **headers))
    yield AutoMail("list", language, "owner", _mail(ours, "talk-request@lists.example", "[talk] 4711", body))


def _receipts(language: str, ours: Ours) -> Iterator[AutoMail]:
    """Somebody has read our mail (RFC 8098)."""
    word, sentence = READ[language]
    subject = f"{word}: {ours.subject}"
    head = f"From: {PERSON}\r\nTo: {ours.address}\r\nSubject: =?utf-8?q?{_q(subject)}?=\r\nMIME-Version: 1.0\r\n"
    kind = 'Content-Type: multipart/report; report-type=disposition-notification; boundary="b"\r\n\r\n'
    for maker, mode in (
        ("clicked", "manual-action/MDN-sent-manually"),
        ("by itself", "automatic-action/MDN-sent-automatically"),
    ):
        parts = (
            f"--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{sentence}\r\n",
            "--b\r\nContent-Type: message/disposition-notification\r\n\r\nReporting-UA: mail.example; Mail 1\r\n"
            f"Final-Recipient: rfc822; ann@customer.example\r\nOriginal-Message-ID: <{ours.message_id}>\r\n"
            f"Disposition: {mode}; displayed\r\n--b--\r\n",
        )
        number = zlib.crc32((subject + maker).encode())
        raw = f"{head}Message-ID: <mdn.{number:x}@customer.example>\r\n{kind}{''.join(parts)}".encode()
        yield AutoMail("receipt", language, maker, raw)


def _calendar_replies(language: str, ours: Ours) -> Iterator[AutoMail]:
    """A calendar answers an invitation: beside a text, as the whole mail, or as a file."""
    word, sentence = ACCEPTED[language]
    for maker, status in (("alternative", "ACCEPTED"), ("alone", "DECLINED"), ("file", "TENTATIVE")):
        message = EmailMessage()
        message["From"], message["To"] = PERSON, ours.address
        message["Subject"] = f"{word}: {ours.subject}"
        message["Message-ID"] = f"<cal.{maker}.{language}@customer.example>"
        if maker == "alone":
            message.set_content(_calendar(status), subtype="calendar", params={"method": "REPLY"})
        else:
            message.set_content(sentence)
            add = message.add_alternative if maker == "alternative" else message.add_attachment
            add(_calendar(status), subtype="calendar", params={"method": "REPLY"})
        yield AutoMail("calendar", language, maker, message.as_bytes())


def _calendar(status: str) -> str:
    lines = (
        "BEGIN:VCALENDAR", "PRODID:-//A Calendar//EN", "VERSION:2.0", "METHOD:REPLY", "BEGIN:VEVENT",
        f"ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT={status};CN=Ann Lee:mailto:ann@custom", " er.example",
        "ORGANIZER:mailto:support@shop.example", "UID:4711@shop.example", "DTSTAMP:20260803T100000Z", "END:VEVENT",
        "END:VCALENDAR", "",
    )  # fmt: skip
    return "\r\n".join(lines)
