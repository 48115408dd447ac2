"""Everything about mail, on corpora with known answers; what is absent is skipped and named. `--quick` judges only."""

from __future__ import annotations

import random
import sys

from tests.benchmarks import mail_answers, mail_hostile, mail_judging, mail_reading
from tests.benchmarks.measured import Measured
from tests.benchmarks.recall_support import Options, run

CORPORA = ("real-mail", "bounces", "reply-trimmer", "talon", "mime", "threading", "sender-auth")


def benchmark(options: Options) -> list[Measured]:
    """The benchmark as it is run from the command line."""
    for name in CORPORA:
        if not (options.data / name).exists():
            print(f"skipped: {name} is not in {options.data}", file=sys.stderr)
    lines = mail_judging.measure(options.data)
    if options.quick:
        return lines
    seed = random.SystemRandom().randrange(1_000_000)
    print(f"answers x attributions are drawn with --seed {seed} of tests.benchmarks.mail_answers", file=sys.stderr)
    return [*lines, *mail_reading.measure(options.data), *mail_answers.measure(seed=seed), *mail_hostile.measure()]


if __name__ == "__main__":
    sys.exit(run("mail", benchmark))
