"""The embedded stack: it starts, it survives what may befall it, and it leaves nothing behind."""

from __future__ import annotations

import json
import mailbox
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from email.message import EmailMessage
from pathlib import Path

import aiosmtplib
import psutil
import psycopg
import pytest
import redis
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from redis.backoff import NoBackoff
from redis.retry import Retry

from deploy.local import EmbeddedStack, Endpoints, HomeInUse, PartFailed, running_endpoints
from deploy.local.memory import cache_mb, memory
from deploy.local.ports import free_port
from tests.support.proxy import FaultProxy
from tests.support.stack import fresh_database, temporary_home, uses_apache_kafka


@pytest.fixture
def home() -> Iterator[Path]:
    with temporary_home() as folder:
        yield folder


def run_in_process(home: Path, **environment: str) -> subprocess.Popen[str]:
    """`python -m deploy.local` on `home`, once it has said that it runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "deploy.local", "--home", str(home)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("Embedded stack"):
            return process
    raise AssertionError("it ended before it was ready")


def processes_of(home: Path) -> list[psutil.Process]:
    """All live processes that are recorded as parts of the stack, with their own children."""
    pids = [int(pid) for pid in json.loads((home / "processes.json").read_text())]
    parts = [psutil.Process(pid) for pid in pids]
    return parts + [child for part in parts for child in part.children(recursive=True)]


def eventually(condition: Callable[[], bool], seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def all_gone(processes: list[psutil.Process]) -> bool:
    return eventually(lambda: not any(is_running(process) for process in processes))


def is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def write_a_row(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept (word text)")
        connection.execute("INSERT INTO kept VALUES ('still here')")


def read_the_row(url: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT word FROM kept").fetchone()
    assert row is not None
    return str(row[0])


async def create_topic(kafka: str, topic: str) -> int:
    """Make a topic of 12 partitions; how many the broker says that it has."""
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(topic, num_partitions=12, replication_factor=1)])
        described = await admin.describe_topics([topic])
    finally:
        await admin.close()
    return len(described[0]["partitions"])


def test_pgvector_works(stack: Endpoints) -> None:
    """The extension can be made in an empty database, and orders by distance through an HNSW index."""
    with fresh_database(stack.database) as empty, psycopg.connect(empty) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("CREATE TABLE item (id int, place vector(3))")
        connection.execute("INSERT INTO item SELECT i, ARRAY[i, 0, 1]::vector FROM generate_series(1, 200) i")
        connection.execute("CREATE INDEX ON item USING hnsw (place vector_l2_ops)")
        nearest = connection.execute("SELECT id FROM item ORDER BY place <-> '[42.2, 0, 1]' LIMIT 2").fetchall()
    assert nearest == [(42,), (43,)]


def test_databases_of_two_tests_are_apart(stack: Endpoints) -> None:
    """A fresh database is empty, knows nothing of another one, and is gone afterwards, open connections or not."""
    with fresh_database(stack.database) as first, fresh_database(stack.database) as second:
        write_a_row(first)
        with pytest.raises(psycopg.errors.UndefinedTable):
            read_the_row(second)
        left_open = psycopg.connect(first)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(first)
    left_open.close()


def test_stores_ask_for_a_password(stack: Endpoints) -> None:
    """Another user of the machine cannot open Postgres or Valkey without the password of the folder."""
    _, port = stack.ports()["database"]
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://postgres@127.0.0.1:{port}/postgres")
    with pytest.raises(redis.AuthenticationError):
        redis.Redis(port=stack.ports()["redis"][1], retry=Retry(NoBackoff(), 0)).ping()
    assert redis.from_url(stack.redis).ping()


async def test_produced_messages_are_consumed_in_order(stack: Endpoints, topic_prefix: str) -> None:
    """A topic of 12 partitions can be made, and a consumer group reads each partition in the order of production."""
    topic = f"{topic_prefix}orders"
    assert await create_topic(stack.kafka, topic) == 12
    async with AIOKafkaProducer(bootstrap_servers=stack.kafka, acks=-1) as producer:
        for number in range(60):
            await producer.send_and_wait(topic, str(number).encode(), key=str(number % 7).encode())
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=stack.kafka,
        group_id=f"{topic_prefix}group",
        auto_offset_reset="earliest",
        session_timeout_ms=6000,
        heartbeat_interval_ms=600,
    )
    async with consumer:
        messages = [await consumer.getone() for _ in range(60)]
    for key in range(7):
        assert [int(m.value) for m in messages if m.key == str(key).encode()] == list(range(key, 60, 7))


async def test_sink_keeps_message_and_envelope(stack: Endpoints) -> None:
    """An accepted mail lies in the Maildir, its bytes untouched below the envelope that it was sent with."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "agent@shop.example", "ann@example.org", "Grüße"
    message["Message-ID"] = f"<sink-{os.getpid()}@shop.example>"
    message.set_content("Your order is on its way.\n\n.. a line that begins with dots\n")
    recipients = ["ann@example.org", "hidden@example.org"]
    await aiosmtplib.send(
        message, sender="bounces+1@shop.example", recipients=recipients, hostname=stack.smtp_host, port=stack.smtp_port
    )
    kept = next(m for m in mailbox.Maildir(stack.outbox) if m["Message-ID"] == message["Message-ID"])
    assert kept["X-Envelope-From"] == "<bounces+1@shop.example>"
    assert kept.get_all("X-Envelope-To") == ["<ann@example.org>", "<hidden@example.org>"]
    body = kept.get_payload(decode=True)
    assert isinstance(body, bytes)
    assert body.replace(b"\r\n", b"\n") == message.get_payload(decode=True)


