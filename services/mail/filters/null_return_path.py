"""The null return path: its sender wants no answer, whatever it is (RFC 3834 section 2, RFC 5321 section 4.5.5)."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail


def null_return_path(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park a null envelope sender; where the source does not tell it, the topmost Return-Path stands for it."""
    null = (
        ctx.envelope_from == ""
        if ctx.envelope_from is not None
        else mail.header("Return-Path").split() in (["<>"], ["<", ">"])
    )
    return Verdict("park", "the return path is null", "null_return_path") if null else None
