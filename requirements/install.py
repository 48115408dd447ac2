"""Install hash-pinned requirements and this project, and say how far it is: `python requirements/install.py FILE`.

pip's own output is either silence for minutes or six hundred lines; this shows one line that counts, or some lines
where nobody watches. What pip said is shown in full when it fails. Standard library only: nothing else is there yet.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PIP = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off")
PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[^]]*\])?==", re.M)
EVERY = 20  # packages between two lines where no terminal shows one that is written over


class Progress:
    """One line, written over on a terminal; elsewhere a new line now and then."""

    def __init__(self) -> None:
        self._terminal = sys.stdout.isatty()

    def count(self, text: str, done: int, total: int) -> None:
        """`done` of `total` things."""
        if total > 1 and (self._terminal or done % EVERY == 0 or done == total):
            self.say(f"{text} {done} of {total} packages", end="" if self._terminal else "\n")

    def say(self, text: str, end: str = "\n") -> None:
        """A line in place of the last one that counted."""
        sys.stdout.write(f"\r\x1b[K  {text}{end}" if self._terminal else f"  {text}{end}")
        sys.stdout.flush()


def main(requirements: Path) -> int:
    """Install; the exit code is that of pip."""
    began = time.monotonic()
    total = len(PINNED.findall(requirements.read_text()))
    progress = Progress()
    for arguments, packages in (
        (("--require-hashes", "-r", str(requirements)), total),
        (("--no-deps", "--no-build-isolation", "-e", "."), 1),
    ):
        code, said = _run(arguments, progress, packages)
        if code:
            progress.say(f"pip failed; this is what it said:\n{said}")
            return code
    progress.say(f"installed in {time.monotonic() - began:.0f} s")
    return 0


def _run(arguments: tuple[str, ...], progress: Progress, total: int) -> tuple[int, str]:
    """The exit code of pip with these arguments, and all that it wrote."""
    said = []
    with subprocess.Popen(
        [*PIP, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        for line in _shown(pip.stdout or (), progress, total):
            said.append(line)
    return pip.returncode, "".join(said)


def _shown(lines: Iterator[str] | tuple[str, ...], progress: Progress, total: int) -> Iterator[str]:
    """The lines as they come, counted on the way."""
    found = fetched = 0
    for line in lines:
        word = line.strip()
        if word.startswith(("Collecting ", "Requirement already satisfied: ")):
            found += 1
            progress.count("looked up", min(found, total), total)
        elif word.startswith(("Downloading ", "Using cached ")) and ".metadata" not in word:
            fetched += 1
            progress.count("downloaded", min(fetched, total), total)
        elif word.startswith("Installing collected packages"):
            progress.say(f"unpacking {total} packages ..." if total > 1 else "unpacking this project ...")
        yield line


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
