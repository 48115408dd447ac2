"""aiokafka as we use it: every module that talks to a broker imports this one first, and asks it how to connect.

Invariants
- Only `ensure_topics` makes a topic. aiokafka's clients would have a broker make what they ask about, with the broker's
  own number of partitions: then keys lie elsewhere, and a broker that trusts its clients (Tansu) keeps records in
  partitions that no consumer has heard of.
- TLS verifies the broker's certificate and its name; nothing switches that off.
"""

from __future__ import annotations

import ssl
from functools import lru_cache, partial
from typing import Any

import aiokafka.client
from aiokafka.protocol.metadata import MetadataRequest

from services.core.bus.oauth_token import TokenSource
from services.core.errors import Permanent
from services.core.settings import KafkaSettings

aiokafka.client.MetadataRequest = partial(MetadataRequest, allow_auto_topic_creation=False)

Brokers = str | KafkaSettings  # the log's settings; "host:port,host:port" is one without TLS and login


class LogAccessWrong(Permanent):
    """A file of the log's TLS or login cannot be read."""


def client_arguments(brokers: Brokers) -> dict[str, Any]:
    """What every client of aiokafka is given to reach the brokers. Raises `LogAccessWrong`."""
    if isinstance(brokers, str):
        return {"bootstrap_servers": brokers}
    arguments: dict[str, Any] = {
        "bootstrap_servers": brokers.brokers,
        "security_protocol": brokers.security_protocol,
        "ssl_context": tls_context(brokers),
    }
    if brokers.logs_in:
        arguments |= {"sasl_mechanism": brokers.sasl_mechanism} | _login(brokers)
    return arguments


def faust_arguments(brokers: Brokers) -> dict[str, Any]:
    """The same for a Faust app."""
    from faust import SASLCredentials, SSLCredentials
    from faust.auth import OAuthCredentials

    given = client_arguments(brokers)
    urls = [f"kafka://{broker.strip()}" for broker in given["bootstrap_servers"].split(",")]
    context, mechanism = given.get("ssl_context"), given.get("sasl_mechanism")
    if mechanism == "OAUTHBEARER":
        credentials: Any = OAuthCredentials(oauth_cb=given["sasl_oauth_token_provider"], ssl_context=context)
    elif mechanism:
        credentials = SASLCredentials(
            username=given["sasl_plain_username"],
            password=given["sasl_plain_password"],
            ssl_context=context,
            mechanism=mechanism,
        )
    else:
        credentials = SSLCredentials(context) if context else None
    return {"broker": urls, "broker_credentials": credentials}


def tls_context(kafka: KafkaSettings) -> ssl.SSLContext | None:
    """What TLS believes and shows; None without TLS. Raises `LogAccessWrong`."""
    if not kafka.uses_tls:
        return None
    name = "ca_file"
    try:
        context = ssl.create_default_context(cafile=kafka.ca_file)
        name = "cert_file"
        if kafka.cert_file:
            context.load_cert_chain(kafka.cert_file, kafka.key_file)
    except (OSError, ValueError) as error:
        raise LogAccessWrong(f"kafka.{name}, {getattr(kafka, name)}, cannot be used: {error}") from None
    return context


def _login(kafka: KafkaSettings) -> dict[str, Any]:
    if kafka.oauth is not None:
        return {"sasl_oauth_token_provider": _token_source(kafka)}
    return {"sasl_plain_username": kafka.username, "sasl_plain_password": kafka.password.get_secret_value()}


@lru_cache(maxsize=8)
def _token_source(kafka: KafkaSettings) -> TokenSource:
    """One for all clients of a process, so that each does not ask for a token of its own."""
    assert kafka.oauth is not None
    return TokenSource(kafka.oauth)
