"""Does this broker carry Faust? `python -m deploy.local.faust_probe HOST:PORT` runs the four things that must hold.

One worker reads 100 messages and commits; started again it resumes behind them; a second worker joins and both share
what comes; the first is killed and the second goes on. Settings are those of the product's consumers (ARCHITECTURE.md).
Each step prints its figures; the exit code is 0 only if every message of every step was seen.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import faust
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

PARTITIONS = 12
PATIENCE = 120.0  # seconds for one step


async def consume(kafka: str, topic: str, session_timeout: float, data: Path) -> None:
    """Be a Faust worker: print `partition offset value` of each message, then ack it."""
    app = faust.App(
        f"{topic}-group",
        broker=f"kafka://{kafka}",
        datadir=data,
        autodiscover=False,
        broker_commit_interval=1.0,
        broker_max_poll_interval=1e8,
        broker_max_poll_records=100,
        broker_rebalance_timeout=90.0,
        broker_session_timeout=session_timeout,
        broker_heartbeat_interval=session_timeout / 10,
        consumer_auto_offset_reset="earliest",
        producer_acks=-1,
        stream_buffer_maxsize=500,
        stream_wait_empty=True,
        table_standby_replicas=0,
        topic_allow_declare=False,
        topic_disable_leader=True,
        web_enabled=False,
        worker_redirect_stdouts=False,
    )
    source = app.topic(topic, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")

    @app.agent(source, concurrency=1)
    async def print_each(stream: Any) -> None:
        async for event in stream.noack().events():
            message = event.message
            print(message.partition, message.offset, event.value.decode(), flush=True)
            event.ack()

    app.finalize()
    app.in_worker = True
    told_to_stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told_to_stop.set)
    await app.start()
    await told_to_stop.wait()
    await app.stop()


class Worker:
    """A consumer in a process of its own, and what it has read."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.read: list[tuple[int, int, str]] = []
        self._reader = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            partition, offset, value = line.decode().split()
            self.read.append((int(partition), int(offset), value))

    async def end(self, *, at_once: bool = False) -> None:
        """Stop it; `at_once` as a crash would."""
        if self.process.returncode is None:
            self.process.kill() if at_once else self.process.terminate()
        await self.process.wait()
        await self._reader


class Probe:
    """The steps, against one broker and one new topic."""

    def __init__(self, kafka: str, session_timeout: float) -> None:
        self.kafka = kafka
        self.topic = f"probe-{os.getpid()}-{int(time.time())}"
        self._session_timeout = session_timeout
        self._produced = 0

    async def run(self) -> None:
        """All steps in order. Raises TimeoutError when messages stay away."""
        await self._make_topic()
        await self._first_worker()
        await self._resume()
        await self._join_and_crash()

    async def _first_worker(self) -> None:
        await self._produce(100)
        async with self._worker() as worker:
            seconds = await self._until_read([worker], 0, 100)
            await asyncio.sleep(2.5)
        committed = await self._committed()
        print(f"first worker: 100 of 100 read {seconds:.1f} s after its start, {committed} committed")

    async def _resume(self) -> None:
        await self._produce(20)
        async with self._worker() as worker:
            seconds = await self._until_read([worker], 100, 120)
            again = len(worker.read) - 20
        print(f"resume: 20 of 20 read {seconds:.1f} s after its start, {again} read again")

    async def _join_and_crash(self) -> None:
        async with self._worker() as first:
            await self._produce(1)
            await self._until_read([first], 120, 121)
            async with self._worker() as second:
                joined = await self._feed_until(second)
                shares = len({p for p, _, _ in first.read}), len({p for p, _, _ in second.read})
                print(f"join: second worker reads after {joined:.1f} s; partitions seen (first, second): {shares}")
                await first.end(at_once=True)
                begin = self._produced
                await self._produce(60)
                seconds = await self._until_read([second], begin, self._produced)
                await self._until_read([first, second], 120, self._produced)
                repeated = len(first.read) + len(second.read) - (self._produced - 120)
                print(f"crash of the first: second reads all after {seconds:.1f} s, {repeated} read twice, none lost")

    async def _feed_until(self, worker: Worker) -> float:
        """Produce a little at a time until `worker` has read something; seconds that took."""
        began = time.monotonic()
        while not worker.read:
            await self._produce(12)
            await asyncio.sleep(0.25)
            if time.monotonic() - began > PATIENCE:
                raise TimeoutError("the second worker was given nothing")
        return time.monotonic() - began

    async def _until_read(self, workers: list[Worker], first: int, end: int) -> float:
        """Wait until the messages numbered `first` to `end - 1` have been read; seconds that took."""
        began = time.monotonic()
        wanted = {str(number) for number in range(first, end)}
        while missing := wanted - {value for worker in workers for _, _, value in worker.read}:
            await asyncio.sleep(0.05)
            if time.monotonic() - began > PATIENCE:
                raise TimeoutError(f"{len(missing)} of {len(wanted)} messages were not read")
        return time.monotonic() - began

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[Worker]:
        argv = ["-m", "deploy.local.faust_probe", self.kafka, "--worker", self.topic]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *argv,
            f"--session-timeout={self._session_timeout}",
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        worker = Worker(process)
        try:
            yield worker
        finally:
            await worker.end()

    async def _make_topic(self) -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=self.kafka)
        await admin.start()
        await admin.create_topics([NewTopic(self.topic, num_partitions=PARTITIONS, replication_factor=1)])
        await admin.close()

    async def _committed(self) -> int:
        """How many messages the group's committed offsets cover."""
        consumer = AIOKafkaConsumer(bootstrap_servers=self.kafka, group_id=f"{self.topic}-group")
        async with consumer:
            partitions = [TopicPartition(self.topic, number) for number in range(PARTITIONS)]
            consumer.assign(partitions)
            offsets = [await consumer.committed(partition) for partition in partitions]
        return sum(offset or 0 for offset in offsets)

    async def _produce(self, count: int) -> None:
        async with AIOKafkaProducer(bootstrap_servers=self.kafka, acks=-1) as producer:
            for number in range(self._produced, self._produced + count):
                await producer.send_and_wait(self.topic, str(number).encode(), key=str(number % 40).encode())
        self._produced += count


def main() -> None:
    """Probe a broker, or be one of the probe's workers."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m deploy.local.faust_probe")
    parser.add_argument("kafka", metavar="HOST:PORT")
    parser.add_argument("--session-timeout", type=float, default=30.0)
    parser.add_argument("--worker", metavar="TOPIC", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        asyncio.run(consume(arguments.kafka, arguments.worker, arguments.session_timeout, Path(tempfile.gettempdir())))
    else:
        asyncio.run(Probe(arguments.kafka, arguments.session_timeout).run())


if __name__ == "__main__":
    main()
