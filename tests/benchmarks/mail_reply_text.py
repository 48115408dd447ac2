"""Reply text on the reference cases, beside the libraries that do the same.

A case is right when the new text is the expected one after collapsing white space. The talon cases keep the signature
in the new text, so there, for every side, new text with or without the signature is right.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from services.mail.html_text import html_to_text
from services.mail.mime import read_mail
from services.mail.reply_text import split_reply
from tests.benchmarks.measured import Measured

TARGET_SHARE = 55 / 64

Answers = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A body in one or both forms and the new text in it."""

    name: str
    text: str
    html: str
    expected: str
    signature_may_stay: bool


def measure(data: Path) -> list[Measured]:
    """The share of cases that we get right, and those that the others do."""
    cases = list(_cases(data))
    if not cases:
        return []
    right = {name: sum(_is_right(case, answer) for case in cases) for name, answer in _sides().items()}
    share = right["ours"] / len(cases)
    sides = {name: float(count) for name, count in right.items()}
    return [
        Measured("reply text: right", 100 * share, "%", 100 * TARGET_SHARE, share >= TARGET_SHARE, len(cases), sides)
    ]


def _cases(data: Path) -> Iterator[Case]:
    trimmer = data / "reply-trimmer"
    for path in sorted((trimmer / "emails").glob("*")):
        with path.open(newline="") as stream:
            yield Case(path.name, stream.read(), "", (trimmer / "trimmed" / path.name).read_text(), False)
    expected = data / "talon" / "expected.json"
    for name, new in json.loads(expected.read_text()).items() if expected.exists() else ():
        raw = (data / "talon" / name).read_bytes()
        if name.endswith(".eml"):
            mail = read_mail(raw)
            yield Case(name, mail.text, mail.html, new, True)
        else:
            yield Case(name, "", raw.decode(), new, True)


def _is_right(case: Case, answer: Callable[[Case], Answers]) -> bool:
    answers = {" ".join(text.split()) for text in answer(case)}
    return " ".join(case.expected.split()) in answers


def _ours(case: Case) -> Answers:
    reply = split_reply(case.text, case.html)
    with_signature = f"{reply.new}\n{reply.signature}"
    return (reply.new, with_signature) if case.signature_may_stay else (reply.new,)


def _plain(case: Case) -> str:
    return case.text or html_to_text(case.html).text


def _sides() -> dict[str, Callable[[Case], Answers]]:
    """The sides that are installed."""
    sides: dict[str, Callable[[Case], Answers]] = {"ours": _ours}
    for name, make in (
        ("quotequail", _quotequail),
        ("email-reply-parser", _email_reply_parser),
        ("mail-parser-reply", _mail_parser_reply),
    ):
        try:
            sides[name] = make()
        except ImportError:
            continue
    return sides


def _quotequail() -> Callable[[Case], Answers]:
    import quotequail  # type: ignore[import-untyped]

    def answer(case: Case) -> Answers:
        if not case.text:
            found = quotequail.unwrap_html(case.html) or {"html_top": case.html}
            return (html_to_text("".join(found.get(part, "") for part in ("html_top", "html_bottom"))).text,)
        found = quotequail.unwrap(case.text) or {"text_top": case.text}
        return ("\n".join(found.get(part, "") for part in ("text_top", "text_bottom")),)

    return answer


def _email_reply_parser() -> Callable[[Case], Answers]:
    from email_reply_parser import EmailReplyParser  # type: ignore[import-untyped]

    def answer(case: Case) -> Answers:
        fragments = EmailReplyParser.read(_plain(case)).fragments
        unquoted = "\n".join(fragment.content for fragment in fragments if not (fragment.quoted or fragment.headers))
        reply = EmailReplyParser.parse_reply(_plain(case))
        return (reply, unquoted) if case.signature_may_stay else (reply,)

    return answer


def _mail_parser_reply() -> Callable[[Case], Answers]:
    from mailparser_reply import EmailReplyParser  # type: ignore[import-untyped]

    parser = EmailReplyParser(languages=["en", "de", "fr", "it", "es", "nl", "pl", "sv", "da", "cs", "ja", "ko", "zh"])

    def answer(case: Case) -> Answers:
        replies = parser.read(text=_plain(case)).replies
        if not replies:
            return ("",)
        return (replies[0].body, replies[0].content) if case.signature_may_stay else (replies[0].body,)

    return answer