def test_data_outlives_a_clean_stop(home: Path) -> None:
    """What Postgres and the outbox hold is there at the next start, on the same ports."""
    with EmbeddedStack(home) as first:
        write_a_row(first.database)
        (first.outbox / "new" / "a-message").write_text("Subject: kept\n\n")
    assert running_endpoints(home) is None
    with EmbeddedStack(home) as second:
        assert second == first
        assert running_endpoints(home) == second
        assert read_the_row(second.database) == "still here"
        assert [m["Subject"] for m in mailbox.Maildir(second.outbox)] == ["kept"]


def test_a_killed_part_comes_back(home: Path) -> None:
    """After kill -9 of one part the stack counts as not running; `restart` brings it back where it was. Each in turn."""
    stack = EmbeddedStack(home)
    with stack as endpoints:
        write_a_row(endpoints.database)
        for part in ("kafka", "database", "redis", "smtp"):
            before = stack.pids()
            os.kill(before[part], signal.SIGKILL)
            assert eventually(lambda: running_endpoints(home) is None), part
            stack.restart(part)
            assert running_endpoints(home) == endpoints
            after = stack.pids()
            assert {name for name in after if after[name] != before[name]} == {part}
            assert read_the_row(endpoints.database) == "still here"


def test_a_second_start_on_the_same_folder_is_refused(home: Path) -> None:
    """The refusal names the process that runs the stack, and leaves that one alone."""
    with EmbeddedStack(home) as endpoints:
        with pytest.raises(HomeInUse, match=rf"process {os.getpid()}\b.*stop it"):
            EmbeddedStack(home).start()
        assert running_endpoints(home) == endpoints


def test_kill_9_of_the_parent_ends_its_children(home: Path) -> None:
    """No part outlives its stack's process, and Postgres recovers what was committed."""
    process = run_in_process(home)
    endpoints = running_endpoints(home)
    assert endpoints is not None
    write_a_row(endpoints.database)
    children = processes_of(home)
    assert len(children) >= 8
    process.kill()
    process.wait()
    assert all_gone(children)
    with EmbeddedStack(home) as again:
        assert read_the_row(again.database) == "still here"


def test_kill_9_of_everything_loses_no_commit(home: Path) -> None:
    """When parent and parts die at the same instant, Postgres recovers at the next start."""
    process = run_in_process(home)
    endpoints = running_endpoints(home)
    assert endpoints is not None
    children = processes_of(home)
    write_a_row(endpoints.database)
    for victim in [psutil.Process(process.pid), *children]:
        with suppress(psutil.NoSuchProcess):
            victim.kill()
    process.wait()
    with EmbeddedStack(home) as again:
        assert read_the_row(again.database) == "still here"


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_nothing_behind(home: Path, signum: signal.Signals) -> None:
    """SIGINT and SIGTERM end all processes, with success, and Postgres shuts down cleanly."""
    process = run_in_process(home)
    children = processes_of(home)
    process.send_signal(signum)
    assert process.wait(120) == 0
    assert all_gone(children)
    assert not (home / "processes.json").exists()
    assert not (home / "postgres" / "data" / "postmaster.pid").exists()


def test_orphans_of_an_earlier_run_are_ended(home: Path) -> None:
    """A part that an earlier run left running is known by pid and command line; a stranger with its pid is spared."""
    orphan_argv = [sys.executable, "-c", "import time; time.sleep(300)"]
    orphan, stranger = subprocess.Popen(orphan_argv), subprocess.Popen(["sleep", "300"])
    try:
        (home / "processes.json").write_text(json.dumps({orphan.pid: orphan_argv, stranger.pid: ["tansu", "broker"]}))
        with EmbeddedStack(home):
            assert orphan.poll() is not None
            assert stranger.poll() is None
    finally:
        for process in (orphan, stranger):
            process.kill()
            process.wait()


