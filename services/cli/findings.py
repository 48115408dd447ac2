"""How a check's findings are shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from services.cli.terminal import console

if TYPE_CHECKING:
    from services.core.check import Finding


def show_findings(findings: Iterable[Finding]) -> bool:
    """Say each finding in words, and what to do about it; whether all is well."""
    good = True
    for one in findings:
        console.print(f"{'[green]ok[/]' if one.ok else '[red]no[/]'}  {one.step:16}", end="")
        console.print(one.found, markup=False)
        if one.remedy:
            console.print(f"    -> {one.remedy}", markup=False, style="bold")
        good = good and one.ok
    return good
