"""Everything about mail, on corpora with known answers; what is absent is skipped and named. `--quick` judges only."""

from __future__ import annotations

import sys

from tests.benchmarks import mail_judging, mail_reading
from tests.benchmarks.measured import Measured
from tests.benchmarks.recall_support import Options, run

CORPORA = ("real-mail", "bounces", "reply-trimmer", "talon", "mime", "threading", "sender-auth")


def benchmark(options: Options) -> list[Measured]:
    """The benchmark as it is run from the command line."""
    for name in CORPORA:
        if not (options.data / name).exists():
            print(f"skipped: {name} is not in {options.data}", file=sys.stderr)
    lines = mail_judging.measure(options.data)
    return lines if options.quick else lines + mail_reading.measure(options.data)


if __name__ == "__main__":
    sys.exit(run("mail", benchmark))
