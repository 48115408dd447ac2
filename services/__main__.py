"""`python -m services NAME [NAME ...]` runs processors in this process; `all` runs every one."""

from __future__ import annotations

import asyncio
import sys

from services.core.app import open_app
from services.core.errors import CorrespondentError
from services.core.logging import configure
from services.core.settings import Settings, read_settings
from services.operations.preparation import prepare
from services.pipeline import EDGES, PROCESSORS
from services.process import check_names, until_signal, working


def main(arguments: list[str]) -> int:
    """Run until told to stop; the exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(usage())
        return 0 if arguments else 2
    try:
        names = check_names(arguments)
        settings = read_settings()
        configure(level=settings.log_level)
        asyncio.run(_run(settings, names))
    except CorrespondentError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def usage() -> str:
    """What can be run."""
    lines = ["usage: python -m services NAME [NAME ...]", "", "  all              everything below, in one process"]
    lines += [f"  {one:16} edge" for one in EDGES]
    lines += [f"  {one.name:16} consumes {', '.join(one.topics)}" for one in PROCESSORS]
    return "\n".join(lines) + "\n"


async def _run(settings: Settings, names: frozenset[str]) -> None:
    await prepare(settings)
    async with open_app(settings) as app, working(app, names):
        await until_signal()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
