"""Which tests run on Apache Kafka too (`make test-kafka`): those with the broker as their subject, or on their path.

They get the mark `broker`. What reads mail, answers HTTP, prints or folds tables does the same on any broker, and runs
once, on the embedded stack. `tests/contract/test_on_apache.py` holds that no file which speaks to a broker is missing.
"""

from __future__ import annotations

from pathlib import Path

FOLDERS = ("tests/chaos",)
FILES = {
    "tests/flow/test_main_job.py": "one whole flow",
    "tests/flow/test_turns.py": "turns, and dead letters on their topic",
    "tests/integration/test_backup.py": "a restore onto a log that remembers the former deployment",
    "tests/integration/test_broker_restart.py": "the broker ends and starts",
    "tests/integration/test_dead_letter_places.py": "where dead letters lie on their topics",
    "tests/integration/test_faust_source.py": "consumer groups",
    "tests/integration/test_faust_takeover.py": "a rebalance",
    "tests/integration/test_faust_uncommitted.py": "offsets",
    "tests/integration/test_health.py": "offsets that passed what is undone",
    "tests/integration/test_lost_log.py": "the broker loses its log",
    "tests/integration/test_missed_events.py": "offsets that passed what is undone",
    "tests/integration/test_nothing_held_back.py": "a record that the broker refuses",
    "tests/integration/test_operator_tools.py": "what an operator types about topics",
    "tests/integration/test_outbox.py": "what the broker refuses",
    "tests/integration/test_probes.py": "the broker as a probe sees it",
    "tests/integration/test_publisher.py": "the producer",
    "tests/integration/test_secure_connections.py": "TLS and logins of the broker",
    "tests/integration/test_topics_admin.py": "topics",
    "tests/integration/test_upgrade.py": "two releases on one log",
}
TESTS = {
    "tests/integration/test_erase.py": ("test_a_word_that_is_left_in_any_store_is_found",),
}
# They speak to a broker, and run on the embedded one alone.
EMBEDDED_ALONE = {
    "tests/integration/test_console_pipeline.py": "what a page shows of dead letters",
    "tests/integration/test_console_tasks.py": "what a page shows of a dead letter",
    "tests/integration/test_demo_seeds.py": "the demo, which has an embedded stack of its own",
    "tests/integration/test_derived_memory.py": "an erase of what is made of many mails; its topics are read as those of test_erase.py are",
    "tests/integration/test_documented_commands.py": "the demo, which has an embedded stack of its own",
    "tests/integration/test_embedded_stack.py": "the embedded stack itself; its one test of Apache's has the mark `kafka`",
    "tests/integration/test_embedded_stack_places.py": "the embedded stack itself",
    "tests/integration/test_erase.py": "a person in every store; the one test that looks at the log is in TESTS",
    "tests/integration/test_erase_elsewhere.py": "a person in other stores than the log",
    "tests/integration/test_erase_command.py": "a command and its words",
    "tests/integration/test_memory_cli.py": "commands and their words",
    "tests/integration/test_rebuild.py": "tables folded from events",
    "tests/integration/test_retention.py": "what is kept for a time, by the tables",
}
# How a test speaks to a broker; a log in memory (tests/support/brokerless.py) is none.
SIGNS = (
    r"(?<!\w)(running_app|working|Workers|FaustSource|Publisher|EmbeddedStack|make_source|prepare)\(",
    r"aiokafka|topics_admin|uses_apache_kafka|OVER_A_BROKER = True|tests\.support\.bus import .*(fill|Desk|at_work|source_settings|publishing|total_lag)|remembered\(",
)


def runs_on_apache(path: Path, test: str = "") -> bool:
    """Whether this file's tests, or the named one, run on Apache Kafka too; `path` from the project's folder on."""
    if test in TESTS.get(path.as_posix(), ()):
        return True
    return path.as_posix() in FILES or path.as_posix().startswith(FOLDERS)