WITHOUT_LEASH = """
import os, pathlib, sys
import deploy.local.processes, deploy.local.stack

def free(argv, account, death_signal):
    who = [f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups"] if account else []
    return ["setpriv", *who, *argv]

deploy.local.processes.supervised = free
deploy.local.stack.EmbeddedStack(pathlib.Path(sys.argv[1])).start()
os.kill(os.getpid(), 9)
"""


def test_an_orphaned_postgres_is_ended(home: Path) -> None:
    """A Postgres that still works in the data folder does not keep the next start out, nor does its stale pid file."""
    with EmbeddedStack(home) as endpoints:
        write_a_row(endpoints.database)
    subprocess.run([sys.executable, "-c", WITHOUT_LEASH, str(home)], check=False)
    orphans = processes_of(home)
    assert len(orphans) >= 8
    with EmbeddedStack(home) as again:
        assert all_gone(orphans)
        assert read_the_row(again.database) == "still here"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's Postgres runs as another user")
def test_root_may_keep_the_stack_where_only_root_can_go(home: Path) -> None:
    """Postgres works in a folder closed to its user, below /root for one, and still dies with the stack's process."""
    home.chmod(0o700)
    process = run_in_process(home)
    endpoints = running_endpoints(home)
    assert endpoints is not None
    write_a_row(endpoints.database)
    children = processes_of(home)
    process.kill()
    process.wait()
    assert all_gone(children)


async def test_a_client_of_kafka_can_be_sent_through_a_proxy(home: Path, topic_prefix: str) -> None:
    """With an advertised address clients stay behind the fault proxy, and a cut delays a message but loses none."""
    listen = free_port()
    with EmbeddedStack(home, kafka_advertised=f"127.0.0.1:{listen}") as endpoints:
        kafka = endpoints.ports()["kafka"]
        async with (
            FaultProxy(*kafka, listen=listen) as proxy,
            AIOKafkaProducer(bootstrap_servers=proxy.address, acks=-1) as producer,
        ):
            await create_topic(proxy.address, f"{topic_prefix}cut")
            await producer.send_and_wait(f"{topic_prefix}cut", b"before")
            assert proxy.connections >= 1
            proxy.cut()
            after = await producer.send_and_wait(f"{topic_prefix}cut", b"after", partition=0)
            assert after.offset >= 0
            assert proxy.connections >= 1


@pytest.mark.kafka
@pytest.mark.skipif(not uses_apache_kafka(), reason="runs on Apache Kafka only (make test-kafka)")
async def test_apache_kafka_keeps_its_log_over_a_crash(home: Path, topic_prefix: str) -> None:
    """As a part of the stack it is killed and comes back with what was acknowledged."""
    stack = EmbeddedStack(home, kafka="apache")
    with stack as endpoints:
        topic = f"{topic_prefix}kept"
        await create_topic(endpoints.kafka, topic)
        async with AIOKafkaProducer(bootstrap_servers=endpoints.kafka, acks=-1) as producer:
            sent = await producer.send_and_wait(topic, b"still here", partition=3)
        children = processes_of(home)
        stack.kill("kafka")
        stack.restart("kafka")
        consumer = AIOKafkaConsumer(topic, bootstrap_servers=endpoints.kafka, auto_offset_reset="earliest")
        async with consumer:
            message = await consumer.getone()
        assert (message.partition, message.offset, message.value) == (3, sent.offset, b"still here")
    assert all_gone(children)


def test_an_interrupted_first_start_is_made_good(home: Path) -> None:
    """A data folder that initdb did not finish is thrown away and made anew."""
    unfinished = home / "postgres" / "data.unfinished"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    with EmbeddedStack(home) as endpoints:
        write_a_row(endpoints.database)
    assert not unfinished.exists()


def test_a_part_that_cannot_start_shows_its_log(home: Path) -> None:
    """The error ends with what the part itself said, and nothing is left running."""
    with EmbeddedStack(home):
        pass
    (home / "postgres" / "data" / "postgresql.conf").write_text("no_such_setting = 1\n")
    with pytest.raises(PartFailed, match="no_such_setting"):
        EmbeddedStack(home).start()
    assert not (home / "processes.json").exists()
    assert running_endpoints(home) is None


@pytest.mark.parametrize(
    ("limit", "mb"), [("536870912\n", 64), ("2147483648\n", 256), (str(2**60), None), ("max\n", None), (None, None)]
)
def test_the_databases_cache_is_an_eighth_of_the_memory_that_we_may_use(
    tmp_path: Path, limit: str | None, mb: int | None
) -> None:
    """A container's limit counts where it is below the machine's memory; never less than 64 MB or more than 4 GB."""
    said = tmp_path / "memory.max"
    if limit is not None:
        said.write_text(limit)
    ours = memory(said)
    assert cache_mb(ours) == (mb or cache_mb(memory(tmp_path / "none")))
    assert [cache_mb(of) for of in (1, 2**33, 2**40)] == [64, 1024, 4096]
