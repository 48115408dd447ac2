"""TLS and logins of Kafka, Postgres and Redis: the whole flow through them, and what a wrong setting is told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from aiokafka.errors import KafkaError

from deploy.local import Endpoints
from deploy.local.ports import HOST
from services.core.bus.delivery import Record
from services.core.bus.faust_source import FaustSource, SourceSettings
from services.core.bus.group_members import group_members
from services.core.bus.lanes import LaneLimits, Lanes
from services.core.bus.publisher import LogUnavailable, Publisher
from services.core.bus.topics_admin import TopicSpec, committed, ends, ensure_topics
from services.core.cache import Cache
from services.core.settings import KafkaSettings
from services.operations.idle import until_idle
from services.operations.log import heads
from services.receive_email.accept import accept
from tests.flow.scenario import replies_to
from tests.support.app import INBOX, running_app, settings_for
from tests.support.bus import until
from tests.support.certificates import authority
from tests.support.letters import letter
from tests.support.secure_kafka import MECHANISMS, SecureKafka, secure_kafka
from tests.support.stack import uses_apache_kafka
from tests.support.tls_front import tls_front

apache = pytest.mark.skipif(not uses_apache_kafka(), reason="the embedded broker has no TLS and no login")


@pytest.fixture(scope="module")
def kafka() -> Iterator[SecureKafka]:
    """An Apache Kafka with TLS and logins, for this module."""
    with secure_kafka() as broker:
        yield broker


@asynccontextmanager
async def secure_stores(stack: Endpoints, database: str, folder: Path) -> AsyncIterator[dict[str, Any]]:
    """Settings that reach Postgres and Valkey through TLS, each with its certificate verified."""
    ca = authority(folder)
    async with AsyncExitStack() as fronts:
        ports = stack.ports()
        front = tls_front(ports["database"], ca.sign("postgres"), postgres=True)
        postgres = await fronts.enter_async_context(front)
        valkey = await fronts.enter_async_context(tls_front(ports["redis"], ca.sign("valkey")))
        yield {
            "database_url": f"{_at(database, postgres)}?sslmode=verify-full&sslrootcert={quote(str(ca.ca))}",
            "redis_url": f"{_at(stack.redis, valkey).replace('redis://', 'rediss://')}?ssl_ca_certs={quote(str(ca.ca))}",
        }


def _at(url: str, port: int) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{parts.netloc.rpartition('@')[0]}@{HOST}:{port}").geturl()


@apache
@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512", "OAUTHBEARER"])
async def test_a_mail_is_answered_through_tls_and_logins_alone(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, kafka: SecureKafka, mechanism: str
) -> None:
    """Every processor works through SASL_SSL, `sslmode=verify-full` and `rediss://`: a mail in, a reply out."""
    domain = f"{topic_prefix.strip('.')}.example"
    async with secure_stores(stack, database, tmp_path) as stores:
        settings = settings_for(
            stack,
            stores["database_url"],
            topic_prefix,
            tmp_path,
            redis_url=stores["redis_url"],
            kafka=kafka.settings(mechanism),
            inboxes=[{**INBOX, "address": f"support@{domain}", "vouched_by": "the test"}],
        )
        async with running_app(settings) as app:
            raw = letter("Where is my parcel?", sender=f"ann@{domain}", to=f"support@{domain}")
            await accept(app, app.settings.inboxes[0], raw, source="file", source_key="1")
            await until_idle(app, timeout_s=120)
            async with app.database.reading() as conn:
                assert conn.pgconn.ssl_in_use
            assert await _keeps(app.cache)
    assert len(replies_to(stack.outbox, f"ann@{domain}", domain)) == 1


@apache
@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_every_client_logs_in(kafka: SecureKafka, topic_prefix: str, mechanism: str) -> None:
    """Admin, producer, Faust, reader, offsets and members: each through the same settings."""
    given, topic, group = KafkaSettings(**kafka.settings(mechanism)), topic_prefix + "turns", topic_prefix + "group"
    handled: list[bytes | None] = []

    async def handle(delivery: Any) -> None:
        handled.append(delivery.value)

    async def give_up(*_: Any) -> None:
        raise AssertionError

    await ensure_topics(given, [TopicSpec(topic, 1)])
    publisher = Publisher(given)
    await publisher.start()
    lanes = Lanes(handle, lane_of=lambda d: d.key, give_up=give_up, limits=LaneLimits(8, 32, 30))
    source = FaustSource(SourceSettings(given, group, (topic,), session_timeout_s=10), lanes)
    await source.start()
    try:
        await publisher.publish([Record(topic, b"k", b"one")])
        await until(lambda: handled == [b"one"])
        await publisher.renew()
        await publisher.publish([Record(topic, b"k", b"two")])
        await until(lambda: handled == [b"one", b"two"])
        assert await ends(given, [topic]) == {(topic, 0): 2}
        assert (await heads(given, {(topic, 0): 1}))[topic, 0].value == b"two"
        assert [one.group for one in await group_members(given, [group]) or ()] == [group]
        assert await committed(given, group, [(topic, 0)]) is not None
    finally:
        await source.stop()
        await publisher.stop()


@apache
async def test_a_certificate_of_our_own_opens_a_listener_that_asks_for_one(
    kafka: SecureKafka, topic_prefix: str
) -> None:
    """Mutual TLS: with `cert_file` and `key_file` the broker lets us in, without them it says nothing, and we do."""
    cert_file, key_file = kafka.authority.sign("client")
    given = {"brokers": kafka.tls, "security_protocol": "SSL", "ca_file": kafka.authority.ca}
    await ensure_topics(KafkaSettings(**given, cert_file=cert_file, key_file=key_file), [TopicSpec(topic_prefix, 1)])
    with pytest.raises(KafkaError, match="cert_file"):
        await ensure_topics(KafkaSettings(**given), [TopicSpec(topic_prefix, 1)])


@apache
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"password": "a wrong one"}, r"refuses the login of mailer with SCRAM-SHA-512; .*kafka\.password"),
        ({"ca_file": None}, r"certificate is not believed .*kafka\.ca_file"),
        (
            {"security_protocol": "SASL_PLAINTEXT", "ca_file": None},
            r"closed the connection; .* needs kafka\.security_protocol",
        ),
    ],
    ids=["wrong password", "unknown authority", "no TLS"],
)
async def test_a_wrong_setting_is_said_by_its_name_and_not_with_its_secret(
    kafka: SecureKafka, caplog: pytest.LogCaptureFixture, wrong: dict[str, Any], said: str
) -> None:
    """A login or a certificate that is refused is told apart from a broker that is away; no secret is in any word."""
    given = KafkaSettings(**kafka.settings("SCRAM-SHA-512", **wrong))
    with pytest.raises(KafkaError, match=said) as admin:
        await ensure_topics(given, [TopicSpec("turns", 1)])
    with pytest.raises(LogUnavailable, match=said) as publisher:
        await Publisher(given, timeout_s=10).start()
    for secret in (kafka.password, "a wrong one"):
        assert secret not in caplog.text + str(admin.value) + str(publisher.value) + repr(given)


@apache
async def test_tls_on_a_port_without_it_is_said(kafka: SecureKafka) -> None:
    """The other way round, too: the setting is named."""
    given = KafkaSettings(brokers=kafka.plain, security_protocol="SSL", ca_file=kafka.authority.ca)
    with pytest.raises(KafkaError, match=r"without TLS needs another kafka\.security_protocol"):
        await ensure_topics(given, [TopicSpec("turns", 1)])


async def test_postgres_and_redis_with_another_authority_are_refused(
    stack: Endpoints, database: str, tmp_path: Path
) -> None:
    """`verify-full` and `rediss://` let us in with the authority that signed, and with no other."""
    (tmp_path / "other").mkdir()
    other = authority(tmp_path / "other", "other").ca
    async with secure_stores(stack, database, tmp_path) as stores:
        good, right = stores["database_url"], quote(str(tmp_path / "ca.pem"))
        async with await psycopg.AsyncConnection.connect(good) as conn:
            assert conn.pgconn.ssl_in_use
        with pytest.raises(psycopg.OperationalError, match="certificate verify failed"):
            await psycopg.AsyncConnection.connect(good.replace(right, quote(str(other))))
        with pytest.raises(psycopg.OperationalError):
            await psycopg.AsyncConnection.connect(_without_tls(good))
        for url, works in ((stores["redis_url"], True), (stores["redis_url"].replace(right, quote(str(other))), False)):
            cache = Cache(url)
            assert await _keeps(cache) is works
            await cache.close()


def _without_tls(url: str) -> str:
    return url.partition("?")[0] + "?sslmode=disable&connect_timeout=3"


async def _keeps(cache: Cache) -> bool:
    """Whether the cache keeps a value; one that cannot be reached keeps none, and raises nothing."""
    await cache.put("tls", "kept", seconds=60)
    return await cache.get("tls") == "kept"
