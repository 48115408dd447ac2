"""Apache Kafka for a while: `with apache_kafka() as address`, or `python -m tests.support.kafka COMMAND ...`.

The command runs with `CORRESPONDENT_TEST_KAFKA` set to the broker's address. The port is free, the data folder
temporary, the jars are those of `deploy/local/kafka.sh`, kept in `var/kafka`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.local import EmbeddedStack
from deploy.local.apache_kafka import apache_kafka as kafka_part
from deploy.local.part import Part
from deploy.local.ports import HOST, free_port
from deploy.local.processes import Child
from tests.support.stack import KAFKA

READY_WITHIN = 60.0  # seconds


@contextmanager
def apache_kafka() -> Iterator[str]:
    """`host:port` of a fresh Kafka, gone afterwards; call it from a thread that outlives the block."""
    with tempfile.TemporaryDirectory(prefix="correspondent-kafka-") as folder:
        part = kafka_part(Path(folder) / "data", free_port())
        with running(part, Path(folder) / "kafka.log"):
            yield f"{HOST}:{part.port}"


@contextmanager
def running(part: Part, log: Path) -> Iterator[None]:
    """A part of its own, ready; gone afterwards."""
    part.prepare()
    child = Child(part, log)
    try:
        _wait_until_ready(child)
        yield
    finally:
        child.stop()


def wipe_broker(stack: EmbeddedStack) -> None:
    """Kill the stack's broker, take its data away and start it again, empty, on the same port."""
    stack.kill("kafka")
    shutil.rmtree(stack.home / "kafka", ignore_errors=True)  # the embedded broker keeps nothing there
    stack.restart("kafka")


def _wait_until_ready(child: Child) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while not child.part.answers():
        if not child.is_alive() or time.monotonic() > deadline:
            raise RuntimeError(f"Apache Kafka did not start:\n{child.log_tail(40)}")
        time.sleep(0.1)


def main() -> int:
    """Run a command beside a fresh Kafka; its exit code."""
    with apache_kafka() as address:
        return subprocess.run(sys.argv[1:], env=os.environ | {KAFKA: address}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
