"""What counts as an amount of money."""

from __future__ import annotations

import sys
import unicodedata

from services.generate_reply.claims import amounts_in


def test_every_sign_that_unicode_has_for_a_currency_makes_an_amount() -> None:
    """Before the number and behind it, wherever in Unicode the sign stands."""
    signs = [one for one in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(one) == "Sc"]
    assert len(signs) > 60
    for sign in signs:
        assert [number for _, number in amounts_in(f"{sign}12")] == ["12"], sign
        assert [number for _, number in amounts_in(f"12 {sign}")] == ["12"], sign
