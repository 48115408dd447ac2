"""Lines that stand in a text for what an HTML mail says by its markup; private-use characters no mail needs."""

from __future__ import annotations

OLDER_MAIL = "\U000f6d01"
SIGNATURE = "\U000f6d02"
ATTRIBUTION = "\U000f6d03"
SIGNATURE_END = "\U000f6d04"

KINDS = {OLDER_MAIL: "SEPARATOR", SIGNATURE: "MARK", ATTRIBUTION: "ATTRIBUTION", SIGNATURE_END: "EMPTY"}


def without_marks(text: str) -> str:
    """`text` with no such character, so that a mail cannot set them itself."""
    for one in KINDS:
        text = text.replace(one, "")  # no copy of a text without it, which `translate` makes of every one
    return text
