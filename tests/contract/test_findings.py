"""What the test of an inbox says is in the catalogues, each text, and no text that it does not say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import services
from services.mail.check.steps import Finding
from services.web.console import findings
from services.web.console.language import speak
from services.web.console.recorded import VALUE
from tests.support.recorded_texts import form_of

ROOT = Path(services.__file__).parent
MODULES = [*(ROOT / "mail" / "check").glob("*.py"), *(ROOT / "receive_email" / "check").glob("*.py")]
NAMES = {"found", "remedy", "what", "idle", "told", "NO_IMAP", "TOO_SLOW"}  # what findings are made of
SURVEYED = "survey.py"  # says nothing itself
WORDS = re.compile(r"[a-z]{2,}")


def said() -> set[str]:
    """Texts of findings as the modules write them, with `{}` for a value."""
    return {
        one for path in MODULES if path.name != SURVEYED for one in _of(ast.parse(path.read_text(encoding="utf-8")))
    }


def _of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding":
            yield from (text for one in node.args[2:] for text in _texts(one))
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in NAMES:
            yield from _texts(node.value)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and getattr(node.returns, "id", "") == "str":
            returned = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value]
            yield from (text for one in returned for text in _texts(one))


def _texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield re.sub(r"%s", "{}", text)
        case ast.JoinedStr():
            yield form_of(node)
        case ast.IfExp(body=one, orelse=other):
            yield from (*_texts(one), *_texts(other))
        case ast.BoolOp(values=some):
            yield from (text for one in some for text in _texts(one))


def listed() -> set[str]:
    every = [one for some in findings.FOUND.values() for one in some] + list(findings.REMEDIES)
    return {VALUE.sub("{}", str.__str__(one)) for one in every}


def test_every_finding_is_in_the_catalogue_and_no_other() -> None:
    """A new step, or new words of one, are listed where the console says them in the reader's language."""
    found = {one for one in said() if WORDS.search(one.replace("{}", ""))}
    assert len(found) > 55
    assert found - listed() == set()
    assert listed() - found == set()


@pytest.mark.parametrize(
    ("finding", "found", "remedy"),
    [
        (
            Finding("imap dns", True, "imap.shop.example is 192.0.2.1, 192.0.2.2"),
            "imap.shop.example ist 192.0.2.1, 192.0.2.2",
            "",
        ),
        (
            Finding(
                "imap folder", True, "INBOX holds 3 mails; no IDLE: looked at every 30 s; the Sent folder is left alone"
            ),
            "INBOX enthält 3 Mails; kein IDLE: alle 30 s wird nachgesehen; der Ordner „Gesendet“ bleibt unberührt",
            "",
        ),
        (
            Finding(
                "smtp connection",
                False,
                "no connection to smtp.shop.example port 25: no answer in 15 s",
                "check that port 25 is right and that no firewall is in between (IMAP 993, submission 587 or 465)",
            ),
            "keine Verbindung zu smtp.shop.example Port 25: keine Antwort in 15 s",
            "prüfen Sie, dass Port 25 stimmt und keine Firewall dazwischen ist (IMAP 993, Versand 587 oder 465)",
        ),
        (
            Finding(
                "imap token", False, "the token is refused", "grant access again: `correspondent inbox login NAME`"
            ),
            "the token is refused",
            "gewähren Sie den Zugang neu: `correspondent inbox login NAME`",
        ),
        (Finding("smtp session", False, "the server is odd"), "the server is odd", ""),
    ],
)
def test_a_finding_is_said_in_the_readers_language(finding: Finding, found: str, remedy: str) -> None:
    """Ours is; what a server answered stays, also where it looks like a text of another step."""
    speak("de")
    try:
        assert (findings.found(finding), findings.remedy(finding)) == (found, remedy)
    finally:
        speak("en")
    assert (findings.found(finding), findings.remedy(finding)) == (finding.found, finding.remedy)


def test_what_a_server_said_at_length_is_looked_at_in_time() -> None:
    """Texts of a hostile server, as long as any that is looked at, cost thousands of steps and not millions."""
    hostile = Finding("sender results", False, "; ".join(["0 of the newest 0 mails have results of x"] * 12))
    assert findings.found(hostile)
