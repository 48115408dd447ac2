"""Apache Kafka with a TLS listener that asks for a certificate, and one with TLS and a login: PLAIN, SCRAM and OAUTHBEARER (tokens that we sign)."""

from __future__ import annotations

import json
import secrets
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joserfc import jwt
from joserfc.jwk import RSAKey

from deploy.local.apache_kafka import apache_kafka as kafka_part
from deploy.local.ports import HOST, free_port
from tests.support.certificates import Authority, authority
from tests.support.kafka import running

USER, AUDIENCE, ISSUER = "mailer", "kafka", "https://login.example"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
_KAFKA = "org.apache.kafka.common.security"


@dataclass(frozen=True, slots=True)
class SecureKafka:
    """A running broker: its ports, the authority that its clients are to believe, and the user's password."""

    folder: Path
    plain: str
    tls: str
    sasl: str
    authority: Authority
    password: str
    token_file: Path

    def settings(self, mechanism: str, **changes: Any) -> dict[str, Any]:
        """The group [kafka] that logs in by a mechanism."""
        base = {"brokers": self.sasl, "security_protocol": "SASL_SSL", "sasl_mechanism": mechanism}
        if mechanism == "OAUTHBEARER":
            login: dict[str, Any] = {"oauth": {"token_file": str(self.token_file)}}
        else:
            login = {"username": USER, "password": self.password}
        return {**base, "ca_file": str(self.authority.ca), "embedded": False, **login, **changes}


@contextmanager
def secure_kafka() -> Iterator[SecureKafka]:
    """A fresh broker, gone afterwards; call it from a thread that outlives the block."""
    with tempfile.TemporaryDirectory(prefix="correspondent-kafka-") as name:
        folder, password = Path(name), secrets.token_hex(12)
        port, tls, sasl = free_port(), free_port(), free_port()
        made = authority(folder)
        (folder / "kafka.properties").write_text(_properties(folder, made, port, tls, sasl, password))
        scram = " ".join(f"--add-scram {one}=[name={USER},password={password}]" for one in MECHANISMS[1:3])
        part = kafka_part(
            folder / "data",
            port,
            options={
                "KAFKA_PROPERTIES": str(folder / "kafka.properties"),
                "KAFKA_FORMAT_OPTIONS": scram,
                "KAFKA_JAVA_OPTIONS": f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={(folder / 'jwks').as_uri()}",
            },
        )
        (folder / "token").write_text(_token(folder))
        with running(part, folder / "kafka.log"):
            at = {"plain": f"{HOST}:{port}", "tls": f"{HOST}:{tls}", "sasl": f"{HOST}:{sasl}"}
            yield SecureKafka(folder, **at, authority=made, password=password, token_file=folder / "token")


def _properties(folder: Path, made: Authority, port: int, tls: int, sasl: int, password: str) -> str:
    """The further listeners; `kafka.sh` knows the port of the controller's."""
    cert_file, key_file = made.sign("broker")
    store = folder / "broker.pem"
    store.write_bytes(key_file.read_bytes() + cert_file.read_bytes())
    login = "listener.name.sasl_ssl"
    lines = {
        "listeners": f"PLAINTEXT://{HOST}:{port},SSL://{HOST}:{tls},SASL_SSL://{HOST}:{sasl},CONTROLLER://{HOST}:CONTROLLER_PORT",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port},SSL://{HOST}:{tls},SASL_SSL://{HOST}:{sasl}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(made.ca),
        "listener.name.ssl.ssl.client.auth": "required",
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        f"{login}.plain.sasl.jaas.config": f'{_KAFKA}.plain.PlainLoginModule required user_{USER}="{password}";',
        f"{login}.scram-sha-256.sasl.jaas.config": f"{_KAFKA}.scram.ScramLoginModule required;",
        f"{login}.scram-sha-512.sasl.jaas.config": f"{_KAFKA}.scram.ScramLoginModule required;",
        f"{login}.oauthbearer.sasl.jaas.config": f"{_KAFKA}.oauthbearer.OAuthBearerLoginModule required;",
        f"{login}.oauthbearer.sasl.server.callback.handler.class": (
            f"{_KAFKA}.oauthbearer.OAuthBearerValidatorCallbackHandler"
        ),
        f"{login}.oauthbearer.sasl.oauthbearer.jwks.endpoint.url": (folder / "jwks").as_uri(),
        f"{login}.oauthbearer.sasl.oauthbearer.expected.audience": AUDIENCE,
        f"{login}.oauthbearer.sasl.oauthbearer.expected.issuer": ISSUER,
    }
    return "".join(f"{name}={value}\n" for name, value in lines.items())


def _token(folder: Path) -> str:
    """A token for an hour; the key that proves it lies in the folder's `jwks`."""
    key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"}, private=True)
    (folder / "jwks").write_text(json.dumps({"keys": [key.as_dict(private=False)]}))
    now = int(time.time())
    claims = {"sub": USER, "aud": AUDIENCE, "iss": ISSUER, "iat": now, "exp": now + 3600, "scope": "kafka"}
    return jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)
