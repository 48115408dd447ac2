"""Apache Kafka from Maven Central's jars as a part of the stack, in place of the embedded broker (`kafka.sh`).

Its data lies in the stack's folder; the jars are fetched once into `var/kafka` of the project, or `KAFKA_FOLDER`.
Needs Java 17 and Maven.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from deploy.local.broker import answers_metadata
from deploy.local.errors import PartFailed
from deploy.local.part import Part
from deploy.local.ports import HOST, free_port
from deploy.local.processes import run_supervised

SCRIPT = Path(__file__).with_name("kafka.sh")


def apache_kafka(
    data: Path, port: int, *, advertised: str | None = None, options: Mapping[str, str] = MappingProxyType({})
) -> Part:
    """Kafka on `port` with its log in `data`; `KAFKA_VERSION` chooses another version than the script's own.

    `options` are further variables of `kafka.sh`, such as KAFKA_PROPERTIES.
    """
    environment = {
        "KAFKA_PORT": str(port),
        "KAFKA_CONTROLLER_PORT": str(free_port()),
        "KAFKA_DATA": str(data),
        "KAFKA_ADVERTISED": advertised or f"{HOST}:{port}",
        **options,
    }
    return Part(
        name="kafka",
        port=port,
        argv=(str(SCRIPT), "run"),
        prepare=lambda: _fetch_jars(environment),
        answers=lambda: answers_metadata(HOST, port),
        environment=environment,
    )


def _fetch_jars(environment: Mapping[str, str]) -> None:
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None and "JAVA_HOME" not in os.environ:
            raise PartFailed(f"Apache Kafka needs `{tool}`, which is not here (Java 17 or newer, Maven 3.8 or newer).")
    code, output = run_supervised([str(SCRIPT), "jars"], environment=environment)
    if code != 0:
        raise PartFailed(f"The jars of Apache Kafka could not be fetched:\n{output[-2000:]}")
