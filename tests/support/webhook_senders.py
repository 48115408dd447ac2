"""Providers as they post mail to us: each signs a call with its own secret, made for the tests.

A sender gives path, headers and body, with the fields that its provider documents; some providers have more than one
way (`sendgrid_oauth`), and `web_settings` opens the way that is asked for. `FakeNetwork` is what the network holds for
SNS: Amazon's certificate, and the bucket in which SES stores mail.
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
from services.core.settings import S3Access, WebhookSettings, WebSettings
from services.core.standard_webhooks import hmac_sha256, sign_standard
from services.receive_email.webhooks.oauth import LIFE_S, access_token
from services.receive_email.webhooks.sns import SnsMessage, signed_text

SECRET = "whsec_" + base64.b64encode(b"the secret of the raw webhook").decode()
OTHER_SECRET = "whsec_" + base64.b64encode(b"the secret of the worker").decode()
MAILGUN_KEY = "key-of-mailgun"
CLIENT_SECRET = "the secret of sendgrid as a client"
SECRET_PATH = "a-path-that-nobody-guesses"
BUCKET = "mail-of-the-shop"
ARN = "arn:aws:sns:eu-west-1:123456789012:mail"
CERTIFICATE_URL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-abc123.pem"
SUBSCRIBE_URL = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=t"
SENDGRID_KEY = ec.generate_private_key(ec.SECP256R1())
_BUCKETS: dict[str, bytes] = {}
AMAZON_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def public_base64(key: ec.EllipticCurvePrivateKey) -> str:
    """A public key as SendGrid shows it."""
    der = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(der).decode()


OTHER_WAYS: dict[str, dict[str, str]] = {
    "sendgrid_oauth": {"sendgrid_public_key": "", "sendgrid_client_secret": CLIENT_SECRET},
    "postmark_path": {"postmark_password": "", "postmark_path": SECRET_PATH},
}


def web_settings(way: str = "", **changes: object) -> WebSettings:
    """All formats open, in the given way where a provider has several."""
    hooks = WebhookSettings.model_validate(
        {
            "cloudflare_secret": OTHER_SECRET,
            "mailgun_signing_key": MAILGUN_KEY,
            "postmark_password": "pm-password",
            "sendgrid_public_key": public_base64(SENDGRID_KEY),
            "ses_topic_arns": (ARN,),
            "ses_buckets": (BUCKET,),
        }
        | OTHER_WAYS.get(way, {})
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

    async def stored(self, bucket: str, key: str, access: S3Access, most: int) -> bytes | None:
        self.asked.append(f"s3://{bucket}/{key} in {access.region}")
        content = _BUCKETS[f"{bucket}/{key}"]
        return content if len(content) <= most else None


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
        "domain": "shop.example",
        "recipient": "support@shop.example",
        "sender": "bounce@example.org",
        "from": "Ann <ann@example.org>",
        "subject": "Mail",
        "X-Mailgun-Incoming": "Yes",
        "message-url": "https://storage.example/v3/domains/shop.example/messages/key",
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
    fields = {
        "dkim": b"{@example.org : pass}",
        "to": b"support@shop.example",
        "from": b"Ann <ann@example.org>",
        "sender_ip": b"192.0.2.7",
        "spam_report": b"",
        "envelope": envelope,
        "subject": f"Mail {request_id}".encode(),
        "spam_score": b"0.1",
        "charsets": b'{"to":"UTF-8","from":"UTF-8","subject":"UTF-8"}',
        "SPF": b"pass",
        "email": mail,
    }
    kind, body = multipart(fields)
    signature = SENDGRID_KEY.sign(stamp.encode() + body, ec.ECDSA(hashes.SHA256()))
    headers = {
        "content-type": kind,
        "x-twilio-email-event-webhook-timestamp": stamp,
        "x-twilio-email-event-webhook-signature": base64.b64encode(signature).decode(),
    }
    return Post("sendgrid", headers, body)


def sendgrid_oauth(mail: bytes, request_id: str, at: datetime) -> Post:
    """The same form without a signature, with the token that was given at `at`."""
    post = sendgrid(mail, request_id, at)
    token = access_token(CLIENT_SECRET, int(at.timestamp()) + LIFE_S)
    return Post(
        "sendgrid", {"content-type": post.headers["content-type"], "authorization": f"Bearer {token}"}, post.body
    )


def postmark(mail: bytes, request_id: str, at: datetime) -> Post:
    password = base64.b64encode(b"postmark:pm-password").decode()
    given = {
        "From": "ann@example.org",
        "MessageStream": "inbound",
        "FromName": "Ann",
        "FromFull": {"Email": "ann@example.org", "Name": "Ann", "MailboxHash": ""},
        "To": "support@shop.example",
        "OriginalRecipient": "support@shop.example",
        "Subject": "Mail",
        "MessageID": request_id,
        "MailboxHash": "",
        "Date": "Mon, 2 Mar 2026 09:00:00 +0000",
        "TextBody": "",
        "StrippedTextReply": "",
        "RawEmail": mail.decode("utf-8"),
        "Headers": [{"Name": "Received-SPF", "Value": "pass"}],
        "Attachments": [],
    }
    headers = {"content-type": "application/json", "authorization": f"Basic {password}"}
    return Post("postmark", headers, json.dumps(given).encode())


def postmark_path(mail: bytes, request_id: str, at: datetime) -> Post:
    """The same JSON to a secret path, without a password."""
    return Post(f"postmark/{SECRET_PATH}", {"content-type": "application/json"}, postmark(mail, request_id, at).body)


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


def notice(at: datetime, action: dict[str, str], **content: str) -> str:
    """What SES tells a topic about a mail that came in."""
    passed = {"status": "PASS"}
    verdicts = {f"{name}Verdict": passed for name in ("spam", "virus", "spf", "dkim", "dmarc")}
    told = {
        "notificationType": "Received",
        "mail": {
            "timestamp": at.isoformat(),
            "source": "bounce@example.org",
            "messageId": "d6iitobk75ur44p8kdnnp7g2n800",
            "destination": ["support@shop.example"],
            "headersTruncated": False,
        },
        "receipt": {
            "timestamp": at.isoformat(),
            "processingTimeMillis": 222,
            "recipients": ["support@shop.example"],
            **verdicts,
            "action": {"topicArn": ARN, **action},
        },
    }
    return json.dumps(told | content)


def ses(mail: bytes, request_id: str, at: datetime) -> Post:
    content = base64.b64encode(mail).decode()
    return sns(at, Message=notice(at, {"type": "SNS", "encoding": "BASE64"}, content=content), MessageId=request_id)


def ses_s3(mail: bytes, request_id: str, at: datetime, *, bucket: str = BUCKET) -> Post:
    """SES has stored the mail in a bucket, and tells us where."""
    _BUCKETS[f"{bucket}/inbound/{request_id}"] = mail
    action = {"type": "S3", "bucketName": bucket, "objectKey": f"inbound/{request_id}"}
    return sns(at, Message=notice(at, action), MessageId=request_id)


SENDERS: dict[str, Callable[[bytes, str, datetime], Post]] = {
    sender.__name__: sender
    for sender in (raw, cloudflare, mailgun, sendgrid, sendgrid_oauth, postmark, postmark_path, ses, ses_s3)
}
