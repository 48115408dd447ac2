"""Text in `format=flowed` (RFC 3676): paragraphs that were broken to fit a line are put together again."""

from __future__ import annotations

import re

_QUOTE = re.compile(r"^(>*) ?")  # quote marks, and the one space that a sender stuffs in front of a line
SIGNATURE = "-- "


def unflow(text: str, *, del_sp: bool = False) -> str:
    """Each paragraph on one line; quote marks are kept, with a space behind them.

    `del_sp` is the parameter DelSp: the space that marks a soft break is no part of the text, as in Chinese. A line is
    joined only to one of the same quote depth (section 4.5), and the signature's mark to none (section 4.3).
    """
    lines: list[list[str]] = []  # of pieces: adding to a text for each line would be quadratic
    open_depth = -1  # of the last line, where that is soft
    for line in text.split("\n"):
        marks = _QUOTE.match(line)
        assert marks is not None
        depth, said = len(marks[1]), line[marks.end() :]
        soft = said.endswith(" ") and said != SIGNATURE
        kept = said[:-1] if soft and del_sp else said
        if depth == open_depth and said != SIGNATURE:
            lines[-1].append(kept)
        else:
            lines.append([f"{marks[1]} {kept}" if depth else kept])
        open_depth = depth if soft else -1
    return "\n".join(map("".join, lines))
