"""Providers as they post mail to us: each signs a call with its own secret, made for the tests.

A sender gives path, headers and body; `outside` is what the network holds for SNS: Amazon's certificate.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from urllib.parse import urlencode

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import NameOID

from services.core.errors import Temporary
from services.core.settings import WebhookSettings, WebSettings
from services.receive_email.webhooks.signatures import hmac_sha256, sign_standard
from services.receive_email.webhooks.sns import SnsMessage, signed_text

SECRET = "whsec_" + base64.b64encode(b"the secret of the raw webhook").decode()
OTHER_SECRET = "whsec_" + base64.b64encode(b"the secret of the worker").decode()
MAILGUN_KEY = "key-of-mailgun"
ARN = "arn:aws:sns:eu-west-1:123456789012:mail"
CERTIFICATE_URL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-abc123.pem"
SUBSCRIBE_URL = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=t"
SENDGRID_KEY = ec.generate_private_key(ec.SECP256R1())
AMAZON_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def public_base64(key: ec.EllipticCurvePrivateKey) -> str:
    """A public key as SendGrid shows it."""
    der = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(der).decode()


def web_settings(**changes: object) -> WebSettings:
    """All formats open."""
    hooks = WebhookSettings.model_validate(
        {
            "cloudflare_secret": OTHER_SECRET,
            "mailgun_signing_key": MAILGUN_KEY,
            "postmark_password": "pm-password",
            "sendgrid_public_key": public_base64(SENDGRID_KEY),
            "ses_topic_arns": (ARN,),
        }
    )
    return WebSettings.model_validate({"webhook_secret": SECRET, "webhooks": hooks} | changes)


def private_pem(key: rsa.RSAPrivateKey = AMAZON_KEY) -> bytes:
    """A private key in PEM, for a server of the tests."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def certificate(
    key: rsa.RSAPrivateKey = AMAZON_KEY, *, valid_for: timedelta = timedelta(days=30), address: str = "192.0.2.1"
) -> bytes:
    """A certificate for `key` and an IP address, in PEM; one that has run out where `valid_for` is negative."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=60))
        .not_valid_after(now + valid_for)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False)
    )
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


@dataclass
class FakeNetwork:
    """`Outside` with the pages given, and a note of what was asked for."""

    pages: dict[str, bytes] = field(default_factory=lambda: {CERTIFICATE_URL: certificate(), SUBSCRIBE_URL: b"ok"})
    asked: list[str] = field(default_factory=list)

    async def get(self, url: str) -> bytes:
        self.asked.append(url)
        if url not in self.pages:
            raise Temporary(url)
        return self.pages[url]

    async def kept(self, url: str) -> bytes:
        return await self.get(url)


@dataclass(frozen=True)
class Post:
    """One call as a provider makes it."""

    path: str
    headers: dict[str, str]
    body: bytes


def raw(mail: bytes, request_id: str, at: datetime, *, path: str = "raw", secret: str = SECRET) -> Post:
    stamp = str(int(at.timestamp()))
    headers = {
        "content-type": "message/rfc822",
        "webhook-id": request_id,
        "webhook-timestamp": stamp,
        "webhook-signature": sign_standard(secret, request_id, stamp, mail),
    }
    return Post(path, headers, mail)


def cloudflare(mail: bytes, request_id: str, at: datetime) -> Post:
    return raw(mail, request_id, at, path="cloudflare", secret=OTHER_SECRET)


def mailgun(mail: bytes, request_id: str, at: datetime) -> Post:
    stamp = str(int(at.timestamp()))
    fields = {
        "recipient": "support@shop.example",
        "sender": "bounce@example.org",
        "timestamp": stamp,
        "token": request_id,
        "signature": hmac_sha256(MAILGUN_KEY.encode(), (stamp + request_id).encode()).hex(),
        "body-mime": mail,
    }
    return Post("mailgun", {"content-type": "application/x-www-form-urlencoded"}, urlencode(fields).encode())


def multipart(fields: dict[str, bytes]) -> tuple[str, bytes]:
    """Content type and body of a form."""
    boundary = "xYzZY-boundary"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + value + b"\r\n"
        for name, value in fields.items()
    ]
    return f"multipart/form-data; boundary={boundary}", b"".join(parts) + f"--{boundary}--\r\n".encode()


def sendgrid(mail: bytes, request_id: str, at: datetime) -> Post:
    stamp = str(int(at.timestamp()))
    envelope = json.dumps({"to": ["support@shop.example"], "from": "bounce@example.org"}).encode()
    kind, body = multipart({"sender_ip": b"192.0.2.7", "envelope": envelope, "id": request_id.encode(), "email": mail})
    signature = SENDGRID_KEY.sign(stamp.encode() + body, ec.ECDSA(hashes.SHA256()))
    headers = {
        "content-type": kind,
        "x-twilio-email-event-webhook-timestamp": stamp,
        "x-twilio-email-event-webhook-signature": base64.b64encode(signature).decode(),
    }
    return Post("sendgrid", headers, body)


def postmark(mail: bytes, request_id: str, at: datetime) -> Post:
    password = base64.b64encode(b"postmark:pm-password").decode()
    body = json.dumps({"MessageID": request_id, "RawEmail": mail.decode("utf-8"), "Subject": "ignored"}).encode()
    return Post("postmark", {"content-type": "application/json", "authorization": f"Basic {password}"}, body)


def sns(at: datetime, key: rsa.RSAPrivateKey = AMAZON_KEY, **fields: object) -> Post:
    """An SNS message, signed by Amazon unless another key is given."""
    given: dict[str, object] = {
        "Type": "Notification",
        "MessageId": "sns-1",
        "TopicArn": ARN,
        "Message": "",
        "Timestamp": at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "SignatureVersion": "2",
        "Signature": "",
        "SigningCertURL": CERTIFICATE_URL,
    }
    given |= fields
    signature = key.sign(signed_text(SnsMessage.model_validate(given)), padding.PKCS1v15(), hashes.SHA256())
    given["Signature"] = base64.b64encode(signature).decode()
    return Post("ses", {"content-type": "text/plain; charset=UTF-8"}, json.dumps(given).encode())


def ses(mail: bytes, request_id: str, at: datetime) -> Post:
    notice = {
        "notificationType": "Received",
        "mail": {"source": "bounce@example.org"},
        "receipt": {"action": {"type": "SNS", "encoding": "BASE64"}},
        "content": base64.b64encode(mail).decode(),
    }
    return sns(at, Message=json.dumps(notice), MessageId=request_id)


SENDERS: dict[str, Callable[[bytes, str, datetime], Post]] = {
    sender.__name__: sender for sender in (raw, cloudflare, mailgun, sendgrid, postmark, ses)
}
