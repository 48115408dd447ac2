"""Addresses are compared by one value type; nothing else in the program folds them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SERVICES = Path(__file__).parents[2] / "services"
KEYS = "core/mailbox.py"
FOLDS = frozenset({"lower", "casefold", "upper", "swapcase", "title", "capitalize"})
ADDRESS = re.compile(
    r"(^|_)(addr|addrs|address|addresses|mailbox|mailboxes|author_addr|email|emails|recipient|recipients|envelope_from|"
    r"mail_from|reply_to|from_address|participants|localpart|local_part)(_|$)"
)
SQL_FOLD = re.compile(r"\b(?:lower|upper|initcap|casefold)\s*\(\s*((?:[a-z_]+\.)?[a-z_]*|%\([a-z_]+\)s)([^)]*)\)", re.I)

# Where text that may hold an address is folded all the same, and why that decides no identity.
ALLOWED = {
    "mail/reports/bounces.py": "finds an address in the words of a bounce; who is suppressed is our own record",
    "mail/masking.py": "looks for people's names in a text, in every case, to take them out",
    "core/ids.py": "tells the ids of events of before, which full folding made",
    "demo/director.py": "makes a display name of an invented inbox",
}


def _words(node: ast.AST) -> set[str]:
    """The names and keys that an expression is made of."""
    found = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    found |= {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    return found | {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def _is_address(node: ast.AST, known: set[str]) -> bool:
    return any(one in known or ADDRESS.search(one) for one in _words(node))


def _bound(scope: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Targets with what they are taken from: assignments, loops, comprehensions."""
    for one in ast.walk(scope):
        if isinstance(one, ast.Assign):
            yield from ((target, one.value) for target in one.targets)
        elif isinstance(one, ast.For | ast.AsyncFor | ast.comprehension):
            yield one.target, one.iter
        elif isinstance(one, ast.NamedExpr):
            yield one.target, one.value


def folded(source: str) -> list[int]:
    """The lines on which a string method folds what comes from an address."""
    lines: list[int] = []
    tree = ast.parse(source)
    scopes = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    for scope in scopes or [tree]:
        known: set[str] = set()
        for _ in range(3):
            for target, value in _bound(scope):
                if _is_address(value, known):
                    known |= {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
        for call in ast.walk(scope):
            folds = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in FOLDS
            if folds and _is_address(call.func.value, known):  # type: ignore[attr-defined]
                lines.append(call.lineno)  # type: ignore[attr-defined]
    return sorted(set(lines))


def folded_sql(text: str) -> list[str]:
    """The SQL calls that fold a column of addresses otherwise than by ASCII letters."""
    found = SQL_FOLD.finditer(text)
    return [one[0] for one in found if ADDRESS.search(one[1].rpartition(".")[2].strip("%()s")) and '"C"' not in one[2]]


def test_no_address_is_folded_but_by_its_key() -> None:
    """No code below services/ calls casefold, lower and the like on an address: `MailboxKey` is the only folding."""
    found = {
        f"{path.relative_to(SERVICES)}:{line}"
        for path in SERVICES.rglob("*.py")
        if str(path.relative_to(SERVICES)) not in {KEYS, *ALLOWED}
        for line in folded(path.read_text())
    }
    assert not found, f"compare addresses by MailboxKey (services/core/mailbox.py), not by folding: {found}"


def test_no_query_folds_an_address_beyond_ascii() -> None:
    """A query that lowers an address does it in the collation "C", which knows the letters A to Z alone."""
    paths = [path for path in SERVICES.rglob("*.sql") if "migrations" not in path.parts]
    found = {f"{path.relative_to(SERVICES)}: {one}" for path in paths for one in folded_sql(path.read_text())}
    assert not found


def test_the_rule_sees_what_it_is_for() -> None:
    """Attributes, rows, loops and what was assigned from an address before are all found."""
    source = """
def f(mail, row, addresses, text):
    a = mail.author.addr.casefold()
    b = row["author_addr"].lower()
    for one in addresses:
        one.casefold()
    local = mail.recipient.partition("@")[0]
    local.upper()
    text.lower()
"""
    assert folded(source) == [3, 4, 6, 8]
    assert folded_sql("WHERE lower(d.recipient) = %(addr)s AND lower(value) = 'x'") == ["lower(d.recipient)"]
    assert not folded_sql('WHERE lower(recipient COLLATE "C") = %(addr)s')


def test_what_is_excepted_still_folds() -> None:
    """An exception whose file folds no address any more is taken off the list."""
    assert {path for path in ALLOWED if not folded((SERVICES / path).read_text())} == set()
