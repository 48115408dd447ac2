"""Why no broker can be reached, in words: aiokafka logs the cause and raises that there was no bootstrap."""

from __future__ import annotations

import asyncio
import ssl

from aiokafka.conn import collect_hosts, create_conn
from aiokafka.errors import (
    KafkaConnectionError,
    KafkaError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)

from services.core.bus.broker_client import Brokers, client_arguments
from services.core.bus.oauth_token import NoToken
from services.core.settings import KafkaSettings

ASK_S = 5.0


class BrokerUnreachable(KafkaConnectionError):  # type: ignore[misc]
    """No broker can be reached; the message says why, and which setting it is."""

    def __str__(self) -> str:
        return str(self.args[0])


async def unreachable(brokers: Brokers) -> BrokerUnreachable:
    """The error that says why no broker answers, by connecting to the first one."""
    arguments = client_arguments(brokers)
    servers = arguments.pop("bootstrap_servers")
    host, port, _ = collect_hosts(servers, randomize=False)[0]
    try:
        async with asyncio.timeout(ASK_S):
            conn = await create_conn(host, port, request_timeout_ms=int(ASK_S * 1000), **arguments)
        conn.close()
        reason = "it answers now"
    except (KafkaError, OSError, TimeoutError) as error:
        reason = _reason(error, brokers if isinstance(brokers, KafkaSettings) else KafkaSettings())
    return BrokerUnreachable(f"no Kafka broker of {servers} can be used: {reason}")


def _reason(error: BaseException, kafka: KafkaSettings) -> str:
    if isinstance(error, NoToken):
        return str(error.args[0])
    if isinstance(error, SaslAuthenticationFailed):
        who = f"of {kafka.username}" if kafka.username else "by token"
        return f"it refuses the login {who} with {kafka.sasl_mechanism}; look at kafka.username and kafka.password"
    if isinstance(error, UnsupportedSaslMechanismError):
        return f"it does not take {kafka.sasl_mechanism}; set kafka.sasl_mechanism ({error})"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not believed ({error.verify_message}); set kafka.ca_file to its authority's"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed ({error.reason}); a port without TLS needs another kafka.security_protocol"
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there; set kafka.brokers"
    if kafka.uses_tls and isinstance(error, ConnectionResetError):
        return "it closed the connection where TLS begins; a port without TLS needs another kafka.security_protocol"
    if kafka.security_protocol == "SSL" and isinstance(error, KafkaConnectionError):
        return "it closed the connection; a broker that asks for a certificate needs kafka.cert_file"
    if not kafka.uses_tls:
        said = "it closed the connection" if isinstance(error, KafkaConnectionError) else f"no answer ({error!r})"
        return f"{said}; a port with TLS or a login needs kafka.security_protocol"
    return f"{type(error).__name__}: {error}"
